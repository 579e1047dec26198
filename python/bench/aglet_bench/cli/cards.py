"""What `aglet bench card` prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.table import Table

from aglet.cli import output
from aglet.errors import DeviceError
from aglet.reports import json_text
from aglet_bench.ckks.card import CardCase, bench_card
from aglet_bench.ckks.card_model import LAUNCH, SYNCHRONOUS

__all__ = ["measured"]


def measured(case: CardCase, *, repeat: int, json: bool, record: Path | None = None) -> None:
    """Measure a card beside the processor, and print records or tables; add the records to a file if one is given.

    Raises
    ------
    DeviceError
        If the card cannot be used, or gives other words.
    """
    rows, different, last = [], [], {}
    for last in bench_card(case, repeat=repeat):
        if not last["same_words"]:
            different.append(last["operation"])
        if json:
            output.json_line(last)
        if record is not None:
            # At once: what was measured stays if the card fails later.
            with record.open("a", encoding="utf-8") as file:
                file.write(json_text(last) + "\n")
        times = [f"{1e3 * last[name]:.2f}" for name in ("first_seconds", "seconds", "processor_seconds")]
        rows.append((last["operation"], *times, "the same" if last["same_words"] else "DIFFERENT"))
    if not json:
        heads = ("operation", "first run, ms", "card, ms", "processor, ms", "words")
        output.console().print(output.table(f"{last['device']} and {last['cpu']}, preset {case.preset}", heads, rows))
        for table in _stages(last):
            output.console().print(table)
    if different:
        raise DeviceError(
            f"The card gave other words than the processor for {', '.join(different)}; do not use it, and report this."
        )


def _stages(record: dict[str, Any]) -> Iterator[Table]:
    """The stages of a bootstrap on a card, beside the processor and the model; then their calls."""
    names, calls = ("seconds", "processor_seconds", "model_seconds"), ("launches", "other_copies", "synchronous_copies")
    summed = (*names, *calls, "model_call_seconds")
    stages = record["stages"]
    stages = [*stages, {"name": "all", **{name: sum(stage[name] for stage in stages) for name in summed}}]
    heads = ("stage", "card, ms", "processor, ms", f"model of an {record['model']}, ms")
    rows = [(stage["name"], *(f"{1e3 * stage[name]:.3f}" for name in names)) for stage in stages]
    yield output.table("Stages, until the last launch of each; the model with its calls", heads, rows)
    title = (
        f"Calls, counted; {1e6 * LAUNCH:g} us for a launch or a copy and {1e6 * SYNCHRONOUS:g} for a copy that waits "
        "for the card are assumed"
    )
    counts = [(stage, [str(stage[name]) for name in calls]) for stage in stages]
    rows = [(stage["name"], *count, f"{1e3 * stage['model_call_seconds']:.3f}") for stage, count in counts]
    yield output.table(title, ("stage", "launches", "copies", "copies that wait", "ms"), rows)
