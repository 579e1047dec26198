"""What layers of torch are called, and the functions that they compute. Torch is not imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTIVATIONS", "NOTHING", "numbers", "sigmoid"]


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return 1 / (1 + np.exp(-x))


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "ELU": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "ReLU": lambda x: np.maximum(x, 0),
    "Sigmoid": sigmoid,
    "SiLU": lambda x: x * sigmoid(x),
    "Softplus": lambda x: np.logaddexp(0, x),
    "Tanh": np.tanh,
}
"""The activations of torch, with their default arguments."""
NOTHING = ("Dropout", "Flatten", "Identity")
"""Layers that do nothing here."""


def numbers(tensor: Any) -> NDArray[np.float64]:
    """The numbers of a tensor of torch, or of an array."""
    for step in ("detach", "double", "cpu", "numpy"):
        tensor = getattr(tensor, step, lambda now=tensor: now)()
    return np.asarray(tensor, dtype=np.float64)
