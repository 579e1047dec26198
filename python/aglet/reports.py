"""What an engine tells before any key is made: its security, its memory, and what a bootstrap will give."""

from __future__ import annotations

from dataclasses import dataclass

from aglet import _core

__all__ = ["BootstrapEstimate", "MemoryReport", "SecurityReport", "failure_text", "gigabytes", "memory_report"]


def gigabytes(count: float | None) -> str:
    """A number of bytes in a unit that reads well (powers of 1000)."""
    if count is None:
        return "an unknown amount"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}" if unit == "GB" else f"{count / size:.1f} {unit}"
    return f"{int(count)} B"


def failure_text(log2_failure: float | None) -> str:
    """The probability, at most, that some slot falls short of the claim."""
    return "not claimed" if log2_failure is None else f"2^{log2_failure:.0f}"


@dataclass(frozen=True)
class SecurityReport:
    """The security of the parameters (classical bits, cost model of eprint 2024/463)."""

    preset: str
    log_n: int
    log_q: float
    log_qp: float
    security_bits: float
    """A lower bound; below 128 bits a cautious estimate that says how far off the parameters are."""
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
    """The memory that a bootstrap and its keys will need, and what the machine has; all in bytes."""

    bootstrap_key: int
    other_keys: int
    """The relinearization key, the conjugation key and, for a small bootstrap key, the rotation key."""
    keys_seeded: int
    """All of these keys when stored with seeds in place of their uniform halves."""
    matrices: int
    working: int
    peak: int
    available: int | None
    total: int | None
    """Of the machine; both are None where the system does not say."""

    @property
    def fits(self) -> bool:
        """Whether the forecast of the peak is within what the machine has free now, or nobody knows that."""
        return self.available is None or self.peak <= self.available

    def __str__(self) -> str:
        return (
            f"bootstrap key {gigabytes(self.bootstrap_key)}, other keys {gigabytes(self.other_keys)} "
            f"(stored seeded: {gigabytes(self.keys_seeded)} in all), matrices {gigabytes(self.matrices)}, "
            f"working memory {gigabytes(self.working)}; "
            f"peak {gigabytes(self.peak)} of {gigabytes(self.available)} free."
        )


@dataclass(frozen=True)
class BootstrapEstimate:
    """What a bootstrap will give, before any key is made."""

    method: str
    stage_count: int
    key_size: str
    input_level: int
    output_level: int
    precision_bits: float | None
    """The mean over uniform messages that the preset claims, a floor that tests assert; None where it claims none."""
    log2_failure: float | None
    """Base-2 logarithm of the probability, at most, that some slot is six bits below `precision_bits`."""
    log2_four_bits_short: float | None
    """The same of four bits below."""
    key_bytes: int
    peak_bytes: int

    def __str__(self) -> str:
        precision = "none" if self.precision_bits is None else f"{self.precision_bits:.1f} bits"
        return (
            f"{self.method} bootstrap, {self.stage_count} stages, {self.key_size} key: "
            f"level {self.input_level} or more to level {self.output_level}, precision claimed {precision}, "
            f"some slot six bits below it {failure_text(self.log2_failure)}, "
            f"keys {gigabytes(self.key_bytes)}, peak memory {gigabytes(self.peak_bytes)}."
        )


def _rotation_key(plan: _core.Plan) -> tuple[int, int]:
    """Bytes of the rotation key that a plan needs, in memory and stored: none unless the bootstrap key is small."""
    small = plan["key_size"] == "small"
    return _core.rotation_key_bytes(plan["preset"], plan["slot_count"]) if small else (0, 0)


def memory_report(plan: _core.Plan) -> MemoryReport:
    """The memory part of a plan, beside what the machine has."""
    machine = _core.doctor()
    rotations, stored = _rotation_key(plan)
    return MemoryReport(
        bootstrap_key=plan["key_bytes"],
        other_keys=plan["other_key_bytes"] + rotations,
        keys_seeded=plan["key_bytes_seeded"] + stored,
        matrices=plan["matrix_bytes"],
        working=plan["working_bytes"],
        peak=plan["peak_bytes"] + rotations,
        available=machine["memory_available_bytes"],
        total=machine["memory_total_bytes"],
    )


def bootstrap_estimate(plan: _core.Plan) -> BootstrapEstimate:
    """What a plan promises."""
    rotations, _ = _rotation_key(plan)
    return BootstrapEstimate(
        method=plan["method"],
        stage_count=plan["stage_count"],
        key_size=plan["key_size"],
        input_level=plan["input_level"],
        output_level=plan["output_level"],
        precision_bits=plan["precision_bits"],
        log2_failure=plan["log2_failure"],
        log2_four_bits_short=plan["log2_four_bits_short"],
        key_bytes=plan["key_bytes"] + plan["other_key_bytes"] + rotations,
        peak_bytes=plan["peak_bytes"] + rotations,
    )
