"""Smooth functions of encrypted arrays: a Chebyshev series is fitted to them on the interval of the values."""

from __future__ import annotations

import bisect
import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import polynomials
from aglet.arrays.interval import Interval
from aglet.arrays.reciprocals import Reciprocal
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["BITS", "MOST_DEGREE", "applied", "reciprocal", "series"]

BITS = 20
"""The precision of a fit, where none is asked for."""
MOST_DEGREE = 1023
"""The largest degree of a fit: ten levels."""
_SHORT = 3
"""Up to so many levels a series takes as few products."""
_TRIED = (31, 127, 511, MOST_DEGREE)
# Where a fit is compared with its function: closer at the ends, as the series changes fastest there.
_POINTS = np.cos(np.linspace(0, np.pi, 8 * MOST_DEGREE))
_LEAST = 2.0**-52
"""Coefficients below this are rounding, relative to the largest."""
_NARROW = 2.0**-20
"""The least width of a domain, relative to its ends: a narrower one would be lost in rounding."""


def applied(array: EncryptedArray, function: Any, *, domain: Any = None, bits: Any = BITS) -> EncryptedArray:
    """The values of a function, within `2^-bits` of its largest absolute value on the domain."""
    if not array.is_real:
        raise RangeError("Functions are fitted to real values, and these are complex; take x.real.")
    ends = _around(array) if domain is None else domain
    # The fit is made after the domain is checked.
    low, high = polynomials.ends(array, ends)
    fit, error = series(function, (low, high), checks.count("bits", bits, 1))
    mapped = polynomials.mapped(array, (low, high), len(fit))
    exact = functools.partial(_values, function, (low, high))
    found = polynomials.evaluated(mapped, fit, chebyshev=True, function=exact)
    # The values of the polynomial, and those of the function.
    return found.replaced(interval=found.interval + Interval(-error, error))


def reciprocal(array: EncryptedArray) -> EncryptedArray:
    """Compute 1/x on the interval of the values, which excludes 0, with a relative error below `2^-BITS`.

    Narrow intervals have an absolute error, relative to the largest value.
    """
    low, high = array.interval.low, array.interval.high
    if array.is_real and low <= 0 <= high:
        raise RangeError(
            f"A divisor may be 0, as these values lie within [{low:.6g}, {high:.6g}]; write "
            "x.assume(bound=(least, largest)) with both ends above 0, or below, if you know that they lie there."
        )
    if array.is_real and high < 0:
        return -reciprocal(-array)
    low, high = _around(array)
    product = Reciprocal.of(low, high, BITS) if array.is_real else None
    if product is None or product.levels <= _SHORT:
        return applied(array, lambda points: 1 / points)
    first = polynomials.on_line(array, product.line, product.levels)
    first.need(product.levels)
    numbers = functools.partial(
        product.evaluated, add=operator.add, multiply=operator.mul, known=lambda value, size: value
    )
    interval = Interval((1 - product.error) / high, (1 + product.error) / low)
    return first.each(lambda chunk: array.session.machine.reciprocal(chunk, product), interval, numbers)


def series(function: Any, domain: tuple[float, float], bits: int) -> tuple[NDArray[np.float64], float]:
    """The Chebyshev series of the smallest degree that is this close to a function on a domain, and its error at most.

    Its coefficients are those of an interpolation at Chebyshev points (`numpy.polynomial.chebyshev.chebinterpolate`).

    Raises
    ------
    RangeError
        If the function is not finite on the domain, or no degree up to `MOST_DEGREE` is enough.
    TypeError
        If it does not return a real number for each point.
    """
    low, high = domain
    wanted = _values(function, domain, _POINTS)
    tolerance = 2.0**-bits * float(np.abs(wanted).max())

    def close(degree: int) -> bool:
        return bool(np.abs(chebyshev.chebval(_POINTS, found[: degree + 1]) - wanted).max() <= tolerance)

    at_points: Any = functools.partial(_values, function, domain)
    for most in _TRIED:
        found: Any = chebyshev.chebinterpolate(at_points, most)
        if close(most):
            degree = bisect.bisect_left(range(most), True, key=close)
            # Of an odd function, say, only rounding is left of every other coefficient.
            kept: NDArray[np.float64] = np.where(np.abs(found) > _LEAST * np.abs(found).max(), found, 0.0)
            return kept[: degree + 1], tolerance
    raise RangeError(
        f"No polynomial of degree up to {MOST_DEGREE} is within 2^-{bits} of this function on [{low:.6g}, {high:.6g}], "
        "relative to its largest value; declare a narrower range with x.assume(bound=(least, largest)), away from "
        "where the function is steep or has a kink, or ask session.function for fewer bits."
    )


def _around(array: EncryptedArray) -> tuple[float, float]:
    """The interval of the values, or a little more where it is too narrow for a polynomial."""
    low, high = array.interval.low, array.interval.high
    room = max(0.0, _NARROW * (array.interval.size or 1.0) - (high - low)) / 2
    return low - room, high + room


def _values(function: Callable[[Any], Any], domain: tuple[float, float], points: Any) -> NDArray[np.float64]:
    """The values of the function at points of [-1, 1] that are mapped to the domain."""
    low, high = domain
    at = np.clip(low / 2 + high / 2 + points * (high / 2 - low / 2), low, high)
    if not callable(function):
        raise TypeError(f"The function is called with a numpy array of points; {type(function).__name__} cannot be.")
    with np.errstate(all="ignore"):
        found = np.asarray(function(at))
    if found.dtype.kind not in "biuf" or found.shape not in ((), at.shape):
        raise TypeError(
            f"A function takes a numpy array of points and returns a real number for each; this one returned "
            f"{found.dtype} of shape {found.shape} for shape {at.shape}; numpy.vectorize makes "
            "one of a function of a number."
        )
    found = np.broadcast_to(found.astype(np.float64), at.shape)
    if not np.isfinite(found).all():
        raise RangeError(
            f"This function has no finite value at {at[~np.isfinite(found)][0]:.6g}, and these values lie within "
            f"[{low:.6g}, {high:.6g}]; declare where they lie with x.assume(bound=(least, largest))."
        )
    return found
