"""Published figures of other libraries for the same task, to stand beside ours.

The task: refresh a full CKKS ciphertext (N = 2^16, 2^15 slots). Machines, languages and parameters differ, so the rows
show an order of magnitude, not a race.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["REGULAR_BOOTSTRAP", "SECURE", "PublishedRow", "published_beside"]

SECURE = 128.0
"""Bits of security below which nothing published is set beside a figure of ours."""
_SLOTS = 1 << 15


@dataclass(frozen=True)
class PublishedRow:
    """One library: its own figures, as its authors published them."""

    library: str
    machine: str
    seconds: float
    bits_mean: float
    bits_hard: float | None
    """Mean bits for messages of equal or alternating signs, where published."""
    key_bytes: float | None
    levels_after: int


REGULAR_BOOTSTRAP = (
    PublishedRow("desilofhe, large key, 3 stages", "Core i7-10700K, 1 thread", 27.485, 20.5, 10.3, 15.2e9, 10),
    PublishedRow("HEaaN, FGb", "EPYC 7473X, 1 core", 8.7, 22.0, None, None, 9),
)


def published_beside(security_bits: float, slot_count: int) -> tuple[PublishedRow, ...]:
    """The rows that may stand beside a bootstrap of ours: none if it is of fewer slots, or not secure."""
    return REGULAR_BOOTSTRAP if security_bits >= SECURE and slot_count >= _SLOTS else ()
