"""Records of gates and tables that were measured on this kind of machine: what estimates and advice are made from."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from aglet import _core, recording

__all__ = ["known", "latest"]


@functools.cache
def known() -> tuple[Mapping[str, Any], ...]:
    """The records of gates and tables among all that lie here, oldest first; read once."""
    return tuple(record for record in recording.known()[0] if "kind" in record)


def latest(records: Iterable[Mapping[str, Any]], preset: str, kind: str, batch: int) -> Mapping[str, Any] | None:
    """The record of this machine's kind, on one thread, of the largest batch up to this one; of those the latest.

    Padded tables and any gate count, as each is one rotation.
    """
    machine = _core.doctor()
    best: Mapping[str, Any] | None = None
    for record in records:
        own = (record.get("cpu"), record.get("backend")) == (machine["cpu"], machine["backend"])
        same = (record.get("preset"), record.get("kind"), record.get("threads")) == (preset, kind, 1)
        if not own or not same or "full" in record["operation"] or record["batch"] > max(batch, 1):
            continue
        if best is None or record["batch"] >= best["batch"]:
            best = record
    return best


def bridge(
    kind: str, presets: tuple[str, str], slots: int, size: str | None, values: int, **more: Any
) -> Mapping[str, Any] | None:
    """The record of one way of a bridge, this machine's kind, one thread, of the fewest values that are as many.

    Bootstrap keys of integers have one size, which is None. What else it must say follows by name.
    """
    machine = _core.doctor()
    wanted = (kind, *presets, slots, size, 1, machine["cpu"], machine["backend"])
    names = ("kind", "preset", "lookup_preset", "slot_count", "key_size", "threads", "cpu", "backend")
    best: Mapping[str, Any] | None = None
    for record in known():
        if tuple(record.get(name) for name in names) != wanted or record["values"] < values:
            continue
        if any(record.get(name) != value for name, value in more.items()):
            continue
        if best is None or record["values"] <= best["values"]:
            best = record
    return best
