"""Measure programs on encrypted arrays that others publish times of."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import _core
from aglet.arrays.session import Session
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError
from aglet.measure import Precision
from aglet.quiet import Watch

__all__ = ["PROGRAMS", "ApplicationCase", "bench_application"]

_Program = Callable[[Any], Any]
PROGRAMS: dict[str, _Program] = {
    "sort": np.sort,
    "argmax": np.argmax,
    "variance": np.var,
}
"""By name; each takes an array, encrypted or not."""
_VALUES = 256
"""Different values of a vector; comparisons tell them apart."""


@dataclass(frozen=True)
class ApplicationCase:
    """What one bench measures: a program on so many values between 0 and 1, from fresh ciphertexts to its result."""

    program: str = "sort"
    size: int = 128
    preset: str = "regular"
    allow_insecure: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if self.program not in PROGRAMS:
            raise ParameterError(f'There is no program "{self.program}"; there are {", ".join(PROGRAMS)}.')


def bench_application(case: ApplicationCase, *, repeat: int) -> dict[str, Any]:
    """Measure a program; one record, ready for JSON. Its results are compared with numpy's."""
    if repeat < 1:
        raise ParameterError(f"A bench repeats at least once, not {repeat} times.")
    engine = Engine(preset=case.preset, mode="parallel", thread_count=case.threads, allow_insecure=case.allow_insecure)
    keys = engine.create_keys()
    session, program = Session(engine, keys, alpha=9, error_bits=12), PROGRAMS[case.program]
    data = np.random.default_rng(1).permutation(max(_VALUES, case.size))[: case.size] / max(_VALUES, case.size)
    machine, watch, seconds = _core.doctor(), Watch(), []
    for _ in range(repeat + 1):
        given = session.encrypt(data, bound=(0, 1))
        start = time.perf_counter()
        found = program(given)
        seconds.append(time.perf_counter() - start)
    # The first one encodes maps and maps memory.
    seconds = seconds[1:]
    quiet = watch.done(seconds)
    expected, values = np.asarray(program(data)), np.asarray(session.decrypt(found))
    precision = Precision.of(expected, values)
    # Of a place, whether it is the right one; of values, whether each is nearer to its own than to a neighbour.
    step = 1.0 if case.program == "argmax" else 1 / _VALUES
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
        "wrong": int((np.abs(values - expected) > step / 2).sum()),
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
