"""The ways of a bridge for `aglet plan --bridge`: what comes up to integers, and the stages of both, by the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from rich.table import Table

from aglet import _core
from aglet.bridge.bridge import Bridge
from aglet.bridge.estimate import Stage
from aglet.bridge.integers import IntegerBridge
from aglet.cli import output
from aglet.cli.integer import work_cells
from aglet.errors import LevelError, RangeError
from aglet.forecast import units_of_ring
from aglet.reports import failure_text

__all__ = ["WayUp", "stage_tables", "up_tables", "way_stages", "ways_up"]


@dataclasses.dataclass(frozen=True)
class WayUp:
    """What results of tables or gates go through on their way up to integers."""

    bits: int
    """Of a message."""
    refused: str | None = None
    """Why they do not go up; nothing else is known then."""
    lacking: str | None = None
    """The same in words for a row: levels, or less noise."""
    polynomial_levels: int | None = None
    bound: int | None = None
    """Errors below it are removed."""
    deviation: float | None = None
    """Of errors; both in units of which the plaintext modulus are a turn."""
    output_level: int | None = None
    log2_failure: float | None = None
    seconds: float | None = None
    """Of one value, or all slots but for packing."""
    source: str | None = None


def ways_up(made: IntegerBridge) -> list[WayUp]:
    """For each number of bits that messages have, after one look-up."""
    return [_way_up(made, bits) for bits in range(1, made.lookup_engine.bits + 1)]


def _way_up(made: IntegerBridge, bits: int) -> WayUp:
    try:
        plan = made._plan_up(bits, made.lookup_engine.noise["bootstrap"] ** 2)
        taken = made.estimate("from_lookup", bits=bits)
    except LevelError as refused:
        return WayUp(bits, str(refused), "too few levels here")
    except RangeError as refused:
        return WayUp(bits, str(refused), "too much noise")
    sizes = plan["polynomial_levels"], plan["bound"], plan["deviation"], plan["output_level"], plan["log2_failure"]
    return WayUp(bits, None, None, *sizes, taken.seconds, taken.source)


def up_tables(raised: list[WayUp], width: int) -> list[Table]:
    """The ways up in the order of their bits."""
    rows = [
        (row.bits, "-", "-", "-", row.lacking, "-", "-", "")
        if row.refused is not None
        else (
            row.bits,
            row.polynomial_levels,
            row.bound,
            f"{row.deviation:.1f}",
            row.output_level,
            failure_text(row.log2_failure),
            f"{row.seconds:.3g} s",
            row.source,
        )
        for row in raised
    ]
    columns = ("bits", "levels of the polynomial", "removes errors below", "deviation", "to level", "wrong", "time", "")
    title = "from_lookup of results of tables of one message or of gates (errors in units, of which 65537 are a turn)"
    return output.fitting(title, columns, rows, width) if rows else []


def way_stages(made: Bridge | IntegerBridge, size: str, units: Mapping[str, float] | None) -> dict[str, list[Stage]]:
    """The stages of the way down and of ways up, at these microseconds for a unit of work or those measured now."""
    if isinstance(made, Bridge):
        given = units or _measured(made._engine._core.plan("bits", None, size)["log_n"])
        return {way: made._stages(way, size, given) for way in ("down", "up")}
    given = units or _measured(made._log_n())
    found = {"down": made._stages_down(given)}
    for bits in sorted({1, made.lookup_engine.bits}):
        try:
            plan = made._plan_up(bits, made.lookup_engine.noise["bootstrap"] ** 2, given)
        except (LevelError, RangeError):
            continue
        found[f"up, {bits} bit{'s' * (bits > 1)}"] = made._stages_up(plan)
    return found


def _measured(log_n: int) -> Mapping[str, float]:
    return cast("Mapping[str, float]", units_of_ring(log_n))


def stage_tables(stages: Mapping[str, list[Stage]], width: int, given: bool) -> list[Table]:
    """One table for each way; `given` says whether `--units` named what a unit of work takes."""
    source = "the units of --units" if given else "units measured now"
    parts = []
    for way, found in stages.items():
        rows = [(stage.name, *work_cells(stage.work), f"{stage.seconds * 1e3:.1f} ms") for stage in found]
        total = _total(found)
        rows.append(("all", *work_cells(total), f"{sum(stage.seconds for stage in found) * 1e3:.1f} ms"))
        columns = ("stage", "transforms", "products", "of conversions", "one thread")
        parts += output.fitting(f"Way {way}: work in limbs, seconds by {source}", columns, rows, width)
    return parts


def _total(found: list[Stage]) -> _core.Work:
    names = found[0].work
    total: Any = {name: sum(stage.work[name] for stage in found) for name in names}  # type: ignore[literal-required]
    return cast("_core.Work", total)
