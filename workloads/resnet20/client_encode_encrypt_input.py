"""Client: encrypt the pictures, a file for each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, empty, load_array, read_one, run
from workloads.resnet20 import layers, model


def stage(place: Place) -> None:
    """Files of an earlier run go first."""
    engine = layers.engine()
    key, plan = read_one(engine, place.secret_key, "client_key_generation"), layers.the_plan(model.load())
    empty(place.upload)
    for number, picture in enumerate(load_array(place.intermediate / "pictures.npy", "client_preprocess_input")):
        engine.write(plan.encrypt(picture, key), place.upload / f"input_{number:04}.bin")


if __name__ == "__main__":
    run(stage, layers.SIZES)
