"""The time of a bootstrap before it is run: the work of its plan, counted, at what a unit of it takes on this machine.

The work is that of `_core.plan`, exact to the limb. The units are measured now, on kernels and data like those of a
bootstrap. What this leaves out (sums, copies, memory that is asked for) is one factor, taken from bootstraps that were
measured.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Iterable

from aglet import _core

__all__ = ["TYPICAL_FACTOR", "calibrate", "seconds", "units_for"]

TYPICAL_FACTOR = 1.15
"""Measured over modelled where nothing was measured: see docs/performance.md."""


@functools.cache
def _units(log_n: int, bits: int, backend: str) -> _core.UnitCosts:
    # The backend is part of the question: AGLET_BACKEND may change it.
    return _core.unit_costs(log_n, bits)


def units_for(preset: _core.PresetInfo) -> _core.UnitCosts:
    """What a unit of work takes with these parameters, measured once in a process: some tenths of a second."""
    # Primes above 50 bits run on other kernels.
    return _units(preset["log_n"], preset["prime_bits"], _core.doctor()["backend"])


def seconds(plan: _core.Plan, factor: float) -> float:
    """Seconds of a bootstrap on one thread, of a plan that was made with units."""
    return (plan["seconds"] or 0.0) * factor


def calibrate(measured: Iterable[tuple[_core.Plan, float]]) -> float:
    """The factor that makes the model right for plans whose seconds are known, in the median."""
    factors = [known / plan["seconds"] for plan, known in measured if plan["seconds"]]
    return statistics.median(factors) if factors else TYPICAL_FACTOR
