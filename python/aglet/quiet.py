"""Whether a machine was quiet enough while something was timed for the time to be quoted.

Three signs are written down. The load is what other processes (and we ourselves, a minute ago) asked of the cores. The
drift is how much a reference kernel, the scalar transform of one limb on one thread, changed from before to after: it
moves with the clock frequency and with neighbours on the machine. The spread is how far the repeats are apart.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aglet import _core

__all__ = ["DRIFT_BOUND", "SPREAD_BOUND", "Quiet", "Watch", "warning"]

DRIFT_BOUND = 0.10
"""The reference kernel may be this much slower or faster afterwards."""
SPREAD_BOUND = 0.15
"""The slowest repeat may take this much longer than the fastest."""
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
    """What was seen around a measurement."""

    load: float | None
    """The load average of the last minute, before the measurement."""
    drift: float
    """Time of the reference kernel afterwards over before, minus 1."""
    spread: float | None
    """The slowest repeat over the fastest, minus 1; None for a single run."""

    @property
    def reasons(self) -> list[str]:
        """Why the times should not be quoted; empty if they may be."""
        reasons = []
        if abs(self.drift) > DRIFT_BOUND:
            reasons.append(f"the reference kernel drifted by {self.drift:+.0%} (bound {DRIFT_BOUND:.0%})")
        if self.spread is not None and self.spread > SPREAD_BOUND:
            reasons.append(f"the repeats spread over {self.spread:.0%} (bound {SPREAD_BOUND:.0%})")
        return reasons

    def fields(self) -> dict[str, Any]:
        """The fields that a record gets."""
        return {"load": self.load, "drift": self.drift, "spread": self.spread, "noisy": self.reasons}


class Watch:
    """Begins before a measurement; `done` ends it."""

    def __init__(self) -> None:
        self._load = _load()
        self._before = reference_us()

    def done(self, seconds: Sequence[float] = ()) -> Quiet:
        """What was seen, given the times of the repeats."""
        spread = max(seconds) / min(seconds) - 1 if len(seconds) > 1 else None
        return Quiet(self._load, reference_us() / self._before - 1, spread)


def warning(record: Mapping[str, Any]) -> str | None:
    """A sentence for a record that is too noisy to quote, or None."""
    reasons = record.get("noisy")
    return f"Too noisy to quote: {'; '.join(reasons)}. Measure again on an idle machine." if reasons else None
