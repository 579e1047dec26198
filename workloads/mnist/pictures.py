"""Pictures of digits with their labels: MNIST's own files, or those of scikit-learn, enlarged to 28 x 28."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workloads.common import WorkloadError

__all__ = ["Labelled", "digits", "idx", "shifted"]

SIDE = 28
TRAINING = 1_200
"""How many of scikit-learn's 1,797 digits are for training; the others are for tests."""

Labelled = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Pictures, a row of 784 pixels each, and labels."""


def digits(training: bool) -> Labelled:
    """The digits of scikit-learn (8 x 8), enlarged linearly: the first 1,200 for training, or the last 597."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise WorkloadError("This data comes with scikit-learn, which is missing; install Aglet's extra dev.") from None
    pictures, labels = load_digits(return_X_y=True)
    place = np.clip((np.arange(SIDE) + 0.5) * 8 / SIDE - 0.5, 0, 7)
    weights = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(8)))
    large = (weights @ (pictures.reshape(-1, 8, 8) / 16) @ weights.T).reshape(-1, SIDE * SIDE)
    part = slice(None, TRAINING) if training else slice(TRAINING, None)
    return large[part], labels[part].astype(np.int64)


def idx(folder: Path, training: bool) -> Labelled:
    """MNIST from its four files of the format IDX, packed by gzip or not.

    Raises
    ------
    WorkloadError
        If a file is missing or is something else.
    """
    name = "train" if training else "t10k"
    pictures = _idx_file(folder / f"{name}-images-idx3-ubyte", 3)
    labels = _idx_file(folder / f"{name}-labels-idx1-ubyte", 1)
    if pictures.shape[1:] != (SIDE, SIDE) or len(pictures) != len(labels):
        raise WorkloadError(f"The files {name}-* in {folder} do not belong together; copy MNIST there again.")
    return pictures.reshape(-1, SIDE * SIDE) / 255, labels.astype(np.int64)


def _idx_file(path: Path, dimensions: int) -> NDArray[np.uint8]:
    packed = path.with_name(f"{path.name}.gz")
    if not path.is_file() and not packed.is_file():
        raise WorkloadError(f"{path} is missing; copy the four files of MNIST there.")
    data = path.read_bytes() if path.is_file() else gzip.decompress(packed.read_bytes())
    head = 4 + 4 * dimensions
    if len(data) < head or data[:4] != bytes([0, 0, 8, dimensions]):
        raise WorkloadError(f"{path} is no file of bytes in {dimensions} dimensions; copy MNIST there again.")
    shape = struct.unpack(f">{dimensions}I", data[4:head])
    if len(data) - head != int(np.prod(shape)):
        raise WorkloadError(f"{path} ends too early or too late; copy MNIST there again.")
    return np.frombuffer(data, np.uint8, offset=head).reshape(shape)


def shifted(pictures: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Each picture, moved by at most one pixel in both directions."""
    framed = np.pad(pictures.reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    moved = [framed[:, i : i + SIDE, j : j + SIDE] for i in range(3) for j in range(3)]
    chosen = rng.integers(0, 9, len(pictures))
    return np.stack(moved)[chosen, np.arange(len(pictures))].reshape(-1, SIDE * SIDE)
