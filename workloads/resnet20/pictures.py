"""Pictures of 32 x 32 pixels in three colours: scikit-learn's digits, enlarged and coloured, on soft textures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workloads.common import WorkloadError, needed
from workloads.mnist import pictures

__all__ = ["SHAPE", "coloured", "read_pixels"]

SHAPE = (3, 32, 32)
_PIXELS = 3 * 32 * 32
_TEXTURE = 4
"""The rows of a texture before it is enlarged."""


def coloured(training: bool, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The digits for training or for tests, of shape (pictures, 3, 32, 32) with values of 0 to 1, and their labels."""
    digits, labels = pictures.digits(training)
    side = pictures.SIDE
    edge = ((0, 0), ((32 - side) // 2,) * 2, ((32 - side) // 2,) * 2)
    ink = np.pad(digits.reshape(-1, side, side), edge)[:, None]
    random = np.random.default_rng(seed)
    place = np.clip((np.arange(32) + 0.5) * _TEXTURE / 32 - 0.5, 0, _TEXTURE - 1)
    weights = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(_TEXTURE)))
    texture = weights @ random.uniform(0, 0.2, (len(ink), 3, _TEXTURE, _TEXTURE)) @ weights.T
    colour = random.uniform(0.7, 1, (len(ink), 3, 1, 1))
    return texture * (1 - ink) + colour * ink, labels


def read_pixels(path: Path) -> NDArray[np.float64]:
    """Read pictures: a line each, of 3,072 numbers from 0 to 1, one colour after the other.

    Raises
    ------
    WorkloadError
        If the file is missing or has something else.
    """
    lines = needed(path, "the harness's generate_input").read_text().splitlines()
    try:
        found = np.array([[float(word) for word in line.split()] for line in lines if line.strip()])
    except ValueError:
        found = np.empty((0, 0))
    if found.ndim != 2 or found.shape[1] != _PIXELS or not ((found >= 0) & (found <= 1)).all():
        raise WorkloadError(
            f"{path} does not have a picture a line, of {_PIXELS} numbers from 0 to 1; make the data again."
        )
    return found.reshape(-1, *SHAPE)
