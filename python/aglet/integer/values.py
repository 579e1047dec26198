"""Messages of integers: whatever numpy can make of them, as int64 between -t and t."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.errors import RangeError

__all__ = ["Integers", "as_coefficients", "as_integers", "as_number", "as_table"]

Integers = NDArray[np.int64]


def as_integers(values: Any, count: int, t: int) -> Integers:
    """A message: one dimension of at most `count` numbers, or the two rows of slots.

    Raises
    ------
    TypeError
        If it is text, masked, a lone number, or holds what is no number.
    RangeError
        If it is empty, too long or of another shape, or a number is no integer between -t and t.
    """
    array = _whole(values, "message")
    if array.ndim == 0:
        raise TypeError(
            "A message is a list or an array, and this is one number; write [x] for the first place alone, or "
            "numpy.full(engine.slot_count, x) for every one."
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
        If it is no whole number.
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
        If they are no whole numbers.
    RangeError
        If there are none, or not in one dimension.
    """
    array = _whole(values, "list of coefficients")
    if array.ndim != 1 or array.size == 0:
        raise RangeError("Coefficients stand in one list, the constant first; give at least two.")
    # A narrow dtype has no room for t.
    wide = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64) if array.dtype.kind in "iu" else array
    return (wide % t).astype(np.int64)


def as_table(values: Any, t: int) -> Integers:
    """Values of a table, between -t and t.

    Raises
    ------
    TypeError
        If they are no whole numbers.
    RangeError
        If they are not in one dimension, or out of range.
    """
    array = _whole(values, "table")
    if array.ndim != 1:
        raise RangeError(f"A table is one list of values, not of shape {array.shape}; flatten it with .ravel().")
    return _within(array, t, "table")


def _whole(values: Any, what: str) -> NDArray[Any]:
    """An array of whole numbers: floats pass if they are whole, whatever their dtype."""
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
            raise RangeError(
                f"A {what} holds integers, and index {first} is {array.ravel()[first]}; round it with numpy.rint."
            )
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
