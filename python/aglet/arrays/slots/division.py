"""`//` and `%` of numbers of 16 and 32 bits by a number in the clear: long division, digit by digit, from the highest.

What is left of the digits above and the next digit have 16 times as many values as the divisor: one table each gives a
digit of the quotient and what is left. Up to 8 a digit takes a bootstrap, up to 128 two, and up to 512 three: of the
divisor without its powers of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.slots.places import is_slots
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, MOST_PLACES, WIDE_DIGITS, Chunks, Numbers, quiet_sum, together
from aglet.arrays.slots.wide import is_wide

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["divided", "divisor"]


def divisor(ufunc: np.ufunc, x: Any, y: Any) -> int | None:
    """By what an array of more digits than a table has is divided; None if it is not, or by what takes too long."""
    if ufunc not in (np.floor_divide, np.remainder) or not is_wide(x) or is_slots(y):
        return None
    by, unit = int(y), DIGIT ** (len(x.numbers.digits) - 1)
    odd = by // max(1, by & -by)
    fits = 1 <= odd <= MOST_PLACES // DIGIT and by <= (DIGIT**WIDE_DIGITS if ufunc is np.remainder else by)
    return by if by > 0 and fits and x.numbers.offset % unit == 0 else None


def divided(session: SlotSession, x: Numbers, by: int, *, rest: bool) -> Numbers:
    """`x // by`, or `x % by` if the rest is asked for, of numbers that count from a multiple of their highest digit.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """
    last = len(x.digits) - 1
    # Of the highest digit, which has the sign: quotients are rounded down.
    values = np.arange(DIGIT) + x.offset // DIGIT**last
    left, offset = x.digit(last), 0
    digits: list[Chunks] = []
    for at in range(last, -1, -1):
        quotients, remainders = values // by, values % by
        if at == last:
            offset = int(quotients[0]) * DIGIT**last
            quotients = quotients - quotients[0]
        [left] = together(session, [left], left.high.bit_length() + 1)
        more = [remainders * (DIGIT if at else 1)] if at or rest else []
        found = looked_up_all(session, left, [*([] if rest else [quotients]), *more])
        digits = [found[0].digits[0], *digits]
        if at:
            most = DIGIT * int(remainders.max()) + DIGIT - 1
            chunks = quiet_sum(session, [found[-1].digits[0], x.digits[at - 1]])
            left, values = Numbers((chunks,), 0, 0, most), np.arange(most + 1)
    if rest:
        return Numbers(found[-1].digits, 0, 0, by - 1)
    return Numbers(tuple(digits), offset, x.low // by, x.high // by).trimmed()
