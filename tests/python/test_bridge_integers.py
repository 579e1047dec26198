"""The bridge to integers: its key, its files, and what is refused; numbers go both ways in tests/python/long."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import IntegerBridge, IntegerBridgeKeys, IntegerEngine, LookupEngine, _core
from aglet.bridge.estimate import BridgeEstimate
from aglet.bridge.measure import BridgeCase, bench_bridge
from aglet.bridge.tables import STEEPEST
from aglet.errors import (
    KeyMismatchError,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
)
from aglet.lookup import records


class Sides:
    def __init__(self) -> None:
        self.engine = IntegerEngine(use_bootstrap=True)
        self.bridge = IntegerBridge(self.engine, LookupEngine(bits=1))
        self.secret, self.lwe = self.engine.create_secret_key(), self.bridge.lookup_engine.create_secret_key()
        self.key = self.bridge.create_bridge_key(self.secret, self.lwe)


@pytest.fixture(scope="module")
def sides() -> Sides:
    return Sides()


def test_keys_come_out_of_files_and_pickles(sides: Sides, tmp_path: Path) -> None:
    bridge, key = sides.bridge, sides.key
    assert key.byte_count == bridge.key_bytes < 20e6
    bridge.write_bridge_key(key, tmp_path / "key")
    assert abs((tmp_path / "key").stat().st_size - key.stored_bytes) < key.stored_bytes / 20
    for other in (
        bridge.read(tmp_path / "key"),
        bridge.deserialize(bridge.serialize(key)),
        pickle.loads(pickle.dumps(key)),
    ):
        assert (other.key_id, other.lookup_key_id) == (sides.secret.key_id, sides.lwe.key_id)
        assert other.leads_up
    with pytest.raises(TypeError, match="create_bridge_key"):
        bridge.write(sides.secret, tmp_path / "other")
    again = pickle.loads(pickle.dumps(bridge))
    assert again.key_bytes == bridge.key_bytes
    assert "IntegerBridge between" in repr(again)
    assert again.engine.slot_count == 2**15


def test_what_a_call_would_take(sides: Sides) -> None:
    wide = IntegerBridge(sides.engine, LookupEngine(preset="wide"))
    down = {count: wide.estimate("to_lookup", count=count) for count in (1, 4096)}
    assert (down[1].rotations, down[1].refreshes, down[1].log2_failure) == (0, 0, -math.inf)
    assert 0 < down[1].seconds < down[4096].seconds < 1
    assert down[1].key_bytes == wide.key_bytes
    one, pairs = wide.estimate("lookup", count=64), wide.estimate("lookup_bytes", count=64)
    assert (one.rotations, pairs.rotations) == (64, 7 * 64)
    assert one.log2_failure < -128
    assert pairs.log2_failure < -128
    with pytest.raises(ParameterError, match="to_lookup, from_lookup, lookup, lookup_bytes"):
        wide.estimate("sign")


def test_what_goes_up_would_take(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "known", tuple)
    bridge = IntegerBridge(sides.engine, LookupEngine(bits=4))
    one, four = (bridge.estimate("from_lookup", count=64, bits=bits) for bits in (1, None))
    # As docs/bridges.md says, and tests/python/long finds.
    assert [(way.level, way.refreshes, way.rotations) for way in (one, four)] == [(5, 1, 0), (1, 1, 0)]
    assert 0.1 < one.seconds < four.seconds < 10
    assert four.log2_failure < -128
    assert 0 < one.working_bytes * 64 == bridge.estimate("from_lookup", count=4096, bits=1).working_bytes
    down, up = (bridge.estimate("lookup", count=64, up=raised) for raised in (False, True))
    assert (down.level, up.level, up.rotations, up.refreshes) == (None, 1, 64, 1)
    assert up.seconds == pytest.approx(down.seconds + four.seconds)
    assert up.log2_failure == pytest.approx(down.log2_failure, abs=1)
    assert bridge.estimate("to_lookup", count=64, bits=1, up=True).level == 6
    for words, error, said in (
        ({"bits": 5}, RangeError, "1 to 4 bits"),
        ({"bits": 0}, ParameterError, "bits=0"),
        ({"count": 2**15 + 1}, RangeError, "32768 slots"),
    ):
        with pytest.raises(error, match=said):
            bridge.estimate("from_lookup", **words)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="up=True"):
        bridge.estimate("lookup", bits=1)
    with pytest.raises(ParameterError, match="bits=4"):
        sides.bridge.estimate("lookup")
    # Gates leave too much noise for the levels of "int16", and those of "int16-deep" have room for it.
    with pytest.raises(LevelError, match="int16-deep"):
        sides.bridge.estimate("from_lookup")
    assert IntegerBridge(IntegerEngine(preset="int16-deep"), LookupEngine()).estimate("from_lookup").level == 15


def test_tables_of_bytes_promise_what_their_noise_keeps(sides: Sides) -> None:
    bridge = IntegerBridge(sides.engine, LookupEngine(preset="wide"))
    drawn = np.random.default_rng(7).integers(0, 256, 256)

    def up(**more: Any) -> BridgeEstimate:
        return bridge.estimate("lookup_bytes", up=True, **more)

    # A flat table leaves a level more to nibbles than one that jumps at every message.
    assert [up(table=table).level for table in ([0] * 256, [0, 255] * 128)] == [2, 1]
    for bits in range(1, 5):
        named, any_table = up(bits=bits, table=drawn), up(bits=bits)
        assert (any_table.level or 0) <= (named.level or 0)
    assert (up().refreshes, up().log2_failure < -128) == (2, True)
    with pytest.raises(RangeError, match="256"):
        up(table=[1, 2, 3])
    with pytest.raises(ParameterError, match="table="):
        bridge.estimate("lookup", table=drawn)
    with pytest.raises(RangeError, match="wide"):
        sides.bridge.estimate("lookup_bytes")


def test_no_table_of_bytes_leaves_more_noise_than_the_steepest() -> None:
    engine = LookupEngine(preset="wide")

    def variance(values: list[int]) -> float:
        return engine._core.pair_variance([[value // 16 for value in values], [value % 16 for value in values]])

    most = variance(STEEPEST)
    # Squares of differences are greatest where every value is the least or the greatest: all rows of those.
    rows = [[255 * (row >> low & 1) for low in range(16)] for row in range(2**16)]
    found = max(variance([value for row in rows[first : first + 16] for value in row]) for first in range(0, 2**16, 16))
    assert found == most
    assert variance([0] * 256) < variance(list(range(256))) < most / 2


def test_a_measured_way_up_is_one_of_the_same_levels(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = {name: _core.doctor()[name] for name in ("cpu", "backend")}  # type: ignore[literal-required]
    row: dict[str, Any] = {"kind": "integer-bridge-up", "preset": "int16", "lookup_preset": "lut4", "threads": 1}
    row |= {"slot_count": 2**15, "key_size": None, "values": 64, "seconds": 7.0, **machine}
    known = ({**row, "messages": 2, "output_level": 5}, {**row, "messages": 16, "output_level": 2})
    monkeypatch.setattr(records, "known", lambda: known)
    bridge = IntegerBridge(sides.engine, LookupEngine(bits=4))
    found = {bits: bridge.estimate("from_lookup", count=64, bits=bits) for bits in (1, 4)}
    assert (found[1].seconds, found[1].source) == (7.0, "measured")
    assert (found[4].seconds < 7, found[4].source) == (True, "modelled")
    assert bridge.estimate("from_lookup", count=65, bits=1).source == "modelled"


def test_comparisons_are_not_measured_on_integers() -> None:
    with pytest.raises(ParameterError, match="down, up and roundtrip"):
        BridgeCase("compare", preset="int16")


@pytest.mark.parametrize("bits", [0, 5])
def test_messages_that_are_measured_have_the_bits_of_look_ups(bits: int) -> None:
    with pytest.raises(RangeError, match=f"1 to 4 bits, not {bits}"):
        bench_bridge(BridgeCase("up", 64, bits, "int16"), repeat=1)


def test_refusals_name_the_fix(sides: Sides) -> None:
    bridge, key, missing = sides.bridge, sides.key, None
    x = sides.engine.encrypt([1, 0], sides.secret)
    keys = IntegerBridgeKeys(key, missing)  # type: ignore[arg-type]
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        bridge.to_lookup(x, [0], keys)
    with pytest.raises(RangeError, match="slots 0 to 32767"):
        bridge.to_lookup(x, [2**15], keys)
    with pytest.raises(TypeError, match="whole numbers"):
        bridge.to_lookup(x, [0.5], keys)
    with pytest.raises(MissingKeyError, match=r"one with bridge\.create_keys"):
        bridge.to_lookup(x, [0], None)  # type: ignore[arg-type]
    with pytest.raises(RangeError, match="wide"):
        bridge.lookup_bytes(x, [0], range(256), keys)
    with pytest.raises(MemoryLimitError, match="bridge key"):
        bridge.create_bridge_key(sides.secret, sides.lwe, memory_limit_bytes=1000)
    with pytest.raises(KeyMismatchError):
        bridge.create_bridge_key(IntegerEngine().create_secret_key(), sides.lwe)
    with pytest.raises(ParameterError, match="with a bootstrap"):
        IntegerBridge(IntegerEngine(), LookupEngine())
    with pytest.raises(ParameterError, match="without slots"):
        IntegerBridge(IntegerEngine(use_bootstrap=True, packing="coefficients"), LookupEngine())
    low = bridge.lookup_engine.encrypt([True, False], sides.lwe)
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        bridge.from_lookup(low, keys)
    with pytest.raises(MissingKeyError, match="create_keys"):
        bridge.from_lookup(low, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="encrypt"):
        bridge.from_lookup(x, keys)  # type: ignore[arg-type]
    with pytest.raises(MissingKeyError, match="create_keys"):
        bridge.lookup(x, [0], lambda m: m, None)  # type: ignore[arg-type]
    engine: Any = LookupEngine()
    with pytest.raises(TypeError, match=r"one with IntegerEngine\("):
        IntegerBridge(engine, LookupEngine())


def test_the_weaker_secret_decides(sides: Sides) -> None:
    """A key between two secrets binds both: who has one of them has the other."""
    bridge = sides.bridge
    assert bridge.security_bits == min(bridge.engine.security_bits, bridge.lookup_engine.security_bits)
