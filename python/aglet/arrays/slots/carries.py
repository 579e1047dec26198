"""Sums and differences of arrays of 8 bits in two digits, which wrap around: the low digits carry to the high ones.

A table of all sums takes ten levels with the one that stays, and tables of digits seven; digits stay digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.orders import FULL, apart, digits_of, has_digits
from aglet.arrays.slots.values import DIGIT, Numbers, looked_up, together

__all__ = ["carried"]


def carried(x: Any, y: Any, sign: int, dtype: np.dtype[Any]) -> Numbers | None:
    """`x + sign y` around which a dtype wraps; None if it has no 8 bits, or an operand lies in no digits.

    Elements of arrays have the same places.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """
    array = x if has_digits(x) else y
    if not has_digits(array) or dtype.itemsize != 1 or dtype.kind == "b":
        return None
    session, (low, high) = array.session, dtypes.span(dtype)
    offsets = [one.numbers.offset if has_digits(one) else low for one in (x, y)]
    above = offsets[0] + sign * offsets[1] - low
    pairs = [digits_of(one, array, offset) for one, offset in zip((x, y), offsets, strict=True)]
    if above % DIGIT or pairs[0] is None or pairs[1] is None:
        return None
    made = [_combined(session, one, other, sign) for one, other in zip(*pairs, strict=True)]
    lows, highs = together(session, made, FULL)
    sums, key, engine = np.arange(lows.low, lows.high + 1), session.relinearization("A sum that wraps"), session.engine
    # What the low digits carry is 0 or `sign`.
    carry = looked_up(session, lows, sums // DIGIT * sign).digits[0]
    plain, with_carry = ((sums + above // DIGIT + more) % DIGIT for more in (0, sign))
    without = looked_up(session, highs, plain).digits[0]
    more = looked_up(session, highs, with_carry - plain).digits[0]
    above_digit = [engine.add(a, engine.multiply(b, c, key)) for a, b, c in zip(without, more, carry, strict=True)]
    [first] = lows.digits
    below = [engine.add(a, engine.multiply(c, -sign * DIGIT)) for a, c in zip(first, carry, strict=True)]
    return Numbers((below, above_digit), low, low, high)


def _combined(session: Any, x: Any, y: Any, sign: int) -> Numbers:
    """Sums or differences of digits."""
    if sign == -1:
        return apart(session, x, y)
    # What is in the clear are numbers, and one of both is none.
    pairs = ((b, a) if isinstance(a, np.ndarray | int) else (a, b) for a, b in zip(x, y, strict=True))
    return Numbers(([session.engine.add(a, b) for a, b in pairs],), 0, 0, 2 * DIGIT - 2)
