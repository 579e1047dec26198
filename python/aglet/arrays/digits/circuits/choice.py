"""Choices between numbers by an encrypted flag: one bootstrap for each digit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aglet.arrays.digits.circuits.order import less
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import AnyDigit, Digit, Sum

__all__ = ["minimum", "where"]


@functools.cache
def _chosen(count: int, low: int) -> Callable[[int], int]:
    """The flag times the difference, of `count * flag + difference`; there are `count` differences, from `low` on."""
    return lambda total: total - count if total - low >= count else 0


def _either(x: AnyDigit, y: AnyDigit) -> tuple[int, int]:
    """The range of one of two digits: flags stay flags, which sums of many count on."""
    one, other = Sum.of((x, 1)), Sum.of((y, 1))
    return min(one.low, other.low), max(one.high, other.high)


def where(m: Machine, flag: AnyDigit, x: Sequence[AnyDigit], y: Sequence[AnyDigit]) -> list[AnyDigit]:
    """The digits of x where the flag is 1, those of y where it is 0: y + flag (x - y)."""
    if not isinstance(flag, Digit):
        return [m.picked(flag != 0, a, b) for a, b in zip(x, y, strict=True)]
    made = list(x)
    # Digits whose differences have one range are read in one batch.
    alike: dict[tuple[int, int], list[int]] = {}
    for at, (a, b) in enumerate(zip(x, y, strict=True)):
        difference = Sum.of((a, 1), (b, -1))
        if a is not b and difference.terms:
            alike.setdefault((difference.high - difference.low + 1, difference.low), []).append(at)
        elif a is not b:
            # Two numbers in the clear: a multiple of the flag.
            made[at] = m.digit(Sum.of((flag, difference.clear), (b, 1)), within=_either(a, b))
    for (count, low), places in alike.items():
        totals = [Sum.of((flag, count), (x[at], 1), (y[at], -1)) for at in places]
        [taken] = m.read(totals, _chosen(count, low))
        for at, one in zip(places, taken, strict=True):
            made[at] = m.digit(Sum.of((y[at], 1), (one, 1)), within=_either(x[at], y[at]))
    return made


def minimum(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit], signed: bool = False) -> list[AnyDigit]:
    """The smaller number of each pair."""
    return where(m, less(m, x, y, signed), x, y)
