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
from aglet.arrays.slots import later
from aglet.arrays.slots.values import MOST_DIGITS, MOST_PLACES, Chunks, Numbers, fits, too_noisy

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["direct"]

_Kind = tuple[np.dtype[Any], int, int]
"""A dtype, and the least and the largest number that there may be."""
_CALLS: dict[Any, str] = {np.add: "add", np.subtract: "subtract", np.multiply: "multiply"}
_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}
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


@functools.lru_cache(maxsize=1024)
def _result(name: str, limit: int | None, x: _Kind, y: _Kind) -> _Kind | None:
    """The dtype that numpy gives, and the ends of a result; None of booleans, of floats and of what wraps around.

    One look, as after a call of the engine all that Python reads comes from memory: 4 us of it take 20.
    """
    if x[0].kind == y[0].kind == "b":
        return None
    found = getattr(np, name)(np.ones((), x[0]), np.ones((), y[0])).dtype
    if found.kind not in "iu":
        return None
    corners = [_ON_NUMBERS[name](a, b) for a in x[1:] for b in y[1:]]
    low, high = min(corners), max(corners)
    least, most = dtypes.span(found)
    return (found, low, high) if least <= low and high <= most and fits(limit, low, high) else None


def _of_two(name: str, x: EncryptedSlots, y: EncryptedSlots) -> EncryptedSlots | None:
    session, index = x.session, x.index
    # Those of an array without a table; both at once, as another thread might look one up meanwhile.
    (one, looked_up), (other, other_looked_up) = x._state, y._state
    if not (looked_up is other_looked_up is None and y.session is session and y.everywhere is x.everywhere):
        return None
    if not (index is y.index or np.array_equal(index, y.index)):
        return None
    result = _result(name, session.limit, (x.dtype, one.low, one.high), (y.dtype, other.low, other.high))
    if result is None or not index.size or max(len(one.digits), len(other.digits)) > MOST_DIGITS:
        return None
    left, right = one.residues(session), other.residues(session)
    # The same numbers are left alone, as it seems that there is a table of them.
    if len(left) != len(right) or left[0] is right[0]:
        return None
    # No frame for each ciphertext, and none of the engine, which looks at what users give.
    call: Callable[..., Any] = getattr(session.engine._core, name)
    if name != "multiply":
        return _made((name, x, y), list(map(call, left, right)), result)
    key = session.relinearization("A product of two arrays")
    if min(one.level, other.level) < _FACTOR:
        return None
    return _made((name, x, y), list(map(call, left, right, itertools.repeat(key))), result)


def _with_clear(name: str, x: Any, y: Any) -> EncryptedSlots | None:
    array, plain = (y, x) if isinstance(x, np.ndarray) else (x, y)
    if type(plain) is not np.ndarray or plain.dtype.kind not in "iu" or plain.size < 2 or plain.shape != array.shape:
        return None
    session, slots = array.session, array.session.slots
    numbers, looked_up = array._state
    if looked_up is not None or len(numbers.digits) > MOST_DIGITS or array.everywhere or not _is_in_a_row(array):
        return None
    own, of_plain = (array.dtype, numbers.low, numbers.high), (plain.dtype, int(plain.min()), int(plain.max()))
    result = _result(name, session.limit, *((own, of_plain) if array is x else (of_plain, own)))
    if result is None or not session.fits(*of_plain[1:]):
        return None
    rows = [plain.reshape(-1)[at : at + slots] for at in range(0, plain.size, slots)]
    pair = numbers.residues(session), rows
    call = getattr(session.engine, name)
    chunks = [call(a, b) for a, b in zip(*(pair if array is x else pair[::-1]), strict=True)]
    return _made((name, x, y), chunks, result)


def _is_in_a_row(x: EncryptedSlots) -> bool:
    """Whether the elements lie in consecutive slots. Arrays of one shape mostly share their places."""
    straight = layout.in_a_row(x.shape)
    return x.index is straight or np.array_equal(x.index, straight)


def _made(of: tuple[str, Any, Any], chunks: Chunks, result: _Kind) -> EncryptedSlots | None:
    """Elements in these places, which is all that there is to say; None if no bootstrap takes the noise of them."""
    name, x, y = of
    like: EncryptedSlots = y if isinstance(x, np.ndarray) else x
    session = like.session
    if 1 in map(_LEVEL, chunks) and too_noisy(session, chunks):
        return None
    dtype, low, high = result
    numbers = Numbers((chunks,), 0, low, high)
    if high - low >= MOST_PLACES:
        of_sum = {"add": 1, "subtract": -1}.get(name)
        numbers = later.product(x, y, numbers) if of_sum is None else later.total(x, y, of_sum, numbers)
    return type(like)(session, numbers, None, dtype, like.index, everywhere=like.everywhere)
