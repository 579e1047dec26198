"""`aglet batch`: bootstraps, gates and tables on folders and urls of ciphertexts."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from aglet.cli import output
from aglet.progress import ProgressCallback

__all__ = ["batch"]

batch = typer.Typer(help="One operation on a folder or url of ciphertexts, here or on a cluster.", no_args_is_help=True)

_EVERY_S = 10.0


@batch.callback()
def _group() -> None:
    """One operation on a folder or url of ciphertexts, here or on a cluster."""


@batch.command()
@output.sentences
def bootstrap(
    source: Annotated[str, typer.Argument(metavar="IN", help="A folder or fsspec url of ciphertexts.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="Where the results go, under the same names.")],
    keys: Annotated[str, typer.Option(help="The folder or url of the keys: keys.save(folder), batch.save_keys.")],
    method: Annotated[
        str, typer.Option(help="A bootstrap, gate or table: regular, merge, integer, nand, lookup, ...")
    ] = ("regular"),
    target_level: Annotated[int | None, typer.Option(help="A lower level than the highest possible.")] = None,
    bound: Annotated[float | None, typer.Option(help="The largest absolute value, if it is above 1.")] = None,
    table: Annotated[str | None, typer.Option(help="Of lookup and lookup2: the results in turn, as 0,1,1,0.")] = None,
    address: Annotated[str, typer.Option(help="local, or a Ray cluster: auto, ray://host:port.")] = "local",
    actors_per_node: Annotated[int, typer.Option(help="Workers on each node of a cluster.")] = 1,
    streams: Annotated[int, typer.Option(help="Groups that compute at a time in a worker.")] = 1,
    threads: Annotated[int, typer.Option(help="Of the local worker; 0 means all cores.")] = 0,
    retries: Annotated[int, typer.Option(help="Further tries where a worker is lost or a store refuses.")] = 3,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Make all results again.")] = False,
    allow_insecure: output.AllowInsecure = False,
    json: output.Json = False,
) -> None:
    """Refresh every ciphertext below IN; go on where a run was stopped; list what failed, and end with 1 then."""
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
            f"Done in {report.seconds:.1f} s; {report.skipped} had a result before, {len(report.failures)} failed."
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
        raise typer.BadParameter("--table is a list of whole numbers, as 0,1,1,0.") from error


def _lines() -> ProgressCallback:
    """Where there is no terminal for a bar, a line now and then."""
    last = time.monotonic()

    def report(done: int, total: int, what: str) -> None:
        nonlocal last
        if time.monotonic() - last > _EVERY_S:
            last = time.monotonic()
            typer.echo(f"{done} of {total}, {what}", err=True)

    return report
