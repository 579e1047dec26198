"""Conversion of lists, arrays and numbers to what the engine takes. An error says what to write instead."""

from __future__ import annotations

import cmath
import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.errors import LevelError, RangeError

__all__ = [
    "Vector",
    "as_array",
    "as_bits",
    "as_bound",
    "as_declared",
    "as_float",
    "as_level",
    "as_marked",
    "as_matrix",
    "as_number",
    "as_operand",
    "as_slots",
    "as_vector",
    "is_number",
]

_LARGEST_INT = 2**62

Vector = NDArray[np.float64] | NDArray[np.complex128]
"""A vector of numbers. Its dtype is public: float64 makes a ciphertext that is marked real, complex128 does not."""


def is_number(value: object) -> bool:
    """Whether `value` is one number: a Python or numpy number, or an array without dimensions."""
    return isinstance(value, numbers.Number) or (isinstance(value, np.ndarray | np.generic) and value.ndim == 0)


def as_number(value: Any) -> int | float | complex:
    """Convert a number: integer types to `int` (they use no level), real ones to `float`, complex ones to `complex`.

    Only the type decides, never the value: a complex number gives a complex result, even if its imaginary part is 0.

    Raises
    ------
    TypeError
        If the type is not that of an integer, a real or a complex number.
    RangeError
        If the number is not finite, or is an integer of more than 62 bits.
    """
    _refuse_masked(value)
    if isinstance(value, np.ndarray | np.generic):
        # A date is an integer to numpy, in units that nobody sees.
        value = value.dtype if value.dtype.kind in "mM" else value.item()
    if isinstance(value, numbers.Integral):
        if abs(int(value)) >= _LARGEST_INT:
            raise RangeError(f"The integer {value} has more than 62 bits; give it as a float, which costs one level.")
        return int(value)
    if not isinstance(value, numbers.Complex):
        raise TypeError(f"A number is needed here, not {type(value).__name__}; give an int, a float or a complex.")
    number = float(value) if isinstance(value, numbers.Real) else complex(value)
    if not cmath.isfinite(number):
        raise RangeError(f"The number {value} is not finite; replace it before you call the engine.")
    return number


def as_vector(message: Any, real: bool | None = None, what: str = "message") -> Vector:
    """Convert a message to a finite vector of any length: float64 if its dtype is real, complex128 if it is complex.

    The mark "real" is public on ciphertexts, so the values do not decide it. `real` overrides the dtype. `what` is the
    name of the message in errors.

    Raises
    ------
    TypeError
        If it is text, a single number, or contains something that is not a number.
    RangeError
        If it is empty, ragged, of more than one dimension, or not finite, or if `real=True` and a value is not real.
    """
    if isinstance(message, str | bytes | bytearray):
        raise TypeError(f"A {what} holds numbers, and this is text; give a list or a numpy array of numbers.")
    if is_number(message):
        raise TypeError(
            f"A {what} is a list or an array, and this is one number; write [x] to fill the first slot alone, or "
            "numpy.full(engine.slot_count, x) to fill every slot."
        )
    array = as_array(message, what)
    if array.ndim != 1:
        raise RangeError(
            f"A {what} has one dimension, and this one has shape {array.shape}; flatten it with .ravel(), "
            "or encrypt it row by row."
        )
    if array.size == 0:
        raise RangeError(f"The {what} is empty; give at least one number.")
    vector = _plain(array)
    finite = np.isfinite(vector)
    if not finite.all():
        first = int(np.argmin(finite))
        raise RangeError(
            f"The {what} is not finite at index {first} ({array[first]}); replace such values, "
            "for example with numpy.nan_to_num."
        )
    return vector if real is None else _declared(vector, real)


def as_array(message: Any, what: str = "message") -> NDArray[Any]:
    """Convert numbers of any shape to a numpy array with a dtype of numbers.

    Raises
    ------
    TypeError
        If it contains something that is not a number.
    RangeError
        If it is ragged.
    """
    _refuse_masked(message)
    try:
        array = np.asarray(message)
    except ValueError as error:
        raise RangeError(
            f"The rows of the {what} differ in length; give a flat list, or rows of equal length."
        ) from error
    if array.dtype.kind == "O" and array.ndim == 0:
        raise TypeError(f"A {what} is a list or an array of numbers, not {type(message).__name__}.")
    if array.dtype.kind == "O" and array.size and all(isinstance(one, numbers.Number) for one in array.flat):
        raise TypeError(
            f"This {what} has numbers that numpy has no dtype for, such as integers of more than 64 bits; convert it "
            "first, for example with numpy.asarray(message, dtype=float)."
        )
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"A {what} holds numbers, and this one has elements of type {array.dtype}; "
            f"{checks.conversion(array.dtype.kind)}."
        )
    return array


def as_operand(message: Any) -> NDArray[Any]:
    """Convert plain numbers of any shape to finite doubles: float64 or complex128 by their dtype.

    Raises
    ------
    TypeError
        If it contains something that is not a number, or is a `numpy.matrix`, whose `*` is a matrix product.
    RangeError
        If it is empty, ragged or not finite.
    """
    if isinstance(message, np.matrix):
        raise TypeError(
            "The * of numpy.matrix is a matrix product; give numpy.asarray(m), and write @ for matrix products."
        )
    array = _plain(as_array(message, "plain operand"))
    if not array.size:
        raise RangeError("This array is empty; give at least one number.")
    if not np.isfinite(array).all():
        raise RangeError("The operand is not finite somewhere; replace such values, for example with numpy.nan_to_num.")
    return array


def _refuse_masked(message: Any) -> None:
    if isinstance(message, np.ma.MaskedArray):
        raise TypeError("This array is masked, and a ciphertext has no mask; give array.filled(value) instead.")


def as_marked(found: NDArray[np.complex128], real: bool) -> Vector:
    """Return decoded values as float64 if they are marked real; their imaginary parts are 0 then."""
    return np.ascontiguousarray(found.real) if real else found


def _plain(array: NDArray[Any]) -> Vector:
    """A copy as float64 or complex128. Numbers that are too large become infinite."""
    with np.errstate(over="ignore"):
        if array.dtype.kind == "c":
            return array.astype(np.complex128, order="C")
        return array.astype(np.float64, order="C")


def as_declared(real: Any) -> bool | None:
    """Check `real=`. None leaves the choice to the dtype, or to the ciphertext.

    Raises
    ------
    TypeError
        If it is not True, False or None.
    """
    if real is not None and not isinstance(real, bool | np.bool_):
        raise TypeError(f"real is True, False or None, not {type(real).__name__}.")
    return None if real is None else bool(real)


def _declared(vector: Vector, real: bool) -> Vector:
    """Convert a vector to what `real=` declares."""
    if not as_declared(real):
        return vector.astype(np.complex128)
    if vector.imag.any():
        raise RangeError("A message with real=True must not have imaginary parts; give its .real, or leave real out.")
    return np.ascontiguousarray(vector.real)


def as_slots(message: Any, slot_count: int, real: bool | None = None) -> Vector:
    """Convert a message to a vector of exactly `slot_count` values, padded with zeros; its dtype as in `as_vector`.

    Raises
    ------
    RangeError
        If it is longer than `slot_count`, and as in `as_vector`.
    """
    vector = as_vector(message, real)
    if vector.size > slot_count:
        raise RangeError(
            f"The message has {vector.size} values and a ciphertext of this engine has {slot_count} slots; "
            "use encrypt_many, which splits it into several ciphertexts."
        )
    slots: Any = np.zeros(slot_count, dtype=vector.dtype)
    slots[: vector.size] = vector
    return slots  # type: ignore[no-any-return]


def as_matrix(matrix: Any, slot_count: int) -> Vector:
    """Check a matrix: 1 to `slot_count` rows and columns, all finite; float64 or complex128 by its dtype.

    Raises
    ------
    TypeError
        If it contains something that is not a number.
    RangeError
        If it is ragged, empty, too large, not finite, or does not have two dimensions.
    """
    _refuse_masked(matrix)
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise RangeError("The rows of the matrix differ in length; pad them with zeros.") from error
    if array.dtype.kind not in "biufc":
        raise TypeError(f"A matrix holds numbers, and this one has elements of type {array.dtype}; convert it first.")
    if array.ndim != 2 or not all(1 <= length <= slot_count for length in array.shape):
        raise RangeError(
            f"A matrix has rows and columns, 1 to {slot_count} of each, and this one has shape {array.shape}; "
            "cut it into blocks."
        )
    if not np.isfinite(array).all():
        raise RangeError("The matrix has entries that are not finite; replace them, for example with numpy.nan_to_num.")
    return _plain(array)


def as_level(level: Any, max_level: int) -> int:
    """A level between 0 and `max_level`; `None` means `max_level`.

    Raises
    ------
    TypeError
        If it is not a whole number.
    LevelError
        If it is out of range.
    """
    if level is None:
        return max_level
    if not 0 <= checks.whole("A level", level) <= max_level:
        raise LevelError(
            f"Level {level} does not exist here; this engine has the levels 0 to {max_level}. Engine(max_level=...) "
            "has up to 77; with use_bootstrap=True a fresh ciphertext has 13, and with "
            "use_bootstrap_to_14_levels=True 14."
        )
    return int(level)


def as_bits(name: str, bits: Any) -> float:
    """Check a number of bits.

    Raises
    ------
    TypeError
        If it is not a real number.
    RangeError
        If it is not finite.
    """
    if isinstance(bits, bool) or not isinstance(bits, numbers.Real):
        raise TypeError(f"{name} is a number of bits, not {type(bits).__name__}.")
    found = as_float(bits)
    if not math.isfinite(found):
        raise RangeError(f"{name} is not a finite number; give a number of bits, such as 30.")
    return found


def as_bound(bound: Any) -> float:
    """Check a bound on the absolute values of a message: a finite, positive real number.

    Raises
    ------
    TypeError
        If it is not a real number.
    RangeError
        If it is not finite and positive.
    """
    if isinstance(bound, bool) or not isinstance(bound, numbers.Real):
        raise TypeError(f"A bound is a real number, not {type(bound).__name__}.")
    size = as_float(bound)
    if not 0 < size < math.inf:
        raise RangeError("A bound must be positive and finite; give the largest absolute value of a slot.")
    return size


def as_float(number: Any) -> float:
    """The nearest double. A number that is larger than any double becomes infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
