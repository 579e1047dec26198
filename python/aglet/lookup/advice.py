"""What gates and tables take for a wish, beside bootstraps of `Engine`: recorded where it was, else modelled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aglet.lookup.engine import LookupEngine
from aglet.lookup.records import latest

__all__ = ["LookupAdvice", "ways"]

_CALLS = {
    "gate": ("LookupEngine()", "result = engine.nand(x, y, key)"),
    "lookup": ("LookupEngine(bits={bits})", "result = engine.lookup(x, table, key)"),
    "lookup2": (
        'LookupEngine(preset="wide")',
        "packing_key = engine.create_packing_key(secret_key)\n"
        "result = engine.lookup2(high, low, [table, other], key, packing_key)",
    ),
}


@dataclass(frozen=True)
class LookupAdvice:
    """One way with gates or tables: exact, and a bootstrap in every operation, so that any number may follow."""

    preset: str
    method: str
    """"gate", "lookup" or "lookup2"."""
    bits: float
    """Of a message; results are exact."""
    seconds: float
    """Of one operation on one thread."""
    seconds_measured: bool
    """Else by the model of `LookupEngine.estimate`."""
    bootstraps: int
    """Operations between two bootstraps of `Engine`, on all values."""
    operations: int
    """Of them on each value."""
    key_bytes: int
    memory_bytes: int

    @property
    def total_seconds(self) -> float:
        """For all values, and all operations on them until a bootstrap of `Engine` would be due."""
        return self.bootstraps * self.seconds

    @property
    def seconds_per_value(self) -> float:
        """The same for one value."""
        return self.operations * self.seconds

    def calls(self, _levels: int) -> str:
        """The program."""
        engine, call = _CALLS[self.method]
        made = [f"engine = {engine.format(bits=int(self.bits))}", "key = engine.create_lookup_key(secret_key)", call]
        return "\n".join(made)


def _kind(values: str, bits: float) -> tuple[str, str, int] | None:
    """Bench, parameter set and bits of a message that do for such values; None if none does."""
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
) -> list[LookupAdvice]:
    """The way that gates and tables have, if they have one: no more than one set fits a number of bits.

    An operation is a gate, or a table of one message or of two; each has its bootstrap in it, so a chain of `levels`
    multiplications counts as so many operations.
    """
    found = _kind(values, bits)
    if found is None:
        return []
    kind, preset, size = found
    operations = max(levels, 1)
    count = slots * operations
    engine = LookupEngine(preset=preset)
    what = "nand" if kind == "gate" else kind
    planned = engine.estimate(what, batch=min(slots, 64))
    if memory_bytes is not None and planned.key_bytes + planned.working_bytes > memory_bytes:
        return []
    record = latest(records, preset, kind, slots)
    seconds = planned.modelled_seconds / min(slots, 64) if record is None else float(record["seconds"])
    memory = planned.key_bytes + planned.working_bytes
    return [LookupAdvice(preset, kind, size, seconds, record is not None, count, operations, planned.key_bytes, memory)]
