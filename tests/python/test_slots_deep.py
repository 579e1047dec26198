"""Tables of more levels than a bootstrap leaves: powers are bootstrapped on the way, and what needs them in slots."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from aglet import IntegerEngine, Session, SlotSession
from aglet.errors import LevelError, NoiseError, ParameterError, RangeError
from aglet_bench.arrays.slots import simulated
from digit_sets import toy as low
from mixed_sets import slots_engine

RANDOM = np.random.default_rng(11)


@functools.cache
def session() -> SlotSession:
    found = Session(slots_engine().create_keys(rotation=True))
    assert isinstance(found, SlotSession)
    return found


def bytes_of(shape: Any, dtype: Any = np.uint8) -> Any:
    return RANDOM.integers(0, 256, shape).astype(np.uint8).astype(dtype)


# Tables


@pytest.mark.parametrize(("count", "level", "bootstraps"), [(100, 8, 0), (100, 2, 1), (511, 8, 1), (8192, 7, 2)])
def test_a_long_table_takes_the_bootstraps_of_its_plan(count: int, level: int, bootstraps: int) -> None:
    engine, keys = slots_engine(), session().keys
    table = RANDOM.integers(-30000, 30000, count)
    x = RANDOM.integers(0, count, engine.slot_count)
    given = engine.mod_switch(engine.encrypt(x, keys.public), level)
    plan = engine.plan_lookup_in_parts(table, level)
    assert plan is not None
    assert plan.bootstraps == bootstraps
    reports: list[tuple[int, int, str]] = []
    found = engine.lookup(
        given, table, keys.relinearization, bootstrap_key=keys.bootstrap, progress=lambda *at: reports.append(at)
    )
    assert found.level == plan.output_level >= 1

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.lookup(given, table, keys.relinearization, bootstrap_key=keys.bootstrap, progress=stop)
    np.testing.assert_array_equal(engine.decrypt(found, keys.secret), table[x])
    assert all(0 <= done <= total for done, total, _ in reports)
    assert reports[-1][0] == reports[-1][1]
    assert reports[-1][2] == "table"
    np.testing.assert_array_equal(engine.decrypt(engine.bootstrap(found, keys.bootstrap), keys.secret), table[x])


def test_what_no_bootstrap_serves_is_refused() -> None:
    engine, keys = slots_engine(), session().keys
    x, table = engine.encrypt(np.arange(9), keys.public), np.arange(300) ** 2 % 977
    known: Any = {"bootstrap_key": keys.bootstrap}
    with pytest.raises(LevelError):
        engine.lookup(x, table, keys.relinearization)
    assert engine.plan_lookup_in_parts(table, 0) is None
    with pytest.raises(LevelError):
        engine.lookup(engine.mod_switch(x, 0), table, keys.relinearization, **known)
    with pytest.raises(ParameterError, match="bootstrap_many"):
        engine.lookup([x, x], np.arange(256) ** 2, keys.relinearization, **known)
    with pytest.raises(ParameterError):
        IntegerEngine(depth=9).plan_lookup_in_parts(table, 3)
    # A power of a noisy number has more noise than a bootstrap takes, and its bound says so.
    masks = [np.arange(engine.slot_count) % 7] * 2
    noisy = engine.weighted_sum([engine.mod_switch(x, 1)] * 2, masks)
    assert engine.noise_excess(noisy) > 10 > engine.noise_excess(x)
    with pytest.raises(NoiseError, match="more noise"):
        engine.lookup(noisy, table, keys.relinearization, **known)


# Arrays


_TWO: dict[str, Any] = {
    "sum": lambda x, y: x + y, "difference": lambda x, y: x - y, "sums of sums": lambda x, y: (x + y) - (y + y) + x,
    "after a sum": lambda x, y: (x + y) < y, "largest": lambda x, y: np.maximum(np.maximum(x, y), x - y),
    "smallest": lambda x, y: np.minimum(x + y, np.minimum(y, x)), "sum of one": lambda x, y: x + y // 7 + y // 5,
    "product": lambda x, y: x * y, "square": lambda x, y: x * x + y, "product after": lambda x, y: (x + y) * x,
    "bound": lambda x, y: x.astype(np.int16) - y > y, "clear": lambda x, y: np.maximum(x + x[::-1], x.dtype.type(9)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("name", _TWO)
def test_two_arrays_of_8_bits(name: str, dtype: Any) -> None:
    x, y = bytes_of(20, dtype), bytes_of(20, dtype)
    y[:3] = x[:3]
    own = session()
    found = _TWO[name](own.encrypt(x), own.encrypt(y))
    wanted = _TWO[name](x, y)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(own.decrypt(found), wanted)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_a_sum_beside_numbers_in_the_clear_wraps(dtype: Any) -> None:
    x, y, own = bytes_of(200, dtype), bytes_of(200, dtype), session()
    encrypted = own.encrypt(x)
    for product in (lambda a: a * y, lambda a: y * a):
        np.testing.assert_array_equal(own.decrypt(product(encrypted)), product(x))
    for call in (lambda a: a + y, lambda a: y - a, lambda a: a - y):
        found = call(encrypted)
        # Digits stay digits, so that the next sum takes short tables too.
        assert len(found.numbers.digits) == 2
        np.testing.assert_array_equal(own.decrypt(found), call(x))
    # From another offset there are no digits to add, and one table serves.
    near = np.clip(x, 3, 120)
    found = own.encrypt(near, bound=(3, 120)) + y
    np.testing.assert_array_equal(own.decrypt(found), near + y)


_ALONG: dict[str, Any] = {
    "max": lambda x: x.max(axis=0), "min": lambda x: np.min(x, axis=1, keepdims=True), "sort": np.sort,
    "sort of all": lambda x: np.sort(x, axis=None, kind="stable"), "sort of columns": lambda x: np.sort(x, axis=0),
    "argsort": lambda x: np.argsort(x, axis=0), "argmin": lambda x: x.argmin(axis=1, keepdims=True),
    "argmax": lambda x: np.argmax(x, axis=0), "one": lambda x: np.argsort(x[:1], axis=0),
    "copies": lambda x: np.sort(np.tile(x[:1, :2], 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", _ALONG)
def test_orders_along_an_axis(name: str) -> None:
    own = session()
    for clear, bound in (
        (RANDOM.integers(0, 12, (3, 4)).astype(np.uint8), (0, 11)),
        (RANDOM.integers(-90, 90, (4, 3)).astype(np.int16), (-90, 90)),
        (RANDOM.integers(0, 2, (3, 2)).astype(bool), None),
    ):
        found, wanted = _ALONG[name](own.encrypt(clear, bound=bound)), _ALONG[name](clear)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_array_equal(own.decrypt(found), wanted)


def test_orders_of_long_ranges() -> None:
    """Where numbers and places, or both halves of a stage, are too many for a table."""
    own = session()
    clear = RANDOM.integers(0, 4000, 5).astype(np.int16)
    clear[3] = clear[1]
    x = own.encrypt(clear, bound=(0, 3999))
    for call in (np.sort, np.argmin, np.argmax):
        np.testing.assert_array_equal(own.decrypt(call(x)), call(clear))
    for numbers in (x, own.encrypt(bytes_of(20)) + own.encrypt(bytes_of(20))):
        with pytest.raises(RangeError, match="assume"):
            np.argsort(numbers)
    with pytest.raises(RangeError, match="no axis"):
        np.sort(x[0])
    with pytest.raises(TypeError, match="out="):
        x.argmin(out=clear)


def test_without_a_bootstrap_the_refusal_names_its_key() -> None:
    own = session()
    alone = SlotSession(slots_engine(), replace(own.keys, bootstrap=None))
    x, y = (alone.encrypt(bytes_of(9)) for _ in range(2))
    # What digits reach takes no bootstrap.
    assert (x + y).level >= 1
    for call in (lambda: x.astype(np.int16) - y > 3, lambda: np.sort(x), lambda: x.argmin(), lambda: (x + y) + x):
        with pytest.raises(LevelError, match=r"keys have no bootstrap.*use_bootstrap=True"):
            call().forced()


def test_levels_without_a_bootstrap_serve_noisy_numbers() -> None:
    """16 times a digit has five bits of noise, which a table of nine levels made 395: a level goes for them."""
    engine = IntegerEngine(depth=19)
    own = Session(engine.create_keys())
    x, y = bytes_of(30), bytes_of(30)
    a, b = own.encrypt(x), own.encrypt(y)
    np.testing.assert_array_equal(own.decrypt(a.astype(np.int16) - b > 5), x.astype(np.int16) - y > 5)


# Plans


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x, y: x + y, (40,)), (lambda x, y: (x + y) - (x + x), (40,)), (np.maximum, (40,)),
        (lambda x, y: np.maximum(x + y, x), (40,)), (lambda x, y: x.max(axis=0), (6, 9)),
        (lambda x, y: np.sort(x), (9, 3)), (lambda x, y: x.argmin(axis=1), (9, 5)),
        (lambda x, y: x.astype(np.int16) * 2 - y > 30, (40,)),
    ],
)  # fmt: skip
def test_a_plan_counts_the_bootstraps_of_a_run(function: Any, shape: Any) -> None:
    engine, own = slots_engine(), session()
    shadow: Any = SimpleNamespace(digits=SimpleNamespace(engine=low()), done=Counter(), seconds=0.0, beside=0)
    planned = simulated(engine, shadow)
    function(*(planned.encrypt(np.zeros(shape, np.uint8), np.uint8) for _ in range(2))).forced()
    done, many = [], IntegerEngine.bootstrap_many

    def lookup(self: Any, digits: Any, table: Any, key: Any, bootstrap_key: Any = None) -> Any:
        if bootstrap_key is not None:
            plan = self.plan_lookup_in_parts(table, digits.level)
            done.extend([1] * (0 if plan is None else plan.bootstraps))
        return kept(self, digits, table, key, bootstrap_key=bootstrap_key)

    def bootstrap_many(self: Any, chunks: Any, key: Any) -> Any:
        done.extend([1] * len(chunks))
        return many(self, chunks, key)

    kept = IntegerEngine.lookup
    with mock.patch.multiple(IntegerEngine, lookup=lookup, bootstrap_many=bootstrap_many):
        x, y = bytes_of(shape), bytes_of(shape)
        found = function(own.encrypt(x), own.encrypt(y))
        np.testing.assert_array_equal(own.decrypt(found), function(x, y))
    assert shadow.done["refreshes"] == len(done)
    assert shadow.done["products"] > 0
