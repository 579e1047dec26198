"""Polynomials of activations, and the compositions that approximate the sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet._core import Ciphertext, RelinearizationKey
from aglet.ckks import signs
from aglet.ckks.values import as_vector
from aglet.errors import ParameterError

__all__ = ["Polynomial", "sign_coefficients"]

_IDENTITY = [1.0]
"""The odd coefficients of `T_1`."""


@dataclass(frozen=True, eq=False)
class Polynomial:
    """Coefficients in the power basis or that of Chebyshev on [-1, 1], the constant first."""

    basis: str
    coefficients: NDArray[Any]

    @classmethod
    def of(cls, basis: str, coefficients: Any) -> Polynomial:
        """Check the coefficients.

        Raises
        ------
        RangeError
            If there is none, or one is not finite.
        """
        return cls(basis, as_vector(coefficients, what="list of coefficients"))

    def apply(self, engine: Any, x: Ciphertext, key: RelinearizationKey) -> Ciphertext:
        """Evaluate it in `ceil(log2(degree + 1))` levels."""
        evaluate = engine.evaluate_chebyshev_polynomial if self.basis == "chebyshev" else engine.evaluate_polynomial
        found: Ciphertext = evaluate(x, self.coefficients, key)
        return found


def sign_coefficients(degrees: list[int], alpha: int, error_bits: int) -> list[float]:
    """Chebyshev coefficients of polynomials of these degrees, whose composition is 0 for negative values, else 1.

    They are those of `Engine.sign`, right for values from `2^-alpha` to 1 and their negatives, with an error below
    `2^-error_bits`. Where polynomials of lower degree suffice, the coefficients that are left are 0.

    Parameters
    ----------
    degrees
        The degrees, from the first polynomial to the last.

    Raises
    ------
    ParameterError
        If no composition of these degrees is that good.
    """
    wanted = [checks.count("A degree", degree, 1) for degree in checks.each("degrees", degrees)]
    exact = next((bits for bits in (12, 20) if bits >= checks.count("logerr", error_bits)), None)
    if exact is None:
        raise ParameterError(f"There is no sign with an error of 2^-{error_bits}; ask for logerr of 20 or less.")
    polynomials = signs.row(max(alpha, 3), exact)["polynomials"]
    chosen: list[list[float]] = []
    left = list(polynomials)
    for degree in wanted:
        fits = bool(left) and 2 * len(left[0]) - 1 <= degree
        chosen.append(left.pop(0) if fits else _IDENTITY)
    if left:
        shapes = ", ".join(str(2 * len(odd) - 1) for odd in polynomials)
        raise ParameterError(
            f"No sign of the degrees {', '.join(map(str, wanted))} is right from 2^-{alpha} on with an error of "
            f"2^-{error_bits}; give degrees=[{shapes}] or larger ones."
        )
    pairs = zip(chosen, wanted, strict=True)
    padded = [np.pad(signs.full(odd), (0, degree + 1 - 2 * len(odd))) for odd, degree in pairs]
    padded[-1] = padded[-1] / 2
    padded[-1][0] += 0.5
    return [float(one) for polynomial in padded for one in polynomial]
