"""Client: make the secret key, and for the server the keys of the network and its bootstraps."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, new_secret_key, run
from workloads.resnet20 import layers, model


def stage(place: Place) -> None:
    """Each rotation key is made for the level at which it is used."""
    key = new_secret_key(layers.engine(), place)
    plan = layers.the_plan(model.load())
    print(plan)
    layers.write_keys(place, plan, plan.create_keys(key))


if __name__ == "__main__":
    run(stage, layers.SIZES)
