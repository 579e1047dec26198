"""Client: make the secret key, and for the server the keys of the networks, their bootstraps and the score."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, new_secret_key, run
from workloads.face import layers


def stage(place: Place) -> None:
    """The four networks share all keys."""
    key = new_secret_key(layers.engine(place.size), place)
    plan = next(layers.plans(place.size))
    print(plan)
    layers.write_keys(place, plan.create_keys(key, rotations=layers.rotations(plan)))


if __name__ == "__main__":
    run(stage, layers.SIZES)
