"""Client, in the clear: round the count, or pick the payloads of the matches and sort them."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, WorkloadError, load_array, run, save_binary
from workloads.similarity import search


def stage(place: Place) -> None:
    """One integer of 64 bits, or rows of seven of 16 bits."""
    if place.count_only:
        count = float(load_array(place.intermediate / "count.npy", "client_decrypt_decode")[0])
        if abs(count - round(count)) > 0.25:
            raise WorkloadError(f"The count {count:.3f} is no whole number: a score is too near to {search.THRESHOLD}.")
        save_binary(place.io / "results.bin", np.array([round(count)], dtype=np.int64))
    else:
        slots = load_array(place.intermediate / "payloads.npy", "client_decrypt_decode")
        save_binary(place.io / "results.bin", search.fetched(slots))


if __name__ == "__main__":
    run(stage, search.SIZES)
