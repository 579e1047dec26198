"""What numpy's functions and operators do on encrypted arrays, and a sentence for those that are not served."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet.arrays import moves, order, sums
from aglet.arrays.interval import Interval
from aglet.ckks import values
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["add_plain", "compare", "concatenate", "function", "matmul", "multiply_plain", "rmatmul", "ufunc"]


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


# Products with matrices


def matmul(x: EncryptedArray, y: Any) -> EncryptedArray:
    """`x @ y`; `y` is plain, or an encrypted vector."""
    if isinstance(y, type(x)):
        if y.ndim != 1 or not x.ndim:
            raise TypeError("Of two encrypted factors of @ the second is a vector; multiply and sum for more.")
        _same_length(x.shape[-1], y.shape[0])
        return (x * y).sum(axis=-1)
    matrix = x.plain(y)
    if not x.ndim or matrix.ndim not in (1, 2):
        raise TypeError("@ takes a vector or a matrix on each side; multiply by numbers with *.")
    _same_length(x.shape[-1], matrix.shape[0])
    if matrix.ndim == 1:
        return sums.total(x * matrix, -1, False)
    if x.ndim == 1:
        return rmatmul(matrix.T, x)
    if x.ndim == 2 and _fit_in_rows(x, matrix.shape[1]):
        return _rows_times(x, matrix)
    columns = [(x * np.ascontiguousarray(column)).sum(axis=-1) for column in matrix.T]
    return _stack(columns, axis=-1)


def _fit_in_rows(x: EncryptedArray, width: int) -> bool:
    """Whether each row is a run of slots, with room for as many numbers before the next begins."""
    starts, slots = x.index[:, 0], x.session.slots
    runs = np.array_equal(x.index, starts[:, None] + np.arange(x.shape[1]))
    reach = max(width, x.shape[1])
    apart = np.diff(starts).min() >= reach if len(starts) > 1 else True
    return bool(runs and apart and (starts % slots + reach).max() <= slots)


def _rows_times(x: EncryptedArray, matrix: NDArray[Any]) -> EncryptedArray:
    """All rows of a chunk at once, by the diagonals of the matrix, in baby and giant steps to the right; one level.

    `z = sum_s E_s roll(x, s)` has in slot `p + inputs - 1` what belongs to slot p, where `s = inputs - 1 + j - i` for
    input i and output j. Only one turn goes to the left, which takes many switches.
    """
    x.need(1)
    (inputs, outputs), slots, machine = matrix.shape, x.session.slots, x.session.machine
    diagonals = inputs + outputs - 1
    baby = 1 << (diagonals.bit_length() // 2)
    chunks = []
    for number, chunk in enumerate(x.chunks):
        starts = x.index[x.index[:, 0] // slots == number, 0] % slots
        turned = [chunk, *(machine.rotate(chunk, list(range(1, baby))) if baby > 1 else [])]
        total: Any = None
        for giant in range((diagonals - 1) // baby, -1, -1):
            steps = range(giant * baby, min(diagonals, (giant + 1) * baby))
            weights = [np.roll(_diagonal(matrix, starts, step, slots), -giant * baby) for step in steps]
            part = machine.weighted_sum(turned[: len(weights)], weights)
            total = part if total is None else machine.add(part, machine.rotate(total, [baby])[0])
        chunks.append(machine.rotate(total, [(1 - inputs) % slots])[0] if inputs > 1 else total)
    index = x.index[:, :1] + np.arange(outputs)
    return x.replaced(chunks=chunks, index=index, interval=_image(matrix.T, x), filler=0.0, period=None)


def _diagonal(matrix: NDArray[Any], starts: NDArray[np.int64], step: int, slots: int) -> NDArray[Any]:
    """What `roll(x, step)` is multiplied by: entries whose output is `step - inputs + 1` beyond their input."""
    inputs, outputs = matrix.shape
    columns = np.arange(max(0, step - inputs + 1), min(outputs, step + 1))
    weights = np.zeros(slots, dtype=matrix.dtype if matrix.dtype.kind == "c" else np.float64)
    places = starts[:, None] + columns + inputs - 1
    weights[places.ravel() % slots] = np.tile(matrix[columns - (step - inputs + 1), columns], len(starts))
    return weights


def rmatmul(matrix: Any, x: EncryptedArray) -> EncryptedArray:
    """`matrix @ x` with a plain matrix and an encrypted vector; one level."""
    entries = x.plain(matrix)
    if np.ndim(entries) == 1:
        return matmul(x, entries) if x.ndim == 1 else matmul(x.T, entries)
    if np.ndim(entries) != 2 or x.ndim != 1:
        raise TypeError("matrix @ x takes a plain matrix and an encrypted vector; take columns of x one by one.")
    _same_length(entries.shape[1], x.shape[0])
    slots, machine = x.session.slots, x.session.machine
    laid = moves.compact(x.spelled_out() if x.uniform else x)
    laid.need(1)
    chunks: list[Any] = []
    for top in range(0, len(entries), slots):
        parts = [
            machine.matrix(entries[top : top + slots, i * slots : (i + 1) * slots], chunk)
            for i, chunk in enumerate(laid.chunks)
        ]
        found = parts[0]
        for part in parts[1:]:
            found = machine.add(found, part)
        chunks.append(found)
    index = np.arange(len(entries), dtype=np.int64)
    return x.replaced(chunks=chunks, index=index, interval=_image(entries, laid), filler=0.0, period=None)


def _image(entries: Any, x: EncryptedArray) -> Interval:
    """What a matrix makes of an interval, and the zeros beside it."""
    if entries.dtype.kind == "c" or not x.is_real:
        size = float(np.abs(entries).sum(axis=1).max()) * x.interval.size
        return Interval(-size, size)
    above, below = np.maximum(entries, 0).sum(axis=1), np.minimum(entries, 0).sum(axis=1)
    low = float((above * x.interval.low + below * x.interval.high).min())
    high = float((above * x.interval.high + below * x.interval.low).max())
    return Interval(min(0.0, low), max(0.0, high))


def _same_length(left: int, right: int) -> None:
    if left != right:
        raise RangeError(f"@ needs equal lengths in the middle, and these are {left} and {right}.")


# Joins


def concatenate(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    """As numpy's; it costs nothing: the chunks of all stand side by side."""
    first = _encrypted(arrays)
    session, slots = first.session, first.session.slots
    parts: list[Any] = []
    chunks: list[Any] = []
    start = 0
    for one in arrays:
        array = one if isinstance(one, type(first)) else session.encrypt_like(one, first)
        session.same(array)
        array = array.spelled_out() if array.uniform else array
        parts.append((array, array.index + start))
        chunks += array.chunks
        start += len(array.chunks) * slots
    index = np.concatenate([places for _, places in parts], axis=axis)
    interval = parts[0][0].interval
    for array, _ in parts[1:]:
        interval = interval | array.interval
    fillers, periods = {array.filler for array, _ in parts}, {array.period for array, _ in parts}
    filler, period = (some.pop() if len(some) == 1 else None for some in (fillers, periods))
    return first.replaced(chunks=chunks, index=index, interval=interval, filler=filler, period=period)


def _stack(arrays: Sequence[Any], axis: Any = 0) -> EncryptedArray:
    first = _encrypted(arrays)
    wide = [a.spelled_out() if isinstance(a, type(first)) and a.uniform else a for a in arrays]
    place = axis if axis >= 0 else axis + first.ndim + 1
    expanded = [a.reshape(*a.shape[:place], 1, *a.shape[place:]) for a in wide]
    return concatenate(expanded, axis=place)


def _encrypted(arrays: Sequence[Any]) -> EncryptedArray:
    from aglet.arrays.array import EncryptedArray

    found = [one for one in arrays if isinstance(one, EncryptedArray)]
    if not found:
        raise TypeError("None of these arrays is encrypted.")
    return found[0]


# numpy's protocols


def _roll(x: EncryptedArray, shift: Any, axis: Any = None) -> EncryptedArray:
    return x._view(np.roll(x.index, shift, axis))


def _where(condition: Any, x: Any, y: Any) -> Any:
    if condition is None or not isinstance(condition, type(_encrypted([condition, x, y]))):
        mask = np.asarray(condition).astype(np.float64)
        return x * mask + y * (1 - mask)
    return condition * (x - y) + y


def _clip(x: EncryptedArray, low: Any = None, high: Any = None) -> EncryptedArray:
    raised = x if low is None else compare("maximum", x, low)
    return raised if high is None else compare("minimum", raised, high)


def _larger(operation: str) -> Callable[[Any, Any], Any]:
    def call(x: Any, y: Any) -> EncryptedArray:
        return compare(operation, x, y) if isinstance(x, type(_encrypted([x, y]))) else compare(operation, y, x)

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
    np.stack: _stack,
    np.hstack: lambda arrays: concatenate(arrays, axis=min(1, _encrypted(arrays).ndim - 1)),
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
