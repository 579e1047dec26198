"""Client: encrypt the pairs, a file for each, of a ciphertext for each patch of both pictures."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, empty, load_array, read_one, run, write_all
from workloads.face import layers


def stage(place: Place) -> None:
    """All networks take their inputs alike. Files of an earlier run go first."""
    engine, plan = layers.engine(place.size), next(layers.plans(place.size))
    key = read_one(engine, place.secret_key, "client_key_generation")
    empty(place.upload)
    for number, pair in enumerate(load_array(place.intermediate / "patches.npy", "client_preprocess_input")):
        write_all(engine, (plan.encrypt(patch, key) for patch in pair), place.upload / f"pair_{number:04}.bin")


if __name__ == "__main__":
    run(stage, layers.SIZES)
