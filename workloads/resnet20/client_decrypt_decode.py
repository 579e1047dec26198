"""Client: decrypt the scores."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, read_one, run, save_array
from workloads.resnet20 import layers, model


def stage(place: Place) -> None:
    """Ten scores for each picture, a row each."""
    engine = layers.engine()
    key, plan = read_one(engine, place.secret_key, "client_key_generation"), layers.the_plan(model.load())
    count = len(load_array(place.intermediate / "pictures.npy", "client_preprocess_input"))
    files = [place.download / f"scores_{number:04}.bin" for number in range(count)]
    scores = [plan.decrypt(read_one(engine, path, "server_encrypted_compute"), key) for path in files]
    save_array(place.intermediate / "scores.npy", np.array(scores))


if __name__ == "__main__":
    run(stage, layers.SIZES)
