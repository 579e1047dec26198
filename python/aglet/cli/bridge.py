"""`aglet bench bridge`, and `aglet plan --bridge`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from aglet.bridge.bridge import Bridge
from aglet.bridge.estimate import BridgeEstimate
from aglet.bridge.integers import IntegerBridge
from aglet.bridge.measure import BRIDGE_KINDS, BridgeCase, bench_bridge
from aglet.cli import output
from aglet.cli.bench import Repeat, Threads, print_quiet
from aglet.cli.ways import stage_tables, up_tables, way_stages, ways_up
from aglet.errors import LevelError, ParameterError, RangeError
from aglet.reports import failure_text

__all__ = ["bridge", "plan_bridge"]

_WAYS: tuple[dict[str, Any], ...] = ({"what": "to_lookup", "count": 1}, {"what": "to_lookup", "count": 4096})
_TABLES: tuple[dict[str, Any], ...] = ({"what": "lookup", "count": 64}, {"what": "lookup_bytes", "count": 64})
_OF_SLOTS: tuple[dict[str, Any], ...] = (
    {"what": "from_lookup", "count": 4096},
    {"what": "sign", "count": 64, "bits": 16},
    {"what": "compare", "count": 64, "bits": 16, "up": True},
    {"what": "compare", "count": 64, "bits": 20, "up": True},
    {"what": "argmin", "row": 16, "bits": 16},
)
_OF_INTEGERS: tuple[dict[str, Any], ...] = (
    {"what": "from_lookup", "count": 4096, "bits": 1},
    {"what": "lookup", "count": 64, "bits": 1, "up": True},
    {"what": "lookup", "count": 64, "up": True},
    {"what": "lookup_bytes", "count": 64, "up": True},
)
"""Calls that are shown."""
_FAILS = -16.0
"""A call whose results are wrong more often than this power of 2 is no call of the set."""
_ACCEPTED = -128.0
"""What is accepted unless a call says otherwise."""


def plan_bridge(
    case: BridgeCase, unheard: list[str], units: Mapping[str, float] | None, model: bool, json: bool
) -> None:
    """Print what calls over a bridge take: no key is made.

    Parameters
    ----------
    unheard
        Options that were given and say nothing of a bridge.
    units
        Microseconds for a unit of work, for the stages of both ways, which `model` shows; measured now if not given.
        Calls take what was measured before, or the units that come with Aglet.

    Raises
    ------
    ParameterError
        If there is no bridge between the two sets, or an option says nothing of it.
    """
    if case.of_integers:
        unheard = [*unheard, *(["--slots"] if case.slot_count is not None else [])]
        unheard += [f"--key-size {case.key_size}"] if case.key_size != "large" else []
    if unheard:
        raise ParameterError(
            f"A bridge{' to integers' if case.of_integers else ''} has nothing for {', '.join(unheard)}: it takes "
            f"{'--preset' if case.of_integers else '--preset, --slots, --key-size'}, --model with --units, and --json; "
            "`aglet bench bridge` measures."
        )
    if case.key_size not in ("medium", "large"):
        raise ParameterError(f'A bridge goes with bootstrap keys of size "medium" or "large", not {case.key_size!r}.')
    made = case.bridge()
    most = made.engine.slot_count
    named = (*_WAYS, *_TABLES, *(_OF_SLOTS if isinstance(made, Bridge) else _OF_INTEGERS))
    calls = [{**call, "count": min(call["count"], most)} if "count" in call else call for call in named]
    found = [(call, one) for call in calls if (one := _estimated(made, case.key_size, call)) is not None]
    raised = ways_up(made) if isinstance(made, IntegerBridge) else []
    stages = way_stages(made, case.key_size, units) if model else {}
    if json:
        facts = {"preset": case.preset, "lookup_preset": case.lookup_preset, "bridge_key_bytes": made.key_bytes}
        lines = [{**call, **dataclasses.asdict(one)} for call, one in found]
        # JSON has no infinity: nothing fails where there is no look-up.
        none = [{**line, "log2_failure": None} if math.isinf(line["log2_failure"]) else line for line in lines]
        more: dict[str, Any] = {"ways_up": [dataclasses.asdict(row) for row in raised]} if raised else {}
        if model:
            more["stages"] = {way: [dataclasses.asdict(stage) for stage in found] for way, found in stages.items()}
        output.json_line({**facts, "calls": none, **more})
        return
    console = output.console()
    title = (
        f"From {case.preset} to {case.lookup_preset} and back, one thread, as measured before or by the units that "
        f"come with Aglet; bridge key {made.key_bytes / 1e6:.1f} MB"
    )
    for part in [
        *output.fitting(title, _COLUMNS, [_cells(call, one) for call, one in found], console.width),
        *up_tables(raised, console.width),
        *stage_tables(stages, console.width, units is not None),
    ]:
        console.print(part)
    if any(one.log2_failure > _ACCEPTED for _, one in found):
        console.print("Calls that fail more often than 2^-128 are refused unless max_failure= accepts it.")


_COLUMNS = ("call", "rotations", "bootstraps of slots", "time", "", "to level", "a result is wrong")


def _cells(call: dict[str, Any], one: BridgeEstimate) -> tuple[Any, ...]:
    level = "-" if one.level is None else one.level
    time = f"{one.seconds:.3g} s"
    return _said(**call), one.rotations, one.refreshes, time, one.source, level, _wrong(one.log2_failure)


def _wrong(log2: float) -> str:
    """How often a result is wrong."""
    return "-" if math.isinf(log2) else failure_text(log2) + (" (max_failure=)" if log2 > _ACCEPTED else "")


def _said(what: str, up: bool = False, **numbers: int) -> str:
    """A call in words."""
    return ", ".join([what, *(f"{name} {value}" for name, value in numbers.items()), *(["brought up"] if up else [])])


def _estimated(made: Bridge | IntegerBridge, size: str, call: dict[str, Any]) -> BridgeEstimate | None:
    """None of a call that the look-up engine has not the bits for, or the integers not the levels."""
    known: dict[str, Any] = {"size": size} if isinstance(made, Bridge) else {}
    try:
        found = made.estimate(**call, **known)
    except (LevelError, ParameterError, RangeError):
        return None
    return found if found.log2_failure < _FAILS else None


@output.sentences
def bridge(
    kind: Annotated[str, typer.Argument(help=", ".join(BRIDGE_KINDS) + ".")] = "compare",
    values: Annotated[int, typer.Option(help="Slots, bits, pairs, or slots in a row of argmin.")] = 64,
    bits: Annotated[
        int | None,
        typer.Option(help="Bits of real numbers, 2 to 20 (16 if not given); of messages of integers (1 if not given)."),
    ] = None,
    preset: Annotated[str, typer.Option(help="A parameter set of slots, or of integers.")] = "regular",
    lookup_preset: Annotated[str, typer.Option(help="A parameter set of look-ups.")] = "lut4",
    slots: Annotated[int | None, typer.Option(help="Slots in use; all of them if not given.")] = None,
    key_size: output.KeySize = "medium",
    allow_insecure: output.AllowInsecure = False,
    threads: Threads = 1,
    repeat: Repeat = 3,
    json: output.Json = False,
) -> None:
    """Make the keys of a bridge and time a way over it; results are compared with those in the clear."""
    case = BridgeCase(kind, values, bits, preset, lookup_preset, slots, key_size, threads, allow_insecure)
    record = bench_bridge(case, repeat=repeat)
    if json:
        output.json_line(record)
        return
    console = output.console()
    console.print(
        f"{record['kind']} of {record['values']} values, presets {record['preset']} and {record['lookup_preset']}, "
        f"{record['slot_count']} slots, {record['threads']} threads, {record['backend']}, {record['cpu']}"
    )
    console.print(
        f"{record['seconds'] * 1e3:.0f} ms (median of {len(record['seconds_all'])}), {record['wrong']} wrong, "
        f"bridge key {record['bridge_key_bytes'] / 1e6:.1f} MB "
        f"(stored {record['bridge_key_bytes_seeded'] / 1e6:.1f} MB), "
        f"all keys in {record['keygen_seconds']:.1f} s, security {record['security_bits']:.1f} bits"
    )
    print_quiet([record])
