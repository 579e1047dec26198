"""numpy's functions on encrypted integers: reductions, choices, and tables of what else is served."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import arguments, bins, casts, composed, missing, options
from aglet.arrays.digits import compositions, contractions, dtypes, lookups, operations, ordering, rows
from aglet.arrays.digits.choices import select, where
from aglet.arrays.digits.circuits.bits import sign_digit
from aglet.arrays.digits.circuits.clipping import saturate
from aglet.arrays.digits.circuits.order import all_of, any_of
from aglet.arrays.digits.circuits.products import weighted
from aglet.arrays.digits.circuits.sums import columns, subtract
from aglet.arrays.digits.operations import apply, cast, is_encrypted
from aglet.arrays.digits.sums import ZERO, AnyDigit, Sum, constant
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = [
    "argmax", "argmin", "call", "clip", "cumsum", "dot", "every", "known", "least", "matmul", "most", "product", "some",
    "total", "where",
]  # fmt: skip

_BOOL, _INT64 = np.dtype(bool), np.dtype(np.int64)


def call(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of numpy that is no universal one.

    Raises
    ------
    TypeError
        If it, or an argument of it, is not supported.
    """
    if function in rows.REARRANGE:
        return rows.rearranged(function, args, kwargs)
    if function in _AS_FLOATS:
        return function(*casts.floats(list(args)), **casts.floats(kwargs))
    served = _FUNCTIONS.get(function)
    if served is None and function in composed.FUNCTIONS:
        return composed.call(function, composed.FUNCTIONS[function], args, kwargs)
    if served is None:
        raise TypeError(missing.function(f"numpy.{function.__name__}", "encrypted integers", known()))
    return served(*args, **arguments.taken(function.__name__, served, args, kwargs))


def known() -> frozenset[Any]:
    """The functions of numpy that digits have."""
    return frozenset({*_FUNCTIONS, *rows.REARRANGE, *composed.FUNCTIONS, *_AS_FLOATS})


# Sums and products


def _wide(dtype: np.dtype[Any], wanted: Any) -> np.dtype[Any]:
    """The dtype that numpy sums in."""
    if wanted is not None:
        return dtypes.known(wanted)
    least: Any = np.uint64 if dtype.kind == "u" else np.int64
    return np.result_type(dtype, least)


def _reduced(x: EncryptedIntegers, made: EncryptedIntegers, axis: Any, keepdims: bool) -> EncryptedIntegers:
    """The result of a reduction, with axes of length 1 if they are kept."""
    if not keepdims:
        return made
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = range(x.ndim) if axis is None or not x.ndim else [at % x.ndim for at in given]
    return made.reshape(tuple(1 if at in axes else length for at, length in enumerate(x.shape)))


def total(x: EncryptedIntegers, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.sum`."""
    wanted, across = _wide(x.dtype, dtype), rows.axis_first(x, axis)
    count, rest = across.shape[0], across.shape[1:]
    if count == 0 or wanted.kind == "b":
        made = x.session.zeros(rest, wanted) if count == 0 else some(across, 0)
        return _reduced(x, made, axis, keepdims)
    n, m = dtypes.width(wanted), x.session.machine
    signs = across.dtype.kind == "i" and len(across.digits) < n
    across = _without_signs(across) if signs else across
    terms: list[list[AnyDigit]] = [
        [rows.taken(digit, i) for i in range(count)] for digit in across.digits[: min(n, len(across.digits))]
    ]
    bits = 2 * len(across.digits) + math.ceil(math.log2(count))
    needed = min(n, -(-bits // 2))
    made_digits = columns(m, terms + [[] for _ in range(needed - len(terms))])
    if signs:
        # Each element was half of the range too large.
        offset = count << (2 * len(across.digits) - 1)
        less = [constant(offset >> (2 * at) & 3) for at in range(needed)]
        made_digits = subtract(m, made_digits, less)
    found = x.__class__(x.session, made_digits, np.dtype(f"{wanted.kind}8"), rest)
    fill: AnyDigit = ZERO
    if signs and needed < n:
        fill = sign_digit(m, made_digits)
    return _reduced(x, _widened(found, fill, wanted), axis, keepdims)


def _widened(x: EncryptedIntegers, fill: AnyDigit, dtype: np.dtype[Any]) -> EncryptedIntegers:
    return x.with_digits([*x.digits, *[fill] * (dtypes.width(dtype) - len(x.digits))], dtype)


def _flipped(digit: int) -> int:
    return digit ^ 2


def _without_signs(x: EncryptedIntegers) -> EncryptedIntegers:
    """Signed numbers plus half of their range, which are 0 or more: one bootstrap for each."""
    [[highest]] = x.session.machine.read([Sum.of((x.digits[-1], 1))], _flipped)
    return x.with_digits([*x.digits[:-1], highest])


def _tree(x: EncryptedIntegers, join: Callable[[Any, Any], Any]) -> EncryptedIntegers:
    """Elements of the first axis joined two at a time, all pairs in one batch."""
    while len(x) > 1:
        half = len(x) // 2
        pairs = join(x[:half], x[half : 2 * half])
        both: Any = np.concatenate([pairs, x[2 * half :]]) if len(x) % 2 else pairs
        x = both
    return x[0]


def product(x: EncryptedIntegers, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.prod`."""
    across = rows.axis_first(cast(x, _wide(x.dtype, dtype)), axis)
    one = np.ones(across.shape[1:], dtype=across.dtype)
    made = _tree(across, lambda a, b: a * b) if len(across) else across.session.clear(one)
    return _reduced(x, made, axis, keepdims)


def cumsum(x: EncryptedIntegers, axis: Any = None, dtype: Any = None) -> EncryptedIntegers:
    """As `numpy.cumsum`, one sum after the other."""
    at = options.one_axis(axis) or 0
    wide = cast(x.ravel() if axis is None else x, _wide(x.dtype, dtype))
    across = rows.axis_first(wide, at)
    if not across.size:
        return wide
    sums = [across[0]]
    for i in range(1, len(across)):
        sums.append(sums[-1] + across[i])
    whole: Any = np.stack(sums)
    return rows.axis_last(whole, at)


def dot(x: Any, y: Any) -> EncryptedIntegers:
    """As `numpy.dot` and `@`. The second array has one or two axes.

    Numbers in the clear are weights: their products take no bootstrap, and each sum is one of columns.

    Raises
    ------
    RangeError
        If an array has another number of axes.
    """
    shapes = [one.shape if is_encrypted(one) else np.shape(one) for one in (x, y)]
    if not shapes[0] or not 1 <= len(shapes[1]) <= 2 or shapes[0][-1] != shapes[1][0]:
        raise RangeError(
            f"These shapes have no product: {shapes[0]} and {shapes[1]}; give vectors or matrices that fit."
        )
    x, y = (one if is_encrypted(one) else operations._clear(one) for one in (x, y))
    dtype = dtypes.common(x.dtype, y.dtype)
    if dtype.kind != "b" and shapes[1][0]:
        if not is_encrypted(y):
            return _weighted(x, y, dtype)
        if not is_encrypted(x) and x.ndim <= 2:
            found: EncryptedIntegers = _weighted(y.T, x.T, dtype).T
            return found
    left = x[..., None] if len(shapes[1]) == 2 else x
    products = left * y
    axis = len(shapes[0]) - 1
    return some(products, axis) if dtype.kind == "b" else total(products, axis, dtype)


def matmul(x: Any, y: Any) -> EncryptedIntegers:
    """As `numpy.matmul`: products of vectors, matrices and stacks of matrices.

    Raises
    ------
    RangeError
        If an operand is a number, or the shapes have no product.
    """
    x, y = (one if is_encrypted(one) else operations._clear(one) for one in (x, y))
    if y.ndim <= 2 or not x.ndim or x.shape[-1] != y.shape[-2]:
        return dot(x, y)
    products = (x if x.ndim > 1 else x[None])[..., None] * y[..., None, :, :]
    axis = products.ndim - 2
    boolean = products.dtype.kind == "b"
    found = some(products, axis) if boolean else total(products, axis, products.dtype)
    return found if x.ndim > 1 else found[..., 0, :]


def _weighted(x: EncryptedIntegers, y: Any, dtype: np.dtype[Any]) -> EncryptedIntegers:
    """The product x @ y, with y in the clear."""
    whole, m = cast(x, dtype), x.session.machine
    numbers = [whole[..., at].digits for at in range(whole.shape[-1])]
    rest = whole.shape[:-1]
    made = [
        x.__class__(x.session, weighted(m, numbers, [int(weight) for weight in column]), dtype, rest)
        for column in np.atleast_2d(y.T)
    ]
    if y.ndim == 1:
        return made[0]
    found: Any = np.stack(made, axis=-1) if made else x.session.zeros((*rest, 0), dtype)
    return found  # type: ignore[no-any-return]


# Booleans


def some(x: EncryptedIntegers, axis: Any = None, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.any`."""
    return _flags(x, axis, keepdims, any_of, 0)


def every(x: EncryptedIntegers, axis: Any = None, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.all`."""
    return _flags(x, axis, keepdims, all_of, 1)


def _flags(x: EncryptedIntegers, axis: Any, keepdims: bool, join: Any, of_none: int) -> EncryptedIntegers:
    across = rows.axis_first(cast(x, _BOOL), axis)
    flags = [rows.taken(across.digits[0], i) for i in range(len(across))]
    found = join(x.session.machine, flags) if flags else constant(of_none)
    made = x.__class__(x.session, [found], _BOOL, across.shape[1:])
    return _reduced(x, made, axis, keepdims)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.count_nonzero`."""
    return total(cast(a, _BOOL), axis, _INT64, keepdims)


# Order


def least(x: EncryptedIntegers, axis: Any = None, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.min`."""
    return _reduced(x, _tree(_not_empty(rows.axis_first(x, axis)), np.minimum), axis, keepdims)


def most(x: EncryptedIntegers, axis: Any = None, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.max`."""
    return _reduced(x, _tree(_not_empty(rows.axis_first(x, axis)), np.maximum), axis, keepdims)


def _not_empty(x: EncryptedIntegers) -> EncryptedIntegers:
    if not len(x):
        raise RangeError("There is no smallest or largest of no elements; give at least one.")
    return x


def argmin(x: EncryptedIntegers, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.argmin`: the first one of equal elements."""
    options.new(out)
    axis = options.one_axis(axis)
    return _reduced(x, _index_of(x, axis, smallest=True), axis, keepdims)


def argmax(x: EncryptedIntegers, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedIntegers:
    """As `numpy.argmax`: the first one of equal elements."""
    options.new(out)
    axis = options.one_axis(axis)
    return _reduced(x, _index_of(x, axis, smallest=False), axis, keepdims)


def _index_of(x: EncryptedIntegers, axis: Any, smallest: bool) -> EncryptedIntegers:
    across = _not_empty(rows.axis_first(x, axis))
    digits = ordering.best(x.session.machine, across, smallest) if across.size else []
    return x.__class__(x.session, [*digits, *[ZERO] * (dtypes.width(_INT64) - len(digits))], _INT64, across.shape[1:])


def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> EncryptedIntegers:
    """As `numpy.sort`, by a network, whatever kind is asked for."""
    a, axis = options.sortable(a, axis, kind)
    across = rows.axis_first(a, axis)
    digits = ordering.network(across.session.machine, across.digits, across.dtype.kind == "i")
    return rows.axis_last(across.with_digits(digits), axis)


def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> EncryptedIntegers:
    """As `numpy.argsort`, by a network, whatever kind is asked for; equal elements keep their order."""
    a, axis = options.sortable(a, axis, kind)
    across = rows.axis_first(a, axis)
    index = ordering.indices(across)
    digits = ordering.network(across.session.machine, [*index, *across.digits], across.dtype.kind == "i")
    found = across.with_digits(digits[: len(index)], _INT64)
    return rows.axis_last(_widened(found, ZERO, _INT64), axis)


# Ranges


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> EncryptedIntegers:
    """As `numpy.clip`. From 0 to a power of 4 less 1, as 255, it takes no comparison."""
    a_min, a_max = (given if given is not None else named for given, named in ((a_min, min), (a_max, max)))
    if is_encrypted(a) and a.dtype.kind != "b":
        low, high = dtypes.span(a.dtype)
        # A number of Python beyond the dtype is no bound.
        a_min = None if type(a_min) is int and a_min <= low else a_min
        a_max = None if type(a_max) is int and a_max >= high else a_max
    count = _saturation(a, a_min, a_max)
    if count is not None:
        return a.with_digits(saturate(a.session.machine, a.digits, count, a.dtype.kind == "i"))  # type: ignore[no-any-return]
    if a_min is not None:
        a = apply(np.maximum, (a, a_min))
    return a.copy() if a_min is a_max is None else a if a_max is None else apply(np.minimum, (a, a_max))  # type: ignore[no-any-return]


def _saturation(a: Any, a_min: Any, a_max: Any) -> int | None:
    """How many digits have the numbers from `a_min` to `a_max`, if these are all numbers of so many digits."""
    if not is_encrypted(a) or a.dtype.kind == "b" or type(a_max) is not int or a_max not in _FULL:
        return None
    from_zero = (type(a_min) is int and a_min == 0) or (a_min is None and a.dtype.kind == "u")
    count = _FULL.index(a_max) + 1
    return count if from_zero and count < len(a.digits) else None


_FULL = [4**count - 1 for count in range(1, 32)]


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **options.REDUCED, **options.FLAGS, np.cumsum: cumsum, np.dot: dot, np.count_nonzero: count_nonzero,
    np.argmin: argmin, np.argmax: argmax,
    np.sort: sort, np.argsort: argsort, np.where: where, np.select: select, np.clip: composed.two_ends(clip),
    np.einsum: contractions.einsum, np.convolve: contractions.convolve,
    np.bincount: lookups.bincount, np.searchsorted: lookups.searchsorted, np.isin: lookups.isin,
    **bins.FUNCTIONS,
    **compositions.FUNCTIONS,
    np.real: lambda val: val, np.imag: lambda val: val.session.zeros(val.shape, val.dtype),
    np.shape: lambda a: a.shape, np.size: lambda a: a.size, np.ndim: lambda a: a.ndim,
}  # fmt: skip
_AS_FLOATS = frozenset({np.var, np.std, np.average, *composed.FLOATS})
"""Those that numpy computes in floats."""
