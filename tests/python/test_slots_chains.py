"""Operations in slots on what other operations made: products that wrap, functions of an array with itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from test_slots_wide import check, session

RANDOM = np.random.default_rng(64)
ENDS = [0, 1, 15, 16, 17, 127, 128, 129, 240, 255]
OF_8_BITS: list[Any] = [
    lambda x, y: x * y * y, lambda x, y: (x >> 1) * (y // 3), lambda x, y: (x + 1) * y, lambda x, y: -x * ~y,
    lambda x, y: np.maximum(x, y) * y, lambda x, y: np.where(x > y, x, 7) * y, lambda x, y: abs(x) * y,
    lambda x, y: (x >> 1) * np.arange(len(x)).astype(x.dtype), lambda x, y: x.astype(np.int16) * y,
]  # fmt: skip
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
WITH_ITSELF: list[Any] = [
    lambda x: x & (x >> 1), lambda x: x ^ (x + 1), lambda x: x | x << 3, lambda x: (x >> 1) * x, lambda x: (x >> 2) - x,
    lambda x: (x ^ x >> 1) ^ x >> 2, lambda x: x & -x, lambda x: -(x >> 2), lambda x: ~(x >> 3) ^ x,
    lambda x: abs(x >> 2), lambda x: (x >> 1) != 0, lambda x: x.astype(np.int64) | x >> 1,
    lambda x: np.square(x >> 3), lambda x: (x >> 1) > 5, lambda x: (x >> 3) < (x & 1023),
    lambda x: np.minimum(x >> 3, 77),
    lambda x: np.maximum(x >> 3, x & 255), lambda x: np.logical_and(x >> 1, x), lambda x: np.logical_not(x >> 3),
    lambda x: ((x & 1) == 1) & ((x >> 8 & 1) == 1), lambda x: ((x & 1) == 1) ^ ((x >> 8 & 1) == 1),
    lambda x: ((x & 16) == 16) & x, lambda x: np.where(x & 256 == 0, x >> 1, x << 1),
    lambda x: (x >> 3).astype(bool, casting="unsafe"), lambda x: (x >> 3).astype(np.int64) * 3,
]  # fmt: skip
"""Functions of 16 bits whose digits are no sums of tables: as those of two arrays."""


def pairs(dtype: Any) -> tuple[Any, Any]:
    """Ends of digits with all of them, and random numbers."""
    ends = np.array(np.meshgrid(ENDS, ENDS)).reshape(2, -1)
    x, y = np.concatenate([ends, RANDOM.integers(0, 256, (2, 400))], axis=1).astype(np.uint8).view(dtype)
    return x, y


@pytest.mark.parametrize("call", OF_8_BITS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_products_of_8_bits_behind_other_operations(call: Any, dtype: Any) -> None:
    x, y = pairs(dtype)
    check(call(*(session().encrypt(one) for one in (x, y))), call(x, y))


@pytest.mark.parametrize("bound", [(0, 200), (7, 250), (3, 130)])
def test_products_of_8_bits_of_any_range(bound: tuple[int, int]) -> None:
    x, y = (np.clip(one, *bound) for one in pairs(np.uint8))
    a, b = (session().encrypt(one, bound=bound) for one in (x, y))
    check(a * b, x * y)
    check(a * y, x * y)
    check(x * b, x * y)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_products_of_16_bits_that_lie_in_one_slot(dtype: Any) -> None:
    low, high = (0, 300) if dtype is np.uint16 else (-200, 300)
    x, y = RANDOM.integers(low, high + 1, (2, 500)).astype(dtype)
    x[:2], y[:2] = (low, high), (low, high)
    a, b = (session().encrypt(one, bound=(low, high)) for one in (x, y))
    assert a.numbers.shape == (1, 1)
    check(a * b, x * y)
    check(a * (b + dtype(5)), x * (y + dtype(5)))
    others = RANDOM.integers(0, 30_000, 500).astype(dtype)
    check(a * others, x * others)


@pytest.mark.parametrize("call", WITH_ITSELF)
@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_functions_of_16_bits_with_themselves(call: Any, dtype: Any) -> None:
    x = np.concatenate([ENDS, RANDOM.integers(0, 65536, 300), 65535 - np.array(ENDS)]).astype(np.uint16).view(dtype)
    check(call(session().encrypt(x)), call(x))


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.uint32, np.int32])
def test_flags_beside_words_in_the_clear(dtype: Any) -> None:
    """They lie in digits: one slot with as many values would have no function."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x, y = RANDOM.integers(0, 200, 300).astype(np.uint8), RANDOM.integers(low, high, 300, endpoint=True).astype(dtype)
    y[:2] = low, high
    a = session().encrypt(x)
    with np.errstate(over="ignore"):
        for call in (np.add, np.subtract, np.multiply, *BITS, np.minimum, np.maximum):
            check(call(y, a > 99) ^ y, call(y, x > 99) ^ y)
            check(call(a > 99, y) > 1000, call(x > 99, y) > 1000)
            check(call((a > 99) + dtype(5), y), call((x > 99) + dtype(5), y))
        check(((a < 201) * y) - y[::-1], ((x < 201) * y) - y[::-1])
