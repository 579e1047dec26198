"""Advice: what fits comes first, measured and modelled are told apart, and the calls it prints run."""

from __future__ import annotations

import functools
import json
import random
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from aglet import Engine, FhewEngine, IntegerEngine, ParameterError, Session, _core
from aglet.cli import app
from aglet.keys import sizes
from aglet_bench import recording, timing
from aglet_bench.advise import VALUES, Wish, other_family, rank
from aglet_bench.ckks import planned
from aglet_bench.ckks.advice import Advice, advise, nothing_fits
from aglet_bench.fhew import records
from aglet_bench.fhew.advice import FhewAdvice, ways
from aglet_bench.integer.advice import IntegerAdvice, integer_ways
from aglet_bench.scheme_switch.advice import ComparisonAdvice, comparison_ways
from aglet_bench.scheme_switch.table_advice import TableAdvice, table_ways
from support import ROOT, ToyEngine


def measured(seconds: float, **changed: Any) -> dict[str, Any]:
    """A record of a regular bootstrap of this machine."""
    machine = _core.doctor()
    record = {
        "cpu": machine["cpu"],
        "backend": machine["backend"],
        "threads": 1,
        "preset": "regular",
        "method": "regular",
        "message": "uniform",
        "key_size": "large",
        "stage_count": 3,
        "slot_count": 1024,
        "real": True,
        "output_level": 10,
        "seconds": seconds,
        "bits_mean": 24.2,
    }
    return {**record, **changed}


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["advise", *arguments])


def test_only_what_fits_is_advised() -> None:
    wish = Wish(1024, 20, 10, memory_bytes=4.3e9)
    found = advise(wish, [])
    assert found
    for way in found:
        assert way.levels >= 10
        assert way.bits >= 20
        assert way.memory_bytes <= 6e9
        assert not way.seconds_measured
        assert not way.preset.startswith("toy")
    totals = [way.total_seconds for way in found]
    assert totals == sorted(totals)


def test_measured_times_are_taken_and_the_model_follows_them() -> None:
    wish = Wish(1024, 20, 10)
    slow, quick = advise(wish, [measured(8.0)]), advise(wish, [measured(8.0), measured(0.001)])
    (known,) = [way for way in quick if way.seconds_measured]
    assert (known.seconds, known.bits, known.bits_measured, known.stage_count) == (0.001, 24.2, True, 3)
    assert [way.seconds for way in slow if way.seconds_measured] == [8.0]

    def modelled(found: list[Advice]) -> float:
        return next(way.seconds for way in found if (way.stage_count, way.key_size) == (4, "large"))

    assert modelled(slow) > 1000 * modelled(quick)
    foreign = [measured(0.001, cpu="an abacus"), measured(0.001, threads=2), measured(0.001, bound=16.0)]
    assert not any(way.seconds_measured for way in advise(wish, foreign))


def test_a_complex_bootstrap_that_was_measured_serves_real_values() -> None:
    found = advise(Wish(1024, 20, 10), [measured(0.001, real=False)])
    assert [(way.seconds, way.real) for way in found if way.seconds_measured] == [(0.001, False)]


def test_few_slots_by_ship_are_ranked_by_what_was_measured() -> None:
    few = {"stage_count": 1, "slot_count": 8}
    roots = measured(0.05, preset="ship14", output_level=1, bits_mean=17.4, **few)
    found = advise(Wish(7, 17, 1), [measured(0.8, method="sparse", bits_mean=26.0, **few), roots])
    known = [(way.preset, way.seconds, way.bits, way.slot_count) for way in found if way.seconds_measured]
    assert known == [("ship14", 0.05, 17.4, 8), ("regular", 0.8, 26.0, 8)]
    (best,) = (way for way in found if way.preset == "ship14")
    assert 'Engine(preset="ship14", slot_count=8)' in best.calls(1)
    # More bits than they have, or more levels: the usual bootstrap.
    assert all(way.preset != "ship14" for wish in (Wish(7, 18, 1), Wish(7, 17, 2)) for way in advise(wish, [roots]))


def test_latency_and_throughput() -> None:
    latency, throughput = advise(Wish(40, 18, 8), []), advise(Wish(40, 18, 8, throughput=True), [])
    assert {way.slot_count for way in latency} == {64}
    assert throughput[0].method == "merge"
    assert throughput[0].slot_count == 2**15
    assert throughput[0].seconds_per_value < latency[0].seconds_per_value
    many = advise(Wish(100_000, 18, 8), [])
    assert {way.bootstraps for way in many if way.method == "regular" and way.slot_count == 2**15} == {4}
    assert {way.bootstraps for way in many if way.method == "merge"} >= {2}


def test_lossy_bootstraps_take_inputs_of_any_level() -> None:
    lossy = [way for way in advise(Wish(1024, 20, 8, "complex"), []) if way.method == "lossy"]
    assert {(way.level_in, way.level_out) for way in lossy} >= {(0, 13), (0, 12)}
    assert "target_level=8" in next(way for way in lossy if way.stage_count == 3).calls(8)


LARGE = ("large", 3, False)
UNITS: Any = dict.fromkeys(("pointwise", "key", "diagonal", "matrix", "conversion"), 10.0)
UNITS |= {"forward": 100.0, "inverse": 100.0}


def test_the_model_orders_what_it_must() -> None:
    def seconds(size: str = "large", slots: int = 2**15, real: bool = False) -> float:
        plan = _core.plan("regular", "regular", 3, size, slots, real, None, UNITS)
        assert plan["seconds"] == pytest.approx(sum(stage["seconds"] or 0 for stage in plan["stages"]))
        return plan["seconds"] or 0

    assert seconds(real=True) < seconds()
    assert seconds(slots=1024) < seconds()
    assert seconds() < seconds(size="medium") < seconds(size="small")
    assert timing.calibrate([]) == timing.TYPICAL_FACTOR
    assert timing.calibrate([(2.0, 3.0), (1.0, 1.5), (1.0, 9.0)]) == pytest.approx(1.5)
    (row,) = [p for p in planned.of("regular", "regular", 2**15) if (p.key_size, p.stage_count, p.real) == LARGE]
    assert planned.seconds(row, UNITS) == pytest.approx(seconds(), rel=1e-3)


def test_signs_are_promised_more_bits_than_other_values() -> None:
    found = advise(Wish(2**10, 20, 3, "sign"), [])
    bits = {(way.preset, way.method): way.bits for way in found}
    assert bits["regular", "sign"] > bits["regular", "regular"] + 2
    assert bits["compact", "regular"] < bits["regular", "regular"]
    assert not any(way.bits_measured for way in found)


def test_large_primes_are_priced_as_what_they_run_on() -> None:
    presets = {preset["name"]: preset for preset in _core.presets()}
    assert presets["precise-45"]["prime_bits"] > 50 >= presets["regular"]["prime_bits"]
    if _core.doctor()["backend"] != "scalar":
        large, small = (timing.units_for(presets[name])["forward"] for name in ("precise-45", "regular"))
        assert large > 2 * small


def test_the_answer_comes_at_once() -> None:
    start = time.process_time()
    assert advise(Wish(2**15, 18, 5, throughput=True), recording.known()[0])
    assert time.process_time() - start < 1.0


def test_no_rotation_key_is_laid_out_that_nobody_makes(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    """It takes a second at the real size, for every preset and shape that advice looks at."""
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(sizes, "_rotation", functools.cache(sizes._rotation.__wrapped__))
    monkeypatch.setattr(_core, "rotation_key_bytes", lambda *shape: asked.append(shape) or (1 << 40, 0))
    without = Session.plan(lambda x, y: x * y, [(4,), (4,)], engine=engine)
    assert (without.rotations, asked) == (0, [])
    assert without.key_bytes < 1 << 40
    sums = [Session.plan(lambda x: x.sum(), [(4,)], engine=engine) for _ in range(2)]
    assert asked == [("toy", 512)]
    assert all(plan.key_bytes > 1 << 40 for plan in sums)


def test_the_table_is_what_the_plans_say() -> None:
    table = planned._table()
    able = {p["name"] for p in _core.presets() if planned.advised(p)}
    assert {name.split("/")[0] for name in table["plans"]} == able
    draw = random.Random(1)
    for name in draw.sample(sorted(table["plans"]), 12):
        preset, method, slots = name.split("/")
        for label, row in table["plans"][name].items():
            size, stages, kind = label.split("/")
            found = planned.compute(preset, method, size, int(stages), int(slots), kind == "real")
            assert found == row, f"{name} {label}: run tools/plan_table.py"
    for name in draw.sample(sorted(table["bits"]), 6):
        preset, noise, slots = name.split("/")
        found = planned.predict(preset, noise, int(slots))
        assert found == pytest.approx(table["bits"][name], abs=0.1), f"{name}: run tools/plan_table.py"


def test_two_passes_are_advised_where_one_has_not_the_bits() -> None:
    few = advise(Wish(32, 50, 6), [])
    assert {(way.preset, way.iterations) for way in few} == {("precise-45", 2)}
    assert "iterations=2" in few[0].calls(6)
    full = advise(Wish(2**15, 34, 10), [])
    assert {(way.preset, way.iterations) for way in full} == {("precise", 2)}
    assert 'precision="highest"' in full[0].calls(10)
    once = next(way for way in advise(Wish(2**15, 24.5, 10), []) if way.preset == "precise")
    assert (once.iterations, 'precision="high"' in once.calls(10)) == (1, True)


def test_two_passes_have_the_bits_that_are_predicted() -> None:
    (toy,) = [preset for preset in _core.presets() if preset["name"] == "toy"]
    engine = ToyEngine(use_bootstrap=True)
    secret = engine.create_secret_key()
    keys = (engine.create_relinearization_key(secret), engine.create_conjugation_key(secret))
    message = np.exp(2.4j * np.arange(engine.slot_count))
    ciphertext = engine.encrypt(message, secret, level=0)
    refreshed = engine.bootstrap(ciphertext, *keys, engine.create_bootstrap_key(secret), iterations=2)
    found = -np.log2(np.abs(engine.decrypt(refreshed, secret) - message).mean())
    one = planned.predict("toy", "regular", engine.slot_count)
    assert found == pytest.approx(planned.iterated_bits(toy, engine.slot_count, one), abs=0.7)


@pytest.mark.parametrize("values", [values for values in VALUES if values not in ("comparisons", "tables")])
@pytest.mark.parametrize("key_size", ["large", "small"])
def test_the_calls_run(values: str, key_size: str) -> None:
    wish = Wish(512, 10, 3, values, throughput=values == "real")
    found = [way for way in advise(wish, []) if way.preset in ("regular", "compact")]
    for method in {way.method for way in found}:
        way = next(w for w in found if w.method == method and w.key_size == key_size and w.stage_count == 3)
        lines = way.calls(3).replace(", compact=True", "").replace(", slot_count=512", "").splitlines()
        names: dict[str, Any] = {"Engine": ToyEngine}
        exec(lines[0], names)
        engine = names["engine"]
        secret = names["secret_key"] = engine.create_secret_key()
        names["relinearization_key"] = engine.create_relinearization_key(secret)
        names["conjugation_key"] = engine.create_conjugation_key(secret)
        ones = engine.encrypt([1.0] * engine.slot_count, secret, level=way.level_in)
        names |= {"ciphertext": ones, "first": ones, "second": ones}
        exec("\n".join(lines[1:]), names)
        result = names["first"] if method.endswith("merge") else names["refreshed"]
        assert result.level == way.level_in + 3
        assert abs(engine.decrypt(result, secret) - 1).max() < 2**-14


def test_other_families() -> None:
    assert "15 s with 1 bit, 163 s with 16 bits" in other_family(Wish(1024, 16, 5, "integers"))[0]
    assert other_family(Wish(10, 1, 1, "bits")) == []


def test_gates_and_tables_stand_beside_bootstraps_by_what_was_measured() -> None:
    machine = {name: _core.doctor()[name] for name in ("backend", "cpu")}
    gate = {
        "kind": "gate",
        "preset": "gate",
        "operation": "nand",
        "threads": 1,
        "batch": 8,
        "seconds": 0.002,
        **machine,
    }
    records = [gate, {**gate, "batch": 64, "seconds": 0.001}, {**gate, "cpu": "another", "seconds": 1.0}]
    (few,) = ways("bits", 20, 10, 3, None, records)
    assert (few.seconds, few.seconds_measured, few.bootstraps, few.bits) == (0.002, True, 30, 1)
    assert few.total_seconds == pytest.approx(0.06)
    (many,) = ways("bits", 1, 100, 1, None, records)
    assert (many.seconds, many.seconds_per_value) == (0.001, 0.001)
    (modelled,) = ways("bits", 1, 10, 1, None, records[2:])
    assert not modelled.seconds_measured
    assert 0.0005 < modelled.seconds < 0.02
    kinds = {bits: [(way.method, way.preset) for way in ways("real", bits, 4, 1, None, [])] for bits in (2, 3.5, 8, 9)}
    assert kinds == {2: [("lookup", "lut2")], 3.5: [("lookup", "lut4")], 8: [("lookup2", "wide")], 9: []}
    assert ways("complex", 2, 4, 1, None, []) == ways("bits", 1, 4, 1, 1e6, []) == []
    # Ten bits cost less than a bootstrap of seconds, and 2^15 of them more.
    bootstraps: list[Advice | FhewAdvice] = [*advise(Wish(10, 20, 3, "bits"), []), few]
    assert rank(Wish(10, 20, 3, "bits"), bootstraps)[0] is few
    (all_slots,) = ways("bits", 20, 2**15, 3, None, records)
    full: list[Advice | FhewAdvice] = [*advise(Wish(2**15, 20, 3, "bits"), []), all_slots]
    assert rank(Wish(2**15, 20, 3, "bits"), full)[-1] is all_slots


def test_the_calls_of_gates_and_tables_run() -> None:
    (way,) = ways("integers", 2, 4, 1, None, [])
    first, *rest = way.calls(1).splitlines()
    names: dict[str, Any] = {"FhewEngine": FhewEngine}
    exec(first, names)
    engine = names["engine"]
    names |= {"secret_key": engine.create_secret_key(), "table": [1, 0, 3, 2]}
    names["x"] = engine.encrypt([0, 3], names["secret_key"])
    exec("\n".join(rest), names)
    assert engine.decrypt(names["result"], names["secret_key"]).tolist() == [1, 2]


def test_integers_stand_beside_bootstraps_by_what_was_measured() -> None:
    machine = {name: _core.doctor()[name] for name in ("backend", "cpu")}
    here = {"kind": "integer", "operation": "bootstrap", "preset": "int16", "threads": 1, "seconds": 0.7, **machine}
    elsewhere = {**here, "cpu": "another", "seconds": 0.5}
    others = [{**here, "threads": 2, "seconds": 0.1}, {**here, "operation": "product", "seconds": 0.1}]
    others.append({**here, "backend": "another", "seconds": 0.1})

    def ways_of(wish: Wish, *records: dict[str, Any]) -> list[IntegerAdvice]:
        return [way for way in integer_ways(wish, records) if way.preset == "int16"]

    (way,) = ways_of(Wish(40_000, 16, 7, "integers"), here, elsewhere, *others)
    assert (way.seconds, way.seconds_measured, way.bootstraps, way.levels) == (0.7, True, 2, 7)
    assert (way.total_seconds, way.seconds_per_value) == (1.4, 0.7 / 2**15)
    assert way.memory_bytes == sum(IntegerEngine(use_bootstrap=True).bootstrap_forecast())
    (modelled,) = ways_of(Wish(10, 8, 3, "integers"), elsewhere, *others)
    assert (modelled.seconds, modelled.seconds_measured) == (0.5, False)
    # Bits are exact whatever was asked; numbers have 16 bits, 7 products, and memory.
    assert [w.bits for w in ways_of(Wish(10, 20, 3, "bits"), here)] == [1]
    for wish in (
        Wish(10, 17, 3, "integers"),
        Wish(10, 16, 8, "integers"),
        Wish(10, 8, 1, "integers", memory_bytes=1e9),
    ):
        assert ways_of(wish, here) == []
    assert ways_of(Wish(10, 8, 1, "real"), here) == ways_of(Wish(10, 8, 1, "integers")) == []
    # A record comes with the package, for every machine.
    assert ways_of(Wish(10, 8, 1, "integers"), *recording.known()[0])
    names: dict[str, Any] = {"IntegerEngine": IntegerEngine}
    first, *rest = way.calls(7).splitlines()
    exec(first, names)
    assert names["engine"].preset == "int16"
    assert [line.split(" = ")[1].split("(")[0] for line in rest] == ["engine.create_bootstrap_key", "engine.bootstrap"]


def test_why_nothing_fits() -> None:
    assert "at most 15" in nothing_fits(Wish(8, 10, 40), [])
    assert re.search(r"has 60 bits, at most 5\d\.\d;", nothing_fits(Wish(8, 60, 2), []))
    assert "give --memory" in nothing_fits(Wish(8, 10, 2, memory_bytes=1e6), [])
    with pytest.raises(ParameterError, match="real, complex"):
        Wish(8, 10, 2, "quaternions")


def test_the_command(tmp_path: Path) -> None:
    recording.append(tmp_path, "this", {"date": "2000-01-01", **measured(0.001)})
    wish = ["--slots", "1024", "--bits", "20", "--levels", "8", "--record", str(tmp_path)]
    result = run(*wish)
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    for words in (
        "1 times are measured",
        str(tmp_path.name),
        "modelled",
        "predicted",
        "use_bootstrap=True",
        "target_level=8",
    ):
        assert words in text
    lines = [json.loads(line) for line in run(*wish, "--json").stdout.splitlines()]
    assert [line["seconds"] for line in lines if line["seconds_measured"]] == [0.001]
    assert lines[0]["calls"].startswith("engine = Engine(")
    integers = ["--slots", "32768", "--bits", "16", "--levels", "7", "--values", "integers"]
    exact = [json.loads(line) for line in run(*integers, "--json").stdout.splitlines()]
    assert ("integers", 1, 8) in [
        (line["method"], line.get("level_in"), line["level_out"]) for line in exact if "level_out" in line
    ]
    assert "IntegerEngine computes exactly modulo 65537" in " ".join(run(*integers).stdout.split())
    few = ["--slots", "4", "--bits", "1", "--levels", "1", "--values", "bits"]
    assert "engine = FhewEngine()" in run(*few).stdout
    best = json.loads(run(*few, "--json").stdout.splitlines()[0])
    assert (best["preset"], best["method"], best["bootstraps"]) == ("gate", "gate", 4)
    for bad in (["--record", str(tmp_path / "none")], ["--values", "colours"], ["--bits", "70"]):
        result = run(*wish, *bad)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.startswith("aglet: ")


def test_comparisons_go_by_scheme_switch_where_they_are_few_or_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    # Models on both sides: what lies measured here is another matter.
    monkeypatch.setattr(records, "known", tuple)

    def ways(slots: int, bits: int, throughput: bool = False, levels: int = 0) -> list[ComparisonAdvice]:
        wish = Wish(slots, bits, levels, "comparisons", throughput)
        return rank(wish, comparison_ways(wish))

    assert ways(4, 12)[0].method == "switch compare"
    # Where polynomials need no bootstrap, they are faster for one pair as well, but leave no levels.
    assert ways(4, 8)[0].method == "polynomial compare"
    assert {way.method for way in ways(4, 8, levels=8)} == {"switch compare"}
    many = ways(30000, 8)[0]
    assert (many.method, many.rotations, many.calls(0).count("alpha=8")) == ("polynomial compare", 0, 1)
    assert ways(4, 12, True)[0].method == "polynomial compare"
    # No polynomial tells 20 bits apart, and slots of "regular" are too coarse for 2^-128.
    (fine,) = ways(64, 20)
    assert (fine.preset, fine.method, fine.rotations) == ("regular-44", "switch compare", 64 * 6)
    assert "bits=20" in fine.calls(0)
    with pytest.raises(ParameterError, match="20 bits or fewer"):
        ways(4, 21)
    wish = ["--values", "comparisons", "--slots", "4", "--bits", "8", "--levels", "8"]
    assert "by scheme switching" in " ".join(run(*wish).stdout.split())


FUNCTIONAL = ("functional bootstrap", "functional bootstrap, two messages a slot")


def tables(slots: int, bits: int, levels: int = 0, **more: Any) -> dict[str, TableAdvice]:
    """The best way of each method."""
    wish = Wish(slots, bits, levels, "tables", **more)
    return {way.method: way for way in reversed(rank(wish, table_ways(wish, [])))}


def test_tables_by_scheme_switch_beside_those_of_integers_and_polynomials() -> None:
    few = tables(4, 4)
    assert set(few) == {
        "integer table", "switch lookup", "switch lookup, bits", "switch lookup, back", "polynomial table", *FUNCTIONAL
    }  # fmt: skip
    # Whole results go up to slots of integers, exactly.
    up = few["switch lookup, back"]
    assert (up.preset, up.bootstraps, up.level_out, up.kind) == ("int16", 1, 1, "exact")
    assert few["switch lookup"].seconds < up.seconds < few["switch lookup, bits"].seconds
    assert few["integer table"].seconds < few["switch lookup"].seconds < few["switch lookup, bits"].seconds
    assert (few["switch lookup"].rotations, few["switch lookup"].level_out) == (4, 0)
    # With levels after it, every bit of a result goes up.
    later = tables(64, 4, 3)
    assert "switch lookup" not in later
    assert (later["switch lookup, bits"].bootstraps, later["switch lookup, bits"].level_out) == (4, 12)
    assert (later["switch lookup, back"].preset, later["switch lookup, back"].level_out) == ("int16-deep", 18)
    # Of one bit "int16" has the levels, by tables of "lut3".
    bit = tables(64, 1, 5)["switch lookup, back"]
    assert (bit.preset, bit.fhew_preset, bit.level_out) == ("int16", "lut3", 5)
    wide = tables(100, 8)
    assert set(wide) == {
        "integer table", "integer table in digits", "switch lookup_bytes", "switch lookup_bytes, back", *FUNCTIONAL
    }  # fmt: skip
    # The level that the steepest of them keeps.
    assert (wide["switch lookup_bytes, back"].bootstraps, wide["switch lookup_bytes, back"].level_out) == (2, 1)
    # More values than slots take more ciphertexts.
    assert tables(40000, 4)["switch lookup"].values == 2 * 2**14 + 2 * 2**14
    assert tables(1, 2, throughput=True)["polynomial table"].values == 2**15
    with pytest.raises(ParameterError, match="8 bits or fewer"):
        tables(4, 9)
    with pytest.raises(ParameterError, match="8 bits or fewer"):
        tables(4, 4, memory_bytes=1e3)
    own = {"kind": "integer", "operation": "table of 4 bits", "preset": "int16", "threads": 1, "seconds": 7e-5}
    machine = {name: _core.doctor()[name] for name in ("cpu", "backend")}  # type: ignore[literal-required]
    wish = Wish(4, 4, 0, "tables")
    best = rank(wish, table_ways(wish, [{**own, **machine}, {**own, "cpu": "another", "backend": "scalar"}]))[0]
    assert (best.preset, best.seconds, best.seconds_measured) == ("int16", 7e-5, True)
    shown = " ".join(run("--values", "tables", "--slots", "4", "--bits", "8", "--levels", "0").stdout.split())
    assert "integer table in digits" in shown
    assert "[low_nibble, high_nibble]" in shown or "lookup(x, table" in shown


def test_functional_bootstraps_refresh_while_they_look_up() -> None:
    one, two = (tables(65536, 4, 5)[name] for name in FUNCTIONAL)
    assert (one.preset, one.key_method, one.bootstraps, one.level_out) == ("regular", "regular", 2, 6)
    assert (two.bootstraps, two.values, two.kind) == (1, 65536, "near")
    assert one.seconds < 2 * two.seconds < 2 * one.seconds
    # More levels need another key or another set.
    deep = tables(100, 8, 4)[FUNCTIONAL[0]]
    assert deep.level_out >= 4
    assert (deep.preset, deep.key_method) != ("regular", "regular")
    names: dict[str, Any] = {"Engine": lambda **_: Engine(preset="toy", allow_insecure=True)}
    *made, last = one.calls(0).splitlines()
    exec(made[0], names)
    engine = names["engine"]
    secret = names["secret_key"] = engine.create_secret_key()
    exec("\n".join(made[1:]), names)
    names["table"] = np.arange(16) * 3 % 16 / 16
    numbers = np.arange(engine.slot_count) % 16
    names["x"] = engine.encrypt(numbers, secret, level=0, bound=16)
    exec(last, names)
    assert np.array_equal(engine.decrypt_entries(names["result"], secret, names["table"]).real, names["table"][numbers])


def test_the_programs_of_tables_run() -> None:
    table = [7, 0, 15, 3, 3, 9, 1, 12, 4, 4, 8, 2, 14, 5, 6, 11]
    names: dict[str, Any] = {"Engine": lambda **_: Engine(preset="toy", slot_count=64, allow_insecure=True)}
    names |= {"IntegerEngine": IntegerEngine, "Session": Session, "numpy": np, "table": table}
    ways = tables(4, 4)
    for method in ("integer table", "polynomial table"):
        *made, last, _ = [*ways[method].calls(0).splitlines(), ""]
        lines = [*made, last]
        exec(lines[0], names)
        engine = names["engine"]
        secret = names["secret_key"] = engine.create_secret_key()
        exec(lines[1], names)
        numbers = np.arange(16)
        if method == "integer table":
            names["x"] = engine.encrypt(numbers, secret)
            exec("\n".join(lines[2:]), names)
            found = engine.decrypt(names["result"], secret)[:16]
        else:
            names["x"] = names["session"].encrypt(numbers, bound=(0, 15))
            exec("\n".join(lines[2:]), names)
            found = names["session"].decrypt(names["result"]).real
        assert np.abs(found - table).max() < 0.1, method
    for way in (*ways.values(), *tables(4, 8).values()):
        compile(way.calls(0), way.method, "exec")


def test_the_shipped_records_are_records_of_this_tree() -> None:
    records = list(recording.read(ROOT / "repro" / "record"))
    shipped = [
        json.loads(line)
        for line in (ROOT / "python" / "bench" / "aglet_bench" / "measured.jsonl").read_text().splitlines()
    ]
    assert shipped
    for line in shipped:
        found = [r for r in records if r.get("seconds") == line["seconds"] and r.get("cpu") == line["cpu"]]
        assert any(all(r.get(name, line[name]) == line[name] for name in line) for r in found), line
    known, source = recording.known()
    assert known[: len(shipped)] == shipped
    assert "the package" in source
    assert str(ROOT) in source


def test_advice_leaves_toys_out() -> None:
    sets = {one["name"]: one["is_secure"] for one in _core.integer_presets()}
    assert [name for name, secure in sets.items() if not secure] == ["toy-int16", "toy-int16-deep"]
    record = {"kind": "integer", "operation": "bootstrap", "preset": "toy-int16", "threads": 1, "seconds": 0.01}
    assert integer_ways(Wish(values="integers", slots=1024, levels=1, bits=8), [record]) == []
