"""Client: decrypt the scores."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, read_one, run, save_array
from workloads.face import layers, model


def stage(place: Place) -> None:
    """A score for each pair: a slot, by the factor that the server leaves to the client."""
    engine, factor = layers.engine(place.size), model.score_of(place.size).factor
    key = read_one(engine, place.secret_key, "client_key_generation")
    count = len(load_array(place.intermediate / "patches.npy", "client_preprocess_input"))
    files = [place.download / f"score_{number:04}.bin" for number in range(count)]
    found = [engine.decrypt(read_one(engine, path, "server_encrypted_compute"), key)[0].real for path in files]
    save_array(place.intermediate / "scores.npy", factor * np.array(found))


if __name__ == "__main__":
    run(stage, layers.SIZES)
