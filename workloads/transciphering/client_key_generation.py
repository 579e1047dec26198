"""Client: make the secret key, and for the server the keys for products, rotations and bootstraps."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, new_secret_key, run
from workloads.transciphering import parts


def stage(place: Place) -> None:
    """A fixed rotation key for each step of the circuit."""
    parts.write_keys(place, new_secret_key(parts.engine(), place))


if __name__ == "__main__":
    run(stage, parts.SIZES)
