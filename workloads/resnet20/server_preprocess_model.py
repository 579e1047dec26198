"""Server, in the clear: check the weights and keep them where its next stage reads them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, run
from workloads.resnet20 import model


def stage(place: Place) -> None:
    """They are encoded where they are used: encoded weights cannot be written to a file."""
    model.save(place.io / "server_data" / "weights.npz", model.load())


if __name__ == "__main__":
    run(stage, ())
