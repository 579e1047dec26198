"""Running sums, differences, convolutions and products of the elements along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import functions, layout, moves, products, sums
from aglet.arrays.joins import is_encrypted
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["convolve", "cumsum", "diff", "product"]

_LONGEST = 4096
"""The most elements of a running sum or a plain convolution: a matrix of all pairs is made."""
_MODES = ("full", "same", "valid")


def cumsum(array: EncryptedArray, axis: Any = None) -> EncryptedArray:
    """As `numpy.cumsum`: a product with a triangle of ones, one level, and one where rows have to move first."""
    if axis is None:
        array, axis = array.ravel(), 0
    at = one_axis(array, axis)
    rows = array._view(np.moveaxis(array.index, at, -1))
    length = rows.shape[-1]
    _refuse_long(length, "running sum")
    if array.ndim == 1:
        return rows @ np.triu(np.ones((length, length)))
    flat: EncryptedArray = rows.reshape(-1, length)
    if not products.fit_in_rows(flat, length):
        flat = moves.spread_out(flat, flat.index)
    found: EncryptedArray = flat @ np.triu(np.ones((length, length)))
    return found._view(np.moveaxis(found.index.reshape(rows.shape), -1, at))


def diff(array: EncryptedArray, n: Any = 1, axis: Any = -1) -> EncryptedArray:
    """As `numpy.diff`: a rotation for each difference, and no level where whole chunks turn."""
    times = checks.count("n", n)
    at = one_axis(array, axis)
    if times >= array.shape[at]:
        raise RangeError(
            f"{times} differences along an axis of {array.shape[at]} leave no element, and an encrypted array needs "
            "at least one; give a smaller n."
        )
    before = (slice(None),) * at
    for _ in range(times):
        array = array[(*before, slice(1, None))] - array[(*before, slice(None, -1))]
    return array


def product(array: EncryptedArray, axis: Any = None, keepdims: bool = False) -> EncryptedArray:
    """As `numpy.prod`: a tree of products, in `ceil(log2(n))` levels for n elements, more where parts have to move."""
    axes = sorted(sums.axes_of(axis, array.ndim))
    kept = tuple(1 if i in axes else length for i, length in enumerate(array.shape))
    rest = tuple(length for i, length in enumerate(array.shape) if i not in axes)
    left = array._view(np.moveaxis(array.index, axes, range(len(axes))).reshape((-1, *rest)))
    odd: EncryptedArray | None = None
    while len(left) > 1:
        half, last = divmod(len(left), 2)
        if last:
            odd = left[-1] if odd is None else odd * left[-1]
        left = left[:half] * left[half : 2 * half]
    found = left[0] if odd is None else left[0] * odd
    return found.reshape(kept if checks.flag("keepdims", keepdims) else rest)


def convolve(a: Any, v: Any, mode: Any = "full") -> EncryptedArray:
    """As `numpy.convolve`. One level with plain numbers, two or three if both are encrypted."""
    checks.choice("mode", mode, _MODES)
    x, y = (one if is_encrypted(one) else np.asarray(functions.plain(one)) for one in (a, v))
    if x.ndim > 1 or y.ndim > 1 or not (x.size and y.size):
        raise RangeError(
            f"numpy.convolve takes two vectors that are not empty, and these have shapes {x.shape} and {y.shape}; "
            "convolve row by row."
        )
    long: Any
    short: Any
    long, short = (x.reshape(-1), y.reshape(-1)) if x.size >= y.size else (y.reshape(-1), x.reshape(-1))
    plain, other = (long, short) if is_encrypted(short) else (short, long)
    full = _shifted(long, short) if is_encrypted(plain) else _toeplitz(plain, other.size) @ other
    count, least = long.size, short.size
    if mode == "same":
        return full[(least - 1) // 2 :][:count]
    return full if mode == "full" else full[least - 1 : count]


def _toeplitz(plain: NDArray[Any], count: int) -> NDArray[Any]:
    """The matrix of a convolution with plain numbers."""
    _refuse_long(plain.size + count - 1, "convolution")
    matrix = np.zeros((plain.size + count - 1, count), dtype=plain.dtype)
    for column in range(count):
        matrix[column : column + plain.size, column] = plain
    return matrix


def _shifted(long: EncryptedArray, short: EncryptedArray) -> EncryptedArray:
    """The sum of copies of one vector in a table, each a place further than the last, times the other vector."""
    length = long.size + short.size - 1
    _refuse_long(length, "convolution")
    shifts = np.arange(short.size)[:, None]
    table, count = layout.spread((short.size, length), long.session.slots)
    wanted = np.take_along_axis(table, shifts + np.arange(long.size), axis=1)
    long = moves.spelled_out(long) if long.uniform else long
    source = np.broadcast_to(long.index, wanted.shape)
    copies = moves.cleaned(moves.moved(long, source, wanted, count), 0.0)
    return (copies.replaced(index=table, filler=None) * short[:, None]).sum(axis=0)


def one_axis(array: EncryptedArray, axis: Any) -> int:
    """The number of an axis from the start."""
    at = checks.whole("axis", axis)
    if not -array.ndim <= at < array.ndim:
        raise RangeError(f"axis={axis} does not exist; this array has {array.ndim} axes.")
    return at % array.ndim


def _refuse_long(length: int, what: str) -> None:
    if length > _LONGEST:
        raise RangeError(f"A {what} of {length} values makes too large a matrix; do it in parts of {_LONGEST} at most.")
