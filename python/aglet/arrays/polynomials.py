"""Polynomials of encrypted arrays, and the affine map of a domain to [-1, 1]."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.interval import Interval
from aglet.ckks import values
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["ends", "evaluated", "mapped", "on_line"]


def evaluated(
    array: EncryptedArray, coefficients: Any, *, chebyshev: bool, function: Callable[[Any], Any] | None = None
) -> EncryptedArray:
    """The polynomial with these coefficients in the power or the Chebyshev basis, which may stand for a function."""
    vector = values.as_vector(coefficients, what="list of coefficients")
    array.need(int(len(vector) - 1).bit_length())
    real = array.is_real and vector.dtype.kind != "c"
    interval = array.interval.polynomial(list(vector), chebyshev=chebyshev, real=real)
    basis: Any = np.polynomial.chebyshev.chebval if chebyshev else np.polynomial.polynomial.polyval
    machine = array.session.machine
    return array.each(
        lambda chunk: (
            machine.fitted(chunk, vector, function) if function else machine.polynomial(chunk, vector, chebyshev)
        ),
        interval,
        lambda filler: basis(filler, vector).item(),
    )


def ends(array: EncryptedArray, domain: Any) -> tuple[float, float]:
    """The ends of a domain, which the values must be known to lie in.

    Raises
    ------
    RangeError
        If the values are not known to lie in the domain, or it is empty.
    """
    pair = [checks.real("An end of the domain", end) for end in checks.each("domain", domain)]
    if len(pair) != 2:
        raise TypeError(f"domain is a pair, the least and the largest value, not {len(pair)} numbers.")
    low, high = pair
    if not (math.isfinite(high - low) and low < high):
        raise RangeError(f"domain={domain} is empty; give the least and the largest value.")
    slack = 1e-6 * (high - low)
    if array.interval.low < low - slack or array.interval.high > high + slack or not array.is_real:
        raise RangeError(
            f"These values lie within [{array.interval.low:.6g}, {array.interval.high:.6g}], and the polynomial "
            f"is for real values in [{low:.6g}, {high:.6g}]; write x.assume(bound=({low:.6g}, {high:.6g})) if you "
            "know that they lie there."
        )
    return low, high


def mapped(array: EncryptedArray, domain: Any, count: int) -> EncryptedArray:
    """The values of a domain on [-1, 1], with the levels for a polynomial of so many coefficients.

    Raises
    ------
    RangeError
        If the values are not known to lie in the domain.
    """
    low, high = ends(array, domain)
    if (low, high) != (-1.0, 1.0):
        line = 2 / (high - low), -(high + low) / (high - low)
        array = on_line(array, line, (count - 1).bit_length())
    # All slots are within, but for the slack.
    return array.replaced(
        interval=Interval(max(-1.0, min(1.0, array.interval.low)), min(1.0, max(-1.0, array.interval.high)))
    )


def on_line(array: EncryptedArray, line: tuple[float, float], levels: int) -> EncryptedArray:
    """`slope x + constant`, with so many levels left."""
    after = array.session.machine.refreshed_level
    # One refresh for both, if it leaves enough.
    array.need(1 if after is not None and array.level < after < levels + 1 else levels + 1)
    return array * line[0] + line[1]
