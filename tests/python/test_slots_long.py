"""Numbers of 32 bits in slots, in eight digits: operators at the ends of digits, casts, and what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import EncryptedIntegers, EncryptedSlots
from aglet.arrays.slots.products import _most, _Shape
from aglet.errors import RangeError
from mixed_sets import three
from test_slots_wide import check, counted_bootstraps, session, simulated_refreshes

RANDOM = np.random.default_rng(32)
ENDS = [0, 1, 2, 15, 16, 17, 255, 256, 65535, 65536, 65537, 2**20 - 1, 2**28 - 1, 2**28, 2**31 - 1]
OPERATORS = [
    np.add, np.subtract, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.less, np.less_equal, np.greater,
    np.greater_equal, np.equal, np.not_equal, np.minimum, np.maximum,
]  # fmt: skip


def pairs(dtype: Any) -> tuple[Any, Any]:
    """1,024 pairs: of the ends of digits, equal ones, and random ones."""
    ends = np.array([*ENDS, *(2**32 - 1 - end for end in ENDS)], dtype=np.uint32)
    x, y = (np.array(list(itertools.product(ends, ends)), dtype=np.uint32)[:, at] for at in range(2))
    more = RANDOM.integers(0, 2**32, (2, 1024 - len(x)), dtype=np.uint32)
    more[1, :20] = more[0, :20]
    more[1, 20:40] = more[0, 20:40] + np.uint32(1)
    return tuple(np.concatenate(one).view(dtype) for one in ((x, more[0]), (y, more[1])))  # type: ignore[return-value]


@pytest.mark.parametrize("call", OPERATORS)
@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_operators_at_the_ends_of_digits(call: Any, dtype: Any) -> None:
    x, y = pairs(dtype)
    a, b = (session().encrypt(one) for one in (x, y))
    assert (a.numbers.shape, a.bound) == ((8, 1), (np.iinfo(dtype).min, np.iinfo(dtype).max))
    check(call(a, b), call(x, y))
    check(call(a, y), call(x, y))
    check(call(x, b), call(x, y))
    check(call(a, dtype(77)), call(x, dtype(77)))
    check(call(70_000, a), call(70_000, x))


def test_sums_of_64_bits_that_32_bits_hold() -> None:
    wide, long = np.dtype(np.uint32), np.dtype(np.int64)
    x, y = (one.astype(wide) >> 1 for one in pairs(np.uint32))
    a, b = (session().encrypt(one, bound=(0, 2**31 - 1)).astype(long) for one in (x, y))
    x, y = x.astype(long), y.astype(long)
    check(a + b, x + y)
    check(a - b, x - y)
    check(a - (2**31 - 1), x - (2**31 - 1))
    check((a - b) - 1, (x - y) - 1)
    words = RANDOM.integers(0, 2**16, (2, 900)).astype(np.uint16)
    check(np.add(*(session().encrypt(one).astype(long) for one in words)), words.astype(long).sum(0))
    # Nine digits have 33 bits and a sign, and up to 35.
    check((a + b) + b, (x + y) + y)
    check(((a + b) + b) > a, ((x + y) + y) > x)
    check(-(a + b), -(x + y))
    check((a + b) - 2**33, (x + y) - 2**33)
    with pytest.raises(RangeError, match="do not fit slots"):
        (a + b) + 2**35


def test_numbers_of_64_bits_that_32_bits_hold() -> None:
    x, y = np.array([[5, 70_000, 2**31 - 1], [0, 2**20, 255]]), np.array([[5, 2**31 - 1, 3], [1, 2**20, 256]])
    a, b = (session().encrypt(one, bound=(0, 2**31 - 1)) for one in (x, y))
    assert (a.dtype, a.numbers.shape) == (np.dtype(np.int64), (8, 1))
    for call in OPERATORS:
        if call is np.multiply:
            # No 32 bits hold the products of all.
            continue
        check(call(a, b), call(x, y))
        check(call(a, y), call(x, y))
    check(np.sort(a - b, axis=1), np.sort(x - y, axis=1))
    check(a.astype(np.uint8, casting="unsafe"), x.astype(np.uint8))
    check(np.where(x > 5, a, 2**30), np.where(x > 5, x, 2**30))
    check(np.concatenate([a, b - 70_000]), np.concatenate([x, y - 70_000]))
    least = session().encrypt(-x, bound=(-(2**31), 0))
    check(least < a, -x < x)
    check(least, -x)
    unsigned = session().encrypt(x.astype(np.uint64), bound=(0, 2**32 - 1))
    check(np.maximum(unsigned, np.uint64(2**32 - 1)), np.maximum(x.astype(np.uint64), np.uint64(2**32 - 1)))
    for bound in ((-1, 2**31), (0, 2**32), None):
        with pytest.raises(RangeError, match="do not fit slots"):
            session().encrypt(x, bound=bound)


def test_differences_of_uint64_that_wrap_are_refused() -> None:
    # Digits of 32 bits would hold -1, which is 2^64 - 1 of uint64 and above all others.
    x, y = (np.array(one, dtype=np.uint32) for one in ([5, 70_000, 0], [2**20, 3, 1]))
    a, b = (session().encrypt(one, bound=(0, 2**20)).astype(np.uint64) for one in (x, y))
    x, y = x.astype(np.uint64), y.astype(np.uint64)
    check(a + b, x + y)
    check((a + np.uint64(2**20)) - b, (x + np.uint64(2**20)) - y)
    for call in (lambda: a - b, lambda: a - np.uint64(1), lambda: y - b, lambda: -a):
        with pytest.raises(RangeError, match="do not fit slots"):
            call()


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_chains_of_operators(dtype: Any) -> None:
    x, y = pairs(dtype)
    a, b = (session().encrypt(one) for one in (x, y))
    check(-a, -x)
    check(~a, ~x)
    check((a + b) - x[::-1], (x + y) - x[::-1])
    check(np.where(a < b, a ^ b, y), np.where(x < y, x ^ y, y))
    check(np.clip(a, 1000, 2**30), np.clip(x, 1000, 2**30))
    check(np.maximum(abs(a) if dtype is np.int32 else a, 5), np.maximum(abs(x), dtype(5)))
    check(a == a, x == x)
    check(np.where(a > b, a, a), x)
    check(np.sort(a[:9]), np.sort(x[:9]))
    check(a[:32].reshape(4, 8).max(axis=0), x[:32].reshape(4, 8).max(axis=0))
    check(a[:7].argmin(), np.asarray(x[:7].argmin()))
    check(np.concatenate([a[:5], b[:3], session().encrypt(x[:2].astype(np.uint8) if dtype is np.uint32 else x[:2])]),
          np.concatenate([x[:5], y[:3], x[:2].astype(np.uint8) if dtype is np.uint32 else x[:2]]))  # fmt: skip
    check((a != 0).any(), np.asarray((x != 0).any()))
    check(a & a, x & x)
    beyond = [a < -(2**40), a != 2**40, a < 2**40]
    for found, answer in zip(beyond, (False, True, True), strict=True):
        check(found, np.full(x.shape, answer))


def test_bootstraps_of_runs_and_of_plans() -> None:
    """A sum bootstraps the digit that the first four carry to, a comparison what is decided of each four."""
    x, y = pairs(np.uint32)
    calls: list[tuple[Any, int]] = [
        (lambda x, y: x + y, 1), (lambda x, y: x - y, 1), (lambda x, y: x & y, 0), (lambda x, y: x < y, 2),
        (lambda x, y: x == y, 2), (lambda x, y: x * y, 10), (lambda x, y: x * x, 10),
        (lambda x, y: x * np.uint32(70_001), 7), (lambda x, y: (x ^ y) * y, 18),
        (lambda x, y: np.where(x < y, x, y), 3), (lambda x, y: x.astype(np.uint16, casting="unsafe"), 0),
    ]  # fmt: skip
    for number, (call, bootstraps) in enumerate(calls):
        with counted_bootstraps() as done:
            check(call(session().encrypt(x), session().encrypt(y)), call(x, y))
        assert (done["refreshes"], simulated_refreshes(call, x, y)) == (bootstraps, bootstraps), number


def test_products() -> None:
    """Of one array, of some digits, of what other operations made, and of small numbers in 64 bits."""
    for dtype in (np.uint32, np.int32):
        x, y = pairs(dtype)
        a, b = (session().encrypt(one) for one in (x, y))
        check(np.square(a), np.square(x))
        check((a + b) * a * y, (x + y) * x * y)
        check(a * dtype(0), x * dtype(0))
        check(a * dtype(2**28), x * dtype(2**28))
        check(a[:1] * np.zeros(5, dtype), x[:1] * np.zeros(5, dtype))
        few = (y >> 12 if dtype is np.uint32 else y >> 24).astype(dtype)
        ends = (0, 2**20 - 1) if dtype is np.uint32 else (-128, 127)
        check(session().encrypt(few, bound=ends) * a, few * x)
    words, signed = RANDOM.integers(0, 2**16, (2, 1024)).astype(np.uint16)
    words[:4], signed[:4] = (0, 65535, 65535, 1), (65535, 32768, 32767, 32768)
    signed = signed.view(np.int16)
    a, b = (session().encrypt(one) for one in (words, signed))
    check(a * b, words * signed)
    check(signed * a, signed * words)
    check(a.astype(np.uint32) * a.astype(np.uint32), words.astype(np.uint32) ** 2)
    check(a.astype(np.int64) * b.astype(np.int64), words.astype(np.int64) * signed)
    small, long = words.astype(np.uint8), pairs(np.uint32)[0]
    check(session().encrypt(small) * session().encrypt(long), small * long)
    check(a * session().encrypt(long.view(np.int32)), words * long.view(np.int32))


def test_what_columns_of_a_product_may_be() -> None:
    shape = _Shape(8, 8, 8, 0, 8, 0)
    products = np.outer(np.arange(16), np.arange(16))
    low, high = products % 16, products // 16
    # The low digits of x0 y1 and x1 y0, and the high one of x0 y0.
    column = low[:, None, None, :] + low[None, :, :, None] + high[:, None, :, None]
    assert column.max() == _most(1, shape)
    assert [_most(at, shape) for at in range(8)] == [15, 44, 67, 91, 114, 138, 161, 185]
    x, y = RANDOM.integers(0, 16, (2, 8, 100_000))
    for at in range(8):
        found = sum(low[x[i], y[at - i]] for i in range(at + 1)) + sum(high[x[i], y[at - 1 - i]] for i in range(at))
        assert np.max(found) <= _most(at, shape)


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_casts(dtype: Any) -> None:
    x, y = pairs(dtype)
    a, b = (session().encrypt(one) for one in (x, y))
    for wanted in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.bool_):
        check(a.astype(wanted, casting="unsafe"), x.astype(wanted))
    assert a.astype(np.int64).dtype == np.int64
    short = RANDOM.integers(0, 65536, x.size).astype(np.uint16).view(np.uint16 if dtype is np.uint32 else np.int16)
    check(session().encrypt(short) + b, short + y)
    check(session().encrypt(short) < b, short < y)
    few = RANDOM.integers(0, 5000, x.size).astype(dtype)
    check(session().encrypt(few, bound=(0, 5000)) - b, few - y)
    near = session().encrypt(RANDOM.integers(100_000, 130_000, 50).astype(dtype), bound=(100_000, 130_000))
    assert near.bound == (100_000, 130_000)
    declared = (a & dtype(0xFFFF)).assume(bound=(0, 0xFFFF))
    check(declared >> 3, (x & dtype(0xFFFF)) >> 3)


def test_folders(tmp_path: Path) -> None:
    own = session()
    x = pairs(np.int32)[0][:40].reshape(5, 8)
    own.save(own.encrypt(x), tmp_path / "x")
    check(own.load(tmp_path / "x") + x, x + x)
    few = np.arange(200, dtype=np.uint8)
    for at, call in enumerate([lambda v: v.astype(np.int32) - 70_000, lambda v: v.astype(np.int64) * 2**23]):
        own.save(call(own.encrypt(few)), tmp_path / f"{at}")
        check(own.load(tmp_path / f"{at}"), call(few))
    words = np.array([0, 1, 40_000, 65_535], dtype=np.uint16)
    own.save(own.encrypt(words).astype(np.int64) << 20, tmp_path / "words")
    check(own.load(tmp_path / "words"), words.astype(np.int64) << 20)


def test_to_digits_and_back() -> None:
    own = three()
    for dtype in (np.uint32, np.int32):
        x = pairs(dtype)[0][[0, 5, 300, 1000]]
        a = own.encrypt(x, representation="slots")
        assert isinstance(a, EncryptedSlots)
        down = a.to("digits")
        assert isinstance(down, EncryptedIntegers)
        check(down, x, own)
        check(down.to("slots") + a, x + x, own)


def test_what_is_refused_names_what_works() -> None:
    x = pairs(np.uint32)[0][:6]
    a = session().encrypt(x)
    refused: list[Any] = [
        lambda: a // 601, lambda: a % 601, lambda: a.sum(), lambda: a.cumsum(),
        lambda: session().take(np.arange(9), a), lambda: a.astype(np.int64) * 2,
        lambda: session().encrypt(np.uint64([3])),
    ]  # fmt: skip
    for call in refused:
        with pytest.raises(RangeError, match=r"digits|bound"):
            session().decrypt(call())


OF_8_BITS: list[Any] = [
    lambda x, y: x.astype(np.uint32, casting="unsafe") - 1, lambda x, y: x.astype(np.int32) - 70_000,
    lambda x, y: x.astype(np.int32) << 20, lambda x, y: (x.astype(np.int32) << 18)[:4] + y[::75],
    lambda x, y: x.astype(np.uint32, casting="unsafe"), lambda x, y: x.astype(np.uint32, casting="unsafe") * 70_001,
    lambda x, y: x.astype(np.int64) * -8_000_000, lambda x, y: ~x.astype(np.uint32, casting="unsafe"),
    lambda x, y: x.astype(np.uint32, casting="unsafe") - y.astype(np.uint32, casting="unsafe"),
    lambda x, y: (x.astype(np.int32) - 70_000) < y * np.int32(300),
    lambda x, y: np.maximum(x.astype(np.int32) << 20, y.astype(np.int32) - 70_000),
    lambda x, y: (x.astype(np.int32) << 20) - (y.astype(np.int32) - 70_000),
    lambda x, y: (x.astype(np.uint32, casting="unsafe") - 7) ^ (y.astype(np.uint32, casting="unsafe") * 99_999),
    lambda x, y: np.where(x > y, x.astype(np.int32) * 70_000, y.astype(np.int32) - 1),
    lambda x, y: np.concatenate([x.astype(np.int32) * 70_000, y.astype(np.int32)]),
    lambda x, y: (x.astype(np.int32) * 70_000)[::-1] + y, lambda x, y: np.sort((x.astype(np.int32) << 18)[:7]),
    lambda x, y: (x.astype(np.uint32, casting="unsafe") - 1).astype(np.uint8, casting="unsafe"),
    lambda x, y: (x.astype(np.int32) * 70_000).astype(np.int64) // 1000, lambda x, y: (x.astype(np.int32) * 70_000) > y,
]  # fmt: skip


@pytest.mark.parametrize("call", OF_8_BITS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_8_bits_become_32(call: Any, dtype: Any) -> None:
    x, y = RANDOM.integers(0, 256, (2, 300)).astype(np.uint8)
    x[:4], y[:4] = (0, 1, 127, 128), (255, 128, 0, 7)
    x, y = x.view(dtype), y.view(dtype)
    with np.errstate(all="ignore"):
        wanted = call(x, y)
    check(call(*(session().encrypt(one) for one in (x, y))), wanted)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.uint32, np.int32])
def test_numbers_of_few_values_meet_where_no_slot_holds_what_they_make(dtype: Any) -> None:
    signed = np.issubdtype(dtype, np.signedinteger)
    low, high = (-4000, 4100) if signed else (0, 8100)
    x, y = RANDOM.integers(low, high + 1, (2, 300)).astype(dtype)
    x[:3], y[:3] = (low, high, high), (high, low, high)
    a, b = (session().encrypt(one, bound=(low, high)) for one in (x, y))
    assert a.numbers.shape == (1, 1)
    for call in (np.less, np.equal, np.minimum, np.maximum, *(() if signed else (np.subtract,))):
        check(call(a, b), call(x, y))
    check(np.where(a < b, a, b), np.where(x < y, x, y))
    check(a - y, x - y)
    check(np.sort(a[:5]), np.sort(x[:5]))


MIXED = [("u2", "i2"), ("u2", "i1"), ("u4", "i2"), ("u4", "i4")]


@pytest.mark.parametrize("dtypes", MIXED)
def test_mixed_signs(dtypes: tuple[str, str], tmp_path: Path) -> None:
    """`uint32` beside `int32` has a ninth digit, and so have their sums."""
    x, y = (RANDOM.integers(*ends_of(one), 200, endpoint=True).astype(one) for one in dtypes)
    x[:3], y[:3] = (*ends_of(dtypes[0]), 5), (*ends_of(dtypes[1]), 5)
    a, b = (session().encrypt(one) for one in (x, y))
    sums = [np.add, np.subtract]
    bits = [np.bitwise_and, np.bitwise_or, np.bitwise_xor]
    for call in [*sums, *bits, np.less, np.greater_equal, np.equal, np.minimum, np.maximum]:
        check(call(a, b), call(x, y))
        check(call(*((a, y) if call in bits else (x, b))), call(x, y))
    check(np.where(a > 7, b, a), np.where(x > 7, y, x))
    most, wanted = np.maximum(a, b), np.maximum(x, y)
    check(most > 1000, wanted > 1000)
    check((most ^ b) & ~a, (wanted ^ y) & ~x)
    check(most.astype(np.int16, casting="unsafe"), wanted.astype(np.int16))
    check(np.sort(most[:5]), np.sort(wanted[:5]))
    session().save(most, tmp_path / "most")
    check(session().load(tmp_path / "most"), wanted)
    check(np.concatenate([a, b, y[:3]]), np.concatenate([x, y, y[:3]]))
    check(np.concatenate([y[:3], a]) > 77, np.concatenate([y[:3], x]) > 77)


def test_bytes_with_a_sign_beside_32_bits_in_the_clear() -> None:
    x, y = RANDOM.integers(-128, 128, 300).astype(np.int8), pairs(np.uint32)[1][:300]
    a = session().encrypt(x)
    bits = [np.bitwise_and, np.bitwise_or, np.bitwise_xor]
    for call in (np.add, np.subtract, *bits, np.less, np.equal, np.maximum):
        check(call(a, y), call(x, y))
        check(call(y, a), call(y, x))
    check(np.where(x > 3, a, y), np.where(x > 3, x, y))


def test_bootstraps_of_sums_in_nine_digits() -> None:
    def program(x: Any, y: Any) -> Any:
        return x.astype(np.int64) + y

    x, y = pairs(np.uint32)
    with counted_bootstraps() as done:
        check(program(session().encrypt(x), session().encrypt(y)), program(x, y))
    assert (done["refreshes"], simulated_refreshes(program, x, y)) == (2, 2)


def ends_of(name: str) -> tuple[int, int]:
    return np.iinfo(name).min, np.iinfo(name).max
