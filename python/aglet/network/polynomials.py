"""The polynomials that stand for the functions of a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from aglet.arrays.activation import Activation
from aglet.arrays.blocks import in_blocks
from aglet.ckks import signs
from aglet.network.functions import ACTIVATIONS

__all__ = ["Composite", "Fitted", "Fitting"]

Fitted = Activation
"""One polynomial, on the range of its input."""


@dataclass(frozen=True)
class Composite:
    """ReLU as `x (sign(x) + 1) / 2`, where polynomials that are composed stand for the sign (eprint 2020/834)."""

    size: float
    """The largest absolute value of the input."""
    alpha: int
    """The sign is decided from `2^-alpha` of the largest value."""
    error_bits: int

    @property
    def signs(self) -> list[NDArray[np.float64]]:
        """The Chebyshev coefficients of the polynomials, the first first."""
        return [signs.full(odd) for odd in signs.row(self.alpha, self.error_bits)["polynomials"]]

    def __call__(self, x: Any) -> Any:
        """Evaluate it on plain numbers."""
        return in_blocks(self._of_a_block, x)

    def _of_a_block(self, x: Any) -> Any:
        sign = x / self.size
        for coefficients in self.signs:
            sign = chebyshev.chebval(sign, coefficients)
        return x * (sign + 1) / 2

    def stages(self, factor: float) -> list[NDArray[np.float64]]:
        """The polynomials whose composition is `factor (sign + 1) / 2` on values divided by the largest."""
        *others, last = self.signs
        last = last * (factor / 2)
        last[0] += factor / 2
        return [*others, last]


@dataclass(frozen=True)
class Fitting:
    """How polynomials are chosen: their degree, and the threshold of composite ones, if ReLU is composite."""

    degree: int
    alpha: int | None
    error_bits: int

    def of(self, function: Callable[[Any], Any], size: float) -> Fitted | Composite:
        """The polynomial of a function for inputs up to a size.

        Raises
        ------
        RangeError
            If the function is not finite there.
        ParameterError
            If there is no composite polynomial with this threshold and error.
        """
        if self.alpha is not None and function is ACTIVATIONS["ReLU"]:
            signs.row(self.alpha, self.error_bits)
            return Composite(size, self.alpha, self.error_bits)
        return Activation.fit(function, self.degree, (-size, size))
