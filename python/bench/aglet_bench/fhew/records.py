"""Records of FHEW from this kind of machine, which estimates and advice are based on."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from aglet import _core
from aglet_bench import recording

__all__ = ["known", "latest"]


@functools.cache
def known() -> tuple[Mapping[str, Any], ...]:
    """All records of FHEW that are found, oldest first. They are read once."""
    return tuple(record for record in recording.known()[0] if "kind" in record)


def latest(records: Iterable[Mapping[str, Any]], preset: str, kind: str, batch: int) -> Mapping[str, Any] | None:
    """The latest record of this kind of machine, on one thread, of the largest batch up to this one.

    Padded tables and any gate count, because each is one blind rotation.
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


def switch(
    kind: str, presets: tuple[str, str], slots: int, size: str | None, values: int, **more: Any
) -> Mapping[str, Any] | None:
    """The record of one direction of a switch on this kind of machine, on one thread.

    Its number of values is the smallest that suffices.

    The bootstrap key of integers has one size, which is None. Further fields to match are given by name.
    """
    machine = _core.doctor()
    wanted = (kind, *presets, slots, size, 1, machine["cpu"], machine["backend"])
    names = ("kind", "preset", "fhew_preset", "slot_count", "key_size", "threads", "cpu", "backend")
    best: Mapping[str, Any] | None = None
    for record in known():
        if tuple(record.get(name) for name in names) != wanted or record["values"] < values:
            continue
        if any(record.get(name) != value for name, value in more.items()):
            continue
        if best is None or record["values"] <= best["values"]:
            best = record
    return best
