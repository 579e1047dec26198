"""Numbers of 16 bits in slots, in four digits: operators at the ends of digits, casts, moves, and what plans count."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from aglet import EncryptedIntegers, EncryptedSlots, IntegerEngine, Session, SlotSession
from aglet.arrays.slots.separate import separated
from aglet.errors import LevelError, RangeError
from aglet_bench.arrays.slots import simulated
from digit_sets import toy as low
from mixed_sets import slots_engine, three

RANDOM = np.random.default_rng(16)
ENDS = [0, 1, 2, 7, 8, 14, 15, 16, 17, 127, 128, 255, 256, 257, 4080, 4095, 4096, 4097, 15999, 32766, 32767]
OPERATORS = [
    np.add, np.subtract, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.less, np.less_equal,
    np.greater, np.greater_equal, np.equal, np.not_equal, np.minimum, np.maximum,
]  # fmt: skip


@functools.cache
def session() -> SlotSession:
    found = Session(slots_engine().create_keys(rotation=True))
    assert isinstance(found, SlotSession)
    return found


def pairs(dtype: Any, others: Any = None) -> tuple[Any, Any]:
    """1,024 pairs: all of some of the ends of digits, and random ones."""
    ends = np.array([*ENDS, *(65535 - end for end in ENDS)], dtype=np.uint16)
    chosen = [RANDOM.permutation(ends)[:26] for _ in range(2)]
    x, y = (np.array(list(itertools.product(*chosen)), dtype=np.uint16)[:, at] for at in range(2))
    more = RANDOM.integers(0, 65536, (2, 1024 - len(x)), dtype=np.uint16)
    more[1, :20] = more[0, :20]
    return tuple(np.concatenate(one).view(dtype) for one in ((x, more[0]), (y, more[1])))  # type: ignore[return-value]


def check(found: Any, wanted: Any, own: Any = None) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal((own or session()).decrypt(found), wanted)
    least, most = found.bound or (wanted.min(), wanted.max())
    assert least <= wanted.min() <= wanted.max() <= most


@pytest.mark.parametrize("call", OPERATORS)
@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_operators_at_the_ends_of_digits(call: Any, dtype: Any) -> None:
    x, y = pairs(dtype)
    a, b = (session().encrypt(one) for one in (x, y))
    assert a.numbers.shape == (4, 1)
    check(call(a, b), call(x, y))
    check(call(a, y), call(x, y))
    check(call(y, a), call(y, x))
    number = dtype(RANDOM.choice(x))
    check(call(a, number), call(x, number))
    check(call(number, a), call(number, x))


@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_functions_of_one_array(dtype: Any) -> None:
    x, y = pairs(dtype)
    a, b = (session().encrypt(one) for one in (x, y))
    ones: list[Any] = [
        np.negative, np.invert, np.abs, np.square, np.logical_not, lambda v: v >> 3, lambda v: v << 5,
        lambda v: v & 1234, lambda v: v % 256, lambda v: v // 4096, lambda v: v * dtype(4), lambda v: v >> 7 & 1,
        lambda v: v % 2 == 0, lambda v: v < 0, lambda v: v + v, lambda v: v ^ v, lambda v: v - v, lambda v: v != 0,
        lambda v: v.astype(np.uint8, casting="unsafe"), lambda v: v.astype(np.int8, casting="unsafe"),
        lambda v: v.astype(np.int16, casting="unsafe"), lambda v: v.astype(np.uint16, casting="unsafe"),
        lambda v: v.astype(bool, casting="unsafe"), lambda v: v.astype(np.int64), lambda v: np.clip(v, 100, 9000),
        lambda v: np.where(v > 999, v, dtype(5)), lambda v: np.logical_and(v, True), lambda v: v + 0,
    ]  # fmt: skip
    for call in ones:
        check(call(a), call(x))
    # What is not looked up yet meets others.
    check((a >> 1) + b, (x >> 1) + y)
    check((a ^ 0x700) < (b << 1), (x ^ 0x700) < (y << 1))
    few = session().encrypt(np.arange(5, dtype=np.int64), bound=(0, 9000))
    for call in (lambda v: v // 3, lambda v: np.isin(v, [3]), lambda v: v * 3 % 7, lambda v: v // 3 > 7):
        with pytest.raises(RangeError, match=r"9,001 values.*x\.assume"):
            call(few)
    for call in (lambda v: v // 601, lambda v: v // dtype(601) > 7):
        with pytest.raises(RangeError, match=r"65,536 values.*x\.to\(.digits"):
            call(a)
    check(few * 1000 // 1000, np.arange(5))


def test_other_operands() -> None:
    """Bytes, flags, numbers with a bound, in other digits or in one slot."""
    own, size = session(), 200
    given: dict[str, tuple[Any, Any]] = {
        "word": (RANDOM.integers(0, 65536, size, dtype=np.uint16), None),
        "byte": (RANDOM.integers(0, 256, size, dtype=np.uint8), None),
        "slot": (RANDOM.integers(0, 5000, size, dtype=np.uint16), (0, 5000)),
        "bound": (RANDOM.integers(300, 20001, size, dtype=np.uint16), (300, 20000)),
        "signed": (RANDOM.integers(-32768, 32768, size, dtype=np.int16), None),
        "small": (RANDOM.integers(-128, 128, size, dtype=np.int8), None),
        "offset": (RANDOM.integers(-700, 900, size, dtype=np.int16), (-700, 899)),
    }
    held = {name: own.encrypt(clear, bound=bound) for name, (clear, bound) in given.items()}
    assert [len(held[name].numbers.digits) for name in given] == [4, 2, 1, 4, 4, 2, 1]
    for one, others in (("word", ("byte", "slot", "bound")), ("signed", ("small", "offset", "byte"))):
        x, a = given[one][0], held[one]
        for other in others:
            y, b = given[other][0], held[other]
            for call in (np.add, np.subtract, np.multiply, np.bitwise_xor, np.less, np.equal, np.maximum):
                check(call(a, b), call(x, y))
                check(call(b, a), call(y, x))
            check(np.where(x > 70, b, a), np.where(x > 70, y, x))
    check(
        np.where(held["byte"] > 70, held["word"], held["slot"]),
        np.where(given["byte"][0] > 70, *(given[name][0] for name in ("word", "slot"))),
    )
    # Sums that fit a wider dtype are sums of slots, without a table.
    check(held["bound"].astype(np.int64) + given["byte"][0], given["bound"][0].astype(np.int64) + given["byte"][0])
    low_bytes = held["word"].assume(bound=(0, 65535)) & 255
    check(low_bytes, given["word"][0] & 255)
    few = own.encrypt(np.arange(9, dtype=np.uint16)).assume(bound=(0, 200))
    assert len(few.numbers.digits) == 2
    check(few // 3, np.arange(9, dtype=np.uint16) // 3)
    middle = own.encrypt(np.arange(9, dtype=np.uint16) + 32766).assume(bound=(32760, 32790))
    check(middle % 7, (np.arange(9, dtype=np.uint16) + 32766) % 7)


def test_elements_move_and_meet() -> None:
    own = session()
    x = RANDOM.integers(0, 65536, (4, 9), dtype=np.uint16)
    a = own.encrypt(x)
    check(a[::-1] + a, x[::-1] + x)
    check(a[:, :1] < a[1], x[:, :1] < x[1])
    check(a.max(0), x.max(0))
    check(np.min(a, axis=1), x.min(1))
    check(np.sort(a, axis=0), np.sort(x, axis=0))
    check(np.argmin(a, axis=0), np.argmin(x, axis=0))
    with pytest.raises(RangeError, match=r"do not fit slots.*make keys of digits too"):
        np.argsort(a)
    few = RANDOM.integers(0, 90, (2, 9), dtype=np.uint16)
    for one, clear in ((a[:1], x[:1]), (own.encrypt(few, bound=(0, 90)), few), (x[:2], x[:2])):
        joined, wanted = np.concatenate([a, one]), np.concatenate([x, clear])
        check(joined, wanted)
        check(joined > 90, wanted > 90)
    check(np.select([a > 40000, a > 9], [a, a + 1], 7), np.select([x > 40000, x > 9], [x, x + 1], 7))
    flags = RANDOM.integers(0, 2, (4, 1)) > 0
    check(np.where(own.encrypt(flags), a[:, :3], a[0, 2]), np.where(flags, x[:, :3], x[0, 2]))
    check((a != 0).sum(), (x != 0).sum())
    chain = (a * a + a) ^ (a - x[::-1])
    check(chain, (x * x + x) ^ (x - x[::-1]))


def test_casts_to_digits_and_floats() -> None:
    own = three()
    for dtype in (np.uint16, np.int16):
        x = pairs(dtype)[0][:6]
        a = own.encrypt(x, representation="slots")
        assert isinstance(a, EncryptedSlots)
        down = a.to("digits")
        assert isinstance(down, EncryptedIntegers)
        check(down // 3, x // 3, own)
        check(down.to("slots") + a, x + x, own)
        found = own.decrypt(a.astype(np.float64))
        np.testing.assert_allclose(found, x, atol=2.0**-13 * 65536)
        assert abs(own.decrypt(a.mean()) - x.mean()) < 2.0**-13 * 65536


def test_words_in_folders(tmp_path: Path) -> None:
    own = session()
    x = RANDOM.integers(0, 65536, (3, 5), dtype=np.uint16)
    own.save(own.encrypt(x), tmp_path / "x")
    found = own.load(tmp_path / "x")
    check(found + x, x + x)


def test_a_set_without_bootstraps_says_so() -> None:
    engine = IntegerEngine(depth=9)
    own = Session(engine.create_keys())
    x = own.encrypt(np.arange(5, dtype=np.uint16))
    np.testing.assert_array_equal(own.decrypt(x + np.uint16(65534)), np.arange(5, dtype=np.uint16) + np.uint16(65534))
    with pytest.raises(LevelError, match="bootstrap"):
        _ = x * x


@contextmanager
def counted_bootstraps() -> Iterator[Counter[str]]:
    many, in_parts, done = IntegerEngine.bootstrap_many, IntegerEngine.lookup_many, Counter[str]()

    def bootstrap_many(self: Any, given: Any, key: Any, **more: Any) -> Any:
        chunks = list(given)
        done["refreshes"] += len(chunks)
        return many(self, chunks, key, **more)

    def lookup_many(self: Any, numbers: Any, tables: Any, key: Any, *, bootstrap_key: Any = None, **more: Any) -> Any:
        if bootstrap_key is not None:
            planned = self.plan_lookup_in_parts(tables, min(one.level for one in numbers))
            done["refreshes"] += planned.bootstraps * len(numbers)
        return in_parts(self, numbers, tables, key, bootstrap_key=bootstrap_key, **more)

    with mock.patch.multiple(IntegerEngine, bootstrap_many=bootstrap_many, lookup_many=lookup_many):
        yield done


def lowered(x: Any, level: int) -> Any:
    """The same array at a level."""
    numbers, engine = x.numbers, x.session.engine
    digits = tuple([engine.mod_switch(chunk, level) for chunk in digit] for digit in numbers.digits)
    return x.replaced(replace(numbers, digits=digits, tables={}), None, x.dtype)


def test_masks_at_level_2_need_no_bootstrap() -> None:
    """They leave another correction factor, which a bootstrap keeps, and tables behind it absorb it."""
    x, y = pairs(np.uint16)
    flags = RANDOM.integers(0, 2, x.size).astype(bool)
    # By two steps, with a mask each.
    swapped = np.concatenate([np.arange(512, 1024), np.arange(512)]) ^ 1
    a, b, full = (lowered(session().encrypt(one), level) for one, level in ((x, 2), (y, 2), (y, 8)))
    with counted_bootstraps() as done:
        chosen, plain = np.where(flags, a, b), np.where(flags, a, y)
        moved = a[swapped].at(a.index, 1)
    assert done["refreshes"] == 0
    assert {chosen.level, plain.level, moved.level} == {1}
    wanted = np.where(flags, x, y)
    for found, clear in ((chosen, wanted), (plain, wanted), (moved, x[swapped])):
        check(found, clear)
        check(found + full, clear + y)
        check(found - lowered(full, 1), clear - y)
        check(found < full, clear < y)
    check(moved * chosen ^ full, x[swapped] * wanted ^ y)
    low = lowered(session().encrypt(flags), 2)
    with counted_bootstraps() as done:
        found = [low[places].any() for places in (np.flatnonzero(~flags), np.arange(0, 900, 3))]
        check(found[0], np.False_)
        check(found[1], flags[np.arange(0, 900, 3)].any())
    # Of the sums, not of the elements.
    assert done["refreshes"] <= 6


def test_a_product_takes_three_bootstraps_and_a_plan_says_so() -> None:
    own = session()

    def program(x: Any, y: Any) -> Any:
        return (x * y + x).forced()

    x, y = pairs(np.uint16)
    with counted_bootstraps() as done:
        program(own.encrypt(x), own.encrypt(y))
    assert done["refreshes"] == 3 + 4
    plan = simulated_refreshes(program, x, y)
    assert plan == 7


def simulated_refreshes(program: Any, *given: Any) -> int:
    shadow: Any = SimpleNamespace(digits=SimpleNamespace(engine=low()), done=Counter(), seconds=0.0, beside=0)
    planned = simulated(slots_engine(), shadow)
    program(*(planned.encrypt(one) for one in given))
    return int(shadow.done["refreshes"])


def test_functions_whose_digits_are_sums_of_tables() -> None:
    numbers = np.arange(300, 20000)
    for call in (lambda v: v >> 3, lambda v: v & 0x1F0, lambda v: v % 4 == 1, lambda v: ~v):
        wanted = call(numbers).astype(np.int64)
        found = separated(wanted, 300, 4)
        assert found is not None
        offset, digits = found
        places = [numbers >> 4 * at & 15 for at in range(4)]
        made = sum(16**at * sum(t[p] for t, p in zip(row, places, strict=True)) for at, row in enumerate(digits))
        np.testing.assert_array_equal(made + offset, wanted)
    for call in (lambda v: v // 3, lambda v: v > 700, lambda v: v * 3):
        assert separated(call(numbers).astype(np.int64), 300, 4) is None
