"""1/x on an interval as a product of Chebyshev polynomials: each doubling of the degree takes two products.

With u = m(x) on [-1, 1] and t_n = T_n(m(0)), the polynomial `y_n = (1 - T_n(u) / t_n) / x` of degree n - 1 has the
least relative error that its degree can have, 1 / |t_n|. As `T_2n = 2 T_n^2 - 1`, y_2n is y_n times T_n(u) plus a
number. A Chebyshev series of the same degree takes as many levels, and about `2 sqrt(2 n)` products.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

__all__ = ["MOST_DOUBLINGS", "Reciprocal"]

MOST_DOUBLINGS = 10
"""Those of a degree of 1,023, the largest of a fit."""
_FAR = 700.0
"""The hyperbolic cosine of more is no double."""
_BEYOND = 1 + 2.0**-20
"""What noise adds to sizes."""

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Reciprocal:
    """The numbers of such a product on an interval above 0.

    Factor j is `V_j + shifts[j]`, where V_0 is `-step u` and `V_(j+1) = V_j^2 - less[j]`. V_j is T_n(u) for n = 2^j,
    on a scale that makes the product 1/x as it stands: no factor takes a level of its own.
    """

    low: float
    high: float
    step: float
    shifts: tuple[float, ...]
    less: tuple[float, ...]
    sizes: tuple[tuple[float, float], ...]
    """The largest V_j, and the largest product of factors up to j."""
    error: float
    """The largest relative error."""

    @classmethod
    def of(cls, low: float, high: float, bits: int) -> Reciprocal | None:
        """The shortest product with a relative error of at most `2^-bits`; None if `MOST_DOUBLINGS` are not enough."""
        angle = math.acosh((high + low) / (high - low))
        errors = [1 / math.cosh(min(2**k * angle, _FAR)) for k in range(1, MOST_DOUBLINGS + 1)]
        doublings = next((k for k, error in enumerate(errors, 1) if error <= 2.0**-bits), 0)
        if not doublings:
            return None

        def fall(n: int) -> float:
            return math.exp(-2 * n * angle)

        # V_j is 2 T_n(u) exp(-n angle) part^n: the second is about 1 / t_n, and powers of `part` make the product 1/x.
        # Without them, factors up to j make y_2n times this, times 1 + fall(2n).
        lacks = (low + high) / 2 / (1 + fall(1))
        part = (1 / lacks / (1 + fall(2**doublings))) ** (1 / (2**doublings - 1))
        step = 2 * part * math.exp(-angle)
        shifts, less, sizes = [], [], []
        for j, error in enumerate(errors[:doublings]):
            n, scale = 2**j, part ** (2**j)
            shifts.append(scale * (1 + fall(n)))
            less.append(2 * scale**2 * fall(n))
            # y_2n is at most twice what it is at 0, the sum of 1 over its zeros, and at most (1 + 1 / t_2n) / x.
            at_zero = 4 * n * math.tanh(2 * n * angle) / math.sinh(angle) / (high - low)
            most = min(2 * at_zero, (1 + error) / low)
            sizes.append((_BEYOND * 2 * (step / 2) ** n, _BEYOND * most * lacks * (1 + fall(2 * n)) * scale**2 / part))
        return cls(low, high, step, tuple(shifts), tuple(less[:-1]), tuple(sizes), errors[doublings - 1])

    @property
    def line(self) -> tuple[float, float]:
        """V_0 as `slope x + constant`."""
        width = self.high - self.low
        return -2 * self.step / width, self.step * (self.high + self.low) / width

    @property
    def levels(self) -> int:
        """Those from V_0 on."""
        return len(self.shifts)

    def exact(self, first: Any) -> Any:
        """1/x where V_0 has these values; beyond the interval that of its nearer end."""
        slope, constant = self.line
        return 1 / np.clip((first - constant) / slope, self.low, self.high)

    def evaluated(
        self,
        first: Value,
        add: Callable[[Value, float], Value],
        multiply: Callable[[Value, Value], Value],
        known: Callable[[Value, float], Value],
    ) -> Value:
        """The product from V_0 on. `known` is told how large a value is at most."""
        value = found = first
        for j, (size, product) in enumerate(self.sizes):
            if j:
                value = known(add(multiply(value, value), -self.less[j - 1]), size)
            shifted = add(value, self.shifts[j])
            found = known(multiply(found, shifted), product) if j else shifted
        return found
