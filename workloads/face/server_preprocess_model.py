"""Server, in the clear: write the weights where its next stage reads them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, run
from workloads.face import layers, model


def stage(place: Place) -> None:
    """The harness names no size: it is each one whose keys are there. Weights are encoded where they are used."""
    sizes = {model.file(size): size for size in layers.SIZES if (place.root / "io" / size / "public_keys").is_dir()}
    for name, size in sizes.items():
        model.save(place.root / "io" / "server_data" / name, model.weights(size))


if __name__ == "__main__":
    run(stage, ())
