"""Client, in the clear: read both operands and cut them into digits of 6 bits."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, run, save_array
from workloads.zn import columns


def stage(place: Place) -> None:
    """Both files have as many numbers as the harness said."""
    wanted = columns.COUNTS[columns.SIZES.index(place.size)]
    for name in ("lhs", "rhs"):
        values = columns.numbers(place.data / f"{name}.txt", wanted)
        save_array(place.intermediate / f"{name}.npy", columns.digits(values))


if __name__ == "__main__":
    run(stage, columns.SIZES, columns.COUNTS)
