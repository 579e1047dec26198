"""What numpy's functions and operators do on encrypted arrays, and a sentence for those that are not served."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import moves, order
from aglet.arrays.interval import Interval
from aglet.arrays.joins import concatenate, first_encrypted, stack
from aglet.arrays.products import rmatmul
from aglet.ckks import values
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["add_plain", "compare", "function", "multiply_plain", "ufunc"]


def add_plain(x: EncryptedArray, y: Any) -> EncryptedArray:
    """`x + y` with numbers that are no secret; no level."""
    add = x.session.machine.add
    if values.is_number(y):
        return x.each(lambda chunk: add(chunk, y), x.interval + _point(y), lambda filler: filler + y)
    laid, rows = x.spread(y)
    around = Interval.around(y)
    filler = None if laid.filler is None else laid.filler + around.inside
    chunks = [add(chunk, row) for chunk, row in zip(laid.chunks, rows, strict=True)]
    return laid.replaced(chunks=chunks, interval=laid.interval + around, filler=filler)


def multiply_plain(x: EncryptedArray, y: Any) -> EncryptedArray:
    """`x * y` with numbers that are no secret; no level by an int, one by anything else."""
    if isinstance(y, int):
        return x.times_whole(y)
    x.need(1)
    multiply = x.session.machine.multiply
    if values.is_number(y):
        return x.each(lambda chunk: multiply(chunk, y), x.interval.times(y), lambda filler: filler * y)
    laid, rows = x.spread(y)
    around = Interval.around(y)
    real = laid.is_real and y.dtype.kind != "c"
    size = laid.interval.size * around.size
    filler = None if laid.filler is None else laid.filler * around.inside
    chunks = [multiply(chunk, row) for chunk, row in zip(laid.chunks, rows, strict=True)]
    interval = laid.interval * around if real else Interval(-size, size)
    return laid.replaced(chunks=chunks, interval=interval, filler=filler)


def _point(y: Any) -> Interval:
    return Interval(-abs(y), abs(y)) if isinstance(y, complex) else Interval(y, y)


# Comparisons


def compare(operation: str, x: EncryptedArray, y: Any = 0) -> EncryptedArray:
    """Do "compare" (1 where x > y, else 0), "maximum", "minimum" or "sign" of real numbers, `y` may be plain.

    Values beyond [-1, 1] are divided by a power of two first, which takes a level and makes the undecided distance
    that much larger.
    """
    encrypted = isinstance(y, type(x))
    if not x.is_real or (encrypted and not y.is_real):
        raise RangeError("Only real numbers have an order, and these are complex; encrypt their real parts.")
    if not encrypted:
        return _against_plain(operation, x, y)
    x.session.same(y)
    factor = max(_power(x), _power(y))
    left, right = moves.aligned(_divided(x, factor), _divided(y, factor))
    run = x.session.comparison(operation)
    interval = x.session.loosened(operation, Interval(0.0, 1.0))
    if operation != "compare":
        pick = max if operation == "maximum" else min
        lows, highs = (left.interval.low, right.interval.low), (left.interval.high, right.interval.high)
        interval = x.session.loosened(operation, Interval(pick(lows), pick(highs)))
    found = left._slotwise(right, lambda a, b: run([a, b]), interval, lambda a, b: None)
    return found.times_whole(factor) if operation != "compare" else found


def _against_plain(operation: str, x: EncryptedArray, y: Any) -> EncryptedArray:
    """By the sign of the difference: max(x, y) is y + max(x - y, 0), min(x, y) is -max(-x, -y)."""
    if operation == "minimum":
        return -_against_plain("maximum", -x, -x.plain(y))
    difference = add_plain(x, -x.plain(y)) if np.any(y) else x
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
    above = scaled.each(lambda a: run([a]), interval, None).times_whole(factor)
    return add_plain(above, x.plain(y)) if np.any(y) else above


def _power(x: EncryptedArray) -> int:
    """The least power of two from 1 up that values are at most."""
    return 1 << max(0, math.ceil(math.log2(x.interval.size))) if x.interval.size > 1 else 1


def _divided(x: EncryptedArray, factor: int) -> EncryptedArray:
    return multiply_plain(x, 1 / factor) if factor > 1 else x


# numpy's protocols


def _roll(x: EncryptedArray, shift: Any, axis: Any = None) -> EncryptedArray:
    return x._view(np.roll(x.index, shift, axis))


def _where(condition: Any, x: Any, y: Any) -> Any:
    if condition is None or not isinstance(condition, type(first_encrypted([condition, x, y]))):
        mask = np.asarray(condition).astype(np.float64)
        return x * mask + y * (1 - mask)
    return condition * (x - y) + y


def _clip(x: EncryptedArray, low: Any = None, high: Any = None) -> EncryptedArray:
    raised = x if low is None else compare("maximum", x, low)
    return raised if high is None else compare("minimum", raised, high)


def _larger(operation: str) -> Callable[[Any, Any], Any]:
    def call(x: Any, y: Any) -> EncryptedArray:
        return compare(operation, x, y) if isinstance(x, type(first_encrypted([x, y]))) else compare(operation, y, x)

    return call


_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: lambda x, y: x + y,
    np.subtract: lambda x, y: x - y,
    np.multiply: lambda x, y: x * y,
    np.true_divide: lambda x, y: x / y,
    np.negative: lambda x: -x,
    np.positive: lambda x: x,
    np.square: lambda x: x.square(),
    np.power: lambda x, y: x**y,
    np.matmul: lambda x, y: x @ y,
    np.maximum: _larger("maximum"),
    np.minimum: _larger("minimum"),
    np.greater: lambda x, y: x > y,
    np.greater_equal: lambda x, y: x > y,
    np.less: lambda x, y: x < y,
    np.less_equal: lambda x, y: x < y,
    np.sign: lambda x: compare("sign", x),
    np.absolute: abs,
    np.conjugate: lambda x: x.conj(),
}

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: lambda x, axis=None, keepdims=False: x.sum(axis, keepdims=keepdims),
    np.mean: lambda x, axis=None, keepdims=False: x.mean(axis, keepdims=keepdims),
    np.var: lambda x, axis=None, ddof=0, keepdims=False: x.var(axis, ddof=ddof, keepdims=keepdims),
    np.sort: lambda x, axis=-1: order.ordered(x, axis),
    np.argmax: lambda x: order.argmax(x),
    np.argmin: lambda x: order.argmin(x),
    np.max: lambda x: order.largest(x),
    np.min: lambda x: order.smallest(x),
    np.dot: lambda x, y: x @ y,
    np.inner: lambda x, y: (x * y).sum(axis=-1),
    np.concatenate: concatenate,
    np.stack: stack,
    np.hstack: lambda arrays: concatenate(arrays, axis=min(1, first_encrypted(arrays).ndim - 1)),
    np.vstack: lambda arrays: concatenate([a.reshape(1, -1) if a.ndim == 1 else a for a in arrays]),
    np.roll: _roll,
    np.reshape: lambda x, shape: x.reshape(shape),
    np.ravel: lambda x: x.ravel(),
    np.transpose: lambda x, axes=None: x.transpose(*(axes or ())),
    np.broadcast_to: lambda x, shape: x.broadcast_to(tuple(np.atleast_1d(shape))),
    np.where: _where,
    np.clip: _clip,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
}


def ufunc(called: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A universal function of numpy; results are new arrays, so `out=` and `where=` have no place."""
    served = _UFUNCS.get(called)
    if served is None or method != "__call__" or options:
        raise TypeError(_refusal(f"numpy.{called.__name__}" + (f".{method}" if method != "__call__" else ""), options))
    left = [one.item() if isinstance(one, np.ndarray) and not one.ndim else one for one in inputs]
    if len(left) == 2 and isinstance(left[0], np.ndarray | np.generic):
        return _reflected(called, *left)
    return served(*left)


def _reflected(called: Any, plain: Any, x: EncryptedArray) -> Any:
    """With numpy's array first, whose own operators would ask numpy again."""
    swapped: dict[Any, Callable[[], Any]] = {
        np.add: lambda: x + plain,
        np.multiply: lambda: x * plain,
        np.subtract: lambda: x.__rsub__(plain),
        np.true_divide: lambda: x.__rtruediv__(plain),
        np.matmul: lambda: rmatmul(plain, x),
        np.maximum: lambda: compare("maximum", x, plain),
        np.minimum: lambda: compare("minimum", x, plain),
        np.greater: lambda: x < plain,
        np.greater_equal: lambda: x < plain,
        np.less: lambda: x > plain,
        np.less_equal: lambda: x > plain,
    }
    if called not in swapped:
        raise TypeError(_refusal(f"numpy.{called.__name__}", {}))
    return swapped[called]()


def function(called: Any, given: Sequence[Any], options: dict[str, Any]) -> Any:
    """Another function of numpy."""
    served = _FUNCTIONS.get(called)
    if served is None:
        raise TypeError(_refusal(f"numpy.{called.__name__}", {}))
    try:
        return served(*given, **options)
    except TypeError as error:
        if "unexpected keyword" in str(error) or "positional argument" in str(error):
            raise TypeError(_refusal(f"numpy.{called.__name__}", options)) from error
        raise


def _refusal(name: str, options: dict[str, Any]) -> str:
    with_options = f" with {', '.join(options)}" if options else ""
    served = sorted({one.__name__ for one in (*_UFUNCS, *_FUNCTIONS)})
    return (
        f"{name}{with_options} is not served on encrypted arrays, and nothing is decrypted for it; there are "
        f"{', '.join(served)}, and session.chebyshev for any smooth function."
    )
