"""numpy's functions on encrypted integers that others make up: powers, differences, products of all pairs, padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import casts, composed
from aglet.arrays.digits import dtypes, operations, rows
from aglet.arrays.digits.sums import ZERO, Digit, Sum
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = ["FUNCTIONS", "UFUNCS"]

_INT8 = np.dtype(np.int8)


# Element by element


def power(x: Any, exponent: Any) -> EncryptedIntegers:
    """As `numpy.power` with one whole exponent in the clear, by squares and products.

    Raises
    ------
    TypeError
        If the exponent is encrypted, or an array.
    RangeError
        If it is below 0, where numpy refuses whole numbers.
    """
    if not operations.is_encrypted(x) or operations.is_encrypted(exponent) or np.ndim(exponent):
        raise TypeError(
            "A power of encrypted integers has one exponent in the clear, as in x**3; 1 << x is a power of 2, and "
            "session.take(table, x) one of another number."
        )
    number = operations.operand(exponent)
    times = int(number)
    if times < 0:
        raise RangeError(f"Whole numbers have no power {times}; give an exponent of at least 0.")
    # numpy has no powers of booleans: those of int8 serve.
    small = x.dtype.kind == "b" and number.dtype.kind == "b"
    base, _ = operations.operands([operations.cast(x, _INT8) if small else x, exponent])
    found = None
    while times:
        if times & 1:
            found = base if found is None else found * base
        times >>= 1
        base = base * base if times else base
    return base.session.clear(np.ones(base.shape, dtype=base.dtype)) if found is None else found


def square(x: EncryptedIntegers) -> EncryptedIntegers:
    """As `numpy.square`."""
    wide = operations.cast(x, _INT8) if x.dtype.kind == "b" else x
    return wide * wide  # type: ignore[no-any-return]


def sign(x: EncryptedIntegers) -> EncryptedIntegers:
    """As `numpy.sign`."""
    if x.dtype.kind == "b":
        raise TypeError("Booleans have no sign in numpy; call astype first.")
    found: Any = operations.cast(x != 0, x.dtype)
    return np.where(x < 0, -1, found) if x.dtype.kind == "i" else found  # type: ignore[return-value]


def conjugate(x: EncryptedIntegers) -> EncryptedIntegers:
    """As `numpy.conjugate`: the same numbers, those of booleans as int8."""
    return operations.cast(x, _INT8) if x.dtype.kind == "b" else x


def _itself(x: EncryptedIntegers) -> EncryptedIntegers:
    """As `numpy.floor` and the like, of which whole numbers are the results."""
    return x


def _ones(digit: int) -> int:
    return (digit & 1) + (digit >> 1)


def bitwise_count(x: EncryptedIntegers) -> Any:
    """As `numpy.bitwise_count`, of absolute values: a bootstrap for each digit, and a sum."""
    size = abs(x) if x.dtype.kind == "i" else x
    encrypted = [one for one in size.digits if isinstance(one, Digit)]
    read = iter(x.session.machine.read([Sum.of((one, 1)) for one in encrypted], _ones)[0] if encrypted else [])
    uint8 = np.dtype(np.uint8)
    counts = [
        x.with_digits([next(read) if isinstance(one, Digit) else (one & 1) + (one >> 1), *[ZERO] * 3], uint8)
        for one in size.digits
    ]
    found: Any = np.stack(counts)
    return found.sum(axis=0, dtype=uint8)


# Along an axis


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> EncryptedIntegers:
    """As `numpy.diff`: differences of neighbours, `n` times; whether they differ, for booleans."""
    n, axis = checks.whole("n", n), checks.whole("axis", axis)
    if n < 0:
        raise RangeError(f"There are no differences n={n} times; give 0 or more.")
    if n == 0:
        return a  # type: ignore[no-any-return]
    a = operations.operand(a)
    if not a.ndim:
        raise RangeError("A number has no neighbours; give an array of at least one axis.")
    parts = [one if one is None else _beside(one, a, axis) for one in (prepend, append)]
    given = [one for one in (parts[0], a, parts[1]) if one is not None]
    joined: Any = np.concatenate(given, axis=axis) if len(given) > 1 else a
    across = rows.axis_first(joined, axis)
    for _ in range(n):
        unequal = across.dtype.kind == "b"
        across = across[1:] != across[:-1] if unequal else across[1:] - across[:-1]
    return rows.axis_last(across, axis)


def _beside(value: Any, a: Any, axis: int) -> Any:
    """What stands before or behind an array: a number is one row of it."""
    value = operations.operand(value)
    if value.ndim:
        return value
    shape = list(a.shape)
    shape[axis] = 1
    return value.broadcast_to(tuple(shape)) if casts.is_whole(value) else np.broadcast_to(value, shape)


def trace(a: EncryptedIntegers, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """As `numpy.trace`."""
    across: Any = np.diagonal(a, offset, axis1, axis2)
    return across.sum(axis=-1, dtype=dtype)


# Products of all pairs


def outer(a: Any, b: Any) -> EncryptedIntegers:
    """As `numpy.outer`."""
    return operations.operand(a).reshape(-1, 1) * operations.operand(b).reshape(1, -1)  # type: ignore[no-any-return]


def inner(a: Any, b: Any) -> EncryptedIntegers:
    """As `numpy.inner`: sums of products along the last axes, for all pairs of the others."""
    a, b = operations.operand(a), operations.operand(b)
    if not a.ndim or not b.ndim:
        return a * b  # type: ignore[no-any-return]
    # `@` of stacks would pair their matrices.
    found: EncryptedIntegers = a @ b.reshape(-1, b.shape[-1]).T if b.ndim > 1 else a @ b
    return found.reshape(a.shape[:-1] + b.shape[:-1])


# With zeros, or other numbers in the clear


def _with_constant(a: EncryptedIntegers, value: Any, places: Callable[[Any, int], Any]) -> EncryptedIntegers:
    """Elements where numpy moves them to, and a number in the clear. `places` gets where both lie."""
    number = np.asarray(dtypes.fitting(checks.whole("constant_values", value), a.dtype)).astype(a.dtype)
    whole: Any = a._joined([a, number])
    return whole.moved(lambda at: at[places(np.arange(a.size).reshape(a.shape), a.size)])  # type: ignore[no-any-return]


def pad(array: EncryptedIntegers, pad_width: Any, mode: Any = "constant", **options: Any) -> EncryptedIntegers:
    """As `numpy.pad` by one number, or by elements of the array.

    Raises
    ------
    TypeError
        If the mode computes new elements.
    RangeError
        If the number does not fit the dtype.
    """
    if mode == "constant":
        value = options.pop("constant_values", 0)
        if np.ndim(value) or options:
            raise TypeError("Encrypted integers are padded by one number; give constant_values= a number alone.")
        value = int(value) if isinstance(value, np.integer | np.bool_ | bool) else value
        return _with_constant(array, value, lambda at, end: np.pad(at, pad_width, constant_values=end))
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise TypeError(f'mode="{mode}" computes elements; choose constant, edge, reflect, symmetric or wrap.')
    return array.moved(lambda at: np.pad(at, pad_width, mode=mode, **options))


def diag(v: EncryptedIntegers, k: int = 0) -> EncryptedIntegers:
    """As `numpy.diag`: the diagonal of a matrix, or a matrix with this diagonal."""
    if v.ndim != 1:
        return checks.rearranged("diagonal", v.shape, lambda: v.moved(lambda at: np.diag(at, k)))
    return _among_zeros(v, lambda at: np.diag(at, k))


def tril(m: EncryptedIntegers, k: int = 0) -> EncryptedIntegers:
    """As `numpy.tril`."""
    return _triangle(m, lambda at: np.tril(at, k))


def triu(m: EncryptedIntegers, k: int = 0) -> EncryptedIntegers:
    """As `numpy.triu`."""
    return _triangle(m, lambda at: np.triu(at, k))


def _triangle(m: EncryptedIntegers, places: Callable[[Any], Any]) -> EncryptedIntegers:
    if not m.ndim:
        raise RangeError("A triangle is part of a matrix, and this is a number; give an array of two axes.")
    return _among_zeros(m, places)


def _among_zeros(a: EncryptedIntegers, places: Callable[[Any], Any]) -> EncryptedIntegers:
    """Elements where numpy moves them to, and zeros elsewhere: places count from 1, so a 0 of numpy is none of them."""
    return _with_constant(a, 0, lambda at, end: (places(at + 1) - 1) % (end + 1))


UFUNCS: dict[Any, Callable[..., Any]] = {
    np.power: power, np.square: square, np.sign: sign, np.conjugate: conjugate,
    np.bitwise_count: bitwise_count, np.floor: _itself, np.ceil: _itself, np.trunc: _itself, **composed.UFUNCS,
}  # fmt: skip
"""Universal functions, of operands as they are given."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.diff: diff, np.trace: trace, np.outer: outer, np.inner: inner, np.pad: pad, np.diag: diag,
    np.tril: tril, np.triu: triu,
}  # fmt: skip
"""Other functions."""
