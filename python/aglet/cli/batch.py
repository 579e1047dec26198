"""`aglet batch`: bootstraps, gates and lookup tables on folders and urls of ciphertexts."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from aglet.cli import output
from aglet.progress import ProgressCallback

__all__ = ["batch"]

batch = typer.Typer(
    help="Run one operation on a folder or url of ciphertexts, on this machine or a Ray cluster.", no_args_is_help=True
)

_EVERY_S = 10.0


@batch.callback()
def _group() -> None:
    """Run one operation on a folder or url of ciphertexts, on this machine or a Ray cluster."""


@batch.command()
@output.sentences
def bootstrap(
    source: Annotated[str, typer.Argument(metavar="IN", help="The folder or fsspec url with the ciphertexts.")],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The folder or url for the results. They keep the names of the inputs.")
    ],
    keys: Annotated[str, typer.Option(help="The folder or url of the keys, made by keys.save(folder).")],
    method: Annotated[
        str,
        typer.Option(
            help="The operation: a bootstrap, gate or lookup table, such as regular, merge, integer, nand, lookup."
        ),
    ] = ("regular"),
    target_level: Annotated[
        int | None, typer.Option(help="The level of the results; the highest possible if not given.")
    ] = None,
    bound: Annotated[float | None, typer.Option(help="The largest absolute value of a slot, if it is above 1.")] = None,
    table: Annotated[
        str | None, typer.Option(help="For lookup and lookup2: the result for each message in order, such as 0,1,1,0.")
    ] = None,
    address: Annotated[
        str, typer.Option(help="local, or the address of a Ray cluster: auto or ray://host:port.")
    ] = "local",
    actors_per_node: Annotated[int, typer.Option(help="Worker processes on each node of a cluster.")] = 1,
    streams: Annotated[int, typer.Option(help="Groups of ciphertexts that a worker computes at the same time.")] = 1,
    threads: Annotated[int, typer.Option(help="Threads of the local worker; 0 means all cores.")] = 0,
    mode: Annotated[
        str, typer.Option(help="parallel for the cores, gpu for the card of this machine or all of a cluster.")
    ] = "parallel",
    retries: Annotated[int, typer.Option(help="How often to retry when a worker is lost or a store refuses.")] = 3,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Make all results again, also those that exist.")
    ] = False,
    allow_insecure: output.AllowInsecure = False,
    json: output.Json = False,
) -> None:
    """Run the operation on every ciphertext below IN, and write the results below OUT."""
    from aglet.batch import Pool
    from aglet.batch.results import ignored_sentence

    options: dict[str, Any] = {"target_level": target_level, "bound": bound, "table": _numbers(table)}
    pool = Pool(
        keys,
        method=method,
        address=None if address == "local" else address,
        streams=streams,
        actors_per_node=actors_per_node,
        threads=threads,
        mode=mode,
        retries=retries,
        allow_insecure=allow_insecure,
        **options,
    )
    with pool:
        report = pool.run(source, target, overwrite=overwrite, progress=None if sys.stderr.isatty() else _lines())
    if json:
        failures = [failure.__dict__ for failure in report.failures]
        output.json_line({**report.__dict__, "failures": failures})
    else:
        console = output.console()
        rows = [(node, count, f"{seconds:.3g}") for node, (count, seconds) in sorted(report.by_node.items())]
        console.print(output.table(f"{report.done} ciphertexts", ("node", "ciphertexts", "seconds each"), rows))
        console.print(
            f"Done in {report.seconds:.1f} s; {report.skipped} had a result already, {len(report.failures)} failed."
        )
        if report.ignored:
            console.print(ignored_sentence(report.ignored))
        for failure in report.failures[:10]:
            console.print(f"{failure.name!a}: {failure.error}")
    if report.failures:
        raise typer.Exit(1)


def _numbers(table: str | None) -> list[int] | None:
    if table is None:
        return None
    try:
        return [int(word) for word in table.split(",")]
    except ValueError as error:
        raise typer.BadParameter(
            "--table must be a list of whole numbers separated by commas, such as 0,1,1,0."
        ) from error


def _lines() -> ProgressCallback:
    """Report progress as a line now and then, where there is no terminal for a bar."""
    last = time.monotonic()

    def report(done: int, total: int, what: str) -> None:
        nonlocal last
        if time.monotonic() - last > _EVERY_S:
            last = time.monotonic()
            typer.echo(f"{done} of {total}, {what}", err=True)

    return report
