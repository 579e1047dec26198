"""Operands in the clear that are no plain arrays of numpy, for all kinds of arrays: masks, columns, mixed lists."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from aglet import zmod
from aglet.errors import RangeError
from mixed_sets import three

X = np.array([1, 5, 3, 2], dtype=np.uint8)
MASKED: Any = np.ma.masked_array(X[::-1], [False, True, False, False])
KINDS = ["digits", "slots", "floats"]
NUMPY: Any = np


class Column:
    """What a column of pandas is: values behind a method, an operator that steps aside, a dtype of its own."""

    dtype = "a dtype of its own"

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def to_numpy(self) -> Any:
        return self._values

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._values


def _encrypted(values: Any, kind: str) -> Any:
    if kind == "floats":
        return three().encrypt(values, bound=(0, 8), dtype=np.float64)
    return three().encrypt(values, representation=kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + MASKED, lambda x: np.where(MASKED > 1, x, 0), lambda x: x @ MASKED,
        lambda x: np.kron(x, MASKED), lambda x: np.polyval(MASKED, x), lambda x: np.append(x, MASKED),
        lambda x: np.cross(x[:3], MASKED[:3]), lambda x: np.compress(MASKED > 1, x), lambda x: np.vdot(x, MASKED),
        lambda x: np.ediff1d(x, to_end=MASKED), lambda x: np.full_like(x, MASKED), lambda x: np.convolve(x, MASKED),
        lambda x: np.concatenate([x, MASKED]), lambda x: np.tensordot(x, MASKED, 1),
    ],
)  # fmt: skip
def test_masks_are_refused(call: Any, kind: str) -> None:
    """A number that is masked is no number, and would be computed with."""
    with pytest.raises(TypeError, match="masked"):
        call(_encrypted(X, kind))


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x == MASKED, lambda x: x < MASKED, lambda x: np.minimum(x, MASKED),
        lambda x: np.where(x > 2, MASKED, 0), lambda x: np.where(x > 2, x, MASKED), lambda x: x // MASKED,
    ],
)  # fmt: skip
def test_masks_are_not_compared(call: Any, kind: str) -> None:
    with pytest.raises(TypeError, match="masked"):
        call(_encrypted(X, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_masked_values_are_not_encrypted(kind: str) -> None:
    with pytest.raises(TypeError, match="masked"):
        _encrypted(MASKED, kind)


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize("wrapped", [Column, list, tuple])
def test_floats_in_columns_and_lists_make_floats(kind: str, wrapped: Any) -> None:
    """Also where the first number of a list is whole."""
    for numbers in ([0.5, 0.25, 1.0, 2.0], [1, 0.5, 2, 4]):
        found = _encrypted(X, kind) * wrapped(numbers)
        assert found.dtype == np.float64
        np.testing.assert_allclose(three().decrypt(found), X * np.array(numbers), atol=2e-3)


@pytest.mark.parametrize("kind", ["digits", "slots"])
def test_columns_of_whole_numbers(kind: str) -> None:
    for call in (lambda x, y: x & 3 == y, lambda x, y: np.where(x > 2, y, 0), lambda x, y: x.astype(np.int16) - y):
        found = call(_encrypted(X, kind), Column(X[::-1]))
        wanted = call(X, X[::-1])
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(three().decrypt(found), wanted)


@pytest.mark.parametrize("kind", ["digits", "slots"])
def test_text_is_refused(kind: str) -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        np.where(_encrypted(X, kind) > 2, "yes", "no")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "call",
    [
        lambda x, m: x * m, lambda x, m: m * x, lambda x, m: np.multiply(x, m), lambda x, m: x @ m,
        lambda x, m: np.concatenate([x, m]),
    ],
)  # fmt: skip
def test_matrices_of_numpys_class_are_refused(call: Any, kind: str) -> None:
    """Their `*` is a matrix product, and what slots made of it was one element by element."""
    matrix: Any = np.matrix([[1, 2], [3, 1]], dtype=np.uint8)
    with pytest.raises(TypeError, match=r"numpy\.asarray\(m\)"):
        call(_encrypted(X.reshape(2, 2), kind), matrix)


def test_residues_refuse_matrices_and_name_their_cast() -> None:
    residues = three().encrypt(X.reshape(2, 2), dtype=zmod(65537))
    with pytest.raises(TypeError, match=r"numpy\.asarray\(m\)"):
        residues * NUMPY.matrix([[1, 2], [3, 1]])
    slots = _encrypted(X.reshape(2, 2), "slots")
    for call in (lambda x, y: x + y, lambda x, y: y * x, lambda x, y: np.concatenate([x, y])):
        for pair in ((residues, slots), (slots, residues)):
            with pytest.raises(TypeError, match=r"after x\.astype\(zmod\(65537\)\)"):
                call(*pair)


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize("axis", [(0,), (0, 1), ()])
@pytest.mark.parametrize(
    "call",
    [np.cumsum, np.cumprod, np.argmin, np.argmax, np.sort, np.argsort, lambda x, axis: np.diff(x, axis=axis)],
)
def test_one_axis_is_no_tuple(call: Any, kind: str, axis: Any) -> None:
    """As of numpy; of several axes there were places in a raveled array, and zeros of none."""
    with pytest.raises(TypeError):
        call(X.reshape(2, 2), axis=axis)
    with pytest.raises(TypeError, match="axis is a whole number"):
        call(_encrypted(X.reshape(2, 2), kind), axis=axis)


@pytest.mark.parametrize("kind", ["digits", "slots"])
def test_what_numpy_refuses_of_numbers_in_the_clear(kind: str) -> None:
    x = _encrypted(X, kind)
    assert np.full_like(x, 255).tolist() == [255] * 4
    for number in (256, -1):
        with pytest.raises(OverflowError):
            np.full_like(X, number)
        with pytest.raises(OverflowError):
            np.full_like(x, number)


@pytest.mark.parametrize("kind", KINDS)
def test_reductions_by_functions_that_there_are_not(kind: str) -> None:
    """The refusal named a call that is refused."""
    x = _encrypted(X, kind)
    for method in ("reduce", "accumulate"):
        with pytest.raises(TypeError, match=r"no numpy\.hypot either"):
            getattr(np.hypot, method)(x)
        with pytest.raises(TypeError, match=r"numpy\.subtract"):
            getattr(np.subtract, method)(x)
    assert functools.reduce(np.subtract, x).shape == ()


@pytest.mark.parametrize("kind", ["digits", "slots"])
def test_whole_numbers_are_padded_by_whole_numbers(kind: str) -> None:
    """numpy takes the dtype of the array for what it pads with, and drops what that does not hold."""
    with pytest.raises(TypeError, match="constant_values is a whole number"):
        np.pad(_encrypted(X, kind), 1, constant_values=1.5)


def test_places_of_a_trapezoid_are_those_of_a_row() -> None:
    x = _encrypted(np.arange(1.0, 6), "floats")
    places = np.arange(6.0).reshape(2, 3)
    with pytest.raises(ValueError, match="broadcast"):
        NUMPY.trapezoid(np.arange(1.0, 6), places)
    with pytest.raises(RangeError, match="one axis"):
        NUMPY.trapezoid(x, places)


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize("values", [[[1, 200, 250], [7, 9, 255]], [[1, 2, 3], [7, 9, 5]]])
@pytest.mark.parametrize("options", [{}, {"dx": 0.5, "axis": 0}, {"x": [0, 1, 3]}])
def test_neighbours_of_a_trapezoid_wrap_around(kind: str, values: Any, options: dict[str, Any]) -> None:
    clear = np.array(values, dtype=np.uint8)
    x = three().encrypt(clear, representation=kind)
    found = three().decrypt(NUMPY.trapezoid(x, **options))
    np.testing.assert_allclose(found, NUMPY.trapezoid(clear, **options), atol=2e-3)


def test_a_range_that_neighbours_do_not_leave_takes_no_sum_of_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    x = three().encrypt(np.array([1, 100, 7], dtype=np.uint8), representation="digits").assume(bound=(0, 127))
    monkeypatch.setattr(type(x), "__add__", None)
    np.testing.assert_allclose(three().decrypt(NUMPY.trapezoid(x)), 104, atol=2e-3)


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize("number", [0, 3, 2**63, -(2**70)])
def test_whether_a_number_of_any_size_is_true(kind: str, number: int) -> None:
    """numpy itself raises an OverflowError beyond int64; what is asked of the number is known."""
    for clear in (X, X > 3):
        for ufunc in (np.logical_and, np.logical_or, np.logical_xor):
            found = three().decrypt(ufunc(_encrypted(clear, kind), number))
            np.testing.assert_array_equal(found, ufunc(clear, number != 0))
            found = three().decrypt(ufunc(number, _encrypted(clear, kind)))
            np.testing.assert_array_equal(found, ufunc(clear, number != 0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_range_that_is_open(kind: str) -> None:
    """numpy gives the same numbers, and refuses booleans."""
    x = _encrypted(X, kind)
    np.testing.assert_allclose(three().decrypt(np.clip(x, None, None)), X, atol=2e-3)
    if kind != "floats":
        flags = three().encrypt(X > 3, representation=kind)
        for call in (lambda: np.clip(flags, None, None), lambda: flags.clip(), lambda: flags.clip(None, None)):
            with pytest.raises(TypeError, match="Booleans have no range"):
                call()
        np.testing.assert_array_equal(three().decrypt(flags.clip(False, True)), X > 3)
        np.testing.assert_array_equal(three().decrypt(x.clip()), X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("initial", [np.array([3]), np.array([[3]]), [1, 2]])
def test_a_reduction_begins_with_one_number(kind: str, initial: Any) -> None:
    x = _encrypted(X, kind)
    for call in (np.sum, np.max):
        with pytest.raises(TypeError, match="initial= is"):
            call(x, initial=initial)
    start = np.array(3.0 if kind == "floats" else 3)
    np.testing.assert_allclose(three().decrypt(np.max(x, initial=start)), np.max(X, initial=3), atol=2e-3)


@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize("bound", [None, (), (1,), (1, 2, 3), "8", (0, 8.0), np.array([0, 8])])
def test_bounds_that_are_none(kind: str, bound: Any) -> None:
    with pytest.raises(TypeError, match=r"^bound (must be|is a whole number)"):
        _encrypted(X, kind).assume(bound=bound)
