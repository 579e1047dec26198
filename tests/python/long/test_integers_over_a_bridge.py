"""Integers at the real size over a bridge: bytes through a table of bytes, messages through one of four bits."""

from __future__ import annotations

import numpy as np

from aglet import IntegerBridge, IntegerEngine, LookupEngine


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
