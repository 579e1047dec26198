"""Bridges: slots as bits and integers of a look-up engine and bits as slots, what is computed between, files."""

from __future__ import annotations

import copy
import pickle
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aglet
from aglet import Bridge, Engine, LookupEngine, Table
from aglet.bridge.measure import BridgeCase, bench_bridge
from aglet.errors import KeyMismatchError, MemoryLimitError, MissingKeyError, ParameterError, RangeError
from bridge_sides import Sides, small
from support import ROOT


@pytest.fixture(scope="module")
def gates() -> Sides:
    return Sides(10, 1)


@pytest.fixture(scope="module")
def tables() -> Sides:
    return Sides(11, 4)


def test_bits_come_down_and_go_up(gates: Sides) -> None:
    engine, bridge = gates.engine, gates.bridge
    bits = np.arange(64) % 3 == 0
    x = bridge.to_lookup(engine.encrypt(bits.astype(float), gates.secret), np.arange(64).reshape(8, 8), gates.keys)
    assert x.is_bits
    assert x.shape == (8, 8)
    assert (gates.decrypt(x).ravel() == bits).all()
    found = bridge.from_lookup(bridge.lookup_engine.xor(x[0], x[1], gates.keys.lookup_key), gates.keys)
    assert found.is_real
    assert found.level == 13
    slots = engine.decrypt(found, gates.secret).real
    assert np.abs(slots[:8] - (bits[:8] ^ bits[8:16])).max() < 0.05
    assert np.abs(slots[8:]).max() < 2**-10


def test_messages_go_through_tables(tables: Sides) -> None:
    x = tables.engine.encrypt(np.arange(16.0), tables.secret, level=0)
    low = tables.bridge.to_lookup(x, [[15, 3], [3, 0]], tables.keys)
    found = tables.bridge.lookup_engine.lookup(low, Table(lambda m: m // 3), tables.keys.lookup_key)
    assert tables.decrypt(found).tolist() == [[5, 1], [1, 0]]


def test_signs_and_comparisons_go_up(tables: Sides) -> None:
    engine, bridge, keys = tables.engine, tables.bridge, tables.keys
    x, y = np.array([0.5, -0.25, 0.0, 0.3, -0.4]), np.array([0.25, 0.25, 0.1, 0.29, -0.5])
    first, second = engine.encrypt(x, tables.secret), engine.encrypt(y, tables.secret)
    signs = bridge.sign(first, [0, 1, 3, 4], keys, bits=8)
    assert tables.decrypt(signs).tolist() == [1, 0, 1, 0]
    raised = engine.decrypt(bridge.from_lookup(signs, keys), tables.secret).real
    assert np.abs(raised[:4] - [1, 0, 1, 0]).max() < 2**-10
    for order, wanted in ((">=", x >= y), ("<=", x <= y)):
        assert (tables.decrypt(bridge.compare(order, first, second, range(5), keys, bits=10)) == wanted).all()
    # Numbers that are equal are, in either order; the ends are as far apart as they may be.
    same, ends = (tables.engine.encrypt(z, tables.secret) for z in ([0.0, 0.25, -0.5], [0.5, -0.5, 0.5]))
    minus = tables.engine.negate(ends)
    for order in (">=", "<="):
        assert tables.decrypt(bridge.compare(order, same, same, range(3), keys, bits=10)).tolist() == [1, 1, 1]
        wanted = [1, 0, 1] if order == ">=" else [0, 1, 0]
        assert tables.decrypt(bridge.compare(order, ends, minus, range(3), keys, bits=10)).tolist() == wanted


def test_ranks(tables: Sides) -> None:
    rows = np.array([[0.9, 0.2, 0.5, 0.21], [0.1, 0.1, 0.7, 0.1]])
    places = np.arange(8).reshape(2, 4)
    x = tables.engine.encrypt(rows.ravel(), tables.secret)
    bridge, keys = tables.bridge, tables.keys
    assert tables.decrypt(bridge.argmin(x, places, keys, bits=8)).tolist() == [1, 0]
    hot = bridge.argmax(x, places, keys, bits=8, one_hot=True)
    assert tables.decrypt(hot).tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]
    # Slots that are equal differ by their noise; integers do not.
    assert tables.decrypt(bridge.top_k(x, places[0], 2, keys, bits=8)).tolist() == [1, 0, 1, 0]
    lookups = bridge.lookup_engine
    tied = lookups.encrypt([3, 1, 1, 5, 5], tables.lwe, bits=6)
    assert tables.decrypt(lookups.argmin(tied, keys.lookup_key)) == 1
    assert tables.decrypt(lookups.top_k(tied, 1, keys.lookup_key)).tolist() == [0, 0, 0, 1, 0]
    assert bridge._core.packing_bytes(2**63) == 2**64 - 1
    with pytest.raises(RangeError, match="2 to 16"):
        lookups.argmin(tied[:1], keys.lookup_key)
    with pytest.raises(RangeError, match="1 to 4"):
        lookups.top_k(tied, 5, keys.lookup_key)


def test_complex_slots_come_down_and_go_up(gates: Sides) -> None:
    engine, bridge, keys = gates.engine, gates.bridge, gates.keys
    real, imaginary = np.arange(64) % 3 == 0, np.arange(64) % 5 < 2
    x = engine.encrypt(real + 1j * imaginary, gates.secret)
    both = bridge.to_lookup(x, np.arange(64).reshape(2, 32), keys, part="both")
    assert both.shape == (2, 2, 32)
    assert (gates.decrypt(both).reshape(2, 64) == [real, imaginary]).all()
    assert (gates.decrypt(bridge.to_lookup(x, [6, 7], keys, part="imaginary")) == imaginary[6:8]).all()
    found = bridge.from_lookup(both[0], keys, imaginary=both[1, 0])
    assert not found.is_real
    slots = engine.decrypt(found, gates.secret)
    assert np.abs(slots.real - real).max() < 2**-10
    assert np.abs(slots.imag[:32] - imaginary[:32]).max() < 2**-10
    assert np.abs(slots.imag[32:]).max() < 2**-10
    with pytest.raises(RangeError, match='"both"'):
        bridge.to_lookup(x, [0], keys, part="size")


def test_tables_on_slots(tables: Sides) -> None:
    bridge, keys = tables.bridge, tables.keys
    x = tables.engine.encrypt(np.arange(16.0) + 1j * np.arange(16.0)[::-1], tables.secret)
    squares = bridge.lookup(x, [2, 3, 15], lambda m: m * m % 16, keys)
    assert tables.decrypt(squares).tolist() == [4, 9, 1]
    low, high = bridge.lookup(x, [[4], [9]], [lambda m: m % 4, lambda m: m // 4], keys, part="imaginary")
    assert (tables.decrypt(low).tolist(), tables.decrypt(high).tolist()) == ([[3], [2]], [[2], [1]])
    with pytest.raises(MissingKeyError, match="packing=True"):
        bridge.lookup_bytes(x, [0], lambda byte: byte, keys)
    missing: Any = None
    for call in (bridge.lookup, bridge.lookup_bytes):
        with pytest.raises(MissingKeyError, match="create_keys"):
            call(x, [0], lambda m: m, missing)


def test_tables_of_bytes() -> None:
    engine = small(11, 64)
    bridge = Bridge(engine, LookupEngine(preset="wide"))
    secret, lwe = engine.create_secret_key(), bridge.lookup_engine.create_secret_key()
    keys = bridge.create_keys(secret, lwe, size="medium", packing=True)
    given = np.array([0, 255, 16, 15, 171])
    x = engine.encrypt(given.astype(float), secret)
    high, low = bridge.lookup_bytes(x, range(5), lambda byte: (byte * 7 + 3) % 256, keys)
    found = 16 * bridge.lookup_engine.decrypt(high, lwe) + bridge.lookup_engine.decrypt(low, lwe)
    assert (found == (given * 7 + 3) % 256).all()
    with pytest.raises(RangeError, match="255 values"):
        bridge.lookup_bytes(x, [0], range(255), keys)
    with pytest.raises(RangeError, match="no byte"):
        bridge.lookup_bytes(x, [0], lambda byte: byte + 1, keys)


def test_nibbles_need_four_bits(gates: Sides) -> None:
    x = gates.engine.encrypt([1.0], gates.secret)
    with pytest.raises(RangeError, match="wide"):
        gates.bridge.lookup_bytes(x, [0], range(256), gates.keys)


def test_what_a_call_would_take() -> None:
    bridge = Bridge(Engine(use_bootstrap=True), LookupEngine(bits=4))
    signs = {bits: bridge.estimate("sign", bits=bits, count=64) for bits in (4, 8, 16)}
    assert [one.rotations for one in signs.values()] == [64, 192, 320]
    assert all(one.key_bytes == bridge.key_bytes for one in signs.values())
    assert signs[16].log2_failure < -128
    rounded = bridge.estimate("compare", bits=20, count=64, up=True, bound=0.5)
    assert -100 < rounded.log2_failure < -60
    assert (rounded.rotations, rounded.refreshes) == (6 * 64, 1)
    assert rounded.seconds > bridge.estimate("compare", bits=20, count=64).seconds
    # Of larger values half as many parts are told apart.
    assert bridge.estimate("compare", bits=20, count=64).log2_failure < rounded.log2_failure
    assert bridge.security_bits == min(
        bridge.engine.security_report().security_bits, bridge.lookup_engine.security_bits
    )
    smallest = bridge.estimate("argmin", row=16)
    assert (smallest.rotations, smallest.refreshes) == (120 * 5 + 16, 0)
    assert smallest.log2_failure > signs[16].log2_failure
    assert bridge.estimate("from_lookup", count=4096).rotations == 0
    assert bridge.estimate("lookup", count=3).rotations == 3
    up = bridge.estimate("from_lookup", count=4096)
    assert (up.level, -np.inf < up.log2_failure < -1000, up.working_bytes > 0) == (13, True, True)
    with pytest.raises(ParameterError, match="single bits"):
        bridge.estimate("lookup_bytes", up=True)
    # What from_lookup refuses, no estimate promises.
    with pytest.raises(ParameterError, match="one_hot"):
        bridge.estimate("argmin", row=16, up=True)
    best = bridge.estimate("top_k", row=16, up=True)
    assert (best.rotations, best.refreshes, best.level) == (smallest.rotations, 1, 13)
    for words in ({"what": "from_lookup", "count": 2**62 - 1}, {"what": "top_k", "count": 2**13, "row": 5, "up": True}):
        with pytest.raises(RangeError, match="do not fit 32768 slots"):
            bridge.estimate(**words)  # type: ignore[arg-type]
    with pytest.raises(RangeError, match="2 to 16"):
        bridge.estimate("argmax", row=17)
    down = bridge.estimate("to_lookup", count=4096)
    assert (down.rotations, down.refreshes, down.log2_failure) == (0, 0, -np.inf)
    assert 0 < down.seconds < bridge.estimate("from_lookup", count=4096).seconds
    # Scales of 44 bits leave a sixteenth of the noise.
    finer = Bridge(Engine(preset="regular-44"), LookupEngine(bits=4))
    assert finer.estimate("compare", bits=20, bound=0.5).log2_failure < -128
    with pytest.raises(ParameterError, match="no estimate"):
        bridge.estimate("median")
    with pytest.raises(RangeError):
        bridge.estimate("sign", bits=21)


def test_keys_come_out_of_files_and_pickles(gates: Sides, tmp_path: Path) -> None:
    bridge, key = gates.bridge, gates.keys.bridge_key
    assert key.byte_count == bridge.key_bytes
    assert key.stored_bytes < key.byte_count
    bridge.write_bridge_key(key, tmp_path / "key")
    assert abs((tmp_path / "key").stat().st_size - key.stored_bytes) < key.stored_bytes / 20
    x = gates.engine.encrypt([1.0, 0.0], gates.secret)
    copies = [bridge.read(tmp_path / "key"), bridge.deserialize(bridge.serialize(key))]
    for other in [*copies, pickle.loads(pickle.dumps(key)), copy.copy(key)]:
        assert (other.key_id, other.lookup_key_id) == (gates.secret.key_id, gates.lwe.key_id)
        low = bridge.to_lookup(x, [0, 1], replace(gates.keys, bridge_key=other))
        assert gates.decrypt(low).tolist() == [True, False]
    with pytest.raises(TypeError, match="create_bridge_key"):
        bridge.write(gates.keys.bootstrap_key, tmp_path / "other")
    again = pickle.loads(pickle.dumps(bridge))
    assert gates.decrypt(again.to_lookup(x, [1], gates.keys)).tolist() == [False]
    assert "Bridge between" in repr(again)


def test_refusals_name_the_fix(gates: Sides, tables: Sides) -> None:
    bridge, keys, engine = gates.bridge, gates.keys, gates.engine
    x = engine.encrypt([1.0, 0.0], gates.secret)
    low = bridge.to_lookup(x, [0, 1], keys)
    with pytest.raises(RangeError, match="slots 0 to 63"):
        bridge.to_lookup(x, [64], keys)
    with pytest.raises(TypeError, match="whole numbers"):
        bridge.to_lookup(x, [0.5], keys)
    with pytest.raises(RangeError, match="65 bits"):
        bridge.from_lookup(low[:1].broadcast_to((65,)), keys)
    with pytest.raises(MissingKeyError, match="create_conjugation_key"):
        bridge.from_lookup(low, replace(keys, conjugation_key=None))
    with pytest.raises(MissingKeyError, match="create_lookup_key"):
        bridge.sign(x, [0], replace(keys, lookup_key=None), bits=4)
    regular = engine.create_bootstrap_key(gates.secret, size="medium")
    assert gates.decrypt(bridge.to_lookup(x, [0], replace(keys, bootstrap_key=regular))).tolist() == [True]
    with pytest.raises(MissingKeyError, match="create_lossy_bootstrap_key"):
        bridge.from_lookup(low, replace(keys, bootstrap_key=regular))
    with pytest.raises(KeyMismatchError, match="same options"):
        bridge.to_lookup(x, [0], replace(keys, bridge_key=tables.keys.bridge_key))
    foreign = bridge.create_bridge_key(engine.create_secret_key(), gates.lwe)
    for call in (lambda k: bridge.to_lookup(x, [0], k), lambda k: bridge.from_lookup(low, k)):
        with pytest.raises(KeyMismatchError):
            call(replace(keys, bridge_key=foreign))
        # Keys of other directions: of a lookup alone, and none at all.
        with pytest.raises(TypeError, match="create_bridge_key"):
            call(replace(keys, bridge_key=keys.lookup_key))  # type: ignore[arg-type]
        with pytest.raises(MissingKeyError, match="create_bridge_key"):
            call(replace(keys, bridge_key=None))  # type: ignore[arg-type]
    turned: Any = (gates.lwe, gates.secret)
    with pytest.raises(TypeError, match="create_secret_key"):
        bridge.create_bridge_key(*turned)
    integers = tables.bridge.to_lookup(tables.engine.encrypt([0.5], tables.secret), [0], tables.keys, bits=8)
    with pytest.raises(ParameterError, match="Only bits go up"):
        tables.bridge.from_lookup(integers, tables.keys)
    with pytest.raises(RangeError, match="order"):
        bridge.compare("<", x, x, [0], keys)
    with pytest.raises(MemoryLimitError, match="bridge key"):
        bridge.create_bridge_key(gates.secret, gates.lwe, memory_limit_bytes=1000)
    with pytest.raises(ParameterError, match="slots_to_coeffs"):
        Bridge(Engine(max_level=2), LookupEngine())


@pytest.mark.parametrize("kind", ["down", "up", "roundtrip"])
def test_bench(kind: str) -> None:
    case = BridgeCase(kind, 64, 8, "toy", "gate", slot_count=64, allow_insecure=True)
    record = bench_bridge(case, repeat=1)
    assert record["kind"] == f"bridge-{kind}"
    assert record["wrong"] == 0
    assert ("output_level" in record, "messages" in record) == (kind != "down", False)
    assert 0 < record["bridge_key_bytes_seeded"] < record["bridge_key_bytes"] < 20e6


def test_benches_that_do_not_exist() -> None:
    with pytest.raises(ParameterError, match="down, up, roundtrip, compare, argmin"):
        BridgeCase("across")
    with pytest.raises(ParameterError, match="one value"):
        BridgeCase(values=0)
    with pytest.raises(ParameterError, match="to integers"):
        BridgeCase("argmin", preset="int16")


@pytest.mark.parametrize(("name", "said"), [("nearest.py", "1 points"), ("slot_tree.py", "1 samples")])
def test_examples(name: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(aglet, "Engine", lambda **_: small(11, 64))
    monkeypatch.setattr(sys, "argv", [name, "1"])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert said in capsys.readouterr().out
