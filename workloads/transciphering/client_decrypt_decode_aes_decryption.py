"""Client: decrypt the words."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, read_one, run, save_array
from workloads.transciphering import maximum, parts


def stage(place: Place) -> None:
    """In their order."""
    engine = parts.engine()
    secret = read_one(engine, place.secret_key, "client_key_generation")
    slots = engine.decrypt(read_one(engine, parts.words_path(place), "server_encrypted_aes_decryption"), secret)
    found = maximum.read_words(slots % engine.plaintext_modulus, parts.WORDS[parts.SIZES.index(place.size)])
    save_array(place.intermediate / "words.npy", found)


if __name__ == "__main__":
    run(stage, parts.SIZES)
