"""Numbers of 32 bits, of which there is no list of all values: what one array has is made of pairs and of digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.places import is_slots
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, MOST_VALUES, Numbers

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["answer", "as_pair", "bits_of", "cast", "is_long"]

_Pair = tuple[np.ufunc, Any, Any]
_BITS = 4
"""Of a digit."""
_ORDERS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
_PAIRS = (
    *_ORDERS, np.add, np.subtract, np.multiply, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    np.left_shift, np.right_shift,
)  # fmt: skip
_BY_TWO = {np.floor_divide: np.right_shift, np.remainder: np.bitwise_and}
"""What a division by a power of two is."""


def is_long(value: Any) -> bool:
    """Whether a value is an array of numbers that have no list of all values."""
    return is_slots(value) and value.numbers.places > MOST_VALUES


def as_pair(ufunc: np.ufunc, inputs: Sequence[Any]) -> _Pair | None:
    """A function of one array, with itself or with numbers in the clear, as one of two operands; None if it is none.

    Numbers of Python take on the dtype of the array.
    """
    x = next(one for one in inputs if is_slots(one))
    if ufunc in _PAIRS:
        first, second = (
            one if is_slots(one) else np.asarray(one, x.dtype if type(one) in (int, bool) else None) for one in inputs
        )
        return ufunc, first, second
    if ufunc in _BY_TWO and is_slots(inputs[0]) and not is_slots(inputs[1]):
        divisor = int(inputs[1])
        if divisor < 1 or divisor.bit_count() > 1:
            return None
        by = divisor.bit_length() - 1 if ufunc is np.floor_divide else divisor - 1
        of = x.dtype if type(inputs[1]) in (int, bool) else np.asarray(inputs[1]).dtype
        return _BY_TWO[ufunc], x, np.asarray(by, of)
    if ufunc is np.square:
        return np.multiply, x, x
    if ufunc is np.negative:
        return np.subtract, np.zeros((), x.dtype), x
    if ufunc is np.invert:
        return np.bitwise_xor, x, ~np.zeros((), x.dtype)
    return None


def answer(ufunc: np.ufunc, inputs: Sequence[Any]) -> EncryptedSlots | None:
    """A comparison with a number that all elements, or none, are below or above; None if it is another one."""
    x = next(one for one in inputs if is_slots(one))
    if ufunc not in _ORDERS or all(map(is_slots, inputs)):
        return None
    other = next(int(one) for one in inputs if not is_slots(one))
    if x.bound[0] <= other <= x.bound[1]:
        return None
    reflected = not is_slots(inputs[0])
    [found] = {bool(ufunc(other, end) if reflected else ufunc(end, other)) for end in x.bound}
    known: EncryptedSlots = x.replaced(x.numbers.constant(x.session, int(found)), None, np.dtype(bool))
    return known


def cast(x: EncryptedSlots, dtype: np.dtype[Any]) -> EncryptedSlots:
    """The values in another dtype, wrapped around where they do not fit.

    Raises
    ------
    RangeError
        If a wider dtype has not all values.
    """
    if dtype.kind == "b":
        flags: EncryptedSlots = x != 0
        return flags
    low, high = dtypes.span(dtype)
    if low <= x.bound[0] and x.bound[1] <= high:
        return x.replaced(x.numbers, None, dtype)
    count, numbers = 2 * dtype.itemsize, x.numbers
    if count > len(numbers.digits):
        # The list of all values says why not.
        x.values()
    # Digits count from multiples of the highest one that stays, or from half of what it counts.
    last, unit = count - 1, DIGIT ** (count - 1)
    turned = (numbers.offset - low) // unit % DIGIT
    digits = list(numbers.digits[:count])
    if turned:
        digits[last] = looked_up_all(x.session, numbers.digit(last), [(np.arange(DIGIT) + turned) % DIGIT])[0].digits[0]
    return x.replaced(Numbers(tuple(digits), low, low, high), None, dtype)


def bits_of(x: EncryptedSlots, at: int, count: int) -> EncryptedSlots:
    """So many bits of two's complement, from bit `at` on, which lie in one digit of the elements."""
    numbers, last = x.numbers, len(x.numbers.digits) - 1
    # The highest digit has the bits of what numbers count from, as those above it.
    digit = min(at // _BITS, last)
    values = np.arange(DIGIT) + (numbers.offset >> _BITS * last if digit == last else 0)
    return x.replaced(numbers.digit(digit), values >> at - _BITS * digit & (1 << count) - 1, x.dtype)
