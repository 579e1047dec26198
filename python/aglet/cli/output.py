"""What the commands share: JSON lines, tables, and errors as sentences."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from aglet import recording
from aglet.errors import AgletError
from aglet.measure import METHODS

__all__ = [
    "AllowInsecure",
    "Json",
    "KeySize",
    "Method",
    "Preset",
    "Stages",
    "console",
    "facts",
    "fitting",
    "json_line",
    "sentences",
    "table",
]

P = ParamSpec("P")
R = TypeVar("R")

Json = Annotated[bool, typer.Option("--json", help="One JSON object per line, and nothing else.")]
Preset = Annotated[str, typer.Option(help="The parameter set, see `aglet params`.")]
Method = Annotated[str, typer.Option(help=f"The bootstrap: {', '.join(METHODS)}.")]
KeySize = Annotated[str, typer.Option(help="The size of the bootstrap key: small, medium or large.")]
Stages = Annotated[
    int | None,
    typer.Option(help="Stages of each of the two transforms; what the parameters are made for if not given."),
]
AllowInsecure = Annotated[bool, typer.Option(help="Accept a preset below 128 bits. For tests only.")]


def console() -> Console:
    """The terminal, or a plain stream of full lines where there is none and COLUMNS says nothing."""
    out = Console(highlight=False)
    return out if out.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=160)


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


# What a table draws between two columns, and around a long note at least.
_RULE = 3
_NOTE = 30


def fitting(
    title: str, columns: Sequence[str], rows: Iterable[Iterable[Any]], width: int, *, left: int = 1
) -> list[Table]:
    """One table, or where that is wider than the terminal several, which begin with the first column.

    Headings wrap, and so do texts longer than 30 characters; nothing is cut.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    lines = list(zip(columns, *cells, strict=True))
    if sum(max(map(len, line)) + _RULE for line in lines) < width:
        return [table(title, columns, cells, left=left)]
    # As narrow as the longest cell, or word of the heading.
    needs = [max([*map(len, line[1:]), *map(len, line[0].split()), 1]) for line in lines]
    needs = [need if index == 0 else min(need, _NOTE) for index, need in enumerate(needs)]
    groups: list[list[int]] = [[]]
    for index in range(1, len(columns)):
        if sum(needs[i] + _RULE for i in [0, *groups[-1], index]) >= width and groups[-1]:
            groups.append([])
        groups[-1].append(index)
    made = []
    for group in groups:
        own = [0, *group]
        part = Table(title=title if group is groups[0] else None, title_justify="left", header_style="bold")
        for index in own:
            note = max(map(len, lines[index])) > _NOTE and index > 0
            part.add_column(
                columns[index],
                justify="left" if index < left else "right",
                width=None if note else needs[index],
                overflow="fold",
            )
        for row in cells:
            part.add_row(*(row[index] for index in own))
        made.append(part)
    return made


def facts(title: str, rows: Iterable[tuple[str, Any]]) -> Table:
    """A table of names and values."""
    made = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows:
        made.add_row(name, str(value))
    return made


def sentences(command: Callable[P, R]) -> Callable[P, R]:
    """End a command with a sentence on stderr and code 1 on an error of ours or of the system, with 130 on Ctrl-C."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (AgletError, OSError) as error:
            typer.echo(f"aglet: {error}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as interrupt:
            typer.echo("aglet: stopped.", err=True)
            raise typer.Exit(130) from interrupt

    return wrapped
