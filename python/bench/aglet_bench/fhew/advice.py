"""The time of FHEW for a wish, to rank beside bootstraps of `Engine`: recorded if possible, else modelled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aglet.fhew.engine import FhewEngine
from aglet_bench.fhew.records import latest

__all__ = ["FhewAdvice", "ways"]

_CALLS = {
    "gate": ("FhewEngine()", "result = engine.nand(x, y, key)"),
    "lookup": ("FhewEngine(bits={bits})", "result = engine.lookup(x, table, key)"),
    "lookup2": (
        'FhewEngine(preset="wide")',
        "packing_key = engine.create_packing_key(secret_key)\n"
        "result = engine.lookup2(high, low, [table, other], key, packing_key)",
    ),
}


@dataclass(frozen=True)
class FhewAdvice:
    """One way with gates or lookup tables. It is exact, and every operation contains a bootstrap."""

    preset: str
    method: str
    """"gate", "lookup" or "lookup2"."""
    bits: float
    """The bits of a message. Results are exact."""
    seconds: float
    """The seconds of one operation on one thread."""
    seconds_measured: bool
    """Whether the time is measured; otherwise it is from the model of `FhewEngine.estimate`."""
    bootstraps: int
    """The operations on all values between two bootstraps of `Engine`."""
    operations: int
    """The operations on each value."""
    key_bytes: int
    memory_bytes: int

    @property
    def total_seconds(self) -> float:
        """The seconds for all operations on all values until a bootstrap of `Engine` would be due."""
        return self.bootstraps * self.seconds

    @property
    def seconds_per_value(self) -> float:
        """The same for one value."""
        return self.operations * self.seconds

    def calls(self, _levels: int) -> str:
        """The program."""
        engine, call = _CALLS[self.method]
        made = [f"engine = {engine.format(bits=int(self.bits))}", "key = engine.create_bootstrap_key(secret_key)", call]
        return "\n".join(made)


def _kind(values: str, bits: float) -> tuple[str, str, int] | None:
    """The bench, parameter set and bits of a message that fit the values; None if there are none."""
    if values in ("sign", "bits"):
        return "gate", "gate", 1
    if values == "complex" or bits > 8:
        return None
    if bits > 4:
        return "lookup2", "wide", 8
    size = max(2, math.ceil(bits))
    return "lookup", f"lut{size}", size


def ways(
    values: str,
    bits: float,
    slots: int,
    levels: int,
    memory_bytes: float | None,
    records: Iterable[Mapping[str, Any]],
) -> list[FhewAdvice]:
    """The way of FHEW, if there is one. At most one parameter set fits a number of bits.

    An operation is a gate, or a lookup table of one message or of two. Each contains its bootstrap, so a chain of
    `levels` multiplications counts as that many operations.
    """
    found = _kind(values, bits)
    if found is None:
        return []
    kind, preset, size = found
    operations = max(levels, 1)
    count = slots * operations
    engine = FhewEngine(preset=preset)
    what = "nand" if kind == "gate" else kind
    planned = engine.estimate(what, batch=min(slots, 64))
    if memory_bytes is not None and planned.key_bytes + planned.working_bytes > memory_bytes:
        return []
    record = latest(records, preset, kind, slots)
    seconds = planned.modelled_seconds / min(slots, 64) if record is None else float(record["seconds"])
    memory = planned.key_bytes + planned.working_bytes
    return [FhewAdvice(preset, kind, size, seconds, record is not None, count, operations, planned.key_bytes, memory)]
