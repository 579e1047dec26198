"""`&`, `|` and `^` of two arrays in slots: every pair of bytes, other widths, bounds, and what a plan counts."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from aglet import IntegerEngine, Session, SlotSession
from aglet.errors import LevelError, RangeError
from mixed_sets import slots_engine

RANDOM = np.random.default_rng(29)
OPERATORS = [np.bitwise_and, np.bitwise_or, np.bitwise_xor]


@functools.cache
def session() -> SlotSession:
    found = Session(slots_engine().create_keys(rotation=True))
    assert isinstance(found, SlotSession)
    return found


def check(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(session().decrypt(found), wanted)
    low, high = found.bound
    assert low <= wanted.min() <= wanted.max() <= high


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_every_pair_of_bytes(dtype: Any) -> None:
    every = np.arange(256, dtype=np.uint8).astype(dtype)
    x, y = np.repeat(every, 256), np.tile(every, 256)
    a, b = (session().encrypt(one) for one in (x, y))
    for call in OPERATORS:
        found = call(a, b)
        # Digits stay digits, so that the next one takes short tables too.
        assert len(found.numbers.digits) == 2
        check(found, call(x, y))


@pytest.mark.parametrize("call", OPERATORS)
def test_bits_of_other_arrays(call: Any) -> None:
    own, size = session(), 90
    given = {
        "byte": (RANDOM.integers(0, 256, size, dtype=np.uint8), None), "flag": (RANDOM.integers(0, 2, size) > 0, None),
        "signed": (RANDOM.integers(-128, 128, size, dtype=np.int8), None),
        "few": (RANDOM.integers(0, 11, size, dtype=np.uint8), (0, 10)),
        "offset": (RANDOM.integers(16, 100, size, dtype=np.uint8), (16, 99)),
        "odd": (RANDOM.integers(3, 120, size, dtype=np.uint8), (3, 120)),
        "wide": (RANDOM.integers(-700, 901, size, dtype=np.int16), (-700, 900)),
        "near": (RANDOM.integers(-3, 4, size, dtype=np.int8), (-4, 3)),
    }  # fmt: skip
    held = {name: own.encrypt(clear, bound=bound) for name, (clear, bound) in given.items()}
    for one, (x, _) in given.items():
        for other, (y, _) in given.items():
            if one != other and "flag" not in (one, other):
                check(call(held[one], held[other]), call(x, y))
                check(call(held[one], y), call(x, y))
                check(call(y[::-1].copy(), held[one]), call(y[::-1], x))
    check(call(held["byte"], held["flag"]), call(given["byte"][0], given["flag"][0]))
    # What is still a table, and what moved.
    x, y = given["byte"][0], given["odd"][0]
    check(call(held["byte"] // 3, held["odd"]), call(x // 3, y))
    check(call(held["byte"][::-1], held["byte"]), call(x[::-1], x))
    check(call(held["near"], np.int8(-1) * np.ones(size, np.int8)), call(given["near"][0], np.int8(-1)))


def test_bits_of_bits_take_bootstraps() -> None:
    own = session()
    x, y, z = (RANDOM.integers(0, 256, (3, 40), dtype=np.uint8) for _ in range(3))
    a, b, c = (own.encrypt(one) for one in (x, y, z))
    check((a & b | c) ^ (a + b) & ~c, (x & y | z) ^ (x + y) & ~z)
    check(np.bitwise_xor(a ^ b, c) - (a | c), (x ^ y ^ z) - (x | z))
    zero = own.encrypt(np.zeros((3, 40), np.uint8), bound=(0, 0))
    check(a & zero, x & 0)
    check(a | zero, x)


def test_bits_share_tables_of_their_operands() -> None:
    """`x & y`, `x | y` and `x ^ y` look nibbles up once, and refresh what is low together."""
    own, many, asked = session(), IntegerEngine.lookup_many, []

    def lookup_many(self: Any, numbers: Any, tables: Any, key: Any, bootstrap_key: Any = None, **more: Any) -> Any:
        asked.append((len(numbers), len(tables)))
        return many(self, numbers, tables, key, bootstrap_key=bootstrap_key, **more)

    x, y = (RANDOM.integers(0, 256, 1500, dtype=np.uint8) for _ in range(2))
    a, b = own.encrypt(x), own.encrypt(y)
    with mock.patch.object(IntegerEngine, "lookup_many", lookup_many):
        for call in OPERATORS:
            check(call(a, b), call(x, y))
    # Two nibbles of each operand, in two ciphertexts, with four bits.
    assert asked == [(2, 4)] * 4


def test_what_bits_refuse() -> None:
    own = session()
    x = own.encrypt(RANDOM.integers(0, 256, 9, dtype=np.uint8))
    wide = own.encrypt(np.arange(9, dtype=np.int16), bound=(0, 9000))
    check(x ^ wide, own.decrypt(x) ^ own.decrypt(wide))
    both = own.encrypt(np.arange(9, dtype=np.int8)) ^ own.encrypt(np.arange(9, dtype=np.uint16))
    check(both, np.zeros(9, dtype=np.int32))
    with pytest.raises(RangeError, match=r"both lie in digits.*x\.assume"):
        _ = own.encrypt(np.arange(9), bound=(0, 9000)) ^ own.encrypt(np.arange(9, dtype=np.uint16))
    check(x.astype(np.int64) | np.full(9, 1 << 20), own.decrypt(x).astype(np.int64) | 1 << 20)
    with pytest.raises(RangeError, match="both lie in digits"):
        _ = x.astype(np.int64) | np.full(9, 1 << 40)
    # Of more bits `&` takes those that both may have.
    check(x.astype(np.int64) & np.full(9, (1 << 20) + 7), own.decrypt(x).astype(np.int64) & 7)
    with pytest.raises(TypeError):
        _ = x.astype(np.int64) & np.full(9, 1, dtype=np.uint64)
    alone = SlotSession(slots_engine(), replace(own.keys, bootstrap=None))
    y = alone.encrypt(np.arange(9, dtype=np.uint8))
    with pytest.raises(LevelError, match="keys have no bootstrap"):
        _ = (y & y[::-1]) & y
