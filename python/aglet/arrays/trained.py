"""What is read of models of scikit-learn, which is not imported."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.errors import ParameterError

__all__ = ["linear", "refuse_other"]

_SAMPLES = 4
"""The number of random samples of each place on which a model is compared with what was read of it."""
_OUTPUTS = 8
"""The number of outputs of which there is such a place."""
_CLOSE = 2.0**-16
"""Single precision explains smaller differences, relative to the largest output."""


def linear(model: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The weights, of shape (inputs, outputs) or (inputs,), and the bias of a fitted linear model of scikit-learn.

    Raises
    ------
    ParameterError
        If it has none, or predicts something else than `x @ weights + bias`.
    """
    if getattr(model, "coef_", None) is None or getattr(model, "intercept_", None) is None:
        raise ParameterError(
            f"This {type(model).__name__} has no coef_ and intercept_; call its fit first, or give a linear model."
        )
    dense = getattr(model.coef_, "toarray", lambda: model.coef_)
    weights = np.asarray(dense(), dtype=np.float64).T
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    # One number, or one for each output; 0.0 without an intercept.
    bias = np.asarray(model.intercept_, dtype=np.float64)
    bias = np.broadcast_to(bias, weights.shape[1:]) if weights.ndim > 1 else bias.reshape(-1)[0]
    own = getattr(model, "decision_function", None) or getattr(model, "predict", None)
    refuse_other(model, own, (weights, bias), lambda x: x @ weights + bias)
    return weights, bias


def _samples(weights: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
    """Random samples near 0, and near where each of the first outputs is 0, however large the intercept is.

    There a sigmoid or exponential is far from flat: far away every such function is 0 or 1.
    """
    columns = weights.reshape(len(weights), -1)[:, :_OUTPUTS]
    squares = np.maximum((columns**2).sum(axis=0), np.finfo(np.float64).tiny)
    zeros = (columns * (-np.reshape(bias, -1)[:_OUTPUTS] / squares)).T
    centres = np.vstack([np.zeros(len(weights)), zeros[np.isfinite(zeros).all(axis=1)]])
    near = np.random.default_rng(0).uniform(-1, 1, (len(centres), _SAMPLES, len(weights)))
    near /= max(1.0, np.abs(columns).sum())
    return np.concatenate(list(near + centres[:, None]))


def refuse_other(model: Any, own: Any, parts: tuple[NDArray[Any], NDArray[Any]], read: Callable[[Any], Any]) -> None:
    """Compare what a model computes itself with what was read of its weights and bias, on random samples.

    Raises
    ------
    ParameterError
        If they differ.
    """
    if own is None:
        return
    samples = _samples(*parts)
    with warnings.catch_warnings():
        # A model that was fitted on a table warns of samples without names.
        warnings.simplefilter("ignore")
        expected = np.asarray(own(samples))
    found = np.asarray(read(samples))
    limit = _CLOSE * max(1.0, float(np.abs(expected).max()))
    if expected.size != found.size or not np.abs(expected.reshape(found.shape) - found).max() <= limit:
        raise ParameterError(
            f"This {type(model).__name__} computes something else than x @ coef_.T + intercept_, with a sigmoid if it "
            f"is logistic: {expected.flat[0]:.6g} and not {found.flat[0]:.6g} for one sample; take its linear part, "
            "ml.Linear(model.coef_.T, model.intercept_), and compute the rest after it, or train a linear model."
        )
