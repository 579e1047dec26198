"""The stand-in's half of AES: data of the harness's shape, its calls, and the check."""

from __future__ import annotations

import numpy as np

from workloads.common import Place, WorkloadError, write_text
from workloads.transciphering import cipher, parts

SIZES = parts.SIZES


def parameters(_: str) -> dict[str, object]:
    """The parameter set that the stages use."""
    made = parts.engine()
    return {"preset": made.preset, "slot_count": made.slot_count, "security_bits": made.security_bits}


def make_data(place: Place, seed: int) -> None:
    """The data comes with each run."""


def make_input(place: Place, seed: int) -> None:
    """Random words of 16 bits, big-endian, encrypted by AES in the clear under a random key."""
    random = np.random.default_rng(seed)
    words = random.integers(0, 2**16, parts.WORDS[SIZES.index(place.size)])
    key, iv, states = random.bytes(16), random.bytes(16), cipher.states(words.astype(">u2").tobytes())
    keys = cipher.round_keys(key, False)
    if parts.is_inverse(place.size):
        states = cipher.ciphered(states, keys, False)
    else:
        states = states ^ cipher.ciphered(cipher.counters(iv, len(states)), keys, False)
        write_text(place.data / "aes_iv.hex", iv.hex())
    write_text(place.data / "aes_key.hex", key.hex())
    write_text(place.data / "db.hex", cipher.to_bytes(states).hex())
    write_text(place.data / "expected_aes.txt", "".join(f"{word}\n" for word in words))
    write_text(place.data / "max_value.txt", f"{words.max()}\n")


def once(place: Place) -> list[list[str]]:
    """The stages before the runs, with their arguments."""
    return [["client_key_generation", str(SIZES.index(place.size))]]


def each_run(place: Place) -> list[list[str]]:
    """The stages of a run."""
    names = ("client_preprocess", "client_encode_encrypt", "server_preprocess_dataset")
    server = ("server_encrypted_aes_decryption", "server_encrypted_compute")
    after = tuple(
        f"client_{name}{what}" for what in ("_aes_decryption", "") for name in ("decrypt_decode", "postprocess")
    )
    return [[name, str(SIZES.index(place.size))] for name in (*names, *server, *after)]


def check(place: Place) -> dict[str, object]:
    """Every word and the largest.

    Raises
    ------
    WorkloadError
        If one differs.
    """
    for found, wanted in (("result_aes.txt", "expected_aes.txt"), ("result.txt", "max_value.txt")):
        if (place.io / found).read_text().split() != (place.data / wanted).read_text().split():
            raise WorkloadError(f"{found} differs from {wanted}.")
    return {"words": parts.WORDS[SIZES.index(place.size)], "bits": 16.0}
