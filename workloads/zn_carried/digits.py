"""Products modulo 2^64 as digits of 2 bits, with all carries under encryption: 6 bootstraps for 896 products.

A product is 32 digits and 4 guards, each in a block of its own: 36 blocks of 448 slots in both rows, and a product has
one slot of each block. For each digit `i` of the left factor the client encrypts it in all blocks, and beside it the
right factor moved up by `i` blocks. So 32 products, added, are the columns of all 896 products at once.

Columns are carried in rounds, `x mod 4` plus `x >> 2` of the block below: from partial sums up to 27 to values up to
54, 30, 10, 5. The last carries ripple through a parallel prefix (Kogge and Stone) of "generates" and "propagates".

**Why nothing is masked.** A rotation of a row takes the carry of the last block to the first. That carry is always 0:
no round changes the number `sum_k column_k 4^k`, which is below 96 * 4^32 < 4^36, and all digits are at least 0. For
the same reason no group of blocks that ends with the last one generates a carry, so the prefix reads 0 across the end.
The slots beyond the last block are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aglet import IntegerBootstrapKey, IntegerCiphertext, IntegerEngine, IntegerRelinearizationKey, IntegerRotationKey
from workloads.common import threads

__all__ = ["BLOCKS", "COUNTS", "DIGITS", "SIZES", "Carrier", "batch_size", "engine", "packed", "unpacked"]

SIZES = ("single", "small", "medium", "large", "toy")
"""The names of the harness, and one for tests, in a ring that is not secure."""
COUNTS = (1, 1_000, 100_000, 10_000_000, 40)
DIGITS, GUARDS, BITS = 32, 4, 2
BLOCKS = DIGITS + GUARDS
_BASE = 2**BITS
_PART, _GROUP = 3, 6
"""Products in a partial sum, 3 * 3^2 = 27, and partial sums in a group. Their tables take 5 and 6 levels, as a rotation
must follow at level 2 or above."""
_PARTIAL, _COLUMN, _SMALL, _LAST, _DIGIT = 27, 54, 30, 10, 5
"""The largest values: a partial sum, then 6 * (3 + 27 // 4), then of both groups 6 + 54 // 4 + 45 // 4, then 3 and a
quarter of the one before."""

Numbers = NDArray[np.uint64]
Slots = NDArray[np.int64]


def engine(size: str) -> IntegerEngine:
    """Integers modulo 65537 that bootstrap: `int16`, of 128 bits of security; for tests its toy, without any."""
    toy = size == "toy"
    return IntegerEngine(
        preset="toy-int16" if toy else "int16", signed=False, allow_insecure=toy, thread_count=threads()
    )


def _width(slots: int) -> int:
    """The slots of a block in one row, with three bits set: moving by a block is three key switches.

    With more, the last table would have more noise than a bootstrap takes.
    """
    width, found = slots // 2 // BLOCKS, 0
    for _ in range(3):
        found += 1 << (width - found).bit_length() >> 1
    return found


def batch_size(slots: int) -> int:
    """How many products one batch holds: as many as both rows have slots in a block."""
    return 2 * _width(slots)


def _digits(values: Numbers) -> Slots:
    places = np.arange(DIGITS, dtype=np.uint64)[:, None] * np.uint64(BITS)
    return ((values >> places) & np.uint64(_BASE - 1)).astype(np.int64)


def _written(blocks: Slots, slots: int) -> Slots:
    """Both rows of slots, from a row of values for each block."""
    width = _width(slots)
    filled = np.pad(blocks, ((0, BLOCKS - len(blocks)), (0, 2 * width - blocks.shape[1])))
    rows = filled.reshape(BLOCKS, 2, width).swapaxes(0, 1).reshape(2, BLOCKS * width)
    return np.pad(rows, ((0, 0), (0, slots // 2 - rows.shape[1])))


def packed(left: Numbers, right: Numbers, slots: int) -> list[Slots]:
    """The slots of a batch: digit `i` of the left factors in blocks `i` to 31; then the right ones, moved up by `i`."""
    a, b = _digits(left), _digits(right)
    repeated = [np.where(np.arange(DIGITS)[:, None] >= i, a[i], 0) for i in range(DIGITS)]
    moved = [np.pad(b, ((i, 0), (0, 0)))[:DIGITS] for i in range(DIGITS)]
    return [_written(blocks, slots) for blocks in (*repeated, *moved)]


def unpacked(slots: Slots) -> Numbers:
    """The numbers of a batch from the slots of their digits."""
    width = _width(slots.size)
    rows = slots.reshape(2, -1)[:, : BLOCKS * width].reshape(2, BLOCKS, width)
    digits = rows.swapaxes(0, 1).reshape(BLOCKS, 2 * width)[:DIGITS].astype(np.uint64)
    places = np.arange(DIGITS, dtype=np.uint64)[:, None] * np.uint64(BITS)
    total: Numbers = np.bitwise_or.reduce(digits << places, axis=0)
    return total


@dataclass(frozen=True)
class Carrier:
    """The computation of the server, with its keys."""

    engine: IntegerEngine
    relin: IntegerRelinearizationKey
    rotation: IntegerRotationKey
    bootstrap: IntegerBootstrapKey

    def multiply(self, inputs: list[IntegerCiphertext]) -> IntegerCiphertext:
        """The digits of the products, each from 0 to 3, at level 3: a bootstrap away from whatever comes next."""
        run = self.engine
        parts = self._partial_sums(inputs[:DIGITS], inputs[DIGITS:])
        groups = [self._carried(parts[first : first + _GROUP], _PARTIAL) for first in range(0, len(parts), _GROUP)]
        value = self._carried(run.bootstrap_many(groups, self.bootstrap), _COLUMN)
        value = self._carried([run.bootstrap(value, self.bootstrap)], _SMALL)
        value = run.bootstrap(value, self.bootstrap)
        # What comes next has no level to spare, and a table has less noise than `x - 4 (x >> 2)`.
        low = run.lookup(value, [x % _BASE for x in range(_LAST + 1)], self.relin)
        return self._rippled(run.add(low, self._up(self._high(value, _LAST), 1)))

    def _carried(self, terms: list[IntegerCiphertext], largest: int) -> IntegerCiphertext:
        """The sum of terms after a round of carries: of each `x mod 4` here and `x >> 2` a block above."""
        highs = [self._high(term, largest) for term in terms]
        lows = [self._low(term, high) for term, high in zip(terms, highs, strict=True)]
        return self.engine.add(self._sum(lows), self._up(self._sum(highs), 1))

    def _partial_sums(self, left: list[IntegerCiphertext], right: list[IntegerCiphertext]) -> list[IntegerCiphertext]:
        products = [self.engine.multiply(a, b) for a, b in zip(left, right, strict=True)]
        groups = [products[first : first + _PART] for first in range(0, DIGITS, _PART)]
        return [self.engine.relinearize(self._sum(group), self.relin) for group in groups]

    def _sum(self, terms: list[IntegerCiphertext]) -> IntegerCiphertext:
        total = terms[0]
        for term in terms[1:]:
            total = self.engine.add(total, term)
        return total

    def _high(self, x: IntegerCiphertext, largest: int) -> IntegerCiphertext:
        return self.engine.lookup(x, [value // _BASE for value in range(largest + 1)], self.relin)

    def _low(self, x: IntegerCiphertext, high: IntegerCiphertext) -> IntegerCiphertext:
        return self.engine.subtract(x, self.engine.multiply(high, _BASE))

    def _up(self, x: IntegerCiphertext, blocks: int) -> IntegerCiphertext:
        """Move every block up."""
        return self.engine.rotate_rows(x, self.rotation, blocks * _width(self.engine.slot_count))

    def _rippled(self, value: IntegerCiphertext) -> IntegerCiphertext:
        """The digits of values up to 5, which carry at most 1 each."""
        run = self.engine
        tables = [[int(x >= _BASE) for x in range(_DIGIT + 1)], [int(x == _BASE - 1) for x in range(_DIGIT + 1)]]
        flags = [run.lookup(value, table, self.relin) for table in tables]
        generate, propagate = run.bootstrap_many(flags, self.bootstrap)
        step = 1
        while step < DIGITS:
            below = run.multiply(propagate, self._up(generate, step), self.relin)
            generate = run.add(generate, below)
            step *= 2
            if step < DIGITS:
                propagate = run.multiply(propagate, self._up(propagate, step // 2), self.relin)
        return run.add(self._low(value, generate), self._up(generate, 1))
