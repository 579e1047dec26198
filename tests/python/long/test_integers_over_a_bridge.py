"""Integers at the real size over a bridge: tables of bytes and of 4 bits, there and back; gates too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import IntegerBridge, IntegerEngine, LookupEngine
from aglet.advise import Wish
from aglet.bridge.measure import BridgeCase, bench_bridge
from aglet.bridge.table_advice import table_ways
from aglet.errors import LevelError


def test_integers_go_through_tables() -> None:
    engine = IntegerEngine(use_bootstrap=True, thread_count=0)
    bridge = IntegerBridge(engine, LookupEngine(preset="wide", thread_count=0))
    secret, lwe = engine.create_secret_key(), bridge.lookup_engine.create_secret_key()
    keys = bridge.create_keys(secret, lwe, packing=True)
    given = np.random.default_rng(3).integers(0, 256, engine.slot_count)
    x = engine.encrypt(given, secret)
    places = np.arange(0, engine.slot_count, 1021)
    high, low = bridge.lookup_bytes(x, places, lambda byte: (byte * 7 + 3) % 256, keys)
    lookups = bridge.lookup_engine
    found = 16 * lookups.decrypt(high, lwe) + lookups.decrypt(low, lwe)
    assert (found == (given[places] * 7 + 3) % 256).all()
    # Up again: a table drawn at random is noisier than most functions, and comes up where it was promised.
    drawn = np.random.default_rng(8).integers(0, 256, 256)
    promised, any_table = (bridge.estimate("lookup_bytes", up=True, **named) for named in ({"table": drawn}, {}))
    for nibble, expected in zip(
        bridge.lookup_bytes(x, places, drawn, keys), divmod(drawn[given[places]], 16), strict=True
    ):
        raised = bridge.from_lookup(nibble, keys)
        assert raised.level >= promised.level >= any_table.level
        assert (engine.decrypt(raised, secret)[: len(places)] == expected).all()
    # Every slot, from the lowest level that goes down.
    nibbles = engine.encrypt(given % 16, secret, level=1)
    down = bridge.to_lookup(nibbles, np.arange(engine.slot_count), keys)
    assert (lookups.decrypt(down, lwe) == given % 16).all()
    squares = bridge.lookup(nibbles, places, lambda m: m * m % 16, keys)
    assert (lookups.decrypt(squares, lwe) == (given[places] % 16) ** 2 % 16).all()
    # Up again: what tables left, and every slot at once.
    up = bridge.from_lookup(squares, keys)
    assert up.level == bridge.estimate("lookup", up=True).level == 2
    found = engine.decrypt(up, secret)
    assert (found[: len(places)] == (given[places] % 16) ** 2 % 16).all()
    assert not found[len(places) :].any()
    again = engine.bootstrap(bridge.from_lookup(down, keys), keys.bootstrap_key)
    assert (engine.decrypt(again, secret) == given % 16).all()


def test_ten_thousand_bits_come_up() -> None:
    engine = IntegerEngine(use_bootstrap=True, thread_count=0)
    bridge = IntegerBridge(engine, LookupEngine(bits=1, thread_count=0))
    secret, lwe = engine.create_secret_key(), bridge.lookup_engine.create_secret_key()
    keys = bridge.create_keys(secret, lwe)
    bits = np.random.default_rng(4).integers(0, 2, 10_000).astype(bool)
    up = bridge.from_lookup(bridge.lookup_engine.encrypt(bits, lwe), keys)
    found = engine.decrypt(up, secret)
    assert (found[: len(bits)] == bits).all()
    assert not found[len(bits) :].any()
    down = bridge.to_lookup(up, np.arange(len(bits)), keys)
    # What gates leave has too much noise for these levels.
    with pytest.raises(LevelError, match="int16-deep"):
        bridge.from_lookup(
            bridge.lookup_engine.not_(bridge.lookup_engine.nand(down[:2], down[:2], keys.lookup_key)), keys
        )
    assert (bridge.lookup_engine.decrypt(down, lwe) == bits).all()


def test_results_of_gates_come_up_to_deep_integers() -> None:
    engine = IntegerEngine(preset="int16-deep", thread_count=0)
    bridge = IntegerBridge(engine, LookupEngine(bits=1, thread_count=0))
    secret, lwe = engine.create_secret_key(), bridge.lookup_engine.create_secret_key()
    keys = bridge.create_keys(secret, lwe)
    bits = np.random.default_rng(5).integers(0, 2, (2, 200)).astype(bool)
    down = bridge.to_lookup(engine.encrypt(bits.ravel(), secret), np.arange(400).reshape(2, 200), keys)
    up = bridge.from_lookup(bridge.lookup_engine.xor(down[0], down[1], keys.lookup_key), keys)
    assert (engine.decrypt(up, secret)[:200] == bits[0] ^ bits[1]).all()
    assert up.level == bridge.estimate("from_lookup").level == 15


@pytest.mark.parametrize(("bits", "method"), [(4, "bridge lookup, up"), (8, "bridge lookup_bytes, up")])
def test_the_programs_of_advice_run(bits: int, method: str) -> None:
    wish = Wish(20, bits, 1, "tables")
    way = next(way for way in table_ways(wish, []) if (way.preset, way.method) == ("int16", method))
    first, second, third, *rest = way.calls(1).splitlines()
    table = [(7 * m + 3) % 2**bits for m in range(2**bits)]
    names: dict[str, Any] = {
        "IntegerEngine": IntegerEngine,
        "IntegerBridge": IntegerBridge,
        "LookupEngine": LookupEngine,
    }
    exec(f"{first}\n{second}", names)
    engine, lookups = names["engine"], names["bridge"].lookup_engine
    names |= {"secret_key": engine.create_secret_key(), "lwe_secret_key": lookups.create_secret_key()}
    given = np.random.default_rng(6).integers(0, 2**bits, 20)
    names |= {"x": engine.encrypt(given, names["secret_key"]), "slots": range(20), "table": table}
    exec("\n".join([third, *rest]), names)
    # Advice on tables of bytes is for the steepest.
    assert names["result"].level >= way.level_out
    found = engine.decrypt(names["result"], names["secret_key"])
    assert found[:20].tolist() == [table[m] for m in given]
    assert not found[20:].any()


def test_bench() -> None:
    for kind, bits, level in (("up", 1, 5), ("up", 4, 1), ("roundtrip", None, 6)):
        record = bench_bridge(BridgeCase(kind, 65, bits, "int16", "lut4", threads=0), repeat=1)
        assert (record["kind"], record["wrong"]) == (f"integer-bridge-{kind}", 0)
        assert (record["messages"], record["output_level"]) == (2 ** (bits or 1), level)
        assert record["bridge_key_bytes"] < 60e6
