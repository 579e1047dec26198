"""Products by digits: tables of pairs of digits, and a sum of columns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aglet.arrays.digits.circuits.sums import columns
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import ZERO, AnyDigit, Sum, uniform

__all__ = ["multiply"]


_SHORT = 4
"""Digits of a product whose columns are so short that some noise more is cheaper than a bootstrap for each half."""


def _low(view: int) -> int:
    return (view >> 2) * (view & 3) % 4


def _high(view: int) -> int:
    return (view >> 2) * (view & 3) // 4


@functools.cache
def _times(factor: int, high: bool) -> Callable[[int], int]:
    return lambda digit: digit * factor // 4 if high else digit * factor % 4


def multiply(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit]) -> list[AnyDigit]:
    """The digits of x * y modulo a power of 4."""
    n = len(x)
    terms: list[list[AnyDigit]] = [[] for _ in range(n)]
    # Pairs whose higher half is needed, and those whose product ends at the highest digit.
    both: dict[tuple[int, int], Sum] = {}
    top: dict[tuple[int, int], Sum] = {}
    for i, a in enumerate(x):
        for j, b in enumerate(y[: n - i]):
            number, digit = (uniform(b), a) if uniform(b) is not None else (uniform(a), b)
            if number is None:
                (both if i + j + 1 < n else top)[i, j] = Sum.of((a, 4), (b, 1))
            elif number:
                _scaled(m, digit, number, terms, i + j)
    for pairs, functions in ((both, (_low, _high)), (top, (_low,))):
        if pairs:
            for half, found in enumerate(m.read(list(pairs.values()), *functions, fresh=n > _SHORT)):
                for (i, j), digit in zip(pairs, found, strict=True):
                    terms[i + j + half].append(digit)
    return columns(m, [column or [ZERO] for column in terms])


def _scaled(m: Machine, digit: AnyDigit, factor: int, terms: list[list[AnyDigit]], at: int) -> None:
    """Add a digit times 1, 2 or 3 to the columns."""
    if factor == 1:
        terms[at].append(digit)
        return
    last = at + 1 == len(terms)
    functions = [_times(factor, high) for high in ((False,) if last else (False, True))]
    for half, found in enumerate(m.read([Sum.of((digit, 1))], *functions)):
        terms[at + half] += found
