"""What the commands share: JSON lines, tables, and errors as sentences."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from aglet import recording
from aglet.errors import AgletError

__all__ = [
    "AllowInsecure",
    "Json",
    "KeySize",
    "Method",
    "Preset",
    "Stages",
    "console",
    "facts",
    "json_line",
    "sentences",
    "table",
]

P = ParamSpec("P")
R = TypeVar("R")

Json = Annotated[bool, typer.Option("--json", help="One JSON object per line, and nothing else.")]
Preset = Annotated[str, typer.Option(help="The parameter set, see `aglet params`.")]
Method = Annotated[str, typer.Option(help="The bootstrapping method.")]
KeySize = Annotated[str, typer.Option(help="The size of the bootstrap key.")]
Stages = Annotated[int, typer.Option(help="Stages of each of the two transforms.")]
AllowInsecure = Annotated[bool, typer.Option(help="Accept a preset below 128 bits. For tests only.")]


def console() -> Console:
    """The terminal, or a plain stream of full lines where there is none."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=160)


def json_line(record: dict[str, Any]) -> None:
    """Write one object on one line of stdout. JSON has no infinities: they become null."""
    typer.echo(recording.json_text(record))


def table(title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]], *, left: int = 1) -> Table:
    """A table whose first `left` columns are text and whose others are numbers."""
    made = Table(title=title, title_justify="left", header_style="bold")
    for index, name in enumerate(columns):
        made.add_column(name, justify="left" if index < left else "right")
    for row in rows:
        made.add_row(*(str(cell) for cell in row))
    return made


def facts(title: str, rows: Iterable[tuple[str, Any]]) -> Table:
    """A table of names and values."""
    made = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows:
        made.add_row(name, str(value))
    return made


def sentences(command: Callable[P, R]) -> Callable[P, R]:
    """End a command with a sentence on stderr and exit code 1 on an error of ours, and with 130 on Ctrl-C."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except AgletError as error:
            typer.echo(f"aglet: {error}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as interrupt:
            typer.echo("aglet: stopped.", err=True)
            raise typer.Exit(130) from interrupt

    return wrapped
