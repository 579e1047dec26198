"""Client: make the secret key, and for the server the rotation keys of its layers and one for products."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, new_secret_key, run, write_all
from workloads.mnist import layers, model


def stage(place: Place) -> None:
    """Each rotation key is made for the highest level at which it is used."""
    engine = layers.engine()
    key = new_secret_key(engine, place)
    network = layers.of_size(place.size, model.load())
    write_all(engine, layers.create_keys(engine, key, network), place.public_keys / "rotations.bin")
    engine.write(engine.create_relinearization_key(key), place.public_keys / "relinearization.key")


if __name__ == "__main__":
    run(stage, layers.SIZES)
