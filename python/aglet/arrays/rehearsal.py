"""Computations as they would go, in the clear, with noise as ciphertexts have it: what error a result will have.

A sample is some runs of one chunk, each with values and noise of its own. Noise is drawn where the engine adds it: a
deviation of a slot for encryption under a public key, for every rescaling and for every key switch, all of which are
the rounding of a ciphertext under a ternary secret; a bootstrap adds what its model says. It then goes through the
same sums, moves and products as the values, so that noise which depends is added as dependent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aglet.ckks.comparison import ComparisonPlan, sign_polynomials

__all__ = ["Rehearsal", "Sample"]

_SEED = 20_240_229
_MOST_RUNS, _LEAST_RUNS = 16, 8
_VALUES = 1 << 15
"""Runs are as many as make so many values of a chunk, within these two."""
_FEW, _FEW_PASS = 8, 2.7
"""Of so few elements no run says what the largest error is; one passes so many deviations in two of a hundred cases."""
_OF_POWERS = 0.6
"""Of a rounding, in a power in Chebyshev's basis, which is kept at a larger scale; measured."""
_WORST, _FLAT = 1.7, 1 / 10
"""The largest error of a bootstrap's approximation over the mean one; and below which share of the bound it is taken to
be as large as there."""
_ENDS = 1.7
"""Where polynomials in Chebyshev's basis are large they round more than in the mean."""
_MODEL = 1.15
"""What the model may be off."""


class Sample(NamedTuple):
    """Runs of a chunk: of shape (runs, slots)."""

    exact: NDArray[Any]
    error: NDArray[Any]

    @property
    def found(self) -> NDArray[Any]:
        """What would be decrypted."""
        found: NDArray[Any] = self.exact + self.error
        return found


class Rehearsal:
    """Operations on samples.

    Parameters
    ----------
    log_n, scale_bits, slots
        Of the parameters.
    refresh
        What a bootstrap of values within 1 adds: mean bits of all of it, and of its approximation alone; None without.
    """

    def __init__(self, log_n: int, scale_bits: float, slots: int, refresh: tuple[float, float] | None) -> None:
        self.slots = slots
        self._refresh = (0.0, 0.0)
        if refresh is not None:
            every, approximation = (2.0**-bits for bits in refresh)
            # The deviation of what is noise, and the largest error of what is not.
            noise = math.sqrt(max(0.0, every**2 - approximation**2) * math.pi / 2)
            self._refresh = noise, _WORST * approximation
        self.runs = max(_LEAST_RUNS, min(_MOST_RUNS, _VALUES // slots))
        self.rounding = math.sqrt((1 + 2 * 2.0**log_n / 3) / 12 * slots) * 2.0**-scale_bits
        self._random = np.random.default_rng(_SEED)
        # A rounding meets the secret, whose values in slots are as random: some slots have far more noise than others.
        self._secret = np.sqrt(self._random.standard_exponential((self.runs, slots)))

    def draws(self, low: float, high: float, shape: Any) -> list[NDArray[Any]]:
        """Values for an argument, for each run others."""
        return [self._random.uniform(low, high, shape) for _ in range(self.runs)]

    def _noise(self, like: NDArray[Any], factor: Any) -> NDArray[Any]:
        drawn: Any = self._random.standard_normal(like.shape)
        made = drawn + 1j * self._random.standard_normal(like.shape) if np.iscomplexobj(like) else drawn
        found: NDArray[Any] = made * (factor * self.rounding) * self._secret
        return found

    def full(self, values: Any) -> Any:
        """Plain values as they stand in slots: a number, or as many as there are slots, zeros behind the given ones."""
        plain = np.asarray(values)
        if plain.ndim == 0 or plain.size == self.slots:
            return plain
        return np.concatenate([plain.ravel(), np.zeros(self.slots - plain.size, plain.dtype)])

    def encrypt(self, runs: Sequence[Any]) -> Sample:
        """One chunk, of the values of each run or of one for all."""
        exact = np.stack([np.broadcast_to(self.full(one), self.slots) for one in runs])
        exact = np.broadcast_to(exact, (self.runs, self.slots)) * 1.0
        return Sample(exact, self._noise(exact, 1.0))

    def clip(self, x: Sample, size: float) -> Sample:
        """Values as somebody says that they are."""
        sizes = np.abs(x.exact)
        return Sample(x.exact * np.minimum(1.0, size / np.maximum(sizes, 1e-300)), x.error)

    def add(self, x: Sample, y: Sample) -> Sample:
        """The sum."""
        return Sample(x.exact + y.exact, x.error + y.error)

    def scale(self, x: Sample, factor: Any) -> Sample:
        """Times a whole number."""
        return Sample(x.exact * factor, x.error * factor)

    def multiply(self, x: Sample, y: Sample, factor: float = 1.0) -> Sample:
        """The product, rescaled."""
        exact = x.exact * y.exact
        error = x.exact * y.error + x.error * y.found
        return Sample(exact, error + self._noise(exact, factor))

    def weighted_sum(self, some: Sequence[Sample], weights: Sequence[Any]) -> Sample:
        """Products with plain values, summed and rescaled once."""
        full = [self.full(weight) for weight in weights]
        exact: Any = sum(x.exact * weight for x, weight in zip(some, full, strict=True))
        error: Any = sum(x.error * weight for x, weight in zip(some, full, strict=True))
        return Sample(exact, error + self._noise(exact, 1.0))

    def rotate(self, x: Sample, step: int, switches: int) -> Sample:
        """Moved, by so many key switches."""
        error = np.roll(x.error, step, axis=1)
        return Sample(np.roll(x.exact, step, axis=1), error + self._noise(x.exact, math.sqrt(switches)))

    def conjugate(self, x: Sample) -> Sample:
        """The complex conjugate."""
        return Sample(np.conj(x.exact), np.conj(x.error) + self._noise(x.exact, 1.0))

    def matrix(self, matrix: Any, x: Sample) -> Sample:
        """A matrix times the first slots; what its diagonals rotate brings noise of its own to each row."""
        plain = np.asarray(matrix)
        rows, columns = plain.shape
        exact = np.zeros_like(x.exact, dtype=np.result_type(x.exact, plain))
        error = exact.copy()
        exact[:, :rows], error[:, :rows] = x.exact[:, :columns] @ plain.T, x.error[:, :columns] @ plain.T
        own = np.full(self.slots, math.sqrt(2.0))
        # Baby steps are rotated before the weights, giant ones after.
        giants = math.isqrt(max(1, min(self.slots, rows + columns - 1)))
        own[:rows] = np.sqrt((np.abs(plain) ** 2).sum(axis=1) + 2.0 + giants)
        return Sample(exact, error + self._noise(exact, own))

    def refresh(self, x: Sample, bound: float) -> Sample:
        """What a bootstrap leaves of values within a bound.

        Noise, and what its approximation is off: that averages nowhere, and is less for smaller values, down to a
        share of the bound.
        """
        noise, approximation = self._refresh
        sizes = np.abs(x.exact)
        off = x.exact * (approximation * np.maximum(1.0, _FLAT * bound / np.maximum(sizes, 1e-300)))
        return Sample(x.exact, x.error + off + self._noise(x.exact, bound * noise / self.rounding))

    def polynomial(self, x: Sample, coefficients: Any, chebyshev: bool) -> Sample:
        """By a tree of powers, each rounded once, and their sum."""
        if chebyshev:
            # Where values are known to lie, whatever was drawn.
            x = self.clip(x, 1.0)
        weights = np.asarray(coefficients)
        powers = [Sample(np.ones_like(x.exact), np.zeros_like(x.error)), x]
        for k in range(2, len(weights)):
            high, low = powers[(k + 1) // 2], powers[k // 2]
            if chebyshev:
                twice = self.scale(self.multiply(high, low, _OF_POWERS / 2), 2.0)
                powers.append(self.add(twice, self.scale(powers[k % 2], -1.0)))
            else:
                powers.append(self.multiply(high, low))
        used = [(power, weight) for power, weight in zip(powers, weights, strict=False) if weight]
        exact: Any = sum((power.exact * weight for power, weight in used), np.zeros_like(x.exact))
        error: Any = sum((power.error * weight for power, weight in used), np.zeros_like(x.error))
        # Division by Chebyshev's polynomials, block by block, rounds more often and doubles what it rounds.
        return Sample(exact, error + self._noise(exact, _ENDS * math.sqrt(len(used)) if chebyshev else 2.0))

    def compare(self, plan: ComparisonPlan, some: Sequence[Sample], error_bits: int) -> Sample:
        """By its polynomials, undecided values and all; exact is what numpy says."""
        left = some[0]
        two = plan.operation in ("compare", "maximum", "minimum")
        if 0 in plan.refreshed:
            some = [self.refresh(x, 1.0) for x in some]
            left = some[0]
        x = self.add(left, self.scale(some[1], -1.0)) if two else left
        sign = self._sign(plan, self.scale(x, 0.5) if two else x, error_bits)
        if plan.operation == "sign":
            return sign
        if plan.operation == "compare":
            return Sample(0.5 * sign.exact + 0.5, 0.5 * sign.error)
        # Of a selection: the product with the values themselves.
        half = -0.5 if plan.operation == "minimum" else 0.5
        selected = self.multiply(x, self.scale(sign, half))
        rest = self.scale(self.add(left, some[1]), 0.5) if two else self.scale(x, 0.5)
        return self.add(selected, rest)

    def _sign(self, plan: ComparisonPlan, x: Sample, error_bits: int) -> Sample:
        exact = np.sign(x.exact)
        now = Sample(x.found, np.zeros_like(x.error))
        for i, odd in enumerate(sign_polynomials(plan.alpha, error_bits)):
            if i and i in plan.refreshed:
                now = self.refresh(now, 1.0)
            coefficients = np.zeros(2 * len(odd))
            coefficients[1::2] = odd
            now = self.polynomial(Sample(now.found, np.zeros_like(now.error)), coefficients, chebyshev=True)
        return Sample(exact, now.found - exact)

    def bits(self, errors: Sequence[NDArray[Any]]) -> float:
        """-log2 of what the errors of elements, each of shape (runs, elements), will hardly pass."""
        every = np.abs(np.concatenate([np.atleast_2d(one) for one in errors], axis=1))
        least = float(every.max())
        if every.shape[1] < _FEW:
            least = _FEW_PASS * float(np.sqrt((every**2).mean(axis=0)).max())
        return -math.log2(_MODEL * least) if least else math.inf
