"""numpy's universal functions on encrypted integers: the dtypes and shapes of operands, and the circuit of each."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import casts, missing
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.circuits.bits import bitwise, shift_left, shift_right, sign_bit, sign_digit
from aglet.arrays.digits.circuits.choice import where
from aglet.arrays.digits.circuits.division import divide
from aglet.arrays.digits.circuits.order import equal, less
from aglet.arrays.digits.circuits.products import multiply
from aglet.arrays.digits.circuits.shifts import nonzero, shift
from aglet.arrays.digits.circuits.sums import add, complement, negate, subtract
from aglet.arrays.digits.sums import ONE, ZERO, AnyDigit, Digit, Sum, constant, uniform
from aglet.errors import KeyMismatchError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = ["apply", "cast", "is_encrypted", "is_operand", "operand", "operands"]

_BOOL = np.dtype(bool)


def is_encrypted(value: Any) -> bool:
    """Whether a value is an encrypted array of this kind."""
    from aglet.arrays.digits.array import EncryptedIntegers

    return isinstance(value, EncryptedIntegers)


def is_operand(value: Any) -> bool:
    """Whether an operator takes a value."""
    from aglet.arrays.array import EncryptedArray

    numbers = (int, float, complex, np.generic, np.ndarray, list, tuple)
    # Columns and tables of pandas have this method.
    return casts.is_whole(value) or isinstance(value, (*numbers, EncryptedArray)) or hasattr(value, "to_numpy")


def apply(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A universal function of encrypted integers and numbers in the clear.

    Raises
    ------
    TypeError
        If there is no circuit for it, or for these dtypes.
    """
    if ufunc is np.matmul:
        from aglet.arrays.digits.functions import matmul

        return matmul(*inputs)
    if ufunc is np.true_divide:
        return ufunc(*casts.floats(inputs))
    from aglet.arrays.digits.compositions import UFUNCS

    if ufunc in UFUNCS:
        return UFUNCS[ufunc](*inputs)
    if ufunc in _ORDERS:
        decided = _decided(ufunc, inputs)
        if decided is not None:
            return decided
    circuit = _CIRCUITS.get(ufunc)
    if circuit is None:
        served = (*_CIRCUITS, *_ORDERS, *UFUNCS, np.matmul)
        raise TypeError(missing.function(f"numpy.{ufunc.__name__}", "encrypted integers", served))
    return circuit(*operands([_true(one) for one in inputs] if ufunc in _TRUTHS else inputs))


def operands(inputs: Sequence[Any]) -> list[EncryptedIntegers]:
    """Operands as arrays of the dtype and shape that numpy computes with. Numbers in the clear stay in the clear."""
    from aglet.arrays.digits.array import EncryptedIntegers

    session = next(one.session for one in inputs if is_encrypted(one))
    numbers: list[Any] = []
    for one in inputs:
        if is_encrypted(one):
            if one.session is not session:
                raise KeyMismatchError("These arrays belong to two sessions; use one session.")
            numbers.append(one)
        else:
            # A number of Python takes the dtype of the others, as in numpy.
            numbers.append(one if type(one) in (int, bool) else _clear(one))
    dtype = dtypes.common(*(_BOOL if type(one) is bool else one.dtype for one in numbers if type(one) is not int))
    if dtype.kind == "b" and any(type(one) is int for one in numbers):
        dtype = np.dtype(np.int64)
    shape = checks.common_shape(*(np.shape(one) if not is_encrypted(one) else one.shape for one in numbers))
    made = []
    for one in numbers:
        if is_encrypted(one):
            made.append(cast(one, dtype).broadcast_to(shape))
            continue
        value = np.asarray(dtypes.fitting(int(one), dtype) if type(one) in (int, bool) else one)
        digits = dtypes.split(np.broadcast_to(value, shape), dtype)
        made.append(EncryptedIntegers(session, digits, dtype, shape))
    return made


def operand(value: Any) -> Any:
    """An encrypted array of whole numbers, or one in the clear."""
    return value if casts.is_whole(value) else _clear(value)


def _clear(value: Any) -> Any:
    dtypes.refuse_matrix(value)
    array = dtypes.unmasked(value)
    if array.dtype.kind not in "biu":
        raise TypeError(
            f"Encrypted integers compute with booleans and whole numbers, not {array.dtype}; convert them first."
        )
    return array


def cast(x: EncryptedIntegers, dtype: np.dtype[Any]) -> EncryptedIntegers:
    """The values in another dtype, wrapped around where they do not fit."""
    if dtype == x.dtype:
        return x
    m = x.session.machine
    if dtype.kind == "b":
        return x.with_digits([nonzero(m, x.digits)], dtype)
    count, digits = dtypes.width(dtype), list(x.digits)
    if len(digits) < count:
        fill: AnyDigit = sign_digit(m, digits) if x.dtype.kind == "i" else ZERO
        digits += [fill] * (count - len(digits))
    return x.with_digits(digits[:count], dtype)


# Circuits by universal function. Operands have one dtype and one shape.


def _boolean(x: EncryptedIntegers) -> bool:
    return x.dtype.kind == "b"


def _signed(x: EncryptedIntegers) -> bool:
    return x.dtype.kind == "i"


def _refuse_bool(x: EncryptedIntegers, what: str, instead: str) -> None:
    if _boolean(x):
        raise TypeError(f"Booleans have no {what} in numpy; {instead}.")


def _logic(name: str) -> Callable[[Any, Any], Any]:
    def circuit(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
        return x.with_digits(bitwise(x.session.machine, name, x.digits, y.digits, dtypes.high(x.dtype)))

    return circuit


def _true(value: Any) -> Any:
    """Booleans that are true where a value is not 0."""
    if type(value) is int:
        # Of any size.
        return value != 0
    return cast(value, _BOOL) if is_encrypted(value) else _clear(value).astype(_BOOL)


def _add(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
    return _logic("|")(x, y) if _boolean(x) else x.with_digits(add(x.session.machine, x.digits, y.digits))


def _subtract(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
    _refuse_bool(x, "difference", "use ^")
    return x.with_digits(subtract(x.session.machine, x.digits, y.digits))


def _multiply(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
    return _logic("&")(x, y) if _boolean(x) else x.with_digits(multiply(x.session.machine, x.digits, y.digits))


def _positive(x: EncryptedIntegers) -> EncryptedIntegers:
    _refuse_bool(x, "sign", "leave the + out")
    return x


def _negative(x: EncryptedIntegers) -> EncryptedIntegers:
    _refuse_bool(x, "negative", "use ~")
    return x.with_digits(negate(x.session.machine, x.digits))


def _absolute(x: EncryptedIntegers) -> EncryptedIntegers:
    if not _signed(x):
        return x
    m = x.session.machine
    return x.with_digits(where(m, sign_bit(m, x.digits), negate(m, x.digits), x.digits))


def _invert(x: EncryptedIntegers) -> EncryptedIntegers:
    m = x.session.machine
    if _boolean(x):
        return x.with_digits([_not(m, x.digits[0])])
    return x.with_digits(complement(m, x.digits))


def _not(m: Any, flag: AnyDigit) -> AnyDigit:
    found: AnyDigit = m.digit(Sum.of((ONE, 1), (flag, -1)))
    return found


def _flag(x: EncryptedIntegers, flag: AnyDigit) -> EncryptedIntegers:
    return x.with_digits([flag], _BOOL)


def _less(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
    return _flag(x, less(x.session.machine, x.digits, y.digits, _signed(x)))


def _equal(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
    return _flag(x, equal(x.session.machine, x.digits, y.digits))


def _minimum(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
    if _boolean(x):
        return _logic("&")(x, y)  # type: ignore[no-any-return]
    m = x.session.machine
    return x.with_digits(where(m, less(m, x.digits, y.digits, _signed(x)), x.digits, y.digits))


def _maximum(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
    if _boolean(x):
        return _logic("|")(x, y)  # type: ignore[no-any-return]
    m = x.session.machine
    return x.with_digits(where(m, less(m, x.digits, y.digits, _signed(x)), y.digits, x.digits))


def _shift(left: bool) -> Callable[[Any, Any], Any]:
    def circuit(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedIntegers:
        if _boolean(x):
            x, y = (cast(one, np.dtype(np.int8)) for one in (x, y))
        m = x.session.machine
        if any(isinstance(digit, Digit) for digit in y.digits):
            return x.with_digits(shift(m, x.digits, y.digits, left, _signed(x)))
        amounts = dtypes.join([np.asarray(digit) for digit in y.digits], np.dtype(np.uint64))
        made = x.with_digits([ZERO] * len(x.digits))
        for amount in np.unique(amounts):
            bits = min(int(amount), 2 * len(x.digits))
            some = shift_left(m, x.digits, bits) if left else shift_right(m, x.digits, bits, _signed(x))
            made = x.with_digits(where(m, (amounts == amount).astype(np.int64), some, made.digits))
        return made

    return circuit


def _divide(x: EncryptedIntegers, y: EncryptedIntegers) -> tuple[EncryptedIntegers, EncryptedIntegers]:
    if _boolean(x):
        x, y = (cast(one, np.dtype(np.int8)) for one in (x, y))
    divisor, m = _power_of_two(y), x.session.machine
    if divisor is not None:
        bits = divisor.bit_length() - 1
        rest = bitwise(m, "&", x.digits, [constant(d) for d in _digits_of(divisor - 1, len(x.digits))])
        return x.with_digits(shift_right(m, x.digits, bits, _signed(x))), x.with_digits(rest)
    quotient, remainder = divide(m, x.digits, y.digits, _signed(x))
    return x.with_digits(quotient), x.with_digits(remainder)


def _power_of_two(y: EncryptedIntegers) -> int | None:
    """The value of y, if all elements are the same positive power of two in the clear."""
    digits = [uniform(digit) for digit in y.digits]
    if None in digits:
        return None
    value = sum(digit << (2 * at) for at, digit in enumerate(digits) if digit is not None)
    positive = value <= dtypes.span(y.dtype)[1]
    return value if positive and value.bit_count() == 1 else None


def _digits_of(value: int, count: int) -> list[int]:
    return [(value >> (2 * at)) & 3 for at in range(count)]


_ORDERS: dict[Any, Callable[[int, int], bool]] = {
    np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
    np.equal: operator.eq, np.not_equal: operator.ne,
}  # fmt: skip


def _decided(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A comparison with a number of Python that the dtype does not hold, which decides it for all elements."""
    if len(inputs) != 2 or all(is_encrypted(one) for one in inputs):
        return None
    at = 0 if is_encrypted(inputs[0]) else 1
    x, number = inputs[at], inputs[1 - at]
    if type(number) is not int or x.dtype.kind == "b":
        return None
    low, high = dtypes.span(x.dtype)
    if low <= number <= high:
        return None
    pair = (low, number) if at == 0 else (number, low)
    return x.with_digits([constant(int(_ORDERS[ufunc](*pair)))], _BOOL)


_TRUTHS = (np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
"""Those of whether values are 0."""

_CIRCUITS: dict[Any, Callable[..., Any]] = {
    np.add: _add, np.subtract: _subtract, np.multiply: _multiply, np.negative: _negative, np.absolute: _absolute,
    np.positive: _positive, np.invert: _invert, np.logical_not: _invert,
    np.bitwise_and: _logic("&"), np.bitwise_or: _logic("|"), np.bitwise_xor: _logic("^"),
    np.logical_and: _logic("&"), np.logical_or: _logic("|"), np.logical_xor: _logic("^"),
    np.less: _less, np.greater: lambda x, y: _less(y, x), np.less_equal: lambda x, y: _invert(_less(y, x)),
    np.greater_equal: lambda x, y: _invert(_less(x, y)), np.equal: _equal,
    np.not_equal: lambda x, y: _invert(_equal(x, y)),
    np.minimum: _minimum, np.maximum: _maximum, np.left_shift: _shift(True), np.right_shift: _shift(False),
    np.floor_divide: lambda x, y: _divide(x, y)[0], np.remainder: lambda x, y: _divide(x, y)[1], np.divmod: _divide,
}  # fmt: skip
