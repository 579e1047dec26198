"""`aglet demo`: makes keys and bootstraps a ciphertext, and measures everything on the way."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from aglet import _core
from aglet.ckks.engine import Engine
from aglet.cli import output
from aglet.cli.info import doctor_line
from aglet.keys.keyset import KeySet
from aglet.reports import gigabytes
from aglet_bench.ckks.measure import BootstrapRun, Case, make_message, run_bootstrap
from aglet_bench.cli import options
from aglet_bench.cli.plan import plan_tables
from aglet_bench.published import published_beside

__all__ = ["demo"]

_MESSAGES = ("uniform", "alternating")


@output.sentences
def demo(
    threads: Annotated[int, typer.Option(help="Threads; 0 means all cores.")] = 0,
    stages: options.Stages = None,
    key_size: options.KeySize = "large",
    preset: options.Preset = "regular",
    allow_insecure: output.AllowInsecure = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Use a ring of 512 slots without any security, only to check the installation."),
    ] = False,
) -> None:
    """Bootstrap a full ciphertext from level 0, and show the stages, the keys, the time and the precision."""
    if quick:
        preset, allow_insecure = "toy", True
    engine = Engine(preset=preset, mode="parallel", thread_count=threads, allow_insecure=allow_insecure)
    planned = _core.plan(engine.preset, "regular", stages, key_size, engine.slot_count)
    console = output.console()
    console.print(doctor_line(_core.doctor()))
    console.print(str(engine.security_report()))
    for part in plan_tables(planned, console.width):
        console.print(part)

    console.print(f"Making the keys on {engine.thread_count} threads ...")
    case = Case(key_size=key_size, stage_count=stages)
    keys = case.keys(engine)
    in_memory, stored = keys.bootstrap_bytes
    console.print(
        f"Keys: {gigabytes(in_memory)} in memory, {gigabytes(stored)} in files, made in {keys.seconds or 0.0:.1f} s."
    )
    console.print(f"Bootstrapping {len(_MESSAGES)} ciphertexts of {engine.slot_count} slots from level 0 ...")
    runs = {kind: run_bootstrap(engine, keys, make_message(kind, engine.slot_count), repeat=1) for kind in _MESSAGES}
    _show_runs(console, engine, case, keys, runs)


def _show_runs(console: Console, engine: Engine, case: Case, keys: KeySet, runs: dict[str, BootstrapRun]) -> None:
    uniform, hard = (runs[kind] for kind in _MESSAGES)
    stages = [(name, f"{seconds:.2f}") for name, seconds in hard.stage_seconds.items()]
    console.print(output.table("Time of each stage (of the last bootstrap)", ("stage", "seconds"), stages))
    ours = (
        f"aglet, {case.key_size} key, {case.plan(engine)['stage_count']} stages",
        f"this machine, {engine.thread_count} threads, {engine.backend}",
        f"{uniform.seconds[0]:.2f}",
        f"0 to {uniform.output_level}",
        f"{uniform.precision.bits_mean:.1f}",
        f"{uniform.precision.bits_worst:.1f}",
        f"{hard.precision.bits_mean:.1f}",
        f"{hard.precision.bits_worst:.1f}",
        gigabytes(keys.bootstrap_bytes[0]),
    )
    rows = published_beside(engine.security_report().security_bits, engine.slot_count)
    published = [
        (
            row.library,
            row.machine,
            f"{row.seconds:g}",
            f"0 to {row.levels_after}",
            f"{row.bits_mean:.1f}",
            "-",
            "-" if row.bits_hard is None else f"{row.bits_hard:.1f}",
            "-",
            "-" if row.key_bytes is None else gigabytes(row.key_bytes),
        )
        for row in rows
    ]
    columns = (
        "one bootstrap",
        "where",
        "seconds",
        "levels",
        "bits, mean",
        "worst slot",
        "alternating 1, -1: mean",
        "worst slot",
        "keys",
    )
    title = "Measured here, and published by others" if published else "Measured here"
    console.print(output.table(title, columns, [ours, *published], left=2))
    console.print(
        "The published rows were measured by their authors on their machines. Machines and parameters differ, so "
        "read them as an order of magnitude, not as a race."
        if published
        else "No published figures are shown: they are for full ciphertexts of 32,768 slots at 128 bits of security. "
        "Run `aglet demo` without options to compare."
    )
    console.print(f"Peak memory of this run: {gigabytes(_core.peak_rss_bytes())}.")
