"""`aglet plan --entries`: the plan of a functional bootstrap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.table import Table

from aglet import _core
from aglet.ckks.functional import FunctionalEstimate
from aglet.cli import output
from aglet.reports import failure_text, gigabytes, memory_report
from aglet_bench.ckks.functional import FunctionalCase, FunctionalPlan
from aglet_bench.cli.integer import work_cells
from aglet_bench.timing import units_for

__all__ = ["plan_functional"]


def plan_functional(
    case: FunctionalCase, key_size: str, units: Mapping[str, float] | None, model: bool, json: bool
) -> None:
    """Print the stages, the levels, the noise and the memory and, by the model, seconds. No key is made."""
    preset = next(p for p in _core.presets() if p["name"] == case.preset)
    given: Any = (units_for(preset) if units is None else units) if model else None
    found = FunctionalPlan.of(case, key_size, given)
    if json:
        estimate = asdict(found.estimate)
        output.json_line({**asdict(case), **found.plan, **estimate, "ratio": found.ratio, "units_us": given})
        return
    console = output.console()
    for part in [*_stages(case, found.plan, console.width), _facts(case, found)]:
        console.print(part)


def _stages(case: FunctionalCase, plan: _core.Plan, width: int) -> list[Table]:
    timed = plan["seconds"] is not None
    columns = ["stage", "level in", "level out", "keys", "transforms", "products", "conversion products"]
    rows = [
        [
            stage["name"],
            stage["level_in"],
            stage["level_out"],
            gigabytes(stage["key_bytes"]),
            *work_cells(stage["work"]),
            *([f"{stage['seconds']:.3f} s"] if timed else []),
        ]
        for stage in plan["stages"]
    ]
    title = f"Functional bootstrap, {case.entries} entries, preset {case.preset}, {case.method} key: work in limbs"
    return output.fitting(title, [*columns, *(["predicted"] if timed else [])], rows, width)


def _facts(case: FunctionalCase, found: FunctionalPlan) -> Table:
    plan, estimate, memory = found.plan, found.estimate, memory_report(found.plan)
    rows = [
        ("level after", estimate.level),
        ("levels of the table", estimate.levels),
        ("messages", plan["slot_count"] * (1 if case.real else 2)),
        ("security", f"{plan['security_bits']:.1f} bits"),
        *_noise(estimate),
        (f"bootstrap key, {plan['key_size']}", gigabytes(plan["key_bytes"])),
        ("keys for relinearization, conjugation", gigabytes(memory.other_keys)),
        ("matrices", gigabytes(memory.matrices)),
        ("working memory", gigabytes(memory.working)),
        ("peak memory", gigabytes(memory.peak) + ("" if memory.fits else ", MORE than this machine has free")),
    ]
    if found.ratio is not None:
        rows.append(("predicted, one thread", f"{plan['seconds']:.2f} s, {found.ratio:.2f} of a regular bootstrap"))
    return output.facts("Forecast", rows)


def _noise(estimate: FunctionalEstimate) -> list[tuple[str, str]]:
    """What results err by, and what inputs may."""
    error = estimate.largest_input_error
    return [
        ("noise of a result", f"{estimate.noise:.2e} (root mean square)"),
        ("a wrong entry, exact inputs", failure_text(estimate.log2_failure)),
        ("inputs may err by", "nothing" if not error else f"{error:.2e} (root mean square)"),
    ]
