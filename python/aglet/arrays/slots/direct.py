"""Sums and products of elements in the same slots that are one call into the engine for each ciphertext.

Whatever takes more, as another place, a table or what wraps around, is left to `aglet.arrays.slots.operations`.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import layout
from aglet.arrays.digits import dtypes
from aglet.arrays.slots.values import MOST_DIGITS, Chunks, Numbers, too_noisy

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["direct"]

_Result = tuple[np.dtype[Any], int, int]
_CALLS: dict[Any, str] = {np.add: "add", np.subtract: "subtract", np.multiply: "multiply"}
_LEVEL = operator.attrgetter("level")
_FACTOR = 2
"""Levels of a factor, with one that a cast or a bootstrap of the product takes."""


def direct(ufunc: np.ufunc, inputs: Sequence[Any]) -> EncryptedSlots | None:
    """A function of two arrays in the same places, or of one and numbers in the clear; None if it takes more.

    Raises
    ------
    MissingKeyError
        If a product has no relinearization key.
    """
    name = _CALLS.get(ufunc)
    if name is None:
        return None
    x, y = inputs
    if type(x) is type(y):
        return _of_two(name, x, y)
    return None if name == "multiply" else _with_clear(name, x, y)


@functools.lru_cache(maxsize=64)
def _result(name: str, x: np.dtype[Any], y: np.dtype[Any]) -> _Result | None:
    """The dtype that numpy gives, its least and its largest value; None of booleans and floats."""
    if x.kind == y.kind == "b":
        return None
    found = getattr(np, name)(np.ones((), x), np.ones((), y)).dtype
    return (found, *dtypes.span(found)) if found.kind in "iu" else None


def _of_two(name: str, x: EncryptedSlots, y: EncryptedSlots) -> EncryptedSlots | None:
    session, index = x.session, x.index
    if y.session is not session or x.everywhere is not y.everywhere or not (_is_ready(x) and _is_ready(y)):
        return None
    # Those of an array without a table; before, another thread might have looked one up meanwhile.
    one, other = x.numbers, y.numbers
    if not (index is y.index or np.array_equal(index, y.index)):
        return None
    left, right = one.residues(session), other.residues(session)
    # The same numbers are left alone, as it seems that there is a table of them.
    if len(left) != len(right) or left[0] is right[0]:
        return None
    wanted = _result(name, x.dtype, y.dtype)
    ends = _fitting(name, wanted, (one.low, one.high), (other.low, other.high))
    if wanted is None or ends is None:
        return None
    if not session.fits(*ends):
        return None
    # No frame for each ciphertext, and none of the engine, which looks at what users give.
    call: Callable[..., Any] = getattr(session.engine._core, name)
    if name != "multiply":
        return _made(x, list(map(call, left, right)), wanted, ends)
    key = session.relinearization("A product of two arrays")
    if min(one.level, other.level) < _FACTOR:
        return None
    return _made(x, list(map(call, left, right, itertools.repeat(key))), wanted, ends)


def _with_clear(name: str, x: Any, y: Any) -> EncryptedSlots | None:
    array, plain = (y, x) if isinstance(x, np.ndarray) else (x, y)
    if type(plain) is not np.ndarray or plain.dtype.kind not in "iu" or plain.size < 2 or plain.shape != array.shape:
        return None
    session, slots = array.session, array.session.slots
    if not _is_ready(array) or array.everywhere or not _is_in_a_row(array):
        return None
    numbers = array.numbers
    wanted, own = _result(name, x.dtype, y.dtype), (numbers.low, numbers.high)
    of_plain = int(plain.min()), int(plain.max())
    ends = _fitting(name, wanted, *((own, of_plain) if array is x else (of_plain, own)))
    if wanted is None or ends is None:
        return None
    if not (session.fits(*ends) and session.fits(*of_plain)):
        return None
    rows = [plain.reshape(-1)[at : at + slots] for at in range(0, plain.size, slots)]
    pair = numbers.residues(session), rows
    call = getattr(session.engine, name)
    return _made(array, [call(a, b) for a, b in zip(*(pair if array is x else pair[::-1]), strict=True)], wanted, ends)


def _is_ready(x: EncryptedSlots) -> bool:
    """Whether the elements are the encrypted numbers, in digits that one slot can hold."""
    return x.table is None and len(x.numbers.digits) <= MOST_DIGITS and x.index.size > 0


def _is_in_a_row(x: EncryptedSlots) -> bool:
    """Whether the elements lie in consecutive slots. Arrays of one shape mostly share their places."""
    straight = layout.in_a_row(x.shape)
    return x.index is straight or np.array_equal(x.index, straight)


def _fitting(name: str, wanted: _Result | None, x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int] | None:
    """The ends of a result; None if it wraps around."""
    if name == "multiply":
        products = [a * b for a in x for b in y]
        low, high = min(products), max(products)
    else:
        low, high = (x[0] + y[0], x[1] + y[1]) if name == "add" else (x[0] - y[1], x[1] - y[0])
    return None if wanted is None or low < wanted[1] or high > wanted[2] else (low, high)


def _made(like: EncryptedSlots, chunks: Chunks, wanted: _Result, ends: tuple[int, int]) -> EncryptedSlots | None:
    """Elements in these places, which is all that there is to say; None if no bootstrap takes the noise of them."""
    session = like.session
    if 1 in map(_LEVEL, chunks) and too_noisy(session, chunks):
        return None
    numbers = Numbers((chunks,), 0, *ends)
    return type(like)(session, numbers, None, wanted[0], like.index, everywhere=like.everywhere)
