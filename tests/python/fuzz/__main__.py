"""A million random programs from new seeds, on from where the record says that they ended: `python -m fuzz SECONDS`.

Each front has its part of the million, in blocks of 500 programs from a seed of their own, so that a block runs again
as it ran. The front that is furthest behind has the next block. A block counts when every program of it was right or
refused; one that is wrong ends the run, made small, and the next run begins with its block. `python -m fuzz SECONDS 2`
runs two blocks at a time, each in a process of its own.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

from aglet import _core
from aglet_bench import recording
from fuzz import (
    arrays,
    casts,
    comparisons,
    digits,
    engine,
    fhew,
    fixed,
    functional,
    integer_scheme_switch,
    integers,
    scheme_switch,
    slots,
)
from fuzz.profiles import Front, drawn

__all__ = ["FRONTS", "RECORD", "counted", "run"]

RECORD = Path(__file__).resolve().parents[3] / "repro" / "record" / "programs.json"
"""One entry for each run: its date, commit and processor, and how many programs of each front it ran."""
MILLION, BLOCK, FIRST_SEED = 10**6, 500, 10**6

FRONTS: dict[str, tuple[Front, float]] = {
    "arrays": (arrays.program, 0.405),
    "engine": (engine.program, 0.15),
    "integers": (integers.program, 0.15),
    "lookups": (fhew.program, 0.12),
    "digits": (digits.program, 0.01),
    "digits on ciphertexts": (digits.live_program, 0.01),
    "fixed": (fixed.program, 0.01),
    "fixed on ciphertexts": (fixed.live_program, 0.005),
    "casts": (casts.program, 0.01),
    "slots": (slots.program, 0.01),
    "functional": (functional.program, 0.02),
    "comparisons": (comparisons.program, 0.02),
    "bits by scheme switch": (scheme_switch.bits_program, 0.02),
    "noisy bits by scheme switch": (scheme_switch.noisy_program, 0.02),
    "numbers by scheme switch": (scheme_switch.numbers_program, 0.02),
    "reals by scheme switch": (scheme_switch.reals_program, 0.018),
    "integers by scheme switch": (integer_scheme_switch.program, 0.002),
}
"""Each front with its part of the million."""


def counted(runs: list[dict[str, Any]]) -> Counter[str]:
    """How many programs of each front all runs together had."""
    return sum((Counter(one["programs"]) for one in runs), Counter(dict.fromkeys(FRONTS, 0)))


Block = tuple[str, int, int]
"""The programs of a front from the one of this number on, and how many."""


def run(seconds: float, record: Path = RECORD, block: int = BLOCK, processes: int = 1) -> Counter[str]:
    """Run blocks until the time is over or the million is full, and write each down. Returns the counts of this run."""
    runs: list[dict[str, Any]] = json.loads(record.read_text()) if record.exists() else []
    before, programs, done = counted(runs), Counter[str](), set[Block]()
    stamp = {**recording.stamp(), "cpu": _core.doctor()["cpu"]}
    blocks = _blocks(before, time.monotonic() + seconds, block)
    for right in map(_run, blocks) if processes == 1 else _side_by_side(blocks, processes):
        done.add(right)
        name, *_ = right
        # In their order, as the next run begins with the first one that does not count.
        while (name, before[name] + programs[name], block) in done:
            programs[name] += block
        draft = record.with_suffix(".draft")
        draft.write_text(json.dumps([*runs, {**stamp, "programs": +programs}], indent=1) + "\n")
        draft.replace(record)
        print(f"{sum((before + programs).values())} programs, {before[name] + programs[name]} of {name}", flush=True)
    return +programs


def _blocks(before: Counter[str], end: float, block: int) -> Iterator[Block]:
    """The next blocks until this time, or until each front has its part."""
    given = Counter(before)
    while time.monotonic() < end:
        name = min(FRONTS, key=lambda one: given[one] / FRONTS[one][1])
        if given[name] >= MILLION * FRONTS[name][1]:
            break
        given[name] += block
        yield name, given[name] - block, block


def _run(block: Block) -> Block:
    """Raises where a program is wrong."""
    name, first, count = block
    # As many as the seed is of: the next one is that of the programs after them.
    drawn(FRONTS[name][0], count, FIRST_SEED + first)()
    return block


def _side_by_side(blocks: Iterable[Block], processes: int) -> Iterator[Block]:
    """Each block when it has run."""
    left = iter(blocks)
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _end_with_parent) as pool:
        running: set[Future[Block]] = set()
        while running := running | {pool.submit(_run, one) for one in islice(left, processes - len(running))}:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for one in ended:
                yield one.result()


def _end_with_parent() -> None:
    """A process whose parent was ended would wait for more blocks, with all its keys."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


if __name__ == "__main__":
    # Under this name other processes find what they are to run.
    from fuzz import __main__ as found

    found.run(float(sys.argv[1]), processes=int(sys.argv[2]) if len(sys.argv) > 2 else 1)
