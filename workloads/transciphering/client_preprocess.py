"""Client, in the clear: expand the AES key."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, run, save_array
from workloads.transciphering import cipher, parts


def stage(place: Place) -> None:
    """Eleven round keys, in the order of use."""
    key = parts.hexadecimal(place.data / "aes_key.hex", 16, "generate_dataset")
    save_array(place.intermediate / "round_keys.npy", cipher.round_keys(key, parts.is_inverse(place.size)))


if __name__ == "__main__":
    run(stage, parts.SIZES)
