"""A bootstrap predicted by the models, stage by stage, and compared with measured time, work and precision.

The models are those of the core: work is counted on the plan (`_core.plan`), the time of each unit of work is measured
on this machine (`_core.unit_costs`), and noise comes from running the plan on plain values
(`_core.predicted_precision`).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aglet import _core
from aglet.errors import ParameterError
from aglet.keys.keyset import KeySet
from aglet.progress import ProgressCallback
from aglet_bench.ckks.measure import Case, Precision, default_message, make_message, run_bootstrap
from aglet_bench.quiet import Watch
from aglet_bench.timing import read_rate, units_for

__all__ = ["BITS_BOUND", "FACTOR_BOUND", "Forecast", "Measured", "Stage", "bytes_read", "forecast", "measure"]

FACTOR_BOUND = 1.5
"""A stage is reported if its measured time differs from the prediction by more than this factor."""
BITS_BOUND = 1.5
"""The most bits between the predicted and the measured mean precision."""
_SMALL = 0.02
"""Stages below this share of the whole are not judged, because their times are mostly overhead."""


def bytes_read(work: _core.Work) -> int:
    """Bytes of keys, matrices and ciphertexts that are read. What passes write and read again is not counted."""
    return work["key_bytes_read"] + work["matrix_bytes_read"] + work["ciphertext_bytes_read"]


@dataclass(frozen=True)
class Stage:
    """One stage."""

    name: str
    work: _core.Work
    seconds: float
    """The predicted seconds on one thread."""
    noise_bits: float | None
    """The precision that the noise of this stage alone leaves; None without noise."""
    measured: float | None = None
    """The measured seconds, the median of the repeats."""
    counted: _core.Work | None = None
    """The work that the kernels did."""

    @property
    def ratio(self) -> float | None:
        """Measured over predicted; None if one of them is zero."""
        return self.measured / self.seconds if self.measured and self.seconds else None

    @property
    def read_rate(self) -> float | None:
        """Bytes read, in 10^9 in each measured second; None if it was not measured."""
        return bytes_read(self.work) / self.measured / 1e9 if self.measured else None


@dataclass(frozen=True)
class Measured:
    """The measurements of the whole bootstrap."""

    seconds: list[float]
    precision: Precision
    output_level: int
    keygen_seconds: float
    quiet: dict[str, Any]
    """Whether the machine was quiet enough."""
    memory_rate: float
    """What one thread reads of memory in order, in 10^9 bytes a second."""


@dataclass(frozen=True)
class Forecast:
    """A bootstrap, predicted and possibly measured."""

    plan: _core.Plan
    units: _core.UnitCosts
    precision: _core.PrecisionForecast
    stages: tuple[Stage, ...]
    measured: Measured | None = None

    @property
    def seconds(self) -> float:
        """The predicted seconds on one thread."""
        return sum(stage.seconds for stage in self.stages)

    def warnings(self, factor: float = FACTOR_BOUND) -> list[str]:
        """A sentence for each disagreement of work, time or precision."""
        if self.measured is None:
            return []
        found = []
        total = statistics.median(self.measured.seconds)
        for stage in self.stages:
            if stage.counted is not None and stage.counted != stage.work:
                found.append(
                    f"{stage.name}: the kernels did other work than the model counts, so one of them is wrong; please "
                    "report it."
                )
            large = max(stage.seconds, stage.measured or 0.0) >= _SMALL * total
            if stage.ratio is not None and large and not 1 / factor <= stage.ratio <= factor:
                found.append(
                    f"{stage.name}: {stage.measured:.3f} s, predicted {stage.seconds:.3f} s, {stage.ratio:.2f} times "
                    f"(bound {factor:g})."
                )
        bits, predicted = self.measured.precision.bits_mean, self.precision["mean_bits"]
        if abs(bits - predicted) > BITS_BOUND:
            found.append(
                f"Precision: {bits:.1f} bits, predicted {predicted:.1f}, which is more than {BITS_BOUND:g} apart."
            )
        return found

    def record(self, factor: float = FACTOR_BOUND) -> dict[str, Any]:
        """All of it, ready for JSON."""
        names = ("preset", "method", "stage_count", "key_size", "slot_count", "real", "input_level", "output_level")
        made: dict[str, Any] = {name: value for name, value in self.plan.items() if name in names}
        made |= {"units_us": dict(self.units), "seconds_predicted": self.seconds}
        bits = self.precision
        made |= {"mean_bits_predicted": bits["mean_bits"], "worst_bits_predicted": bits["worst_bits"]}
        made["approximation_bits"] = bits["approximation_bits"]
        if self.measured is not None:
            own = self.measured
            made |= {"seconds": statistics.median(own.seconds), "seconds_all": own.seconds}
            made |= {"bits_mean": own.precision.bits_mean, "bits_worst": own.precision.bits_worst}
            made |= {"memory_gb_per_second": own.memory_rate}
            made |= {"keygen_seconds": own.keygen_seconds, **own.quiet, "warnings": self.warnings(factor)}
        made["stages"] = [_row(stage, self.measured is not None) for stage in self.stages]
        return made


def _row(stage: Stage, measured: bool) -> dict[str, Any]:
    row = {"name": stage.name, "seconds_predicted": stage.seconds, "noise_bits": stage.noise_bits, **stage.work}
    if measured:
        row |= {"seconds": stage.measured, "ratio": stage.ratio, "gb_per_second": stage.read_rate}
        row |= {"work_as_predicted": stage.counted == stage.work}
    return row


def forecast(case: Case, units: Mapping[str, float] | None = None) -> Forecast:
    """Predict the work, the time and the noise of every stage. No key is made.

    Parameters
    ----------
    units
        Microseconds per unit of work, in the form of `_core.unit_costs`; measured now if not given.

    Raises
    ------
    ParameterError
        If there is no such bootstrap.
    """
    preset = next((p for p in _core.presets() if p["name"] == case.preset_name), None)
    slots = case.slot_count if case.slot_count is not None else (preset["slots"] if preset else 0)
    given: Any = dict(units) if units is not None else (units_for(preset) if preset else None)
    choice = (case.preset_name, case.core_method, case.stage_count, case.key_size, slots)
    plan = _core.plan(*choice, case.real, case.target_level, given)
    precision = _core.predicted_precision(*choice, case.real, case.target_level, case.bound, by_stage=True)
    pairs = zip(plan["stages"], precision["stages"], strict=True)
    stages = tuple(Stage(row["name"], row["work"], row["seconds"] or 0.0, noise["noise_bits"]) for row, noise in pairs)
    return Forecast(plan, given, precision, stages)


def measure(
    predicted: Forecast,
    case: Case,
    *,
    repeat: int,
    progress: ProgressCallback | None = None,
    keys: KeySet | None = None,
) -> Forecast:
    """Make the keys, run the bootstrap, and compare its figures with the prediction.

    The first run allocates memory and builds tables, and is not counted.

    Raises
    ------
    ParameterError
        If the parameters do not fit, or if they are not secure and the case does not allow it.
    """
    if repeat < 1:
        raise ParameterError(f"repeat={repeat} is below 1; give repeat=1 or more.")
    if case.threads != 1:
        raise ParameterError("The model is for one thread; measure with one thread.")
    engine = case.engine()
    if keys is None:
        keys = case.keys(engine, progress)
    message = make_message(default_message(case.core_method), engine.slot_count)

    def told(done: int) -> None:
        if progress is not None:
            progress(done, repeat + 1, "bootstraps")

    told(0)
    run_bootstrap(engine, keys, message, 1, case)
    watch, runs, stages = Watch(), [], []
    for done in range(1, repeat + 1):
        told(done)
        runs.append(run_bootstrap(engine, keys, message, 1, case))
        stages.append(engine.stage_runs())
    told(repeat + 1)
    seconds = [run.seconds[0] for run in runs]
    errors = [run.precision for run in runs]
    precision = Precision(statistics.fmean(e.mean_error for e in errors), max(e.max_error for e in errors))
    quiet = watch.done(seconds).fields()
    medians = [statistics.median(run["seconds"] for run in found) for found in zip(*stages, strict=True)]
    own = zip(predicted.stages, medians, stages[-1], strict=True)
    return replace(
        predicted,
        stages=tuple(replace(stage, measured=median, counted=run["work"]) for stage, median, run in own),
        measured=Measured(seconds, precision, runs[-1].output_level, keys.seconds or 0.0, quiet, read_rate()),
    )
