"""What stages of a bootstrap should take on a card, by counted work and counted calls.

No card confirmed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aglet import _core
from aglet_bench.ckks.modelled import bytes_read

__all__ = ["LAUNCH", "MODELS", "SYNCHRONOUS", "CardModel", "call_seconds", "model_of"]

_BUTTERFLY, _CANONICAL = 9.5, 7.0
"""Instructions of doubles for a butterfly of a transform, and for each word that a transform leaves."""
_POINTWISE, _KEY, _CONVERSION = 9.0, 7.0, 4.0
"""Instructions of doubles for a product of words: of polynomials, with a key or a diagonal, of a base conversion."""
_ARITHMETIC, _MEMORY = 0.6, 0.68
"""The shares of their peaks that kernels are taken to reach."""
LAUNCH, SYNCHRONOUS = 2.5e-6, 5e-6
"""Seconds, both assumed: of a launch or a copy that waits for nothing, and of a copy that waits for the card."""


@dataclass(frozen=True)
class CardModel:
    """The rates of a card: peaks of its data sheet."""

    name: str
    instructions: float
    """Instructions of doubles in a second: multiprocessors times 64 times the clock."""
    bytes: float
    """Bytes of memory in a second."""

    def seconds(self, work: _core.Work, log_n: int) -> float:
        """The seconds for some work: what arithmetic or memory takes, whichever is longer. Calls are not in it."""
        needed = self.arithmetic(work, log_n) / (_ARITHMETIC * self.instructions)
        return max(needed, bytes_read(work) / (_MEMORY * self.bytes))

    @staticmethod
    def arithmetic(work: _core.Work, log_n: int) -> float:
        """Instructions of doubles for some work, in a ring of degree 2^`log_n`."""
        transform = _BUTTERFLY * log_n / 2 + _CANONICAL
        words = transform * (work["forward_transforms"] + work["inverse_transforms"])
        words += _POINTWISE * work["pointwise_products"] + _CONVERSION * work["conversion_products"]
        words += _KEY * (work["key_products"] + work["diagonal_products"])
        return words * float(1 << log_n)


def call_seconds(stage: _core.StageRun) -> float:
    """The seconds for the launches and copies that a stage made."""
    return LAUNCH * (stage["launches"] + stage["other_copies"]) + SYNCHRONOUS * stage["synchronous_copies"]


MODELS: Sequence[CardModel] = (
    CardModel("H200", 132 * 64 * 1.755e9, 4.8e12),
    CardModel("H100", 132 * 64 * 1.755e9, 3.35e12),
)
"""Cards with doubles at half the rate of floats. The first one stands for a card that is none of them."""


def model_of(device: str) -> CardModel:
    """The model of the card of this name."""
    return next((model for model in MODELS if model.name in device), MODELS[0])
