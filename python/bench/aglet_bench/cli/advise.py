"""`aglet advise`: which bootstrap to use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aglet import _core
from aglet.cli import output
from aglet.errors import ParameterError
from aglet.progress import progress_bar
from aglet.reports import gigabytes
from aglet_bench import recording, timing
from aglet_bench.advise import VALUES, Wish, other_family, rank, split
from aglet_bench.ckks.advice import Advice, nothing_fits
from aglet_bench.ckks.advice import advise as ranked
from aglet_bench.fhew.advice import FhewAdvice, ways
from aglet_bench.integer.advice import IntegerAdvice, integer_ways
from aglet_bench.scheme_switch.advice import ComparisonAdvice, comparison_ways
from aglet_bench.scheme_switch.table_advice import TableAdvice, table_ways

__all__ = ["advise"]

_SHOWN = 8
_EXAMPLE = "aglet advise --slots 32768 --bits 20 --levels 5"

AnyAdvice = Advice | FhewAdvice | IntegerAdvice | ComparisonAdvice


@output.sentences
def advise(
    slots: Annotated[int | None, typer.Option(help="The number of values to refresh. Required.")] = None,
    bits: Annotated[float | None, typer.Option(help="The precision in bits, for values of size 1. Required.")] = None,
    levels: Annotated[int | None, typer.Option(help="The multiplications between two bootstraps. Required.")] = None,
    values: Annotated[str, typer.Option(help=", ".join(VALUES) + ".")] = "real",
    throughput: Annotated[
        bool,
        typer.Option(
            "--throughput/--latency",
            help="Rank by the time per value of full ciphertexts, or by the time until all values are done.",
        ),
    ] = False,
    memory: Annotated[float | None, typer.Option(help="The most memory to use, in GB.")] = None,
    record: Annotated[Path | None, typer.Option(help="A folder of records to use instead.")] = None,
    here: Annotated[
        bool,
        typer.Option("--here", help="First measure the time of each unit of work on this machine, in some seconds."),
    ] = False,
    json: output.Json = False,
) -> None:
    """Rank the bootstraps that fit by measured or modelled time, and show the code of the best."""
    if slots is None or bits is None or levels is None:
        given = {"--slots": slots, "--bits": bits, "--levels": levels}
        missing = [name for name, value in given.items() if value is None]
        more = "" if len(missing) == len(given) else "also "
        raise ParameterError(f"advise {more}needs {' and '.join(missing)}; for example: {_EXAMPLE}.")
    wish = Wish(slots, bits, levels, values, throughput, None if memory is None else memory * 1e9)
    records, source = _records(record)
    units = _units_here() if here else timing.shipped
    everything: list[AnyAdvice] = [*comparison_ways(wish), *table_ways(wish, records)]
    if not everything:
        tables = ways(wish.values, wish.bits, wish.slots, wish.levels, wish.memory_bytes, records)
        everything = [*ranked(wish, records, units), *tables, *integer_ways(wish, records)]
    found = rank(wish, everything)
    if not found:
        for sentence in other_family(wish):
            typer.echo(sentence, err=True)
        raise ParameterError(nothing_fits(wish, records))
    if json:
        for advice in found:
            output.json_line(_line(advice, levels))
        return
    _show(wish, found, records, source, "here now" if here else "on the machine of the records")


def _units_here() -> timing.Units:
    """Measures the time of each unit of work of every preset, with progress."""
    presets = _core.presets()
    with progress_bar() as report:
        for done, preset in enumerate(presets):
            if report is not None:
                report(done, len(presets), f"units of {preset['name']}")
            if preset["methods"]:
                timing.units_for(preset)
    return timing.measured


def _records(folder: Path | None) -> tuple[list[dict[str, Any]], str]:
    if folder is not None:
        if not folder.is_dir():
            raise ParameterError(f"There is no folder {folder} of records; make one with aglet reproduce --record.")
        return list(recording.read(folder)), str(folder)
    return recording.known()


def _line(advice: AnyAdvice, levels: int) -> dict[str, Any]:
    fields = {name: getattr(advice, name) for name in advice.__dataclass_fields__}
    more = {"total_seconds": advice.total_seconds, "seconds_per_value": advice.seconds_per_value}
    return {**fields, **more, "calls": advice.calls(levels)}


def _row(place: int, advice: AnyAdvice, throughput: bool) -> tuple[Any, ...]:
    """The cells of one way."""
    time = advice.seconds_per_value * 1e6 if throughput else advice.total_seconds
    timed = f"{time:.3g}", "measured" if advice.seconds_measured else "modelled"
    memory = gigabytes(advice.memory_bytes)
    if isinstance(advice, FhewAdvice):
        name = f"{place}. FhewEngine, {advice.method}"
        return name, advice.preset, "-", "-", advice.bootstraps, *timed, f"{advice.bits:g}", "exact", "any", memory
    if isinstance(advice, ComparisonAdvice):
        levels, size = f"any to {advice.level_out}", ("-", advice.values, advice.bootstraps)
        return (
            f"{place}. {advice.method}",
            advice.preset,
            *size,
            *timed,
            f"{advice.bits:g}",
            advice.kind,
            levels,
            memory,
        )
    if isinstance(advice, IntegerAdvice):
        name, levels = f"{place}. IntegerEngine", f"{advice.level_in} to {advice.level_out}"
        size = "-", advice.slot_count, advice.bootstraps
        return name, advice.preset, *size, *timed, f"{advice.bits:.0f}", "exact", levels, memory
    return (
        f"{place}. {advice.method}" + (f", {advice.iterations} passes" if advice.iterations > 1 else ""),
        advice.preset,
        f"{advice.key_size}, {advice.stage_count}",
        advice.slot_count,
        advice.bootstraps,
        *timed,
        f"{advice.bits:.1f}",
        "measured" if advice.bits_measured else "predicted",
        f"{advice.level_in} to {advice.level_out}",
        memory,
    )


def _show(wish: Wish, found: list[AnyAdvice], records: list[dict[str, Any]], source: str, units: str) -> None:
    console = output.console()
    for sentence in other_family(wish):
        console.print(sentence, style="bold")
    # Gates and tables are one way, and sets of integers few, which are shown wherever they stand.
    placed = list(enumerate(found, 1))
    shown = [(place, advice) for place, advice in placed if place <= _SHOWN or not isinstance(advice, Advice)]
    rows = [_row(place, advice, wish.throughput) for place, advice in shown]
    unit = "us per value" if wish.throughput else "seconds"
    columns = ("method", "preset", "key, stages", "slots", "bootstraps", unit, "", "bits", "", "levels", "memory")
    order = "time per value" if wish.throughput else "the time until all values are refreshed"
    for part in output.fitting(
        f"{len(found)} ways, ranked by {order}, one thread", columns, rows, console.width, left=3
    ):
        console.print(part)
    measured, modelled = split(found)
    console.print(
        f"{measured} times are measured on this kind of machine ({_core.doctor()['cpu']}, records of {source}). "
        f"{modelled} are modelled: the work of the plan times the measured time of a unit of work ({units}), scaled "
        "to agree with records. Predicted bits come from running the plan on plain values with the noise of "
        "ciphertexts."
    )
    if any(isinstance(advice, FhewAdvice) for advice in found):
        console.print(
            "Gates and lookup tables of FhewEngine are exact and each has its own bootstrap. Their time is for as "
            "many operations on every value as there are levels between two bootstraps of Engine."
        )
    if any(isinstance(advice, IntegerAdvice) for advice in found):
        console.print(
            "IntegerEngine computes exactly modulo 65537. If it was not measured on this machine, its time is from "
            "the record of another one."
        )
    if isinstance(found[0], TableAdvice):
        console.print(
            "Tables by scheme switching are exact as FHEW messages. Tables of IntegerEngine and results that return "
            "to its slots are exact too. Bits that return to slots of Engine have noise, and polynomials increase "
            "it. Results at level 0 are FHEW messages."
        )
    elif any(isinstance(advice, ComparisonAdvice) for advice in found):
        console.print(
            "Comparisons by scheme switching are right up to the noise of the slots, polynomials for numbers that "
            "are at least 2^(1 - bits) apart. Both begin with fresh ciphertexts, and their times include bootstraps "
            "and all other steps."
        )
    named = {advice.preset for _, advice in shown if isinstance(advice, Advice)}
    for preset in _core.presets():
        if preset["name"] in named and preset["experimental"] is not None:
            console.print(f"{preset['name']} is experimental: {preset['experimental']}", soft_wrap=True)
    if isinstance(found[0], Advice | IntegerAdvice) and found[0].level_in:
        console.print(
            f"The best one needs an input at level {found[0].level_in} or more, so the levels below cannot be used."
        )
    console.print(f"\n{found[0].calls(wish.levels)}", soft_wrap=True, markup=False)
