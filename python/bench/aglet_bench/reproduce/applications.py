"""Measure programs on encrypted arrays that others have published times of."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import _core
from aglet.arrays.session import Session
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError
from aglet_bench.ckks.measure import Precision
from aglet_bench.quiet import Watch
from aglet_bench.reproduce.programs import PROGRAMS

__all__ = ["ApplicationCase", "bench_application"]


@dataclass(frozen=True)
class ApplicationCase:
    """The case of one bench: a program of a size, from fresh ciphertexts to its result."""

    program: str = "sort"
    size: int = 128
    preset: str = "regular"
    allow_insecure: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if self.program not in PROGRAMS:
            raise ParameterError(f'There is no program "{self.program}"; choose one of {", ".join(PROGRAMS)}.')


def bench_application(case: ApplicationCase, *, repeat: int) -> dict[str, Any]:
    """Measure a program and compare its results with numpy's. Returns one record, ready for JSON."""
    if repeat < 1:
        raise ParameterError(f"repeat={repeat} is below 1; give repeat=1 or more.")
    engine = Engine(preset=case.preset, mode="parallel", thread_count=case.threads, allow_insecure=case.allow_insecure)
    keys = engine.create_keys()
    session, program = Session(engine, keys, alpha=9, error_bits=12), PROGRAMS[case.program]
    data = program.data(case.size, engine.slot_count)
    machine, watch, seconds = _core.doctor(), Watch(), []
    for _ in range(repeat + program.warm):
        given = program.encrypted(session, data)
        start = time.perf_counter()
        found = program.run(given, case.size)
        seconds.append(time.perf_counter() - start)
    # The first one encodes maps and maps memory.
    seconds = seconds[int(program.warm) :]
    quiet = watch.done(seconds)
    expected, values = np.asarray(program.run(data, case.size)), np.asarray(session.decrypt(found))
    precision = Precision.of(expected, values)
    bits = {"bits_mean": precision.bits_mean, "bits_worst": precision.bits_worst}
    return {
        "kind": "application",
        "program": case.program,
        "size": case.size,
        "preset": engine.preset,
        "slot_count": engine.slot_count,
        "output_level": found.level,
        "threads": engine.thread_count,
        "backend": engine.backend,
        "seconds": statistics.median(seconds),
        "seconds_all": seconds,
        "wrong": int((np.abs(values - expected) > program.step / 2).sum()),
        **bits,
        "mean_error": precision.mean_error,
        "max_error": precision.max_error,
        "key_bytes": keys.byte_count,
        "keygen_seconds": keys.seconds,
        "peak_rss_bytes": _core.peak_rss_bytes(),
        "security_bits": engine.security_report().security_bits,
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        **quiet.fields(),
        "version": machine["version"],
    }
