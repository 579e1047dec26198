"""A million random programs from new seeds, on from where the record says that they ended: `python -m fuzz SECONDS`.

Each front has its part of the million, in blocks of 500 programs from a seed of their own, so that a block runs again
as it ran. The front that is furthest behind has the next block. A block counts when every program of it was right or
refused; one that is wrong ends the run, made small, and the next run begins with its block.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
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
    "arrays": (arrays.program, 0.42),
    "engine": (engine.program, 0.15),
    "integers": (integers.program, 0.15),
    "lookups": (fhew.program, 0.12),
    "digits": (digits.program, 0.01),
    "digits on ciphertexts": (digits.live_program, 0.01),
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


def run(seconds: float, record: Path = RECORD, block: int = BLOCK) -> Counter[str]:
    """Run blocks until the time is over or the million is full, and write each down. Returns the counts of this run."""
    runs: list[dict[str, Any]] = json.loads(record.read_text()) if record.exists() else []
    before, programs = counted(runs), Counter[str]()
    end = time.monotonic() + seconds
    stamp = {**recording.stamp(), "cpu": _core.doctor()["cpu"]}
    while time.monotonic() < end:
        done = before + programs
        name = min(FRONTS, key=lambda one: done[one] / FRONTS[one][1])
        front, part = FRONTS[name]
        if done[name] >= MILLION * part:
            break
        # As many as the seed is of: the next one is that of the programs after them.
        drawn(front, block, FIRST_SEED + done[name])()
        programs[name] += block
        text = json.dumps([*runs, {**stamp, "programs": programs}], indent=1)
        record.write_text(text + "\n")
        print(f"{sum((before + programs).values())} programs, {before[name] + programs[name]} of {name}", flush=True)
    return programs


if __name__ == "__main__":
    run(float(sys.argv[1]))
