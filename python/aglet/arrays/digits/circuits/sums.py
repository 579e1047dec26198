"""Sums, differences and sums of many numbers, by digits. A sum of two digits and a carry takes one bootstrap."""

from __future__ import annotations

from collections.abc import Sequence

from aglet.arrays.digits.machine import MESSAGES, Machine
from aglet.arrays.digits.sums import ONE, THREE, ZERO, AnyDigit, Digit, Sum

__all__ = ["add", "columns", "complement", "negate", "subtract"]

_MOST = MESSAGES - 1
"""The largest sum that one table reads."""
_TWO_IN_ONE = MESSAGES // 2 - 1
"""The largest sum whose digit and carry come from one bootstrap."""


def _digit(total: int) -> int:
    return total % 4


def _carry(total: int) -> int:
    return total // 4


def add(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit], carry: AnyDigit = ZERO) -> list[AnyDigit]:
    """The digits of x + y + carry modulo a power of 4."""
    made: list[AnyDigit] = []
    for at, (a, b) in enumerate(zip(x, y, strict=True)):
        total = Sum.of((a, 1), (b, 1), (carry, 1))
        if total.high < 4:
            digit, carry = m.digit(total), ZERO
        elif at + 1 < len(x):
            [digit], [carry] = m.read([total], _digit, _carry)
        else:
            [[digit]] = m.read([total], _digit)
        made.append(digit)
    return made


def complement(m: Machine, x: Sequence[AnyDigit]) -> list[AnyDigit]:
    """3 less each digit, without a bootstrap: -1 - x."""
    return m.digits([Sum.of((THREE, 1), (digit, -1)) for digit in x])


def subtract(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit]) -> list[AnyDigit]:
    """The digits of x - y modulo a power of 4."""
    return add(m, x, complement(m, y), ONE)


def negate(m: Machine, x: Sequence[AnyDigit]) -> list[AnyDigit]:
    """-x modulo a power of 4."""
    return subtract(m, [ZERO] * len(x), x)


def columns(m: Machine, terms: Sequence[Sequence[AnyDigit]]) -> list[AnyDigit]:
    """The sum of many digits of each weight: `terms[k]` have the weight 4^k. It is modulo a power of 4.

    As many digits as fit in a table are read together, as a digit and a carry.
    """
    left = [list(column) for column in terms]
    made: list[AnyDigit] = []
    for at, column in enumerate(left):
        last = at + 1 == len(left)
        while len(column) > 1 or (column and _high(column[0]) > 3):
            # What is left beside full groups is read together with their sums.
            *groups, rest = _readable(m, _groups(column))
            some, waiting = (groups, rest) if groups else ([rest], [])
            totals = [Sum.of(*((digit, 1) for digit in group)) for group in some]
            column = _summed(m, totals, None if last else left[at + 1]) + waiting
        made.append(column[0] if column else ZERO)
    return made


def _summed(m: Machine, totals: list[Sum], carries: list[AnyDigit] | None) -> list[AnyDigit]:
    """The digits of sums; what they carry joins `carries`, if it is wanted."""
    made: list[AnyDigit] = []
    # Small sums have a step between messages, which allows two tables in one bootstrap.
    for small in (True, False):
        some = [total for total in totals if total.high > 3 and (total.high <= _TWO_IN_ONE) == small]
        if some:
            digits, *more = m.read(some, _digit, *(() if carries is None else (_carry,)))
            made += digits
            for carry in more:
                carries += carry  # type: ignore[operator]
    return made + m.digits([total for total in totals if total.high <= 3])


def _groups(column: list[AnyDigit]) -> list[list[AnyDigit]]:
    """Digits in groups whose sums a table can read, the largest digits first."""
    groups: list[tuple[int, list[AnyDigit]]] = []
    for digit in sorted(column, key=_high, reverse=True):
        fits = next((i for i, (total, _) in enumerate(groups) if total + _high(digit) <= _MOST), None)
        if fits is None:
            groups.append((_high(digit), [digit]))
        else:
            groups[fits] = (groups[fits][0] + _high(digit), [*groups[fits][1], digit])
    return [group for _, group in groups]


def _readable(m: Machine, groups: list[list[AnyDigit]]) -> list[list[AnyDigit]]:
    """The groups, and halves of those with too much noise: one digit many times, or results that err alike."""
    made: list[list[AnyDigit]] = []
    for group in groups:
        if len(group) > 2 and not m.readable_refreshed(Sum.of(*((digit, 1) for digit in group)), _digit):
            half = len(group) // 2
            made += _readable(m, [group[:half], group[half:]])
        else:
            made.append(group)
    return made


def _high(digit: AnyDigit) -> int:
    return digit.high if isinstance(digit, Digit) else int(digit.max(initial=0))
