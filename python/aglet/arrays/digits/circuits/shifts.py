"""Shifts by encrypted amounts: a stage for each bit of the amount, each a choice between two numbers."""

from __future__ import annotations

from collections.abc import Sequence

from aglet.arrays.digits.circuits.bits import sign_digit
from aglet.arrays.digits.circuits.choice import where
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import ZERO, AnyDigit, Sum

__all__ = ["nonzero", "shift"]

_TOGETHER = 5
"""As many digits as have a sum that a table reads."""


def _bit(digit: int) -> int:
    return digit & 1


def _next_bit(digit: int) -> int:
    return digit >> 1


def _some(total: int) -> int:
    return int(total > 0)


# Of 4 * flag + digit: what stays in the digit, and what goes to the neighbour.


def _doubled(view: int) -> int:
    return ((view & 3) << (view >> 2)) & 3


def _carried(view: int) -> int:
    return ((view & 3) << (view >> 2)) >> 2


def _halved(view: int) -> int:
    return (view & 3) >> (view >> 2)


def _lent(view: int) -> int:
    return 2 * (view & 1) * (view >> 2)


def _halved_with_sign(view: int) -> int:
    return _halved(view) | (view & 2)


def nonzero(m: Machine, x: Sequence[AnyDigit]) -> AnyDigit:
    """1 where a number is not 0: a bootstrap for every five digits, and those of the results."""
    left = list(x)
    while True:
        totals = [Sum.of(*((digit, 1) for digit in left[i : i + _TOGETHER])) for i in range(0, len(left), _TOGETHER)]
        [left] = m.read(totals, _some)
        if len(left) == 1:
            return left[0]


def shift(
    m: Machine, x: Sequence[AnyDigit], amount: Sequence[AnyDigit], left: bool, signed: bool = False
) -> list[AnyDigit]:
    """The digits of x << amount or x >> amount. Amounts of all bits or more leave 0, or the sign."""
    stages = (2 * len(x) - 1).bit_length()
    read = (stages + 1) // 2
    bits = [bit for digit in amount[:read] for [bit] in m.read([Sum.of((digit, 1))], _bit, _next_bit)]
    beyond = [*bits[stages:], *amount[read:]]
    fill = sign_digit(m, x) if signed and not left else ZERO
    made = (_left_by_flag if left else _right_by_flag)(m, x, bits[0], signed)
    for stage in range(1, stages):
        places = 1 << (stage - 1)
        filled = [fill] * places
        moved = [*filled, *made][: len(x)] if left else [*made, *filled][places:]
        made = where(m, bits[stage], moved, made)
    return where(m, nonzero(m, beyond), [fill] * len(x), made) if beyond else made


def _left_by_flag(m: Machine, x: Sequence[AnyDigit], flag: AnyDigit, signed: bool) -> list[AnyDigit]:
    """The digits of x << flag. Of a digit twice its size stays an even one, so the carry from below has room."""
    stay, go = m.read([Sum.of((flag, 4), (digit, 1)) for digit in x], _doubled, _carried)
    return m.digits([Sum.of((a, 1), (b, 1)) for a, b in zip(stay, [ZERO, *go[:-1]], strict=True)], within=(0, 3))


def _right_by_flag(m: Machine, x: Sequence[AnyDigit], flag: AnyDigit, signed: bool) -> list[AnyDigit]:
    """The digits of x >> flag."""
    stay, go = m.read([Sum.of((flag, 4), (digit, 1)) for digit in x], _halved, _lent)
    if signed:
        [[stay[-1]]] = m.read([Sum.of((flag, 4), (x[-1], 1))], _halved_with_sign)
    return m.digits([Sum.of((a, 1), (b, 1)) for a, b in zip(stay, [*go[1:], ZERO], strict=True)], within=(0, 3))
