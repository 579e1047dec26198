"""Published tables: files with figures, and the bench that stands for each row.

A file has a source, a machine and sections; a section has rows. `case` (fields of `aglet.measure.Case`), `needs` and
`message` of a section hold for all of its rows, which may add to them. `needs` is what a row must reach: `bits`,
`worst_bits` (in every slot), `levels`, `slots`, and `security` (128 unless it says less). `inferred` names the needs
that the source does not state for each row. A row with `lookup` in place of `case` (fields of
`aglet.lookup.measure.LookupCase`) is a gate or a table,
one with `integer` (fields of `aglet.integer.measure.IntegerCase`) computes on exact integers, one with `bridge` (fields
of `aglet.bridge.measure.BridgeCase`) leads from slots to look-ups or back, and one with `application` (fields of
`aglet.reproduce.applications.ApplicationCase`) is a program on encrypted arrays. What is `published` may have no
figure. `not_yet` says why a row cannot be measured at all.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Any

from aglet import _core
from aglet.bridge.measure import BridgeCase
from aglet.errors import ParameterError
from aglet.integer.measure import IntegerCase
from aglet.lookup.measure import LookupCase
from aglet.measure import METHODS, Case
from aglet.reproduce.applications import ApplicationCase

__all__ = ["TABLES", "AnyCase", "Row", "Section", "Table", "load", "read", "select"]

TABLES = ("desilofhe", "ship", "demystifying", "seal-rns-ckks", "applications")
_NEEDS = {"bits", "worst_bits", "levels", "slots", "security"}
AnyCase = Case | LookupCase | IntegerCase | BridgeCase | ApplicationCase
"""What measures a row."""
_CASES: dict[str, type[AnyCase]] = {
    "case": Case,
    "lookup": LookupCase,
    "integer": IntegerCase,
    "bridge": BridgeCase,
    "application": ApplicationCase,
}
"""What a row is measured by, by the word that its fields stand under."""


@dataclass(frozen=True)
class Row:
    """One line of a published table."""

    table: str
    section: str
    name: str
    case: Mapping[str, Any]
    """Fields of what measures it, without the threads."""
    message: str | None
    """The message to measure; the method's own if None."""
    needs: Mapping[str, float]
    published: Mapping[str, Any]
    not_yet: str | None
    quick: bool
    measured_by: str = "case"
    """A word of `_CASES`."""

    def obstacle(self) -> str | None:
        """Why this version cannot measure the row, or None."""
        if self.not_yet is not None:
            return self.not_yet
        fields = {field.name for field in dataclasses.fields(_CASES[self.measured_by])}
        unknown = sorted(set(self.case) - fields)
        if unknown:
            return f"this version has no {', '.join(unknown)}"
        if self.measured_by != "case":
            return None
        method = self.case.get("method", "regular")
        if method not in METHODS:
            return f'this version has no method "{method}"'
        preset = self.case.get("preset")
        if preset is not None and preset not in {known["name"] for known in _core.presets()}:
            return f'this version has no preset "{preset}"'
        return None

    def bench(self, threads: int) -> AnyCase:
        """The bench that stands for the row."""
        return _CASES[self.measured_by](**self.case, threads=threads)

    def published_seconds(self, threads: int) -> float | None:
        """The published time on as many threads, if there is one."""
        seconds: float | None = self.published.get("seconds", {}).get(str(threads))
        return seconds


@dataclass(frozen=True)
class Section:
    """Rows that belong together."""

    name: str
    title: str
    inferred: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A published table."""

    name: str
    title: str
    source: str
    machine: str
    statistic: str
    """Of the published times, such as "mean of 10 runs"."""
    precision: str
    """Which error of ours is held against the published bits: "mean" or "worst"."""
    remark: str
    sections: tuple[Section, ...]
    guidance: Mapping[str, float]
    """What the source recommends, in numbers."""

    @property
    def rows(self) -> list[Row]:
        """The rows of all sections."""
        return [row for section in self.sections for row in section.rows]


def load(name: str) -> Table:
    """A table that comes with this package.

    Raises
    ------
    ParameterError
        If there is none of this name.
    """
    if name not in TABLES:
        raise ParameterError(f'There is no table "{name}"; the tables are {", ".join(TABLES)}.')
    text = resources.files("aglet.reproduce").joinpath("tables", f"{name}.json").read_text(encoding="utf-8")
    return _table(json.loads(text))


def read(path: Path) -> Table:
    """A table from a file of one's own."""
    try:
        return _table(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ParameterError(f"The table {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParameterError(f"The table {path} is not in the form of docs/reproducing.md: {error!r}.") from error


def _table(data: Mapping[str, Any]) -> Table:
    return Table(
        data["name"],
        data["title"],
        data["source"],
        data["machine"],
        data["statistic"],
        data["precision"],
        data.get("remark", ""),
        tuple(_section(data["name"], section) for section in data["sections"]),
        data.get("guidance", {}),
    )


def _section(table: str, data: Mapping[str, Any]) -> Section:
    rows = tuple(
        Row(
            table,
            data["name"],
            row["name"],
            row[word] if word != "case" else {**data["case"], **row.get("case", {})},
            row.get("message", data.get("message")),
            {"security": 128, **data["needs"], **row.get("needs", {})},
            row["published"],
            row.get("not_yet"),
            row.get("quick", False),
            word,
        )
        for row in data["rows"]
        for word in [next((word for word in _CASES if word in row), "case")]
    )
    for made in rows:
        if not set(made.needs) <= _NEEDS:
            raise ValueError(f"{made.name} needs {', '.join(sorted(set(made.needs) - _NEEDS))}")
    return Section(data["name"], data["title"], data["inferred"], rows)


def select(tables: Iterable[Table], patterns: Iterable[str], quick: bool) -> list[Row]:
    """The rows whose names match one of the patterns, or all if there are none.

    Of all rows and of those that a pattern with a wildcard matches, `quick` takes the quick ones; a row named in full
    stays.

    Raises
    ------
    ParameterError
        If a pattern chooses no row of any table.
    """
    rows = [row for table in tables for row in table.rows]
    wanted = list(patterns) or ["*"]
    chosen = {pattern: [row for row in rows if _chooses(pattern, row, quick)] for pattern in wanted}
    for pattern in (pattern for pattern, found in chosen.items() if not found):
        if any(fnmatchcase(row.name, pattern) for row in rows):
            raise ParameterError(f'No row that "{pattern}" matches is quick; leave out --quick, or name a row in full.')
        names = ", ".join(row.name for row in rows[:4])
        of = " and ".join(f'"{name}"' for name in dict.fromkeys(row.table for row in rows))
        raise ParameterError(f'No row of {of} matches "{pattern}"; rows are {names} and so on, see --list.')
    return [row for row in rows if any(row in found for found in chosen.values())]


def _chooses(pattern: str, row: Row, quick: bool) -> bool:
    return pattern == row.name or (fnmatchcase(row.name, pattern) and (row.quick or not quick))
