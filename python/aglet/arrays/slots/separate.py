"""Functions of numbers in several digits whose digits are sums of a table of each: shifts, masks, casts, single bits.

Such numbers have too many values for a table of all. A function of them is known by its values, so whether it is of
this kind is a system of equations; what it gives must be whole numbers, and is checked at every value.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["separated"]

Entries = NDArray[np.int64]
_DIGIT = 16


def separated(table: Entries, first: int, count: int) -> tuple[int, list[list[Entries]]] | None:
    """What the digits of a function count from, and for each a table of every digit that it is a function of.

    Parameters
    ----------
    table
        Its value for each number, from the least.
    first
        The least number, less what its digits count from.
    count
        The digits of a number.
    """
    return _separated(table.astype(np.int64).tobytes(), first, count)


@functools.lru_cache(maxsize=8)
def _separated(entries: bytes, first: int, count: int) -> tuple[int, list[list[Entries]]] | None:
    """The same, kept: whether there is such a table is asked before what it is."""
    table = np.frombuffer(entries, dtype=np.int64)
    low, high = int(table.min()), int(table.max())
    offset, width = 0, 1
    while high - offset >= _DIGIT**width or (low < 0 and -low > _DIGIT**width // 2):
        width += 1
    offset = -(_DIGIT**width // 2) if low < 0 else 0
    while high - offset >= _DIGIT**width:
        width, offset = width + 1, offset * _DIGIT
    numbers = np.arange(first, first + len(table))
    places = [_DIGIT * at + numbers // _DIGIT**at % _DIGIT for at in range(count)]
    results = np.stack([(table - offset) // _DIGIT**at % _DIGIT for at in range(width)], axis=1)
    found = _summands(places, results, _DIGIT * count)
    if found is None:
        return None
    return offset, [[found[_DIGIT * at : _DIGIT * (at + 1), digit] for at in range(count)] for digit in range(width)]


def _summands(places: list[Any], results: Entries, size: int) -> Entries | None:
    """The numbers that add up to each result, one from each place."""
    met = np.zeros((size, size))
    for one in places:
        for other in places:
            met += np.bincount(one * size + other, minlength=size**2).reshape(size, size)
    sums = np.zeros((size, results.shape[1]))
    for one in places:
        for at, column in enumerate(results.T):
            sums[:, at] += np.bincount(one, weights=column, minlength=size)
    found = np.linalg.lstsq(met, sums, rcond=None)[0]
    # All but the first count from the value of their digit in the first number, so that all are whole numbers.
    for one in places[1:]:
        base = found[one[0]].copy()
        found[one[0] // _DIGIT * _DIGIT :][:_DIGIT] -= base
        found[:_DIGIT] += base
    whole = np.rint(found).astype(np.int64)
    # Digits that no number has.
    whole[np.diag(met) == 0] = 0
    made = sum(whole[one] for one in places)
    return whole if np.array_equal(made, results) else None
