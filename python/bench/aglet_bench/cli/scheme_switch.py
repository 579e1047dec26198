"""`aglet bench scheme-switch`, and `aglet plan --scheme-switch`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from aglet.cli import output
from aglet.errors import LevelError, ParameterError, RangeError
from aglet.reports import failure_text
from aglet.scheme_switch.estimate import SchemeSwitchEstimate
from aglet.scheme_switch.switch import SchemeSwitch
from aglet_bench.cli import options
from aglet_bench.cli.bench import Repeat, Threads, print_quiet
from aglet_bench.cli.conversions import conversion_stages, conversions_from_fhew, from_fhew_tables, stage_tables
from aglet_bench.scheme_switch.measure import SCHEME_SWITCH_KINDS, SchemeSwitchCase, bench_scheme_switch

if TYPE_CHECKING:
    from aglet._core import KeySize

__all__ = ["plan_scheme_switch", "scheme_switch"]

_WAYS: tuple[dict[str, Any], ...] = ({"what": "to_fhew", "count": 1}, {"what": "to_fhew", "count": 4096})
_TABLES: tuple[dict[str, Any], ...] = ({"what": "lookup", "count": 64}, {"what": "lookup_bytes", "count": 64})
_OF_SLOTS: tuple[dict[str, Any], ...] = (
    {"what": "from_fhew", "count": 4096},
    {"what": "sign", "count": 64, "bits": 16},
    {"what": "compare", "count": 64, "bits": 16, "from_fhew": True},
    {"what": "compare", "count": 64, "bits": 20, "from_fhew": True},
    {"what": "argmin", "row": 16, "bits": 16},
)
_OF_INTEGERS: tuple[dict[str, Any], ...] = (
    {"what": "from_fhew", "count": 4096, "bits": 1},
    {"what": "lookup", "count": 64, "bits": 1, "from_fhew": True},
    {"what": "lookup", "count": 64, "from_fhew": True},
    {"what": "lookup_bytes", "count": 64, "from_fhew": True},
)
"""The calls that are shown."""
_FAILS = -16.0
"""A call is not shown if its results are wrong more often than this power of 2."""
_ACCEPTED = -128.0
"""The failure probability that is accepted unless a call says otherwise."""


def plan_scheme_switch(
    case: SchemeSwitchCase, unheard: list[str], units: Mapping[str, float] | None, model: bool, json: bool
) -> None:
    """Print the cost of calls that switch schemes. No key is made.

    Parameters
    ----------
    unheard
        Options that were given and have no meaning for a switch.
    units
        Microseconds per unit of work, for the stages of both directions, which `model` shows; measured now if not
        given. The times of calls use earlier measurements, or the times that come with Aglet.

    Raises
    ------
    ParameterError
        If there is no switch between the two sets, or an option has no meaning for it.
    """
    if case.of_integers:
        unheard = [*unheard, *(["--slots"] if case.slot_count is not None else [])]
        unheard += [f"--key-size {case.key_size}"] if case.key_size != "large" else []
    if unheard:
        raise ParameterError(
            f"A switch{' to integers' if case.of_integers else ''} does not take {', '.join(unheard)}; it takes "
            f"{'--preset' if case.of_integers else '--preset, --slots, --key-size'}, --model with --units, and "
            "--json. `aglet bench scheme-switch` measures."
        )
    if case.key_size not in ("medium", "large"):
        raise ParameterError(f'A switch needs bootstrap keys of size "medium" or "large", not {case.key_size!r}.')
    made = case.switch()
    most = made.engine.slot_count
    named = (*_WAYS, *_TABLES, *(_OF_INTEGERS if case.of_integers else _OF_SLOTS))
    calls = [{**call, "count": min(call["count"], most)} if "count" in call else call for call in named]
    found = [(call, one) for call in calls if (one := _estimated(made, case.key_size, call)) is not None]
    returned = conversions_from_fhew(made)
    stages = conversion_stages(made, case.key_size, units) if model else {}
    if json:
        facts = {"preset": case.preset, "fhew_preset": case.fhew_preset, "switch_key_bytes": made.key_bytes}
        lines = [{**call, **dataclasses.asdict(one)} for call, one in found]
        # JSON has no infinity: nothing fails where there is no lookup.
        none = [{**line, "log2_failure": None} if math.isinf(line["log2_failure"]) else line for line in lines]
        rows = [dataclasses.asdict(row) for row in returned]
        more: dict[str, Any] = {"conversions_from_fhew": rows} if rows else {}
        if model:
            more["stages"] = {way: [dataclasses.asdict(stage) for stage in found] for way, found in stages.items()}
        output.json_line({**facts, "calls": none, **more})
        return
    console = output.console()
    title = (
        f"From {case.preset} to {case.fhew_preset} and back, one thread, from earlier measurements or the times that "
        f"come with Aglet; switching key {made.key_bytes / 1000000.0:.1f} MB"
    )
    for part in [
        *output.fitting(title, _COLUMNS, [_cells(call, one) for call, one in found], console.width),
        *from_fhew_tables(returned, console.width),
        *stage_tables(stages, console.width, units is not None),
    ]:
        console.print(part)
    if any(one.log2_failure > _ACCEPTED for _, one in found):
        console.print("Calls that fail more often than 2^-128 are refused, unless max_failure= allows it.")


_COLUMNS = ("call", "rotations", "bootstraps", "time", "", "output level", "wrong result")


def _cells(call: dict[str, Any], one: SchemeSwitchEstimate) -> tuple[Any, ...]:
    level = "-" if one.level is None else one.level
    time = f"{one.seconds:.3g} s"
    return _said(**call), one.rotations, one.refreshes, time, one.source, level, _wrong(one.log2_failure)


def _wrong(log2: float) -> str:
    """How often a result is wrong."""
    return "-" if math.isinf(log2) else failure_text(log2) + (" (max_failure=)" if log2 > _ACCEPTED else "")


def _said(what: str, from_fhew: bool = False, **numbers: int) -> str:
    """A call in words."""
    return ", ".join(
        [what, *(f"{name} {value}" for name, value in numbers.items()), *(["brought back"] if from_fhew else [])]
    )


def _estimated(made: SchemeSwitch, size: str, call: dict[str, Any]) -> SchemeSwitchEstimate | None:
    """None if the FHEW engine has too few bits for a call, or the integers too few levels."""
    try:
        found = made.estimate(**call, size=cast("KeySize", size))
    except (LevelError, ParameterError, RangeError):
        return None
    return found if found.log2_failure < _FAILS else None


@output.sentences
def scheme_switch(
    kind: Annotated[str, typer.Argument(help=", ".join(SCHEME_SWITCH_KINDS) + ".")] = "compare",
    values: Annotated[int, typer.Option(help="Number of slots, bits or pairs, or slots in a row of argmin.")] = 64,
    bits: Annotated[
        int | None,
        typer.Option(help="Bits of real numbers, 2 to 20 (default 16), or of messages of integers (default 1)."),
    ] = None,
    preset: Annotated[str, typer.Option(help="Parameter set of the slots: CKKS or integers.")] = "regular",
    fhew_preset: Annotated[str, typer.Option(help="Parameter set of FHEW.")] = "lut4",
    slots: Annotated[int | None, typer.Option(help="Number of slots; all of them if not given.")] = None,
    key_size: options.KeySize = "medium",
    allow_insecure: output.AllowInsecure = False,
    threads: Threads = 1,
    repeat: Repeat = 3,
    json: output.Json = False,
) -> None:
    """Make the keys of a scheme switch and time one direction or operation. Results are compared with plain ones."""
    case = SchemeSwitchCase(kind, values, bits, preset, fhew_preset, slots, key_size, threads, allow_insecure)
    record = bench_scheme_switch(case, repeat=repeat)
    if json:
        output.json_line(record)
        return
    console = output.console()
    console.print(
        f"{record['kind']} of {record['values']} values, presets {record['preset']} and {record['fhew_preset']}, "
        f"{record['slot_count']} slots, {record['threads']} threads, {record['backend']}, {record['cpu']}"
    )
    console.print(
        f"{record['seconds'] * 1e3:.0f} ms (median of {len(record['seconds_all'])}), {record['wrong']} wrong, "
        f"switching key {record['switch_key_bytes'] / 1e6:.1f} MB "
        f"(stored {record['switch_key_bytes_seeded'] / 1e6:.1f} MB), "
        f"all keys in {record['keygen_seconds']:.1f} s, security {record['security_bits']:.1f} bits"
    )
    print_quiet([record])
