"""The text of outcomes, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aglet_bench.reproduce.runner import Outcome
from aglet_bench.reproduce.tables import Section, Table

__all__ = ["COLUMNS", "REMARK", "Block", "blocks", "cells", "exit_code", "summary"]

REMARK = (
    "Published figures were measured by their authors on their machines, ours on this one, and parameters differ. "
    "Read the ratio (published over ours, on as many threads) as an order of magnitude, not as a race."
)
COLUMNS = (
    "row",
    "threads",
    "published s",
    "ours s",
    "ratio",
    "bits needed",
    "ours",
    "worst slot",
    "levels needed",
    "ours",
    "slots",
    "security",
    "result",
)


@dataclass(frozen=True)
class Block:
    """A section of a table and its outcomes, in the order of the table."""

    table: Table
    section: Section
    outcomes: list[Outcome]

    @property
    def note(self) -> str:
        """A sentence about what is not published, or nothing."""
        return (
            f"Inferred, because it is not published for each row: {self.section.inferred}."
            if self.section.inferred
            else ""
        )


def blocks(tables: Iterable[Table], outcomes: Sequence[Outcome]) -> list[Block]:
    """The outcomes, sorted into the sections of their tables. Sections without outcomes are left out."""
    made = []
    for table in tables:
        for section in table.sections:
            order = {row.name: index for index, row in enumerate(section.rows)}
            own = [o for o in outcomes if o.row.table == table.name and o.row.section == section.name]
            own.sort(key=lambda outcome: (order[outcome.row.name], outcome.threads))
            if own:
                made.append(Block(table, section, own))
    return made


def cells(outcome: Outcome, precision: str) -> list[str]:
    """One row under `COLUMNS`."""
    row, record = outcome.row, outcome.record
    published, ratio = outcome.published_seconds, outcome.ratio
    result = outcome.status + (f": {'; '.join(outcome.reasons)}" if outcome.reasons else "")
    if not outcome.comparable:
        result += " (below 128 bits, so not compared with published figures)"
    if record.get("noisy"):
        result += " (noisy)"
    return [
        row.name,
        str(outcome.threads) if record else "-",
        "-" if published is None else f"{published:g}",
        f"{record['seconds']:.{2 if record['seconds'] >= 0.1 else 5}f}" if record else "-",
        "-" if ratio is None else f"{ratio:.1f}x",
        _need(row.needs.get("bits")),
        f"{record[f'bits_{precision}']:.1f}" if record else "-",
        f"{record['bits_worst']:.1f}" if "bits_worst" in record else "-",
        _need(row.needs.get("levels")),
        str(record.get("output_level", "-")),
        str(record["slot_count"]) if record else _need(row.needs.get("slots")),
        f"{record['security_bits']:.0f}" if record else "-",
        result,
    ]


def _need(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def summary(outcomes: Sequence[Outcome]) -> str:
    """The number of rows of each status."""
    words = ("met", "FAILED", "not run", "not yet")
    counts = {word: sum(outcome.status == word for outcome in outcomes) for word in words}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) + "."


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 if at least one row was measured and all measured rows met their needs. Rows of "not yet" do not count."""
    statuses = {outcome.status for outcome in outcomes}
    return 0 if "met" in statuses and not statuses & {"FAILED", "not run"} else 1
