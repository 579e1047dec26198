"""Sums in slots that the modulus does not hold: pairs are added by digits; and means of as many elements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Engine, FhewEngine, IntegerEngine, RangeError, Session
from mixed_sets import three

CALLS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: x.sum(),
    "along": lambda x: np.sum(x, axis=0, keepdims=True),
    "as 32 bits": lambda x: x[:, :2].sum(axis=-1, dtype=np.uint32 if x.dtype.kind == "u" else np.int32) + 1,
    "some": lambda x: x.sum(where=np.arange(x.size).reshape(x.shape) % 3 > 0) > 1000,
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_sums_of_16_bits(dtype: str, call: str) -> None:
    info = np.iinfo(dtype)
    values = np.array([[info.max, info.min, 3], [info.max, info.max // 3, 50]], dtype=dtype)
    found = three().decrypt(CALLS[call](three().encrypt(values, representation="slots")))
    assert found.dtype == CALLS[call](values).dtype
    np.testing.assert_array_equal(found, CALLS[call](values))


@pytest.mark.parametrize("end", [-128, 127])
def test_the_ends_of_many_bytes(end: int) -> None:
    """The first of them lie in one slot, with a table up to 8,192 values; all of them beyond the modulus."""
    values = np.full(550, end, dtype=np.int8)
    x = three().encrypt(values, representation="slots")
    found = x.sum()
    assert found.bound == (-128 * 550, 127 * 550)
    assert three().decrypt(found) == values.sum()


def test_sums_of_32_bits_that_fit_and_that_do_not() -> None:
    values = np.array([2**30, 5, 2**29], dtype=np.uint32)
    x = three().encrypt(values, representation="slots", bound=2**30)
    assert three().decrypt(x.sum()) == values.sum()
    with pytest.raises(RangeError, match="do not fit slots"):
        three().encrypt(values, representation="slots").sum()
    # Numbers in one slot, of too many values for a table, have no digits.
    with pytest.raises(RangeError, match="do not fit slots"):
        three().encrypt(np.full(6, 30000, dtype=np.int32), representation="slots", bound=(-9, 30000)).sum()


@pytest.mark.parametrize("count", [2, 5])
def test_sums_of_32_bits_wrap_around(count: int) -> None:
    """The dtype of a product or one that is asked for does not hold them."""
    random = np.random.default_rng(count)
    x = random.integers(-(2**31), 2**31, count).astype(np.int32)
    y, z = random.integers(-(2**15), 2**15, count).astype(np.int16), random.integers(0, 2**16, count).astype(np.uint16)
    own = three()
    a, b, c = (own.encrypt(one, representation="slots") for one in (x, y, z))
    for found, wanted in ((a @ a, x @ x), (b @ c, y @ z), (a.sum(dtype=np.int32), x.sum(dtype=np.int32))):
        assert found.dtype == wanted.dtype
        assert own.decrypt(found) == wanted


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "uint32", "int32"])
def test_means(dtype: str) -> None:
    """Of 32 bits by their highest ones, as floats keep no more; of many bytes by those of each element."""
    info = np.iinfo(dtype)
    values = np.array([info.max, info.min, info.max // 3, 50] * (100 if dtype == "uint8" else 1), dtype=dtype)
    x = three().encrypt(values, representation="slots")
    assert three().decrypt(x.mean()) == pytest.approx(values.mean(), abs=2.0**-15 * info.max)
    if values.itemsize == 4:
        found = three().decrypt(x.astype(np.float64, casting="unsafe"))
        np.testing.assert_allclose(found, values, atol=2.0**-15 * info.max)
        with pytest.raises(TypeError, match="unsafe"):
            x.astype(np.float64)


@functools.cache
def _engines() -> dict[str, Any]:
    return {
        "engine": Engine(use_bootstrap=True),
        "fhew_engine": FhewEngine(bits=4),
        "integer_engine": IntegerEngine(use_bootstrap=True),
    }


def test_a_plan_says_what_such_a_sum_takes() -> None:
    plan = Session.plan(lambda x: x.sum(), [(512,)], dtypes=[np.uint16], representation="slots", **_engines())
    short = Session.plan(lambda x: x.sum(), [(512,)], dtypes=[np.uint8], representation="slots", **_engines())
    assert plan.seconds > short.seconds
