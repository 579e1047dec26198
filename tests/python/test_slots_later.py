"""Numbers in one slot with more values than a table has: sums of them are free, and functions find their digits."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aglet.errors import RangeError
from aglet_bench.arrays.slots import simulated
from digit_sets import toy as low
from fuzz.sizes import few_slots
from mixed_sets import slots_engine
from test_slots_wide import counted_bootstraps

RANDOM = np.random.default_rng(36)
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
ORDERS = (np.less, np.greater_equal, np.equal, np.not_equal)
OF_ONE: list[Any] = [
    lambda z: z > 3, lambda z: z == 5003, lambda z: z & 77, lambda z: z >> 3, lambda z: z // 7, lambda z: z % 100,
    lambda z: np.minimum(z, 4000), lambda z: z.astype(np.uint8, casting="unsafe"), lambda z: z != 0,
    lambda z: z.astype(bool, casting="unsafe"), lambda z: np.logical_not(z), lambda z: (z + 1) > 9000,
    lambda z: z * 9, lambda z: np.where(z > 5000, z, 5), lambda z: z[::-1] > 7000, lambda z: np.sort(z[:5]),
    lambda z: abs(z) ^ 3, lambda z: np.concatenate([z, z[:3]]) > 6000,
    lambda z: (z + z[::-1]) > 6000, lambda z: np.argmax(z[:4]),
]  # fmt: skip
"""Functions that have no table of 10,001 values."""


def check(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(few_slots().decrypt(found), wanted)
    low, high = found.bound
    assert low <= wanted.min() <= wanted.max() <= high


def encrypt(x: Any, bound: Any = None) -> Any:
    return few_slots().encrypt(x, bound=bound, representation="slots")


def drawn(dtype: Any, low: int, high: int) -> Any:
    found = RANDOM.integers(low, high, 30, endpoint=True).astype(dtype)
    found[:4] = low, high, low, high
    return found


def pair(dtype: Any, low: int, high: int) -> tuple[Any, Any, Any, Any]:
    """Two arrays with a bound, encrypted and in the clear."""
    x, y = drawn(dtype, low, high), drawn(dtype, low, high)
    y[:4] = low, high, high, low
    return *(encrypt(one, (low, high)) for one in (x, y)), x, y


@pytest.mark.parametrize("call", OF_ONE)
def test_a_sum_with_more_values_than_a_table(call: Any) -> None:
    a, b, x, y = pair(np.uint16, 0, 5000)
    z = a + b
    assert z.numbers.shape == (1, 1)
    assert z.level == a.level
    check(call(z), call(x + y))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_sums_products_and_choices_meet_others(dtype: Any) -> None:
    a, b, x, y = pair(dtype, -90, 95)
    c, d, v, w = pair(dtype, -3000, 4000)
    for z, clear in (
        (a * b, x * y), (c - d, v - w), (v + c, v + v), (v - c, v - v), (np.where(a > b, c, v), np.where(x > y, v, v)),
        (np.where(a > b, d, 2 * c), np.where(x > y, w, 2 * v)), (3 * (c - d) + 1, 3 * (v - w) + 1),
    ):  # fmt: skip
        check(np.maximum(z, c), np.maximum(clear, v))
        check(w ^ z, w ^ clear)


def test_a_chain_that_begins_with_zero() -> None:
    """What is known in the clear, in one slot, beside numbers in the clear: it was refused once it was decrypted."""
    x, c = drawn(np.uint16, 0, 65535), drawn(np.uint16, 0, 53467)
    a = encrypt(x)
    for looked_up in (False, True):
        zero = a - a
        if looked_up:
            check(zero, x - x)
        z = zero + c
        for call in (np.add, np.minimum, np.multiply, *ORDERS, *BITS):
            check(call(z, a), call(c, x))
        check(z > 3, c > 3)


def test_bytes_beside_words_in_the_clear() -> None:
    x, c = drawn(np.uint8, 0, 255), drawn(np.uint16, 1, 60000)
    z = encrypt(x) + c
    assert z.numbers.shape == (1, 1)
    for call in (*ORDERS, *BITS, np.minimum):
        check(call(z, 300), call(x + c, np.uint16(300)))
        check(call(z, x), call(x + c, x))


def test_numbers_in_the_clear_are_copied() -> None:
    x, c = drawn(np.uint8, 0, 255), drawn(np.uint16, 1, 60000)
    kept, z = c.copy(), encrypt(x) + c
    c[:] = 7
    check(z > 3000, x + kept > 3000)


def test_a_function_that_was_looked_up() -> None:
    """Its results have more values than a table has, but not the numbers that it is looked up of."""
    x = drawn(np.uint8, 0, 255)
    z = encrypt(x).astype(np.uint16) * 200
    check(z, x * np.uint16(200))
    check(z & 1023, x * np.uint16(200) & 1023)


def test_digits_are_made_once_and_their_terms_go() -> None:
    a, b, x, y = pair(np.uint16, 0, 5000)
    z = a + b
    assert z.numbers.later is not None
    check(z > 3, x + y > 3)
    assert z.numbers.later is None
    made = z.split().numbers
    check(z & 3, x + y & 3)
    assert z.split().numbers is made
    check(z.refresh() >> 1, x + y >> 1)


def test_a_long_sum_does_not_keep_all_its_terms() -> None:
    x = drawn(np.int64, 0, 1000)
    a = encrypt(x, bound=(0, 1000))
    z, clear = a, x
    for _ in range(20):
        z, clear = z + encrypt(x, bound=(0, 1000)), clear + x
    check(z, clear)
    assert z.numbers.later is None
    with pytest.raises(RangeError, match="declare a smaller range"):
        z > 3  # noqa: B015


def test_digits_and_floats_of_a_sum() -> None:
    own, (x, y) = few_slots(), (drawn(np.uint16, 0, 5000)[:8] for _ in range(2))
    a, b = (encrypt(one, bound=(0, 5000)) for one in (x, y))
    np.testing.assert_array_equal(own.decrypt((a + b).to("digits")), x + y)
    found = own.decrypt((a + b).astype(np.float64))
    np.testing.assert_allclose(found, x + y, rtol=0, atol=10_000 * 2.0**-13)
    check_bound = (a + b).assume(bound=(0, 9000))
    assert check_bound.bound == (0, 9000)
    np.testing.assert_array_equal(own.decrypt(np.minimum(a + b, 9000).assume(bound=(0, 9000)) > 12), x + y > 12)


@pytest.mark.parametrize(("call", "wanted"), [(lambda z: z > 3, 12), (lambda z: z & 77, 10), (lambda z: z + 1, 0)])
def test_a_plan_counts_the_digits_of_a_sum(call: Any, wanted: int) -> None:
    """Of two arrays with 5,001 values; numbers of 16 bits in digits from the start take four, two and two."""

    def program(x: Any, y: Any) -> Any:
        return call(x.assume(bound=(0, 5000)) + y.assume(bound=(0, 5000))).forced()

    x, y = drawn(np.int64, 0, 5000), drawn(np.int64, 0, 5000)
    with counted_bootstraps() as done:
        program(*(encrypt(one, (0, 5001)) for one in (x, y)))
    shadow: Any = SimpleNamespace(digits=SimpleNamespace(engine=low()), done=Counter(), seconds=0.0, beside=0)
    planned = simulated(slots_engine(), shadow)
    program(*(planned.encrypt(one, bound=(0, 5001)) for one in (x, y)))
    assert (done["refreshes"], shadow.done["refreshes"]) == (wanted, wanted)
