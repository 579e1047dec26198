"""Joins of arrays: the chunks of all are put into one list, and nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import moves

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["concatenate", "first_encrypted", "is_encrypted", "joined", "stack"]


def concatenate(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    """As in numpy. It costs nothing: the chunks of all arrays are put into one list."""
    return joined(lambda indices: np.concatenate(indices, axis=axis), arrays)


def stack(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    """As in numpy. It costs nothing."""
    return joined(lambda indices: np.stack(indices, axis=axis), arrays)


def joined(join: Callable[[Any], Any], arrays: Sequence[Any]) -> EncryptedArray:
    """Join arrays with a function of numpy that does the same to the places of their elements."""
    arrays = list(arrays)
    first: EncryptedArray = first_encrypted(arrays)
    session, slots = first.session, first.session.slots
    parts: list[EncryptedArray] = []
    indices: list[Any] = []
    chunks: list[Any] = []
    for one in arrays:
        array = one if is_encrypted(one) else session.encrypt_like(one, first)
        session.same(array)
        array = moves.spelled_out(array) if array.uniform else array
        parts.append(array)
        indices.append(array.index + len(chunks) * slots)
        chunks += array.chunks
    interval = parts[0].interval
    for array in parts[1:]:
        interval = interval | array.interval
    fillers, periods = {array.filler for array in parts}, {array.period for array in parts}
    filler, period = (some.pop() if len(some) == 1 else None for some in (fillers, periods))
    return first.replaced(chunks=chunks, index=join(indices), interval=interval, filler=filler, period=period)


def is_encrypted(value: object) -> bool:
    """Whether a value is an encrypted array."""
    from aglet.arrays.array import EncryptedArray

    return isinstance(value, EncryptedArray)


def first_encrypted(arrays: Sequence[Any]) -> Any:
    """The first encrypted array."""
    found = [one for one in arrays if is_encrypted(one)]
    if not found:
        raise TypeError("None of these arrays is encrypted; give at least one that is, or call the function of numpy.")
    return found[0]
