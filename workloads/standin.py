"""A stand-in for the harnesses of the public workloads: data of their shape, the same calls, times and a check.

    python workloads/standin.py NAME SIZE [--runs 3] [--seed 1] [--count-only] [--json FILE] [--folder DIR]
    python workloads/standin.py NAME SIZE --harness PATH [--runs 3] [--seed 1] [--count-only]

Each stage is a process of its own. While a stage of the server runs, the secret key and all data in the clear are moved
out of its reach. With `--harness`, the harness of that checkout runs instead, in a copy of it.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORKLOADS = Path(__file__).resolve().parent
sys.path.insert(0, str(WORKLOADS.parent))

from workloads.common import Place, WorkloadError, threads  # noqa: E402

NAMES = ("zn", "zn_carried", "mnist", "similarity", "resnet20", "transciphering", "face")


def main() -> None:
    """Read the arguments, run, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("size")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count-only", action="store_true")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--folder", type=Path, help="where data and keys go; a temporary folder if not given")
    parser.add_argument("--harness", type=Path, help="a checkout of the workload's own harness")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="workload-")))
        try:
            if given.harness:
                raise SystemExit(run_harness(given, folder))
            figures = run(given, folder)
        except WorkloadError as wrong:
            raise SystemExit(f"standin: {wrong}") from None
        text = json.dumps(figures, indent=2)
        print(text)
        if given.json:
            given.json.parent.mkdir(parents=True, exist_ok=True)
            given.json.write_text(text + "\n")


def run(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run all stages of a workload in their order. The first that fails ends it."""
    case = importlib.import_module(f"workloads.{given.name}.case")
    if given.size not in case.SIZES:
        raise WorkloadError(f"{given.name} has no size {given.size!r}; give one of {', '.join(case.SIZES)}.")
    place = Place(given.size, folder.resolve(), count_only=given.count_only)
    shutil.rmtree(place.io, ignore_errors=True)
    place.io.mkdir(parents=True)
    case.make_data(place, given.seed)
    before = {stage[0]: run_stage(given.name, place, stage) for stage in case.once(place)}
    runs = []
    for number in range(given.runs):
        case.make_input(place, given.seed + number)
        stages = {stage[0]: run_stage(given.name, place, stage) for stage in case.each_run(place)}
        report = place.io / "server_reported_steps.json"
        parts = json.loads(report.read_text()) if report.is_file() else {}
        runs.append({"stages": stages, "server": parts, "result": case.check(place)})
    return {
        "workload": given.name,
        "size": given.size + ("-count" if given.count_only else ""),
        "date": datetime.date.today().isoformat(),
        "machine": _machine(),
        "threads": threads(),
        **case.parameters(place.size),
        "once": before,
        "runs": runs,
        "bytes": {one.name: _bytes(one) for one in sorted(place.io.iterdir()) if one.is_dir()},
    }


def run_stage(name: str, place: Place, stage: list[str]) -> dict[str, float]:
    """Run one stage in a process of its own. Return its seconds, on the wall and of all cores, and its memory.

    The start of Python counts.
    """
    command = [sys.executable, str(WORKLOADS / name / f"{stage[0]}.py"), *stage[1:]]
    is_server = stage[0].startswith("server")
    with hidden(place) if is_server else contextlib.nullcontext():
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=place.root)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise WorkloadError(f"The stage {stage[0]} ended with {process.returncode}; what it printed says why.")
    cpu = usage.ru_utime + usage.ru_stime
    return {"seconds": round(seconds, 3), "cpu": round(cpu, 3), "peak GB": round(usage.ru_maxrss * 1024 / 1e9, 3)}


@contextlib.contextmanager
def hidden(place: Place) -> Iterator[None]:
    """Move away what a server must not have: the secret key, data in the clear and what the client keeps of it."""
    away = Path(tempfile.mkdtemp(prefix=".client-", dir=place.root.parent))
    moved: list[tuple[Path, Path]] = []
    try:
        for path in (place.secret_key.parent, place.intermediate, place.data):
            if path.exists():
                moved.append((path, away / str(len(moved))))
                path.rename(moved[-1][1])
        yield
    finally:
        for path, hidden in reversed(moved):
            hidden.rename(path)
        away.rmdir()


def run_harness(given: argparse.Namespace, folder: Path) -> int:
    """Run the real harness on a copy of its scripts, with launchers of our stages where it looks for executables."""
    case = importlib.import_module(f"workloads.{given.name}.case")
    if not (given.harness / "harness" / "run_submission.py").is_file():
        raise WorkloadError(f"{given.harness} has no harness/run_submission.py; give a checkout of the harness.")
    shutil.copytree(given.harness / "harness", folder / "harness", dirs_exist_ok=True)
    for name in ("scripts", "submission", "datasets"):
        (folder / name).mkdir(exist_ok=True)
    shutil.copy(WORKLOADS / given.name / "build_task.sh", folder / "scripts")
    # Two of the harnesses call it first, for the library of their own reference.
    (folder / "scripts" / "get_openfhe.sh").write_text("#!/bin/sh\nexit 0\n")
    (folder / "scripts" / "get_openfhe.sh").chmod(0o755)
    command = [sys.executable, "harness/run_submission.py", str(case.SIZES.index(given.size))]
    command += ["--num_runs", str(given.runs), "--seed", str(given.seed)] + ["--count_only"] * given.count_only
    # The harness calls python3, and our launchers the interpreter that has Aglet: here both are this one.
    bin_folder = str(Path(sys.executable).parent)
    path = f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}"
    variables = {**os.environ, "PATH": path, "PYTHON": sys.executable, "WORKLOADS": str(WORKLOADS)}
    return subprocess.run(command, cwd=folder, env=variables, check=False).returncode


def _machine() -> str:
    """The processor by name, and its cores."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)
    return f"{model or platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
