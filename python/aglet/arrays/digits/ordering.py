"""Sorting networks and tournaments over digits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aglet.arrays.digits.circuits.choice import where
from aglet.arrays.digits.circuits.order import less
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.rows import joined, taken
from aglet.arrays.digits.sums import AnyDigit, Sum

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = ["best", "indices", "network", "stages"]


def indices(x: EncryptedIntegers) -> list[AnyDigit]:
    """The digits of the places along the first axis, in the clear."""
    count = max(1, ((len(x) - 1).bit_length() + 1) // 2)
    places = np.arange(len(x), dtype=np.int64).reshape(-1, *(1,) * (x.ndim - 1))
    return [np.broadcast_to(places >> (2 * at) & 3, x.shape) for at in range(count)]


def best(m: Machine, x: EncryptedIntegers, smallest: bool) -> list[AnyDigit]:
    """The digits of the place of the smallest or the largest element, by a tournament of neighbours.

    Places are known at first. Of equal elements the first wins.
    """
    index, digits, signed = indices(x), list(x.digits), x.dtype.kind == "i"
    count = len(x)
    while count > 1:
        even, odd = np.arange(0, count - 1, 2), np.arange(1, count, 2)
        first, second = ([taken(digit, places) for digit in digits] for places in (even, odd))
        flag = less(m, second, first, signed) if smallest else less(m, first, second, signed)
        both = []
        for numbers in (index, digits):
            winners = where(
                m, flag, [taken(digit, odd) for digit in numbers], [taken(digit, even) for digit in numbers]
            )
            last = [taken(digit, np.arange(count - count % 2, count)) for digit in numbers]
            both.append([joined(m, pair) for pair in zip(winners, last, strict=True)])
        index, digits = both
        count = (count + 1) // 2
    return [taken(digit, 0) for digit in index]


def network(m: Machine, digits: Sequence[AnyDigit], signed: bool) -> list[AnyDigit]:
    """The numbers of the first axis in order, by Batcher's odd-even merge sort. A stage is a few batches."""
    found = list(digits)
    count = next(len(digit.cells) if not isinstance(digit, np.ndarray) else len(digit) for digit in found)
    for stage in stages(count):
        low, high = (np.array(places) for places in zip(*stage, strict=True))
        rest = np.setdiff1d(np.arange(count), np.concatenate([low, high]))
        order = np.argsort(np.concatenate([low, high, rest]))
        pairs = [[taken(digit, places) for digit in found] for places in (low, high)]
        smaller = where(m, less(m, pairs[1], pairs[0], signed), pairs[1], pairs[0])
        larger = [
            m.digit(Sum.of((a, 1), (b, 1), (c, -1)), within=(0, 3)) for a, b, c in zip(*pairs, smaller, strict=True)
        ]
        found = [
            taken(joined(m, [a, b, taken(digit, rest)]), order)
            for a, b, digit in zip(smaller, larger, found, strict=True)
        ]
    return found


def stages(count: int) -> Iterator[list[tuple[int, int]]]:
    """Comparators that can run side by side (Knuth, The Art of Computer Programming 5.2.2, algorithm M)."""
    if count < 2:
        return
    half = 1 << ((count - 1).bit_length() - 1)
    p = half
    while p:
        q, r, d = half, 0, p
        while True:
            yield [(i, i + d) for i in range(count - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
