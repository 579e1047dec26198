"""Joins of arrays: the chunks of all are put into one list, and nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import moves
from aglet.ckks import values

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["concatenate", "first_encrypted", "is_encrypted", "joined", "padded", "split", "stack"]

_PADS = ("constant", "edge", "reflect", "symmetric", "wrap")


def concatenate(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    """As in numpy. It costs nothing: the chunks of all arrays are put into one list."""
    return joined(lambda indices: np.concatenate(indices, axis=axis), arrays)


def stack(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    """As in numpy. It costs nothing."""
    return joined(lambda indices: np.stack(indices, axis=axis), arrays)


def split(called: Callable[..., Any], array: EncryptedArray, sections: Any, **axis: Any) -> list[EncryptedArray]:
    """Cut an array with a function of numpy that cuts its places. Every part is a view, and not empty."""
    if is_encrypted(sections):
        raise TypeError("Where an array is cut is plain: give a number of sections, or indices.")
    taken = checks.rearranged("cut", array.shape, lambda: called(array.index, sections, **axis))
    return [array._view(index) for index in taken]


def padded(
    array: EncryptedArray, pad_width: Any, mode: Any = "constant", constant_values: Any = None
) -> EncryptedArray:
    """As `numpy.pad`, with plain numbers, or in the modes that repeat elements. It costs nothing."""
    if not isinstance(mode, str) or mode not in _PADS:
        raise TypeError(
            f"numpy.pad with mode={mode!r} is not supported on encrypted arrays; supported are {', '.join(_PADS)}."
        )
    more: Any = {} if constant_values is None else {"constant_values": values.as_operand(constant_values)}
    with checks.in_memory("The result of numpy.pad does not fit in memory; pad the array in parts."):
        return _padded(array, pad_width, mode, more)


def _padded(array: EncryptedArray, pad_width: Any, mode: str, more: Any) -> EncryptedArray:
    if mode != "constant":
        return array._view(
            checks.rearranged(
                "pad_width", array.shape, lambda: np.pad(array.index, pad_width, **({"mode": mode} | more))
            )
        )
    # The places of elements, and behind them those of the plain numbers.
    empty = np.zeros(array.shape, dtype=complex if any(map(np.iscomplexobj, more.values())) else float)
    own = np.arange(array.size, dtype=np.int64).reshape(array.shape)
    places = checks.rearranged("pad_width", array.shape, lambda: np.pad(own, pad_width, constant_values=-1))
    around = checks.rearranged("constant_values", array.shape, lambda: np.pad(empty, pad_width, **more))
    if (places >= 0).all():
        return array._view(array.index.reshape(places.shape))
    distinct, which = np.unique(around[places < 0], return_inverse=True)
    places[places < 0] = array.size + which.ravel()
    joint = concatenate([array.ravel(), distinct])
    return joint._view(joint.index.ravel()[places])


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
        array = moves.spelled_out(array) if array.uniform else array.still()
        parts.append(array)
        indices.append(array.index + len(chunks) * slots)
        chunks += array.chunks
    interval = parts[0].interval
    for array in parts[1:]:
        interval = interval | array.interval
    fillers, periods = {array.filler for array in parts}, {array.period for array in parts}
    filler, period = (some.pop() if len(some) == 1 else None for some in (fillers, periods))
    index = checks.rearranged("join", parts[0].shape, lambda: join(indices))
    return first.replaced(chunks=chunks, index=index, interval=interval, filler=filler, period=period)


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
