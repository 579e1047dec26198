"""`aglet doctor`, `aglet params` and `aglet plan`: what the machine is, what there is, what a bootstrap will need."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from aglet import _core
from aglet.cli import output
from aglet.reports import failure_text, gigabytes, memory_report

__all__ = ["doctor", "doctor_line", "params", "plan", "plan_tables"]


def doctor_line(machine: _core.DoctorReport) -> str:
    """The machine in one line."""
    forced = f" (forced; the best here is {machine['backends'][0]})" if machine["forced"] else ""
    return (
        f"aglet {machine['version']} on {machine['cpu']}: backend {machine['backend']}{forced}, "
        f"{machine['cores']} cores, "
        f"{gigabytes(machine['memory_available_bytes'])} of {gigabytes(machine['memory_total_bytes'])} free"
    )


@output.sentences
def doctor(json: output.Json = False) -> None:
    """Show the processor, the chosen backend, the threads and the memory."""
    machine = _core.doctor()
    if json:
        output.json_line(dict(machine))
        return
    rows = [
        ("version", machine["version"]),
        ("processor", machine["cpu"]),
        ("features", " ".join(machine["features"])),
        ("backends, best first", ", ".join(machine["backends"])),
        ("backend in use", machine["backend"]),
        ("AGLET_BACKEND", machine["forced"] or "not set"),
        ("threads", machine["cores"]),
        ("memory", gigabytes(machine["memory_total_bytes"])),
        ("memory free", gigabytes(machine["memory_available_bytes"])),
        ("huge pages", machine["huge_pages"]),
    ]
    output.console().print(output.facts("aglet doctor", rows))


@output.sentences
def params(json: output.Json = False) -> None:
    """Show all parameter sets: size, security, levels, precision, keys."""
    presets = _core.presets()
    if json:
        for preset in presets:
            output.json_line(dict(preset))
        return
    columns = (
        "preset",
        "log N",
        "slots",
        "log Q",
        "log QP",
        "secret",
        "security",
        "levels",
        "scale",
        "precision",
        "overflow",
        "keys",
    )
    rows = []
    for preset in presets:
        bits, keys = preset["precision_bits"], preset["key_bytes"]
        rows.append(
            (
                preset["name"],
                preset["log_n"],
                preset["slots"],
                f"{preset['log_q']:.0f}",
                f"{preset['log_qp']:.0f}",
                "ternary" if "ternary" in preset["secret"] else f"h = {preset['secret'].split()[-1]}",
                f"{preset['security_bits']:.0f} bits",
                preset["levels"],
                f"2^{preset['scale_bits']:.0f}",
                "-" if bits is None else f"{bits:.1f} bits",
                failure_text(preset["log2_failure"]) if preset["methods"] else "-",
                "-" if keys is None else gigabytes(keys),
            )
        )
    console = output.console()
    console.print(output.table("Parameter sets (classical security, precision as claimed)", columns, rows))
    console.print("Below 128 bits the security is a cautious estimate, and an engine needs allow_insecure=True.")
    for preset in presets:
        methods = ", ".join(preset["methods"]) or "no bootstrapping"
        console.print(f"{preset['name']}: {methods}. {preset['source']}")


@output.sentences
def plan(
    method: output.Method = "regular",
    stages: output.Stages = 3,
    key_size: output.KeySize = "large",
    slots: Annotated[int | None, typer.Option(help="Slots in use; all of them if not given.")] = None,
    real: Annotated[bool, typer.Option(help="Of real messages.")] = False,
    target_level: Annotated[int | None, typer.Option(help="The level to leave; the highest if not given.")] = None,
    preset: output.Preset = "regular",
    json: output.Json = False,
) -> None:
    """Show the stages of a bootstrap, its levels, the keys it needs and the memory. No key is made."""
    slot_count = _slots(preset) if slots is None else slots
    planned = _core.plan(preset, method, stages, key_size, slot_count, real, target_level)
    if json:
        output.json_line(dict(planned))
        return
    console = output.console()
    for part in plan_tables(planned):
        console.print(part)
    for name, steps in planned["rotations"].items():
        if steps:
            console.print(f"{name} rotates by {', '.join(str(step) for step in steps)}")


def plan_tables(planned: _core.Plan) -> list[Table]:
    """A plan as two tables: the stages, and the levels and the memory."""
    stages = output.table(
        f"Stages of the {planned['method']} bootstrap, preset {planned['preset']} (chain levels: limbs - 1)",
        ("stage", "", "level in", "level out", "scale in", "scale out", "keys", "key memory"),
        [
            (
                stage["name"],
                stage["note"],
                stage["level_in"],
                stage["level_out"],
                f"2^{stage['scale_in_log2']:.2f}",
                f"2^{stage['scale_out_log2']:.2f}",
                stage["keys"],
                gigabytes(stage["key_bytes"]),
            )
            for stage in planned["stages"]
        ],
        left=2,
    )
    bits, memory = planned["precision_bits"], memory_report(planned)
    others = "relinearization, conjugation" + (", rotation" if planned["key_size"] == "small" else "")
    facts = output.facts(
        "Forecast",
        [
            ("level before and after", f"{planned['input_level']} or more, {planned['output_level']}"),
            ("ring", f"N = 2^{planned['log_n']}, log QP = {planned['log_qp']:.0f}, {planned['slot_count']} slots"),
            ("security", f"{planned['security_bits']:.1f} bits"),
            ("overflow", failure_text(planned["log2_failure"])),
            ("precision, uniform message", "not claimed" if bits is None else f"{bits:.1f} bits"),
            (f"bootstrap key, {planned['key_size']}", gigabytes(planned["key_bytes"])),
            (f"keys for {others}", gigabytes(memory.other_keys)),
            ("keys when stored seeded", gigabytes(memory.keys_seeded)),
            ("matrices", gigabytes(memory.matrices)),
            ("working memory", gigabytes(memory.working)),
            ("peak memory", gigabytes(memory.peak) + ("" if memory.fits else ", MORE than this machine has free")),
        ],
    )
    return [stages, facts]


def _slots(name: str) -> int:
    """All slots of a preset; of an unknown one, none: the plan then names it."""
    return next((preset["slots"] for preset in _core.presets() if preset["name"] == name), 0)
