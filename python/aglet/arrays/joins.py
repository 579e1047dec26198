"""Arrays side by side: chunks of all in one list, nothing moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["concatenate", "first_encrypted", "stack"]


def concatenate(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    """As numpy's; it costs nothing: the chunks of all stand side by side."""
    first = first_encrypted(arrays)
    session, slots = first.session, first.session.slots
    parts: list[Any] = []
    chunks: list[Any] = []
    start = 0
    for one in arrays:
        array = one if isinstance(one, type(first)) else session.encrypt_like(one, first)
        session.same(array)
        array = array.spelled_out() if array.uniform else array
        parts.append((array, array.index + start))
        chunks += array.chunks
        start += len(array.chunks) * slots
    index = np.concatenate([places for _, places in parts], axis=axis)
    interval = parts[0][0].interval
    for array, _ in parts[1:]:
        interval = interval | array.interval
    fillers, periods = {array.filler for array, _ in parts}, {array.period for array, _ in parts}
    filler, period = (some.pop() if len(some) == 1 else None for some in (fillers, periods))
    return first.replaced(chunks=chunks, index=index, interval=interval, filler=filler, period=period)


def stack(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    """As numpy's; it costs nothing."""
    first = first_encrypted(arrays)
    wide = [a.spelled_out() if isinstance(a, type(first)) and a.uniform else a for a in arrays]
    place = axis if axis >= 0 else axis + first.ndim + 1
    expanded = [a.reshape(*a.shape[:place], 1, *a.shape[place:]) for a in wide]
    return concatenate(expanded, axis=place)


def first_encrypted(arrays: Sequence[Any]) -> EncryptedArray:
    """The first that is encrypted."""
    from aglet.arrays.array import EncryptedArray

    found = [one for one in arrays if isinstance(one, EncryptedArray)]
    if not found:
        raise TypeError("None of these arrays is encrypted.")
    return found[0]
