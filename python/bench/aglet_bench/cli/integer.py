"""Parameter sets of integers on the command line, for `aglet plan`."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from aglet import _core
from aglet.cli import output
from aglet.reports import failure_text, gigabytes
from aglet_bench.timing import units_of_ring

__all__ = ["is_integer_preset", "plan_integer", "work_cells"]


def is_integer_preset(name: str) -> bool:
    """Whether there is a parameter set of integers with this name."""
    return any(known["name"] == name for known in _core.integer_presets())


def plan_integer(preset: str, units: Mapping[str, float] | None, model: bool, json: bool) -> None:
    """Print the figures of a set, the cost of circuits and a bootstrap and, by the model, seconds. No key is made."""
    info = next(p for p in _core.integer_presets() if p["name"] == preset)
    given: _core.UnitCosts | Mapping[str, float] | None = None
    if model:
        given = units_of_ring(info["log_n"]) if units is None else units
    found = _core.integer_plan(preset, given)
    if json:
        output.json_line({**info, "units_us": given, **found})
        return
    console = output.console()
    refresh = found["bootstrap"]
    parts = [*_circuits(info, found["circuits"], console.width), *(_stages(refresh, console.width) if refresh else [])]
    for part in [*parts, _facts(info, refresh)]:
        console.print(part)


def _seconds(row: _core.IntegerCircuitRow | _core.IntegerStageRow | _core.IntegerBootstrapPlan) -> str:
    return "" if row["seconds"] is None else f"{row['seconds'] * 1e3:.1f} ms"


def _circuits(info: _core.IntegerPresetInfo, circuits: list[_core.IntegerCircuitRow], width: int) -> list[Table]:
    rows = [
        (
            row["circuit"],
            row["levels"],
            row["relinearizations"],
            _seconds(row) if row["fits"] else "too few levels here",
        )
        for row in circuits
    ]
    title = f"{info['name']}: {info['slot_count']} integers modulo {info['plaintext_modulus']}, {info['levels']} levels"
    return output.fitting(title, ("circuit", "levels", "relinearizations", "one thread"), rows, width)


def work_cells(work: _core.Work) -> tuple[str, str, str]:
    """The transforms, the products, and the products of conversions, in limbs."""
    products = work["pointwise_products"] + work["key_products"] + work["diagonal_products"]
    transforms = work["forward_transforms"] + work["inverse_transforms"]
    return f"{transforms:.0f}", f"{products:.0f}", f"{work['conversion_products']:.0f}"


def _stages(refresh: _core.IntegerBootstrapPlan, width: int) -> list[Table]:
    rows = [
        (
            stage["name"],
            f"{stage['limbs_in']} to {stage['limbs_out']}",
            gigabytes(stage["key_bytes"]),
            *work_cells(stage["work"]),
            _seconds(stage),
        )
        for stage in refresh["stages"]
    ]
    rows.append(("all", "", gigabytes(refresh["key_bytes"]), *work_cells(refresh["work"]), _seconds(refresh)))
    columns = ("stage", "limbs", "keys", "transforms", "products", "conversion products", "one thread")
    return output.fitting("Bootstrap: work in limbs", columns, rows, width)


def _facts(info: _core.IntegerPresetInfo, refresh: _core.IntegerBootstrapPlan | None) -> Table:
    rows = [
        ("ring", f"N = 2^{info['log_n']}, log QP = {info['log_qp']:.0f}"),
        ("security", f"{info['security_bits']:.1f} bits"),
        ("relinearization key", gigabytes(info["relinearization_key_bytes"])),
        ("rotation key", gigabytes(info["rotation_key_bytes"])),
        ("fresh ciphertext", f"{info['ciphertext_bytes'] / 1e6:.1f} MB"),
    ]
    if refresh is not None:
        rows += [
            ("bootstrap", f"from level {refresh['input_level']} to {refresh['output_level']}"),
            ("bootstrap key", gigabytes(refresh["key_bytes"])),
            ("encoded maps", gigabytes(refresh["map_bytes"])),
            ("memory of a card, with keys", gigabytes(refresh["card_bytes"]["all"])),
            ("noise budget of a result (bound)", f"{refresh['noise_budget']:.0f} bits"),
            ("probability that any slot is wrong", failure_text(refresh["log2_failure"])),
        ]
    return output.facts("Forecast", rows)
