"""Client: encrypt the round keys, and send them with the data that AES encrypted."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from workloads.common import Place, empty, load_array, read_one, run, write_all, write_text
from workloads.transciphering import layout, parts


def stage(place: Place) -> None:
    """A ciphertext for each round key."""
    engine = parts.engine()
    secret = read_one(engine, place.secret_key, "client_key_generation")
    keys = load_array(place.intermediate / "round_keys.npy", "client_preprocess").astype(np.uint8)
    empty(place.upload)
    signs = (layout.signs(key[None], turn) for key, turn in zip(keys, parts.turns(place), strict=True))
    write_all(engine, (engine.encrypt(one, secret) for one in signs), place.upload / "keys.bin")
    size = 2 * parts.WORDS[parts.SIZES.index(place.size)]
    write_text(place.upload / "db.hex", parts.hexadecimal(place.data / "db.hex", size, "generate_dataset").hex())
    if not parts.is_inverse(place.size):
        iv = parts.hexadecimal(place.data / "aes_iv.hex", 16, "generate_dataset")
        write_text(place.upload / "aes_iv.hex", iv.hex())


if __name__ == "__main__":
    run(stage, parts.SIZES)
