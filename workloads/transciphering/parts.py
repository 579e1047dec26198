"""The engine, the keys and the files that the stages share."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import IntegerEngine
from workloads.common import Place, WorkloadError, needed, read_all, read_one, threads, write_all
from workloads.transciphering import cipher, circuit, layout

__all__ = [
    "SIZES",
    "WORDS",
    "bits_path",
    "engine",
    "hexadecimal",
    "machine",
    "public_states",
    "words_path",
    "write_keys",
]

SIZES, WORDS = ("toy", "small"), (8, 128)
"""The size toy is one block in ECB mode; the others are in CTR mode."""
_MAKER = "client_key_generation"


@functools.cache
def engine() -> IntegerEngine:
    """32,768 integers modulo 65537 and a bootstrap, of 128 bits of security."""
    return IntegerEngine(use_bootstrap=True, thread_count=threads())


def is_inverse(size: str) -> bool:
    """Whether blocks are decrypted; in CTR mode counters are encrypted."""
    return size == "toy"


def hexadecimal(path: Path, length: int, maker: str) -> bytes:
    """Read so many bytes in hexadecimal digits.

    Raises
    ------
    WorkloadError
        If the file is missing or has something else.
    """
    text = needed(path, maker).read_text()
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != length:
        raise WorkloadError(f"{path} does not have {length} bytes in hexadecimal digits; run {maker} again.")
    return found


def public_states(place: Place) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """What the cipher begins with, and what its result is changed by: public to the server."""
    data = hexadecimal(place.upload / "db.hex", 2 * WORDS[SIZES.index(place.size)], "client_encode_encrypt")
    given = cipher.states(data)
    if is_inverse(place.size):
        return given, np.zeros_like(given)
    iv = hexadecimal(place.upload / "aes_iv.hex", 16, "client_encode_encrypt")
    return cipher.counters(iv, len(given)), given


def write_keys(place: Place, secret_key: Any) -> None:
    """Make and write the keys that the server gets."""
    place.public_keys.mkdir(parents=True, exist_ok=True)
    made = (engine().create_fixed_rotation_key(secret_key, -step) for step in sorted(circuit.steps()))
    write_all(engine(), made, place.public_keys / "rotations.bin")
    engine().write(engine().create_relinearization_key(secret_key), place.public_keys / "relinearization.key")
    engine().write(engine().create_bootstrap_key(secret_key), place.public_keys / "bootstrap.key")


def machine(place: Place) -> circuit.Machine:
    """Read them."""
    steps = sorted(circuit.steps())
    relinearization, bootstrap = (
        read_one(engine(), place.public_keys / f"{name}.key", _MAKER) for name in ("relinearization", "bootstrap")
    )
    rotations = read_all(engine(), place.public_keys / "rotations.bin", len(steps), _MAKER)
    return circuit.Machine(engine(), relinearization, dict(zip(steps, rotations, strict=True)), bootstrap)


def bits_path(place: Place) -> Path:
    """The bits of all words, which the first computation of the server leaves to the second."""
    return place.io / "server_state" / "bits.bin"


def words_path(place: Place) -> Path:
    """The encrypted words, where the harness looks for them."""
    return place.io / "ciphertext_aes_download" / "words.bin"


def blocks(place: Place) -> int:
    """The number of blocks, a power of two."""
    return WORDS[SIZES.index(place.size)] // 8


def turns(place: Place) -> list[int]:
    """The turn of each round key."""
    step = 1 if is_inverse(place.size) else -1
    return [(circuit.FIRST_TURN + step * i) % layout.COLUMNS for i in range(cipher.ROUNDS + 1)]
