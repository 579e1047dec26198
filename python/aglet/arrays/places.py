"""The places of elements: questions about an index, and plain numbers laid out in the same places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import moves
from aglet.arrays.interval import Interval

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["count", "folded", "spread"]


def folded(array: EncryptedArray, period: int) -> NDArray[np.int64]:
    """The places modulo the period of a chunk."""
    slots = array.session.slots
    return array.index if period == slots else array.index // slots * period + array.index % period


def count(array: EncryptedArray, period: int) -> int:
    """The number of places that hold an element, counted within one period of each chunk."""
    held = np.zeros(len(array.chunks) * period, dtype=bool)
    held[folded(array, period)] = True
    return int(np.count_nonzero(held))


def spread(array: EncryptedArray, plain: NDArray[Any]) -> tuple[EncryptedArray, list[NDArray[Any]]]:
    """Lay out plain values in the places of an array, for each chunk. Other slots get the middle of the values.

    The array is returned too, in the shape that both broadcast to. It is moved if elements in one slot, or in one slot
    of a period, need different values.
    """
    shape = checks.common_shape(array.shape, plain.shape)
    placed, wanted = array.broadcast_to(shape), np.broadcast_to(plain, shape)
    slots = array.session.slots
    rows = _rows(placed, wanted, placed.period or slots)
    if rows is None and placed.uniform:
        placed = moves.spelled_out(placed)
    if rows is None:
        # The values do not repeat with the period of the array, so the result does not either.
        placed = placed.replaced(period=None)
        rows = _rows(placed, wanted, slots)
    if rows is None:
        placed = moves.compact(placed).replaced(period=None)
        rows = _rows(placed, wanted, slots)
    assert rows is not None, "every element has a place of its own"
    return placed, rows


def _rows(array: EncryptedArray, wanted: NDArray[Any], period: int) -> list[NDArray[Any]] | None:
    """The values for each chunk, or None if one place would need two different values."""
    slots, chunks = array.session.slots, len(array.chunks)
    flat = np.full(chunks * period, Interval.around(wanted).inside, dtype=wanted.dtype)
    index = folded(array, period)
    flat[index] = wanted
    if not np.array_equal(flat[index], wanted):
        return None
    rows = flat.reshape(chunks, period)
    return list(rows if period == slots else np.tile(rows, slots // period))
