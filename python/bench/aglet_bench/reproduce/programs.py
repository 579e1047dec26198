"""The programs on encrypted arrays that a bench runs, with their data and the expected results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet.arrays import ml
from aglet.arrays.session import Session

__all__ = ["PROGRAMS", "Program"]

_VALUES = 256
"""The number of different values of a vector, which comparisons can tell apart."""
_STEP = 1 / _VALUES
_SAMPLES, _FEATURES = 1024, 256


@dataclass(frozen=True)
class Program:
    """A program, its data, and the tolerance of its result."""

    data: Callable[[int, int], Any]
    """Makes the data, from the size and the slots of a ciphertext."""
    run: Callable[[Any, int], Any]
    """Runs on the data, encrypted or not, and the size."""
    step: float = _STEP
    """A value is wrong if its error is more than half of this."""
    bound: Any = (0, 1)
    warm: bool = True
    """Whether the first run is not counted, because it also encodes maps."""
    fresh: bool = True
    """Whether inputs have the levels of fresh ciphertexts, or those that a bootstrap leaves."""

    def encrypted(self, session: Session, data: Any) -> Any:
        """The data as the program takes it."""
        return session.encrypt(data, bound=self.bound, level=None if self.fresh else session.refreshed_level)


def _values(size: int, _: int) -> Any:
    return np.random.default_rng(1).permutation(max(_VALUES, size))[:size] / max(_VALUES, size)


def _samples(_: int, slots: int) -> Any:
    """Two overlapping clouds of samples, in HELR's shape if the ciphertext is large enough.

    The last feature is a constant.
    """
    random = np.random.default_rng(2)
    features = min(_FEATURES, slots // 64)
    labels = random.integers(0, 2, _count(slots)) * 2 - 1
    apart = labels[:, None] * random.normal(0, 0.6 / np.sqrt(features), features)
    data = np.clip(random.normal(0, 0.35, (len(labels), features)) + apart, -1, 1)
    data[:, -1] = 1
    return ml.labelled_samples(data, labels, slots)


def _count(slots: int) -> int:
    return min(_SAMPLES, slots // 4)


def _trained(samples: Any, steps: int) -> Any:
    slots = samples.shape[1] * samples.shape[2]
    # 32 steps take some scores a little beyond the reach of 8, in the clear as well, and weights to 1.9 of 2.
    return ml.fit_logistic(samples, steps=steps, count=_count(slots), assume=True)


def _pictures(size: int, slots: int) -> Any:
    return np.random.default_rng(3).uniform(0, 1, (min(size, slots // 64), 64))


_LAYERS = [np.random.default_rng(4).normal(0, 0.15, shape) for shape in ((64, 32), (32, 10))]
_NETWORK = ml.Sequential.fit(
    [(weights, np.zeros(weights.shape[1])) for weights in _LAYERS], np.tanh, _pictures(64, 1 << 15), degree=15
)

PROGRAMS = {
    "sort": Program(_values, lambda x, _: np.sort(x)),
    # Of a place, whether it is the right one.
    "argmax": Program(_values, lambda x, _: np.argmax(x), step=1.0),
    "variance": Program(_values, lambda x, _: np.var(x)),
    "logistic": Program(_samples, _trained, bound=1, warm=False, fresh=False),
    "network": Program(_pictures, lambda x, _: _NETWORK(x, assume=True), fresh=False),
}
"""The programs by name. The size is the number of values, the steps of "logistic", or the pictures of "network"."""
