"""A model of the machine in the clear: what circuits give, and the bootstraps that they take, without keys.

It checks what circuits claim: every value lies in the range of its digit, and every sum where its table reads it. The
noise is that of sums of independent noises, by the formulas of the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.arrays.digits.live import check_bits
from aglet.arrays.digits.machine import MESSAGES, Machine, Tables
from aglet.errors import RangeError
from aglet.fhew.engine import FhewEngine

__all__ = ["Cells", "Model", "Words"]

_TORUS = 2 * MESSAGES


class Cells:
    """What stands for ciphertexts: messages modulo 32, and the largest variance of their noise."""

    __array_ufunc__ = None

    def __init__(self, values: Any, variance: float) -> None:
        self.values: NDArray[np.int64] = np.asarray(values, dtype=np.int64) % _TORUS
        self.variance = variance

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def size(self) -> int:
        return self.values.size

    def __getitem__(self, index: Any) -> Cells:
        return Cells(self.values[index], self.variance)

    def __len__(self) -> int:
        return len(self.values)

    def reshape(self, *shape: Any) -> Cells:
        return Cells(self.values.reshape(*shape), self.variance)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        given = [value for value in _leaves(args) if isinstance(value, Cells)]
        found = function(*_opened(args), **kwargs)
        most = max(value.variance for value in given)
        made = type(self)
        return [made(one, most) for one in found] if isinstance(found, list) else made(found, most)

    def __add__(self, other: Any) -> Cells:
        if isinstance(other, Cells):
            return Cells(self.values + other.values, self.variance + other.variance)
        return Cells(self.values + other, self.variance)

    def __sub__(self, other: Any) -> Cells:
        return self + (other * -1 if isinstance(other, Cells) else -other)

    def __mul__(self, factor: Any) -> Cells:
        return Cells(self.values * factor, self.variance * float(np.max(np.asarray(factor) ** 2, initial=0)))

    __radd__, __rmul__ = __add__, __mul__


class Words(Cells):
    """What stands for ciphertexts of numbers modulo a power of two, with their fractions."""

    def __init__(self, values: Any, variance: float) -> None:
        self.values, self.variance = np.asarray(values), variance


def _leaves(args: Any) -> Any:
    for value in args:
        yield from _leaves(value) if isinstance(value, list | tuple) else [value]


def _opened(args: Any) -> Any:
    return type(args)(
        value.values if isinstance(value, Cells) else _opened(value) if isinstance(value, list | tuple) else value
        for value in args
    )


class Model(Machine):
    """Lookup tables in the clear, with the noise of an engine."""

    def __init__(self, engine: FhewEngine, allowed: float = -128.0) -> None:
        super().__init__(check_bits(engine))
        self._allowed = allowed
        self._fresh, self._left = (engine.noise[name] ** 2 for name in ("fresh", "bootstrap"))

    @property
    def allowed(self) -> float:
        return self._allowed

    def encrypt(self, messages: Any) -> Cells:
        return Cells(messages, self._fresh)

    def decrypt(self, cells: Cells) -> NDArray[np.int64]:
        return cells.values

    def variance(self, cells: Cells) -> float:
        return cells.variance

    def compress(self, cells: Cells) -> Cells:
        if (cells.values >= MESSAGES).any():
            raise AssertionError("A sum is no message of four bits.")
        return cells

    def nearest_cells(self, words: Cells, count: int) -> Sequence[Cells]:
        whole = np.rint(words.values).astype(np.int64)
        # The highest bit of four comes from a bootstrap of its own.
        return [Cells(whole >> 2 * at & 3, (1 + at % 2) * self._left) for at in range(count)]

    def half_way(self, words: Cells, bits: int) -> float:
        return self.engine._core.half_way(bits, words.variance, self._allowed)

    def lookup(self, cells: Cells, tables: Tables) -> Sequence[Cells]:
        step, values = tables.step, cells.values
        if tables.kind == "sign":
            return [Cells(values < MESSAGES, self._left)]
        if (values % step).any() or (tables.kind == "table" and (values >= MESSAGES).any()):
            raise AssertionError("A sum is no message of its table.")
        index, sign = values % MESSAGES // step, np.where(values >= MESSAGES, -1, 1)
        left = [noise * self._left for noise in self.growth(tables, cells)]
        rows = [np.asarray(row) for row in tables.tables]
        return [Cells(row[index] * sign, noise) for row, noise in zip(rows, left, strict=True)]

    def lookup_tree(self, cells: Sequence[Cells], tables: list[bytes]) -> Sequence[Cells]:
        if any((one.values >= MESSAGES).any() for one in cells):
            raise AssertionError("A sum is no message of its table.")
        values, split = [one.values for one in cells], MESSAGES ** len(cells) > len(tables[0])
        most = max(one.variance for one in cells)
        cost = self.engine._counted("lookup_split" if split else "lookup2", cells[0].size, tables, {}, most)
        if cost.log2_failure > self.allowed:
            raise RangeError(
                f"A table of more than 16 places would fail with probability 2^{cost.log2_failure:.1f}, and at most "
                f'2^{self.allowed:.1f} is allowed; take FhewEngine(preset="wide").'
            )
        if split:
            values[-3:-1] = [4 * values[-3] + values[-2]]
        index = sum(one * MESSAGES**at for at, one in enumerate(reversed(values)))
        left = self.engine._core.tree_variance(tables, split)
        return [Cells(np.frombuffer(row, np.uint8)[index].astype(np.int64), left) for row in tables]
