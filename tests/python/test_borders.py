"""Comparisons of encrypted whole numbers with floats in the clear: exact booleans, as of numpy, without a float."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import EncryptedIntegers, EncryptedSlots
from mixed_sets import three
from test_clear_operands import Column

COMPARISONS = [np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal]
ODD = [2.5, -0.0, np.inf, -np.inf, np.nan, -1e30]
DTYPES = [np.bool_, np.uint8, np.int8, np.uint16, np.int32]


def _numbers(dtype: Any) -> Any:
    low, high = (0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return np.array([low, high, 0, 1, min(2, high), min(3, high)]).astype(dtype)


def _check(found: Any, wanted: Any) -> None:
    assert isinstance(found, EncryptedIntegers | EncryptedSlots)
    assert (found.shape, found.dtype) == (np.shape(wanted), np.bool_)
    np.testing.assert_array_equal(three().decrypt(found), wanted)


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_borders_are_floats(kind: str, dtype: Any) -> None:
    """Elements that are equal to a border were one half: floats of CKKS are undecided there."""
    x = _numbers(dtype)
    a = three().encrypt(x, representation=kind)
    for at, compare in enumerate(COMPARISONS):
        for border in (ODD[at], float(x[1]), float(x[0]) - 0.5, float(x[1]) + 1):
            _check(compare(a, border), compare(x, border))
        _check(compare(np.float32(ODD[-at]), a), compare(np.float32(ODD[-at]), x))
        row = np.array([2.0, 2.5, np.nan, 1.0, np.inf, 3.0])
        _check(compare(a, row), compare(x, row))
        column = np.float16([[1.0], [0.5]])
        _check(compare(column, a[:2]), compare(column, x[:2]))


@pytest.mark.parametrize("kind", ["digits", "slots"])
def test_operators_and_other_forms(kind: str) -> None:
    x = np.array([17, 18, 19], dtype=np.uint8)
    a = three().encrypt(x, representation=kind)
    _check((a >= 18.0) & (a < 18.5), (x >= 18.0) & (x < 18.5))
    _check(a == [17.0, 17.5, 19.0], x == [17.0, 17.5, 19.0])
    _check(a > Column([17.0, 17.5, 19.0]), x > np.array([17.0, 17.5, 19.0]))
    _check(np.greater(18.0, a), x < 18)
    _check(a[:0] < 2.5, x[:0] < 2.5)
    _check(a[:0] < np.zeros(0), x[:0] < 2.5)
    assert three().decrypt(np.where(a < 18.5, a, 0)).tolist() == [17, 18, 0]
    with pytest.raises(TypeError, match="masked"):
        np.less(a, np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]))


def test_numbers_of_64_bits() -> None:
    x = np.array([0, 2**40, 7, 2**63 - 1], dtype=np.int64)
    a = three().encrypt(x, representation="digits")
    for compare in COMPARISONS:
        for border in (7.0, 7.5, 2.0**40, -1e300, 1e300, np.nan):
            _check(compare(a, border), compare(x, border))
        for row in ([0.0, 1.0, 7.0, 7.0], [np.nan, 2.0**63, 7.5, -(2.0**64)]):
            _check(compare(a, np.array(row)), compare(x, np.array(row)))
