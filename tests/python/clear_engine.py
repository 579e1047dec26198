"""The calls of `Engine` that programs of compilers make, on numbers in the clear, with a bound on what noise may do.

A program runs here and on the toy engine; what differs by more than the bound is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from aglet import Engine

FRESH = 2.0**-20
"""More than one encryption, rounding or key switch of the toy engine adds to a slot."""


@dataclass(frozen=True, eq=False)
class Clear:
    """Values of slots, how far the encrypted ones may be off, and a level that never ends."""

    values: Any
    error: Any
    level: int = 10**6


class ClearEngine:
    """Stands for an `Engine` of as many slots; its keys are real and do nothing."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.slot_count = engine.slot_count

    def __getattr__(self, name: str) -> Any:
        if name in ("create_secret_key", "create_public_key"):
            return getattr(self._engine, name)
        raise AttributeError(name)

    def create_fixed_rotation_key(self, secret: Any, delta: int) -> int:
        return delta

    def create_relinearization_key(self, secret: Any) -> str:
        return "relinearization"

    create_conjugation_key = create_bootstrap_key = create_relinearization_key

    def _values(self, x: Any) -> Any:
        if isinstance(x, Clear) or np.ndim(x) == 0:
            return x
        return np.pad(np.asarray(x, dtype=float), (0, self.slot_count - len(x)))

    def _both(self, x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
        x, y = self._values(x), self._values(y)
        pairs = [(one.values, one.error) if isinstance(one, Clear) else (one, 0.0) for one in (x, y)]
        return (*pairs[0], *pairs[1])

    def encrypt(self, values: Any, key: Any) -> Clear:
        return Clear(self._values(values), np.full(self.slot_count, FRESH))

    def decrypt(self, x: Clear, key: Any) -> Any:
        return x.values

    def add(self, x: Any, y: Any) -> Clear:
        a, d, b, e = self._both(x, y)
        return Clear(a + b, d + e + FRESH)

    def subtract(self, x: Any, y: Any) -> Clear:
        a, d, b, e = self._both(x, y)
        return Clear(a - b, d + e + FRESH)

    def multiply(self, x: Any, y: Any, key: Any = None) -> Clear:
        a, d, b, e = self._both(x, y)
        noise = FRESH * (1 + np.max(np.abs(a)) + np.max(np.abs(b)))
        return Clear(a * b, np.abs(a) * e + np.abs(b) * d + d * e + noise)

    def square(self, x: Clear, key: Any) -> Clear:
        return self.multiply(x, x)

    def negate(self, x: Clear) -> Clear:
        return Clear(-x.values, x.error)

    def rescale(self, x: Clear) -> Clear:
        return Clear(x.values, x.error)

    def relinearize(self, x: Clear, key: Any) -> Clear:
        return Clear(x.values, x.error + FRESH)

    def level_down(self, x: Clear, level: int) -> Clear:
        return Clear(x.values, x.error + FRESH, level)

    def rotate_batch(self, x: Clear, keys: list[int]) -> list[Clear]:
        return [Clear(np.roll(x.values, delta), np.roll(x.error, delta) + FRESH) for delta in keys]

    def bootstrap(self, x: Clear, *keys: Any, bound: float) -> Clear:
        return Clear(x.values, x.error + 16 * FRESH * bound)

    def _function(self, x: Clear, of: Any, size: float) -> Clear:
        """The error is as large as the function changes within that of the argument, beside the rounding."""
        middle, moved = of(x.values), [of(x.values + part * x.error) for part in (-1, -0.5, 0.5, 1)]
        return Clear(middle, np.max([np.abs(one - middle) for one in moved], axis=0) + 2**4 * FRESH * size)

    def evaluate_chebyshev_polynomial(self, x: Clear, coefficients: Any, key: Any) -> Clear:
        size = (1 + np.abs(coefficients).sum()) * max(1.0, float(np.max(np.abs(x.values)))) ** len(coefficients)
        return self._function(x, lambda v: chebyshev.chebval(v, coefficients), size)
