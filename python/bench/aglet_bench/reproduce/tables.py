"""Published tables: files with figures, and the bench that measures each row.

A file has a source, a machine and sections, and a section has rows. `case` (fields of `aglet_bench.ckks.measure.Case`),
`needs` and `message` of a section apply to all of its rows, which may add to them. `needs` is what a row must reach:
`bits`, `worst_bits` (in every slot), `levels`, `slots`, and `security` (128 unless a lower number is given). `inferred`
names the needs that the source does not state for each row.

In place of `case` a row may have one of five others. `fhew` (fields of `aglet_bench.fhew.measure.FhewCase`) is a gate
or a lookup table, `integer` (fields of `aglet_bench.integer.measure.IntegerCase`) computes on exact integers,
`scheme_switch` (fields of `aglet_bench.scheme_switch.measure.SchemeSwitchCase`) switches between slots and FHEW,
`application` (fields of `aglet_bench.reproduce.applications.ApplicationCase`) is a program on encrypted arrays, and
`workload` (fields of `aglet_bench.reproduce.workloads.WorkloadCase`) is a public workload in the stages of its harness.
`published` may have no figure. `not_yet` says why a row cannot be measured at all.
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
from aglet.errors import ParameterError
from aglet_bench.ckks.measure import METHODS, Case
from aglet_bench.fhew.measure import FhewCase
from aglet_bench.integer.measure import IntegerCase
from aglet_bench.reproduce.applications import ApplicationCase
from aglet_bench.reproduce.workloads import WorkloadCase
from aglet_bench.scheme_switch.measure import SchemeSwitchCase

__all__ = ["TABLES", "AnyCase", "Row", "Section", "Table", "load", "read", "select"]

TABLES = ("desilofhe", "ship", "demystifying", "seal-rns-ckks", "applications", "workloads")
_NEEDS = {"bits", "worst_bits", "levels", "slots", "security"}
AnyCase = Case | FhewCase | IntegerCase | SchemeSwitchCase | ApplicationCase | WorkloadCase
"""The case that measures a row."""
_CASES: dict[str, type[AnyCase]] = {
    "case": Case,
    "fhew": FhewCase,
    "integer": IntegerCase,
    "scheme_switch": SchemeSwitchCase,
    "application": ApplicationCase,
    "workload": WorkloadCase,
}
"""The class of a case, by the name of its fields in the file."""


@dataclass(frozen=True)
class Row:
    """One row of a published table."""

    table: str
    section: str
    name: str
    case: Mapping[str, Any]
    """The fields of its case, without the threads."""
    message: str | None
    """The message to measure; None means the method's own."""
    needs: Mapping[str, float]
    published: Mapping[str, Any]
    not_yet: str | None
    quick: bool
    measured_by: str = "case"
    """One of the names in `_CASES`."""

    def obstacle(self) -> str | None:
        """The reason why this version cannot measure the row, or None."""
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
        """The bench that measures the row."""
        return _CASES[self.measured_by](**self.case, threads=threads)

    def published_seconds(self, threads: int) -> float | None:
        """The published time on this number of threads, if there is one."""
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
    """The statistic of the published times, such as "mean of 10 runs"."""
    precision: str
    """The error of ours that is compared with the published bits: "mean" or "worst"."""
    remark: str
    sections: tuple[Section, ...]
    guidance: Mapping[str, float]
    """The recommendations of the source, in numbers."""

    @property
    def rows(self) -> list[Row]:
        """The rows of all sections."""
        return [row for section in self.sections for row in section.rows]


def load(name: str) -> Table:
    """Load a table that comes with this package.

    Raises
    ------
    ParameterError
        If there is no table of this name.
    """
    if name not in TABLES:
        raise ParameterError(f'There is no table "{name}"; choose one of {", ".join(TABLES)}.')
    text = resources.files("aglet_bench.reproduce").joinpath("tables", f"{name}.json").read_text(encoding="utf-8")
    return _table(json.loads(text))


def read(path: Path) -> Table:
    """Read a table from a file of the user."""
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
    """The rows whose names match one of the patterns, or all rows without a pattern.

    `quick` keeps only quick rows among all rows and those of a pattern with a wildcard. A row that is named in full
    stays.

    Raises
    ------
    ParameterError
        If a pattern matches no row of any table.
    """
    rows = [row for table in tables for row in table.rows]
    wanted = list(patterns) or ["*"]
    chosen = {pattern: [row for row in rows if _chooses(pattern, row, quick)] for pattern in wanted}
    for pattern in (pattern for pattern, found in chosen.items() if not found):
        if any(fnmatchcase(row.name, pattern) for row in rows):
            raise ParameterError(f'No row that matches "{pattern}" is quick; leave out --quick, or name a row in full.')
        names = ", ".join(row.name for row in rows[:4])
        of = " and ".join(f'"{name}"' for name in dict.fromkeys(row.table for row in rows))
        raise ParameterError(f'No row of {of} matches "{pattern}"; rows are {names} and so on, and --list shows all.')
    return [row for row in rows if any(row in found for found in chosen.values())]


def _chooses(pattern: str, row: Row, quick: bool) -> bool:
    return pattern == row.name or (fnmatchcase(row.name, pattern) and (row.quick or not quick))
