"""Integers modulo 65537 in the clear, with the calls of `IntegerEngine` and its levels: for circuits of workloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClearIntegers", "Number"]

T = 65537


@dataclass(frozen=True)
class Number:
    """Slots at a level."""

    slots: NDArray[np.int64]
    level: int


class ClearIntegers:
    """Takes levels as ciphertexts do, and refuses what has none left. A fixed rotation key is its step to the left."""

    top = 8

    def encrypt(self, slots: Any, level: int = top) -> Number:
        return Number(np.asarray(slots) % T, level)

    def encode(self, slots: Any) -> Any:
        return np.asarray(slots) % T

    def add(self, x: Number, y: Any) -> Number:
        if isinstance(y, Number):
            return Number((x.slots + y.slots) % T, min(x.level, y.level))
        return Number((x.slots + y) % T, x.level)

    def negate(self, x: Number) -> Number:
        return Number(-x.slots % T, x.level)

    def multiply(self, x: Number, y: Any, relinearization_key: Any = None) -> Number:
        if isinstance(y, Number):
            return self._at(x.slots * y.slots % T, min(x.level, y.level) - 1)
        return Number(x.slots * y % T, x.level)

    def weighted_sum(self, ciphertexts: Any, weights: Any) -> Number:
        terms = [self.multiply(x, weight) for x, weight in zip(ciphertexts, weights, strict=True)]
        return Number(sum(x.slots for x in terms) % T, min(x.level for x in terms))

    def relinearize(self, x: Number, relinearization_key: Any) -> Number:
        return x

    def rescale(self, x: Number) -> Number:
        return self._at(x.slots, x.level - 1)

    def rotate_rows(self, x: Number, left: int) -> Number:
        return Number(np.roll(x.slots.reshape(2, -1), -left, axis=1).ravel(), x.level)

    def bootstrap(self, x: Number, bootstrap_key: Any) -> Number:
        return self._at(x.slots, x.level - 1) and Number(x.slots, self.top)

    @staticmethod
    def _at(slots: Any, level: int) -> Number:
        assert level >= 0, "there is no level left"
        return Number(slots, level)
