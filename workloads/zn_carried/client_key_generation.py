"""Client: make the secret key, and for the server the keys for products, rotations and bootstraps."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, new_secret_key, run
from workloads.zn_carried import digits


def stage(place: Place) -> None:
    """A rotation key of all steps: there are none of single steps."""
    engine = digits.engine(place.size)
    key = new_secret_key(engine, place)
    place.public_keys.mkdir(parents=True, exist_ok=True)
    engine.write(engine.create_relinearization_key(key), place.public_keys / "relinearization.key")
    engine.write(engine.create_rotation_key(key), place.public_keys / "rotation.key")
    engine.write(engine.create_bootstrap_key(key), place.public_keys / "bootstrap.key")


if __name__ == "__main__":
    run(stage, digits.SIZES)
