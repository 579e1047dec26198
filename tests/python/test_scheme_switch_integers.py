"""The switch to integers: its key, its files, and what is refused; numbers go both ways in tests/python/long."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from aglet import FhewEngine, IntegerEngine, KeySet, SchemeSwitch, _core
from aglet.errors import (
    KeyMismatchError,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
)
from aglet.scheme_switch.estimate import SchemeSwitchEstimate
from aglet.scheme_switch.tables import STEEPEST
from aglet_bench.fhew import records
from aglet_bench.scheme_switch.measure import SchemeSwitchCase, bench_scheme_switch


class Sides:
    def __init__(self) -> None:
        self.engine = IntegerEngine(use_bootstrap=True)
        self.switch = SchemeSwitch(self.engine, FhewEngine(bits=1))
        self.secret, self.lwe = self.engine.create_secret_key(), self.switch.fhew_engine.create_secret_key()
        self.key = self.switch.create_switch_key(self.secret, self.lwe)


@pytest.fixture(scope="module")
def sides() -> Sides:
    return Sides()


def test_a_switch_of_a_secure_set_is_pickled_and_its_key_small(sides: Sides) -> None:
    key = sides.key
    assert key.byte_count == sides.switch.key_bytes < 20e6
    assert abs(len(sides.switch.serialize(key)) - key.stored_bytes) < key.stored_bytes / 20
    assert (key.key_id, key.fhew_key_id, key.both_ways) == (sides.secret.key_id, sides.lwe.key_id, True)
    again = pickle.loads(pickle.dumps(sides.switch))
    assert again.key_bytes == sides.switch.key_bytes
    assert "SchemeSwitch between" in repr(again)
    assert again.engine.slot_count == 2**15


def test_what_a_call_would_take(sides: Sides) -> None:
    wide = SchemeSwitch(sides.engine, FhewEngine(preset="wide"))
    down = {count: wide.estimate("to_fhew", count=count) for count in (1, 4096)}
    assert (down[1].rotations, down[1].refreshes, down[1].log2_failure) == (0, 0, -math.inf)
    assert 0 < down[1].seconds < down[4096].seconds < 1
    assert down[1].key_bytes == wide.key_bytes
    one, pairs = wide.estimate("lookup", count=64), wide.estimate("lookup_bytes", count=64)
    assert (one.rotations, pairs.rotations) == (64, 7 * 64)
    assert one.log2_failure < -128
    assert pairs.log2_failure < -128
    with pytest.raises(ParameterError, match="to_fhew, from_fhew, lookup, lookup_bytes"):
        wide.estimate("sign")


def test_what_goes_up_would_take(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "known", tuple)
    switch = SchemeSwitch(sides.engine, FhewEngine(bits=4))
    one, four = (switch.estimate("from_fhew", count=64, bits=bits) for bits in (1, None))
    # As docs/scheme-switching.md says, and tests/python/long finds.
    assert [(way.level, way.refreshes, way.rotations) for way in (one, four)] == [(5, 1, 0), (1, 1, 0)]
    assert 0.1 < one.seconds < four.seconds < 10
    assert four.log2_failure < -128
    assert 0 < one.working_bytes * 64 == switch.estimate("from_fhew", count=4096, bits=1).working_bytes
    down, up = (switch.estimate("lookup", count=64, from_fhew=raised) for raised in (False, True))
    assert (down.level, up.level, up.rotations, up.refreshes) == (None, 1, 64, 1)
    assert up.seconds == pytest.approx(down.seconds + four.seconds)
    assert up.log2_failure == pytest.approx(down.log2_failure, abs=1)
    assert switch.estimate("to_fhew", count=64, bits=1, from_fhew=True).level == 6
    for words, error, said in (
        ({"bits": 5}, RangeError, "1 to 4 bits"),
        ({"bits": 0}, ParameterError, "bits=0"),
        ({"count": 2**15 + 1}, RangeError, "32768 slots"),
    ):
        with pytest.raises(error, match=said):
            switch.estimate("from_fhew", **words)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="from_fhew=True"):
        switch.estimate("lookup", bits=1)
    with pytest.raises(ParameterError, match="bits=4"):
        sides.switch.estimate("lookup")
    # Gates leave too much noise for the levels of "int16", and those of "int16-deep" have room for it.
    with pytest.raises(LevelError, match="int16-deep"):
        sides.switch.estimate("from_fhew")
    assert SchemeSwitch(IntegerEngine(preset="int16-deep"), FhewEngine()).estimate("from_fhew").level == 15


def test_tables_of_bytes_promise_what_their_noise_keeps(sides: Sides) -> None:
    switch = SchemeSwitch(sides.engine, FhewEngine(preset="wide"))
    drawn = np.random.default_rng(7).integers(0, 256, 256)

    def up(**more: Any) -> SchemeSwitchEstimate:
        return switch.estimate("lookup_bytes", from_fhew=True, **more)

    # A flat table leaves a level more to nibbles than one that jumps at every message.
    assert [up(table=table).level for table in ([0] * 256, [0, 255] * 128)] == [2, 1]
    for bits in range(1, 5):
        named, any_table = up(bits=bits, table=drawn), up(bits=bits)
        assert (any_table.level or 0) <= (named.level or 0)
    assert (up().refreshes, up().log2_failure < -128) == (2, True)
    with pytest.raises(RangeError, match="256"):
        up(table=[1, 2, 3])
    with pytest.raises(ParameterError, match="table="):
        switch.estimate("lookup", table=drawn)
    with pytest.raises(RangeError, match="wide"):
        sides.switch.estimate("lookup_bytes")


def test_no_table_of_bytes_leaves_more_noise_than_the_steepest() -> None:
    engine = FhewEngine(preset="wide")

    def variance(values: list[int]) -> float:
        tables = [[value // 16 for value in values], [value % 16 for value in values]]
        return engine._core.tree_variance(tables, precise=True)

    most = variance(STEEPEST)
    # Squares of differences are greatest where every value is the least or the greatest: all rows of those.
    rows = [[255 * (row >> low & 1) for low in range(16)] for row in range(2**16)]
    found = max(variance([value for row in rows[first : first + 16] for value in row]) for first in range(0, 2**16, 16))
    assert found == most
    assert variance([0] * 256) < variance(list(range(256))) < most / 2


def test_a_measured_way_up_is_one_of_the_same_levels(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = {name: _core.doctor()[name] for name in ("cpu", "backend")}  # type: ignore[literal-required]
    row: dict[str, Any] = {
        "kind": "integer-scheme-switch-from-fhew",
        "preset": "int16",
        "fhew_preset": "lut4",
        "threads": 1,
    }
    row |= {"slot_count": 2**15, "key_size": None, "values": 64, "seconds": 7.0, **machine}
    known = ({**row, "messages": 2, "output_level": 5}, {**row, "messages": 16, "output_level": 2})
    monkeypatch.setattr(records, "known", lambda: known)
    switch = SchemeSwitch(sides.engine, FhewEngine(bits=4))
    found = {bits: switch.estimate("from_fhew", count=64, bits=bits) for bits in (1, 4)}
    assert (found[1].seconds, found[1].source) == (7.0, "measured")
    assert (found[4].seconds < 7, found[4].source) == (True, "modelled")
    assert switch.estimate("from_fhew", count=65, bits=1).source == "modelled"


def test_comparisons_are_not_measured_on_integers() -> None:
    with pytest.raises(ParameterError, match="to-fhew, from-fhew and roundtrip"):
        SchemeSwitchCase("compare", preset="int16")


@pytest.mark.parametrize("bits", [0, 5])
def test_messages_that_are_measured_have_the_bits_of_look_ups(bits: int) -> None:
    with pytest.raises(RangeError, match=f"1 to 4 bits, not {bits}"):
        bench_scheme_switch(SchemeSwitchCase("from-fhew", 64, bits, "int16"), repeat=1)


def test_refusals_name_the_fix(sides: Sides) -> None:
    switch = sides.switch
    x = sides.engine.encrypt([1, 0], sides.secret)
    keys = KeySet(sides.engine, scheme_switch=sides.key, fhew_engine=switch.fhew_engine)
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        switch.to_fhew(x, [0], keys)
    with pytest.raises(RangeError, match="slots 0 to 32767"):
        switch.to_fhew(x, [2**15], keys)
    with pytest.raises(TypeError, match="whole numbers"):
        switch.to_fhew(x, [0.5], keys)
    with pytest.raises(MissingKeyError, match=r"one with switch\.create_keys"):
        switch.to_fhew(x, [0], None)  # type: ignore[arg-type]
    with pytest.raises(RangeError, match="wide"):
        switch.lookup_bytes(x, [0], range(256), keys)
    with pytest.raises(MemoryLimitError, match="switching key"):
        switch.create_switch_key(sides.secret, sides.lwe, memory_limit_bytes=1000)
    with pytest.raises(KeyMismatchError):
        switch.create_switch_key(IntegerEngine().create_secret_key(), sides.lwe)
    with pytest.raises(ParameterError, match="with a bootstrap"):
        SchemeSwitch(IntegerEngine(), FhewEngine())
    with pytest.raises(ParameterError, match="without slots"):
        SchemeSwitch(IntegerEngine(use_bootstrap=True, packing="coefficients"), FhewEngine())
    low = switch.fhew_engine.encrypt([True, False], sides.lwe)
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        switch.from_fhew(low, keys)
    with pytest.raises(MissingKeyError, match="create_keys"):
        switch.from_fhew(low, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="encrypt"):
        switch.from_fhew(x, keys)  # type: ignore[arg-type]
    with pytest.raises(MissingKeyError, match="create_keys"):
        switch.lookup(x, [0], lambda m: m, None)  # type: ignore[arg-type]
    engine: Any = FhewEngine()
    with pytest.raises(TypeError, match=r"or IntegerEngine\("):
        SchemeSwitch(engine, FhewEngine())


def test_what_only_slots_of_ckks_have_is_refused(sides: Sides) -> None:
    switch, x = sides.switch, sides.engine.encrypt([1, 0], sides.secret)
    keys = KeySet(sides.engine, scheme_switch=sides.key, fhew_engine=switch.fhew_engine)
    low = switch.fhew_engine.encrypt([True], sides.lwe)
    for words in ({"part": "imaginary"}, {"bound": 1.0}, {"noise": 0.1}, {"bits": 4, "signed": True}):
        with pytest.raises(ParameterError, match=f"{list(words)[-1]}=; leave it out"):
            switch.to_fhew(x, [0], keys, **words)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="imaginary="):
        switch.from_fhew(low, keys, imaginary=low)
    for call in (
        lambda: switch.sign(x, [0], keys),
        lambda: switch.compare(">=", x, x, [0], keys),
        lambda: switch.argmin(x, [[0, 1]], keys),
        lambda: switch.argmax(x, [[0, 1]], keys),
        lambda: switch.top_k(x, [[0, 1]], 1, keys),
    ):
        with pytest.raises(ParameterError, match=r"IntegerEngine\.less"):
            call()
    for options in ({"bootstrap": False}, {"bootstrap": "large"}):
        with pytest.raises((ParameterError, TypeError), match="bootstrap"):
            switch.create_keys(**options)  # type: ignore[arg-type]


def test_the_weaker_secret_decides(sides: Sides) -> None:
    """A key between two secrets binds both: who has one of them has the other."""
    switch = sides.switch
    assert switch.security_bits == min(switch.engine.security_bits, switch.fhew_engine.security_bits)
