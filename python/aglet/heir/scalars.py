"""Numbers of an emitted program, with their types in C++. What does not fit its type is refused, never wrapped."""

from __future__ import annotations

import math
import operator
from array import array
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from aglet.errors import RangeError

__all__ = ["CODES", "INTEGERS", "Scalar", "binary", "common", "convert", "literal", "truth"]


class Scalar(NamedTuple):
    """A number and the name of its type. Booleans are 0 and 1."""

    kind: str
    value: int | float


def _signed(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


INTEGERS = {
    "bool": (0, 1),
    "int8_t": _signed(8),
    "int16_t": _signed(16),
    "int32_t": _signed(32),
    "int": _signed(32),
    "int64_t": _signed(64),
    "unsigned": (0, 2**32 - 1),
    "size_t": (0, 2**64 - 1),
}
"""The range of each type of integers."""
CODES = {
    "bool": "b", "int8_t": "b", "int16_t": "h", "int32_t": "i", "int": "i", "int64_t": "q", "unsigned": "I",
    "size_t": "Q", "float": "f", "double": "d",
}  # fmt: skip
"""The type codes of arrays of each type."""
_RANKS = ("double", "float", "size_t", "int64_t", "unsigned", "int")
"""The types of results, from that which decides first."""
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_COMPUTE: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip


def literal(text: str) -> Scalar:
    """The number that a word of the program writes: an integer of the smallest type from int on, or a double."""
    if any(sign in text for sign in ".eE"):
        return _finite("double", float(text))
    value = int(text)
    kind = next((kind for kind in ("int", "int64_t", "size_t") if value <= INTEGERS[kind][1]), None)
    if kind is None:
        raise RangeError(f"The integer {text} has more than 64 bits; write it as a double, as in {text}.0.")
    return Scalar(kind, value)


def _finite(kind: str, value: float) -> Scalar:
    value = array(CODES[kind], [value])[0]
    if not math.isfinite(value):
        raise RangeError(f"A {kind} is infinite or not a number here; use smaller numbers.")
    return Scalar(kind, value)


def convert(kind: str, number: Scalar) -> Scalar:
    """Convert to another type as C++ does: to integers by cutting, to `float` by rounding.

    Raises
    ------
    RangeError
        If the value does not fit the type.
    """
    if number.kind == kind:
        return number
    if kind == "bool":
        return Scalar(kind, int(number.value != 0))
    if kind not in INTEGERS:
        return _finite(kind, float(number.value))
    least, most = INTEGERS[kind]
    value = int(number.value)
    if not least <= value <= most:
        raise RangeError(f"{value} does not fit the type {kind}; use a wider type.")
    return Scalar(kind, value)


def truth(number: Scalar) -> bool:
    """Whether a number counts as true."""
    return number.value != 0


def binary(sign: str, left: Scalar, right: Scalar) -> Scalar:
    """Compute `left sign right` in the common type of both.

    Raises
    ------
    RangeError
        If the result does not fit the common type, or the divisor is 0.
    """
    if sign in ("&&", "||"):
        values = truth(left), truth(right)
        return Scalar("bool", int(all(values) if sign == "&&" else any(values)))
    kind = common(left.kind, right.kind)
    left, right = convert(kind, left), convert(kind, right)
    if sign in _COMPARE:
        return Scalar("bool", int(_COMPARE[sign](left.value, right.value)))
    if sign in ("/", "%") and right.value == 0:
        raise RangeError("A number is divided by 0 here; check the divisor first.")
    if kind not in INTEGERS:
        if sign not in _COMPUTE:
            raise RangeError(f"The sign {sign} is for integers, and this is a {kind}; convert with static_cast.")
        return _finite(kind, _COMPUTE[sign](left.value, right.value))
    return convert(kind, Scalar("exact", _whole(sign, int(left.value), int(right.value))))


@cache
def common(left: str, right: str) -> str:
    """The type in which two numbers are combined."""
    return next((kind for kind in _RANKS if kind in (left, right)), "int")


def _whole(sign: str, left: int, right: int) -> int:
    """Integers are divided towards 0, and a remainder has the sign of the dividend."""
    if sign == "^":
        return left ^ right
    if sign not in ("/", "%"):
        return int(_COMPUTE[sign](left, right))
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient if sign == "/" else left - right * quotient
