"""Integers at the real size over a bridge: bytes through a table of bytes, messages through one of 4 bits, and back."""

from __future__ import annotations

import numpy as np

from aglet import IntegerBridge, IntegerEngine, LookupEngine
from aglet.bridge.measure import BridgeCase, bench_bridge


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
    # Every slot, from the lowest level that goes down.
    nibbles = engine.encrypt(given % 16, secret, level=1)
    down = bridge.to_lookup(nibbles, np.arange(engine.slot_count), keys)
    assert (lookups.decrypt(down, lwe) == given % 16).all()
    squares = bridge.lookup(nibbles, places, lambda m: m * m % 16, keys)
    assert (lookups.decrypt(squares, lwe) == (given[places] % 16) ** 2 % 16).all()
    # Up again: what tables left, and every slot at once.
    up = bridge.from_lookup(squares, keys)
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
    assert (bridge.lookup_engine.decrypt(down, lwe) == bits).all()


def test_bench() -> None:
    for kind in ("up", "roundtrip"):
        record = bench_bridge(BridgeCase(kind, 64, 1, "int16", "lut4", threads=0), repeat=1)
        assert (record["kind"], record["wrong"], record["bits_worst"]) == (f"integer-bridge-{kind}", 0, 1)
        assert record["bridge_key_bytes"] < 60e6
