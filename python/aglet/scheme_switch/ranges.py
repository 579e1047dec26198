"""In which ranges real numbers are read: what ciphertexts state, what a caller says, and 1 where nobody does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aglet import checks
from aglet.arrays.interval import Interval
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet._core import Ciphertext

__all__ = ["difference_range", "fine", "sign_range", "spread", "supposed"]

_MOST = 1.0
"""The largest size of values of which nothing is said."""
_ROUNDING = 2.0**-16
"""Of a bound that was computed."""
_FEWEST = 6
"""Bits of integers whose sign is read: half a unit of fewer reaches beyond what is free at the ends of the torus."""


def fine(bits: Any) -> int:
    """With how many bits numbers are read for their sign, so that the ends of the range are right too."""
    return max(checks.count("bits", bits, 2), _FEWEST)


def sign_range(bound: Any) -> float:
    """The range of a number whose sign is asked for: a power of two, so that few ranges need maps of their own."""
    return _MOST if bound is None else _power(Interval.of(bound).size)


def supposed(ciphertext: Ciphertext) -> float:
    """The largest size that a ciphertext states, or 1."""
    return _MOST if ciphertext.bound is None else ciphertext.bound


def difference_range(*sizes: float) -> float:
    """The range of a difference of values that are no larger than these.

    Raises
    ------
    RangeError
        If they may be larger than 1.
    """
    largest = max(sizes)
    if largest > _MOST + _ROUNDING:
        raise RangeError(
            f"By the bound that was declared for it a ciphertext may have values as large as {largest:.6g}, and values "
            "from -1 to 1 are compared; say how large they are at most, bound=, or scale them down."
        )
    return 1.0 if sum(sizes) <= 1.0 + _ROUNDING else 2.0


def spread(bound: Any) -> float:
    """By how much numbers differ of which a caller says this, as a range that holds the numbers too."""
    interval = Interval.of(bound)
    return _power(max(interval.high - interval.low, interval.size))


def _power(size: float) -> float:
    """The least power of two that is no smaller."""
    return float(2.0 ** math.ceil(math.log2(size)))
