"""Client: make the secret key, and for the server the keys for rotations, conjugation and products."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, new_secret_key, run, write_all
from workloads.similarity import matching, search


def stage(place: Place) -> None:
    """Each rotation key is made for the highest level at which it is used."""
    engine = search.engine()
    key = new_secret_key(engine, place)
    rotations = matching.create_keys(engine, key, search.DIMENSIONS[place.size])
    write_all(engine, rotations, place.io / "keys" / "rotations.bin")
    engine.write(engine.create_relinearization_key(key), place.io / "keys" / "relinearization.key")
    engine.write(engine.create_conjugation_key(key), place.io / "keys" / "conjugation.key")


if __name__ == "__main__":
    run(stage, search.SIZES)
