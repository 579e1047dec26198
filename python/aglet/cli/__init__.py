"""The command `aglet`."""

from __future__ import annotations

from typing import Annotated

import typer

import aglet
from aglet.cli.advise import advise
from aglet.cli.batch import batch
from aglet.cli.bench import bench
from aglet.cli.bridge import bridge
from aglet.cli.demo import demo
from aglet.cli.info import doctor
from aglet.cli.params import params
from aglet.cli.plan import plan
from aglet.cli.reproduce import reproduce

__all__ = ["app", "main"]

app = typer.Typer(
    name="aglet",
    help="Aglet: compute on encrypted numbers, and refresh them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"aglet {aglet.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version, and end.")
    ] = False,
) -> None:
    """Aglet: compute on encrypted numbers, and refresh them."""


app.command()(demo)
app.command()(doctor)
app.command()(params)
app.command()(plan)
app.command()(reproduce)
app.command()(advise)
bench.command()(bridge)
app.add_typer(bench, name="bench")
app.add_typer(batch, name="batch")


def main() -> None:
    """Run the command line."""
    app()
