"""Linear transforms by diagonals, with baby steps and giant steps (eprint 2020/1203, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet._core import Ciphertext, EncodedWeights
from aglet.ckks.values import as_vector
from aglet.errors import LevelError, RangeError

__all__ = ["Transform", "make"]


@dataclass(frozen=True, eq=False)
class Transform:
    """An encoded transform: `sum_k diagonal_k * (x rotated to the left by k)`, with `k = giant + baby`."""

    level: int
    giants: dict[int, dict[int, EncodedWeights]]
    """Weights by giant step and baby step. They are rotated to the right by the giant step."""

    @property
    def steps(self) -> list[int]:
        """The steps to the left whose keys it needs."""
        babies = {baby for parts in self.giants.values() for baby in parts}
        return sorted((babies | set(self.giants)) - {0})

    def apply(self, engine: Any, x: Ciphertext, keys: dict[int, Any]) -> Ciphertext:
        """Apply it to a ciphertext of its level or of a higher one. Uses one level below its own.

        Raises
        ------
        LevelError
            If the ciphertext is at a lower level.
        """
        if x.level < self.level:
            raise LevelError(
                f"The transform was made for level {self.level} and the ciphertext is at level {x.level}; bootstrap "
                "before it, or make it for that level."
            )
        x = engine.level_down(x, self.level)
        babies = sorted({baby for parts in self.giants.values() for baby in parts} - {0})
        turned = engine.rotate_batch(x, [keys[baby] for baby in babies]) if babies else []
        by_step = {0: x, **dict(zip(babies, turned, strict=True))}
        sums: list[Ciphertext] = []
        for giant, parts in self.giants.items():
            part = engine.weighted_sum([by_step[baby] for baby in parts], list(parts.values()))
            sums.append(engine.rotate(part, keys[giant]) if giant else part)
        return reduce(engine.add, sums)


def make(engine: Any, offsets: list[int], data: Any, level: int) -> Transform:
    """Encode a transform from its diagonals, one after the other in `data`, `slot_count` numbers for each.

    Raises
    ------
    RangeError
        If there is no diagonal, one stands there twice, or the data has another length.
    LevelError
        If the level is 0 or does not exist.
    """
    slots = int(engine.slot_count)
    steps = [checks.step(offset) % slots for offset in checks.each("The offsets of diagonals", offsets)]
    numbers = as_vector(data, what="list of diagonals")
    if len(set(steps)) != len(steps) or numbers.size != len(steps) * slots:
        raise RangeError(
            f"A transform has {slots} numbers for each diagonal, and each diagonal once; these are {numbers.size} "
            f"numbers and {len(steps)} diagonals."
        )
    baby_count = _baby_count(steps, slots)
    rows: NDArray[Any] = numbers.reshape(len(steps), slots)
    giants: dict[int, dict[int, EncodedWeights]] = {}
    for step, diagonal in sorted(zip(steps, rows, strict=True), key=lambda pair: pair[0]):
        baby = step % baby_count
        weights = engine.encode_weights(np.roll(diagonal, step - baby), level)
        giants.setdefault(step - baby, {})[baby] = weights
    return Transform(level, giants)


def _baby_count(steps: list[int], slots: int) -> int:
    """The power of two with the fewest rotations."""

    def rotations(count: int) -> int:
        return len({step % count for step in steps}) + len({step // count for step in steps})

    return min((1 << bits for bits in range(slots.bit_length())), key=rotations)
