"""What encrypted arrays do not have: each refusal names something, and what it names works."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from mixed_sets import three

X = np.array([3, 0, 7, 1], dtype=np.uint8)
Y = np.array([1, 0, 2, 3], dtype=np.uint8)
V = np.array([0.5, -0.25, 1.0, 0.75])
MASK = np.array([True, False, False, True])
NAMES = {"numpy": np, "functools": functools, "itertools": itertools, "mask": MASK, "n": 8, "number": 7, "dtype": "i1"}

# The call that is refused, the words of the refusal that are run instead, and what numpy gives.
DIGITS: list[tuple[str, str, Any]] = [
    ("numpy.unique(x)", "numpy.isin(x, [0, 9])", np.isin(X, [0, 9])),
    ("x.nonzero()", "numpy.where(mask, x, 0)", np.where(MASK, X, 0)),
    ("x.__setitem__(0, 1)", "numpy.where(mask, 9, x)", np.where(MASK, 9, X)),
    ("numpy.quantile(x, 0)", "numpy.sort(x)", np.sort(X)),
    ("numpy.partition(x, 1)", "numpy.sort(x)", np.sort(X)),
    ("numpy.lexsort((y, x))", "numpy.argsort(x * n + y)", np.lexsort((Y, X))),
    ("numpy.piecewise(x, [x > 2], [1, 0])", "numpy.select([mask], [x], y)", np.select([MASK], [X], Y)),
    ("numpy.insert(x, 1, y)", "numpy.concatenate([x[:2], y, x[2:]])", np.concatenate([X[:2], Y, X[2:]])),
    ("numpy.array_equal(x, x)", "(x == y).all()", np.bool_(False)),
    ("numpy.isclose(x, x)", "x == y", X == Y),
    ("7 in x", "(x == number).any()", np.bool_(True)),
    ("x.view('i1')", "x.astype(dtype, casting='unsafe')", X.astype("i1")),
    (
        "numpy.maximum.accumulate(x)",
        "numpy.stack(list(itertools.accumulate(x, numpy.maximum)))",
        np.maximum.accumulate(X),
    ),
    ("numpy.bitwise_or.reduce(x)", "functools.reduce(numpy.bitwise_or, x)", np.bitwise_or.reduce(X)),
    ("numpy.add.at(x, [0], 1)", "numpy.where(mask, numpy.add(x, y), x)", np.where(MASK, X + Y, X)),
    ("numpy.add(x, 1, dtype='i2')", "numpy.add(x.astype('i2'), 1)", X.astype("i2") + 1),
    ("2 ** x", "1 << x", 1 << X),
    ("max(x)", "x.max()", X.max()),
    ("numpy.vecdot(x, y)", "(x * y).sum(axis=-1)", (X * Y).sum(axis=-1)),
    ("numpy.choose(x & 1, [x, y])", "numpy.select([x == 0], [y], x)", np.select([X == 0], [Y], X)),
    ("numpy.take_along_axis(x, y, 0)", "numpy.take_along_axis(x, numpy.array([3, 0, 1]), 0)", X[[3, 0, 1]]),
]  # fmt: skip
SLOTS: list[tuple[str, str, Any]] = [
    ("numpy.real(x)", "numpy.real(x.to('digits'))", X),
]
FLOATS: list[tuple[str, str, Any]] = [
    ("v % 1", "(8 * v).astype(numpy.int16) % 3", (8 * V).astype(np.int16) % 3),
    ("v // 1", "(8 * v).astype(numpy.int16) // 3", (8 * V).astype(np.int16) // 3),
    ("v == 0.5", "(8 * v).astype(numpy.int16) == 4", V == 0.5),
    ("numpy.round(v)", "(8 * v).astype(numpy.int16)", (8 * V).astype(np.int16)),
    ("2 ** v", "numpy.exp(v * numpy.log(2))", 2**V),
    ("v.__setitem__(0, 1)", "numpy.where(mask, 0.25, v)", np.where(MASK, 0.25, V)),
    ("numpy.digitize(v, [0, 1])", "numpy.digitize((8 * v).astype(numpy.int16), [0, 5])", np.digitize(8 * V, [0, 5])),
    ("numpy.logical_not(v)", "1 - v", 1 - V),
    ("numpy.take_along_axis(v, v, 0)", "numpy.take_along_axis(v, numpy.array([3, 0, 1]), 0)", V[[3, 0, 1]]),
    ("v.tolist()", "v[0] + v.sum()", V[0] + V.sum()),
    ("numpy.isclose(v, v)", "(v - 0.5) ** 2", (V - 0.5) ** 2),
]


def _run(cases: tuple[str, str, Any], kind: str) -> None:
    refused, instead, wanted = cases
    how: dict[str, Any] = {"representation": "slots", "bound": (0, 7)} if kind == "slots" else {}
    given = {**NAMES, "x": three().encrypt(X, **how), "y": three().encrypt(Y, **how), "v": three().encrypt(V)}
    with pytest.raises((TypeError, AttributeError)) as refusal:
        eval(refused, dict(given))
    assert str(refusal.value).endswith(".")
    assert "WholeNumbers" not in str(refusal.value)
    found = eval(instead, dict(given))
    result = np.asarray(three().decrypt(found))
    assert (result.dtype, result.shape) == (np.asarray(wanted).dtype, np.shape(wanted))
    np.testing.assert_allclose(result.astype(float), np.asarray(wanted).astype(float), atol=0.02)


@pytest.mark.parametrize("case", DIGITS, ids=lambda case: case[0])
def test_of_digits(case: tuple[str, str, Any]) -> None:
    _run(case, "digits")


@pytest.mark.parametrize("case", SLOTS, ids=lambda case: case[0])
def test_of_slots(case: tuple[str, str, Any]) -> None:
    _run(case, "slots")


@pytest.mark.parametrize("case", FLOATS, ids=lambda case: case[0])
def test_of_floats(case: tuple[str, str, Any]) -> None:
    _run(case, "digits")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, v: np.unique(x), "numpy.isin"), (lambda x, v: x.nonzero, "numpy.where"),
        (lambda x, v: x.tolist, "session.decrypt"), (lambda x, v: x.trace, "use numpy.trace"),
        (lambda x, v: np.quantile(x, 0), "numpy.sort"), (lambda x, v: v % 1, "int16"), (lambda x, v: v // 1, "int16"),
        (lambda x, v: np.abs(v * 1j), r"x\.real"),
        (lambda x, v: np.round(v), "rounds"), (lambda x, v: 2**v, "numpy.exp"), (lambda x, v: v**-1, "1 / x"),
        (lambda x, v: f"{x[0]:.2f}", "decrypt"), (lambda x, v: sorted(x), "numpy.sort"),
        (lambda x, v: np.interp(x, [0, 1], [0, 1]), "session.take"), (lambda x, v: x.strides, "session.decrypt"),
        (lambda x, v: three().take([1, 2, 3], x), r"x & 1\."), (lambda x, v: np.any(v), "sum"),
    ],
)  # fmt: skip
def test_what_refusals_say(call: Any, words: str) -> None:
    with pytest.raises((TypeError, AttributeError, ValueError), match=words):
        call(three().encrypt(X), three().encrypt(V))


def test_counts_of_bits_and_what_is_whole() -> None:
    for clear in (X, np.array([-128, -1, 0, 127], dtype=np.int8), np.array([-300, 32767], dtype=np.int16), MASK):
        for call in (np.bitwise_count, np.floor, np.ceil, np.trunc):
            if clear.dtype == bool and call is np.bitwise_count:
                continue
            found, wanted = three().decrypt(call(three().encrypt(clear))), call(clear)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)
    for kind in ("digits", "slots"):
        x = three().encrypt(X, representation=kind)
        np.testing.assert_array_equal(three().decrypt(np.round(x, 1)), X)
        for found, wanted in zip(divmod(x, 3), divmod(X, 3), strict=True):
            np.testing.assert_array_equal(three().decrypt(found), wanted)
