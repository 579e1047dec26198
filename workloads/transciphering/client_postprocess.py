"""Client, in the clear: write the largest word."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, run, write_text
from workloads.transciphering import parts


def stage(place: Place) -> None:
    """A line."""
    found = int(load_array(place.intermediate / "maximum.npy", "client_decrypt_decode"))
    write_text(place.io / "result.txt", f"{found}\n")


if __name__ == "__main__":
    run(stage, parts.SIZES)
