"""Comparisons by digits. Two digits at a time have a difference with a sign, and sums of signs have the sign of all."""

from __future__ import annotations

from collections.abc import Sequence

from aglet.arrays.digits.machine import MESSAGES, Machine
from aglet.arrays.digits.sums import ONE, AnyDigit, Sum, constant

__all__ = ["all_of", "any_of", "equal", "less"]

_GROUP = 4
"""As many signs as become one: the sum of them, each with twice the weight of the one below, lies in -15 to 15.

Signs that err alike, as those of `x < x`, become one in groups of fewer.
"""
_MOST = MESSAGES - 1


def _sign(message: int) -> int:
    return int(message > 0)


def _zero(total: int) -> int:
    return int(total == 0)


def _some(total: int) -> int:
    return int(total > 0)


def _signed_order(view: int) -> int:
    """-1, 0 or 1 as two digits compare whose higher bit is a sign."""
    one, other = ((digit ^ 2) for digit in divmod(view, 4))
    return (one > other) - (one < other)


def less(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit], signed: bool = False) -> AnyDigit:
    """1 where x < y. Signs of numbers take one bootstrap more."""
    totals = _differences(m, x, y, signed)
    while len(totals) > 1:
        signs = m.read_odd(totals, _sign)
        for size in range(_GROUP, 1, -1):
            groups = [signs[i : i + size] for i in range(0, len(signs), size)]
            totals = [Sum.of(*((sign, 1 << i) for i, sign in enumerate(group))) for group in groups]
            if all(m.readable(total) for total in totals):
                break
    return m.digit(Sum.of((ONE, 1), (m.sign(totals)[0], -1)))


def equal(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit]) -> AnyDigit:
    """1 where x = y."""
    totals = _differences(m, x, y, False)
    if len(totals) == 1 and totals[0].high - totals[0].low < MESSAGES:
        return m.read(totals, _zero)[0][0]
    return all_of(m, m.read_odd(totals, _zero))


def _differences(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit], signed: bool) -> list[Sum]:
    """Differences of pairs of digits, the lowest first. The highest digits may have a sign."""
    made = []
    for at in range(0, len(x), 2):
        terms: list[tuple[AnyDigit, int]] = []
        # Numbers with an odd count of digits, as those with a place below them, end with a digit alone.
        for place in range(at, min(at + 2, len(x))):
            weight = 4 ** (place - at)
            if signed and place == len(x) - 1:
                [[order]] = m.read([Sum.of((x[place], 4), (y[place], 1))], _signed_order)
                terms.append((order, weight))
            else:
                terms += [(x[place], weight), (y[place], -weight)]
        made.append(Sum.of(*terms))
    return made


def all_of(m: Machine, flags: Sequence[AnyDigit]) -> AnyDigit:
    """1 where all flags are 1: a bootstrap for every 14 flags or so."""
    return _counted(m, flags, every=True)


def any_of(m: Machine, flags: Sequence[AnyDigit]) -> AnyDigit:
    """1 where a flag is 1: a bootstrap for every 14 flags or so."""
    return _counted(m, flags, every=False)


def _counted(m: Machine, flags: Sequence[AnyDigit], every: bool) -> AnyDigit:
    left = list(flags)
    while len(left) > 1:
        # The last bootstrap reads as many as it can, the one before it the rest.
        count = len(left) if len(left) <= _MOST else min(_MOST, len(left) - _MOST + 1)
        function, total = (_zero, _missing) if every else (_some, _present)
        while count > 2 and not m.readable(total(left[:count]), function):
            count = (count + 1) // 2
        some, left = left[:count], left[count:]
        [[found]] = m.read([total(some)], function)
        left.append(found)
    return left[0]


def _missing(flags: Sequence[AnyDigit]) -> Sum:
    """How many of the flags are 0."""
    return Sum.of((constant(len(flags)), 1), *((flag, -1) for flag in flags))


def _present(flags: Sequence[AnyDigit]) -> Sum:
    """How many of the flags are 1."""
    return Sum.of(*((flag, 1) for flag in flags))
