"""`Activation`: a function that a polynomial stands for on an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import checks
from aglet.arrays.array import EncryptedArray
from aglet.arrays.blocks import in_blocks
from aglet.arrays.fits import MOST_DEGREE
from aglet.arrays.interval import Interval
from aglet.ckks import values
from aglet.errors import RangeError

__all__ = ["Activation"]

_GRID = 8192
"""The number of points at which the error of a fit is measured."""


@dataclass(frozen=True)
class Activation:
    """A function, approximated by a polynomial on an interval, and the error of the approximation.

    Examples
    --------
    >>> import numpy as np
    >>> from aglet import ml
    >>> sigmoid = ml.Activation.fit(lambda x: 1 / (1 + np.exp(-x)), degree=7, interval=(-6, 6))
    >>> sigmoid
    <Activation of degree 7 on [-6, 6]: error 0.01, 4 levels>
    """

    coefficients: tuple[float, ...]
    """The coefficients in the Chebyshev basis of the interval."""
    interval: tuple[float, float]
    error: float
    """The largest error on the interval."""

    @classmethod
    def fit(cls, function: Callable[[Any], Any], degree: int, interval: Any = (-1.0, 1.0)) -> Activation:
        """Interpolate a numpy function at the Chebyshev points. This is close to the best polynomial.

        Raises
        ------
        RangeError
            If the interval is empty, the function is not finite on it, or the degree is above 1023.
        """
        low, high = (float(end) for end in interval)
        if not low < high or not np.isfinite(high - low):
            raise RangeError(f"interval={interval} is empty; give the least and the largest value.")
        degree = checks.count("degree", degree, 1)
        if degree > MOST_DEGREE:
            raise RangeError(f"degree={degree} is out of range; give {MOST_DEGREE} or less, which take 10 levels.")
        middle, half = (low + high) / 2, (high - low) / 2
        interpolate: Any = np.polynomial.chebyshev.chebinterpolate
        fitted = interpolate(lambda t: function(middle + half * t), degree)
        if not np.isfinite(fitted).all():
            raise RangeError("The function is not finite on the whole interval; give an interval on which it is.")
        points = np.linspace(-1, 1, _GRID)
        error = np.abs(np.polynomial.chebyshev.chebval(points, fitted) - function(middle + half * points)).max()
        return cls(tuple(float(c) for c in fitted), (low, high), float(error))

    @property
    def degree(self) -> int:
        """The degree of the polynomial."""
        return len(self.coefficients) - 1

    @property
    def levels(self) -> int:
        """The number of levels that the polynomial uses."""
        return self.degree.bit_length() + (self.interval != (-1.0, 1.0))

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"<Activation of degree {self.degree} on [{low:g}, {high:g}]: error {self.error:.2g}, {self.levels} levels>"
        )

    def __call__(self, x: Any) -> Any:
        """Evaluate the polynomial on an encrypted array or on plain numbers.

        Raises
        ------
        RangeError
            If encrypted values are not known to lie in the interval; `x.assume(bound=...)` declares that they do. If
            plain values lie outside of it, where the polynomial is no longer close to the function.
        """
        if isinstance(x, EncryptedArray):
            return x.session.chebyshev(x, self.coefficients, domain=self.interval)
        plain = values.as_array(x)
        if plain.size and not self._reaches(Interval.around(plain)):
            raise RangeError(
                f"These values lie between {np.real(plain).min():.6g} and {np.real(plain).max():.6g}, and this "
                f"activation was fitted on [{self.interval[0]:.6g}, {self.interval[1]:.6g}]; fit it with an interval, "
                "a reach or a sample that covers all values."
            )
        return in_blocks(np.polynomial.Chebyshev(self.coefficients, domain=self.interval), plain)

    def _reaches(self, interval: Interval) -> bool:
        low, high = self.interval
        slack = 1e-6 * (high - low)
        return low - slack <= interval.low and interval.high <= high + slack

    def within(self, x: Any, known: Interval | None, *, assume: bool, wider: str) -> Any:
        """Check the input of the activation inside a model: it must be known to lie in the interval.

        Parameters
        ----------
        x
            An encrypted array, or plain numbers.
        known
            An interval that certainly holds the elements, if a smaller one than their own is known.
        assume
            Whether the caller declares that encrypted values lie in the interval.
        wider
            The argument of the model that makes the interval wider, for the error.

        Raises
        ------
        RangeError
            If encrypted values are not known to lie in the interval and this was not declared, or if plain values do
            not.
        """
        if isinstance(x, EncryptedArray):
            around = known or x.interval
            if not (x.is_real and self._reaches(x.interval)) and (assume or (known and self._reaches(known))):
                x = x.assume(bound=self.interval)
            elif not (x.is_real and self._reaches(x.interval)):
                raise RangeError(
                    f"This activation was fitted on [{self.interval[0]:.6g}, {self.interval[1]:.6g}], and its input "
                    f"may go from {around.low:.6g} to {around.high:.6g}, where the polynomial is wrong; give {wider}, "
                    "encrypt with a smaller bound=, or call the model with assume=True if you know that the values "
                    "stay within. A call with plain numbers checks that."
                )
        return self(x)
