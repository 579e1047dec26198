"""Predict the time of a bootstrap: count the work of its plan, and multiply by the measured time of a unit of work.

`_core.plan` gives the work, exact to the limb. The times of a unit are measured now, on kernels and data like those of
a bootstrap, or taken from the ones that come with Aglet. The rest (sums, copies, allocation) is covered by one factor,
taken from measured bootstraps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from aglet import _core, checks

__all__ = ["KINDS", "TYPICAL_FACTOR", "VECTOR_BITS", "limbs", "of_limbs", "plan", "shipped_for"]

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
