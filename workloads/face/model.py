"""CryptoFace as the server computes it: a network of squares for each patch, and the score of two embeddings.

An activation is a polynomial of degree 2 of each channel. Its factor joins the linear layer behind it, so that a square
with a shift and a constant is left. All batch norms join linear layers.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import ml
from aglet.network.layers import INPUT, Add, AveragePool, BatchNorm, Convolution, Dense, Square
from workloads.common import load_weights
from workloads.face import pictures
from workloads.face.reference import EPS, NETS, POOLED, Shape, State, embeddings, seeded

__all__ = ["Score", "architecture", "file", "load", "networks", "sample", "save", "score_of", "shape", "weights"]

Layers = dict[str, tuple[Any, ...]]
Tensor = NDArray[np.float64]
_SEED, _PAIRS, _MARGIN = 2_611, 32, 2.0
"""The pairs whose ranges networks are fitted on, and how much wider: few pictures do not show all."""


def shape(size: str) -> Shape:
    """The sizes of the network: CryptoFaceNet4, or a small one for tests."""
    return Shape(side=8, channels=(2, 2, 4, 4, 8, 8), outputs=16) if size == "toy" else Shape()


def file(size: str) -> str:
    """The name of the file of weights: sizes differ by the number of pairs, but for the small network."""
    return "toy.npz" if size == "toy" else "weights.npz"


@functools.cache
def sample(size: str) -> Tensor:
    """Patches of drawn faces, of shape (4, pictures, 3, rows, columns). Pictures of a pair are neighbours."""
    side = shape(size).side
    drawn = [one for pair in pictures.drawn(_PAIRS, _SEED)[0] for one in pair]
    return pictures.patches(np.array([pictures.prepared(one, 2 * side) for one in drawn]), side)


@functools.cache
def weights(size: str) -> State:
    """Seeded weights: nothing is learnt, and no accuracy is claimed."""
    return seeded(shape(size), sample(size), _SEED)


def save(path: Path, state: State) -> None:
    """Write a state, in single precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{name: part.astype(np.float32) for name, part in state.items()})  # type: ignore[arg-type]


def load(path: Path, maker: str, size: str) -> State:
    """Read a state.

    Raises
    ------
    WorkloadError
        If the file is missing or damaged.
    """

    def nets(found: State) -> list[Layers]:
        return [architecture(found, net, shape(size).side) for net in range(NETS)]

    return load_weights(path, maker, nets)


def architecture(state: State, net: int, side: int) -> Layers:
    """The layers for the patch of this number and so many rows: a part of the embedding, which is the sum of all."""
    name = f"nets.{net}"
    made: Layers = {"first": (Convolution(state[f"{name}.conv.weight"], padding=1), INPUT)}
    at, number = "first", 0
    while f"{name}.layers.{number}.conv1.weight" in state:
        at = _block(made, state, f"{name}.layers.{number}", at)
        side //= 2 if f"{name}.layers.{number}.shortcut.0.weight" in state else 1
        number += 1
    square, factor = _herpn(state, f"{name}.herpnpool.herpn")
    made["square"] = (square, at)
    made["pool"] = (AveragePool(side // POOLED), "square")
    made["embedding"] = (_dense(state, net, np.repeat(factor, POOLED**2)), "pool")
    return made


def _block(made: Layers, state: State, name: str, before: str) -> str:
    """Two activations and convolutions beside a shortcut."""
    short, label = f"{name}.shortcut", f"block {name.rsplit('.', 1)[1]}"
    stride = 2 if f"{short}.0.weight" in state else 1
    outer, factor = _herpn(state, f"{name}.herpn1")
    inner, within = _herpn(state, f"{name}.herpn2")
    made[f"{label} outer"] = (outer, before)
    made[f"{label} conv 1"] = (_convolution(state, f"{name}.conv1", factor, stride), f"{label} outer")
    made[f"{label} inner"] = (inner, f"{label} conv 1")
    made[f"{label} conv 2"] = (_convolution(state, f"{name}.conv2", within, 1), f"{label} inner")
    beside: Any = BatchNorm(factor, np.zeros(len(factor)))
    if stride > 1:
        beside = _convolution(state, f"{short}.0", factor, stride).scaled(*_affine(state, f"{short}.1"))
    made[f"{label} short"] = (beside, f"{label} outer")
    made[f"{label} sum"] = (Add(), f"{label} conv 2", f"{label} short")
    return f"{label} sum"


def _convolution(state: State, name: str, factor: Tensor, stride: int) -> Convolution:
    """A convolution behind an activation whose factors it takes."""
    kernel = state[f"{name}.weight"]
    return Convolution(kernel * factor[:, None, None], stride=stride, padding=kernel.shape[-1] // 2)


def _herpn(state: State, name: str) -> tuple[Square, Tensor]:
    """`a2 x^2 + a1 x + a0` of each channel as a square and the factor a2 behind it."""
    weight, bias = (state[f"{name}.{part}"].ravel() for part in ("weight", "bias"))
    (mean0, deviation0), (mean1, deviation1), (mean2, deviation2) = (_moments(state, f"{name}.bn{n}") for n in range(3))
    a2 = weight / (math.sqrt(8 * math.pi) * deviation2)
    a1 = weight / (2 * deviation1)
    constant = (1 - mean0) / (math.sqrt(2 * math.pi) * deviation0) - mean1 / (2 * deviation1)
    a0 = bias + weight * constant - a2 * (1 + math.sqrt(2) * mean2)
    shift = a1 / (2 * a2)
    return Square(shift, a0 / a2 - shift**2), a2


def _moments(state: State, name: str) -> tuple[Tensor, Tensor]:
    return state[f"{name}.running_mean"], np.sqrt(state[f"{name}.running_var"] + EPS)


def _affine(state: State, name: str) -> tuple[Tensor, Tensor]:
    """Factor and shift of a batch norm."""
    mean, deviation = _moments(state, name)
    factor = state[f"{name}.weight"] / deviation
    return factor, state[f"{name}.bias"] - factor * mean


def _dense(state: State, net: int, before: Tensor) -> Dense:
    """The part of the linear layer for a patch, between the batch norm of its features and that of the embedding."""
    mean, deviation = _moments(state, "bn")
    part = np.split(state["linear.weight"], NETS, axis=1)[net] / deviation[:, None]
    factor, shift = _affine(state, f"nets.{net}.bn")
    bias = (state["linear.bias"] - mean) / deviation / NETS
    return Dense(part * (factor * before), bias + part @ shift)


@dataclass(frozen=True)
class Score:
    """How two embeddings become a score: `<x, y> n(|x|^2) n(|y|^2)`, where `n(t) = a t^2 + b t + c` is near 1/sqrt(t).

    With embeddings divided by `bound` it is `factor <x, y> m(|x|^2) m(|y|^2)`, where `m(t) = (t + shift)^2 + constant`.
    """

    coefficients: tuple[float, float, float]
    """a, b and c."""
    bound: float
    """Twice the length of a typical embedding: no number in one is larger."""

    @classmethod
    def fit(cls, vectors: Tensor) -> Score:
        """The parabola through 1/sqrt at the mean of the squared lengths and a deviation to each side, as published."""
        lengths = (vectors**2).sum(axis=1)
        mean, deviation = lengths.mean(), lengths.std()
        at = np.array([mean - deviation, mean, mean + deviation])
        a, b, c = np.linalg.solve(np.vander(at, 3), 1 / np.sqrt(at)).tolist()
        return cls((a, b, c), 2 * math.sqrt(mean))

    @property
    def shift(self) -> float:
        """See the class."""
        a, b, _ = self.coefficients
        return b / (2 * a) / self.bound**2

    @property
    def constant(self) -> float:
        """See the class."""
        a, _, c = self.coefficients
        return c / a / self.bound**4 - self.shift**2

    @property
    def factor(self) -> float:
        """See the class."""
        return float((self.coefficients[0] * self.bound**5) ** 2)

    def of(self, first: Tensor, second: Tensor) -> Tensor:
        """The scores of rows in the clear."""
        norms = [np.polyval(self.coefficients, (x**2).sum(axis=1)) for x in (first, second)]
        made: Tensor = (first * second).sum(axis=1) * norms[0] * norms[1]
        return made

    def error(self, first: Tensor, second: Tensor, outputs: float) -> float:
        """An error that scores of embeddings like these hardly exceed, if the outputs of networks have this error.

        A network's errors may all point one way: their length is then the square root of their number as large. Those
        of the four networks are independent.
        """
        slopes = np.zeros(len(first))
        for x, y in ((first, second), (second, first)):
            lengths = (x**2).sum(axis=1), (y**2).sum(axis=1)
            norm, other = (np.polyval(self.coefficients, t) for t in lengths)
            slope = np.polyval(np.polyder(np.array(self.coefficients)), lengths[0])
            inner = (x * y).sum(axis=1)
            total = (norm * other)[:, None] * y + (2 * inner * slope * other)[:, None] * x
            slopes += np.sqrt((total**2).sum(axis=1))
        return float(slopes.max() * math.sqrt(NETS * first.shape[1]) * outputs)


@functools.cache
def score_of(size: str) -> Score:
    """The score of a size, fitted on the sample."""
    return Score.fit(embeddings(weights(size), sample(size)))


def networks(size: str, state: State | None = None) -> list[ml.Network]:
    """The networks of the patches, with common bounds of inputs and outputs."""
    found, bound, side = weights(size) if state is None else state, score_of(size).bound, shape(size).side
    fitted = (ml.Network.fit(architecture(found, net, side), sample(size)[net], margin=_MARGIN) for net in range(NETS))
    return [one.bounded(input=1.0, output=bound) for one in fitted]
