"""What `tools/record.py --arrays` measures: encrypted arrays beside plain calls, programs on them, keys out of files."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aglet import Engine, KeySet, Session
from aglet.progress import silent
from aglet_bench.reproduce.applications import ApplicationCase, bench_application

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
LOADS = 3
TURNS = 9


@dataclass(frozen=True)
class Figure:
    """One line of the table: a record with `seconds` (or `share`: a ratio, or `bytes`), and the most that it may be."""

    name: str
    most: float | None
    record: dict[str, Any]
    remark: str = ""

    @property
    def met(self) -> bool | None:
        """Whether it is reached; results that are wrong never are."""
        if self.most is None:
            return None
        return not self.record.get("wrong") and self.value <= self.most

    @property
    def value(self) -> float:
        return float(next(self.record[name] for name in ("share", "bytes", "seconds") if name in self.record))

    def said(self, value: float) -> str:
        """A value in its unit."""
        if "bytes" in self.record:
            return f"{value / 1e6:.2f} MB"
        return f"{value * 100:.1f} %" if "share" in self.record else f"{value:.2f} s"


PROGRAMS = (
    ("sort of 128 values", "sort", 128, 12.0, "published 21.1 s"),
    ("argmax of 128 values", "argmax", 128, 6.0, "published 14.2 s"),
    ("variance of 2^20 values", "variance", 1 << 20, None, ""),
    ("logistic regression, 1,024 x 256, 32 steps", "logistic", 32, 100.0, "published 37 s a step"),
    ("network of 64, 32 and 10 on 512 pictures", "network", 512, None, ""),
)
"""Name, program, size, the most seconds, what others publish."""


def programs() -> list[Figure]:
    """Programs on two threads, each once, compared with numpy."""
    figures = []
    for name, program, size, most, published in PROGRAMS:
        record = bench_application(ApplicationCase(program, size, threads=2), repeat=1)
        record["command"] = f'bench_application(ApplicationCase("{program}", {size}, threads=2), repeat=1)'
        bits = f"{record['wrong']} wrong, {record['bits_worst']:.1f} bits in the worst slot"
        figures.append(Figure(name, most, record, "; ".join(filter(None, (bits, published)))))
    return figures


def example(name: str, words: list[str], patterns: dict[str, str]) -> list[Figure]:
    """The seconds that an example prints; it checks its results itself."""
    command = [sys.executable, str(EXAMPLES / name), *words]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ}).stdout
    figures = []
    for what, pattern in patterns.items():
        found = re.search(pattern, told)
        assert found is not None, f"{name} says nothing that fits {pattern}"
        record = {"command": " ".join(["examples/" + name, *words]), "what": what, "seconds": float(found[1])}
        figures.append(Figure(what, None, {"kind": "array", **record}))
    return figures


def loading() -> Figure:
    """The large keys of a bootstrap out of files, on two threads, without the secret."""
    engine = Engine(use_bootstrap=True, mode="parallel", thread_count=2)
    with tempfile.TemporaryDirectory() as folder:
        keys = engine.create_keys(rotation=False, progress=silent)
        size = keys.byte_count
        keys.save(folder)
        del keys
        seconds = []
        for _ in range(LOADS):
            start = time.perf_counter()
            KeySet.load(folder, engine, progress=silent)
            seconds.append(time.perf_counter() - start)
    record = {"kind": "array", "command": "KeySet.load(folder, engine)", "threads": 2, "seconds_all": seconds}
    record |= {"seconds": statistics.median(seconds), "key_bytes": size, "backend": engine.backend}
    return Figure("loading the large set of keys from files, two threads", 2.5, record, f"{size / 1e9:.2f} GB")


def overheads() -> list[Figure]:
    """CPU time of operations on arrays over that of the same engine calls, on the torus on one thread."""
    engine = Engine(use_bootstrap=True, mode="parallel", thread_count=1)
    keys = engine.create_keys(bootstrap=None, progress=silent)
    session = Session(engine, keys)
    values = np.random.default_rng(1).uniform(-1, 1, engine.slot_count)
    x, y = session.encrypt(values, bound=1), session.encrypt(values[::-1].copy(), bound=1)
    a, b = x.chunks[0], y.chunks[0]
    relin, coefficients = keys.relinearization, [0.1, 0.5, 0.0, -0.2]
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "product": (lambda: x * y, lambda: engine.multiply(a, b, relin)),
        "polynomial of degree 3": (
            lambda: session.poly(x, coefficients),
            lambda: engine.evaluate_polynomial(a, coefficients, relin),
        ),
        "product with plain numbers": (lambda: x * values, lambda: engine.multiply(a, values)),
        "addition": (lambda: x + y, lambda: engine.add(a, b)),
    }
    return [_overhead(name, *calls) for name, calls in pairs.items()]


def _overhead(name: str, array: Callable[[], Any], plain: Callable[[], Any]) -> Figure:
    inner = max(1, int(0.1 / _cpu(plain, 3)))
    ratios, took = [], []
    for turn in range(TURNS):
        found = {call: _cpu(call, inner) for call in ((array, plain) if turn % 2 else (plain, array))}
        ratios.append(found[array] / found[plain])
        took.append(found[plain])
    share, seconds = statistics.median(ratios) - 1, statistics.median(took)
    record = {"kind": "array", "command": f"overheads(), {name}", "share": share, "seconds": seconds, "threads": 1}
    return Figure(f"{name}: array over engine", 0.03, record, f"{seconds * 1e3:.1f} ms the plain call")


def _cpu(call: Callable[[], Any], times: int) -> float:
    """CPU seconds of a call."""
    call()
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def kept() -> list[Figure]:
    """A layer of 64 x 32 on 512 rows in one ciphertext: encoded in each product, and once for all."""
    engine = Engine(use_bootstrap=True, mode="parallel", thread_count=2)
    session = Session(engine, engine.create_keys(bootstrap=None, progress=silent))
    random = np.random.default_rng(1)
    matrix = random.uniform(-1, 1, (64, 32))
    rows = session.encrypt(random.uniform(0, 1, (512, 64)), bound=(0, 1), level=7)
    once = session.encode_matrix(matrix)
    figures = []
    for name, factor in (("512 rows times a matrix of 64 x 32", matrix), ("the same, encoded once", once)):
        seconds = []
        for _ in range(LOADS + 1):
            start = time.perf_counter()
            rows @ factor
            seconds.append(time.perf_counter() - start)
        record = {"kind": "array", "command": f"rows @ matrix, {name}", "seconds": statistics.median(seconds[1:])}
        figures.append(Figure(name, None, {**record, "seconds_all": seconds[1:], "threads": 2}))
    return figures


def arrays() -> list[Figure]:
    """Everything, in four or five minutes."""
    column = {
        "mean and variance of 10^6 rows, out of core": r": ([\d.]+) s, with",
        "the same of the rows beyond a threshold": r"with the filter ([\d.]+) s",
    }
    return [
        *overheads(),
        loading(),
        *kept(),
        *programs(),
        *example("column.py", ["1000000"], column),
        *example("digits.py", [], {"a trained network on 512 digits": r"pictures in ([\d.]+) s"}),
    ]
