"""Training of a logistic regression on encrypted samples: neither samples, labels nor weights are seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays.array import EncryptedArray
from aglet.arrays.interval import Interval
from aglet.ckks import values
from aglet.errors import RangeError

__all__ = ["fit_logistic", "labelled_samples"]

_STEP_LEVELS = 5
"""Product with the weights, sigmoid (two), product with the samples, mask of the gradient."""


def labelled_samples(samples: Any, labels: Any, slots: int) -> NDArray[np.float64]:
    """Samples times labels in the shape that `fit_logistic` takes: (ciphertexts, features, samples of each).

    Features are filled up to a power of two with zeros and samples to whole ciphertexts, which changes no weight.

    Parameters
    ----------
    samples
        A matrix (samples, features). One feature of ones is the intercept.
    labels
        For each sample -1 or 1.
    slots
        Of a ciphertext: `session.slots`.

    Raises
    ------
    RangeError
        If there are other labels, not one for each sample, or more features than slots.
    """
    rows = np.asarray(values.as_array(samples), dtype=np.float64)
    signs = np.asarray(values.as_array(labels), dtype=np.float64)
    if rows.ndim != 2 or signs.shape != rows.shape[:1] or not (np.abs(signs) == 1).all():
        raise RangeError(
            f"Samples of shape {rows.shape} and labels of shape {signs.shape} do not fit; give (samples, features), "
            "and -1 or 1 for each sample."
        )
    width = 1 << (rows.shape[1] - 1).bit_length()
    if width > slots:
        raise RangeError(
            f"A ciphertext has {slots} slots, and these samples have {rows.shape[1]} features; take fewer."
        )
    each = slots // width
    filled = np.zeros((-(-len(rows) // each) * each, width))
    filled[: len(rows), : rows.shape[1]] = rows * signs[:, None]
    return np.ascontiguousarray(filled.reshape(-1, each, width).swapaxes(1, 2))


def fit_logistic(
    samples: Any,
    *,
    steps: int,
    count: int,
    rate: float = 1.0,
    reach: float = 8.0,
    bound: float = 2.0,
    assume: bool = False,
) -> Any:
    """Train by Nesterov's gradient descent on all samples at once, as in eprint 2018/254; five levels a step.

    The sigmoid is the polynomial of degree 3 that is nearest to it where scores may be. Features lie around a whole
    ciphertext, so that sums over them need neither mask nor copies; only the gradient does, one ciphertext. The weights
    and where momentum takes them are refreshed together, as a pair.

    Parameters
    ----------
    samples
        What `labelled_samples` gives, encrypted with `level=session.refreshed_level`, or plain for the same in the
        clear.
    steps
        Of the descent.
    count
        How many samples there are.
    rate
        Of learning.
    reach
        The largest absolute value of a score: the sigmoid is fitted there.
    bound
        The largest absolute value of a weight.
    assume
        Say that scores and weights stay within both, which the bounds of encrypted samples hardly ever prove. Scores
        beyond `reach` meet a polynomial that is no sigmoid there, and weights beyond `bound` are wrong after a refresh;
        nothing tells. The call on plain samples of the same kind, without `assume`, does.

    Returns
    -------
    The weights in the shape (features,), those of added features near 0.

    Raises
    ------
    RangeError
        If the samples have another shape; if scores or weights go beyond `reach` or `bound`, or are not known to stay
        within and nobody says so.
    LevelError
        If a refresh leaves fewer than five levels, or is not allowed.
    """
    if len(samples.shape) != 3:
        raise RangeError(f"These samples have shape {samples.shape}; bring them there with ml.labelled_samples.")
    steps, count = checks.count("steps", steps, 1), checks.count("count", count, 1)
    kind = _Encrypted if isinstance(samples, EncryptedArray) else _Clear
    descent = kind(samples, reach, bound, checks.flag("assume", assume))
    sigmoid = _sigmoid(reach) * [1, -1, 1, -1] * (rate / count)
    ahead = descent.zeros(samples.shape[1:])
    # Where `ahead` came from; computed a step later, so that constants cost it no level: they go into the polynomial.
    weights, before = ahead, 0.0
    for share in _shares(steps):
        ahead, weights = descent.ready(ahead, weights)
        weights = ahead * (1 / (1 + before)) + weights * (before / (1 + before)) if before else ahead
        scores = (samples * ahead).sum(axis=1, keepdims=True)
        slopes = descent.polynomial(scores, sigmoid * (1 + share))
        gradient = (samples * slopes).sum(axis=0).sum(axis=1, keepdims=True)
        kept = ahead * (1 + share) - weights * share if share else ahead
        ahead, before = kept + gradient, share
    return ahead[:, 0]


def _shares(steps: int) -> Iterator[float]:
    """How much of the last move is made again; nothing of it in the last step, which ends at the weights."""
    momentum = 1.0
    for _ in range(steps - 1):
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        yield (momentum - 1) / following
        momentum = following
    yield 0.0


def _sigmoid(reach: float) -> NDArray[np.float64]:
    """Odd but for the constant, exactly so: the even part would cost a product."""
    points = np.linspace(-reach, reach, 1001)
    fitted: Any = np.polynomial.Polynomial.fit(points, 1 / (1 + np.exp(-points)), 3)
    found = np.asarray(fitted.convert().coef)
    found[2] = 0
    return found


class _Clear:
    """On plain numbers."""

    _known = _way_out = ""

    def __init__(self, samples: Any, reach: float, bound: float, assume: bool) -> None:
        self._samples, self._reach, self._bound, self._assume = samples, reach, bound, assume

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return np.zeros(shape)

    def ready(self, *arrays: Any) -> Any:
        """With the levels of a step, and in their bounds."""
        return tuple(self._inside("weights", one, "bound", self._bound) for one in arrays)

    def polynomial(self, scores: Any, coefficients: Any) -> Any:
        scores = self._inside("scores", scores, "reach", self._reach)
        return np.polynomial.Polynomial(coefficients)(scores)

    def _inside(self, what: str, array: Any, word: str, most: float) -> Any:
        self._refuse(what, float(np.abs(array).max()), word, most)
        return array

    def _refuse(self, what: str, size: float, word: str, most: float) -> None:
        if size > most * (1 + 1e-6) and not self._assume:
            known = f"{self._known}the {what}"
            raise RangeError(
                f"{known[0].upper()}{known[1:]} of this training reach {size:.3g}, and {word}={most:g} was given; give "
                f"a larger {word}=, a smaller rate= or fewer steps{self._way_out}."
            )


class _Encrypted(_Clear):
    """In a session."""

    _known = "As far as is known, "
    _way_out = (
        ", samples with a smaller bound=, or assume=True if you know that they stay within: on plain samples this call "
        "tells"
    )

    def zeros(self, shape: tuple[int, ...]) -> Any:
        session = self._samples.session
        made = session.encrypt(np.zeros(shape), bound=self._bound, level=session.refreshed_level)
        return made.within(Interval(0.0, 0.0))

    def ready(self, *arrays: Any) -> Any:
        both: Any = np.stack(super().ready(*arrays))
        both.need(_STEP_LEVELS)
        return both[0], both[1]

    def polynomial(self, scores: Any, coefficients: Any) -> Any:
        scores = self._inside("scores", scores, "reach", self._reach)
        return self._samples.session.poly(scores, coefficients)

    def _inside(self, what: str, array: Any, word: str, most: float) -> Any:
        if self._assume:
            return array.assume(bound=most)
        self._refuse(what, array.interval.size, word, most)
        return array
