"""Simulated computation on plain values with the noise of ciphertexts, to predict the error of a result.

A sample holds several runs of one chunk, each with its own values and noise. Noise is drawn where the engine adds it:
by encryption under a public key, by every rescaling and by every key switch. All of these are the rounding of a
ciphertext under a ternary secret. A bootstrap adds what its model says. The noise goes through the same sums, moves and
products as the values, so that dependent noise is added as dependent.
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
"""The number of runs is chosen to give this many values of a chunk, within these two limits."""
_FEW = 8
"""With fewer numbers than this, the largest error depends on luck: no figure both holds and is within three bits of it.
"""
_SOME, _PASSED = 64, 0.02
"""With fewer numbers than this, the runs do not determine the largest error. The second is the chance that a figure is
passed there.
"""
_SURE = 4.0
"""An error this many deviations away from zero is not random, such as the error of a polynomial."""
_SPREAD = 0.6
"""The deviation of the logarithm of the largest error between runs: 1.1 for one number, and for many numbers that share
one error.
"""
_OF_POWERS = 0.6
"""The factor of a rounding in a power of the Chebyshev basis, which is kept at a larger scale. It was measured."""
_WORST, _LEAST = 1.7, 0.1
"""The largest error of a bootstrap's approximation relative to the mean one, and the least value that is used where it
is zero.
"""
_ZERO, _HEIGHT = 0.617, 12.4
"""This error is odd, and zero at 0, here and at 1. Between these points it is equally large on both sides. It was
measured.
"""
_ENDS = 1.7
"""Polynomials in the Chebyshev basis round more where they are large."""
_MODEL = 1.4
"""The possible error of the model, and how much longer its tails are than those of a Gaussian: the slots of one secret
differ.
"""


class Stated(NamedTuple):
    """What the runs say about the error of a result."""

    bits: float | None
    """-log2 of a size that the largest error hardly exceeds; None where this depends on luck."""
    deviation: float
    """The root mean square of the error, of the element where it is largest."""


class Sample(NamedTuple):
    """The runs of a chunk, of shape (runs, slots)."""

    exact: NDArray[Any]
    error: NDArray[Any]

    @property
    def found(self) -> NDArray[Any]:
        """The values that would be decrypted."""
        found: NDArray[Any] = self.exact + self.error
        return found


class Rehearsal:
    """Operations on samples.

    Parameters
    ----------
    log_n, scale_bits, slots
        The ring dimension, scale and slots of the parameters.
    refresh
        The mean bits of a bootstrap of values within 1, and those of its approximation alone; None without a bootstrap.
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
        """Random values for an argument, different in each run."""
        return [self._random.uniform(low, high, shape) for _ in range(self.runs)]

    def _noise(self, like: NDArray[Any], factor: Any) -> NDArray[Any]:
        drawn: Any = self._random.standard_normal(like.shape)
        made = drawn + 1j * self._random.standard_normal(like.shape) if np.iscomplexobj(like) else drawn
        found: NDArray[Any] = made * (factor * self.rounding) * self._secret
        return found

    def full(self, values: Any) -> Any:
        """Plain values as they are in the slots: one number, or an array that is padded with zeros."""
        plain = np.asarray(values)
        if plain.ndim == 0 or plain.size == self.slots:
            return plain
        return np.concatenate([plain.ravel(), np.zeros(self.slots - plain.size, plain.dtype)])

    def encrypt(self, runs: Sequence[Any]) -> Sample:
        """One chunk with the values of each run, or with the same values for all."""
        exact = np.stack([np.broadcast_to(self.full(one), self.slots) for one in runs])
        exact = np.broadcast_to(exact, (self.runs, self.slots)) * 1.0
        return Sample(exact, self._noise(exact, 1.0))

    def clip(self, x: Sample, size: float) -> Sample:
        """The values, limited to the declared range."""
        sizes = np.abs(x.exact)
        return Sample(x.exact * np.minimum(1.0, size / np.maximum(sizes, 1e-300)), x.error)

    def add(self, x: Sample, y: Sample) -> Sample:
        """The sum."""
        return Sample(x.exact + y.exact, x.error + y.error)

    def scale(self, x: Sample, factor: Any) -> Sample:
        """The product with a whole number."""
        return Sample(x.exact * factor, x.error * factor)

    def multiply(self, x: Sample, y: Sample, factor: float = 1.0) -> Sample:
        """The product, rescaled."""
        exact = x.exact * y.exact
        error = x.exact * y.error + x.error * y.found
        return Sample(exact, error + self._noise(exact, factor))

    def weighted_sum(self, some: Sequence[Sample], weights: Sequence[Any]) -> Sample:
        """The sum of products with plain values, rescaled once."""
        full = [self.full(weight) for weight in weights]
        exact: Any = sum(x.exact * weight for x, weight in zip(some, full, strict=True))
        error: Any = sum(x.error * weight for x, weight in zip(some, full, strict=True))
        return Sample(exact, error + self._noise(exact, 1.0))

    def rotate(self, x: Sample, step: int, switches: int) -> Sample:
        """The rotated chunk, with the noise of so many key switches."""
        error = np.roll(x.error, step, axis=1)
        return Sample(np.roll(x.exact, step, axis=1), error + self._noise(x.exact, math.sqrt(switches)))

    def conjugate(self, x: Sample) -> Sample:
        """The complex conjugate."""
        return Sample(np.conj(x.exact), np.conj(x.error) + self._noise(x.exact, 1.0))

    def matrix(self, matrix: Any, x: Sample) -> Sample:
        """The product of a matrix with the first slots. Rotations of its diagonals add noise to each row."""
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
        """The result of a bootstrap of values within a bound.

        It adds noise, and the error of its approximation, which does not average out.
        """
        noise, approximation = self._refresh
        part = x.exact / bound
        # Of complex values, of their size: the direction stays.
        sizes = np.minimum(np.abs(part), 1.0)
        curve = _HEIGHT * (sizes**2 - _ZERO**2) * (1 - sizes**2)
        least = _LEAST / np.maximum(sizes, _LEAST)
        curve = np.where(curve < 0, np.minimum(curve, -least), np.maximum(curve, least))
        off = bound * approximation * part * curve
        return Sample(x.exact, x.error + off + self._noise(x.exact, bound * noise / self.rounding))

    def polynomial(self, x: Sample, coefficients: Any, chebyshev: bool) -> Sample:
        """The value of a polynomial: a tree of powers, each rounded once, and their sum."""
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
        """The result of a comparison, by its polynomials, with undecided values. The exact values are numpy's."""
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

    def stated(self, errors: Sequence[NDArray[Any]]) -> Stated:
        """Summarize the errors of elements, each of shape (runs, elements). Elements that share a slot count once."""
        every = np.concatenate([np.atleast_2d(one) for one in errors], axis=1)
        sizes, count = np.abs(every), every.shape[1]
        deviation = float(np.sqrt((sizes**2).mean(axis=0)).max())
        if not deviation:
            return Stated(math.inf, 0.0)
        largest = sizes.max(axis=1)
        if count < _FEW or np.log(np.maximum(largest, 1e-300)).std() > _SPREAD:
            # What is the same in every run will be so in the next.
            middle, around = np.abs(every.mean(axis=0)), every.std(axis=0)
            sure = float((middle - _SURE * around).max()) > 0
            least = float((middle + _SURE * around).max())
            return Stated(-math.log2(_MODEL * least) if sure else None, deviation)
        least = float(largest.max())
        if count < _SOME:
            least = max(least, deviation * math.sqrt(2 * math.log(count / _PASSED)))
        return Stated(-math.log2(_MODEL * least), deviation)
