"""Slots of numbers with and without a table: membership, places among edges, signs, and what is true of two arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mixed_sets import three

SOME = [3, 50, 77]
EDGES = np.array([-1e30, 2.5, 3, 50, 1e30])
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "isin": lambda x, y: np.isin(x, SOME),
    "isin, inverted": lambda x, y: np.isin(x, np.array(SOME, dtype=x.dtype), invert=True) & (y > 3),
    "isin of nothing": lambda x, y: np.isin(x, np.array([], dtype=x.dtype)),
    "searchsorted": lambda x, y: np.searchsorted(EDGES, x) * 2,
    "searchsorted, right": lambda x, y: np.searchsorted(np.array(SOME, dtype=x.dtype), x, side="right"),
    "digitize": lambda x, y: np.digitize(x, SOME[::-1], right=True),
    "sign": lambda x, y: np.sign(x),
    "logical_and": np.logical_and,
    "logical_or": lambda x, y: np.logical_or(x, y) ^ (x == y),
    "logical_xor": np.logical_xor,
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32"])
def test_beside_numpy(dtype: str, call: str) -> None:
    """Of 16 and 32 bits comparisons decide, where a table of all values would be too long."""
    info = np.iinfo(dtype)
    x = np.array([info.max, info.min, 0, 50, 3, 2, 77], dtype=dtype)
    y = np.roll(x, 2)
    found = CALLS[call](*(three().encrypt(one, representation="slots") for one in (x, y)))
    wanted = CALLS[call](x, y)
    got = three().decrypt(found)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
