"""Client, in the clear: read the pictures."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, WorkloadError, run, save_array
from workloads.resnet20 import layers, pictures


def stage(place: Place) -> None:
    """An array of pictures."""
    found = pictures.read_pixels(place.data / "intermediate" / "test_pixels.txt")
    if place.size == "single" and len(found) != 1:
        raise WorkloadError(f"The size single is one picture and the file has {len(found)}; make the data again.")
    save_array(place.intermediate / "pictures.npy", found)


if __name__ == "__main__":
    run(stage, layers.SIZES)
