"""Products modulo 2^64 as columns of digits: 66 slotwise products modulo 65537, without an evaluation key.

A number is 11 digits of 6 bits, and a ciphertext holds one digit of 8,192 numbers. Column k of a product is
`c_k = sum_(i + j = k) a_i b_j`, below 11 * 63^2 = 43,659 and so exact modulo 65537. The client decrypts the columns and
adds `c_k 2^(6k)` modulo 2^64, carries included.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aglet import IntegerCiphertext, IntegerEngine
from workloads.common import WorkloadError, needed, threads

__all__ = ["BITS", "COUNTS", "DIGITS", "SIZES", "batch_count", "columns", "combined", "digits", "engine", "numbers"]

SIZES = ("single", "small", "medium", "large")
COUNTS = (1, 1_000, 100_000, 10_000_000)
BITS, DIGITS = 6, 11
LEVEL = 1
"""The level of the inputs: one product, nothing more."""

Numbers = NDArray[np.uint64]


def engine() -> IntegerEngine:
    """8,192 slots modulo 65537, of 130 bits of security. Batches that run side by side share its threads."""
    return IntegerEngine(preset="int-levels-13", signed=False, thread_count=threads())


def batch_count(count: int, slots: int) -> int:
    """The number of ciphertexts that hold one digit of `count` numbers."""
    return -(-count // slots)


def numbers(path: Path, count: int) -> Numbers:
    """Read the numbers of a file, one a line.

    Raises
    ------
    WorkloadError
        If the file is missing, has another count, or holds something that is not a number of 64 bits.
    """
    words = needed(path, "the harness's generate_dataset").read_text().split()
    if len(words) != count:
        raise WorkloadError(f"{path} has {len(words)} numbers, not {count}; make the data of this size again.")
    try:
        return np.array([int(word) for word in words], dtype=np.uint64)
    except (ValueError, OverflowError):
        raise WorkloadError(
            f"{path} holds something that is not a whole number from 0 to 2^64 - 1; give one number a line."
        ) from None


def digits(values: Numbers) -> NDArray[np.int64]:
    """The digits of numbers, a row for each place, from the lowest."""
    places = np.arange(DIGITS, dtype=np.uint64)[:, None] * np.uint64(BITS)
    return ((values >> places) & np.uint64(2**BITS - 1)).astype(np.int64)


def columns(
    engine: IntegerEngine, left: list[IntegerCiphertext], right: list[IntegerCiphertext]
) -> list[IntegerCiphertext]:
    """The columns of the products, from encrypted digits: ciphertexts of three polynomials."""
    found = []
    for k in range(DIGITS):
        total = engine.multiply(left[0], right[k])
        for i in range(1, k + 1):
            total = engine.add(total, engine.multiply(left[i], right[k - i]))
        found.append(total)
    return found


def combined(found: NDArray[np.int64]) -> Numbers:
    """The products modulo 2^64 from their columns, a row for each place."""
    total = np.zeros(found.shape[1], dtype=np.uint64)
    for k, column in enumerate(found):
        total += column.astype(np.uint64) << np.uint64(BITS * k)
    return total
