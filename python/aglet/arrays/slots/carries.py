"""Sums and products of arrays of 8 bits in two digits, which wrap around: the low digits carry to the high ones.

A table of all sums takes ten levels with the one that stays, and tables of digits seven; digits stay digits. Of a
product the high digits meet in nothing that 8 bits have, and two tables of hundreds of values read the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.orders import FULL, digits_of, has_digits, met
from aglet.arrays.slots.places import is_slots, laid
from aglet.arrays.slots.tables import looked_up, looked_up_all
from aglet.arrays.slots.values import DIGIT, Numbers, calm, enough, room, together

__all__ = ["carried", "multiplied"]


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
    made = [met(session, one, other, sign) for one, other in zip(*pairs, strict=True)]
    lows, highs = together(session, made, FULL)
    sums, key, engine = np.arange(lows.low, lows.high + 1), session.relinearization("A sum that wraps"), session.engine
    # What the low digits carry is 0 or `sign`.
    carry = looked_up(session, lows, sums // DIGIT * sign).digits[0]
    plain, with_carry = ((sums + above // DIGIT + more) % DIGIT for more in (0, sign))
    without, more = (one.digits[0] for one in looked_up_all(session, highs, [plain, with_carry - plain]))
    above_digit = [engine.add(a, engine.multiply(b, c, key)) for a, b, c in zip(without, more, carry, strict=True)]
    [first] = lows.digits
    below = [engine.add(a, engine.multiply(c, -sign * DIGIT)) for a, c in zip(first, carry, strict=True)]
    return Numbers((below, above_digit), low, low, high)


def multiplied(x: Any, y: Any, dtype: np.dtype[Any]) -> Numbers | None:
    """Numbers that are `x y` modulo 256; None if the dtype has other numbers.

    Elements of arrays have the same places. They are `xl yl` and, by a table, 16 times `xl yh + xh yl` modulo 16.
    What has no two digits, as the result of another operation, is looked up in tables of them.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """
    if dtype.itemsize != 1 or dtype.kind == "b":
        return None
    array, other = (_in_two(one) if is_slots(one) else one for one in ((x, y) if is_slots(x) else (y, x)))
    plain = not is_slots(other)
    session, most = array.session, DIGIT - 1
    first = [one.numbers.offset // DIGIT for one in ([array] if plain else [array, other])]
    first += [0] if plain else []
    low, high = (most * sum(pick(0, end + more) for end in first) for pick, more in ((min, 0), (max, most)))
    below, above = _weighted(array, other) if plain else _products(array, other)
    crossed = Numbers((above,), 0, low, high)
    carry = looked_up(session, crossed, np.arange(low, high + 1) % DIGIT * DIGIT)
    made = [session.engine.add(a, b) for a, b in zip(below, carry.digits[0], strict=True)]
    return Numbers((made,), 0, 0, most**2 + most * DIGIT)


def _in_two(x: Any) -> Any:
    """An array of which two digits are what counts modulo 256; itself, if it has them."""
    if has_digits(x) and x.numbers.offset % DIGIT == 0:
        return x
    x = x.still()
    values = x.values() % DIGIT**2
    found = looked_up_all(x.session, x.numbers, [values % DIGIT, values // DIGIT])
    # Products would multiply the noise of tables of what was bootstrapped.
    digits = tuple(one.digits[0] for one in calm(x.session, found, 2))
    return x.replaced(Numbers(digits, 0, 0, DIGIT**2 - 1), None, x.dtype)


def _from_offset(session: Any, numbers: Numbers) -> tuple[Any, Any]:
    """The low digits, and the high ones with the offset."""
    low, high = numbers.digits
    first = numbers.offset // DIGIT
    return low, [session.engine.add(chunk, first) for chunk in high] if first else high


def _products(x: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """`xl yl`, and `xl yh + xh yl`, of two arrays."""
    session = x.session
    engine, key = session.engine, session.relinearization("A product of two arrays")
    (a, b), (c, d) = (_from_offset(session, enough(session, one.numbers, 2)) for one in (x, y))
    below = [engine.multiply(low, other, key) for low, other in zip(a, c, strict=True)]
    pairs = zip(a, b, c, d, strict=True)
    above = [engine.product_sum([low, high], [over, other], key) for low, high, other, over in pairs]
    return below, above


def _weighted(x: Any, plain: Any) -> tuple[list[Any], list[Any]]:
    """The same of an array and numbers in the clear, modulo 256."""
    session = x.session
    rows = laid(x, np.asarray(plain).astype(np.int64) % DIGIT**2)
    low, high = _from_offset(session, room(session, x.numbers, 2, 0))
    call = session.engine.weighted_sum
    below = [call([a], [row % DIGIT]) for a, row in zip(low, rows, strict=True)]
    above = [call([a, b], [row // DIGIT, row % DIGIT]) for a, b, row in zip(low, high, rows, strict=True)]
    quiet = Numbers((below, above), 0, 0, 0).quieter(session)
    return quiet.digits[0], quiet.digits[1]
