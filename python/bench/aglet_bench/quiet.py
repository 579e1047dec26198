"""Whether the machine was quiet enough during a measurement for its time to be quoted.

Three signs are recorded. The load is what other processes (and our own, a minute ago) asked of the cores. The drift is
the change of a reference kernel, the scalar transform of one limb on one thread, from before to after. It follows the
clock frequency and the neighbours on the machine. The spread is the distance between the repeats.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aglet import _core

__all__ = ["DRIFT_BOUND", "SPREAD_BOUND", "Quiet", "Watch", "warning"]

DRIFT_BOUND = 0.10
"""The most that the reference kernel may drift, in either direction."""
SPREAD_BOUND = 0.15
"""The most that the slowest repeat may take longer than the fastest."""
_LOG_N, _BITS, _REPEAT = 14, 50, 15


def reference_us() -> float:
    """Microseconds of the reference kernel."""
    return _core.bench_ntt(_LOG_N, _BITS, "scalar", _REPEAT)["forward_us"]


def _load() -> float | None:
    # Windows has no load average.
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


@dataclass(frozen=True)
class Quiet:
    """The signs that were recorded around a measurement."""

    load: float | None
    """The load average of the last minute, before the measurement."""
    drift: float
    """The time of the reference kernel after over before, minus 1."""
    spread: float | None
    """The slowest repeat over the fastest, minus 1; None for a single run."""

    @property
    def reasons(self) -> list[str]:
        """The reasons why the times should not be quoted; empty if they may be."""
        reasons = []
        if abs(self.drift) > DRIFT_BOUND:
            reasons.append(f"the reference kernel drifted by {self.drift:+.0%} (bound {DRIFT_BOUND:.0%})")
        if self.spread is not None and self.spread > SPREAD_BOUND:
            reasons.append(f"the repeats spread over {self.spread:.0%} (bound {SPREAD_BOUND:.0%})")
        return reasons

    def fields(self) -> dict[str, Any]:
        """The fields for a record."""
        return {"load": self.load, "drift": self.drift, "spread": self.spread, "noisy": self.reasons}


class Watch:
    """Starts before a measurement; `done` ends it."""

    def __init__(self) -> None:
        self._load = _load()
        self._before = reference_us()

    def done(self, seconds: Sequence[float] = ()) -> Quiet:
        """The recorded signs, for the times of the repeats."""
        spread = max(seconds) / min(seconds) - 1 if len(seconds) > 1 else None
        return Quiet(self._load, reference_us() / self._before - 1, spread)


def warning(record: Mapping[str, Any]) -> str | None:
    """A sentence if a record is too noisy to quote, or None."""
    reasons = record.get("noisy")
    return f"Too noisy to quote: {'; '.join(reasons)}. Measure again on an idle machine." if reasons else None
