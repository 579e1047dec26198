"""Client, in the clear: read both operands."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, run, save_array
from workloads.zn import columns
from workloads.zn_carried import digits


def stage(place: Place) -> None:
    """Both files have as many numbers as the harness said."""
    wanted = digits.COUNTS[digits.SIZES.index(place.size)]
    for name in ("lhs", "rhs"):
        save_array(place.intermediate / f"{name}.npy", columns.numbers(place.data / f"{name}.txt", wanted))


if __name__ == "__main__":
    run(stage, digits.SIZES, digits.COUNTS)
