"""SchemeSwitches: slots as bits and integers of a FHEW engine and bits as slots, what is computed between, files."""

from __future__ import annotations

import pickle
import runpy
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import aglet
from aglet import Engine, FhewEngine, SchemeSwitch, Table
from aglet.errors import KeyMismatchError, MemoryLimitError, MissingKeyError, ParameterError, RangeError
from aglet_bench.scheme_switch.measure import SchemeSwitchCase, bench_scheme_switch
from scheme_switch_sides import Sides
from support import ROOT, toy


@pytest.fixture(scope="module")
def gates() -> Sides:
    return Sides(10, 1)


@pytest.fixture(scope="module")
def tables() -> Sides:
    return Sides(11, 4)


def test_bits_come_down_and_go_up(gates: Sides) -> None:
    engine, switch = gates.engine, gates.switch
    bits = np.arange(64) % 3 == 0
    x = switch.to_fhew(engine.encrypt(bits.astype(float), gates.secret), np.arange(64).reshape(8, 8), gates.keys)
    assert x.is_bits
    assert x.shape == (8, 8)
    assert (gates.decrypt(x).ravel() == bits).all()
    found = switch.from_fhew(switch.fhew_engine.xor(x[0], x[1], gates.keys.fhew_bootstrap), gates.keys)
    assert found.is_real
    assert found.level == 13
    slots = engine.decrypt(found, gates.secret).real
    assert np.abs(slots[:8] - (bits[:8] ^ bits[8:16])).max() < 0.05
    assert np.abs(slots[8:]).max() < 2**-10


def test_messages_go_through_tables(tables: Sides) -> None:
    x = tables.engine.encrypt(np.arange(16.0), tables.secret, level=0)
    low = tables.switch.to_fhew(x, [[15, 3], [3, 0]], tables.keys)
    found = tables.switch.fhew_engine.lookup(low, Table(lambda m: m // 3), tables.keys.fhew_bootstrap)
    assert tables.decrypt(found).tolist() == [[5, 1], [1, 0]]


def test_signs_and_comparisons_go_up(tables: Sides) -> None:
    engine, switch, keys = tables.engine, tables.switch, tables.keys
    x, y = np.array([0.5, -0.25, 0.0, 0.3, -0.4]), np.array([0.25, 0.25, 0.1, 0.29, -0.5])
    first, second = engine.encrypt(x, tables.secret), engine.encrypt(y, tables.secret)
    signs = switch.sign(first, [0, 1, 3, 4], keys, bits=8)
    assert tables.decrypt(signs).tolist() == [1, 0, 1, 0]
    raised = engine.decrypt(switch.from_fhew(signs, keys), tables.secret).real
    assert np.abs(raised[:4] - [1, 0, 1, 0]).max() < 2**-10
    for order, wanted in ((">=", x >= y), ("<=", x <= y)):
        assert (tables.decrypt(switch.compare(order, first, second, range(5), keys, bits=10)) == wanted).all()
    # Numbers that are equal are, in either order; the ends are as far apart as they may be.
    same, ends = (tables.engine.encrypt(z, tables.secret) for z in ([0.0, 0.25, -0.5], [0.5, -0.5, 0.5]))
    minus = tables.engine.negate(ends)
    for order in (">=", "<="):
        assert tables.decrypt(switch.compare(order, same, same, range(3), keys, bits=10)).tolist() == [1, 1, 1]
        wanted = [1, 0, 1] if order == ">=" else [0, 1, 0]
        assert tables.decrypt(switch.compare(order, ends, minus, range(3), keys, bits=10)).tolist() == wanted


@pytest.mark.parametrize("bits", [7, 8, 9, 10])
def test_signs_are_decided_from_the_stated_distance_on(tables: Sides, bits: int) -> None:
    """0 and more is never taken for less, and what is below by `2^(1 - bits)` of the range never for more."""
    step = 2.0 ** (1 - bits)
    values = np.concatenate([[0, 0], np.linspace(0, step, 30), -np.linspace(step, 2 * step, 32)])
    signs = tables.switch.sign(tables.engine.encrypt(values, tables.secret), range(64), tables.keys, bits=bits)
    assert tables.decrypt(signs).tolist() == [1] * 32 + [0] * 32


def test_what_comes_down_counts_as_dependent(tables: Sides) -> None:
    """Slots may err by the same, as copies of one do: a difference has both deviations, as twice one of them."""
    engine, switch, keys = tables.engine, tables.switch, tables.keys
    x, y = (engine.multiply(engine.encrypt([1.0, -1.0], tables.secret), 0.5) for _ in range(2))
    # What a product errs by is not stated where no bound was declared.
    (a, b), other = (switch.to_fhew(z, [0, 1], keys, bits=20, noise=2**-24) for z in (x, y))
    again = switch.to_fhew(x, [0], keys, bits=20, noise=2**-24)[0]

    def figure(one: Any) -> str:
        with pytest.raises(RangeError, match=r"2\^-\d") as refused:
            switch.fhew_engine.sign(one, keys.fhew_bootstrap, max_failure=2.0**-1000)
        return str(refused.value)

    twice = figure(a * 2)
    assert figure(a - b) == figure(a - other[0]) == figure(a + again) == twice != figure(a)
    # The same slot of the same ciphertext is one noise, which goes.
    assert figure(b + a - again) == figure(b)


def test_ranks(tables: Sides) -> None:
    rows = np.array([[0.9, 0.2, 0.5, 0.21], [0.1, 0.1, 0.7, 0.1]])
    places = np.arange(8).reshape(2, 4)
    x = tables.engine.encrypt(rows.ravel(), tables.secret)
    switch, keys = tables.switch, tables.keys
    assert tables.decrypt(switch.argmin(x, places, keys, bits=8)).tolist() == [1, 0]
    hot = switch.argmax(x, places, keys, bits=8, one_hot=True)
    assert tables.decrypt(hot).tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]
    # Slots that are equal differ by their noise; integers do not.
    assert tables.decrypt(switch.top_k(x, places[0], 2, keys, bits=8)).tolist() == [1, 0, 1, 0]
    fhew = switch.fhew_engine
    tied = fhew.encrypt([3, 1, 1, 5, 5], tables.lwe, bits=6)
    assert tables.decrypt(fhew.argmin(tied, keys.fhew_bootstrap)) == 1
    assert tables.decrypt(fhew.top_k(tied, 1, keys.fhew_bootstrap)).tolist() == [0, 0, 0, 1, 0]
    assert switch._core.packing_bytes(2**63) == 2**64 - 1
    with pytest.raises(RangeError, match="2 to 16"):
        fhew.argmin(tied[:1], keys.fhew_bootstrap)
    with pytest.raises(RangeError, match="1 to 4"):
        fhew.top_k(tied, 5, keys.fhew_bootstrap)


def test_complex_slots_come_down_and_go_up(gates: Sides) -> None:
    engine, switch, keys = gates.engine, gates.switch, gates.keys
    real, imaginary = np.arange(64) % 3 == 0, np.arange(64) % 5 < 2
    x = engine.encrypt(real + 1j * imaginary, gates.secret)
    both = switch.to_fhew(x, np.arange(64).reshape(2, 32), keys, part="both")
    assert both.shape == (2, 2, 32)
    assert (gates.decrypt(both).reshape(2, 64) == [real, imaginary]).all()
    assert (gates.decrypt(switch.to_fhew(x, [6, 7], keys, part="imaginary")) == imaginary[6:8]).all()
    found = switch.from_fhew(both[0], keys, imaginary=both[1, 0])
    assert not found.is_real
    slots = engine.decrypt(found, gates.secret)
    assert np.abs(slots.real - real).max() < 2**-10
    assert np.abs(slots.imag[:32] - imaginary[:32]).max() < 2**-10
    assert np.abs(slots.imag[32:]).max() < 2**-10
    with pytest.raises(RangeError, match='"both"'):
        switch.to_fhew(x, [0], keys, part="size")


def test_tables_on_slots(tables: Sides) -> None:
    switch, keys = tables.switch, tables.keys
    x = tables.engine.encrypt(np.arange(16.0) + 1j * np.arange(16.0)[::-1], tables.secret)
    squares = switch.lookup(x, [2, 3, 15], lambda m: m * m % 16, keys)
    assert tables.decrypt(squares).tolist() == [4, 9, 1]
    low, high = switch.lookup(x, [[4], [9]], [lambda m: m % 4, lambda m: m // 4], keys, part="imaginary")
    assert (tables.decrypt(low).tolist(), tables.decrypt(high).tolist()) == ([[3], [2]], [[2], [1]])
    with pytest.raises(MissingKeyError, match="packing=True"):
        switch.lookup_bytes(x, [0], lambda byte: byte, keys)
    missing: Any = None
    for call in (switch.lookup, switch.lookup_bytes):
        with pytest.raises(MissingKeyError, match="create_keys"):
            call(x, [0], lambda m: m, missing)


def test_tables_of_bytes() -> None:
    engine = toy(11, 64)
    switch = SchemeSwitch(engine, FhewEngine(preset="wide"))
    secret, lwe = engine.create_secret_key(), switch.fhew_engine.create_secret_key()
    keys = switch.create_keys(secret, lwe, bootstrap="medium", packing=True)
    given = np.array([0, 255, 16, 15, 171])
    x = engine.encrypt(given.astype(float), secret)
    high, low = switch.lookup_bytes(x, range(5), lambda byte: (byte * 7 + 3) % 256, keys)
    found = 16 * switch.fhew_engine.decrypt(high, lwe) + switch.fhew_engine.decrypt(low, lwe)
    assert (found == (given * 7 + 3) % 256).all()
    with pytest.raises(RangeError, match="255 values"):
        switch.lookup_bytes(x, [0], range(255), keys)
    with pytest.raises(RangeError, match="no byte"):
        switch.lookup_bytes(x, [0], lambda byte: byte + 1, keys)


def test_nibbles_need_four_bits(gates: Sides) -> None:
    x = gates.engine.encrypt([1.0], gates.secret)
    with pytest.raises(RangeError, match="wide"):
        gates.switch.lookup_bytes(x, [0], range(256), gates.keys)


def test_what_a_call_would_take() -> None:
    switch = SchemeSwitch(Engine(use_bootstrap=True), FhewEngine(bits=4))
    signs = {bits: switch.estimate("sign", bits=bits, count=64) for bits in (4, 8, 16)}
    assert [one.rotations for one in signs.values()] == [64, 192, 320]
    assert all(one.key_bytes == switch.key_bytes for one in signs.values())
    assert signs[16].log2_failure < -128
    rounded = switch.estimate("compare", bits=20, count=64, from_fhew=True, bound=0.5)
    assert -100 < rounded.log2_failure < -60
    assert (rounded.rotations, rounded.refreshes) == (6 * 64, 1)
    assert rounded.seconds > switch.estimate("compare", bits=20, count=64).seconds
    # Of larger values half as many parts are told apart.
    assert switch.estimate("compare", bits=20, count=64).log2_failure < rounded.log2_failure
    assert switch.security_bits == min(switch.engine.security_report().security_bits, switch.fhew_engine.security_bits)
    smallest = switch.estimate("argmin", row=16)
    assert (smallest.rotations, smallest.refreshes) == (120 * 5 + 16, 0)
    assert smallest.log2_failure > signs[16].log2_failure
    # Both slots of a pair may err by the same: twice the deviation of one.
    twice = 4 * switch._core.fresh_variance(20, True, 1, 2.0)
    sign = switch.fhew_engine._estimated("sign", 1, [], {"bits": 20}, twice)
    assert switch.estimate("argmin", row=2, bits=20).log2_failure == pytest.approx(sign.log2_failure, abs=0.1)
    assert switch.estimate("from_fhew", count=4096).rotations == 0
    assert switch.estimate("lookup", count=3).rotations == 3
    up = switch.estimate("from_fhew", count=4096)
    assert (up.level, -np.inf < up.log2_failure < -1000, up.working_bytes > 0) == (13, True, True)
    with pytest.raises(ParameterError, match="single bits"):
        switch.estimate("lookup_bytes", from_fhew=True)
    # What from_fhew refuses, no estimate promises.
    with pytest.raises(ParameterError, match="one_hot"):
        switch.estimate("argmin", row=16, from_fhew=True)
    best = switch.estimate("top_k", row=16, from_fhew=True)
    assert (best.rotations, best.refreshes, best.level) == (smallest.rotations, 1, 13)
    for words in (
        {"what": "from_fhew", "count": 2**62 - 1},
        {"what": "top_k", "count": 2**13, "row": 5, "from_fhew": True},
    ):
        with pytest.raises(RangeError, match="do not fit 32768 slots"):
            switch.estimate(**words)  # type: ignore[arg-type]
    with pytest.raises(RangeError, match="2 to 16"):
        switch.estimate("argmax", row=17)
    down = switch.estimate("to_fhew", count=4096)
    assert (down.rotations, down.refreshes, down.log2_failure) == (0, 0, -np.inf)
    assert 0 < down.seconds < switch.estimate("from_fhew", count=4096).seconds
    # Scales of 44 bits leave a sixteenth of the noise.
    finer = SchemeSwitch(Engine(preset="regular-44"), FhewEngine(bits=4))
    assert finer.estimate("compare", bits=20, bound=0.5).log2_failure < -128
    with pytest.raises(ParameterError, match="no estimate"):
        switch.estimate("median")
    with pytest.raises(RangeError):
        switch.estimate("sign", bits=21)


def test_a_switch_is_pickled(gates: Sides) -> None:
    assert gates.keys.scheme_switch.byte_count == gates.switch.key_bytes
    again = pickle.loads(pickle.dumps(gates.switch))
    x = gates.engine.encrypt([1.0, 0.0], gates.secret)
    assert gates.decrypt(again.to_fhew(x, [1], gates.keys)).tolist() == [False]
    assert "SchemeSwitch between" in repr(again)


def test_refusals_name_the_fix(gates: Sides, tables: Sides) -> None:
    switch, keys, engine = gates.switch, gates.keys, gates.engine
    x = engine.encrypt([1.0, 0.0], gates.secret)
    low = switch.to_fhew(x, [0, 1], keys)
    with pytest.raises(RangeError, match="slots 0 to 63"):
        switch.to_fhew(x, [64], keys)
    with pytest.raises(TypeError, match="whole numbers"):
        switch.to_fhew(x, [0.5], keys)
    with pytest.raises(RangeError, match="65 bits"):
        switch.from_fhew(low[:1].broadcast_to((65,)), keys)
    with pytest.raises(ParameterError, match="bits="):
        switch.from_fhew(low, keys, bits=1)
    with pytest.raises(MissingKeyError, match="create_conjugation_key"):
        switch.from_fhew(low, replace(keys, conjugation=None))
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        switch.sign(x, [0], replace(keys, fhew_bootstrap=None), bits=4)
    regular = engine.create_bootstrap_key(gates.secret, size="medium")
    assert gates.decrypt(switch.to_fhew(x, [0], replace(keys, bootstrap=regular))).tolist() == [True]
    with pytest.raises(MissingKeyError, match="create_lossy_bootstrap_key"):
        switch.from_fhew(low, replace(keys, bootstrap=regular))
    with pytest.raises(KeyMismatchError, match="same options"):
        switch.to_fhew(x, [0], tables.keys)
    foreign = switch.create_switch_key(engine.create_secret_key(), gates.lwe)
    for call in (lambda k: switch.to_fhew(x, [0], k), lambda k: switch.from_fhew(low, k)):
        with pytest.raises(KeyMismatchError):
            call(replace(keys, scheme_switch=foreign))
        # Keys of other directions: of a lookup alone, and none at all.
        with pytest.raises(TypeError, match="create_switch_key"):
            call(replace(keys, scheme_switch=keys.fhew_bootstrap))  # type: ignore[arg-type]
        with pytest.raises(MissingKeyError, match="create_switch_key"):
            call(replace(keys, scheme_switch=None))  # type: ignore[arg-type]
    turned: Any = (gates.lwe, gates.secret)
    with pytest.raises(TypeError, match="create_secret_key"):
        switch.create_switch_key(*turned)
    integers = tables.switch.to_fhew(tables.engine.encrypt([0.5], tables.secret), [0], tables.keys, bits=8)
    with pytest.raises(ParameterError, match="Only bits go back"):
        tables.switch.from_fhew(integers, tables.keys)
    with pytest.raises(RangeError, match="order"):
        switch.compare("<", x, x, [0], keys)
    with pytest.raises(MemoryLimitError, match="switching key"):
        switch.create_switch_key(gates.secret, gates.lwe, memory_limit_bytes=1000)
    with pytest.raises(ParameterError, match="slots_to_coeffs"):
        SchemeSwitch(Engine(max_level=2), FhewEngine())


@pytest.mark.parametrize("kind", ["to-fhew", "from-fhew", "roundtrip"])
def test_bench(kind: str) -> None:
    case = SchemeSwitchCase(kind, 64, 8, "toy", "gate", slot_count=64, allow_insecure=True)
    record = bench_scheme_switch(case, repeat=1)
    assert record["kind"] == f"scheme-switch-{kind}"
    assert record["wrong"] == 0
    assert ("output_level" in record, "messages" in record) == (kind != "to-fhew", False)
    assert 0 < record["switch_key_bytes_seeded"] < record["switch_key_bytes"] < 20e6


def test_benches_that_do_not_exist() -> None:
    with pytest.raises(ParameterError, match="to-fhew, from-fhew, roundtrip, compare, argmin"):
        SchemeSwitchCase("across")
    with pytest.raises(ParameterError, match="one value"):
        SchemeSwitchCase(values=0)
    with pytest.raises(ParameterError, match="of integers"):
        SchemeSwitchCase("argmin", preset="int16")


EXAMPLES = [("nearest.py", "1", "1 points"), ("slot_tree.py", "1", "1 samples"), ("mean_of_adults.py", "9", "9 rows")]


@pytest.mark.parametrize(("name", "count", "said"), EXAMPLES)
def test_examples(
    name: str, count: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(aglet, "Engine", lambda **_: toy(11, 64))
    # The larger toy is no preset, and plans know presets alone.
    monkeypatch.setattr(aglet.Session, "plan", lambda *_, **__: "none")
    monkeypatch.setattr(sys, "argv", [name, count])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert said in capsys.readouterr().out
