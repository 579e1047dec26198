"""Published figures of other libraries for the same task, to compare with ours.

The task is to bootstrap a full CKKS ciphertext (N = 2^16, 2^15 slots). Machines, languages and parameters differ, so
the rows show an order of magnitude, not a race.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["REGULAR_BOOTSTRAP", "SECURE", "PublishedRow", "published_beside"]

SECURE = 128.0
"""Our figures with fewer bits of security than this are not compared with published ones."""
_SLOTS = 1 << 15


@dataclass(frozen=True)
class PublishedRow:
    """One library and the figures that its authors published."""

    library: str
    machine: str
    seconds: float
    bits_mean: float
    bits_hard: float | None
    """The mean bits for messages of equal or alternating signs, if published."""
    key_bytes: float | None
    levels_after: int


REGULAR_BOOTSTRAP = (
    PublishedRow("desilofhe, large key, 3 stages", "Core i7-10700K, 1 thread", 27.485, 20.5, 10.3, 15.2e9, 10),
    PublishedRow("HEaaN, FGb", "EPYC 7473X, 1 core", 8.7, 22.0, None, None, 9),
)


def published_beside(security_bits: float, slot_count: int) -> tuple[PublishedRow, ...]:
    """The rows to compare with a bootstrap of ours: none if it has fewer slots, or is not secure."""
    return REGULAR_BOOTSTRAP if security_bits >= SECURE and slot_count >= _SLOTS else ()
