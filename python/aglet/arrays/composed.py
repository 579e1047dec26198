"""numpy's functions that others make up, for encrypted floats and for encrypted digits alike.

Each is written in operators and in functions that both kinds of arrays have, so dtypes and shapes are numpy's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aglet import checks
from aglet.arrays import arguments, bins, casts, options
from aglet.arrays.digits import dtypes
from aglet.errors import RangeError

__all__ = ["FLOATS", "FUNCTIONS", "SERVED", "UFUNCS", "call"]


def call(function: Any, served: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of numpy with the arguments that are supported.

    Raises
    ------
    TypeError
        If it has others.
    """
    return served(*args, **arguments.taken(function.__name__, served, args, kwargs))


def _array(value: Any) -> Any:
    """An encrypted array, or one in the clear."""
    return value if hasattr(value, "session") else dtypes.unmasked(value)


# Elements


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """As `numpy.compress`, by a condition in the clear."""
    flags = _clear(condition)
    if flags.ndim != 1:
        raise RangeError(f"A condition has one axis, and this one has {flags.ndim}; call numpy.extract, or reshape it.")
    chosen = np.flatnonzero(flags)
    return np.take(a.reshape(-1), chosen) if axis is None else np.take(a, chosen, axis)


def _clear(value: Any) -> Any:
    """A condition or places, which say how many elements a result has.

    Raises
    ------
    TypeError
        If they are encrypted.
    """
    if hasattr(value, "session"):
        raise TypeError(
            "What decides how many elements there are must be in the clear; choose with numpy.where(condition, x, 0)."
        )
    return dtypes.unmasked(value)


def extract(condition: Any, arr: Any) -> Any:
    """As `numpy.extract`."""
    return compress(np.ravel(_clear(condition)), arr)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """As `numpy.append`."""
    pair = [_array(arr), _array(values)]
    return np.concatenate([one.reshape(-1) for one in pair] if axis is None else pair, axis=axis or 0)


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """As `numpy.delete`."""
    array, at = (arr.reshape(-1), 0) if axis is None else (arr, axis)
    return np.take(array, np.delete(np.arange(array.shape[at]), obj), at)


def resize(a: Any, new_shape: Any) -> Any:
    """As `numpy.resize`, which writes the elements over and over."""
    return np.take(a.reshape(-1), np.resize(np.arange(a.size), new_shape))


def atleast(least: int) -> Callable[..., Any]:
    """As `numpy.atleast_1d`, `_2d` or `_3d`."""

    def one(array: Any) -> Any:
        places = np.zeros(np.shape(array), dtype=bool)
        shapes = {1: np.atleast_1d, 2: np.atleast_2d, 3: np.atleast_3d}
        return _array(array).reshape(shapes[least](places).shape)

    return lambda *arys: one(arys[0]) if len(arys) == 1 else tuple(one(array) for array in arys)


def broadcast_arrays(*args: Any) -> Any:
    """As `numpy.broadcast_arrays`."""
    arrays = [_array(one) for one in args]
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    return tuple(np.broadcast_to(one, shape) for one in arrays)


def matrix_transpose(x: Any) -> Any:
    """As `numpy.matrix_transpose`."""
    if x.ndim < 2:
        raise RangeError("A matrix has two axes; reshape the array first.")
    return np.swapaxes(x, -1, -2)


def diagflat(v: Any, k: int = 0) -> Any:
    """As `numpy.diagflat`."""
    return np.diag(v.reshape(-1), k)


def like(value: float) -> Callable[..., Any]:
    """As `numpy.zeros_like` and `ones_like`: numbers in the clear."""
    return lambda a, dtype=None, *, shape=None: np.full(
        a.shape if shape is None else shape, value, a.dtype if dtype is None else dtype
    )


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """As `numpy.full_like`, in the clear."""
    # A number of Python stays one, so that numpy refuses it where it does not fit.
    value = fill_value if type(fill_value) is int else _clear(fill_value)
    return np.full(a.shape if shape is None else shape, value, a.dtype if dtype is None else dtype)


# Products


def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """As `numpy.cumprod`, in `ceil(log2(n))` steps."""
    axis = options.one_axis(axis)
    if axis is None:
        a, axis = a.reshape(-1), 0
    if not -a.ndim <= axis < a.ndim:
        raise RangeError(f"axis={axis} does not name an axis of this array, which has {a.ndim}.")
    if a.dtype.kind in "bui":
        wide = np.uint64 if a.dtype.kind == "u" else np.int64
        a = a.astype(np.result_type(a.dtype, wide) if dtype is None else dtype, casting="unsafe")
    elif dtype is not None and dtypes.of_numpy(dtype) != a.dtype:
        raise TypeError(f"A running product of {a.dtype} has this dtype; leave dtype= out.")
    length, step = a.shape[axis], 1
    before = (slice(None),) * (axis % a.ndim)
    while step < length:
        later = a[(*before, slice(step, None))] * a[(*before, slice(None, -step))]
        a = np.concatenate([a[(*before, slice(None, step))], later], axis=axis)
        step *= 2
    return a


def kron(a: Any, b: Any) -> Any:
    """As `numpy.kron`."""
    a, b = _array(a), _array(b)
    ndim = max(a.ndim, b.ndim)
    a, b = (one.reshape((1,) * (ndim - one.ndim) + one.shape) for one in (a, b))
    left = a.reshape([n for length in a.shape for n in (length, 1)])
    right = b.reshape([n for length in b.shape for n in (1, length)])
    return (left * right).reshape([x * y for x, y in zip(a.shape, b.shape, strict=True)])


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """As `numpy.tensordot`."""
    a, b = _array(a), _array(b)
    pair = (range(-axes, 0), range(axes)) if isinstance(axes, int | np.integer) else axes
    left, right = ([int(i) for i in np.atleast_1d(np.array(list(one) if np.ndim(one) else one))] for one in pair)
    if any(not -one.ndim <= i < one.ndim for one, used in ((a, left), (b, right)) for i in used):
        raise RangeError(f"axes={axes} does not name axes of arrays of {a.ndim} and {b.ndim}; give those that exist.")
    left, right = [i % a.ndim for i in left], [i % b.ndim for i in right]
    if [a.shape[i] for i in left] != [b.shape[i] for i in right]:
        raise RangeError(f"The axes {left} of {a.shape} and {right} of {b.shape} differ in length; give equal ones.")
    rest = [[i for i in range(one.ndim) if i not in used] for one, used in ((a, left), (b, right))]
    shape = [one.shape[i] for one, kept in ((a, rest[0]), (b, rest[1])) for i in kept]
    count = int(np.prod([a.shape[i] for i in left], dtype=np.int64))
    if not left:
        return np.multiply(a.reshape(-1, 1), b.reshape(1, -1)).reshape(shape)
    x = np.transpose(a, [*rest[0], *left]).reshape(-1, count)
    y = np.transpose(b, [*right, *rest[1]]).reshape(count, -1)
    return np.matmul(x, y).reshape(shape)


def vdot(a: Any, b: Any) -> Any:
    """As `numpy.vdot`."""
    first, second = _array(a).reshape(-1), _array(b).reshape(-1)
    return np.dot(first.conj() if first.dtype.kind == "c" else first, second)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """As `numpy.cross` of vectors with three coordinates."""
    ends = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    x, y = (np.moveaxis(_array(one), at, -1) for one, at in ((a, ends[0]), (b, ends[1])))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise RangeError(f"Vectors of 3 coordinates have a cross product, not of {x.shape[-1]} and {y.shape[-1]}.")
    parts = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    found = np.stack(parts, axis=-1)
    return np.moveaxis(found, -1, ends[2]) if found.ndim > 1 else found


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """As `numpy.trace`."""
    return np.diagonal(a, offset, axis1, axis2).sum(axis=-1)


def polyval(p: Any, x: Any) -> Any:
    """As `numpy.polyval`, the highest coefficient first: by Horner's rule, or one polynomial of floats."""
    if hasattr(x, "interval") and not hasattr(p, "session"):
        coefficients = dtypes.unmasked(p)
        if coefficients.ndim == 1 and coefficients.size > 1 and np.any(coefficients[:-1]):
            return x.session.poly(x, coefficients[::-1])
    whole = _array(p)
    rows = [whole[i] for i in range(len(whole))]
    if not rows:
        raise RangeError("A polynomial has at least one coefficient, and this list is empty.")
    # numpy begins with zeros of the dtype of x; those of floats would cost a level.
    found = x * 0 if hasattr(x, "interval") else np.zeros(np.shape(x), _array(x).dtype)
    for row in rows:
        found = found * x + row
    return found


# Along an axis


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """As `numpy.ediff1d`."""
    flat = _array(ary).reshape(-1)
    ends = [None if one is None else _array(one).reshape(-1) for one in (to_begin, to_end)]
    if any(one is not None and not np.can_cast(one.dtype, flat.dtype, "same_kind") for one in ends):
        raise TypeError(f"What stands before or behind differences of {flat.dtype} has this dtype; call astype first.")
    ends = [None if one is None else one.astype(flat.dtype) for one in ends]
    # Of floats no array is empty.
    apart = flat[1:] - flat[:-1] if flat.size > 1 or not hasattr(flat, "interval") else None
    parts = [one for one in (ends[0], apart, ends[1]) if one is not None]
    if not parts:
        raise RangeError("One element has no difference; give two or more.")
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def two_ends(clip: Callable[..., Any]) -> Callable[..., Any]:
    """`numpy.clip` of whole numbers, which takes both ends or their other names."""

    def clipped(a: Any, a_min: Any = ..., a_max: Any = ..., *, min: Any = None, max: Any = None) -> Any:
        if (a_min is ...) != (a_max is ...):
            raise TypeError("numpy.clip needs a_min and a_max, or min and max; give None for an end that is open.")
        if a.dtype.kind == "b" and all(one is None or one is ... for one in (a_min, a_max, min, max)):
            raise TypeError("Booleans have no range to leave in numpy; give an end.")
        return clip(a, None if a_min is ... else a_min, None if a_max is ... else a_max, min=min, max=max)

    return clipped


def ptp(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.ptp`: the largest element less the smallest."""
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def gradient(f: Any, *varargs: float, axis: Any = None) -> Any:
    """As `numpy.gradient` along one axis, with one spacing."""
    at = (0 if f.ndim == 1 else None) if axis is None else axis
    if not isinstance(at, int | np.integer) or len(varargs) > 1 or any(np.ndim(one) for one in varargs):
        raise TypeError("A gradient of encrypted arrays has one axis and one spacing; give axis= and a number.")
    spacing = float(varargs[0]) if varargs else 1.0
    rows = np.moveaxis(f, at, 0)
    if len(rows) < 2:
        raise RangeError(f"A gradient takes at least 2 elements along its axis, and there are {len(rows)}.")
    parts = [(rows[1:2] - rows[:1]) * (1 / spacing), (rows[-1:] - rows[-2:-1]) * (1 / spacing)]
    if len(rows) > 2:
        parts.insert(1, (rows[2:] - rows[:-2]) * (0.5 / spacing))
    return np.moveaxis(np.concatenate(parts), 0, at)


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """As `numpy.trapezoid`: a sum of the elements, each with its weight."""
    length, rows = y.shape[axis], np.moveaxis(y, axis, -1)
    if x is not None and _clear(x).ndim != 1:
        raise RangeError(f"The places x= of a trapezoid have one axis here, not {_clear(x).ndim}; give those of a row.")
    steps = np.full(length - 1, dx) if x is None else np.diff(_clear(x))
    if length > 1 and casts.wraps_doubled(y):
        return np.dot(casts.floats(rows[..., 1:] + rows[..., :-1]), steps / 2)
    return np.dot(casts.floats(rows), (np.append(steps, 0.0) + np.append(0.0, steps)) / 2)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """As `numpy.correlate` of a second array that is no longer than the first."""
    call: Any = np.convolve
    first, second = _array(a), _array(v)
    if first.ndim != 1 or second.ndim != 1 or second.size > first.size:
        raise RangeError("A correlation is one of two vectors, the second no longer than the first; swap them.")
    turned = second[::-1]
    return call(first, turned.conj() if turned.dtype.kind == "c" else turned, checks.string("mode", mode))


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    """As `numpy.cov`, without weights: rows are variables unless `rowvar=False`."""
    rows = _rows(m, rowvar)
    if y is not None:
        rows = np.concatenate([rows, _rows(y, rowvar)])
    count = rows.shape[1]
    less = (0 if bias else 1) if ddof is None else ddof
    if count - less <= 0:
        raise RangeError(f"{count} observations leave no degree of freedom; give more.")
    centred = rows - np.mean(rows, axis=1, keepdims=True)
    turned = centred.conj() if centred.dtype.kind == "c" else centred
    found = np.matmul(centred, np.transpose(turned)) * (1 / (count - less))
    return found.reshape(()) if found.size == 1 else found


def _rows(m: Any, rowvar: bool) -> Any:
    rows = _array(m)
    if rows.ndim > 2 or not rows.ndim:
        raise RangeError("A covariance is one of vectors, or of the rows of a matrix; reshape the array.")
    if rows.ndim == 1:
        return rows.reshape(1, -1)
    return rows if rowvar else np.transpose(rows)


def median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.median` along one axis or of all elements: by sorting."""
    axis = options.one_axis(axis)
    flat, at = (a.reshape(-1), 0) if axis is None else (a, axis)
    ordered = np.moveaxis(np.sort(flat, axis=at), at, 0)
    count = len(ordered)
    low, high = ordered[(count - 1) // 2], ordered[count // 2]
    if a.dtype.kind in "bui":
        low, high = low.astype(np.float64), high.astype(np.float64)
    found = low + 0 if count % 2 else (low + high) * 0.5
    if not keepdims:
        return found
    return found.reshape([1] * a.ndim) if axis is None else np.expand_dims(found, axis)


def _triangle(called: Any) -> Callable[..., Any]:
    """As `numpy.tril` or `numpy.triu`: elements times ones and zeros, one level."""
    return lambda m, k=0: m * called(np.ones(m.shape), k)


def diag(v: Any, k: int = 0) -> Any:
    """As `numpy.diag`: the diagonal of a matrix, or a matrix with this diagonal, one level."""
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise RangeError("A diagonal is one of a matrix or of a vector; reshape the array.")
    size = v.size + abs(k)
    places = np.clip(np.arange(size) - max(k, 0), 0, v.size - 1)
    return np.broadcast_to(np.take(v, places), (size, size)) * np.diag(np.ones(v.size), k)


def _finite(value: bool) -> Callable[[Any], Any]:
    """Whether elements are finite: encrypted ones always are."""
    return lambda x: np.full(x.shape, value)


def _instead(other: Any, a: Any, axis: Any = None) -> Any:
    """The function that does not look for NaN."""
    return other(a, axis=axis)


def same(x: Any) -> Any:
    """The array: encrypted elements are never NaN."""
    return x


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.compress: compress, np.extract: extract, np.append: append, np.delete: delete, np.resize: resize,
    np.atleast_1d: atleast(1), np.atleast_2d: atleast(2), np.atleast_3d: atleast(3),
    np.broadcast_arrays: broadcast_arrays, np.diagflat: diagflat, np.zeros_like: like(0), np.ones_like: like(1),
    np.full_like: full_like, np.cumprod: cumprod, np.kron: kron, np.tensordot: tensordot, np.vdot: vdot,
    np.cross: cross, np.trace: trace, np.polyval: polyval, np.ediff1d: ediff1d, np.ptp: ptp, np.correlate: correlate,
    np.median: median, np.nan_to_num: same, np.isrealobj: lambda x: x.dtype.kind != "c",
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
}  # fmt: skip
"""Of floats and of digits."""
_NEW = (("matrix_transpose", matrix_transpose), ("trapezoid", trapezoid))
FUNCTIONS.update({getattr(np, name): served for name, served in _NEW if hasattr(np, name)})

FLOATS: dict[Any, Callable[..., Any]] = {np.gradient: gradient, np.cov: cov}
"""Of floats; digits become floats first."""

UFUNCS: dict[Any, Callable[..., Any]] = {
    np.isfinite: _finite(True), np.isnan: _finite(False), np.isinf: _finite(False),
    np.fmax: np.maximum, np.fmin: np.minimum,
}  # fmt: skip
"""Universal functions of floats and of digits."""
_NANS: dict[Any, Any] = {
    np.nansum: np.sum, np.nanmean: np.mean, np.nanvar: np.var, np.nanstd: np.std, np.nanmax: np.max,
    np.nanmin: np.min, np.nanprod: np.prod, np.nancumsum: np.cumsum, np.nanmedian: np.median,
    np.nanargmax: np.argmax, np.nanargmin: np.argmin, np.nancumprod: np.cumprod,
}  # fmt: skip
FUNCTIONS.update({one: functools.partial(_instead, other) for one, other in _NANS.items()})
SERVED: dict[Any, Callable[..., Any]] = {
    **FUNCTIONS, **FLOATS, **options.REDUCED, np.select: bins.select_floats,
    np.real: lambda val: val.real, np.imag: lambda val: val.imag,
    np.tril: _triangle(np.tril), np.triu: _triangle(np.triu), np.diag: diag,
}  # fmt: skip
"""Of floats."""
