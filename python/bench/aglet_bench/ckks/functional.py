"""Measure functional bootstraps of CKKS beside the regular bootstrap of the same key size, in alternation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from aglet import _core
from aglet.ckks.engine import Engine
from aglet.ckks.functional import FunctionalEstimate
from aglet.errors import ParameterError
from aglet_bench.ckks.measure import Precision
from aglet_bench.quiet import Watch

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FunctionalCase", "FunctionalPlan", "bench_functional"]


@dataclass(frozen=True)
class FunctionalCase:
    """One measurement, with the names of the command line."""

    entries: int = 16
    method: str = "regular"
    """The bootstrap whose key is used."""
    preset: str = "regular"
    stages: int | None = None
    """Stages of coeffs_to_slots; those that the preset is made for if not given."""
    order: int = 1
    tables: int = 1
    real: bool = False
    target_level: int | None = None
    threads: int = 1
    allow_insecure: bool = False

    def __post_init__(self) -> None:
        if not 2 <= self.entries <= 256:
            raise ParameterError(f"A table of a functional bootstrap has 2 to 256 entries, not {self.entries}.")
        if self.method not in ("regular", "lossy"):
            raise ParameterError(
                f'A functional bootstrap takes the key of method regular or lossy, not "{self.method}".'
            )

    def table(self, number: int) -> NDArray[np.float64]:
        """A permutation of a grid from 0 to 1."""
        return np.random.default_rng(number).permutation(self.entries) / (self.entries - 1)


@dataclass(frozen=True)
class FunctionalPlan:
    """A functional bootstrap before a key exists."""

    plan: _core.Plan
    estimate: FunctionalEstimate
    """Of inputs without an error."""
    ratio: float | None
    """The predicted time over that of a regular bootstrap with the key of that; None without units."""

    @classmethod
    def of(cls, case: FunctionalCase, key_size: str = "large", units: Mapping[str, float] | None = None) -> Self:
        """Plan a case. With `units`, microseconds per unit of work, it has seconds.

        Raises
        ------
        LevelError, ParameterError
            If the table takes more levels than the key leaves, or if the preset has no such bootstrap.
        """
        engine = Engine(preset=case.preset, allow_insecure=case.allow_insecure)
        tables = [case.table(number).tolist() for number in range(case.tables)]
        functional = _core.Functional.tables([(table, table) for table in tables], 0.0, 1.0, case.order)
        choice, given = (case.stages, key_size, engine.slot_count, case.real), cast("_core.UnitCosts | None", units)
        plan = _core.plan(case.preset, case.method, *choice, case.target_level, given, functional)
        regular = _core.plan(case.preset, "regular", *choice, None, given)
        estimate = engine.functional_estimate(
            tables,
            size=key_size,  # type: ignore[arg-type]
            method=case.method,
            stage_count=case.stages,
            order=case.order,
            real=case.real,
            target_level=case.target_level,
        )
        seconds, beside = plan["seconds"], regular["seconds"]
        return cls(plan, estimate, seconds / beside if seconds and beside else None)


def bench_functional(case: FunctionalCase, *, repeat: int) -> dict[str, Any]:
    """Look up random messages in random tables. The record compares every slot with the table.

    A regular bootstrap runs before each: `ratio` is the median of the quotients.
    """
    engine = Engine(preset=case.preset, mode="parallel", thread_count=case.threads, allow_insecure=case.allow_insecure)
    secret = engine.create_secret_key()
    start = time.perf_counter()
    arithmetic = engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)
    regular = engine.create_bootstrap_key(secret, stage_count=case.stages)
    lossy = case.method == "lossy"
    key = engine.create_lossy_bootstrap_key(secret, stage_count=case.stages) if lossy else regular
    keygen = time.perf_counter() - start
    random = np.random.default_rng(1)
    places = [random.integers(0, case.entries, engine.slot_count) for _ in range(1 if case.real else 2)]
    message = places[0].astype(float) if case.real else places[0] + 1j * places[1]
    tables = [case.table(number) for number in range(case.tables)]
    inputs = engine.encrypt(message, secret, level=0, bound=2 * case.entries)
    values = engine.encrypt(message / (2 * case.entries), secret, level=0)
    choices: dict[str, Any] = {"order": case.order, "real": case.real, "target_level": case.target_level}
    estimate = engine.functional_estimate(
        tables, input_error=inputs.noise or 0.0, method=case.method, stage_count=case.stages, **choices
    )
    watch, seconds, beside = Watch(), [], []
    for _ in range(repeat):
        start = time.perf_counter()
        engine.bootstrap(values, *arithmetic, regular, real=case.real)
        middle = time.perf_counter()
        results = engine.functional_bootstrap(inputs, tables, *arithmetic, key, **choices)
        seconds.append(time.perf_counter() - middle)
        beside.append(middle - start)
    quiet = watch.done(seconds)
    errors, squares, wrong = [], [], 0
    for table, result in zip(tables, results, strict=True):
        wanted = table[places[0]] if case.real else table[places[0]] + 1j * table[places[1]]
        found = engine.decrypt(result, secret)
        errors.append(Precision.of(wanted, found))
        squares.append(float(np.mean(np.abs(found - wanted) ** 2)))
        parts = (found.real - wanted.real, found.imag - wanted.imag)
        wrong += int(sum((np.abs(part) > 0.5 / (case.entries - 1)).sum() for part in parts))
    machine = _core.doctor()
    return {
        "operation": "functional bootstrap",
        **asdict(case),
        "slot_count": engine.slot_count,
        "messages": len(places) * engine.slot_count,
        "threads": engine.thread_count,
        "backend": engine.backend,
        "seconds": statistics.median(seconds),
        "seconds_all": seconds,
        "regular_seconds": statistics.median(beside),
        "ratio": statistics.median(own / other for own, other in zip(seconds, beside, strict=True)),
        "wrong": wrong,
        "bits_rms": -0.5 * float(np.log2(max(squares))),
        "bits_worst": min(error.bits_worst for error in errors),
        "bits_stated": -float(np.log2(estimate.noise)),
        "output_level": results[0].level,
        "log2_failure": estimate.log2_failure,
        "largest_input_error": estimate.largest_input_error,
        "key_bytes": key.byte_count,
        "keygen_seconds": keygen,
        "security_bits": _core.plan(case.preset, case.method, case.stages, "large", engine.slot_count)["security_bits"],
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        "stage_seconds": dict(engine.stage_times()),
        **quiet.fields(),
        "version": machine["version"],
    }
