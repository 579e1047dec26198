#!/usr/bin/env python3
"""Compare two builds: ab.py OLD NEW [--rounds 7] [--bound 1.03] -- BENCH ARGUMENTS.

OLD and NEW are checkouts that are built (`make build`), or Python interpreters that have Aglet. The same
`aglet bench ... --json` runs in both in alternation, the order turned round each time, so that drift of the machine meets
both alike. What counts is the median of the ratios of neighbours. Exits with 1 if it is above the bound. Without a bench it
is `ntt --log-n 16`, the sum over the kernels.

    tools/ab.py ../before . -- bootstrap --threads 1 --repeat 1
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

BOUND = 1.03
"""How much longer the new build may take."""


def interpreter(place: Path) -> Path:
    """The Python of a checkout, or the interpreter itself."""
    for python in (place / ".venv/bin/python", place / ".venv/Scripts/python.exe", place):
        if python.is_file():
            return python.absolute()
    raise SystemExit(f"{place} is no interpreter and has none in .venv: run `make build` there.")


def seconds(records: list[dict[str, Any]]) -> float:
    """What a bench took: its seconds, or the microseconds of its transforms, added up."""
    total = sum(r["seconds"] if "seconds" in r else (r["forward_us"] + r["inverse_us"]) / 1e6 for r in records)
    if not total:
        raise SystemExit("The bench printed no times.")
    return total


def bench(python: Path, arguments: list[str]) -> float:
    """Runs it once."""
    command = [str(python), "-c", "from aglet.cli import main; main()", "bench", *arguments, "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"{python}: {result.stderr.strip()}")
    return seconds([json.loads(line) for line in result.stdout.splitlines()])


def ratios(old: Callable[[], float], new: Callable[[], float], rounds: int) -> list[float]:
    """New over old, round by round, either first in turn."""
    found = []
    for turn in range(rounds):
        if turn % 2:
            after, before = new(), old()
        else:
            before, after = old(), new()
        found.append(after / before)
        print(f"{before:.4g} s, {after:.4g} s: {found[-1]:.3f}", file=sys.stderr)
    return found


def verdict(found: list[float], bound: float) -> tuple[bool, str]:
    """Whether the new build is quick enough, and a sentence."""
    middle = statistics.median(found)
    text = f"new over old: {middle:.3f} (from {min(found):.3f} to {max(found):.3f}, {len(found)} rounds, bound {bound})"
    return middle <= bound, text


def main(arguments: list[str]) -> int:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    own, chosen = arguments[:at], arguments[at + 1 :] or ["ntt", "--log-n", "16"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bound", type=float, default=BOUND)
    options = parser.parse_args(own)
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    old, new = interpreter(options.old), interpreter(options.new)
    fine, text = verdict(
        ratios(lambda: bench(old, chosen), lambda: bench(new, chosen), options.rounds),
        options.bound,
    )
    print(text)
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
