"""Operations of an encrypted array with plain numbers, and comparisons."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import moves, places
from aglet.arrays.interval import Interval
from aglet.arrays.joins import is_encrypted
from aglet.ckks import values
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["add_plain", "compare", "larger", "multiply_plain", "negated", "plain", "times_whole"]


def plain(other: Any) -> Any:
    """Convert plain numbers to one number or an array of doubles.

    Doubles are used because small integers and booleans would wrap or fail when negated, and small floats would be
    rounded.
    """
    return values.as_number(other) if values.is_number(other) else values.as_operand(other)


def negated(other: Any) -> Any:
    """The other operand, negated: encrypted or not."""
    return -other if is_encrypted(other) else -plain(other)


def times_whole(x: EncryptedArray, factor: int) -> EncryptedArray:
    """Multiply by a whole number. Uses no level."""
    multiply = x.session.machine.multiply
    return x.each(lambda chunk: multiply(chunk, factor), x.interval.times(factor), lambda filler: filler * factor)


def add_plain(x: EncryptedArray, y: Any) -> EncryptedArray:
    """Compute `x + y` with plain numbers. Uses no level."""
    add = x.session.machine.add
    if values.is_number(y):
        return x.each(lambda chunk: add(chunk, y), x.interval + _point(y), lambda filler: filler + y)
    laid, rows = places.spread(x, y)
    around = Interval.around(y)
    chunks, filler = laid._state
    return laid.replaced(
        chunks=[add(chunk, row) for chunk, row in zip(chunks, rows, strict=True)],
        interval=laid.interval + around,
        filler=None if filler is None else filler + around.inside,
    )


def multiply_plain(x: EncryptedArray, y: Any) -> EncryptedArray:
    """Compute `x * y` with plain numbers. An int uses no level, other numbers use one."""
    if isinstance(y, int):
        return times_whole(x, y)
    x.need(1)
    multiply = x.session.machine.multiply
    if values.is_number(y):
        return x.each(lambda chunk: multiply(chunk, y), x.interval.times(y), lambda filler: filler * y)
    laid, rows = places.spread(x, y)
    # Bringing elements to their places may have taken the level.
    laid.need(1)
    around = Interval.around(y)
    real = laid.is_real and y.dtype.kind != "c"
    size = laid.interval.size * around.size
    chunks, filler = laid._state
    return laid.replaced(
        chunks=[multiply(chunk, row) for chunk, row in zip(chunks, rows, strict=True)],
        interval=laid.interval * around if real else Interval(-size, size),
        filler=None if filler is None else filler * around.inside,
    )


def _point(y: Any) -> Interval:
    return Interval(-abs(y), abs(y)) if isinstance(y, complex) else Interval(y, y)


# Comparisons


def compare(operation: str, x: EncryptedArray, y: Any = 0) -> EncryptedArray:
    """Compute "compare" (1 where x > y, else 0), "maximum", "minimum" or "sign". `y` may be plain.

    Values outside of [-1, 1] are first divided by a power of two. This uses a level, and the distance that stays
    undecided grows by that power.
    """
    encrypted = isinstance(y, type(x))
    y = y if encrypted else plain(y)
    if not x.is_real or (not y.is_real if encrypted else np.iscomplexobj(y)):
        raise RangeError(
            "Complex numbers cannot be compared; compare real parts, x.real. The square of a size is "
            "(x * x.conj()).real."
        )
    if encrypted:
        x.session.same(y)
    else:
        # What slots do not hold is refused, whatever the result would be.
        _ = x + -y
    decided = _decided(operation, x, y, y.interval if encrypted else Interval.around(np.asarray(y, dtype=np.float64)))
    if decided is not None:
        return decided
    if not encrypted:
        return _against_plain(operation, x, y)
    factor = max(_power(x), _power(y))
    left, right = moves.aligned(_divided(x, factor), _divided(y, factor))
    run = x.session.comparison(operation)
    interval = x.session.loosened(operation, Interval(0.0, 1.0))
    if operation != "compare":
        pick = max if operation == "maximum" else min
        lows, highs = (left.interval.low, right.interval.low), (left.interval.high, right.interval.high)
        interval = x.session.loosened(operation, Interval(pick(lows), pick(highs)))
    found = left._slotwise(right, lambda a, b: run([a, b]), interval, lambda a, b: None)
    return times_whole(found, factor) if operation != "compare" else found


def _decided(operation: str, x: EncryptedArray, y: Any, other: Interval) -> EncryptedArray | None:
    """What ranges decide that do not meet, without a polynomial, whose error is one of the range of the difference."""
    above, below = x.interval.low > other.high, x.interval.high < other.low
    if operation == "sign" or not (above or below):
        return None
    if operation != "compare" and (above == (operation == "maximum") or is_encrypted(y)):
        found: EncryptedArray = x if above == (operation == "maximum") else y
        return found.broadcast_to(np.broadcast_shapes(x.shape, np.shape(y)))
    # Numbers that everybody knows, in ciphertexts.
    known = (x * 0.0).broadcast_to(np.broadcast_shapes(x.shape, np.shape(y)))
    made: EncryptedArray = known + (float(above) if operation == "compare" else y)
    return made


def larger(operation: str, x: Any, y: Any) -> EncryptedArray:
    """Compute "maximum" or "minimum" when either of the two is encrypted."""
    return compare(operation, x, y) if is_encrypted(x) else compare(operation, y, x)


def _against_plain(operation: str, x: EncryptedArray, y: Any) -> EncryptedArray:
    """Use the sign of the difference: max(x, y) is y + max(x - y, 0), min(x, y) is -max(-x, -y)."""
    if operation == "minimum":
        return -_against_plain("maximum", -x, -y)
    difference: EncryptedArray = x + -y
    factor = _power(difference)
    scaled = _divided(difference, factor)
    machine = x.session.machine
    if operation == "sign":
        run = x.session.comparison("sign")
        return scaled.each(lambda a: run([a]), x.session.loosened("sign", Interval(-1.0, 1.0)), None)
    if operation == "compare":
        # The engine halves the difference of two: that of d and -d is d.
        run = x.session.comparison("compare")
        return scaled.each(
            lambda a: run([a, machine.negate(a)]), x.session.loosened("compare", Interval(0.0, 1.0)), None
        )
    run = x.session.comparison("relu")
    interval = x.session.loosened("relu", Interval(0.0, max(0.0, scaled.interval.high)))
    above = times_whole(scaled.each(lambda a: run([a]), interval, None), factor)
    found: EncryptedArray = above + y
    return found


def _power(x: EncryptedArray) -> int:
    """The smallest power of two, at least 1, that no value exceeds."""
    return 1 << max(0, math.ceil(math.log2(x.interval.size))) if x.interval.size > 1 else 1


def _divided(x: EncryptedArray, factor: int) -> EncryptedArray:
    return multiply_plain(x, 1 / factor) if factor > 1 else x
