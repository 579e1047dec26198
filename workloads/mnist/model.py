"""The network: 784-128-64-10, and between its layers the square `(x + c)^2`, with c in the bias.

`classify` is the network in the clear, in doubles. Weights are stored in half precision: the network is the one of the
stored weights.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workloads.common import WorkloadError, load_weights, needed

__all__ = ["SHAPES", "Vector", "Weights", "classify", "load", "read_pixels", "save"]

PIXELS = 784
SHAPES = ((128, PIXELS), (64, 128), (10, 64))
SHIPPED = Path(__file__).with_name("weights.npz")

Vector = NDArray[np.float64]
Weights = list[tuple[Vector, Vector]]
"""The matrix (outputs x inputs) and the bias of each layer."""


def load(path: Path = SHIPPED, maker: str = "workloads/mnist/train.py") -> Weights:
    """Read weights.

    Raises
    ------
    WorkloadError
        If the file is missing, damaged, or of another network.
    """
    again = f"run {maker} again"
    found: Weights = []
    load_weights(path, maker, lambda parts: found.extend((parts[f"w{i}"], parts[f"b{i}"]) for i in range(len(SHAPES))))
    if any(w.shape != shape or b.shape != shape[:1] for (w, b), shape in zip(found, SHAPES, strict=True)):
        raise WorkloadError(f"{path} is of another network than 784-128-64-10; {again}.")
    if not all(np.isfinite(part).all() for layer in found for part in layer):
        raise WorkloadError(f"{path} has weights that are not finite; {again}.")
    return found


def save(path: Path, weights: Weights) -> None:
    """Write weights as they were shipped, in half precision."""
    names = [f"{kind}{i}" for i in range(len(weights)) for kind in "wb"]
    arrays = dict(zip(names, (part.astype(np.float16) for layer in weights for part in layer), strict=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def classify(weights: Weights, pixels: Vector) -> Vector:
    """The ten scores of each picture, a row each."""
    x = pixels
    for number, (matrix, bias) in enumerate(weights):
        x = x @ matrix.T + bias
        if number + 1 < len(weights):
            x = x * x
    return x


def read_pixels(path: Path) -> Vector:
    """Read pictures: a line each, of 784 numbers from 0 to 1.

    Raises
    ------
    WorkloadError
        If the file is missing or has something else.
    """
    again = f"a picture is a line of {PIXELS} numbers from 0 to 1; make the data again"
    lines = needed(path, "the harness's generate_input").read_text().splitlines()
    try:
        found = np.array([[float(word) for word in line.split()] for line in lines if line.strip()])
    except ValueError:
        raise WorkloadError(f"{path} has lines of different lengths, or words: {again}.") from None
    if found.ndim != 2 or found.shape[1] != PIXELS or not ((found >= 0) & (found <= 1)).all():
        raise WorkloadError(f"{path} has shape {found.shape}, or numbers outside of 0 to 1: {again}.")
    return found
