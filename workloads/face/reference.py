"""CryptoFace in plain numpy as it is trained, with three batch norms for each activation (Ao and Boddeti, CVPR 2025).

A state has the names of the published checkpoint. `seeded` draws one: random weights, and the means and variances that
batch norms have on a sample. `workloads.face.model` is the same network as the server computes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aglet.network.layers import AveragePool, Convolution

__all__ = ["EPS", "NETS", "POOLED", "Shape", "State", "embeddings", "seeded"]

State = dict[str, NDArray[np.float64]]
Tensor = NDArray[np.float64]
NETS, POOLED, EPS = 4, 2, 1e-5
"""The patches of a picture; the rows that the last pool leaves; what batch norms add to variances."""
_WIDER = 25.0
"""Variances of second polynomials are larger by this: random weights do not learn to keep eleven squares in a row from
running away on pictures that the sample does not have."""


@dataclass(frozen=True)
class Shape:
    """The sizes of the network."""

    side: int = 32
    """The rows of a patch."""
    channels: tuple[int, ...] = (16, 16, 32, 32, 64, 64)
    """Of the first convolution, and of the blocks. A block with more channels than before halves rows and columns."""
    outputs: int = 256
    """The length of an embedding."""


def seeded(shape: Shape, sample: Tensor, seed: int) -> State:
    """Weights by the initialization of the published code, and batch norms as on a sample of patches.

    Parameters
    ----------
    sample
        An array of shape (4, pictures, 3, rows, columns).
    """
    random = np.random.default_rng(seed)
    state: State = {}

    def convolution(name: str, outputs: int, inputs: int, size: int) -> None:
        deviation = math.sqrt(2 / (outputs * size**2))
        state[f"{name}.weight"] = random.normal(0, deviation, (outputs, inputs, size, size))

    def affine(name: str, channels: int, dimensions: tuple[int, ...]) -> None:
        state[f"{name}.weight"] = random.uniform(0.5, 1, (channels, *dimensions))
        state[f"{name}.bias"] = random.normal(0, 0.1, (channels, *dimensions))

    for net in range(NETS):
        before = shape.channels[0]
        convolution(f"nets.{net}.conv", before, 3, 3)
        for number, after in enumerate(shape.channels[1:]):
            block = f"nets.{net}.layers.{number}"
            affine(f"{block}.herpn1", before, (1, 1))
            convolution(f"{block}.conv1", after, before, 3)
            affine(f"{block}.herpn2", after, (1, 1))
            convolution(f"{block}.conv2", after, after, 3)
            if after != before:
                convolution(f"{block}.shortcut.0", after, before, 1)
                affine(f"{block}.shortcut.1", after, ())
            before = after
        affine(f"nets.{net}.herpnpool.herpn", before, (1, 1))
        affine(f"nets.{net}.bn", before * POOLED**2, ())
    features = NETS * shape.channels[-1] * POOLED**2
    state["linear.weight"] = random.normal(0, math.sqrt(2 / shape.outputs), (shape.outputs, features))
    state["linear.bias"] = random.normal(0, 0.1, shape.outputs)
    state = {name: _single(part) for name, part in state.items()}
    _Forward(state, recording=True).embeddings(sample)
    return state


def embeddings(state: State, sample: Tensor) -> Tensor:
    """The embeddings of pictures, a row each, of patches of shape (4, pictures, 3, rows, columns)."""
    return _Forward(state, recording=False).embeddings(sample)


class _Forward:
    """The network on plain numbers. If it is recording, batch norms take what they meet, and keep it."""

    def __init__(self, state: State, recording: bool) -> None:
        self._state, self._recording = state, recording

    def embeddings(self, sample: Tensor) -> Tensor:
        """See `embeddings`."""
        features = np.hstack([self._features(f"nets.{net}", x) for net, x in enumerate(sample)])
        made = features @ self._state["linear.weight"].T + self._state["linear.bias"]
        return self._norm("bn", made)

    def _features(self, net: str, x: Tensor) -> Tensor:
        x = self._convolution(f"{net}.conv", x, 1)
        number = 0
        while f"{net}.layers.{number}.conv1.weight" in self._state:
            x = self._block(f"{net}.layers.{number}", x)
            number += 1
        x = self._herpn(f"{net}.herpnpool.herpn", x)
        pooled = AveragePool(x.shape[-1] // POOLED)(x)
        return self._affine(f"{net}.bn", self._norm(f"{net}.bn", pooled.reshape(len(x), -1)))

    def _block(self, name: str, x: Tensor) -> Tensor:
        short = f"{name}.shortcut"
        stride = 2 if f"{short}.0.weight" in self._state else 1
        x = self._herpn(f"{name}.herpn1", x)
        inner = self._herpn(f"{name}.herpn2", self._convolution(f"{name}.conv1", x, stride))
        made = self._convolution(f"{name}.conv2", inner, 1)
        if stride == 1:
            return made + x
        return made + self._affine(f"{short}.1", self._norm(f"{short}.1", self._convolution(f"{short}.0", x, stride)))

    def _herpn(self, name: str, x: Tensor) -> Tensor:
        """The Hermite polynomials of degree 0, 1 and 2, each with its batch norm, by their weights in ReLU."""
        zero = self._norm(f"{name}.bn0", np.ones_like(x)) / math.sqrt(2 * math.pi)
        first = self._norm(f"{name}.bn1", x) / 2
        second = self._norm(f"{name}.bn2", (x**2 - 1) / math.sqrt(2)) / math.sqrt(4 * math.pi)
        return self._affine(name, zero + first + second)

    def _convolution(self, name: str, x: Tensor, stride: int) -> Tensor:
        weights = self._state[f"{name}.weight"]
        return Convolution(weights, stride=stride, padding=weights.shape[-1] // 2)(x)

    def _affine(self, name: str, x: Tensor) -> Tensor:
        weight, bias = (_beside(self._state[f"{name}.{part}"], x) for part in ("weight", "bias"))
        return weight * x + bias

    def _norm(self, name: str, x: Tensor) -> Tensor:
        if self._recording:
            others = tuple(axis for axis in range(x.ndim) if axis != 1)
            self._state[f"{name}.running_mean"] = _single(x.mean(axis=others))
            wider = _WIDER if name.endswith("bn2") else 1.0
            self._state[f"{name}.running_var"] = _single(x.var(axis=others) * wider)
        mean, variance = (_beside(self._state[f"{name}.running_{part}"], x) for part in ("mean", "var"))
        made: Tensor = (x - mean) / np.sqrt(variance + EPS)
        return made


def _beside(numbers: Tensor, x: Tensor) -> Tensor:
    """Numbers of channels, for tensors whose second axis these are."""
    return numbers.reshape(-1, *(1,) * (x.ndim - 2))


def _single(numbers: Tensor) -> Tensor:
    """Numbers that a file of single precision keeps."""
    return numbers.astype(np.float32).astype(np.float64)
