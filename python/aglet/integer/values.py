"""Messages of integers: anything that numpy can convert, as int64 between -t and t."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.errors import LevelError, RangeError

__all__ = ["Integers", "as_coefficients", "as_integers", "as_level", "as_number", "as_table", "as_tables", "is_number"]

Integers = NDArray[np.int64]


def is_number(value: Any) -> bool:
    """Whether it is one number, whole or not."""
    return isinstance(value, int | float | np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)


def as_level(level: Any, max_level: int) -> int:
    """A level of the engine.

    Raises
    ------
    LevelError
        If there is no such level.
    """
    if not 0 <= checks.whole("A level", level) <= max_level:
        raise LevelError(f"Level {level} does not exist here; this engine has the levels 0 to {max_level}.")
    return int(level)


def as_integers(values: Any, count: int, t: int) -> Integers:
    """A message: at most `count` numbers in one dimension, or the two rows of slots.

    Raises
    ------
    TypeError
        If it is text, masked, a single number, or holds something that is not a number.
    RangeError
        If it is empty, too long or of another shape, or a number is not an integer between -t and t.
    """
    array = _whole(values, "message")
    if array.ndim == 0:
        raise TypeError(
            "A message is a list or an array, and this is one number; write [x] to set the first integer only, or "
            "numpy.full(engine.slot_count, x) to set all of them."
        )
    if array.ndim == 2 and array.shape != (2, count // 2):
        raise RangeError(
            f"A message has one dimension, or the shape (2, {count // 2}) of the two rows, and this one has shape "
            f"{array.shape}; flatten it with .ravel()."
        )
    if array.ndim > 2 or array.size == 0:
        raise RangeError(f"A message has one dimension and at least one number, not shape {array.shape}.")
    flat = array.ravel()
    if flat.size > count:
        raise RangeError(
            f"The message has {flat.size} numbers and a ciphertext of this engine {count}; split it into several."
        )
    return _within(flat, t, "message")


def as_number(value: Any, t: int) -> int:
    """One number between -t and t.

    Raises
    ------
    TypeError
        If it is not a whole number.
    RangeError
        If it is out of range.
    """
    if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        value = value[()]
    found = checks.whole("A number", value)
    if abs(found) >= t:
        raise RangeError(f"{found} is not between -{t} and {t}, the plaintext modulus; reduce it with % {t}.")
    return found


def as_coefficients(values: Any, t: int) -> Integers:
    """Coefficients of a polynomial, of any size, modulo t.

    Raises
    ------
    TypeError
        If they are not whole numbers.
    RangeError
        If there are none, or they have more than one dimension.
    """
    array = _whole(values, "list of coefficients")
    if array.ndim != 1 or array.size == 0:
        raise RangeError("Coefficients are one flat list, the constant term first; give at least two.")
    # A narrow dtype has no room for t.
    wide = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64) if array.dtype.kind in "iu" else array
    return (wide % t).astype(np.int64)


def as_table(values: Any, t: int) -> Integers:
    """Values of a table, between -t and t.

    Raises
    ------
    TypeError
        If they are not whole numbers.
    RangeError
        If they have more than one dimension, or are out of range.
    """
    array = _whole(values, "table")
    if array.ndim != 1:
        raise RangeError(f"A table is one list of values, not of shape {array.shape}; flatten it with .ravel().")
    return _within(array, t, "table")


def as_tables(values: Any, t: int) -> list[Integers]:
    """Values of one table, or of several of one length, between -t and t.

    Raises
    ------
    TypeError
        If they are not whole numbers.
    RangeError
        If there is no table, or an empty one, they have more than two dimensions, or are out of range.
    """
    array = _whole(values, "table")
    if array.ndim not in (1, 2) or not array.size:
        raise RangeError(
            f"Tables are one list of values, or a list of such lists of one length, not of shape {array.shape}."
        )
    rows = array.reshape(-1, array.shape[-1])
    return [np.ascontiguousarray(row) for row in _within(rows.ravel(), t, "table").reshape(rows.shape)]


def _whole(values: Any, what: str) -> NDArray[Any]:
    """An array of whole numbers. Floats are accepted if their values are whole."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("This array is masked, and a ciphertext has no mask; give .filled(value) in its place.")
    if isinstance(values, str | bytes | bytearray):
        raise TypeError(f"A {what} holds integers, and this is text; give a list or a numpy array of integers.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise RangeError(f"The rows of this {what} differ in length; give one flat list of integers.") from error
    if array.dtype.kind == "f" and array.size:
        array = array.astype(np.float64)
        whole = np.isfinite(array) & (np.floor(array) == array) & (np.abs(array) < 2.0**53)
        if not whole.all():
            first = int(np.argmin(whole.ravel()))
            wrong = array.ravel()[first]
            near = np.isfinite(wrong) and abs(wrong) < 2.0**53
            remedy = (
                "round it with numpy.rint" if near else "replace it by an integer, of an integer dtype if it is large"
            )
            raise RangeError(f"A {what} holds integers, and index {first} is {wrong}; {remedy}.")
        return array.astype(np.int64)
    numbers = array.dtype.kind == "O" and all(isinstance(one, int) and not isinstance(one, bool) for one in array.flat)
    if array.dtype.kind not in "biuf" and not numbers:
        raise TypeError(
            f"A {what} holds integers, not {array.dtype}; convert it first, with numpy.asarray(x, dtype=int)."
        )
    return array.astype(np.int64) if array.dtype.kind in "bf" else array


def _within(array: NDArray[Any], t: int, what: str) -> Integers:
    outside = (array >= t) | (array <= -t) if array.dtype.kind != "u" else array >= t
    if outside.any():
        first = int(np.argmax(outside))
        raise RangeError(
            f"The {what} has {array[first]} at index {first}, and its integers are between -{t} and {t}, the plaintext "
            f"modulus; reduce them with % {t}, or take a larger plaintext_modulus."
        )
    return np.ascontiguousarray(array.astype(np.int64))
