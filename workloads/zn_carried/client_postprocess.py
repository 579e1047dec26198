"""Client, in the clear: write the products."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, run, write_text
from workloads.zn_carried import digits


def stage(place: Place) -> None:
    """A product a line; nothing is left to compute."""
    found = load_array(place.intermediate / "products.npy", "client_decrypt_decode")
    write_text(place.io / "cleartext_output" / "out.txt", "".join(f"{product}\n" for product in found.tolist()))


if __name__ == "__main__":
    run(stage, digits.SIZES)
