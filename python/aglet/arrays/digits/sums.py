"""Digits with the range that they lie in, and sums of them: what one bootstrap reads.

A digit is encrypted (`Digit`) or in the clear (a numpy array), for all elements of an array together. Circuits treat
both alike. What follows from numbers in the clear alone costs no bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ONE", "THREE", "ZERO", "AnyDigit", "Clear", "Digit", "Sum", "constant", "is_clear", "uniform"]

Clear = NDArray[np.int64]


@dataclass(eq=False)
class Digit:
    """An encrypted digit of every element, and the range that it lies in.

    A refresh replaces the ciphertexts in place, so all arrays that share the digit have it.
    """

    cells: Any
    """An array of padded messages, or what stands for it in a model. Digit m has the phase of message m."""
    low: int = 0
    high: int = 3


AnyDigit = Digit | Clear


def constant(value: int) -> Clear:
    """A digit in the clear that is the same for all elements."""
    made = np.array(value, dtype=np.int64)
    made.setflags(write=False)
    return made


ZERO, ONE, THREE = constant(0), constant(1), constant(3)


def is_clear(digit: AnyDigit) -> bool:
    """Whether a digit is in the clear."""
    return not isinstance(digit, Digit)


def uniform(digit: AnyDigit) -> int | None:
    """The value of a digit in the clear that is the same for all elements, else None."""
    if isinstance(digit, Digit) or not digit.size:
        return None
    first = int(digit.flat[0])
    return first if digit.ndim == 0 or bool((digit == first).all()) else None


@dataclass(frozen=True, eq=False)
class Sum:
    """A weighted sum of digits, and the range that follows from theirs."""

    terms: tuple[tuple[Digit, Any], ...]
    """Encrypted digits with their weights: a whole number each, or one for each element."""
    clear: Clear
    low: int
    high: int

    @classmethod
    def of(cls, *terms: tuple[AnyDigit, Any]) -> Sum:
        """The sum of digits times weights."""
        clear: Any = ZERO
        encrypted: list[tuple[Digit, Any]] = []
        low = high = 0
        for digit, weight in terms:
            if not isinstance(digit, Digit):
                clear = clear + weight * digit
                continue
            encrypted.append((digit, weight))
            ends = np.multiply.outer(np.asarray(weight), [digit.low, digit.high])
            low, high = low + int(ends.min(initial=0)), high + int(ends.max(initial=0))
        clear = np.asarray(clear, dtype=np.int64)
        if clear.size:
            low, high = low + int(clear.min()), high + int(clear.max())
        return cls(tuple(encrypted), clear, low, high)
