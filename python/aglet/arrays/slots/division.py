"""`//` and `%` of numbers of 16 and 32 bits by a number in the clear: long division, digit by digit, from the highest.

What is left of the digits above and the next digit have 16 times as many values as the divisor: one table each gives a
digit of the quotient and what is left. Up to 8 a digit takes a bootstrap, up to 128 two, and up to 512 three: of the
divisor without its powers of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.slots.places import is_slots
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, MOST_PLACES, WIDE_DIGITS, Chunks, Entries, Numbers, quiet_sum, together
from aglet.arrays.slots.wide import is_wide

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession

__all__ = ["by_number", "divisor"]


def divisor(ufunc: np.ufunc, x: Any, y: Any) -> int | None:
    """By what an array of more digits than a table has is divided; None if it is not, or by what takes too long."""
    if ufunc not in (np.floor_divide, np.remainder, np.divmod) or not is_wide(x) or is_slots(y):
        return None
    by, unit = int(y), DIGIT ** (len(x.numbers.digits) - 1)
    size = abs(by)
    # A quotient by a number below 0 asks whether something is left.
    fits = size // max(1, size & -size) <= MOST_PLACES // DIGIT
    fits = fits and (size <= DIGIT**WIDE_DIGITS or (ufunc is np.floor_divide and by > 0))
    return by if fits and x.numbers.offset % unit == 0 else None


def by_number(
    x: EncryptedSlots, by: int, dtype: np.dtype[Any], *, whole: bool, rest: bool
) -> tuple[EncryptedSlots | None, EncryptedSlots | None]:
    """`x // by` and `x % by` as numbers of a dtype, those that are asked for; 0 by 0, as numpy has them.

    With `x = n q + r`, a quotient by -n is `-q`, less 1 where something is left, which is `~q + (r == 0)`; and `r - n`
    or 0 is left.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """
    if not by:
        zero = x.replaced(x.numbers.constant(x.session, 0), None, dtype)
        return zero, zero
    if by > 0:
        return _by_positive(x, by, dtype, whole=whole, rest=rest)
    if by % 2:
        left = np.arange(-by)
        quotient, found = divided(
            x.session, x.numbers, -by, whole=whole, rests=[left == 0, np.where(left, left + by, 0)]
        )
        flag, below = (x.replaced(one, None, dtype) for one in found)
        return None if quotient is None else ~x.replaced(quotient, None, dtype) + flag, below
    above, over = _by_positive(x, -by, dtype, whole=whole, rest=True)
    none: Any = over == 0
    return None if above is None else ~above + none.astype(dtype), np.where(
        none, dtype.type(0), over + dtype.type(by)
    ) if rest else None


def _by_positive(x: Any, by: int, dtype: np.dtype[Any], *, whole: bool, rest: bool) -> tuple[Any, Any]:
    """The same by a number above 0: powers of two are shifts and masks, so tables are as short as odd numbers have."""
    power = (by & -by).bit_length() - 1
    odd, last = by >> power, dtype.type(by >> power)
    if odd == 1:
        quotient = x >> dtype.type(power) if power else x.astype(dtype)
        return quotient if whole else None, x & dtype.type(by - 1) if rest else None
    if not power:
        found, left = divided(x.session, x.numbers, by, whole=whole, rests=[np.arange(by)] if rest else [])
        made = [None if one is None else x.replaced(one, None, dtype) for one in (found, *left, None)]
        return made[0], made[1]
    above = x >> dtype.type(power)
    if whole and rest:
        quotient, over = np.divmod(above, last)
    else:
        quotient, over = (above // last, None) if whole else (None, above % last)
    return quotient, over * dtype.type(1 << power) + (x & dtype.type((1 << power) - 1)) if rest else None


def divided(
    session: SlotSession, x: Numbers, by: int, *, whole: bool, rests: Sequence[Entries]
) -> tuple[Numbers | None, list[Numbers]]:
    """`x // by`, if it is asked for, and tables of `x % by`, of numbers that count from a multiple of their last digit.

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
        more = [remainders * DIGIT] if at else [one[remainders].astype(np.int64) for one in rests]
        found = looked_up_all(session, left, [*([quotients] if whole else []), *more])
        digits = [found[0].digits[0], *digits]
        if at:
            most = DIGIT * int(remainders.max()) + DIGIT - 1
            chunks = quiet_sum(session, [found[-1].digits[0], x.digits[at - 1]])
            left, values = Numbers((chunks,), 0, 0, most), np.arange(most + 1)
    quotient = Numbers(tuple(digits), offset, x.low // by, x.high // by).trimmed() if whole else None
    return quotient, found[whole:]
