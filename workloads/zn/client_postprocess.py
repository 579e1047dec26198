"""Client, in the clear: add the columns with their carries, modulo 2^64."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, run, write_text
from workloads.zn import columns


def stage(place: Place) -> None:
    """A product a line, in the order of the inputs."""
    found = columns.combined(load_array(place.intermediate / "columns.npy", "client_decrypt_decode"))
    write_text(place.io / "cleartext_output" / "out.txt", "".join(f"{product}\n" for product in found.tolist()))


if __name__ == "__main__":
    run(stage, columns.SIZES)
