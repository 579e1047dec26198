"""Both directions for `aglet plan --scheme-switch`: which results return to integers, and all stages, by the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from rich.table import Table

from aglet import _core
from aglet.cli import output
from aglet.errors import LevelError, RangeError
from aglet.integer.engine import IntegerEngine
from aglet.reports import failure_text
from aglet.scheme_switch.sides import Stage
from aglet.scheme_switch.switch import SchemeSwitch
from aglet_bench.cli.integer import work_cells
from aglet_bench.timing import units_of_ring

__all__ = ["FromFhew", "conversion_stages", "conversions_from_fhew", "from_fhew_tables", "stage_tables"]


@dataclasses.dataclass(frozen=True)
class FromFhew:
    """The return of results of lookup tables or gates to integers."""

    bits: int
    """The bits of a message."""
    refused: str | None = None
    """Why they cannot return. Nothing else is known then."""
    lacking: str | None = None
    """The same in words for a row: levels, or less noise."""
    polynomial_levels: int | None = None
    bound: int | None = None
    """Errors below this are removed."""
    deviation: float | None = None
    """The standard deviation of errors. Both are in units of 1 / t of the torus, for the plaintext modulus t."""
    output_level: int | None = None
    log2_failure: float | None = None
    seconds: float | None = None
    """The time for one value, or for all slots without packing."""
    source: str | None = None


def conversions_from_fhew(made: SchemeSwitch) -> list[FromFhew]:
    """The return to integers for each number of bits of a message, after one lookup table; none to CKKS."""
    if not isinstance(made.engine, IntegerEngine):
        return []
    return [_from_fhew(made, bits) for bits in range(1, made.fhew_engine.bits + 1)]


def _from_fhew(made: SchemeSwitch, bits: int) -> FromFhew:
    try:
        plan = made._side.plan_from_fhew(made.fhew_engine.noise["bootstrap"] ** 2, bits, "large").plan
        taken = made.estimate("from_fhew", bits=bits)
    except LevelError as refused:
        return FromFhew(bits, str(refused), "too few levels here")
    except RangeError as refused:
        return FromFhew(bits, str(refused), "too much noise")
    sizes = plan["polynomial_levels"], plan["bound"], plan["deviation"], plan["output_level"], plan["log2_failure"]
    return FromFhew(bits, None, None, *sizes, taken.seconds, taken.source)


def from_fhew_tables(returned: list[FromFhew], width: int) -> list[Table]:
    """The returns in the order of their bits."""
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
        for row in returned
    ]
    columns = (
        "bits",
        "levels of the polynomial",
        "removes errors below",
        "deviation",
        "output level",
        "wrong",
        "time",
        "",
    )
    title = "from_fhew for results of tables of one message or of gates (errors in units of 1/65537 of the torus)"
    return output.fitting(title, columns, rows, width) if rows else []


def conversion_stages(made: SchemeSwitch, size: str, units: Mapping[str, float] | None) -> dict[str, list[Stage]]:
    """The stages of both directions, with these microseconds per unit of work or those measured now."""
    side, given = made._side, units or _measured(made.engine._core.log_n)
    found = {"to-fhew": side.stages_to_fhew(size, given)}
    of_integers = isinstance(made.engine, IntegerEngine)
    for bits in sorted({1, made.fhew_engine.bits}) if of_integers else (None,):
        try:
            plan = side.plan_from_fhew(made.fhew_engine.noise["bootstrap"] ** 2, bits, size, given)
        except (LevelError, RangeError):
            continue
        found["from-fhew" if bits is None else f"from-fhew, {bits} bit{'s' * (bits > 1)}"] = plan.stages
    return found


def _measured(log_n: int) -> Mapping[str, float]:
    return cast("Mapping[str, float]", units_of_ring(log_n))


def stage_tables(stages: Mapping[str, list[Stage]], width: int, given: bool) -> list[Table]:
    """One table for each direction. `given` says whether `--units` named the times of a unit of work."""
    source = "the units of --units" if given else "units measured now"
    parts = []
    for plan, found in stages.items():
        rows = [(stage.name, *work_cells(stage.work), f"{stage.seconds * 1e3:.1f} ms") for stage in found]
        total = _total(found)
        rows.append(("all", *work_cells(total), f"{sum(stage.seconds for stage in found) * 1e3:.1f} ms"))
        columns = ("stage", "transforms", "products", "conversion products", "one thread")
        parts += output.fitting(f"Direction {plan}: work in limbs, seconds by {source}", columns, rows, width)
    return parts


def _total(found: list[Stage]) -> _core.Work:
    names = found[0].work
    total: Any = {name: sum(stage.work[name] for stage in found) for name in names}  # type: ignore[literal-required]
    return cast("_core.Work", total)
