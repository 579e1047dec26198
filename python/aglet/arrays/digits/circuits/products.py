"""Products by digits: tables of pairs of digits, and a sum of columns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from aglet.arrays.digits.circuits.sums import columns, complement
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import ZERO, AnyDigit, Digit, Sum, uniform

__all__ = ["multiply", "terms", "weighted"]


_WORD = 32
"""Digits of a word of 64 bits."""
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
    for one, weight in ((x, y), (y, x)):
        known = [uniform(digit) for digit in weight]
        if None not in known:
            return weighted(m, [one], [sum(digit << (2 * at) for at, digit in enumerate(known) if digit)])
    return columns(m, [column or [ZERO] for column in terms(m, x, y)])


def terms(m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit]) -> list[list[AnyDigit]]:
    """The products of digits, in the columns whose sum is x * y modulo a power of 4."""
    n = len(x)
    made: list[list[AnyDigit]] = [[] for _ in range(n)]
    # Pairs whose higher half is needed, and those whose product ends at the highest digit.
    both: dict[tuple[int, int], Sum] = {}
    top: dict[tuple[int, int], Sum] = {}
    for i, a in enumerate(x):
        for j, b in enumerate(y[: n - i]):
            number, digit = (uniform(b), a) if uniform(b) is not None else (uniform(a), b)
            if number is None:
                (both if i + j + 1 < n else top)[i, j] = Sum.of((a, 4), (b, 1))
            elif number:
                _scaled(m, digit, number, made, i + j)
    for pairs, functions in ((both, (_low, _high)), (top, (_low,))):
        if pairs:
            for half, found in enumerate(m.read(list(pairs.values()), *functions, fresh=n > _SHORT)):
                for (i, j), digit in zip(pairs, found, strict=True):
                    made[i + j + half].append(digit)
    return made


def weighted(m: Machine, numbers: Sequence[Sequence[AnyDigit]], weights: Sequence[int]) -> list[AnyDigit]:
    """The digits of a sum of numbers times weights in the clear, modulo a power of 4: one sum of columns.

    A weight has digits from -1 to 2. A digit of a number counts once or twice in its column. Less a number is its
    complement and 1, which joins what is in the clear.
    """
    n = len(numbers[0])
    made: list[list[AnyDigit]] = [[] for _ in range(n)]
    # Modulo 2^64, of which 4^n is a divisor, or whole numbers of Python for more digits.
    word: Any = np.uint64 if n <= _WORD else object
    clear = np.zeros((), dtype=word)
    with np.errstate(over="ignore"):
        for number, weight in zip(numbers, weights, strict=True):
            recoded = list(_recoded(weight, n))
            less = complement(m, number) if any(factor < 0 for _, factor in recoded) else []
            for place, factor in recoded:
                if factor < 0:
                    clear = clear + np.array(1 << (2 * place), dtype=word)
                digits = less if factor < 0 else number
                for at, digit in enumerate(digits[: n - place], place):
                    if isinstance(digit, Digit):
                        made[at] += [digit] * abs(factor)
                    else:
                        clear = clear + digit.astype(word) * np.array(abs(factor) << (2 * at), dtype=word)
    for at, column in enumerate(made):
        digit = np.asarray(clear // np.array(1 << (2 * at), dtype=word) % np.array(4, dtype=word)).astype(np.int64)
        if digit.any() or not column:
            column.append(digit)
    return columns(m, made)


def _recoded(weight: int, count: int) -> Iterator[tuple[int, int]]:
    """The places and the digits, -1, 1 or 2, of a weight modulo 4^count, nearest to 0."""
    half = 1 << (2 * count - 1)
    left = (weight + half) % (2 * half) - half
    for place in range(count):
        digit = (left + 1) % 4 - 1
        left = (left - digit) // 4
        if digit:
            yield place, digit


def _scaled(m: Machine, digit: AnyDigit, factor: int, terms: list[list[AnyDigit]], at: int) -> None:
    """Add a digit times 1, 2 or 3 to the columns."""
    if factor == 1:
        terms[at].append(digit)
        return
    last = at + 1 == len(terms)
    functions = [_times(factor, high) for high in ((False,) if last else (False, True))]
    for half, found in enumerate(m.read([Sum.of((digit, 1))], *functions)):
        terms[at + half] += found
