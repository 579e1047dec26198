"""Operands of encrypted integers that are no plain arrays: masks, matrices, tuples, copies, wrong arguments."""

from __future__ import annotations

import copy
import fractions
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from aglet.errors import RangeError
from digit_sets import modelled

SESSION = modelled("lut4")
X = np.array([5, 200], dtype=np.uint8)
MASKED: Any = np.ma.masked_array([1, 2], [False, True])


def _matrix() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asmatrix([[1, 2], [3, 4]])


class Column:
    """What a column of pandas is to this class: values behind a method, and an operator that steps aside."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def to_numpy(self) -> Any:
        return self._values

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._values


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + MASKED, lambda x: x == MASKED, lambda x: np.where(MASKED > 0, x, 0), lambda x: np.isin(x, MASKED),
        lambda x: np.concatenate([x, MASKED]), lambda x: np.logical_and(x, MASKED), lambda x: x @ MASKED,
        lambda x: np.select([MASKED > 0], [x]), lambda x: SESSION.encrypt(MASKED), lambda x: SESSION.clear(MASKED),
        lambda x: SESSION.take(MASKED, x),
    ],
)  # fmt: skip
def test_masks_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="masked"):
        call(SESSION.encrypt(X))


def test_matrices_of_numpy_are_refused() -> None:
    """Their * is a matrix product."""
    m = _matrix()
    x = SESSION.encrypt(np.arange(4).reshape(2, 2))
    for call in (lambda: x * m, lambda: m * x, lambda: x @ m):
        with pytest.raises(TypeError, match=r"numpy\.asarray"):
            call()


def test_equality_is_never_one_of_identity() -> None:
    x = SESSION.encrypt(X)
    assert SESSION.decrypt(x == (5, 2)).tolist() == [True, False]
    assert SESSION.decrypt(x != (5, 2)).tolist() == [False, True]
    assert SESSION.decrypt(x == Column([5, 2])).tolist() == [True, False]
    assert SESSION.decrypt(Column([1, 2]) + x).tolist() == [6, 202]
    assert (x == None) is False  # noqa: E711
    for other in ("5", fractions.Fraction(5), object(), {5}):
        with pytest.raises(TypeError, match="convert it first"):
            _ = x == other
        with pytest.raises(TypeError, match="convert it first"):
            _ = x != other


def test_copies_stay_in_the_session() -> None:
    x = SESSION.encrypt(X)
    for one in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0]):
        assert one is not x
        assert one.session is SESSION
        assert SESSION.decrypt(one).tolist() == X.tolist()
    with pytest.raises(TypeError, match=r"session\.save"):
        pickle.dumps(x)


@pytest.mark.parametrize(("name", "value"), [("shape", (2, 1)), ("dtype", np.dtype(np.int8)), ("bound", (0, 1))])
def test_arrays_do_not_change(name: str, value: Any) -> None:
    with pytest.raises(AttributeError, match="never change"):
        setattr(SESSION.encrypt(X), name, value)


def test_the_dtype_of_select() -> None:
    """That of all choices and of the default, however many are numbers of Python or booleans."""
    flags = [np.array([True, False]), np.array([False, True])]
    x, b, wide = X, X > 5, X.astype(np.int32)
    for choices, default in (
        ([wide, b], 7), ([b, wide], 7), ([b, b], False), ([b, b], 3), ([b, 2], 0), ([x, b], wide), ([x, x], wide),
    ):  # fmt: skip
        expected = np.select(flags, choices, default)
        given = [SESSION.encrypt(one) if isinstance(one, np.ndarray) else one for one in (*choices, default)]
        for conditions in (flags, [SESSION.encrypt(one) for one in flags]):
            found = np.select(conditions, given[:-1], given[-1])
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(SESSION.decrypt(found), expected)
    # numpy refuses numbers of Python beside uint8 here.
    assert SESSION.decrypt(np.select(flags, [1, SESSION.encrypt(x)], 7)).tolist() == [1, 200]
    for choices, default in (([x, -1], 0), ([x, 1], 300)):
        with pytest.raises(RangeError, match="does not fit"):
            np.select(flags, [SESSION.encrypt(choices[0]), choices[1]], default)


def test_wrong_arguments_have_a_sentence() -> None:
    x, m = SESSION.encrypt(X), SESSION.encrypt(X.reshape(1, 2))
    calls: list[Any] = [
        lambda: np.sort(x, order="f"), lambda: np.where(x > 5), lambda: np.cumsum(x, out=1),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(TypeError, match=r"^numpy\.[a-z.]+ on encrypted arrays takes .*; leave .*\.$"):
            call()
    assert SESSION.decrypt(np.sum(x, out=None)) == X.sum()
    for call in (
        lambda: np.concatenate([x, m]), lambda: np.stack([x, m]), lambda: np.rot90(x), lambda: np.moveaxis(x, 3, 0),
        lambda: np.diagonal(x), lambda: np.searchsorted(m, x),
    ):  # fmt: skip
        with pytest.raises(RangeError, match=r"^(This|numpy).*\.$"):
            call()
