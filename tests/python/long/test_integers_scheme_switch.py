"""Integers at the real size by scheme switching: tables of bytes and of 4 bits, there and back; gates too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import FhewEngine, IntegerEngine, SchemeSwitch
from aglet.errors import LevelError
from aglet_bench.advise import Wish
from aglet_bench.scheme_switch.measure import SchemeSwitchCase, bench_scheme_switch
from aglet_bench.scheme_switch.table_advice import table_ways


def test_integers_go_through_tables() -> None:
    engine = IntegerEngine(use_bootstrap=True, thread_count=0)
    switch = SchemeSwitch(engine, FhewEngine(preset="wide", thread_count=0))
    secret, lwe = engine.create_secret_key(), switch.fhew_engine.create_secret_key()
    keys = switch.create_keys(secret, lwe, packing=True)
    given = np.random.default_rng(3).integers(0, 256, engine.slot_count)
    x = engine.encrypt(given, secret)
    places = np.arange(0, engine.slot_count, 1021)
    high, low = switch.lookup_bytes(x, places, lambda byte: (byte * 7 + 3) % 256, keys)
    fhew = switch.fhew_engine
    found = 16 * fhew.decrypt(high, lwe) + fhew.decrypt(low, lwe)
    assert (found == (given[places] * 7 + 3) % 256).all()
    # Up again: a table drawn at random is noisier than most functions, and comes back where it was promised.
    drawn = np.random.default_rng(8).integers(0, 256, 256)
    promised, any_table = (switch.estimate("lookup_bytes", from_fhew=True, **named) for named in ({"table": drawn}, {}))
    for nibble, expected in zip(
        switch.lookup_bytes(x, places, drawn, keys), divmod(drawn[given[places]], 16), strict=True
    ):
        raised = switch.from_fhew(nibble, keys)
        assert raised.level >= promised.level >= any_table.level
        assert (engine.decrypt(raised, secret)[: len(places)] == expected).all()
    # Every slot, from the lowest level that goes down.
    nibbles = engine.encrypt(given % 16, secret, level=1)
    down = switch.to_fhew(nibbles, np.arange(engine.slot_count), keys)
    assert (fhew.decrypt(down, lwe) == given % 16).all()
    squares = switch.lookup(nibbles, places, lambda m: m * m % 16, keys)
    assert (fhew.decrypt(squares, lwe) == (given[places] % 16) ** 2 % 16).all()
    # Up again: what tables left, and every slot at once.
    up = switch.from_fhew(squares, keys)
    assert up.level == switch.estimate("lookup", from_fhew=True).level == 2
    found = engine.decrypt(up, secret)
    assert (found[: len(places)] == (given[places] % 16) ** 2 % 16).all()
    assert not found[len(places) :].any()
    again = engine.bootstrap(switch.from_fhew(down, keys), keys.bootstrap)
    assert (engine.decrypt(again, secret) == given % 16).all()


def test_ten_thousand_bits_come_up() -> None:
    engine = IntegerEngine(use_bootstrap=True, thread_count=0)
    switch = SchemeSwitch(engine, FhewEngine(bits=1, thread_count=0))
    secret, lwe = engine.create_secret_key(), switch.fhew_engine.create_secret_key()
    keys = switch.create_keys(secret, lwe)
    bits = np.random.default_rng(4).integers(0, 2, 10_000).astype(bool)
    up = switch.from_fhew(switch.fhew_engine.encrypt(bits, lwe), keys)
    found = engine.decrypt(up, secret)
    assert (found[: len(bits)] == bits).all()
    assert not found[len(bits) :].any()
    down = switch.to_fhew(up, np.arange(len(bits)), keys)
    # What gates leave has too much noise for these levels.
    with pytest.raises(LevelError, match="int16-deep"):
        switch.from_fhew(
            switch.fhew_engine.not_(switch.fhew_engine.nand(down[:2], down[:2], keys.fhew_bootstrap)), keys
        )
    assert (switch.fhew_engine.decrypt(down, lwe) == bits).all()


def test_results_of_gates_come_up_to_deep_integers() -> None:
    engine = IntegerEngine(preset="int16-deep", thread_count=0)
    switch = SchemeSwitch(engine, FhewEngine(bits=1, thread_count=0))
    secret, lwe = engine.create_secret_key(), switch.fhew_engine.create_secret_key()
    keys = switch.create_keys(secret, lwe)
    bits = np.random.default_rng(5).integers(0, 2, (2, 200)).astype(bool)
    down = switch.to_fhew(engine.encrypt(bits.ravel(), secret), np.arange(400).reshape(2, 200), keys)
    up = switch.from_fhew(switch.fhew_engine.xor(down[0], down[1], keys.fhew_bootstrap), keys)
    assert (engine.decrypt(up, secret)[:200] == bits[0] ^ bits[1]).all()
    assert up.level == switch.estimate("from_fhew").level == 15


@pytest.mark.parametrize(("bits", "method"), [(4, "switch lookup, back"), (8, "switch lookup_bytes, back")])
def test_the_programs_of_advice_run(bits: int, method: str) -> None:
    wish = Wish(20, bits, 1, "tables")
    way = next(way for way in table_ways(wish, []) if (way.preset, way.method) == ("int16", method))
    first, second, third, *rest = way.calls(1).splitlines()
    table = [(7 * m + 3) % 2**bits for m in range(2**bits)]
    names: dict[str, Any] = {
        "IntegerEngine": IntegerEngine,
        "SchemeSwitch": SchemeSwitch,
        "FhewEngine": FhewEngine,
    }
    exec(f"{first}\n{second}", names)
    engine, fhew = names["engine"], names["switch"].fhew_engine
    names |= {"secret_key": engine.create_secret_key(), "fhew_secret_key": fhew.create_secret_key()}
    given = np.random.default_rng(6).integers(0, 2**bits, 20)
    names |= {"x": engine.encrypt(given, names["secret_key"]), "slots": range(20), "table": table}
    exec("\n".join([third, *rest]), names)
    # Advice on tables of bytes is for the steepest.
    assert names["result"].level >= way.level_out
    found = engine.decrypt(names["result"], names["secret_key"])
    assert found[:20].tolist() == [table[m] for m in given]
    assert not found[20:].any()


def test_bench() -> None:
    for kind, bits, level in (("from-fhew", 1, 5), ("from-fhew", 4, 1), ("roundtrip", None, 6)):
        record = bench_scheme_switch(SchemeSwitchCase(kind, 65, bits, "int16", "lut4", threads=0), repeat=1)
        assert (record["kind"], record["wrong"]) == (f"integer-scheme-switch-{kind}", 0)
        assert (record["messages"], record["output_level"]) == (2 ** (bits or 1), level)
        assert record["switch_key_bytes"] < 60e6
