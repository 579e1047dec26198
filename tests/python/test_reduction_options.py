"""Reductions with numpy's options beside an axis: `where=`, `initial=`, `dtype=`, `out=`, on arrays of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet.errors import RangeError
from mixed_sets import three

X = np.array([[1, 5, 3], [2, 0, 4]], dtype=np.uint8)
FLAGS = np.array([[True, False, True], [True, True, False]])
KINDS = ["digits", "slots", "floats"]


def _encrypted(values: Any, kind: str) -> Any:
    if kind == "floats":
        return three().encrypt(values, bound=(0, 8), dtype=np.float64)
    return three().encrypt(values, representation=kind, **({"bound": (0, 7)} if kind == "slots" else {}))


def _mask(values: Any, kind: str) -> Any:
    return three().encrypt(values, representation="slots" if kind == "slots" else "digits")


def _check(call: Any, kind: str, *more: Any) -> None:
    """The result of `call` is numpy's: of the elements, and of numbers beside them."""
    clear = X.astype(np.float64) if kind == "floats" else X
    wanted = np.asarray(call(clear, *more))
    found = call(_encrypted(X, kind), *(_mask(one, kind) for one in more))
    result = np.asarray(three().decrypt(found))
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(result, wanted, rtol=0, atol=2e-3 if wanted.dtype.kind == "f" else 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(where=FLAGS), lambda x: np.sum(x, where=FLAGS, axis=0), lambda x: x.sum(initial=5),
        lambda x: np.sum(x, 1, initial=5, keepdims=True), lambda x: x.sum(axis=-1, where=[True, False, True]),
        lambda x: x.prod(1, where=FLAGS), lambda x: np.prod(x[0], initial=2), lambda x: x.mean(where=FLAGS),
        lambda x: np.mean(x, axis=1, where=FLAGS, keepdims=True), lambda x: x.mean(dtype=np.float64),
        lambda x: np.mean(x, dtype=float), lambda x: x.sum(where=True),
        lambda x: np.sum(x, None, None, None, True), lambda x: np.mean(x, axis=0, keepdims=1),
    ],
)  # fmt: skip
def test_sums_products_and_means(call: Any, kind: str) -> None:
    _check(call, kind)


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.max(initial=6), lambda x: np.max(x, 0, initial=0, where=FLAGS), lambda x: np.amax(x),
        lambda x: x.min(initial=1), lambda x: np.min(x, where=FLAGS, initial=7), lambda x: np.amin(x, axis=1),
        lambda x: np.any(x, where=FLAGS), lambda x: x.all(axis=0, where=FLAGS), lambda x: x.sum(dtype=np.int32),
        lambda x: (x > 2).max(initial=0), lambda x: x.max(where=FLAGS, initial=np.int64(2)),
        lambda x: (x > 2).sum(where=FLAGS), lambda x: (x > 2).any(1, keepdims=True),
    ],
)  # fmt: skip
def test_extremes_and_flags(call: Any, kind: str) -> None:
    _check(call, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_encrypted_masks(kind: str) -> None:
    _check(lambda x, m: np.sum(x, axis=0, where=m), kind, FLAGS)
    _check(lambda x, m: x.sum(where=m[0]), kind, FLAGS)


@pytest.mark.parametrize("call", [lambda x: x.argmax(1, keepdims=True), lambda x: np.argmin(x, axis=0, keepdims=True)])
def test_places_keep_axes(call: Any) -> None:
    _check(call, "digits")


@pytest.mark.parametrize("kind", KINDS)
def test_refusals_name_a_fix(kind: str) -> None:
    x, flags = _encrypted(X, kind), _mask(FLAGS, kind)
    with pytest.raises(TypeError, match="use the result"):
        x.sum(out=np.zeros(()))
    with pytest.raises(TypeError, match="use the result"):
        np.max(x, out=np.zeros(()))
    if kind != "floats":
        with pytest.raises(TypeError, match="whole number here"):
            x.sum(initial=0.5)
        with pytest.raises(RangeError, match="does not fit uint8"):
            x.max(initial=300)
    with pytest.raises(TypeError, match="compare first"):
        x.sum(where=[1, 0, 1])
    with pytest.raises(RangeError, match="give this shape"):
        x.sum(where=np.ones((2, 2, 3), dtype=bool))
    with pytest.raises(RangeError, match="beside where="):
        x.max(where=FLAGS)
    with pytest.raises(RangeError, match="one at least"):
        x.mean(axis=0, where=np.array([True, False, True]))
    with pytest.raises(TypeError, match=r"leave dtype= out"):
        x.mean(dtype=np.float32)
    with pytest.raises(TypeError, match=r"assume\(bound=") as refusal:
        x.mean(where=flags)
    # What it says works.
    assert "x.sum(where=m) / m.sum()" in str(refusal.value)
    found = x.sum(where=flags) / flags.sum().assume(bound=(1, flags.size))
    np.testing.assert_allclose(three().decrypt(found), X[FLAGS].mean(), atol=5e-3)


def test_deviations_of_whole_numbers() -> None:
    for kind in ("digits", "slots"):
        x = _encrypted(X, kind)
        np.testing.assert_allclose(three().decrypt(x.var(axis=1)), X.var(axis=1), atol=5e-3)
        assert x.std(bound=(1, 4)).dtype == np.float64
