"""Client, in the clear: read the pictures and write them as slots."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, WorkloadError, run, save_array
from workloads.mnist import layers, model


def stage(place: Place) -> None:
    """By call of the network, by ciphertext, by slot."""
    pixels = model.read_pixels(place.data / "intermediate" / "test_pixels.txt")
    if place.size == "single" and len(pixels) != 1:
        raise WorkloadError(f"The size single is one picture and the file has {len(pixels)}; make the data again.")
    save_array(place.intermediate / "slots.npy", np.array(layers.write(place.size, pixels)))
    save_array(place.intermediate / "count.npy", np.array(len(pixels)))


if __name__ == "__main__":
    run(stage, layers.SIZES)
