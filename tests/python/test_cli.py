"""The command line: every command, its JSON, and its way of failing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
from typer.testing import CliRunner

import aglet
from aglet import _core, forecast
from aglet.cli import app, output
from aglet.errors import RangeError
from aglet.scheme_switch.integers import Integers
from aglet_bench.ckks.measure import MESSAGES, METHODS
from aglet_bench.published import REGULAR_BOOTSTRAP, published_beside

ADVISE = ["advise", "--slots", "32768", "--bits", "20", "--levels", "5"]
TOY = ["--preset", "toy", "--allow-insecure"]
BENCH_FIELDS = [
    "method",
    "key_size",
    "stage_count",
    "slot_count",
    "threads",
    "backend",
    "seconds",
    "seconds_all",
    "mean_error",
    "bits_mean",
    "max_error",
    "bits_worst",
    "input_level",
    "output_level",
    "key_bytes",
    "keygen_seconds",
    "peak_rss_bytes",
    "log_n",
    "log_qp",
    "security_bits",
    "log2_failure",
    "cpu",
]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def lines(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--json").splitlines()]


def fails(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("aglet: ")
    assert result.stderr.rstrip().endswith(".")
    return result.stderr


def test_doctor() -> None:
    assert _core.doctor()["backend"] in run("doctor")
    (machine,) = lines("doctor")
    assert machine["backends"][-1] == "scalar"


def test_params() -> None:
    text = run("params", "--all")
    names = [preset["name"] for preset in lines("params")]
    assert {"regular", "toy"} <= set(names)
    assert all(name in text for name in names)


def test_params_fit_a_screen_and_say_all_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run("params")
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= 80
    assert "regular" in text
    assert "toy" not in text
    assert "seal-1" not in text
    for name, words in (("regular", "eprint 2022/024"), ("gate", "LWE dimension"), ("int16", "plaintext_modulus")):
        assert words in run("params", name)
    assert [preset["name"] for preset in lines("params", "lut4", "toy")] == ["lut4", "toy"]
    assert "did you mean ship14?" in fails("params", "ship-14")


def test_the_package_is_a_command_too() -> None:
    made = subprocess.run([sys.executable, "-m", "aglet", "--version"], capture_output=True, text=True, check=True)
    assert made.stdout.startswith("aglet ")


def test_advise_asks_for_all_that_is_missing_at_once() -> None:
    words = fails("advise")
    assert "advise needs --slots and --bits and --levels" in words
    assert "aglet advise --slots 32768" in words
    assert "--slots" not in fails("advise", "--slots", "4", "--bits", "9").split("for example")[0]


def test_errors_name_options_and_not_arguments_of_python() -> None:
    for command, words in (
        (("plan", "--slots", "3"), "--slots 3 is not a power of two"),
        (("plan", "--stages", "9"), "--stages 9 does not suit"),
        (("plan", "--bound", "0"), "--bound must be positive"),
        (("bench", "bootstrap", "--threads", "-1"), "--threads -1 is negative"),
        (("bench", "bootstrap", "--preset", "toy"), "For tests only, --allow-insecure accepts it."),
        (("bench", "sign", "--bits", "99"), "2 to 20 bits, not 99; change --bits"),
        (("bench", "digits", "--bits", "0"), "1 to 20 bits, not 0; change --bits"),
    ):
        text = fails(*command)
        assert words in text
        assert not re.search("slot_count|stage_count|thread_count|allow_insecure|bound=", text)
    # Code of Python stays as it is.
    code = "Give Engine(slot_count=4), or slot_count=4 and level 3."
    assert output.in_options(code, ["slots", "level"]) == "Give Engine(slot_count=4), or --slots 4 and level 3."


def test_plan_lists_every_preset_that_it_takes() -> None:
    bootstraps = [preset["name"] for preset in _core.presets() if preset["methods"]]
    fhew = [preset["name"] for preset in _core.fhew_presets()]
    integers = [preset["name"] for preset in _core.integer_presets()]
    assert ", ".join([*bootstraps, *fhew, *integers]) in fails("plan", "--preset", "nonsense")
    assert ", ".join([*bootstraps, *integers]) in fails("plan", "--preset", "nonsense", "--scheme-switch", "lut4")
    assert '"levels-14" has no bootstrap to plan' in fails("plan", "--preset", "levels-14")


def test_a_plan_refuses_options_that_would_change_nothing() -> None:
    for given, words in (
        (["--preset", "gate", "--slots", "4"], "FHEW, does not take --slots; leave that out"),
        (["--preset", "lut4", "--real", "--key-size", "small"], "does not take --real, --key-size; leave that out"),
        (["--preset", "int16", "--stages", "2"], "integers, does not take --stages; leave that out"),
        (["--preset", "int16", "--units", "units.json"], "does not take --units without --model"),
    ):
        assert words in fails("plan", *given)


def test_help_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert any(len(line.rstrip()) > 130 for line in run("plan", "--help").splitlines() if "--preset gate" in line)


def test_params_of_gates_and_tables() -> None:
    text = run("params", "--all")
    sets = {preset["name"]: preset for preset in lines("params") if "dimension" in preset}
    assert {"gate", "cggi", "lut2", "lut3", "lut4"} <= set(sets)
    assert all(name in text for name in sets)
    assert all(preset["log2_failure"] <= -128 for preset in sets.values())
    assert [name for name, preset in sets.items() if preset["security_bits"] < 128] == ["ntru", "toy-lut4"]
    assert "unknown" in text, "no table judges NTRU"


@pytest.mark.filterwarnings("ignore:NOT SECURE")
def test_ntru_is_measured_and_planned_by_those_who_insist() -> None:
    for command in (["bench", "gate", "--method", "ntru"], ["plan", "--preset", "ntru"]):
        assert "--allow-insecure" in fails(*command)
    (record,) = lines("bench", "gate", "--preset", "ntru", "--allow-insecure", "--batch", "2", "--repeat", "1")
    assert (record["method"], record["wrong"], record["security_bits"]) == ("ntru", 0, 0)
    assert "nand" in run("plan", "--preset", "ntru", "--allow-insecure")


@pytest.mark.parametrize(
    ("command", "operation", "preset"),
    [
        (["gate", "--batch", "3"], "nand", "gate"),
        (["gate", "--gate", "xor", "--method", "cggi"], "xor", "cggi"),
        (["lookup", "--bits", "2", "--threads", "2"], "padded table", "lut2"),
        (["lookup", "--bits", "2", "--domain", "full"], "full table", "lut2"),
        (["lookup2"], "two padded tables of two messages", "wide"),
        (["sign", "--bits", "9"], "sign of 9 bits", "lut4"),
        (["floor", "--batch", "3"], "5 of 10 bits off", "lut4"),
        (["digits", "--bits", "6"], "digits of 6 bits", "lut4"),
    ],
)
def test_bench_of_gates_and_tables(command: list[str], operation: str, preset: str) -> None:
    (record,) = lines("bench", *command, "--repeat", "2")
    assert (record["operation"], record["preset"], record["wrong"]) == (operation, preset, 0)
    assert (record["batch"], len(record["seconds_all"])) == (3 if "--batch" in command else 1, 2)
    assert 0 < record["key_bytes_seeded"] < record["key_bytes"] < 10**8
    for words in ("ms each", "0 wrong", preset):
        assert words in run("bench", *command, "--repeat", "1")


@pytest.mark.parametrize(
    "wrong",
    [
        ["gate", "--gate", "if"],
        ["lookup", "--bits", "1"],
        ["gate", "--batch", "0"],
        ["lookup", "--repeat", "0"],
        ["sign", "--bits", "21"],
        ["floor", "--low", "10"],
        ["digits", "--bits", "16"],
        ["lookup2", "--preset", "gate"],
    ],
)
def test_benches_that_do_not_exist(wrong: list[str]) -> None:
    fails("bench", *wrong)


def test_plan() -> None:
    text = run("plan", "--method", "regular", "--stages", "3")
    for stage in ("slots_to_coeffs", "mod_raise", "coeffs_to_slots", "eval_mod"):
        assert stage in text
    assert "peak memory" in text
    (plan,) = lines("plan", "--method", "regular", "--stages", "3")
    assert (plan["output_level"], plan["slot_count"], plan["log_n"]) == (10, 2**15, 16)
    assert plan["security_bits"] >= 128
    # The method names its set.
    (plan,) = lines("plan", "--method", "to14")
    assert (plan["preset"], plan["output_level"]) == ("to14", 14)


def test_plan_of_a_functional_bootstrap(tmp_path: Path) -> None:
    (plan,) = lines("plan", "--entries", "16")
    assert (plan["level"], plan["output_level"], plan["levels"], plan["ratio"]) == (6, 6, 4, None)
    assert plan["largest_input_error"] > 0
    assert plan["log2_failure"] < -128
    (lossy,) = lines("plan", "--entries", "256", "--method", "lossy", "--real")
    assert (lossy["level"], lossy["real"]) == (4, True)
    units = tmp_path / "units.json"
    units.write_text(json.dumps(dict(forecast.shipped_for(16, 50))))
    (timed,) = lines("plan", "--entries", "16", "--model", "--units", str(units))
    # Measured on Zen 3: 1.18 (docs/functional.md).
    assert 1.1 < timed["ratio"] < 1.3
    text = " ".join(run("plan", "--entries", "16", "--model", "--units", str(units)).split())
    assert "of a regular bootstrap" in text
    assert "inputs may err by" in text
    fails("plan", "--entries", "16", "--measure")
    fails("plan", "--entries", "16", "--method", "sign")
    fails("plan", "--entries", "300")
    fails("plan", "--entries", "16", "--preset", "ship14")
    fails("plan", "--entries", "16", "--preset", "int16")


@pytest.mark.parametrize(
    "command", [["plan"], ["plan", "--method", "lossy", "--stages", "5"], ["plan", "--entries", "16"], ADVISE]
)
def test_80_columns(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    """Tables are parted, not squeezed: every line fits, and what stands in a cell stands there whole."""
    monkeypatch.setenv("COLUMNS", "160")
    wide = run(*command)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run(*command)
    lines = narrow.splitlines()
    # Calls to be copied are not wrapped.
    tables = [line for line in lines if line[:1] in "┏┃┡│└┌├"]
    assert tables
    assert max(map(len, tables)) <= 80
    assert "\u2026" not in narrow
    names = [cells[1].strip() for line in wide.splitlines() if len(cells := line.split("│")) > 5]
    assert len(names) > 5
    for name in names:
        assert sum(line.split("│")[1].strip() == name for line in tables if "│" in line) >= 2, name
    numbers = re.findall(r"2\^-?\d[\d.]*|\d[\d.]* [GM]B", "\n".join(w for w in wide.splitlines() if "│" in w))
    assert all(number in narrow for number in numbers)


def test_plan_of_scheme_switching(tmp_path: Path) -> None:
    text = run("plan", "--scheme-switch", "lut4")
    assert "compare, count 64, bits 20, brought back" in text
    (found,) = lines("plan", "--scheme-switch", "gate")
    calls = {call["what"]: call for call in found["calls"]}
    # Gates have neither tables nor signs.
    assert set(calls) == {"to_fhew", "from_fhew"}
    assert (calls["to_fhew"]["log2_failure"], calls["from_fhew"]["refreshes"]) == (None, 1)
    units = tmp_path / "units"
    units.write_text(json.dumps(dict.fromkeys(_core.unit_costs(8, 50), 10.0)))
    (modelled,) = lines("plan", "--scheme-switch", "gate", "--model", "--units", str(units))
    assert {way: stages[0]["name"] for way, stages in modelled["stages"].items()} == {
        "to-fhew": "mod_switch 1/2",
        "from-fhew": "encapsulate",
    }
    assert "slots_to_coeffs" in fails("plan", "--scheme-switch", "lut4", "--preset", "ship14")


def test_plan_of_scheme_switching_to_integers(tmp_path: Path) -> None:
    (found,) = lines("plan", "--scheme-switch", "wide", "--preset", "int16")
    assert [(call["what"], call["level"]) for call in found["calls"] if call["level"] is not None] == [
        ("from_fhew", 6), ("lookup", 6), ("lookup", 2), ("lookup_bytes", 1)
    ]  # fmt: skip
    levels = [(one["bits"], one["output_level"]) for one in found["conversions_from_fhew"]]
    assert levels == [(1, 6), (2, 5), (3, 3), (4, 2)]
    assert all(way["bound"] > 10 * way["deviation"] for way in found["conversions_from_fhew"])
    assert "stages" not in found
    units = tmp_path / "units"
    units.write_text(json.dumps(dict.fromkeys(_core.unit_costs(8, 50), 10.0)))
    given = ["plan", "--scheme-switch", "lut4", "--preset", "int16", "--model", "--units", str(units)]
    (modelled,) = lines(*given)
    assert set(modelled["stages"]) == {"to-fhew", "from-fhew, 1 bit", "from-fhew, 4 bits"}
    text = run(*given)
    for words in (
        "removes errors below",
        "output level",
        "round",
        "slots_to_coeffs",
        "Direction from-fhew, 4 bits",
        "units of --units",
    ):
        assert words in text, words
    # What gates leave has too much noise for this set.
    (gates,) = lines("plan", "--scheme-switch", "gate", "--preset", "int16")
    assert "int16-deep" in gates["conversions_from_fhew"][0]["refused"]
    assert "too few levels" in run("plan", "--scheme-switch", "gate", "--preset", "int16")


def test_a_plan_of_scheme_switching_tells_noise_from_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    def noisy(*_: Any) -> NoReturn:
        raise RangeError("These messages have so much noise that some would come back wrong.")

    monkeypatch.setattr(Integers, "plan_from_fhew", noisy)
    (found,) = lines("plan", "--scheme-switch", "lut2", "--preset", "int16")
    assert [(way["lacking"], "so much noise" in way["refused"]) for way in found["conversions_from_fhew"]] == [
        ("too much noise", True), ("too much noise", True)
    ]  # fmt: skip
    text = run("plan", "--scheme-switch", "lut2", "--preset", "int16")
    assert "too much noise" in text
    assert "too few levels" not in text


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--method", "lossy", "--measure"], "--method, --measure"),
        (["--stages", "3"], "--stages"),
        (["--target-level", "3"], "--target-level"),
        (["--real", "--bound", "2"], "--real, --bound"),
        (["--units", "units.json"], "--units without --model"),
        (["--preset", "int16", "--slots", "64"], "--slots"),
        (["--preset", "int16", "--key-size", "medium"], "--key-size medium"),
    ],
)
def test_a_plan_of_scheme_switching_refuses_what_says_nothing_of_it(given: list[str], named: str) -> None:
    assert f"does not take {named};" in " ".join(fails("plan", "--scheme-switch", "lut4", *given).split())


def test_plan_of_gates_and_tables() -> None:
    text = run("plan", "--preset", "lut4")
    for words in ("sign of 20 bits", "full domain", "table of two messages", "refused", "key switch", "distance", "MB"):
        assert words in text
    (found,) = lines("plan", "--preset", "lut4")
    calls = {call["call"]: call for call in found["calls"]}
    assert (found["bits"], found["method"], calls["sign of 20 bits"]["rotations"]) == (4, "block", 6)
    assert found["noise"]["fresh"] < found["noise"]["bootstrap"] < found["noise"]["distance"]["padded"]
    assert calls["table of two messages"]["log2_failure"] > -128 > calls["table"]["log2_failure"]
    assert "majority" in run("plan", "--preset", "gate")
    assert "aglet bench lookup --preset lut4" in fails("plan", "--preset", "lut4", "--model")


def test_integers() -> None:
    text = run("params", "--all")
    sets = {preset["name"]: preset for preset in lines("params") if "plaintext_modulus" in preset}
    assert [preset["levels"] for preset in sets.values()] == [4, 9, 19, 39, 8, 26, 8, 26]
    for name, preset in sets.items():
        assert name in text
        assert (preset["security_bits"] >= 128) == preset["is_secure"] == (not name.startswith("toy-"))
    text = run("plan", "--preset", "int-levels-13")
    for words in ("table of 8 bits in 2 digits", "too few levels", "relinearization key"):
        assert words in text
    (plan,) = lines("plan", "--preset", "int-levels-15")
    circuits = {row["circuit"]: (row["levels"], row["relinearizations"]) for row in plan["circuits"]}
    assert circuits["table of 4 bits"] == (4, 7)
    assert circuits["table of 12 bits in 3 digits"] == (7, 59)
    assert plan["bootstrap"] is None
    (deep,) = lines("plan", "--preset", "int16-deep")
    assert (deep["bootstrap"]["input_level"], deep["bootstrap"]["output_level"]) == (1, 26)
    assert "from level 1 to 26" in run("plan", "--preset", "int16-deep")
    assert all(row["seconds"] is None for row in [*plan["circuits"], deep["bootstrap"]])
    assert "aglet bench integer" in fails("plan", "--preset", "int-levels-13", "--measure")


def test_integers_are_modelled(tmp_path: Path) -> None:
    units = dict.fromkeys(_core.unit_costs(8, 50), 10.0)
    (tmp_path / "units").write_text(json.dumps(units))
    given = ["plan", "--preset", "int16", "--model", "--units", str(tmp_path / "units")]
    (plan,) = lines(*given)
    refresh = plan["bootstrap"]
    assert refresh["output_level"] == 8
    assert -131 < refresh["log2_failure"] < -128
    assert refresh["key_bytes"] == 1_393_065_984
    assert refresh["seconds"] == pytest.approx(sum(stage["seconds"] for stage in refresh["stages"]))
    # At 10 us a limb for everything, it is work alone that counts.
    work = refresh["work"]
    kinds = (value for name, value in work.items() if not name.endswith("read"))
    assert refresh["seconds"] == pytest.approx(1e-5 * (sum(kinds) + work["matrix_bytes_read"] / 8 / 2**15))
    times = {row["circuit"]: row["seconds"] for row in plan["circuits"]}
    assert 0 < times["product"] < times["table of 4 bits"] < times["table of 8 bits in 2 digits"] < refresh["seconds"]
    text = run(*given)
    for words in ("digit_extraction", "2^-130", "1.39 GB", "ms"):
        assert words in text


@pytest.mark.parametrize(
    ("command", "operation", "levels"),
    [
        (["product"], "product", (4, 3)),
        (["bfv-product"], "bfv-product", (4, 4)),
        (["rotation", "--level", "1"], "rotation", (1, 1)),
        (["lookup", "--bits", "3"], "table of 3 bits", (3, 0)),
    ],
)
def test_bench_of_integers(command: list[str], operation: str, levels: tuple[int, int]) -> None:
    small = ["--preset", "int-levels-13", "--repeat", "1"]
    (record,) = lines("bench", "integer", *command, *small)
    assert (record["operation"], record["wrong"], record["slot_count"]) == (operation, 0, 8192)
    assert (record["input_level"], record["output_level"]) == levels
    assert 0 < record["noise_budget_estimated"] <= record["noise_budget"]
    assert "0 wrong" in run("bench", "integer", *command, *small)
    for wrong in (["sum"], ["lookup", "--bits", "5"], ["--repeat", "0"]):
        fails("bench", "integer", *wrong)


def test_bench_bootstrap_takes_sets_of_integers() -> None:
    assert "int16" in fails("bench", "bootstrap", "--preset", "int-levels-13")
    assert "--threads" in fails("bench", "bootstrap", "--preset", "int16", "--real")


def test_help_of_plan_lists_its_words() -> None:
    text = " ".join(re.sub(r"[^\w,.-]+", " ", run("plan", "--help")).split())
    assert ", ".join(METHODS) in text
    assert "small, medium or large" in text
    assert "regular" in fails("plan", "--method", "quick")
    assert "medium" in fails("plan", "--key-size", "huge")


def test_bench_ntt() -> None:
    timings = lines("bench", "ntt", "--log-n", "12", "--repeat", "3")
    assert [timing["backend"] for timing in timings] == _core.doctor()["backends"]
    assert all(timing["forward_us"] > 0 and timing["inverse_us"] > 0 for timing in timings)
    assert "scalar" in run("bench", "ntt", "--log-n", "10", "--repeat", "1")


def test_bench_of_two_iterations() -> None:
    one, two = (lines("bench", "bootstrap", *TOY, "--repeat", "1", "--iterations", count)[0] for count in "12")
    assert (one["iterations"], two["iterations"]) == (1, 2)
    assert two["bits_mean"] > one["bits_mean"] + 3
    assert "cannot be iterated" in fails("bench", "bootstrap", *TOY, "--method", "sign", "--iterations", "2")


def test_bench_of_several_together() -> None:
    (record,) = lines("bench", "bootstrap", *TOY, "--repeat", "1", "--many", "3")
    assert (record["many"], record["output_level"]) == (3, 10)
    assert record["bits_mean"] > 20
    assert "bootstrap_many" in fails("bench", "bootstrap", *TOY, "--method", "sign", "--many", "2")
    assert "bootstrap_many" in fails("bench", "bootstrap", *TOY, "--many", "0")


def test_bench_bootstrap() -> None:
    messages = [part for kind in MESSAGES for part in ("--message", kind)]
    records = lines("bench", "bootstrap", *TOY, "--repeat", "2", "--stages", "3", "--key-size", "large", *messages)
    assert [record["message"] for record in records] == list(MESSAGES)
    for record in records:
        assert set(BENCH_FIELDS) <= set(record)
        assert len(record["seconds_all"]) == 2
        assert (record["input_level"], record["output_level"]) == (0, 10)
        assert record["log2_failure"] < -64
        assert record["bits_worst"] <= record["bits_mean"]
    assert "uniform" in run("bench", "bootstrap", *TOY, "--repeat", "1")


def test_demo() -> None:
    text = run("demo", *TOY, "--threads", "1")
    for words in ("slots_to_coeffs", "peak memory", "No published figures are shown"):
        assert words in text
    for words in ("desilofhe", "HEaaN", "27.485"):
        assert words not in text
    assert published_beside(1.3, 1 << 15) == published_beside(127.9, 1 << 15) == published_beside(130.0, 512) == ()
    assert published_beside(128.1, 1 << 15) == REGULAR_BOOTSTRAP


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "--stages", "99"], "stage"),
        (["plan", "--preset", "nonsense"], "nonsense"),
        (["plan", "--method", "magic"], "magic"),
        (["bench", "bootstrap", "--preset", "toy"], "--allow-insecure"),
        (["bench", "bootstrap", *TOY, "--slots", "3"], "power of two"),
        (["bench", "bootstrap", *TOY, "--message", "secret"], "uniform, constant"),
        (["bench", "bootstrap", *TOY, "--repeat", "0"], "is below 1; give --repeat 1"),
        (["bench", "ntt", "--log-n", "99"], ""),
        (["demo", *TOY, "--threads", "-1"], "negative"),
    ],
)
def test_failures_are_sentences(arguments: list[str], words: str) -> None:
    assert words in fails(*arguments)


def test_a_forced_backend_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGLET_BACKEND", "abacus")
    assert "abacus" in fails("doctor")


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_core, "doctor", interrupted)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 130
    assert result.stderr == "aglet: stopped.\n"


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"aglet {aglet.__version__}\n")
