"""Shared parts of the commands: JSON lines, tables, and errors as sentences."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from aglet.errors import AgletError
from aglet.reports import json_text

__all__ = ["AllowInsecure", "Json", "console", "facts", "fitting", "in_options", "json_line", "sentences", "table"]

P = ParamSpec("P")
R = TypeVar("R")

Json = Annotated[bool, typer.Option("--json", help="Print only JSON, one object per line.")]
AllowInsecure = Annotated[
    bool, typer.Option(help="Accept a preset with less than 128 bits of security. For tests only.")
]


def console() -> Console:
    """The console. Without a terminal and without COLUMNS it prints lines of full width."""
    out = Console(highlight=False)
    return out if out.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=160)


def json_line(record: dict[str, Any]) -> None:
    """Print one object on one line of stdout. JSON has no infinities: they become null."""
    typer.echo(json_text(record))


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
    """Make one table, or several that begin with the same first column if one is wider than the terminal.

    Headings and texts longer than 30 characters wrap. Nothing is cut off.
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


# Arguments of Python that options call by another name; others have the same one.
_OPTION_OF = {"slot_count": "slots", "stage_count": "stages", "thread_count": "threads"}
# A call of Python is code, and stays; an argument is one by its name alone, or with a value.
_CALL_OR_ARGUMENT = re.compile(r"\w+\([^()]*\)|\b([a-z]\w*)( ?= ?)?")


def in_options(sentence: str, options: Iterable[str]) -> str:
    """Name the options of a command in a sentence that names arguments of Python: "slot_count=3" is "--slots 3"."""
    known = set(options)

    def named(found: re.Match[str]) -> str:
        name, sign = found[1], found[2]
        option = _OPTION_OF.get(name or "", name)
        # A word that is no argument elsewhere is one with a value only: "bound" is a word, "bound=" an argument.
        if option not in known or (sign is None and "_" not in name):
            return found[0]
        value = sign is not None and found.string[found.end() : found.end() + 1].strip(" ,;.") != ""
        return f"--{option.replace('_', '-')}" + " " * value

    # A flag has no value on the command line.
    return re.sub(r"(--[a-z-]+) True\b", r"\1", _CALL_OR_ARGUMENT.sub(named, sentence))


def _flowing(text: str) -> str:
    """A docstring whose paragraphs are one line each: the terminal breaks lines, and keeps those of the source."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def sentences(command: Callable[P, R]) -> Callable[P, R]:
    """Turn errors of Aglet and the system into a sentence on stderr and exit code 1; Ctrl-C exits with 130."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError as error:  # `| head` has seen enough
            raise typer.Exit(1) from error
        except (AgletError, OSError) as error:
            typer.echo(f"aglet: {in_options(str(error), inspect.signature(command).parameters)}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as interrupt:
            typer.echo("aglet: stopped.", err=True)
            raise typer.Exit(130) from interrupt

    wrapped.__doc__ = _flowing(inspect.getdoc(command) or "")
    return wrapped
