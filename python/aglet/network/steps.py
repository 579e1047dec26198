"""The steps of a network on ciphertexts: what each computes, costs, and adds of noise."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from aglet.arrays.blocks import in_blocks
from aglet.ckks.maps import GIANT, MapCut
from aglet.errors import MemoryLimitError
from aglet.forecast import Operations
from aglet.network.keys import in_pairs
from aglet.network.layers import Convolution, Dense, Square
from aglet.network.packing import Packing, diagonals

__all__ = ["MapStep", "PolynomialStep", "ProductStep", "SquareStep", "Step", "SumStep"]

Tensor = NDArray[np.float64]
_ENDS, _POWERS = 1.7, 0.6
"""The roundings of a sum in the Chebyshev basis, and of each of its powers, as `aglet_bench` measured them."""
_MANY = 3
"""The ciphertexts for which a map is encoded before it is applied. For fewer, fresh memory takes more than it saves."""


class Step(Protocol):
    """What a program does with one value, or with two that meet."""

    @property
    def name(self) -> str:
        """The name of the layer."""

    @property
    def depth(self) -> int:
        """The levels that it uses."""

    def cost(self, work: Operations, level: int) -> float:
        """Seconds at a level, by the model."""

    def run(self, engine: Any, keys: Any, *inputs: list[Any]) -> list[Any]:
        """The results on ciphertexts at one level: of each input of the network one."""

    def clear(self, *inputs: Tensor) -> Tensor:
        """The result on tensors."""

    @property
    def noise(self) -> float:
        """The deviation of the error that it adds, in roundings."""


@dataclass(frozen=True, eq=False)
class MapStep:
    """A linear layer, with the pool before it if there is one: rotations, then one linear map."""

    name: str
    layer: Convolution | Dense
    """The layer between stored values."""
    before: Packing
    after: Packing
    pool: int
    """The size of the pool before it; 1 for none."""
    slots: int
    giant: int = GIANT
    """The baby steps that a giant step weighs; see `MapCut.of`."""
    depth: int = 1

    @cached_property
    def diagonals(self) -> dict[int, Tensor]:
        """The diagonals by offset, one period each."""
        return diagonals(self.layer, self.before.pooled(self.pool), self.after)

    @cached_property
    def cut(self) -> MapCut:
        """Its baby steps and giant steps."""
        return MapCut.of(self.diagonals, self.slots, self.giant)

    @property
    def sums(self) -> list[int]:
        """The rotations to the left of the pool."""
        return self.before.sums(self.pool)

    @property
    def rotations(self) -> set[int]:
        """All rotations to the left that need a key."""
        return {*self.cut.rotations, *self.sums}

    def cost(self, work: Operations, level: int) -> float:
        babies, giants = len(self.cut.babies - {0}), len(self.cut.giants) - 1
        words = sum(2 * len(diagonal) for diagonal in self.diagonals.values())
        made = work.linear_map(level, (babies, giants), (len(self.diagonals), words))
        return made + len(self.sums) * work.key_switch(level)

    def run(self, engine: Any, keys: Any, *inputs: list[Any]) -> list[Any]:
        (xs,) = inputs
        paired = keys.conjugation is not None and len(xs) > 1
        zs = [_merged(engine, pair) for pair in in_pairs(xs)] if paired else xs
        found = self._mapped(engine, keys, zs, 0.5 if paired else 1.0)
        if paired:
            found = [part for z in found for part in _split(engine, keys, z)][: len(xs)]
        if not self.layer.bias.any():
            return found
        bias = self.after.laid(self.layer.bias, self.slots)
        return [engine.add(x, bias) for x in found]

    def _mapped(self, engine: Any, keys: Any, xs: Sequence[Any], factor: float) -> list[Any]:
        """The map times a factor, of each ciphertext. It is encoded once for many if there is the memory."""
        for step in self.sums:
            xs = [engine.add(x, engine.rotate(x, keys.rotation(step, x.level))) for x in xs]
        level = xs[0].level
        key, diagonals = keys.map_key(self.cut, level), self.diagonals
        if factor != 1:
            diagonals = {offset: diagonal * factor for offset, diagonal in diagonals.items()}
        encoded: Any = diagonals
        if len(xs) >= _MANY:
            with contextlib.suppress(MemoryLimitError):
                encoded = engine.encode_map(diagonals, key, level)
        return [engine.linear_map(encoded, x, key) for x in xs]

    def clear(self, *inputs: Tensor) -> Tensor:
        (x,) = inputs
        rows, size = self.before.places.shape[1:], self.pool
        x = x.reshape(*x.shape[:2], rows[0] // size, size, rows[1] // size, size).sum(axis=(3, 5))
        return self.layer(x)

    @property
    def noise(self) -> float:
        # Roundings of baby steps and of the pool meet the weights, those of giant steps and of the rescale do not.
        weights = self.layer.weights.reshape(len(self.layer.weights), -1)
        met = float((weights**2).sum(axis=1).max()) * (1 + len(self.sums) * self.pool**2)
        # Two inputs have the halved map, whose roundings are doubled after it, and a conjugation.
        return float(np.sqrt(met + 4 * (len(self.cut.giants) + 2) + 1))


def _merged(engine: Any, xs: Sequence[Any]) -> Any:
    """Real values of two ciphertexts as the real and the imaginary parts of one."""
    if len(xs) == 1:
        return xs[0]
    return engine.add(xs[0], engine.multiply_imaginary_integer(xs[1], 1))


def _split(engine: Any, keys: Any, z: Any) -> list[Any]:
    """Twice the real and the imaginary parts."""
    other = engine.conjugate(z, keys.conjugation)
    return [engine.add(z, other), engine.multiply_imaginary_integer(engine.subtract(other, z), 1)]


@dataclass(frozen=True, eq=False)
class PolynomialStep:
    """A polynomial in the Chebyshev basis, for stored values in [-1, 1]."""

    name: str
    coefficients: Tensor

    @property
    def degree(self) -> int:
        """Its degree, at least 1."""
        return len(self.coefficients) - 1

    @property
    def depth(self) -> int:
        return self.degree.bit_length()

    def cost(self, work: Operations, level: int) -> float:
        return work.polynomial(self.degree, level)

    def run(self, engine: Any, keys: Any, *inputs: list[Any]) -> list[Any]:
        (xs,) = inputs
        return [engine.evaluate_chebyshev_polynomial(x, self.coefficients, keys.relinearization) for x in xs]

    def clear(self, *inputs: Tensor) -> Tensor:
        (x,) = inputs
        made: Tensor = in_blocks(lambda block: chebyshev.chebval(block, self.coefficients), x)
        return made

    @property
    def noise(self) -> float:
        # The error of a power grows with its degree, as its slope does.
        sizes = np.abs(self.coefficients)
        return float(_ENDS * np.sqrt(len(sizes)) + _POWERS * (sizes * np.arange(len(sizes))).sum())


@dataclass(frozen=True, eq=False)
class SquareStep:
    """`(x + shift)^2 + constant`."""

    name: str
    layer: Square
    """The layer between stored values."""
    packing: Packing
    slots: int
    depth: int = 1

    def cost(self, work: Operations, level: int) -> float:
        return work.product(level)

    def run(self, engine: Any, keys: Any, *inputs: list[Any]) -> list[Any]:
        (xs,) = inputs
        squared = [engine.square(self._plus(engine, x, self.layer.shift), keys.relinearization) for x in xs]
        return [self._plus(engine, x, self.layer.constant) for x in squared]

    def _plus(self, engine: Any, x: Any, numbers: Tensor) -> Any:
        if not numbers.any():
            return x
        return engine.add(x, float(numbers) if numbers.ndim == 0 else self.packing.laid(numbers, self.slots))

    def clear(self, *inputs: Tensor) -> Tensor:
        (x,) = inputs
        return self.layer(x)

    @property
    def noise(self) -> float:
        return 2.0


@dataclass(frozen=True)
class SumStep:
    """The sum of two branches."""

    name: str
    depth: int = 0

    def cost(self, work: Operations, level: int) -> float:
        return work.spent(pointwise=2 * work.limbs(level))

    def run(self, engine: Any, keys: Any, *inputs: list[Any]) -> list[Any]:
        return [engine.add(x, y) for x, y in zip(*inputs, strict=True)]

    def clear(self, *inputs: Tensor) -> Tensor:
        return inputs[0] + inputs[1]

    @property
    def noise(self) -> float:
        return 0.0


@dataclass(frozen=True)
class ProductStep:
    """The product of two branches."""

    name: str
    depth: int = 1

    def cost(self, work: Operations, level: int) -> float:
        return work.product(level)

    def run(self, engine: Any, keys: Any, *inputs: list[Any]) -> list[Any]:
        return [engine.multiply(x, y, keys.relinearization) for x, y in zip(*inputs, strict=True)]

    def clear(self, *inputs: Tensor) -> Tensor:
        return inputs[0] * inputs[1]

    @property
    def noise(self) -> float:
        return 2.0
