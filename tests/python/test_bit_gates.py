"""Gates on bits in slots: every row of every truth table, and circuits that go on through bootstraps of bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import Engine
from aglet.errors import LevelError, ParameterError
from conftest import Keys

TABLES: dict[Any, Any] = {
    "and": np.logical_and,
    "nand": lambda x, y: ~np.logical_and(x, y),
    "or": np.logical_or,
    "nor": lambda x, y: ~np.logical_or(x, y),
    "xor": np.logical_xor,
    "xnor": lambda x, y: ~np.logical_xor(x, y),
}


def test_every_row_of_every_table(engine: Engine, keys: Keys) -> None:
    x, y = (np.arange(engine.slot_count) >> shift & 1 == 1 for shift in (0, 1))
    a, b = engine.encrypt(x.astype(float), keys.public, level=3), engine.encrypt(y.astype(float), keys.public, level=1)
    for name, table in TABLES.items():
        found = engine.bit_gate(name, a, b, keys.relinearization)
        assert found.level == 0
        assert np.abs(engine.decrypt(found, keys.secret).real - table(x, y)).max() < 2.0**-15, name
    negated = engine.not_bit(b)
    assert negated.level == 1
    assert np.abs(engine.decrypt(negated, keys.secret).real - ~y).max() < 2.0**-15


def test_what_is_no_gate_is_refused(engine: Engine, keys: Keys) -> None:
    low = engine.encrypt([1, 0], keys.public, level=0)
    with pytest.raises(ParameterError, match="choose one of and, nand"):
        engine.bit_gate("implies", low, low, keys.relinearization)  # type: ignore[arg-type]
    for name in TABLES:
        with pytest.raises(LevelError, match="bootstrap"):
            engine.bit_gate(name, low, low, keys.relinearization)
    with pytest.raises(TypeError):
        engine.bit_gate("and", low, 1, keys.relinearization)  # type: ignore[arg-type]


def test_gates_go_on_through_bootstraps_from_level_0(engine: Engine, keys: Keys) -> None:
    lossy = engine.create_lossy_bootstrap_key(keys.secret)
    generator = np.random.default_rng(5)
    bits = generator.integers(0, 2, (2, engine.slot_count)) == 1
    x, y = (engine.encrypt(row.astype(float), keys.public, level=2) for row in bits)
    first, second = bits
    refreshed = 0
    for name in [*TABLES, *TABLES]:
        if min(x.level, y.level) == 0:
            x, y = (
                engine.sign_bootstrap(bit, keys.relinearization, keys.conjugation, lossy, bits=True, real=True)
                for bit in (x, y)
            )
            assert x.level > 2
            x, y = engine.level_down(x, 2), engine.level_down(y, 2)
            refreshed += 1
        x, y = engine.bit_gate(name, x, y, keys.relinearization), engine.not_bit(engine.level_down(y, x.level - 1))
        first, second = TABLES[name](first, second), ~second
    assert refreshed == 5
    for ciphertext, expected in ((x, first), (y, second)):
        assert np.abs(engine.decrypt(ciphertext, keys.secret).real - expected).max() < 2.0**-12
