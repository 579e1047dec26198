"""The time of each unit of work: measured here, or shipped; and the factor from modelled to measured seconds."""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from aglet import _core
from aglet.forecast import KINDS, TYPICAL_FACTOR, VECTOR_BITS, shipped_for

__all__ = ["Units", "calibrate", "measured", "read_rate", "shipped", "units_for", "units_of_ring"]

Units = Callable[["_core.PresetInfo"], Mapping[str, float]]
"""A function that returns microseconds per limb for each kind of work."""


@functools.cache
def _units(log_n: int, bits: int, backend: str) -> _core.UnitCosts:
    # The backend is part of the question: AGLET_BACKEND may change it.
    return _core.unit_costs(log_n, bits)


def units_of_ring(log_n: int, prime_bits: int = VECTOR_BITS) -> _core.UnitCosts:
    """The time of each unit of work in rings of degree 2^log_n, measured once per process (some tenths of a second)."""
    # Primes above 50 bits run on other kernels.
    return _units(log_n, prime_bits, _core.doctor()["backend"])


def units_for(preset: _core.PresetInfo) -> _core.UnitCosts:
    """The time of each unit of work with these parameters; see `units_of_ring`."""
    return units_of_ring(preset["log_n"], preset["prime_bits"])


def measured(preset: _core.PresetInfo) -> Mapping[str, float]:
    """The result of `units_for`, by the names of the kinds."""
    found = units_for(preset)
    return {kind: found[kind] for kind in KINDS}  # type: ignore[literal-required]


def shipped(preset: _core.PresetInfo) -> Mapping[str, float]:
    """The time of each unit of work without measuring: from the machine of the records with these kernels."""
    return shipped_for(preset["log_n"], preset["prime_bits"])


@functools.cache
def read_rate() -> float:
    """What one thread reads of memory in order, in 10^9 bytes a second: the best of five sums over half a gigabyte."""
    numbers = np.ones(1 << 26)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        numbers.sum()
        times.append(time.perf_counter() - start)
    return numbers.nbytes / min(times) / 1e9


def calibrate(measured: Iterable[tuple[float, float]]) -> float:
    """The factor from modelled to known seconds, in the median."""
    factors = [known / modelled for modelled, known in measured if modelled]
    return statistics.median(factors) if factors else TYPICAL_FACTOR
