"""Logic and shifts by digits. A function of two digits takes one bootstrap."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import ZERO, AnyDigit, Sum, uniform

__all__ = ["bitwise", "shift_left", "shift_right", "sign_bit", "sign_digit", "window"]

_OPERATIONS: dict[str, Callable[[int, int], int]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


@functools.cache
def _of_two(name: str, base: int) -> Callable[[int], int]:
    return lambda view: _OPERATIONS[name](*divmod(view, base))


@functools.cache
def _with(name: str, number: int) -> Callable[[int], int]:
    return lambda digit: _OPERATIONS[name](digit, number)


def bitwise(m: Machine, name: str, x: Sequence[AnyDigit], y: Sequence[AnyDigit], high: int = 3) -> list[AnyDigit]:
    """The digits of x & y, x | y or x ^ y. `high` is the largest digit, 1 for booleans."""
    made: list[AnyDigit] = [ZERO] * len(x)
    # Digits with one function are read in one batch: of pairs, or of a digit and the same number for all elements.
    alike: dict[Callable[[int], int], dict[int, Sum]] = {}
    for at, (a, b) in enumerate(zip(x, y, strict=True)):
        free = _free(m, name, a, b, high)
        if free is not None:
            made[at] = free
            continue
        digit, number = (a, uniform(b)) if uniform(b) is not None else (b, uniform(a))
        if number is None:
            alike.setdefault(_of_two(name, high + 1), {})[at] = Sum.of((a, high + 1), (b, 1))
        else:
            alike.setdefault(_with(name, number), {})[at] = Sum.of((digit, 1))
    for function, totals in alike.items():
        [found] = m.read(list(totals.values()), function)
        for at, digit in zip(totals, found, strict=True):
            made[at] = digit
    return made


def _free(m: Machine, name: str, a: AnyDigit, b: AnyDigit, high: int) -> AnyDigit | None:
    """The result where one digit is the same number for all elements and no bootstrap is needed."""
    for digit, other in ((a, b), (b, a)):
        number = uniform(digit)
        if number is None:
            continue
        found = [_OPERATIONS[name](value, number) for value in range(high + 1)]
        if len(set(found)) == 1:
            return np.array(found[0], dtype=np.int64)
        if found == list(range(high + 1)):
            return other
        if found == list(range(high, -1, -1)):
            return m.digit(Sum.of((np.array(high), 1), (other, -1)))
    return None


# Shifts


def _middle(view: int) -> int:
    """Bits 1 and 2 of two digits: the higher digit moved to the left by one, or the lower one to the right."""
    return (view >> 1) & 3


def _arithmetic_by_one(digit: int) -> int:
    return digit >> 1 | digit & 2


def _high_bit(digit: int) -> int:
    return digit >> 1


def _sign_digit(digit: int) -> int:
    return 3 * (digit >> 1)


def sign_bit(m: Machine, x: Sequence[AnyDigit]) -> AnyDigit:
    """1 where the highest bit is set: one bootstrap."""
    return m.read([Sum.of((x[-1], 1))], _high_bit)[0][0]


def sign_digit(m: Machine, x: Sequence[AnyDigit]) -> AnyDigit:
    """3 where the highest bit is set, else 0: one bootstrap."""
    return m.read([Sum.of((x[-1], 1))], _sign_digit)[0][0]


def shift_left(m: Machine, x: Sequence[AnyDigit], bits: int) -> list[AnyDigit]:
    """The digits of x << bits. An even number of bits only moves digits."""
    whole, half = divmod(min(bits, 2 * len(x)), 2)
    moved = [*[ZERO] * whole, *x][: len(x)]
    if not half:
        return moved
    below = [ZERO, *moved[:-1]]
    totals = [Sum.of((a, 4), (b, 1)) for a, b in zip(moved, below, strict=True)]
    return m.read(totals, _middle)[0]


def shift_right(m: Machine, x: Sequence[AnyDigit], bits: int, signed: bool = False) -> list[AnyDigit]:
    """The digits of x >> bits. An even number of bits only moves digits, and if signed reads the sign."""
    whole, half = divmod(min(bits, 2 * len(x)), 2)
    fill: Any = sign_digit(m, x) if signed and whole else ZERO
    moved = [*x, *[fill] * whole][whole:]
    if not half:
        return moved
    if not signed:
        totals = [Sum.of((above, 4), (a, 1)) for a, above in zip(moved, [*moved[1:], ZERO], strict=True)]
        return m.read(totals, _middle)[0]
    totals = [Sum.of((above, 4), (a, 1)) for a, above in itertools.pairwise(moved)]
    low = m.read(totals, _middle)[0] if totals else []
    # All bits of a sign digit are the same.
    return [*low, moved[-1] if whole else m.read([Sum.of((moved[-1], 1))], _arithmetic_by_one)[0][0]]


def window(m: Machine, x: Sequence[AnyDigit], bits: int, count: int) -> list[AnyDigit]:
    """So many digits of x from a bit on, all of which there are; from an odd one on they take a bootstrap each."""
    whole, half = divmod(bits, 2)
    part = list(x[whole : whole + count + half])
    if not half:
        return part
    return m.read([Sum.of((above, 4), (a, 1)) for a, above in itertools.pairwise(part)], _middle)[0]
