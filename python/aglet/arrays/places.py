"""Where elements stand: questions about an index, and plain numbers laid out beside it."""

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
    """The places where each chunk is one period of itself."""
    slots = array.session.slots
    return array.index if period == slots else array.index // slots * period + array.index % period


def count(array: EncryptedArray, period: int) -> int:
    """How many places hold an element, where each chunk is one period of itself."""
    held = np.zeros(len(array.chunks) * period, dtype=bool)
    held[folded(array, period)] = True
    return int(np.count_nonzero(held))


def spread(array: EncryptedArray, plain: NDArray[Any]) -> tuple[EncryptedArray, list[NDArray[Any]]]:
    """Plain values in the places of an array, for each chunk; other slots get the middle one of them.

    The array comes back too: in the shape that both broadcast to, and moved where elements that stand in one slot, or
    in one slot of a period, meet different values.
    """
    shape = checks.common_shape(array.shape, plain.shape)
    placed, wanted = array.broadcast_to(shape), np.broadcast_to(plain, shape)
    slots = array.session.slots
    rows = _rows(placed, wanted, placed.period or slots)
    if rows is None and placed.uniform:
        placed = placed.spelled_out()
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
    """The values for each chunk, or None if two different ones meet in one place."""
    slots, chunks = array.session.slots, len(array.chunks)
    flat = np.full(chunks * period, Interval.around(wanted).inside, dtype=wanted.dtype)
    index = folded(array, period)
    flat[index] = wanted
    if not np.array_equal(flat[index], wanted):
        return None
    rows = flat.reshape(chunks, period)
    return list(rows if period == slots else np.tile(rows, slots // period))
