"""What `tools/record.py --package` measures: the wheel in a bare environment, and the documentation site."""

from __future__ import annotations

import subprocess
import time
from typing import Any

import wheel
from array_records import Figure
from licences import ROOT

MOST_DOCS_SECONDS = 300.0


def make(*targets: str) -> float:
    """Seconds of `make TARGETS`."""
    start = time.monotonic()
    if subprocess.run(["make", *targets], cwd=ROOT, check=False, stdout=subprocess.DEVNULL).returncode:
        raise SystemExit(f"`make {' '.join(targets)}` failed; nothing was recorded. Run it alone to see why.")
    return time.monotonic() - start


def packaging() -> list[Figure]:
    """The wheels of this commit, built anew (some minutes), and the site once its tools are there."""
    make("wheel")
    out = ROOT / "target" / "wheel" / "out"
    (made,), (bench,) = out.glob("aglet_fhe-*.whl"), out.glob("aglet_fhe_bench-*.whl")
    if bad := [*wheel.faults(made), *wheel.bench_faults(bench)]:
        raise SystemExit("\n".join(bad))
    size, seconds = made.stat().st_size, wheel.tried(made, bench)
    make("build", ".venv/.docs")
    return [
        Figure("size of the wheel", wheel.MOST_BYTES, record("make wheel", bytes=size)),
        Figure(
            "the wheel in a bare environment: installed, then aglet demo --quick",
            wheel.MOST_SECONDS,
            record("tools/wheel.py check", seconds=seconds),
            "with what pip fetches",
        ),
        Figure("the documentation site", MOST_DOCS_SECONDS, record("make docs", seconds=make("docs")), "no warning"),
    ]


def record(command: str, **measured: float) -> dict[str, Any]:
    """A record of the package."""
    return {"kind": "package", "command": command, **measured}
