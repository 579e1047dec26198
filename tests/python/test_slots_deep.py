"""Tables of more levels than a bootstrap leaves: powers are bootstrapped on the way, and what needs them in slots."""

from __future__ import annotations

import functools
import warnings
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


def test_several_numbers_share_bootstraps_and_several_tables_powers() -> None:
    engine, keys = slots_engine(), session().keys
    tables = RANDOM.integers(-30000, 30000, (3, 300))
    x = RANDOM.integers(0, 300, (2, engine.slot_count))
    given = [engine.mod_switch(engine.encrypt(row, keys.public), level) for row, level in zip(x, (8, 6), strict=True)]
    plan, one = engine.plan_lookup_in_parts(tables, 6), engine.plan_lookup_in_parts(tables[0], 6)
    assert plan is not None
    assert one is not None
    assert one.relinearizations < plan.relinearizations < 2 * one.relinearizations
    found = engine.lookup_many(given, tables, keys.relinearization, bootstrap_key=keys.bootstrap)
    for row, results in zip(x, found, strict=True):
        assert len(results) == len(tables)
        for table, result in zip(tables, results, strict=True):
            assert plan.output_level <= result.level
            assert engine.noise_excess(result) <= plan.noise_excess + 0.01
            np.testing.assert_array_equal(engine.decrypt(result, keys.secret), table[row])
    # Four bits of a nibble, and two functions of two digits.
    bits = np.arange(16) >> np.arange(4)[:, None] & 1
    assert engine.plan_lookup(bits) == (4, 16)
    low, high = (engine.encrypt(row % 16, keys.public) for row in x)
    assert engine.plan_lookup(bits, spare_levels=1) == engine.plan_lookup(bits, spare_levels=10**9) == (5, 11)
    for spare in (0, 1):
        results = engine.lookup_many([low], bits, keys.relinearization, spare_levels=spare)[0]
        for table, result in zip(bits, results, strict=True):
            assert result.level == 4 - spare
            np.testing.assert_array_equal(engine.decrypt(result, keys.secret), table[x[0] % 16])
    with pytest.raises(ParameterError, match="spare_levels"):
        engine.lookup_many([low], bits, keys.relinearization, spare_levels=-1)
    pair = np.stack([np.arange(256) % 17, np.arange(256) // 16])
    assert engine.plan_lookup(pair, 2) == (6, 30)
    for table, result in zip(pair, engine.lookup_many([[low, high]], pair, keys.relinearization)[0], strict=True):
        np.testing.assert_array_equal(engine.decrypt(result, keys.secret), table[x[0] % 16 + x[1] % 16 * 16])
    for tables in ([], [[1, 2], [1, 2, 3]], np.ones((1, 2, 3), dtype=int)):
        with pytest.raises(RangeError):
            engine.lookup_many(given, tables, keys.relinearization)
    with pytest.raises(ParameterError, match="same count of digits"):
        engine.lookup_many([low, [low, high]], pair, keys.relinearization)


def test_a_sum_of_products_is_relinearized_once() -> None:
    engine, keys = slots_engine(), session().keys
    x = RANDOM.integers(-100, 100, (4, engine.slot_count))
    a, b, c, d = (engine.encrypt(row, keys.public) for row in x)
    found = engine.product_sum([a, engine.mod_switch(c, 3)], [b, d], keys.relinearization)
    assert found.level == 2
    assert engine.noise_excess(found) < 1
    wanted = (x[0] * x[1] + x[2] * x[3] + 32768) % engine.plaintext_modulus - 32768
    np.testing.assert_array_equal(engine.decrypt(found, keys.secret), wanted)
    # More pairs than are added in one operation.
    many = engine.product_sum([a, b, c] * 50, [d, c, b] * 50, keys.relinearization)
    wanted = 50 * (x[0] * x[3] + 2 * x[1] * x[2])
    np.testing.assert_array_equal(
        engine.decrypt(many, keys.secret), (wanted + 32768) % engine.plaintext_modulus - 32768
    )
    with pytest.raises(RangeError, match="give as many of each"):
        engine.product_sum([a], [b, c], keys.relinearization)
    with pytest.raises(RangeError, match="at least one product"):
        engine.product_sum([], [], keys.relinearization)
    with pytest.raises(LevelError):
        engine.product_sum([engine.mod_switch(a, 0)], [b], keys.relinearization)


def test_comparisons_and_polynomials_with_a_bootstrap_key() -> None:
    engine, keys = slots_engine(), session().keys
    relin, known = keys.relinearization, {"bootstrap_key": keys.bootstrap}
    x, y = RANDOM.integers(0, 256, (2, engine.slot_count))
    y[:50] = x[:50]
    for level, bootstraps in ((8, 1), (4, 2)):
        a, b = (engine.mod_switch(engine.encrypt(row, keys.public), level) for row in (x, y))
        plan = engine.plan_compare_in_parts(8, level)
        assert plan is not None
        assert plan.bootstraps == bootstraps
        for call, wanted in ((engine.less, x < y), (engine.equal, x == y), (engine.maximum, np.maximum(x, y))):
            with pytest.raises(LevelError):
                call(a, b, relin, bits=8)
            found = call(a, b, relin, bits=8, **known)
            assert found.level >= plan.output_level
            np.testing.assert_array_equal(engine.decrypt(found, keys.secret), wanted)
    coefficients = RANDOM.integers(0, 65537, 300)
    plan = engine.plan_polynomial_in_parts(coefficients, 7)
    assert plan is not None
    assert plan.bootstraps == 1
    a = engine.mod_switch(engine.encrypt(x, keys.public), 7)
    with pytest.raises(LevelError):
        engine.evaluate_polynomial(a, coefficients, relin)
    found = engine.evaluate_polynomial(a, coefficients, relin, **known)
    wanted = np.zeros(len(x), dtype=np.int64)
    for c in coefficients[::-1]:
        wanted = (wanted * x + c) % 65537
    np.testing.assert_array_equal(engine.decrypt(found, keys.secret) % 65537, wanted)
    # What needs no bootstrap is as without the key.
    found = engine.evaluate_polynomial(a, [1, 2, 3], relin, **known)
    np.testing.assert_array_equal(engine.decrypt(found, keys.secret) % 65537, (1 + 2 * x + 3 * x * x) % 65537)
    with pytest.raises(RangeError, match="8192 values"):
        engine.evaluate_polynomial(a, np.arange(9000), relin, **known)
    with pytest.raises(ParameterError, match="constant"):
        engine.evaluate_polynomial(a, [3, 65537], relin, **known)
    with pytest.raises(LevelError):
        engine.less(engine.mod_switch(a, 0), a, relin, bits=8, **known)
    for plan_of in (lambda e: e.plan_compare_in_parts(8, 3), lambda e: e.plan_polynomial_in_parts([1, 2], 3)):
        with pytest.raises(ParameterError):
            plan_of(IntegerEngine(depth=9))


def test_a_polynomial_of_a_message_polynomial_takes_a_bootstrap_key() -> None:
    """Where integers are coefficients, x^k is the power of the polynomial, and bootstraps keep it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = IntegerEngine(preset="toy-int16", packing="coefficients", allow_insecure=True)
    secret = engine.create_secret_key()
    relin, key = engine.create_relinearization_key(secret), engine.create_bootstrap_key(secret)
    x = engine.mod_switch(engine.encrypt([0, 1], secret), 1)
    found = engine.evaluate_polynomial(x, [5, 0, 0, 1, 0, 7], relin, bootstrap_key=key)
    np.testing.assert_array_equal(engine.decrypt(found, secret)[:8], [5, 0, 0, 1, 0, 7, 0, 0])


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
    np.testing.assert_array_equal(own.decrypt(np.argsort(x)), np.argsort(clear, kind="stable"))
    with pytest.raises(RangeError, match=r"do not fit slots.*declare a smaller range"):
        np.argsort(own.encrypt(np.tile(clear, 4), bound=(0, 3999)))
    one, other = bytes_of(20), bytes_of(20)
    # Of 5,120 numbers digits have an order, and no table their differences.
    found: Any = np.argsort(own.encrypt(one) + own.encrypt(other))
    np.testing.assert_array_equal(own.decrypt(found), np.argsort(one + other, kind="stable"))
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
        (lambda x, y: x.astype(np.int16) * 2 - y > 30, (40,)), (lambda x, y: (x ^ y) | x, (40,)),
        (lambda x, y: (x.astype(np.int16) - y) & x, (40,)), (lambda x, y: x & (x // 3 | y), (2100,)),
    ],
)  # fmt: skip
def test_a_plan_counts_the_bootstraps_of_a_run(function: Any, shape: Any) -> None:
    engine, own = slots_engine(), session()
    shadow: Any = SimpleNamespace(digits=SimpleNamespace(engine=low()), done=Counter(), seconds=0.0, beside=0)
    planned = simulated(engine, shadow)
    forecast = function(*(planned.encrypt(np.zeros(shape, np.uint8), np.uint8) for _ in range(2))).forced()
    done, many = [], IntegerEngine.bootstrap_many

    def lookup_many(self: Any, numbers: Any, tables: Any, key: Any, bootstrap_key: Any = None, **more: Any) -> Any:
        if bootstrap_key is not None:
            plan = self.plan_lookup_in_parts(tables, min(one.level for one in numbers))
            done.extend([1] * (0 if plan is None else plan.bootstraps) * len(numbers))
        return kept(self, numbers, tables, key, bootstrap_key=bootstrap_key, **more)

    def bootstrap_many(self: Any, chunks: Any, key: Any) -> Any:
        done.extend([1] * len(chunks))
        return many(self, chunks, key)

    kept = IntegerEngine.lookup_many
    with mock.patch.multiple(IntegerEngine, lookup_many=lookup_many, bootstrap_many=bootstrap_many):
        x, y = bytes_of(shape), bytes_of(shape)
        found = function(own.encrypt(x), own.encrypt(y))
        np.testing.assert_array_equal(own.decrypt(found), function(x, y))
    assert shadow.done["refreshes"] == len(done)
    assert shadow.done["products"] > 0
    # Levels are those of the run but for one, and noise is that of the law but for fractions of a bit.
    for chunks, others in zip(found.forced().digits, forecast.digits, strict=True):
        for chunk, other in zip(chunks, others, strict=True):
            assert abs(chunk.level - other.level) <= 1
            assert abs(engine.noise_excess(chunk) - other.noise.bits) < 1


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: np.argsort(np.where(np.max(x, axis=-1, keepdims=True) - x > 2, x, x), axis=0), (4, 1)),
        (lambda x: (x + x[::-1])[..., None] + x, (20,)), (lambda x: (x[::-1] == x) % np.int8(1), (9,)),
        (lambda x: np.where((y := np.minimum(x, x[::-1])) > 2, y - x, x), (9,)),
        (lambda x: np.minimum(x.astype(np.int16), 3) * 5 - x[::-1], (9,)),
    ],
)  # fmt: skip
def test_at_the_real_size_numbers_are_bootstrapped_in_time(function: Any, shape: Any) -> None:
    """Noise of the law, of which a ring of tests has five bits less: what is left can be bootstrapped once more."""
    shadow: Any = SimpleNamespace(digits=SimpleNamespace(engine=low()), done=Counter(), seconds=0.0, beside=0)
    own = simulated(IntegerEngine(preset="int16"), shadow)
    for dtype in (np.uint8, np.int8):
        found = function(own.encrypt(np.zeros(shape, dtype), dtype)).forced()
        assert found.level >= 1
        found.refreshed(own)


def test_a_simulated_bootstrap_refuses_what_a_real_one_refuses() -> None:
    shadow: Any = SimpleNamespace(digits=SimpleNamespace(engine=low()), done=Counter(), seconds=0.0, beside=0)
    own = simulated(IntegerEngine(preset="int16"), shadow)
    [chunk] = own.encrypt(np.arange(9), bound=(0, 9)).numbers.digits[0]
    at_1 = own.engine.mod_switch(chunk, 1)
    own.bootstrapped([at_1, own.engine.multiply(at_1, 8)])
    with pytest.raises(NoiseError, match="more noise"):
        own.bootstrapped([own.engine.multiply(at_1, 9)])
    with pytest.raises(LevelError):
        own.bootstrapped([own.engine.mod_switch(chunk, 0)])
