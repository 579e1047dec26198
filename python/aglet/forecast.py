"""The time of a bootstrap before it is run: the work of its plan, counted, at what a unit of it takes on this machine.

The work is that of `_core.plan`, exact to the limb. The units are measured now, on kernels and data like those of a
bootstrap, or are those that come with Aglet. What this leaves out (sums, copies, memory that is asked for) is one
factor, taken from bootstraps that were measured.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aglet import _core, checks

__all__ = ["TYPICAL_FACTOR", "Units", "calibrate", "measured", "plan", "shipped", "shipped_for", "units_for"]

Units = Callable[["_core.PresetInfo"], Mapping[str, float]]
"""What gives microseconds for a limb of each kind of work."""

VECTOR_BITS = 50
"""Larger primes run on scalar kernels."""
_SHIPPED = {
    "avx512ifma": (106.0, 115.0, 45.0, 43.0, 8.2, 37.0, 7.4),
    "avx2": (209.8, 240.5, 59.8, 59.9, 11.1, 36.8, 21.7),
    "portable": (218.0, 312.0, 64.7, 62.5, 13.9, 36.8, 21.7),
    "scalar": (797.0, 710.0, 178.4, 98.8, 114.8, 0.0, 65.7),
}
"""An EPYC 9004 at N = 2^16, by backend, to the tenth part at best: its transforms and conversions are those of
docs/performance.md, its keys a linear map's; portable kernels by what they take beside AVX2.
They rank; seconds are made right by records."""
_KINDS = ("forward", "inverse", "pointwise", "key", "diagonal", "matrix", "conversion")

TYPICAL_FACTOR = 1.15
"""Measured over modelled where nothing was measured: see docs/performance.md."""


@functools.cache
def _units(log_n: int, bits: int, backend: str) -> _core.UnitCosts:
    # The backend is part of the question: AGLET_BACKEND may change it.
    return _core.unit_costs(log_n, bits)


def units_of_ring(log_n: int, prime_bits: int = VECTOR_BITS) -> _core.UnitCosts:
    """What a unit of work takes in rings of degree 2^log_n, measured once in a process: some tenths of a second."""
    # Primes above 50 bits run on other kernels.
    return _units(log_n, prime_bits, _core.doctor()["backend"])


def units_for(preset: _core.PresetInfo) -> _core.UnitCosts:
    """What a unit of work takes with these parameters, see `units_of_ring`."""
    return units_of_ring(preset["log_n"], preset["prime_bits"])


def measured(preset: _core.PresetInfo) -> Mapping[str, float]:
    """What `units_for` measured, by the names of the kinds."""
    found = units_for(preset)
    return {kind: found[kind] for kind in _KINDS}  # type: ignore[literal-required]


def shipped(preset: _core.PresetInfo) -> Mapping[str, float]:
    """The same without measuring: what it took on the machine of the records with these kernels."""
    return shipped_for(preset["log_n"], preset["prime_bits"])


def shipped_for(log_n: int, prime_bits: int) -> Mapping[str, float]:
    """As `shipped`, for a ring and the size of its primes."""
    backend = _core.doctor()["backend"] if prime_bits <= VECTOR_BITS else "scalar"
    size = 2.0 ** (log_n - 16)
    return {kind: us * size for kind, us in zip(_KINDS, _SHIPPED[backend], strict=True)}


def calibrate(measured: Iterable[tuple[float, float]]) -> float:
    """The factor that makes modelled seconds those that are known, in the median."""
    factors = [known / modelled for modelled, known in measured if modelled]
    return statistics.median(factors) if factors else TYPICAL_FACTOR


def plan(
    preset: str,
    method: str,
    stage_count: int | None,
    key_size: str,
    slot_count: int,
    real: bool = False,
    target_level: int | None = None,
    units: Mapping[str, float] | None = None,
) -> _core.Plan:
    """Plan a bootstrap: check levels, scales and keys, count the work, forecast memory and, given units, seconds.

    Raises
    ------
    ParameterError
        If there is no such set, method or size, or a number is out of range.
    TypeError
        If an argument is of another type.
    """
    given: Any = units
    return _core.plan(
        checks.word("preset", preset),
        checks.word("method", method),
        checks.optional_count("stage_count", stage_count, 1),
        checks.word("key_size", key_size),
        checks.count("slot_count", slot_count, 1),
        checks.flag("real", real),
        checks.optional_count("target_level", target_level),
        given,
    )
