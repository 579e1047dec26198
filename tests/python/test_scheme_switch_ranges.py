"""What switches know of sizes and noise: the ends of every range, ties, and what is refused because it is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet.errors import MemoryLimitError, RangeError
from scheme_switch_sides import Sides

BITS = 12


@pytest.fixture(scope="module")
def gates() -> Sides:
    return Sides(10, 1)


@pytest.fixture(scope="module")
def tables() -> Sides:
    return Sides(11, 4)


@pytest.mark.parametrize("bound", [None, 1.0])
def test_values_at_the_ends_are_compared_right(tables: Sides, bound: float | None) -> None:
    x = np.array([0.6, -0.6, 1.0, -1.0, 1.0, -1.0, 0.75, 0.0, -1.0])
    y = np.array([-0.6, 0.6, -1.0, 1.0, 1.0, -1.0, -0.5, 1.0, 0.0])
    first, second = (tables.engine.encrypt(values, tables.secret, bound=bound) for values in (x, y))
    for order, wanted in ((">=", x >= y), ("<=", x <= y)):
        found = tables.switch.compare(order, first, second, range(len(x)), tables.keys, bits=BITS)
        assert (tables.decrypt(found) == wanted).all()


@pytest.mark.parametrize("bits", [2, 3, 4, 5])
def test_few_bits_reach_the_ends_too(tables: Sides, bits: int) -> None:
    x = np.array([1.0, -1.0, 0.75, -0.75])
    ct, keys = tables.engine.encrypt(x, tables.secret, bound=1), tables.keys
    assert (tables.decrypt(tables.switch.sign(ct, range(len(x)), keys, bits=bits)) == (x > 0)).all()
    other = tables.engine.encrypt(-x, tables.secret, bound=1)
    assert (tables.decrypt(tables.switch.compare(">=", ct, other, range(len(x)), keys, bits=bits)) == (x > 0)).all()
    rows = tables.switch.argmax(ct, [[0, 1], [1, 0], [2, 3]], keys, bits=bits)
    assert tables.decrypt(rows).tolist() == [0, 1, 0]


@pytest.mark.parametrize("bound", [None, 1.0])
def test_rows_at_the_ends_are_ranked_right(tables: Sides, bound: float | None) -> None:
    rows = np.array([[1.0, -1.0, -0.5], [-1.0, 0.9, 1.0], [0.0, 1.0, -1.0]])
    x = tables.engine.encrypt(rows.ravel(), tables.secret, bound=bound)
    places, switch, keys = np.arange(9).reshape(3, 3), tables.switch, tables.keys
    assert (tables.decrypt(switch.argmax(x, places, keys, bits=BITS)) == rows.argmax(axis=1)).all()
    assert (tables.decrypt(switch.argmin(x, places, keys, bits=BITS)) == rows.argmin(axis=1)).all()
    two = tables.decrypt(switch.top_k(x, places, 2, keys, bits=BITS))
    assert (two == (rows > rows.min(axis=1, keepdims=True))).all()


def test_declared_sizes_decide_how_fine_is_read(tables: Sides) -> None:
    engine, switch, keys = tables.engine, tables.switch, tables.keys
    unit = 2.0**-7
    x, y = np.array([0.5, 0.5 - unit, -0.5]), np.array([0.5 - unit, 0.5, 0.5])

    def compared(declared: float | None, **said: Any) -> list[int]:
        first, second = (engine.encrypt(values, tables.secret, bound=declared) for values in (x, y))
        found: list[int] = tables.decrypt(switch.compare(">=", first, second, range(3), keys, bits=8, **said)).tolist()
        return found

    # A unit of 8 bits is 2^-7 of the range.
    assert compared(0.5) == compared(None, bound=0.5) == compared(1.0, bound=(-0.5, 0.5)) == [1, 0, 0]
    # The sign of what is less than a unit is of one side or the other, and that of what is more is right.
    assert compared(1.0)[::2] == [1, 0]
    larger = engine.encrypt([3.0, -3.5, 2.0], tables.secret)
    assert tables.decrypt(switch.argmax(larger, range(3), keys, bits=BITS, bound=4)) == 0
    assert tables.decrypt(switch.sign(larger, range(3), keys, bits=BITS, bound=4)).tolist() == [1, 0, 1]
    read = tables.decrypt(switch.to_fhew(larger, range(3), keys, bits=8, bound=4))
    assert (read == [96, -112, 64]).all()


def _calls(sides: Sides) -> list[Callable[..., Any]]:
    switch, keys = sides.switch, sides.keys
    return [
        lambda x, **said: switch.sign(x, [0], keys, bits=8, **said),
        lambda x, **said: switch.compare(">=", x, x, [0], keys, bits=8, **said),
        lambda x, **said: switch.argmin(x, [0, 1], keys, bits=8, **said),
        lambda x, **said: switch.argmax(x, [0, 1], keys, bits=8, **said),
        lambda x, **said: switch.top_k(x, [0, 1], 1, keys, bits=8, **said),
        lambda x, **said: switch.to_fhew(x, [0], keys, bits=8, **said),
    ]


def test_values_that_may_be_too_large_are_refused(tables: Sides) -> None:
    engine = tables.engine
    known = engine.encrypt([1.5, 0.0], tables.secret)
    declared = engine.encrypt([0.5, 0.0], tables.secret, bound=1.5)
    for call in _calls(tables):
        for x in (known, declared):
            with pytest.raises(RangeError, match=r"larger than (the given bound )?1\b|as large as 1\.5"):
                call(x)
        call(declared, bound=1)
        with pytest.raises(RangeError, match="larger than the given bound 1"):
            call(known, bound=1)
    messages = engine.encrypt([3.0], tables.secret, bound=20)
    with pytest.raises(RangeError, match="as large as 20"):
        tables.switch.lookup(messages, [0], lambda m: m, tables.keys)
    assert tables.decrypt(tables.switch.lookup(messages, [0], lambda m: m, tables.keys, bound=15)) == 3
    # What is nearly 15 is 15.
    assert tables.decrypt(tables.switch.to_fhew(engine.encrypt([15.001], tables.secret), [0], tables.keys)) == 15


def test_what_nobody_knows_the_noise_of_is_refused(gates: Sides) -> None:
    engine, switch, keys = gates.engine, gates.switch, gates.keys
    bits = np.arange(64) % 3 == 0

    def there_and_back(bound: float | None) -> Any:
        x = engine.encrypt(bits.astype(float), gates.secret, bound=bound)
        return engine.multiply(engine.multiply(x, 2.0**-32), 2.0**32)

    with pytest.raises(RangeError, match="noise of this ciphertext is not known"):
        switch.to_fhew(there_and_back(None), range(64), keys)
    # Who declared a size has the noise, which is far too much for a gate.
    low = switch.to_fhew(there_and_back(1.0), range(64), keys)
    with pytest.raises(RangeError, match="would fail"):
        switch.fhew_engine.nand(low, low, keys.fhew_bootstrap)
    product = engine.multiply(engine.encrypt(bits.astype(float), gates.secret), 1.0)
    with pytest.raises(RangeError, match="noise="):
        switch.to_fhew(product, [0], keys)
    said = switch.to_fhew(product, range(64), keys, noise=2.0**-12)
    assert (gates.decrypt(switch.fhew_engine.nand(said, said, keys.fhew_bootstrap)) == ~bits).all()
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(RangeError, match="not positive"):
            switch.to_fhew(product, [0], keys, noise=wrong)


def test_comparisons_of_other_levels_know_their_noise(tables: Sides) -> None:
    engine, switch, keys = tables.engine, tables.switch, tables.keys
    x, y = (engine.encrypt([value], tables.secret, level=level) for value, level in ((0.3, 5), (0.2, 2)))
    assert tables.decrypt(switch.compare(">=", x, y, [0], keys, bits=BITS)) == 1
    assert tables.decrypt(switch.compare("<=", x, y, [0], keys, bits=BITS)) == 0


def test_more_values_than_memory_are_refused(gates: Sides) -> None:
    x = gates.engine.encrypt([1.0], gates.secret)
    with pytest.raises(MemoryLimitError, match="take fewer at once"):
        gates.switch.to_fhew(x, np.zeros(2 * 10**7, dtype=np.int64), gates.keys)
