"""Client, in the clear: write the words."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, run, write_text
from workloads.transciphering import parts


def stage(place: Place) -> None:
    """A word a line."""
    found = load_array(place.intermediate / "words.npy", "client_decrypt_decode_aes_decryption")
    write_text(place.io / "result_aes.txt", "".join(f"{word}\n" for word in found.tolist()))


if __name__ == "__main__":
    run(stage, parts.SIZES)
