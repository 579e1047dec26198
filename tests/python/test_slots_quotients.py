"""`//`, `%` and `divmod` of two arrays of 8 bits in slots: all pairs, division by 0, -128 // -1, clear operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet.arrays.slots.division import divisor
from aglet.arrays.slots.quotients import MOST, quotients, scales
from aglet.errors import RangeError
from test_slots_shifts import pairs as ends
from test_slots_wide import check, counted_bootstraps, session, simulated_refreshes

RANDOM = np.random.default_rng(255)


@pytest.fixture(autouse=True)
def _zeros() -> Any:
    """numpy gives 0 for a division by 0, and warns."""
    with np.errstate(all="ignore"):
        yield


def pairs(dtype: Any, count: int | None = None) -> tuple[Any, Any]:
    """All pairs of 8 bits, or some with the ends of the dtype."""
    x, y = (one.ravel() for one in np.meshgrid(*[np.arange(256, dtype=np.uint8).view(dtype)] * 2))
    chosen = RANDOM.permutation(x.size)[:count]
    ends = [np.iinfo(dtype).min, -1, 0, 1, np.iinfo(dtype).max]
    of_ends = np.flatnonzero(np.isin(x, ends) & np.isin(y, ends))
    chosen[: of_ends.size] = of_ends
    return (x, y) if count is None else (x[chosen], y[chosen])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_one_table_has_all_quotients(dtype: Any) -> None:
    """In the clear, over all pairs: each difference stands for one quotient, which is that of numpy."""
    x, y = (one.astype(np.int64) for one in pairs(dtype))
    signed = dtype is np.int8
    u, v = scales(signed)
    table, least, apart = quotients(signed)
    differing = (x < 0) & (y > 0) | (x > 0) & (y < 0)
    places = u[np.abs(x)] - v[np.minimum(np.abs(y), MOST[signed] + 1)] - least + apart * differing
    assert places.min() >= 0
    assert len(table) <= 4096
    np.testing.assert_array_equal(table[places], x // y)


def test_all_pairs_of_8_bits() -> None:
    x, y = pairs(np.uint8)
    with counted_bootstraps() as done:
        quotient, rest = np.divmod(session().encrypt(x), session().encrypt(y))
        check(quotient, x // y)
        check(rest, x % y)
    assert done["refreshes"] == 3 * 64


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_operators(dtype: Any) -> None:
    x, y = pairs(dtype, 1024)
    a, b = (session().encrypt(one) for one in (x, y))
    calls: list[Any] = [np.floor_divide, np.remainder, lambda x, y: np.divmod(x, y)[0], lambda x, y: np.divmod(x, y)[1]]
    for call in calls:
        with counted_bootstraps() as done:
            check(call(a, b), call(x, y))
        assert (done["refreshes"], simulated_refreshes(call, x, y)) == (3, 3)
    for call in calls[:3]:
        check(call(a, y), call(x, y))
        check(call(x, b), call(x, y))
        check(call(a, dtype(7)), call(x, dtype(7)))
        check(call(dtype(99), b), call(dtype(99), y))
        check(call(a, a), call(x, x))
    # What other operations made, and operands that move.
    check((a + b) // (b ^ 5), (x + y) // (y ^ 5))
    check((a * b) % b, (x * y) % y)
    check(a[:9, None] % b[:7], x[:9, None] % y[:7])


def test_other_operands() -> None:
    """Numbers of other dtypes, within the range that one table has."""
    byte, small = pairs(np.uint8, 1024)[0], pairs(np.int8, 1024)[1]
    words = RANDOM.integers(0, 8000, 1024).astype(np.int16)
    half = byte >> 1
    a, b, c = (
        session().encrypt(half, bound=(0, 127)),
        session().encrypt(small),
        session().encrypt(words, bound=(0, 8000)),
    )
    for call in (np.floor_divide, np.remainder):
        check(call(a, b), call(half, small))
        check(call(b, a), call(small, half))
        check(call(b, c), call(small, words))
        check(call(session().encrypt(byte), c), call(byte, words))
        check(call(session().encrypt(small).astype(np.int64), a), call(small.astype(np.int64), half))
        with pytest.raises(TypeError, match=r"x\.assume\(bound="):
            call(session().encrypt(byte), b)
        with pytest.raises(TypeError, match=r"x\.assume\(bound="):
            call(session().encrypt(words), session().encrypt(words)[::-1])


@pytest.mark.parametrize("name", ["u2", "i4"])
def test_division_by_a_number_in_the_clear(name: str) -> None:
    """Long division takes a bootstrap for each digit but the highest, two where tables have more than 128 values."""
    x = ends(name)[0]
    a, steps = session().encrypt(x), 2 * x.dtype.itemsize - 1
    for by, bootstraps in ((7, steps), (3 << 12, None)):
        for call in (np.floor_divide, np.remainder):

            def program(v: Any, call: Any = call, by: int = by) -> Any:
                found = call(v, v.dtype.type(by))
                found.forced()
                return found

            with counted_bootstraps() as done:
                check(program(a), call(x, x.dtype.type(by)))
            planned = simulated_refreshes(program, x)
            assert done["refreshes"] == planned
            assert bootstraps in (planned, None)
    check((a // 10) % 10 == 3, (x // 10) % 10 == 3)
    check((a >> 1) // 3, (x >> 1) // 3)
    for found, wanted in zip(divmod(a, 6), divmod(x, 6), strict=True):
        check(found, wanted)


def test_an_array_by_itself() -> None:
    """Of 16 bits quotients are no table that digits make up; nothing is taken for a number in the clear."""
    a = session().encrypt(ends("i2")[0])
    check(a % a, np.zeros(1024, np.int16))
    with pytest.raises(RangeError, match=r"65,536 values.*x\.to"):
        a // a


def test_the_longest_tables_of_long_division() -> None:
    x = ends("i2")[0]
    a = session().encrypt(x)
    check(a // 511, x // 511)
    check(a % 1000, x % 1000)
    assert divisor(np.floor_divide, a, 513) is None
    assert [divisor(np.remainder, a, by) for by in (512, 1022, 513 * 2, 0, -513)] == [512, 1022, None, 0, None]
