"""The models of a bootstrap and what it is: work, time and precision, stage by stage, on the toy ring."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from aglet import ParameterError, RangeError, _core
from aglet.cli import app
from aglet_bench.ckks import modelled
from aglet_bench.ckks.measure import Case

CASE = Case(preset="toy", allow_insecure=True)
UNITS = {"forward": 2.0, "inverse": 2.0, "pointwise": 0.5, "key": 0.5, "diagonal": 0.2, "matrix": 0.3}
UNITS["conversion"] = 0.2


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["plan", "--preset", "toy", *arguments])


def test_a_forecast_has_work_seconds_and_noise_of_every_stage() -> None:
    found = modelled.forecast(CASE, UNITS)
    names = [stage.name for stage in found.stages]
    assert names == [stage["name"] for stage in found.plan["stages"]]
    work = {stage.name: stage.work for stage in found.stages}
    assert work["eval_mod"]["forward_transforms"] > work["encapsulate"]["forward_transforms"] > 0
    assert work["eval_mod"]["matrix_bytes_read"] == 0 < work["coeffs_to_slots 2/3"]["matrix_bytes_read"]
    assert found.seconds == pytest.approx(found.plan["seconds"])
    doubled = modelled.forecast(CASE, {name: 2 * value for name, value in UNITS.items()})
    assert doubled.seconds == pytest.approx(2 * found.seconds)
    noise = {stage.name: stage.noise_bits for stage in found.stages}
    assert noise["scale_down"] is None
    loudest = sorted((bits, name) for name, bits in noise.items() if bits is not None)[:2]
    assert {name for _, name in loudest} == {"coeffs_to_slots 3/3", "eval_mod"}
    assert found.precision["mean_bits"] < loudest[0][0]
    assert found.warnings() == []


@pytest.mark.parametrize(
    "case",
    [
        CASE,
        replace(CASE, method="sign", key_size="medium"),
        replace(CASE, method="lossy", slot_count=64, key_size="small", stage_count=2),
        replace(CASE, method="merge"),
        replace(CASE, bound=16.0, real=True, target_level=4),
    ],
)
def test_what_is_measured_is_what_was_predicted(case: Case) -> None:
    told: list[tuple[int, int, str]] = []
    predicted = modelled.forecast(case)
    found = modelled.measure(predicted, case, repeat=2, progress=lambda *step: told.append(step))
    assert found.measured is not None
    assert [stage.counted for stage in found.stages] == [stage.work for stage in predicted.stages]
    assert abs(found.measured.precision.bits_mean - predicted.precision["mean_bits"]) < modelled.BITS_BOUND
    assert found.measured.output_level == predicted.plan["output_level"]
    assert len(found.measured.seconds) == 2
    assert (0, 3, "bootstraps") in told
    assert told[-1] == (3, 3, "bootstraps")


def test_what_is_off_is_named() -> None:
    found = modelled.measure(modelled.forecast(CASE), CASE, repeat=1)
    fine = tuple(replace(stage, seconds=stage.measured or 0.0) for stage in found.stages)
    assert replace(found, stages=fine).warnings() == []

    def with_eval_mod(**changed: Any) -> list[str]:
        changed_one = [replace(stage, **changed) if stage.name == "eval_mod" else stage for stage in fine]
        return replace(found, stages=tuple(changed_one)).warnings()

    seconds = next(stage.seconds for stage in fine if stage.name == "eval_mod")
    for wrong in (seconds / 1.6, seconds * 1.6):
        (warning,) = with_eval_mod(seconds=wrong)
        assert warning.startswith("eval_mod: ")
        assert "predicted" in warning
    assert with_eval_mod(seconds=seconds / 1.4) == []
    (warning,) = with_eval_mod(counted=fine[0].work)
    assert "other work" in warning
    vague: Any = {**found.precision, "mean_bits": found.precision["mean_bits"] + 2}
    (warning,) = replace(found, stages=fine, precision=vague).warnings()
    assert warning.startswith("Precision: ")


def test_refusals() -> None:
    for case, words in (
        (replace(CASE, preset="nonsense"), "nonsense"),
        (replace(CASE, stage_count=9), "stage"),
    ):
        with pytest.raises(ParameterError, match=words):
            modelled.forecast(case)
    with pytest.raises(RangeError, match="bound"):
        modelled.forecast(replace(CASE, bound=0.0))
    found = modelled.forecast(CASE, UNITS)
    for case, repeat, words in (
        (CASE, 0, "is below 1; give repeat=1"),
        (replace(CASE, threads=2), 1, "one thread"),
        (replace(CASE, allow_insecure=False), 1, "allow_insecure"),
    ):
        with pytest.raises(ParameterError, match=words):
            modelled.measure(found, case, repeat=repeat)
    for units in ({**UNITS, "key": -1.0}, {**UNITS, "colour": 1.0}, {"forward": 1.0}):
        with pytest.raises(ParameterError, match="microseconds"):
            modelled.forecast(CASE, units)


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "units.json"
    file.write_text(json.dumps(UNITS))
    text = " ".join(run("--model", "--units", str(file)).stdout.split())
    for words in ("eval_mod", "noise", "predicted", "precision predicted", "forward 2.0"):
        assert words in text
    assert "measured" not in text
    (line,) = run("--model", "--json", "--units", str(file)).stdout.splitlines()
    record = json.loads(line)
    assert record["units_us"] == UNITS
    assert [stage["name"] for stage in record["stages"][-2:]] == ["eval_mod", "mod_switch"]
    assert record["stages"][-1]["seconds_predicted"] > 0
    # What it writes can be read again.
    file.write_text(line)
    assert json.loads(run("--model", "--json", "--units", str(file)).stdout) == record


def test_the_command_measures() -> None:
    text = " ".join(run("--measure", "--repeat", "1", "--allow-insecure").stdout.split())
    for words in ("measured", "ratio", "precision measured", "keys made in", "exactly the predicted work", "GB/s"):
        assert words in text
    record = json.loads(run("--measure", "--repeat", "2", "--allow-insecure", "--json").stdout)
    assert len(record["seconds_all"]) == 2
    assert all(stage["work_as_predicted"] for stage in record["stages"])
    rates = [stage["gb_per_second"] for stage in record["stages"] if stage["seconds"]]
    assert record["memory_gb_per_second"] > 0
    assert all(rate >= 0 for rate in rates)
    assert any(rates)
    assert isinstance(record["warnings"], list)
    assert abs(record["bits_mean"] - record["mean_bits_predicted"]) < modelled.BITS_BOUND


def test_the_command_fails_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("[1]")
    for bad in (
        ["--measure"],
        ["--model", "--units", str(tmp_path / "none")],
        ["--model", "--units", str(tmp_path / "list")],
        ["--model", "--factor", "1"],
    ):
        result = run(*bad)
        assert (result.exit_code, result.stdout) == (1, ""), bad
        assert result.stderr.startswith("aglet: ")


def test_units_grow_with_the_ring() -> None:
    # The least of three: what else the machine does only makes a time longer.
    small, large = ([_core.unit_costs(log_n, 50) for _ in range(3)] for log_n in (10, 13))
    assert all(set(costs) == set(UNITS) for costs in small)
    assert min(costs["forward"] for costs in large) > 4 * min(costs["forward"] for costs in small) > 0
