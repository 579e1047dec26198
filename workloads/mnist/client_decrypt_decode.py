"""Client: decrypt the scores."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, read_one, run, save_array
from workloads.mnist import layers


def stage(place: Place) -> None:
    """Ten scores for each picture, a row each."""
    engine = layers.engine()
    key = read_one(engine, place.secret_key, "client_key_generation")
    count = int(load_array(place.intermediate / "count.npy", "client_preprocess_input"))
    slots = []
    for number in range(-(-count // layers.pictures_per_call(place.size))):
        scores = read_one(engine, place.download / f"scores_{number:04}.bin", "server_encrypted_compute")
        slots.append(engine.decrypt(scores, key).real)
    save_array(place.intermediate / "scores.npy", layers.read(place.size, slots, count))


if __name__ == "__main__":
    run(stage, layers.SIZES)
