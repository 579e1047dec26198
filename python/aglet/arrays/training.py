"""Training of a logistic regression on encrypted samples. Samples, labels and weights stay encrypted."""

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
"""The levels of a step: product with the weights, sigmoid (two), product with the samples, mask of the gradient."""


def labelled_samples(samples: Any, labels: Any, slots: int) -> NDArray[np.float64]:
    """Multiply samples by labels, in the shape that `fit_logistic` takes: (ciphertexts, features, samples of each).

    Features are padded with zeros to a power of two, and samples to whole ciphertexts. This does not change the
    weights.

    Parameters
    ----------
    samples
        A matrix of shape (samples, features). For an intercept, add a feature of ones.
    labels
        -1 or 1 for each sample.
    slots
        The slots of a ciphertext: `session.slots`.

    Raises
    ------
    RangeError
        If a label is neither -1 nor 1, if there is not one label per sample, or if there are more features than slots.
    """
    rows = np.asarray(values.as_array(samples), dtype=np.float64)
    signs = np.asarray(values.as_array(labels), dtype=np.float64)
    if rows.ndim != 2 or signs.shape != rows.shape[:1] or not (np.abs(signs) == 1).all():
        raise RangeError(
            f"Samples of shape {rows.shape} do not fit labels of shape {signs.shape}; give samples of shape (samples, "
            "features), and one label, -1 or 1, for each sample."
        )
    width = 1 << (rows.shape[1] - 1).bit_length()
    if width > slots:
        raise RangeError(
            f"A ciphertext has {slots} slots, and these samples have {rows.shape[1]} features; use fewer features."
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
    """Train with Nesterov's gradient descent on all samples at once (eprint 2018/254). A step uses five levels.

    The sigmoid is approximated by the nearest polynomial of degree 3 on the range of the scores. The features fill a
    whole ciphertext, so that sums over them need neither masks nor copies. Only the gradient, one ciphertext, needs a
    mask. The weights and their momentum are bootstrapped together, as a pair.

    Parameters
    ----------
    samples
        The result of `labelled_samples`, encrypted with `level=session.refreshed_level`. Plain samples run the same
        training without encryption.
    steps
        The number of steps of the descent.
    count
        The number of samples.
    rate
        The learning rate.
    reach
        The largest absolute value of a score. The sigmoid is approximated up to it.
    bound
        The largest absolute value of a weight.
    assume
        Declare that scores and weights stay within both bounds, which the bounds of encrypted samples hardly ever
        prove. Scores beyond `reach` are outside of the approximation, and weights beyond `bound` are wrong after a
        bootstrap; nothing shows it. The same call on plain samples, without `assume`, checks it.

    Returns
    -------
    The weights, of shape (features,). Those of padded features are close to 0.

    Raises
    ------
    RangeError
        If the samples have another shape. If scores or weights exceed `reach` or `bound`, or are not known to stay
        within and `assume` was not given.
    LevelError
        If a bootstrap leaves fewer than five levels, or is not allowed.
    """
    if len(samples.shape) != 3:
        raise RangeError(
            f"These samples have shape {samples.shape}, which fit_logistic does not take; arrange them with "
            "ml.labelled_samples."
        )
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
    """The share of the last move that is repeated in each step (momentum).

    It is 0 in the last step, which ends at the weights.
    """
    momentum = 1.0
    for _ in range(steps - 1):
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        yield (momentum - 1) / following
        momentum = following
    yield 0.0


def _sigmoid(reach: float) -> NDArray[np.float64]:
    """The approximated sigmoid. It is exactly odd but for the constant, because an even part would cost a product."""
    points = np.linspace(-reach, reach, 1001)
    fitted: Any = np.polynomial.Polynomial.fit(points, 1 / (1 + np.exp(-points)), 3)
    found = np.asarray(fitted.convert().coef)
    found[2] = 0
    return found


class _Clear:
    """Training on plain numbers."""

    _known = _way_out = ""

    def __init__(self, samples: Any, reach: float, bound: float, assume: bool) -> None:
        self._samples, self._reach, self._bound, self._assume = samples, reach, bound, assume

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return np.zeros(shape)

    def ready(self, *arrays: Any) -> Any:
        """The weights with the levels of a step, and checked against their bounds."""
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
    """Training on encrypted arrays in a session."""

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
