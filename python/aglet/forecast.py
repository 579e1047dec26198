"""Predict the time of a bootstrap: count the work of its plan, and multiply by the measured time of a unit of work.

`_core.plan` gives the work, exact to the limb. The times of a unit are measured now, on kernels and data like those of
a bootstrap, or taken from the ones that come with Aglet. The rest (sums, copies, allocation) is covered by one factor,
taken from measured bootstraps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from aglet import _core, checks

__all__ = [
    "KINDS",
    "TYPICAL_FACTOR",
    "VECTOR_BITS",
    "Operations",
    "limbs",
    "of_limbs",
    "plan",
    "polynomial_products",
    "shipped_for",
]

if TYPE_CHECKING:
    from typing_extensions import Unpack

VECTOR_BITS = 50
"""Primes with more bits than this run on scalar kernels."""
_SHIPPED = {
    "avx512ifma": (106.0, 115.0, 45.0, 43.0, 8.2, 37.0, 7.4),
    "avx2": (209.8, 240.5, 59.8, 59.9, 11.1, 36.8, 21.7),
    "portable": (218.0, 312.0, 64.7, 62.5, 13.9, 36.8, 21.7),
    "scalar": (797.0, 710.0, 178.4, 98.8, 114.8, 0.0, 65.7),
}
"""The times of an EPYC 9004 at N = 2^16, by backend. Transforms and conversions are from repro/notebook/2026-11.md,
keys from a linear map; portable kernels are scaled from AVX2. They are good to a tenth at best. That is enough to rank,
and records correct the seconds.
"""
KINDS = ("forward", "inverse", "pointwise", "key", "diagonal", "matrix", "conversion")

_ENCODED = 2.5
"""A limb of a diagonal that is encoded for one use takes as long as so many transforms, on AVX2 and on IFMA: see
repro/notebook/2026-11.md."""

TYPICAL_FACTOR = 1.15
"""Measured time over modelled time where nothing was measured: see repro/notebook/2026-11.md."""


def shipped_for(log_n: int, prime_bits: int) -> Mapping[str, float]:
    """Microseconds per unit of work without measuring: of the machine of the records with these kernels."""
    backend = _core.doctor()["backend"] if prime_bits <= VECTOR_BITS else "scalar"
    size = 2.0 ** (log_n - 16)
    return {kind: us * size for kind, us in zip(KINDS, _SHIPPED[backend], strict=True)}


def limbs(plan: _core.Plan, stages: Sequence[_core.StageRow]) -> list[float]:
    """The work of the stages of a plan, in limbs of each kind."""
    n = 1 << plan["log_n"]
    total = {name: sum(stage["work"][name] for stage in stages) for name in plan["stages"][0]["work"]}  # type: ignore[literal-required]
    return [
        total["forward_transforms"],
        total["inverse_transforms"],
        total["pointwise_products"],
        total["key_products"],
        total["diagonal_products"],
        total["matrix_bytes_read"] / (8 * n),
        total["conversion_products"],
    ]


def of_limbs(work: Sequence[float], units: Mapping[str, float]) -> float:
    """The seconds for these limbs of each kind, at these microseconds per limb."""
    return sum(count * units[kind] for count, kind in zip(work, KINDS, strict=True)) * 1e-6


class Operations:
    """The seconds of operations on ciphertexts of a CKKS preset, by the model, on one thread.

    Parameters
    ----------
    preset
        The parameter set, from `presets()`.
    hidden
        The primes below level 0 that a bootstrap uses.
    """

    def __init__(self, preset: _core.PresetInfo, hidden: int) -> None:
        self._hidden = hidden
        self._special = max(1, round(preset["log_p"] / preset["prime_bits"]))
        self.n = 2 ** preset["log_n"]
        self.units = shipped_for(preset["log_n"], preset["prime_bits"])

    factor = TYPICAL_FACTOR
    """Measured time over modelled time."""

    def limbs(self, level: int) -> int:
        """The limbs of a ciphertext at a level."""
        return level + 1 + self._hidden

    def spent(self, **units: float) -> float:
        """The seconds for so many limbs of each kind of work."""
        return sum(self.units[kind] * count for kind, count in units.items()) * self.factor * 1e-6

    def key_switch(self, level: int) -> float:
        """A key switch alone: a rotation or a relinearization."""
        limbs, special = self.limbs(level), self._special
        digits, every = -(-limbs // special), limbs + special
        return self.spent(
            forward=digits * every - limbs + 2 * limbs,
            inverse=limbs + 2 * special,
            key=2 * digits * every,
            conversion=limbs * every + 2 * special * limbs,
        )

    def rescale(self, level: int) -> float:
        """A rescale from a level."""
        return self.spent(forward=2 * self.limbs(level), inverse=2)

    def product(self, level: int) -> float:
        """A product of two ciphertexts at a level."""
        return self.spent(pointwise=4 * self.limbs(level)) + self.key_switch(level) + self.rescale(level)

    def polynomial(self, degree: int, level: int) -> float:
        """A polynomial of a ciphertext at a level, by a typical number of products."""
        depth = degree.bit_length()
        return sum(self.product(level - min(i, depth - 1)) for i in range(polynomial_products(degree)))

    def linear_map(self, level: int, steps: tuple[int, int], words: tuple[int, int]) -> float:
        """A linear map, encoded anew: its baby and giant steps, its diagonals and the words of all of them."""
        (babies, giants), (count, size) = steps, words
        limbs = self.limbs(level)
        # Keys of its level have no more special primes than limbs.
        special = min(self._special, limbs)
        digits, every = -(-limbs // special), limbs + special
        hoisted = self.spent(key=2 * digits * every * babies, diagonal=2 * count * every)
        encoded = _ENCODED * self.spent(forward=every * size / self.n)
        return (1 + giants) * self.key_switch(level) + hoisted + encoded + self.rescale(level)


def polynomial_products(degree: int) -> int:
    """A typical number of products of a polynomial."""
    return 2 * math.isqrt(degree) if degree > 2 else max(0, degree - 1)


class PlanOptions(TypedDict, total=False):
    """What `plan` takes by name."""

    real: bool
    target_level: int | None
    units: Mapping[str, float] | None


def plan(
    preset: str, method: str, stage_count: int | None, key_size: str, slot_count: int, **options: Unpack[PlanOptions]
) -> _core.Plan:
    """Plan a bootstrap: check levels, scales and keys, count the work, and forecast memory and, with units, seconds.

    Parameters
    ----------
    options
        `real=` and `target_level=` of the bootstrap, `units=` with the microseconds for a unit of each kind of work.

    Raises
    ------
    ParameterError
        If there is no such preset, method or size, or if a number is out of range.
    TypeError
        If an argument is of another type.
    """
    checks.known(options, PlanOptions)
    units: Any = options.get("units")
    return _core.plan(
        checks.string("preset", preset),
        checks.string("method", method),
        checks.optional_count("stage_count", stage_count, 1),
        checks.string("key_size", key_size),
        checks.count("slot_count", slot_count, 1),
        checks.flag("real", options.get("real", False)),
        checks.optional_count("target_level", options.get("target_level")),
        units,
    )
