"""Client, in the clear: read the pairs, and cut each picture into its patches."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, WorkloadError, run, save_array
from workloads.face import layers, model, pictures


def stage(place: Place) -> None:
    """An array of shape (pairs, patches, 2, 3, rows, columns)."""
    side, wanted = model.shape(place.size).side, layers.COUNTS[layers.SIZES.index(place.size)]
    pairs = pictures.read_pairs(place.data / "intermediate")
    found = [pictures.patches(np.array([pictures.prepared(one, 2 * side) for one in pair]), side) for pair in pairs]
    if len(found) != wanted:
        raise WorkloadError(f"The size {place.size} is {wanted} pairs and the file has {len(found)}; make it again.")
    save_array(place.intermediate / "patches.npy", np.array(found))


if __name__ == "__main__":
    run(stage, layers.SIZES)
