"""The progress of a batch: its speed, and the time that is left."""

from __future__ import annotations

import time

from aglet.progress import ProgressCallback

__all__ = ["Clock"]


class Clock:
    """Reports the progress after every ciphertext."""

    def __init__(self, total: int, method: str, report: ProgressCallback) -> None:
        self._total, self._method, self._report = total, method, report
        self._start, self._done = time.monotonic(), 0

    def tick(self) -> None:
        """Count one more ciphertext as done."""
        self._done += 1
        each = (time.monotonic() - self._start) / self._done
        left = max(0, self._total - self._done) * each
        end = f", {_duration(left)} left" if self._total else ""
        self._report(self._done, self._total, f"{self._method}: {each:.3g} s each{end}")


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
