"""`aglet reproduce`: published tables, measured on this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aglet import _core
from aglet.cli import output
from aglet.errors import ParameterError
from aglet_bench import recording
from aglet_bench.reproduce import TABLES, Outcome, Row, Table, html, load, plot, run, select
from aglet_bench.reproduce.report import COLUMNS, REMARK, Block, blocks, cells, exit_code, summary
from aglet_bench.reproduce.tables import read

__all__ = ["reproduce"]


@output.sentences
def reproduce(
    table: Annotated[str, typer.Argument(help=f"{', '.join(TABLES)}, or all; or your own .json file.")] = "all",
    rows: Annotated[str, typer.Option(help="Row names, with * and ?, separated by commas.")] = "",
    threads: Annotated[str, typer.Option(help="Numbers of threads, separated by commas.")] = "1",
    quick: Annotated[
        bool, typer.Option("--quick", help="Only some rows of each kind, and rows named in full; one repeat each.")
    ] = False,
    repeat: Annotated[
        int | None, typer.Option(help="Number of bootstraps, of which the median is reported; 3, with --quick 1.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Folder to add records to, such as repro/record; without it nothing is recorded."),
    ] = None,
    plot_to: Annotated[
        Path | None, typer.Option("--plot", help="Write a chart of the comparison to this file (.png, .svg or .pdf).")
    ] = None,
    html_to: Annotated[
        Path | None, typer.Option("--html", help="Write a page with tables and charts to this file.")
    ] = None,
    list_rows: Annotated[bool, typer.Option("--list", help="List the names of the rows and stop.")] = False,
) -> None:
    """Measure the rows of published tables: published and our time, ratio, precision, levels, security.

    The exit code is 0 if every measured row reaches its published precision, levels and slots. Rows of methods that
    Aglet does not have are "not yet" and do not count.
    """
    tables = _tables(table)
    wanted = [pattern.strip() for pattern in rows.split(",") if pattern.strip()]
    chosen = select(tables, wanted, quick)
    if list_rows:
        for row in chosen:
            typer.echo(f"{row.table} {row.name}" + (f"  (not yet: {why})" if (why := row.obstacle()) else ""))
        return
    counts = _threads(threads)
    _try_outputs(record, plot_to, html_to)  # before hours of measuring
    made = _measure(tables, chosen, counts, repeat or (1 if quick else 3), record)
    found = blocks(tables, made)
    _show(output.console(), found, made)
    _write(found, plot_to, html_to)
    raise typer.Exit(exit_code(made))


def _tables(name: str) -> list[Table]:
    if name == "all":
        return [load(known) for known in TABLES]
    return [read(Path(name)) if name.endswith(".json") else load(name)]


def _threads(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise ParameterError(f'--threads needs numbers from 1, separated by commas, such as 1,2; not "{text}".')
    return list(dict.fromkeys(counts))


def _try_outputs(folder: Path | None, plot_to: Path | None, html_to: Path | None) -> None:
    """Refuse outputs that cannot be written. Existing files stay, and no new ones are left behind."""
    if plot_to is not None:
        plot.require(plot_to)
    for option, path in (("--plot", plot_to), ("--html", html_to)):
        if path is not None:
            _try(option, path)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise ParameterError(
                f"No records can be written to the folder {folder}: {error.strerror}; give another --record."
            ) from error


def _try(option: str, path: Path) -> None:
    existed = path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise ParameterError(f"{option} {path} cannot be written: {error.strerror}; give another path.") from error
    if not existed:
        path.unlink()


def _measure(
    tables: list[Table], rows: list[Row], threads: list[int], repeat: int, folder: Path | None
) -> list[Outcome]:
    progress = Console(stderr=True, highlight=False)
    precision = {table.name: table.precision for table in tables}
    cpu, stamp, made = _core.doctor()["cpu"], recording.stamp(), []
    path = None
    outcomes = run(
        rows, threads=threads, repeat=repeat, precision=lambda row: precision[row.table], report=progress.print
    )
    for outcome in outcomes:
        made.append(outcome)
        if outcome.record:
            progress.print(f"    {outcome.record['seconds']:.3g} s, {'; '.join([outcome.status, *outcome.reasons])}")
        if folder is not None:
            path = recording.append(folder, cpu, {**stamp, "cpu": cpu, **outcome.as_record()})
    if path is not None:
        progress.print(f"Recorded in {path}.")
    return made


def _show(console: Console, found: list[Block], outcomes: list[Outcome]) -> None:
    table = None
    for block in found:
        if block.table is not table:
            table = block.table
            console.print(f"{table.title}. Source: {table.source}; published on {table.machine}. {table.remark}")
        made = output.table(block.section.title, COLUMNS, (cells(o, table.precision) for o in block.outcomes))
        made.columns[-1].justify = "left"
        for line, outcome in enumerate(block.outcomes):
            if outcome.status == "FAILED":
                made.rows[line].style = "bold red"
        console.print(made)
        if block.note:
            console.print(block.note)
    machine = _core.doctor()
    console.print(f"Ours: {machine['cpu']}, backend {machine['backend']}, median times. {REMARK}")
    if any(outcome.record.get("noisy") for outcome in outcomes):
        console.print("Do not quote rows marked (noisy): the machine was not quiet, see docs/measuring.md.")
    console.print(summary(outcomes))


def _write(found: list[Block], plot_to: Path | None, html_to: Path | None) -> None:
    if plot_to is not None:
        if plot.save(found, plot_to):
            typer.echo(f"Plot in {plot_to}.", err=True)
        else:
            typer.echo("No row was measured, so there is nothing to plot.", err=True)
    if html_to is not None:
        text = html.page(found, _core.doctor(), recording.stamp())
        try:
            html_to.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ParameterError(
                f"The page cannot be written to {html_to}: {error.strerror}; give another path."
            ) from error
        typer.echo(f"Page in {html_to}.", err=True)
