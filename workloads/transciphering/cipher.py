"""AES-128 in the clear (FIPS 197), with numpy: what clients expand, and what results are compared with.

A state is an array of shape (blocks, 4, 4): rows, then columns, so byte `r + 4 c` of a block is `state[:, r, c]`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "INVERSE_SBOX",
    "MIX",
    "ROUNDS",
    "SBOX",
    "ciphered",
    "counters",
    "expanded",
    "mixed",
    "multiple",
    "round_keys",
    "shifted",
    "states",
    "to_bytes",
]

Bytes = NDArray[np.uint8]


def multiple(constant: int, x: Bytes) -> Bytes:
    """The product with a constant in GF(2^8), modulo X^8 + X^4 + X^3 + X + 1."""
    doubled: NDArray[np.uint16] = x.astype(np.uint16)
    found = np.zeros(x.shape, dtype=np.uint16)
    while constant:
        if constant & 1:
            found ^= doubled
        doubled = ((doubled << 1) ^ (0x11B * (doubled >> 7))).astype(np.uint16)
        constant >>= 1
    return found.astype(np.uint8)


def _sbox() -> Bytes:
    """The inverse in GF(2^8), 0 for 0, then an affine map."""
    every = np.arange(256, dtype=np.uint8)
    inverse = np.array([0, *(int(np.argmax(multiple(x, every) == 1)) for x in range(1, 256))])
    found = np.full(256, 0x63)
    for by in range(5):
        found ^= ((inverse << by) | (inverse >> (8 - by))) & 255
    return found.astype(np.uint8)


SBOX = _sbox()
INVERSE_SBOX: Bytes = np.argsort(SBOX).astype(np.uint8)
ROUNDS = 10
MIX = {False: (2, 3, 1, 1), True: (14, 11, 13, 9)}
"""The first row of the matrix of MixColumns, and of InvMixColumns: entry j is for row r + j."""


def states(data: bytes) -> Bytes:
    """Blocks of 16 bytes as states."""
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, 4, 4).swapaxes(1, 2)


def to_bytes(state: Bytes) -> bytes:
    """The inverse of `states`."""
    return state.swapaxes(1, 2).tobytes()


def mixed(state: Bytes, inverse: bool) -> Bytes:
    """MixColumns or its inverse."""
    found = np.zeros_like(state)
    for j, constant in enumerate(MIX[inverse]):
        found ^= multiple(constant, np.roll(state, -j, axis=1))
    return found


def shifted(state: Bytes, inverse: bool) -> Bytes:
    """ShiftRows or its inverse."""
    by = [row if inverse else -row for row in range(4)]
    return np.stack([np.roll(state[:, row], by[row], axis=1) for row in range(4)], axis=1)


def expanded(key: bytes) -> Bytes:
    """The eleven round keys, as states."""
    words = [np.frombuffer(key, dtype=np.uint8)[4 * i : 4 * i + 4] for i in range(4)]
    constant = 1
    for i in range(4, 4 * (ROUNDS + 1)):
        word = words[-1]
        if i % 4 == 0:
            word = SBOX[np.roll(word, -1)] ^ np.array([constant, 0, 0, 0], dtype=np.uint8)
            constant = int(multiple(2, np.array([constant], dtype=np.uint8))[0])
        words.append(words[-4] ^ word)
    return states(np.concatenate(words).tobytes())


def round_keys(key: bytes, inverse: bool) -> Bytes:
    """The round keys in the order of use. Those of the inverse cipher are of the equivalent one (FIPS 197, 5.3.5)."""
    keys = expanded(key)
    if not inverse:
        return keys
    return np.concatenate([keys[-1:], mixed(keys[-2:0:-1], True), keys[:1]])


def ciphered(state: Bytes, keys: Bytes, inverse: bool) -> Bytes:
    """The cipher, or the equivalent inverse one: both have the same steps in the same order."""
    box, state = INVERSE_SBOX if inverse else SBOX, state ^ keys[0]
    for key in keys[1:-1]:
        state = mixed(shifted(box[state], inverse), inverse) ^ key
    last: Bytes = shifted(box[state], inverse) ^ keys[-1]
    return last


def counters(iv: bytes, count: int) -> Bytes:
    """Counter blocks from an initial one of 16 bytes, as states: a big-endian number that goes up by one."""
    first = int.from_bytes(iv, "big")
    return states(b"".join(((first + i) % 2**128).to_bytes(16, "big") for i in range(count)))
