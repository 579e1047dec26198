"""Reports of an engine before any key is made: its security, its memory, and the result of a bootstrap."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from aglet import _core

__all__ = [
    "BootstrapEstimate",
    "MemoryReport",
    "SecurityReport",
    "failure_text",
    "gigabytes",
    "integer_memory_report",
    "json_text",
    "memory_report",
]


def gigabytes(count: float | None) -> str:
    """A number of bytes in a readable unit (powers of 1000)."""
    if count is None:
        return "an unknown amount"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}" if unit == "GB" else f"{count / size:.1f} {unit}"
    return f"{int(count)} B"


def failure_text(log2_failure: float | None) -> str:
    """The bound on the probability that some slot is less precise than claimed, as text."""
    return "not claimed" if log2_failure is None else f"2^{log2_failure:.0f}"


def json_text(record: Mapping[str, Any]) -> str:
    """One object on one line. JSON has no infinities: they become null."""
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in record.items()
    }
    return json.dumps(finite)


@dataclass(frozen=True)
class SecurityReport:
    """The security of the parameters (classical bits, cost model of eprint 2024/463)."""

    preset: str
    log_n: int
    log_q: float
    log_qp: float
    security_bits: float
    """A lower bound. Below 128 bits it is a cautious estimate that shows how far off the parameters are."""
    secret: str = "a uniform ternary secret"

    @property
    def is_secure(self) -> bool:
        """Whether the parameters reach 128 bits."""
        return self.security_bits >= 128.0

    def __str__(self) -> str:
        verdict = "" if self.is_secure else " THIS IS NOT SECURE: use it for tests only."
        return (
            f"{self.preset}: N = 2^{self.log_n}, log QP = {self.log_qp:.1f}, {self.secret}: "
            f"{self.security_bits:.1f} bits of classical security.{verdict}"
        )


@dataclass(frozen=True)
class MemoryReport:
    """The memory that a bootstrap and its keys need, and the memory of the machine, in bytes."""

    bootstrap_key: int
    other_keys: int
    """The relinearization key, the conjugation key and, with a small bootstrap key, the rotation key. The bootstrap key
    of integers has what it needs: 0.
    """
    keys_seeded: int
    """All of these keys as stored in files, with seeds in place of their uniform halves."""
    matrices: int
    working: int
    peak: int
    available: int | None
    total: int | None
    """The memory of the machine. Both are None if the system does not report it."""
    card: int = 0
    """The memory that the bootstrap takes on a card, with its keys, for `mode="gpu"`."""

    @property
    def fits(self) -> bool:
        """Whether the peak fits into the free memory. True if the free memory is unknown."""
        return self.available is None or self.peak <= self.available

    def __str__(self) -> str:
        return (
            f"bootstrap key {gigabytes(self.bootstrap_key)}, other keys {gigabytes(self.other_keys)} "
            f"(stored seeded: {gigabytes(self.keys_seeded)} in all), matrices {gigabytes(self.matrices)}, "
            f"working memory {gigabytes(self.working)}; "
            f"peak {gigabytes(self.peak)} of {gigabytes(self.available)} free; "
            f"on a card {gigabytes(self.card)}."
        )


@dataclass(frozen=True)
class BootstrapEstimate:
    """The forecast of a bootstrap, before any key is made."""

    method: str
    stage_count: int
    key_size: str
    input_level: int
    output_level: int
    precision_bits: float | None
    """The mean precision over uniform messages that the preset claims, a lower bound that tests assert. None if it
    claims none.
    """
    log2_failure: float | None
    """Base-2 logarithm of a bound on the probability that some slot is six bits below `precision_bits`."""
    log2_four_bits_short: float | None
    """The same bound for four bits below `precision_bits`."""
    key_bytes: int
    peak_bytes: int

    def __str__(self) -> str:
        precision = "none" if self.precision_bits is None else f"{self.precision_bits:.1f} bits"
        return (
            f"{self.method} bootstrap, {self.stage_count} stages, {self.key_size} key: level {self.input_level} or "
            f"more to level {self.output_level}, precision claimed {precision}, some slot six bits below it "
            f"{failure_text(self.log2_failure)}, keys {gigabytes(self.key_bytes)}, peak memory "
            f"{gigabytes(self.peak_bytes)}."
        )


def _rotation_key(plan: _core.Plan) -> tuple[int, int]:
    """The bytes of the rotation key of a plan, in memory and stored. They are 0 unless the bootstrap key is small."""
    small = plan["key_size"] == "small"
    return _core.rotation_key_bytes(plan["preset"], plan["slot_count"]) if small else (0, 0)


def memory_report(plan: _core.Plan) -> MemoryReport:
    """The memory of a plan, beside the memory of the machine."""
    rotations, stored = _rotation_key(plan)
    keys = plan["key_bytes"], plan["other_key_bytes"] + rotations, plan["key_bytes_seeded"] + stored
    needed = plan["matrix_bytes"], plan["working_bytes"], plan["peak_bytes"] + rotations
    return MemoryReport(*keys, *needed, *_machine(), card=plan["card_bytes"]["all"])


def integer_memory_report(key_bytes: int, plan: _core.IntegerBootstrapPlan) -> MemoryReport:
    """The memory of a bootstrap of integers, whose key of so many bytes has the relinearization key in it."""
    needed = plan["map_bytes"], plan["working_bytes"], plan["peak_bytes"]
    keys = key_bytes, 0, plan["key_bytes_seeded"]
    return MemoryReport(*keys, *needed, *_machine(), card=plan["card_bytes"]["all"])


def _machine() -> tuple[int | None, int | None]:
    """The free memory and all of it."""
    machine = _core.doctor()
    return machine["memory_available_bytes"], machine["memory_total_bytes"]


def bootstrap_estimate(plan: _core.Plan) -> BootstrapEstimate:
    """The forecast of a plan."""
    rotations, _ = _rotation_key(plan)
    key_bytes = plan["key_bytes"] + plan["other_key_bytes"] + rotations
    same: dict[str, Any] = {
        one.name: plan[one.name]  # type: ignore[literal-required]
        for one in fields(BootstrapEstimate)
        if not one.name.endswith("_bytes")
    }
    return BootstrapEstimate(**same, key_bytes=key_bytes, peak_bytes=plan["peak_bytes"] + rotations)
