"""The polynomials of comparisons: compositions of odd polynomials in the Chebyshev basis, from `tools/fit_sign.py`."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from aglet import checks
from aglet.errors import ParameterError

__all__ = ["depth", "full", "row"]

_BEYOND = (2.0**-11, 2.0**-13)
"""How far noise and rounding may push a value beyond 1. The polynomials grow fast there: some map 1.0002 to -1. The
second value is used where the first would leave a larger error than promised.
"""


@cache
def _rows() -> dict[tuple[int, int], dict[str, Any]]:
    text = resources.files("aglet.ckks").joinpath("sign_polynomials.json").read_text(encoding="utf-8")
    return {(row["alpha"], row["error_bits"]): _widened(row) for row in json.loads(text)["rows"]}


def _widened(found: dict[str, Any]) -> dict[str, Any]:
    """The same comparison with a first polynomial that is also right a little beyond 1."""
    rows = [_stretched(found, beyond) for beyond in _BEYOND]
    return next((one for one in rows if one["error"] <= 2.0 ** -found["error_bits"]), rows[-1])


def _stretched(found: dict[str, Any], beyond: float) -> dict[str, Any]:
    """The same polynomial, right up to 1 + beyond."""
    first, *others = found["polynomials"]
    degree, size = 2 * len(first) - 1, 1 / (1 + beyond)
    nodes = chebyshev.chebpts1(degree + 1)
    wide = chebyshev.chebfit(nodes, chebyshev.chebval(size * nodes, full(first)), degree)
    polynomials = [[float(c) for c in wide[1::2]], *others]
    # Values that are decided only just are so much nearer to 0 now.
    edge = float(2.0 ** -found["alpha"])
    for odd in polynomials:
        edge = float(chebyshev.chebval(edge, full(odd)))
    return {**found, "polynomials": polynomials, "error": max(found["error"], abs(1 - edge))}


def full(odd: list[float]) -> NDArray[np.float64]:
    """All Chebyshev coefficients of an odd polynomial. Those of even index are 0."""
    coefficients = np.zeros(2 * len(odd))
    coefficients[1::2] = odd
    return coefficients


def row(alpha: int, error_bits: int) -> dict[str, Any]:
    """The polynomials of a comparison and their error.

    Raises
    ------
    ParameterError
        If there is no comparison with this threshold and this error.
    """
    for name, value in (("alpha", alpha), ("error_bits", error_bits)):
        checks.count(name, value)
    if (alpha, error_bits) not in _rows():
        alphas, errors = (sorted({key[i] for key in _rows()}) for i in (0, 1))
        raise ParameterError(
            f"There is no comparison with alpha={alpha}, error_bits={error_bits}; "
            f"alpha is {alphas[0]} to {alphas[-1]}, and error_bits is {' or '.join(map(str, errors))}."
        )
    return _rows()[alpha, error_bits]


def depth(coefficients: list[float]) -> int:
    """The number of levels that an odd polynomial with these coefficients uses."""
    return (2 * len(coefficients) - 1).bit_length()
