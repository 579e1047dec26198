"""Quotients and remainders by digits, restoring: each digit of the quotient takes off twice the divisor, then once."""

from __future__ import annotations

from collections.abc import Sequence

from aglet.arrays.digits.circuits.bits import sign_bit
from aglet.arrays.digits.circuits.choice import where
from aglet.arrays.digits.circuits.shifts import nonzero
from aglet.arrays.digits.circuits.sums import add, complement, negate, subtract
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import ONE, ZERO, AnyDigit, Sum, uniform

__all__ = ["divide"]


def _one(total: int) -> int:
    return int(total == 1)


def _two(total: int) -> int:
    return int(total == 2)


def divide(
    m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit], signed: bool = False
) -> tuple[list[AnyDigit], list[AnyDigit]]:
    """Quotient and remainder as numpy defines them: both are 0 where y is 0, and the remainder has the sign of y."""
    none = m.digit(Sum.of((ONE, 1), (nonzero(m, y), -1)))
    zeros: list[AnyDigit] = [ZERO] * len(x)
    if not signed:
        quotient, rest = _unsigned(m, x, y, none)
        return quotient, where(m, none, zeros, rest)
    signs = [sign_bit(m, number) for number in (x, y)]
    sizes = [where(m, sign, negate(m, number), number) for sign, number in zip(signs, (x, y), strict=True)]
    quotient, rest = _unsigned(m, sizes[0], sizes[1], none)
    [[differ]] = m.read([Sum.of((signs[0], 1), (signs[1], 1))], _one)
    some = nonzero(m, rest)
    # With signs that differ: -q - 1 and |y| - r where there is a remainder, else -q.
    lower = add(m, complement(m, quotient), zeros, m.digit(Sum.of((ONE, 1), (some, -1))))
    [[up]] = m.read([Sum.of((differ, 1), (some, 1))], _two)
    rest = where(m, up, subtract(m, sizes[1], rest), rest)
    rest = where(m, signs[1], negate(m, rest), rest)
    return where(m, none, zeros, where(m, differ, lower, quotient)), where(m, none, zeros, rest)


def _unsigned(
    m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit], none: AnyDigit
) -> tuple[list[AnyDigit], list[AnyDigit]]:
    """Quotient and remainder where y is not 0. Digits that are known to be 0, at the top, take no work."""
    n = len(x)
    short = _significant(y)
    y = [*y[:short], ZERO]
    multiples = [add(m, y, y), list(y)]
    above = [[nonzero(m, number[length:] or [ZERO]) for length in range(1, short + 2)] for number in multiples]
    quotient: list[AnyDigit] = [ZERO] * (n - _significant(x))
    rest: list[AnyDigit] = []
    for digit in reversed(x[: n - len(quotient)]):
        # No more digits than the number read so far, and than the divisor, which is larger than a rest.
        rest = [digit, *rest[:short]]
        flags = []
        for number, larger in zip(multiples, above, strict=True):
            taken = add(m, [*rest, ZERO], [*complement(m, number[: len(rest)]), ZERO], ONE)
            *less, carry = taken
            [[flag]] = m.read([Sum.of((carry, 1), (larger[len(rest) - 1], -1), (none, -1))], _one)
            rest = where(m, flag, less, rest)
            flags.append(flag)
        quotient.insert(0, m.digit(Sum.of((flags[0], 2), (flags[1], 1)), within=(0, 3)))
    return quotient, [*rest[:short], *[ZERO] * (n - len(rest[:short]))]


def _significant(x: Sequence[AnyDigit]) -> int:
    """How many digits there are up to the highest that is not known to be 0."""
    return max((at + 1 for at, digit in enumerate(x) if uniform(digit) != 0), default=0)
