"""The first minutes with a card, on a machine that has nothing but Python: `run.py [NAME...] [--rehearsal] [--seconds 480]`.

Steps run one after the other, each in a process of its own with a limit. None needs another one, and one that fails or hangs does not end the
others. What they measure goes to `$OUT/first_card.jsonl` as it comes, what they say besides to `$OUT/first_card.log`; a line for each stands in
the output, and a table at its end.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CARRIED = ROOT / ".card"


@dataclass(frozen=True)
class Step:
    """A step with the seconds that it may take."""

    name: str
    limit: float
    command: tuple[str, ...]
    rehearsed: bool = True
    """Whether it takes the word of a rehearsal."""


def ours(name: str, limit: float) -> Step:
    """A step of `steps.py`."""
    return Step(name, limit, (sys.executable, str(HERE / "steps.py"), name))


def checked(tool: str, limit: float) -> Step:
    """A bootstrap of a toy under NVIDIA's checker of kernels."""
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    words = ("--tool", tool, "--print-limit", "20", "--target-processes", "all")
    return Step(
        tool, limit, (program, *words, sys.executable, str(HERE / "steps.py"), "toy", "--once"), rehearsed=False
    )


SUITE = (str(CARRIED / "suite"), "suite::", "backend::", "blind::rotations", "--test-threads", "6")
FIRST = (
    Step("driver", 30, (sys.executable, str(HERE / "driver.py"))),
    ours("doctor", 40),
    Step("suite", 75, SUITE, rehearsed=False),
    ours("toy", 30),
    ours("toy-ship", 30),
    ours("toy-int16", 30),
    ours("toy-fhew", 40),
    ours("toy-methods", 40),
    ours("toy-switch", 25),
    ours("regular", 90),
    ours("ship14", 110),
    ours("int16", 70),
    ours("gates", 60),
    ours("stages", 45),
    Step("rates", 60, (sys.executable, str(HERE / "rates.py"))),
)
"""In the order of what is wanted most, should time run out."""
MORE = (
    ours("batches", 120),
    ours("ship14-stages", 60),
    ours("tables", 40),
    ours("medium", 60),
    checked("memcheck", 60),
    checked("racecheck", 60),
)
"""For a second call, while the machine is warm."""


def environment() -> dict[str, str]:
    """What the steps find: the packages of this tree, numpy where the machine has none, and the driver where it is in no usual place."""
    found = dict(os.environ)
    folders = [str(ROOT / "python"), str(ROOT / "python" / "bench")]
    try:
        import numpy  # noqa: F401
    except ImportError:
        for wheel in CARRIED.glob("numpy-*.whl"):
            site = Path(os.environ.get("TMPDIR", "/tmp")) / "aglet-first-card"
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(site)
            folders.append(str(site))
    found["PYTHONPATH"] = os.pathsep.join([*folders, *filter(None, [found.get("PYTHONPATH", "")])])
    return found | {"PYTHONUNBUFFERED": "1", "AGLET_SUITE_CARD": "1", "RUST_BACKTRACE": "0"}


def ends_with_us() -> None:
    """Has a step end with this process, also where nobody can tell: a session of its own would keep the card."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Runner:
    """Where results go, and until when there is time."""

    def __init__(self, out: Path, seconds: float, more: list[str]) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.records: TextIO = (out / "first_card.jsonl").open("a")
        self.log: TextIO = (out / "first_card.log").open("a")
        self.start, self.end, self.more = time.monotonic(), time.monotonic() + seconds, more
        self.environment = environment()
        self.table: list[str] = []
        self.wrong, self.group, self.alone = False, 0, threading.RLock()

    def say(self, text: str) -> None:
        line = f"[{time.monotonic() - self.start:6.1f}] {text}"
        print(line[:600], flush=True)
        print(line, file=self.log, flush=True)

    def record(self, step: str, fields: dict[str, Any]) -> None:
        json.dump({"step": step, "at": round(time.monotonic() - self.start, 2), **fields}, self.records)
        self.records.write("\n")
        self.records.flush()

    def line(self, step: str, line: str) -> None:
        """One line that a step printed: a record, or words."""
        try:
            fields = json.loads(line)
        except json.JSONDecodeError:
            fields = None
        if not isinstance(fields, dict):
            # What a test says is wrong stands behind the place where it does.
            if self.wrong or "FAILED" in line or line.startswith(("test result", "========= ERROR")):
                self.say(f"{step}: {line}")
            else:
                print(f"{step}: {line}", file=self.log, flush=True)
            self.wrong = "panicked at" in line
            return
        self.record(step, fields)
        self.say(f"{step}: {summary(fields)}")
        if fields.get("library", "libcuda.so.1") != "libcuda.so.1":
            self.environment.setdefault("AGLET_CUDA_DRIVER", fields["library"])

    def run(self, step: Step) -> None:
        """Runs a step until it ends or its time is over."""
        limit, began = min(step.limit, self.end - time.monotonic() - 3), time.monotonic()
        self.ended(step, began, self.status(step, limit) if limit >= 5 else "no time is left")

    def status(self, step: Step, limit: float) -> str:
        """How a step ended that may take so many seconds."""
        command = [*step.command, *(self.more if step.rehearsed else [])]
        pipe: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
        try:
            process = subprocess.Popen(
                command, env=self.environment, cwd=ROOT, start_new_session=True, preexec_fn=ends_with_us, **pipe
            )
        except OSError as error:
            return str(error)
        self.group = process.pid
        readers = [
            threading.Thread(target=self.follow, args=(step.name, stream), daemon=True)
            for stream in (process.stdout, process.stderr)
        ]
        for reader in readers:
            reader.start()
        try:
            status = f"status {process.wait(limit)}"
        except subprocess.TimeoutExpired:
            status = f"stopped after {limit:.0f} s"
            self.stop()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                status += ", and does not end"
        self.group = 0
        for reader in readers:
            reader.join(2)
        return status

    def stop(self, *_: object) -> None:
        """Ends the step that runs, with all of its processes."""
        if self.group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.group, signal.SIGKILL)

    def follow(self, name: str, stream: Any) -> None:
        for line in stream:
            with self.alone:
                self.line(name, line.rstrip("\n"))

    def ended(self, step: Step, began: float, status: str) -> None:
        seconds = time.monotonic() - began
        self.record(step.name, {"operation": "end", "status": status, "seconds": round(seconds, 2)})
        self.table.append(f"{step.name:20} {seconds:6.1f} s  {'fine' if status == 'status 0' else status}")
        self.say(f"{step.name}: {status}, {seconds:.1f} s")


def summary(fields: dict[str, Any]) -> str:
    """A record in a line."""
    if "error" in fields:
        return f"{fields.get('operation')}: {fields['error']}"
    shown = [str(fields.get("operation", ""))]
    for name in ("name", "card", "preset", "self_test", "many", "count", "bytes"):
        if name in fields:
            shown.append(f"{name} {fields[name]}" if name in ("many", "count", "bytes") else str(fields[name]))
    if "same_words" in fields:
        shown.append("same words" if fields["same_words"] else "OTHER WORDS")
    for name in ("key_seconds", "first_seconds", "seconds", "processor_seconds"):
        if isinstance(fields.get(name), float):
            shown.append(f"{name[:-8] or 'run'} {1e3 * fields[name]:.2f} ms")
    for name in ("per_second", "gb_per_second", "giga_per_second", "host_us", "card_us"):
        if name in fields:
            shown.append(f"{name} {fields[name]:.4g}")
    if stages := fields.get("stages"):
        # Of a stage the time, and that of the model where it has something to do.
        shown += [f"{s['name']} {1e3 * s['seconds']:.2f}/{1e3 * s['model_seconds']:.2f}" for s in stages]
    return ", ".join(shown)


def main() -> None:
    """Run the steps that are named: all of the first call, `more`, or single ones."""
    words = sys.argv[1:]
    seconds = float(words.pop(words.index("--seconds") + 1)) if "--seconds" in words else 480.0
    rehearsal = "--rehearsal" in words
    names = [word for word in words if not word.startswith("--")]
    steps = [step for step in (*FIRST, *MORE) if step.name in names]
    steps += [step for word, group in (("first", FIRST), ("more", MORE)) for step in group if word in names]
    # What is carried may come without the right to run.
    with contextlib.suppress(OSError):
        (CARRIED / "suite").chmod(0o755)
    out = Path(os.environ.get("OUT", "first-card-results"))
    runner = Runner(out, seconds, ["--rehearsal"] if rehearsal else [])

    def ended(*_: object) -> None:
        runner.stop()
        sys.exit(143)

    # Steps are sessions of their own, which would outlive this one.
    signal.signal(signal.SIGTERM, ended)
    try:
        for step in steps or FIRST:
            runner.run(step)
    finally:
        print("\n".join(["", *runner.table]), flush=True)


if __name__ == "__main__":
    main()
