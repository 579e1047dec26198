"""The network under encryption: each layer is a linear map by diagonals, with baby steps and giant steps.

Both packings have *places* of `width` slots, and a rotation by a whole number of places moves all of them alike.

- `single`: 1,024 places of 8 slots. Slot `8 p + j` holds pixel `p + 16 j` of one picture, and 0 beyond 784. So one
  product serves 8 diagonals of the first layer: 16 products do 128 diagonals.
- `batch`: 64 places of 128 slots. Slot `128 f + i` holds number `f` of picture `i`, for 128 pictures; 784 pixels are 13
  ciphertexts of 64 numbers.

Layer 1 is at level 5. Every layer and every square takes one level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aglet import Ciphertext, Engine, FixedRotationKey, RelinearizationKey, SecretKey
from workloads.common import threads
from workloads.mnist.model import PIXELS, Vector, Weights

__all__ = [
    "SIZES",
    "Layer",
    "Network",
    "create_keys",
    "engine",
    "key_levels",
    "of_size",
    "pictures_per_call",
    "read",
    "write",
]

SIZES = ("single", "small", "medium", "large")
SLOTS, IMAGES, LEVEL = 8_192, 128, 5
_COPIES, _TURN = 8, 16
"""A single picture is written 8 times, each copy 16 pixels further."""
_SCALE = 64
"""Encrypted scores are divided by it, so that they are of the size of 1 at level 0."""


def engine() -> Engine:
    """N = 2^14 and 5 levels, of 128 bits of security."""
    return Engine(max_level=LEVEL, mode="parallel", thread_count=threads())


@dataclass(frozen=True)
class Layer:
    """A linear map. For output `o`, `sum_g turn(sum_ib weights * turn(input_i, b), g * giant)`, then the folds."""

    level: int
    """The level of its inputs."""
    baby: list[int]
    """Steps to the left of each input, in slots; the first is 0."""
    giant: int
    """The step to the left between two giant steps."""
    weights: list[list[list[Any]]]
    """By output, giant step, and turned input."""
    folds: list[int]
    """Steps to the left; after each, the sum with what was there."""
    biases: list[Vector]
    """By output."""


def key_levels(layers: list[Layer]) -> dict[int, int]:
    """The steps to the left that a network needs, each with the highest level at which it is used."""
    found: dict[int, int] = {}
    for layer in layers:
        for step in layer.baby[1:]:
            found[step] = max(found.get(step, 0), layer.level)
        for step in (layer.giant, *layer.folds):
            found[step] = max(found.get(step, 0), layer.level - 1)
    return found


def single(weights: Weights) -> list[Layer]:
    """The layers for one picture. A result is in the first slot of each place; what the others hold does not matter."""
    place, copy = np.divmod(np.arange(SLOTS), _COPIES)
    (w1, b1), (w2, b2), (w3, b3) = _scaled(weights)
    padded = np.pad(w1, ((0, 0), (0, 1_024 - PIXELS)))

    def first(diagonal: int) -> Vector:
        found: Vector = padded[place % 128, (place + _TURN * copy + diagonal) % 1_024]
        return found

    def later(matrix: Vector, rows: int) -> list[list[Vector]]:
        matrix = np.pad(matrix, ((0, rows - len(matrix)), (0, 0)))
        columns = [(place + diagonal) % matrix.shape[1] for diagonal in range(rows)]
        return [[np.where(copy == 0, matrix[place % rows, column], 0.0)] for column in columns]

    def bias(values: Vector, rows: int) -> list[Vector]:
        padded = np.pad(values, (0, rows - len(values)))
        return [np.where(copy == 0, padded[place % rows], 0.0)]

    def layer(level: int, diagonals: list[list[Vector]], folds: list[int], biases: list[Vector]) -> Layer:
        baby_count = math.isqrt(len(diagonals))
        return _with_giants(level, baby_count, _COPIES, [diagonals], folds, biases)

    diagonals = [[first(diagonal)] for diagonal in range(_TURN)]
    return [
        layer(LEVEL, diagonals, [1, 2, 4, 1_024, 2_048, 4_096], bias(b1, 128)),
        layer(LEVEL - 2, later(w2, 64), [512], bias(b2, 64)),
        layer(LEVEL - 4, later(w3, 16), [128, 256], bias(b3, 16)),
    ]


def _scaled(weights: Weights) -> Weights:
    *others, (matrix, bias) = weights
    return [*others, (matrix / _SCALE, bias / _SCALE)]


def _with_giants(
    level: int, baby_count: int, width: int, outputs: list[list[list[Vector]]], folds: list[int], biases: list[Vector]
) -> Layer:
    """Turn the diagonals of each giant step back, as the sum over its baby steps is turned afterwards."""
    giant = baby_count * width
    weights = [
        [
            [np.roll(d[b][i], g // baby_count * giant) for i in range(len(d[0])) for b in range(g, g + baby_count)]
            for g in range(0, len(d), baby_count)
        ]
        for d in outputs
    ]
    return Layer(level, [b * width for b in range(baby_count)], giant, weights, folds, biases)


def batch(weights: Weights) -> list[Layer]:
    """The layers for 128 pictures."""
    rows = np.repeat(np.arange(64), IMAGES)

    def layer(level: int, matrix: Vector, bias: Vector, diagonals: int) -> Layer:
        height, width = (-(-length // 64) * 64 for length in matrix.shape)
        matrix = np.pad(matrix, ((0, height - len(matrix)), (0, width - matrix.shape[1])))
        period = np.arange(64) % diagonals
        blocks = [
            [
                [matrix[64 * o + period, 64 * i + (np.arange(64) + d) % 64][rows] for i in range(width // 64)]
                for d in range(diagonals)
            ]
            for o in range(height // 64)
        ]
        folds = [IMAGES * fold for fold in (16, 32) if fold >= diagonals]
        padded = np.pad(bias, (0, height - len(bias))).reshape(-1, 64)
        return _with_giants(level, 8, IMAGES, blocks, folds, [part[period][rows] for part in padded])

    (w1, b1), (w2, b2), (w3, b3) = _scaled(weights)
    return [layer(LEVEL, w1, b1, 64), layer(LEVEL - 2, w2, b2, 64), layer(LEVEL - 4, w3, b3, 16)]


def pictures_per_call(size: str) -> int:
    """How many pictures a call of the network takes. Few pictures go one by one: a batch has 19 times the weights."""
    return 1 if size in ("single", "small") else IMAGES


def of_size(size: str, weights: Weights) -> list[Layer]:
    """The layers for a size of the harness."""
    return single(weights) if pictures_per_call(size) == 1 else batch(weights)


def write(size: str, pixels: Vector) -> list[list[Vector]]:
    """The slots of all pictures: by call of the network, and by ciphertext."""
    if pictures_per_call(size) == 1:
        return [[write_single(picture)] for picture in pixels]
    return [write_batch(pixels[first : first + IMAGES]) for first in range(0, len(pixels), IMAGES)]


def read(size: str, slots: list[Vector], count: int) -> Vector:
    """The ten scores of `count` pictures, a row each, from the slots of all calls."""
    if pictures_per_call(size) == 1:
        return np.concatenate([read_single(one) for one in slots])
    return np.concatenate([read_batch(one) for one in slots])[:count]


def write_single(pixels: Vector) -> Vector:
    """The slots of one picture."""
    place, copy = np.divmod(np.arange(SLOTS), _COPIES)
    padded = np.pad(pixels, (0, 1_024 - PIXELS))
    found: Vector = padded[(place + _TURN * copy) % 1_024]
    return found


def write_batch(pixels: Vector) -> list[Vector]:
    """The slots of up to 128 pictures, 64 pixels a ciphertext."""
    padded = np.pad(pixels, ((0, IMAGES - len(pixels)), (0, -PIXELS % 64)))
    return list(padded.T.reshape(-1, SLOTS))


def read_single(slots: Vector) -> Vector:
    """The ten scores of one picture, a row."""
    return slots[: 10 * _COPIES : _COPIES].reshape(1, 10) * _SCALE


def read_batch(slots: Vector) -> Vector:
    """The ten scores of 128 pictures, a row each."""
    return slots.reshape(64, IMAGES)[:10].T * _SCALE


class Network:
    """A network with the keys of the server."""

    def __init__(
        self, engine: Engine, layers: list[Layer], keys: dict[int, FixedRotationKey], relin: RelinearizationKey
    ) -> None:
        self.engine, self.layers, self.keys, self.relin = engine, layers, keys, relin
        self.inputs = len(layers[0].weights[0][0]) // len(layers[0].baby)
        """How many ciphertexts a call takes."""

    def __call__(self, inputs: list[Ciphertext]) -> Ciphertext:
        """The encrypted scores."""
        for number, layer in enumerate(self.layers):
            if number:
                inputs = [self.engine.square(x, self.relin) for x in inputs]
            inputs = self._apply(layer, inputs)
        return inputs[0]

    def _apply(self, layer: Layer, inputs: list[Ciphertext]) -> list[Ciphertext]:
        keys = [self.keys[step] for step in layer.baby[1:]]
        turned = [one for x in inputs for one in (x, *self.engine.rotate_batch(x, keys))]
        found = []
        for weights, bias in zip(layer.weights, layer.biases, strict=True):
            total = self.engine.weighted_sum(turned, weights[-1])
            for part in weights[-2::-1]:
                total = self.engine.rotate(total, self.keys[layer.giant])
                total = self.engine.add(total, self.engine.weighted_sum(turned, part))
            for fold in layer.folds:
                total = self.engine.add(total, self.engine.rotate(total, self.keys[fold]))
            found.append(self.engine.add(total, bias))
        return found

    def encoded(self) -> Network:
        """The same with its weights encoded once, for several batches."""

        def encode(layer: Layer, parts: list[list[Any]]) -> list[list[Any]]:
            return [[self.engine.encode_weights(weights, layer.level) for weights in part] for part in parts]

        layers = [replace(layer, weights=[encode(layer, parts) for parts in layer.weights]) for layer in self.layers]
        return Network(self.engine, layers, self.keys, self.relin)


def create_keys(engine: Engine, secret_key: SecretKey, layers: list[Layer]) -> Iterator[FixedRotationKey]:
    """The rotation keys of a network, in the order of their steps."""
    for step, level in sorted(key_levels(layers).items()):
        yield engine.create_fixed_rotation_key(secret_key, -step, level)
