"""Whole numbers of many bits as floats, means of every dtype, and casts between families that take two steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import zmod
from mixed_sets import session, small, three

T = 65537
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def ends(dtype: str) -> Any:
    """The ends of a dtype, and numbers between."""
    info = np.iinfo(dtype)
    return np.array([info.max, info.min, info.max // 3, info.max // 5 * 2], dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unsafe_floats_keep_the_highest_bits(dtype: str) -> None:
    """Of numbers of more than 24 bits; also of those in the clear, and of those with digits of both kinds."""
    own, values = small(), ends(dtype)
    of_both = own.digits.encrypt(values) & values.dtype.type(np.iinfo(dtype).max // 7)
    for x, wanted in (
        (own.encrypt(values), values),
        (own.digits.clear(values), values),
        (of_both, values & values.dtype.type(np.iinfo(dtype).max // 7)),
    ):
        found = own.decrypt(x.astype(np.float64, casting="unsafe"))
        np.testing.assert_allclose(found, wanted.astype(float), atol=2.0**-19 * float(np.iinfo(dtype).max))
    if values.itemsize > 2:
        with pytest.raises(TypeError, match=r'declare a smaller range.*casting="unsafe"'):
            own.encrypt(values).astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_declared_range_has_few_bits(dtype: str) -> None:
    """Also a signed one: its sign is that of the digits that it needs."""
    own, signed = small(), dtype.startswith("i")
    values = np.array([-100 if signed else 0, 3, 99], dtype=dtype)
    x = own.encrypt(values, bound=100)
    np.testing.assert_allclose(own.decrypt(x.astype(np.float64)), values, atol=1e-3)
    np.testing.assert_allclose(own.decrypt(x * np.array([0.5, 0.25, 1])), values * [0.5, 0.25, 1], atol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_means_of_every_dtype(dtype: str) -> None:
    """numpy's mean does not wrap around, and neither do these, also where the sum of the dtype does."""
    own, values, where = small(), ends(dtype).reshape(2, 2), np.array([[True, False], [True, True]])
    x, room = own.encrypt(values), 2.0**-18 * float(np.iinfo(dtype).max)
    np.testing.assert_allclose(own.decrypt(x.mean()), values.mean(), atol=room)
    along = own.decrypt(np.mean(x, axis=1, keepdims=True))
    np.testing.assert_allclose(along, values.mean(axis=1, keepdims=True), atol=room)
    np.testing.assert_allclose(own.decrypt(x.mean(axis=0, where=where)), values.mean(axis=0, where=where), atol=room)


def test_every_array_becomes_numbers_modulo_t() -> None:
    """Digits and floats cross to slots on the way."""
    own, dtype = three(), zmod(T)
    for values in (np.array([-1, 5], dtype=np.int8), np.array([1, 65535], dtype=np.uint16), np.array([True, False])):
        found = own.encrypt(values).astype(dtype)
        np.testing.assert_array_equal(own.decrypt(found * found), values.astype(np.int64) ** 2 % T)
    floats = own.encrypt(np.array([-2.6, 3.4, 100.0]), bound=120).astype(dtype)
    np.testing.assert_array_equal(own.decrypt(floats), [T - 3, 3, 100])


def test_unsafe_casts_of_floats_are_numpys() -> None:
    own = session()
    x = own.encrypt(np.array([-2.6, 3.4, 100.0]), bound=120)
    for dtype in (np.uint16, np.uint32, np.uint64):
        with pytest.raises(TypeError, match="may not fit"):
            x.astype(dtype)
        found = own.decrypt(x.astype(dtype, casting="unsafe"))
        np.testing.assert_array_equal(found, np.array([-3, 3, 100]).astype(dtype))
        assert found.dtype == dtype
    z = own.encrypt(np.array([0.5 + 0.25j, -1j]))
    np.testing.assert_allclose(own.decrypt(z.astype(np.float64, casting="unsafe")), [0.5, 0], atol=1e-6)
    with pytest.raises(TypeError, match=r"x\.real"):
        z.astype(np.float64)
