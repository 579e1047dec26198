"""The circuits on digits in the clear: all pairs of bytes against numpy, and the bootstraps of the design."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import DigitSession, FhewEngine
from aglet.errors import RangeError
from digit_sets import modelled

BYTES = np.arange(256)
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "minimum": np.minimum, "maximum": np.maximum,
    "where": lambda x, y: np.where(x < y, x, y + x), "select": lambda x, y: np.select([x < 9, y < x], [x, y], 7),
}  # fmt: skip
ONE: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "~": operator.invert, "abs": np.abs, "clip": lambda x: np.clip(x, 17, 99),
    "<<3": lambda x: x << 3, ">>3": lambda x: x >> 3, ">>4": lambda x: x >> 4, "<<2": lambda x: x << 2,
    "*5": lambda x: x * 5, "//8": lambda x: x // 8, "%8": lambda x: x % 8, "7-": lambda x: 7 - x,
    "<40": lambda x: x < 40, "==40": lambda x: x == 40, "&12": lambda x: x & 12, "//7": lambda x: x // 7,
}  # fmt: skip


def check(session: DigitSession, operation: Callable[..., Any], *values: Any) -> int:
    """Compare with numpy, in values, dtype and shape. Return the bootstraps."""
    before = session.rotations
    encrypted = operation(*(session.encrypt(x) for x in values))
    with np.errstate(all="ignore"):
        expected = operation(*values)
    found = session.decrypt(encrypted)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    return session.rotations - before


@pytest.mark.parametrize("preset", ["lut4", "wide"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("name", OPERATIONS)
def test_all_pairs_of_bytes(name: str, dtype: Any, preset: str) -> None:
    x, y = (one.astype(dtype).ravel() for one in np.meshgrid(BYTES, BYTES))
    check(modelled(preset), OPERATIONS[name], x, y)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("name", ONE)
def test_all_bytes(name: str, dtype: Any) -> None:
    check(modelled("lut4"), ONE[name], BYTES.astype(dtype))


@pytest.mark.parametrize("name", [*OPERATIONS][5:])
def test_booleans(name: str) -> None:
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    check(modelled("lut4"), OPERATIONS[name], x, y)


TABLE = {
    "+": (4, 8, 16, 32), "-": (4, 8, 16, 32), "neg": (4, 8, 16, 32), "&": (4, 8, 16, 32), "^": (4, 8, 16, 32),
    "<": (3, 5, 11, 21), "==": (3, 5, 9, 18), "where": (4, 8, 16, 32), "minimum": (7, 13, 27, 53),
    "<< 4": (0, 0, 0, 0), "<< 1": (4, 8, 16, 32), "~": (0, 0, 0, 0), "abs": (9, 17, 33, 65),
    "<< (y & mask)": (16, 40, 96, 224), "divmod": (65, 230, 870, 3300),
}  # fmt: skip
"""Blind rotations for 8, 16, 32 and 64 bits: at most those of the design."""


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("name", TABLE)
def test_bootstraps_of_the_design(name: str, column: int) -> None:
    bits, session = 8 << column, modelled("lut4")
    dtype = np.dtype(f"{'i' if name == 'abs' else 'u'}{bits // 8}")
    values = np.array([0, 1, 2**7, 2 ** (bits - 1) - 1]).astype(dtype)
    x, y = session.encrypt(values), session.encrypt(values[::-1].copy())
    flag = x < y
    amount = y & dtype.type(bits - 1)
    calls: dict[str, Callable[[], Any]] = {
        "+": lambda: x + y, "-": lambda: x - y, "neg": lambda: -x, "&": lambda: x & y, "^": lambda: x ^ y,
        "<": lambda: x < y, "==": lambda: x == y, "where": lambda: np.where(flag, x, y),
        "minimum": lambda: np.minimum(x, y), "<< 4": lambda: x << 4, "<< 1": lambda: x << 1, "~": lambda: ~x,
        "abs": lambda: abs(x), "<< (y & mask)": lambda: x << amount, "divmod": lambda: divmod(x, y),
    }  # fmt: skip
    before = session.rotations
    calls[name]()
    each, rest = divmod(session.rotations - before, 4)
    assert rest == 0
    assert each <= TABLE[name][column]


PRODUCTS = {"lut4": (20, 82, 363, 1524), "wide": (14, 54, 209, 820)}
"""The design hopes for about 18, 61, 250 and 1,000, by words of eight bits that no circuit here has."""


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("preset", PRODUCTS)
def test_bootstraps_of_products(preset: str, column: int) -> None:
    session = modelled(preset)
    x, y = (session.encrypt(np.array(value, dtype=f"u{1 << column}")) for value in (77, 201))
    before = session.rotations
    assert session.decrypt(x * y) == np.array(77 * 201).astype(f"u{1 << column}")
    assert session.rotations - before <= PRODUCTS[preset][column]


REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum, "sum of rows": lambda x: x.sum(axis=1), "sum, kept": lambda x: x.sum(axis=(0, 1), keepdims=True),
    "sum in its dtype": lambda x: x.sum(axis=0, dtype=x.dtype), "prod": lambda x: x.prod(axis=0, dtype=x.dtype),
    "any": np.any, "all": lambda x: x.all(axis=0), "count": lambda x: np.count_nonzero(x, axis=1),
    "min": np.min, "max": lambda x: x.max(axis=0), "argmin": np.argmin, "argmax": lambda x: x.argmax(axis=1),
    "sort": np.sort, "sort of columns": lambda x: np.sort(x, axis=0), "argsort": lambda x: np.argsort(x, kind="stable"),
    "cumsum": lambda x: np.cumsum(x, axis=1, dtype=x.dtype), "cumsum in 64 bits": np.cumsum,
    "dot": lambda x: x @ x.T, "vector": lambda x: x[0] @ x[1], "isin": lambda x: np.isin(x, [3, 200, -5, 4000]),
    "searchsorted": lambda x: np.searchsorted(np.array([-9, 3, 90, 110]), x.astype(np.int64), side="right"),
    "moved": lambda x: np.concatenate([x[::-1], np.roll(x, 1), x[:, [0, 0, 2, 1, 3]]]).T.reshape(5, -1)[1:, ::2],
    "stacked": lambda x: np.stack([x, x + 1], axis=-1), "split": lambda x: np.split(x, 3)[1],
    "joined to numbers": lambda x: np.concatenate([x.ravel(), np.array([7], dtype=x.dtype)]),
    "64 bits": lambda x: x.astype(np.int64) * 3 - 5, "truth": lambda x: x.astype(bool, casting="unsafe"),
    "mask": lambda x: (x & 15).astype(np.uint8, casting="unsafe"), "logical": lambda x: np.logical_and(x, x > 5),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_numpy(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 256, (3, 5)).astype(dtype)
    values[0, 2] = values[1, 4] = np.iinfo(dtype).max
    function = REDUCTIONS[name]
    if name == "argsort":
        session = modelled("lut4")
        found = session.decrypt(np.argsort(session.encrypt(values)))
        np.testing.assert_array_equal(found, np.argsort(values, kind="stable"))
        return
    check(modelled("lut4"), function, values)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 20])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
def test_argsort_of_every_length(dtype: Any, count: int) -> None:
    """Places have an odd or an even number of digits below those of the values, and the sign is in the last one."""
    values = np.random.default_rng(count).integers(-3, 4, (2, count)).astype(dtype)
    session = modelled("lut4")
    x = session.encrypt(values)
    for axis in (0, 1, None):
        found = session.decrypt(np.argsort(x, axis=axis))
        np.testing.assert_array_equal(found, np.argsort(values, axis=axis, kind="stable"))


@pytest.mark.parametrize("shapes", [((2, 3, 2), (2, 3, 2)), ((2,), (3, 1, 2)), ((2, 2), (2, 2, 2)), ((1, 2, 3), (3,))])
def test_inner_of_stacks(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Products of all pairs of rows, where `@` pairs matrices."""
    random = np.random.default_rng(5)
    x, y = (random.integers(0, 256, shape).astype(np.uint8) for shape in shapes)
    check(modelled("lut4"), lambda x: np.inner(x, y), x)
    check(modelled("lut4"), lambda y: np.inner(x, y), y)
    session = modelled("lut4")
    found = session.decrypt(np.inner(session.encrypt(x), session.encrypt(y)))
    np.testing.assert_array_equal(found, np.inner(x, y))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.int64])
def test_clipping_to_whole_digits(dtype: Any) -> None:
    """From 0 to 3, 15, 63, 255, ...: no comparison is needed."""
    ends = np.iinfo(dtype)
    edges = {v for k in range(ends.bits) for v in (2**k - 1, 2**k, -(2**k), 1 - 2**k) if ends.min <= v <= ends.max}
    values = np.array(sorted(edges), dtype=dtype)
    for count in range(1, ends.bits // 2):
        rotations = check(modelled("lut4"), lambda x, most=4**count - 1: np.clip(x, 0, most), values)
        assert rotations <= values.size * (count + (4 if ends.bits <= 16 else 12))
    check(modelled("lut4"), lambda x: np.clip(x, None, 15), values.astype(np.uint16))


def test_counts_and_tables() -> None:
    values = np.array([3, 0, 7, 7, 1], dtype=np.uint8)
    table = np.array([7, 300, 2, 65_000, 0, 9, 1, 5], dtype=np.uint16)
    check(modelled("lut4"), lambda x: np.bincount(x & 7, minlength=8), values)
    own = modelled("lut4")
    np.testing.assert_array_equal(own.decrypt(own.take(table, own.encrypt(values) & 7)), table[values & 7])
    rng = np.random.default_rng(4)
    taken = rng.integers(0, 2**32, 256, dtype=np.uint32)
    wide = modelled("wide")
    before, places = wide.rotations, wide.encrypt(BYTES.astype(np.uint8))
    np.testing.assert_array_equal(wide.decrypt(wide.take(taken, places)), taken)
    assert wide.rotations - before <= 256 * 17


WEIGHTS: dict[str, Callable[[Any, Any], Any]] = {
    "matrix": lambda x, w: x @ w, "vector": lambda x, w: x @ w[:, 1], "clear first": lambda x, w: w.T @ x.T,
    "clear vector first": lambda x, w: w[:, 0] @ x.T, "of vectors": lambda x, w: x[0] @ w[:, 2],
    "stack": lambda x, w: np.stack([x, x[::-1]]) @ w, "no rows": lambda x, w: x[:0] @ w,
    "no columns": lambda x, w: x @ w[:, :0],
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint64, np.int64])
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_in_the_clear(name: str, dtype: Any) -> None:
    """Of each sign and size, those at the ends of the dtype included. Sums wrap around as in numpy."""
    rng, ends = np.random.default_rng(5), np.iinfo(dtype)
    x, w = (rng.integers(ends.min, ends.max, shape, dtype, endpoint=True) for shape in ((3, 4), (4, 3)))
    w[:, 1], w[0, 2] = [0, 1, 3, ends.max], ends.min
    check(modelled("lut4"), lambda x: WEIGHTS[name](x, w), x)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_all_multiples_of_bytes(dtype: Any) -> None:
    rotations = [check(modelled("lut4"), lambda x, w=w: x * w, BYTES.astype(dtype)) for w in BYTES.astype(dtype)]
    # 14 for 255, and 10 for 10, with a table for each pair of digits.
    assert max(rotations) <= 256 * 8
    assert np.mean(rotations) <= 256 * 5


def test_bootstraps_of_weights() -> None:
    """A kernel of an image takes hardly more than the sum of its elements."""
    kernel = np.array([0, -1, 0, -1, 5, -1, 0, -1, 0], dtype=np.int16)
    values = np.random.default_rng(6).integers(0, 256, (5, 9), dtype=np.uint8)
    assert check(modelled("lut4"), lambda x: x.astype(np.int16) @ kernel, values) <= 5 * 12


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.uint64])
def test_division_by_few_digits(dtype: Any) -> None:
    """Digits at the top that are known to be 0 take no work; 0 is among the divisors."""
    rng, ends = np.random.default_rng(8), np.iinfo(dtype)
    x = np.concatenate(
        [np.array([ends.min, ends.max, 0, 1], dtype), rng.integers(ends.min, ends.max, 36, dtype, endpoint=True)]
    )
    y = np.tile(np.array([0, 1, 3, 4, 5, 16, 100, 255, 7, 2], dtype=np.uint8), 4)
    session = modelled("lut4")
    few = check(session, lambda x, y: divmod(x, y.astype(dtype))[0], x, y)
    check(session, lambda x, y: divmod(x, y.astype(dtype))[1], x, y)
    assert few < 0.8 * check(session, operator.floordiv, x, y.astype(dtype))
    for divisor in (0, 1, 3, 7, 10, 100):
        check(session, lambda x, divisor=divisor: x // divisor, x)
        check(session, lambda x, divisor=divisor: x % divisor, x)
    check(session, lambda y: 100 // y, y)


def test_chosen_flags_are_flags() -> None:
    """They were digits of two bits, of which more than five could not be counted at once."""
    session, flags = modelled("lut4"), np.random.default_rng(9).integers(0, 2, (2, 20)).astype(bool)
    calls: list[Callable[[Any, Any], Any]] = [
        lambda x, y: np.where(x, y, True).all(), lambda x, y: np.where(x, True, y).any(axis=-1),
        lambda x, y: np.where(x, y, ~y).sum(), lambda x, y: np.where(x, flags[0], flags[1]).all(),
        lambda x, y: np.select([x, y], [y, x], True).all(), lambda x, y: np.minimum(x, y).all(),
    ]  # fmt: skip
    for call in calls:
        check(session, call, *flags)
    chosen: Any = np.where(*(session.encrypt(x) for x in flags), True)
    assert chosen.digits[0].high == 1


def test_a_plan_refuses_what_ciphertexts_would() -> None:
    """The preset has too much noise for bytes: their plan says so, as their session does."""
    with pytest.raises(RangeError, match='preset="wide"'):
        DigitSession.plan(lambda x: x.session.take(BYTES, x) + 1, [((2,), np.uint8)], engine=FhewEngine(bits=4))
