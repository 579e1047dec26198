"""Measure a public workload, stage by stage as its harness does, from the folder `workloads` of a checkout."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aglet
from aglet import _core
from aglet.errors import AgletError, ParameterError
from aglet_bench.quiet import Watch

__all__ = ["WorkloadCase", "bench_workload"]

_FOLDER = Path(__file__).resolve().parents[4] / "workloads"
_STAGES = "server_encrypted"
"""How the names of the stages begin in which the server computes."""


@dataclass(frozen=True)
class WorkloadCase:
    """The case of one bench: a workload of a size."""

    workload: str = "zn"
    size: str = "small"
    count_only: bool = False
    threads: int = 1


def bench_workload(case: WorkloadCase, *, repeat: int) -> dict[str, Any]:
    """Run all stages of a workload, each in its own process, and check its results. Returns one record for JSON.

    The seconds are those of the server's stages on the wall, with the start of Python and with reading keys.

    Raises
    ------
    ParameterError
        If there is no folder of workloads, or it is asked for fewer than one run.
    AgletError
        If a stage fails or a result is wrong.
    """
    if repeat < 1:
        raise ParameterError(f"repeat={repeat} is below 1; give repeat=1 or more.")
    program = _FOLDER / "standin.py"
    if not program.is_file():
        raise ParameterError(
            "This installation has no workloads; run aglet reproduce workloads in a checkout of Aglet."
        )
    machine, watch = _core.doctor(), Watch()
    found = _run(program, case, repeat)
    servers = [
        [figures for name, figures in run["stages"].items() if name.startswith(_STAGES)] for run in found["runs"]
    ]
    seconds = [sum(stage["seconds"] for stage in stages) for stages in servers]
    bits = min(run["result"]["bits"] for run in found["runs"])
    return {
        "kind": "workload",
        "workload": case.workload,
        "size": case.size,
        "count_only": case.count_only,
        "preset": found["preset"],
        "slot_count": found["slot_count"],
        "threads": case.threads,
        "backend": machine["backend"],
        "seconds": statistics.median(seconds),
        "seconds_all": seconds,
        "processor_seconds": statistics.median(sum(stage["cpu"] for stage in stages) for stages in servers),
        "runs": found["runs"],
        "once": found["once"],
        "bytes": found["bytes"],
        "wrong": 0,
        "bits_mean": bits,
        "bits_worst": bits,
        "peak_rss_bytes": int(max(stage["peak GB"] for stages in servers for stage in stages) * 1e9),
        "security_bits": found["security_bits"],
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        **watch.done(seconds).fields(),
        "version": machine["version"],
    }


def _run(program: Path, case: WorkloadCase, repeat: int) -> Any:
    """The figures of the stand-in."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        command = [sys.executable, str(program), case.workload, case.size, "--runs", str(repeat)]
        command += ["--json", str(figures)] + ["--count-only"] * case.count_only
        # The stages import this Aglet and no other.
        path = os.pathsep.join(
            part for part in (str(Path(aglet.__file__).parents[1]), os.environ.get("PYTHONPATH")) if part
        )
        variables = {**os.environ, "AGLET_WORKLOAD_THREADS": str(case.threads), "PYTHONPATH": path}
        ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise AgletError(f"{case.workload} of the size {case.size} failed: {ended.stderr.strip()}")
        return json.loads(figures.read_text())
