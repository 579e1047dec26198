"""The interval that the values of an encrypted array lie in. It determines the bound of a bootstrap."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet.ckks import values
from aglet.errors import RangeError

__all__ = ["Interval"]

_GRID, _MOST_POINTS, _POINTS_PER_DEGREE = 4096, 2**14, 16
"""The number of points at which a polynomial is looked at: the least, the most, and for each degree."""
_ROUNDING = 2.0**-44
"""Of doubles, when a polynomial is evaluated, relative to the sum of its coefficients."""
_FAR = 2.0**-5
"""A tolerance relative to the range. It is larger than the noise of any value that is still usable."""


@dataclass(frozen=True)
class Interval:
    """Real values from `low` to `high`. For complex values, `high` = `-low` is the largest absolute value.

    The interval covers all slots, also those without an element. It ignores rounding, because noise is far smaller than
    the margin of a bootstrap.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuse an infinite interval, which would say nothing."""
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise RangeError(
                "The bound of these values is infinite; declare a smaller one with x.assume(bound=...), or divide "
                "the values first."
            )

    def __contains__(self, value: complex) -> bool:
        return abs(value) <= self.size if isinstance(value, complex) else self.low <= value <= self.high

    @classmethod
    def of(cls, bound: Any) -> Interval:
        """Convert the `bound=` of users: the largest absolute value, or a pair of the least and the largest value.

        Raises
        ------
        TypeError
            If it is neither a real number nor a pair of real numbers.
        RangeError
            If it is not finite, or the least value is above the largest.
        """
        pair = (
            bound if isinstance(bound, tuple | list) else (-values.as_float(bound) if _is_real(bound) else bound, bound)
        )
        if len(pair) != 2 or not all(_is_real(end) for end in pair):
            raise TypeError("bound must be the largest absolute value, or a pair of the least and the largest value.")
        low, high = (values.as_float(end) for end in pair)
        if not (math.isfinite(low) and math.isfinite(high)) or low > high or low == high == 0:
            raise RangeError(
                f"bound={bound} is not a range of values; give a positive number, or a pair (least, largest)."
            )
        return cls(low, high)

    @classmethod
    def around(cls, numbers: np.ndarray[Any, Any]) -> Interval:
        """The smallest interval around plain values."""
        if numbers.dtype.kind == "c":
            # Sizes are rounded, here as elsewhere.
            size = float(np.abs(numbers).max()) * (1 + 2**-48)
            return cls(-size, size)
        return cls(float(numbers.min()), float(numbers.max()))

    def refuse_beyond(self, flat: Any) -> None:
        """Refuse numbers to encrypt that are outside of the declared range.

        Raises
        ------
        RangeError
            If one is.
        """
        sizes, low = (np.abs(flat), 0.0) if flat.dtype.kind == "c" else (flat, self.low)
        if not ((sizes >= low) & (sizes <= self.high)).all():
            raise RangeError(
                f"A value is outside of [{self.low:g}, {self.high:g}]; declare the range, which everybody can see, "
                "with session.encrypt(x, bound=(least, largest)), or scale the data."
            )

    def refuse_outside(self, found: Any) -> None:
        """Refuse decrypted values that are outside of the range of the array, by more than noise explains.

        Raises
        ------
        RangeError
            If one is.
        """
        sizes, low = (np.abs(found), 0.0) if np.iscomplexobj(found) else (found, self.low)
        slack, least, most = _FAR * max(1.0, self.size), float(sizes.min()), float(sizes.max())
        if least < low - slack or most > self.high + slack:
            raise RangeError(
                f"This array states values within [{self.low:.6g}, {self.high:.6g}] and holds "
                f"{most if most > self.high + slack else least:.6g}, so a declared range is wrong, and so may be other "
                "values; give bound= and x.assume(bound=...) ranges that hold, and only load files that nobody changed."
            )

    @property
    def size(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def disc(self) -> Interval:
        """The interval of complex values up to this absolute value."""
        return Interval(-self.size, self.size)

    @property
    def inside(self) -> float:
        """The middle, used for slots without an element. With a value at an end, noise could leave the interval."""
        return self.low / 2 + self.high / 2

    def __or__(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def times(self, factor: complex) -> Interval:
        """The interval of the values times one number."""
        if isinstance(factor, complex):
            return Interval(-abs(factor) * self.size, abs(factor) * self.size)
        return self * Interval(factor, factor)

    def square(self, real: bool) -> Interval:
        """The interval of the squares. They are not negative if the values are real."""
        largest = self.size * self.size
        if not real:
            return Interval(-largest, largest)
        least = 0.0 if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))
        return Interval(least * least, largest)

    def polynomial(self, coefficients: Sequence[complex], *, chebyshev: bool, real: bool) -> Interval:
        """The interval of a polynomial, in powers or in the Chebyshev basis (for values in [-1, 1])."""
        sizes = np.abs(np.asarray(coefficients))
        with np.errstate(over="ignore", invalid="ignore"):
            reach = np.ones(len(sizes)) if chebyshev else self.size ** np.arange(len(sizes), dtype=float)
            most = float(np.sum(sizes * reach))
        disc = Interval(-most, most)
        if not real:
            return disc
        basis = np.polynomial.chebyshev.chebval if chebyshev else np.polynomial.polynomial.polyval
        # Between so many Chebyshev points a polynomial of degree n grows by 1 / cos(n pi / (2 count)) at most
        # (Ehlich and Zeller, 1964).
        count = max(_GRID, min(_MOST_POINTS, _POINTS_PER_DEGREE * len(sizes)))
        degree = len(sizes) - 1
        nodes: Any = np.cos((np.arange(count) + 0.5) * np.pi / count)
        points = self.inside + (self.high / 2 - self.low / 2) * nodes
        found: Any = basis(points, np.asarray(coefficients, dtype=np.float64))
        least, largest = float(found.min()), float(found.max())
        middle, half = (least + largest) / 2, (largest - least) / 2
        beyond = half / math.cos(degree * math.pi / (2 * count)) if degree < count else math.inf
        rounding = _ROUNDING * most
        return Interval(max(-most, middle - beyond - rounding), min(most, middle + beyond + rounding))


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)
