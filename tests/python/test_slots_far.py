"""Slots of few values that lie beyond the modulus: every operator counts them from where they begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet.errors import RangeError
from fuzz.sizes import few_slots

FAR = [
    ("u4", 100_000, 100_010), ("i4", -(2**31), -(2**31) + 9), ("u4", 2**32 - 5000, 2**32 - 1), ("i4", 70_000, 130_000),
    ("u4", 7_436_891, 7_436_891),
]  # fmt: skip
"""A dtype, and the bound that is declared."""
PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "<": np.less, "==": np.equal, "min": np.minimum,
    "&": np.bitwise_and, "^": np.bitwise_xor,
    "where": lambda x, y: np.where(x > y, x, y), "<<": lambda x, y: x << (y & y.dtype.type(7)),
    ">>": np.right_shift,
}  # fmt: skip
ONE: dict[str, Callable[[Any], Any]] = {
    "-": np.negative, "~": np.invert, "//": lambda x: x // 10, "%": lambda x: x % 16, "square": np.square,
    "sort": np.sort, "argsort": lambda x: np.argsort(x, kind="stable"), "max": lambda x: x.max(),
    "argmax": lambda x: x.argmax(), "twice": lambda x: np.sort(x) - x,
}  # fmt: skip


def drawn(dtype: str, low: int, high: int) -> tuple[Any, Any]:
    """Four numbers with both ends among them, encrypted and in the clear."""
    clear = np.random.default_rng(low % 97).integers(low, high, 4, endpoint=True).astype(dtype)
    clear[:2] = high, low
    return few_slots().encrypt(clear, bound=(low, high), representation="slots"), clear


def check(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (np.shape(wanted), np.asarray(wanted).dtype)
    np.testing.assert_array_equal(few_slots().decrypt(found), wanted)
    low, high = found.bound
    assert low <= np.min(wanted) <= np.max(wanted) <= high


@pytest.mark.parametrize("call", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("far", FAR, ids=str)
def test_pairs(far: tuple[str, int, int], call: Any) -> None:
    (x, a), (y, b) = drawn(*far), drawn(*far)
    turned = b[::-1].copy()
    for found, wanted in ((call(x, y[::-1]), call(a, turned)), (call(x, turned), call(a, turned))):
        check(found, wanted)
    if call is not np.right_shift:
        check(call(turned, x), call(turned, a))


@pytest.mark.parametrize("call", ONE.values(), ids=ONE)
@pytest.mark.parametrize("far", FAR, ids=str)
def test_functions_of_one(far: tuple[str, int, int], call: Any) -> None:
    x, a = drawn(*far)
    if far[2] - far[1] > 4096 and call is ONE["argsort"]:
        with pytest.raises(RangeError, match="smaller range"):
            call(x)
    else:
        check(call(x), call(a))


@pytest.mark.parametrize("far", FAR, ids=str)
def test_casts(far: tuple[str, int, int]) -> None:
    x, a = drawn(*far)
    for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "i8", "?"):
        check(x.astype(dtype, casting="unsafe"), a.astype(dtype))
    check(x.astype(np.int64) - far[1], a.astype(np.int64) - far[1])


def test_refusals_name_what_there_is() -> None:
    own = few_slots()
    x = own.encrypt(np.array([1, 40], dtype=np.uint32), representation="slots")
    for call in (lambda: x << np.int8([1, 3]), lambda: np.int8([1, 3]) << x):
        with pytest.raises(TypeError, match="gives int64 here"):
            call()
    with pytest.raises(RangeError, match="by numbers in the clear, up to 512"):
        x // 70_001
