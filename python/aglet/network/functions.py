"""What layers of torch are called, and the functions that they compute. Torch is not imported."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTIVATIONS", "NOTHING", "activation", "numbers", "sigmoid"]


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return 1 / (1 + np.exp(-x))


def _elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "ELU": _elu,
    "ReLU": lambda x: np.maximum(x, 0),
    "Sigmoid": sigmoid,
    "SiLU": lambda x: x * sigmoid(x),
    "Softplus": _softplus,
    "Tanh": np.tanh,
}
"""The activations of torch, with their default arguments."""
_PARAMETERS = {"ELU": ("alpha",), "Softplus": ("beta", "threshold")}
NOTHING = ("Dropout", "Flatten", "Identity")
"""Layers that do nothing here."""


def activation(layer: Any) -> Callable[[Any], Any]:
    """The function of an activation of torch, with the parameters that the layer has."""
    kind = type(layer).__name__
    given = {name: float(getattr(layer, name)) for name in _PARAMETERS.get(kind, ()) if hasattr(layer, name)}
    return functools.partial(ACTIVATIONS[kind], **given) if given else ACTIVATIONS[kind]


def numbers(tensor: Any) -> NDArray[np.float64]:
    """The numbers of a tensor of torch, or of an array."""
    for step in ("detach", "double", "cpu", "numpy"):
        tensor = getattr(tensor, step, lambda now=tensor: now)()
    return np.asarray(tensor, dtype=np.float64)
