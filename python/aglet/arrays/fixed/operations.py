"""numpy's universal functions on numbers of a fixed format: which are those of their words, and which have a rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import casts
from aglet.arrays.digits import dtypes
from aglet.arrays.digits import operations as whole
from aglet.arrays.digits.circuits.scaled import multiply_scaled
from aglet.arrays.fixed import refusals
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.fixed.array import EncryptedFixed
    from aglet.arrays.fixed.formats import fixed

__all__ = ["apply", "is_fixed", "is_operand", "words_of"]


def is_fixed(value: Any) -> bool:
    """Whether a value is an encrypted array of this kind."""
    from aglet.arrays.fixed.array import EncryptedFixed

    return isinstance(value, EncryptedFixed)


def is_operand(value: Any) -> bool:
    """Whether an operator takes a value, or refuses it in a sentence."""
    return is_fixed(value) or whole.is_operand(value)


def apply(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A universal function of numbers of one format, encrypted or in the clear.

    Raises
    ------
    TypeError
        If it has no rule, or an operand has another dtype.
    RangeError
        If a number in the clear is none of the format.
    """
    first = next(one for one in inputs if is_fixed(one))
    rule = _RULES.get(ufunc)
    if rule is None:
        raise TypeError(refusals.function(ufunc.__name__, first.dtype))
    return rule(ufunc, first.dtype, inputs)


def words_of(value: Any, dtype: fixed) -> Any:
    """The words of an operand: encrypted, or a whole number or an array in the clear.

    Raises
    ------
    TypeError
        If it is encrypted with another dtype, or no number.
    RangeError
        If it is a number in the clear that the format has not.
    """
    if is_fixed(value):
        if value.dtype != dtype:
            raise TypeError(
                f"{value.dtype} and {dtype} do not meet, as nobody said how to round; call astype on one of them."
            )
        return value.words()
    if hasattr(value, "session"):
        kind = "Whole numbers" if casts.is_whole(value) else "Floats"
        raise TypeError(
            f"{kind} and numbers of {dtype} do not meet, as nobody said how to round; cast one of them, as in "
            f"y.astype({dtype})."
        )
    words = dtype.exactly(value)
    return int(words) if not words.ndim else words


def _alike(ufunc: np.ufunc, dtype: fixed, inputs: Sequence[Any]) -> EncryptedFixed:
    """What words give is a word."""
    return dtype.of(whole.apply(ufunc, [words_of(one, dtype) for one in inputs]))


def _flags(ufunc: np.ufunc, dtype: fixed, inputs: Sequence[Any]) -> Any:
    """What words give is a boolean."""
    return whole.apply(ufunc, [words_of(one, dtype) for one in inputs])


def _product(_: np.ufunc, dtype: fixed, inputs: Sequence[Any]) -> EncryptedFixed:
    """The exact product, rounded down, which wraps around."""
    x, y = whole.operands([words_of(one, dtype) for one in inputs])
    if not x.size:
        return dtype.of(x.with_digits(x.digits))
    m = x.session.machine
    return dtype.of(x.with_digits(multiply_scaled(m, x.digits, y.digits, dtype.fraction, dtype.signed)))


def _quotient(_: np.ufunc, dtype: fixed, inputs: Sequence[Any]) -> EncryptedFixed:
    """By one power of two in the clear: rounded down, or what wraps around."""
    x, divisor = inputs
    number = None if hasattr(divisor, "session") else dtypes.unmasked(divisor)
    of_python = type(divisor) is int
    one = number is not None and not number.ndim and number.dtype.itemsize <= 8
    if not is_fixed(x) or number is None or not one or not (of_python or number.dtype.kind in "iuf"):
        raise TypeError(refusals.function("divide", dtype))
    if of_python or number.dtype.kind != "f":
        found = int(number)
        exponent = found.bit_length() - 1 if found > 0 and found.bit_count() == 1 else None
    else:
        half, power = math.frexp(float(number))
        exponent = power - 1 if half == 0.5 else None
    if exponent is None:
        raise RangeError(
            f"{number} is no power of two; divide by one, or write x * {dtype}.round(1 / y), which rounds the factor."
        )
    return _moved(dtype, x.words(), exponent)


def _moved(dtype: fixed, words: Any, bits: int) -> EncryptedFixed:
    """Words to the right by so many bits, or to the left."""
    least = min(abs(bits), dtype.bits)
    return dtype.of(words if not bits else words >> least if bits > 0 else words << least)


def _shift(ufunc: np.ufunc, dtype: fixed, inputs: Sequence[Any]) -> EncryptedFixed:
    """By whole numbers in the clear."""
    x, amounts = inputs
    given = None if hasattr(amounts, "session") else dtypes.unmasked(amounts)
    if given is None or given.dtype.kind not in "iu" or not is_fixed(x):
        raise TypeError(
            f"Numbers of {dtype} are shifted by whole numbers in the clear; x.words() are shifted by encrypted ones."
        )
    if given.size and int(given.min()) < 0:
        raise RangeError(f"A shift by {int(given.min())} bits goes the other way; swap << and >>.")
    bits = np.minimum(given, dtype.bits).astype(dtype.word)
    return dtype.of(whole.apply(ufunc, [x.words(), bits if bits.ndim else int(bits)]))


_Rule = Callable[[np.ufunc, "fixed", Sequence[Any]], Any]
_RULES: dict[np.ufunc, _Rule] = {
    **dict.fromkeys(
        (np.add, np.subtract, np.negative, np.positive, np.absolute, np.minimum, np.maximum), _alike
    ),
    **dict.fromkeys(
        (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal), _flags
    ),
    np.multiply: _product, np.true_divide: _quotient, np.left_shift: _shift, np.right_shift: _shift,
}  # fmt: skip
"""All that there are. Others are refused."""
