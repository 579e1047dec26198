"""`//`, `%` and `divmod` of 16 and 32 bits in slots by numbers below 0 and by 0, and once where both are asked for."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from aglet import fixed
from aglet.errors import AgletError, RangeError
from digit_sets import modelled
from fuzz.sizes import few_slots
from test_slots_wide import counted_bootstraps, simulated_refreshes

RANDOM = np.random.default_rng(36)
CALLS = (operator.floordiv, operator.mod, lambda x, by: divmod(x, by)[0], lambda x, by: divmod(x, by)[1])


def numbers(name: str) -> Any:
    """Ends, multiples of the divisors and their neighbours, and random ones."""
    low, high = np.iinfo(name).min, np.iinfo(name).max
    near = np.array([0, 7, 8, 12, 48, 700, 32767, 4096 * 3])
    some = np.concatenate([near, near + 1, near - 1, -near, [low, low + 1, high], RANDOM.integers(low, high, 40)])
    return np.clip(some, low, high).astype(name)


def check(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(few_slots().decrypt(found), wanted)
    low, high = found.bound
    assert low <= wanted.min() <= wanted.max() <= high


def clear(call: Any, x: Any, by: Any) -> Any:
    with np.errstate(all="ignore"):
        return call(x, by)


@pytest.mark.parametrize("name", ["i2", "i4"])
@pytest.mark.parametrize("by", [-1, -7, -8, -48, -700])
def test_numbers_below_0(name: str, by: int) -> None:
    x = numbers(name)
    a = few_slots().encrypt(x, representation="slots")
    for call in CALLS:
        check(call(a, by), clear(call, x, by))


def test_ends_and_other_dtypes() -> None:
    own = few_slots()
    for name, by in (
        ("i2", np.int16(-32768)), ("u2", np.int16(-7)), ("u4", np.int64(-10)), ("u2", np.int32(-65536)),
        ("i4", np.int32(-(2**16))), ("i2", np.int8(-3)), ("i4", np.int8(12)),
    ):  # fmt: skip
        x = numbers(name)
        a = own.encrypt(x, representation="slots")
        for call in CALLS:
            check(call(a, by), clear(call, x, by))
    x, y = (RANDOM.integers(0, 5000, 30, dtype=np.int16) for _ in range(2))
    a, b = (own.encrypt(one, bound=(0, 5000), representation="slots") for one in (x, y))
    z = numbers("i2")
    c = own.encrypt(z, representation="slots")
    for call in CALLS:
        check(call(a - b, -7), call(x - y, -7))
        check(call((a >> 1) + 3, -7), call((x >> 1) + 3, -7))
        check(call(c >> 1, -12), call(z >> 1, -12))
    with pytest.raises(RangeError, match="by numbers in the clear, up to 512"):
        own.encrypt(numbers("i4"), representation="slots") // -8194


@pytest.mark.parametrize("name", ["i1", "u1", "i2", "u2", "i4", "u4"])
def test_by_0_there_is_0_as_in_numpy(name: str) -> None:
    x = numbers(name)
    a, low = few_slots().encrypt(x, representation="slots"), modelled("wide").encrypt(x[:5])
    for call in CALLS:
        wanted = clear(call, x, 0)
        assert not wanted.any()
        check(call(a, 0), wanted)
        check(call(a, x.dtype.type(0)), wanted)
        np.testing.assert_array_equal(modelled("wide").decrypt(call(low, 0)), wanted[:5])


def test_fixed_formats_have_no_division_by_0() -> None:
    x = modelled("wide").encrypt([0.5], fixed(16, 8))
    for call in (lambda: x // 0, lambda: x % 0, lambda: divmod(x, 0)):
        with pytest.raises(TypeError, match="fixed"):
            call()
    for zero in (0, 0.0, np.float64(0)):
        with pytest.raises(AgletError, match="no power of two"):
            x / zero


@pytest.mark.parametrize(("by", "counts"), [(7, (3, 3, 3)), (-7, (3, 11, 11)), (12, (4, 4, 4)), (-12, (5, 13, 14))])
def test_both_take_one_division(by: int, counts: tuple[int, int, int]) -> None:
    """Bootstraps of `%`, `//` and both. A quotient by a number below 0 takes a sum; powers of two take their own."""
    x, found = numbers("i2"), []

    def program(v: Any, call: Any) -> None:
        made = call(v, by)
        for one in made if isinstance(made, tuple) else [made]:
            one.forced()

    for call in (operator.mod, operator.floordiv, divmod):
        a = few_slots().encrypt(x, representation="slots")
        with counted_bootstraps() as done:
            program(a, call)
        found.append(done["refreshes"])
        assert simulated_refreshes(lambda v, call=call: program(v, call), x) == found[-1]
    assert tuple(found) == counts
