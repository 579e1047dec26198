"""Client: encrypt the pictures, a file for each call of the network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, empty, load_array, read_one, run, write_all
from workloads.mnist import layers


def stage(place: Place) -> None:
    """Files of an earlier run go first."""
    engine = layers.engine()
    key = read_one(engine, place.secret_key, "client_key_generation")
    calls = load_array(place.intermediate / "slots.npy", "client_preprocess_input")
    empty(place.upload)
    for number, rows in enumerate(calls):
        write_all(engine, (engine.encrypt(row, key) for row in rows), place.upload / f"input_{number:04}.bin")


if __name__ == "__main__":
    run(stage, layers.SIZES)
