"""Sorting, largest and smallest elements along an axis. All pairs are compared at once (arXiv 2412.15126)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aglet import checks
from aglet.arrays import along, functions, moves, sums
from aglet.arrays.interval import Interval
from aglet.arrays.joins import is_encrypted
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["argmax", "argmin", "argsort", "largest", "ordered", "smallest"]

_COSINE_DEGREE = 14
_LEAST_POINTS = 16
"""The number of half periods that determine the polynomial."""
_KERNEL_RANGE = (-0.25, 1.25)
"""The bound of the kernel, with the noise of a comparison and a bootstrap."""


def ordered(x: EncryptedArray, axis: Any = -1) -> EncryptedArray:
    """Sort the values along an axis in ascending order (None: all of them). Equal values are allowed.

    Two values that differ by less than 2^-alpha of the range are undecided: their places in the result hold mixtures of
    both.
    """
    return _in_order(x, axis, values=True)


def argsort(x: EncryptedArray, axis: Any = -1) -> EncryptedArray:
    """The indices that sort the values along an axis, close to whole numbers. Equal values keep their order.

    Two values that differ by less than 2^-alpha of the range are undecided: the indices of both are mixtures.
    """
    return _in_order(x, axis, values=False)


def _in_order(x: EncryptedArray, axis: Any, *, values: bool) -> EncryptedArray:
    if axis is None:
        x, axis = x.ravel(), 0
    at = along.one_axis(x, axis)
    lines = x._view(np.moveaxis(x.index, at, -1))
    if lines.shape[-1] == 1:
        return x if values else x * 0
    pairs = _ranked(lines.reshape(-1, lines.shape[-1]))
    count, width = pairs.length, pairs.ranks.shape[-1]
    # Beyond the values there is no other place.
    places = np.minimum(np.arange(width), count - 1) / count
    chosen = pairs.rows if values else np.arange(width)[:, None] * 1.0
    table = _at_zero(pairs.ranks[:, :, None] - places, chosen, count)
    found = table[: pairs.lines, :count, :count].sum(axis=1).reshape(lines.shape)
    return found._view(np.moveaxis(found.index, -1, at))


def argmax(x: EncryptedArray, axis: Any = None, keepdims: bool = False) -> EncryptedArray:
    """The index of the largest value, as a number close to a whole one. If several are equal, it is the first.

    If another value is less than 2^-alpha of the range below it, but not equal, the index is a mixture of both.
    """
    return _chosen(x, _one(axis), keepdims, last=True, values=False)


def argmin(x: EncryptedArray, axis: Any = None, keepdims: bool = False) -> EncryptedArray:
    """The index of the smallest value, as a number close to a whole one. If several are equal, it is the first.

    If another value is less than 2^-alpha of the range above it, but not equal, the index is a mixture of both.
    """
    return _chosen(x, _one(axis), keepdims, last=False, values=False)


def largest(x: EncryptedArray, axis: Any = None, keepdims: bool = False) -> EncryptedArray:
    """The largest value over one axis, several, or all."""
    return _chosen(x, axis, keepdims, last=True, values=True)


def smallest(x: EncryptedArray, axis: Any = None, keepdims: bool = False) -> EncryptedArray:
    """The smallest value over one axis, several, or all."""
    return _chosen(x, axis, keepdims, last=False, values=True)


def _one(axis: Any) -> Any:
    """An index is along one axis, or of all elements."""
    return None if axis is None else checks.whole("axis", axis)


def _chosen(x: EncryptedArray, axis: Any, keepdims: bool, *, last: bool, values: bool) -> EncryptedArray:
    """The value with the last or the first rank, or its index."""
    axes = sorted(sums.axes_of(axis, x.ndim))
    kept = tuple(1 if i in axes else length for i, length in enumerate(x.shape))
    shape = kept if checks.flag("keepdims", keepdims) else tuple(n for i, n in enumerate(x.shape) if i not in axes)
    lines = x._view(np.moveaxis(x.index, axes, range(x.ndim - len(axes), x.ndim)))
    lines = lines.reshape(int(np.prod(shape, dtype=np.int64)), -1)
    if lines.shape[-1] == 1:
        return (lines if values else lines * 0).reshape(shape)
    # Of equal values the first has the last rank, if it is counted from behind.
    pairs = _ranked(lines, first=-1 if last else 1)
    count, width = pairs.length, pairs.ranks.shape[-1]
    distance = pairs.ranks - (count - 1) / count if last else pairs.ranks
    found = _at_zero(distance, pairs.rows[:, :, -1] if values else np.arange(width) * 1.0, count)
    return found[: pairs.lines, :count].sum(axis=-1).reshape(shape)


class _Pairs(NamedTuple):
    """Tables of all pairs, one for each line, as wide as the next power of two."""

    rows: EncryptedArray
    """Each value along a row of its table."""
    ranks: EncryptedArray
    """The ranks from 0 on, divided by the number of values."""
    lines: int
    length: int
    """The number of values in a line. Places beyond hold the last one again, and are left out of every sum."""


def _ranked(lines: EncryptedArray, first: int = 1) -> _Pairs:
    """Compare all pairs of each line.

    The rank of a value is the number of smaller values, plus the number of equal values before it (or behind it, with
    `first=-1`). Let s be the sign of a difference, and t = 1 for values before and -1 for values behind. Then `s^3 + t
    (1 - s^2)` is s where s is 1 or -1, and t where s is 0. Where s is undecided, it is at most 1 in size.
    """
    slots, (number, count) = lines.session.slots, lines.shape
    width = 1 << (count - 1).bit_length()
    if not lines.is_real or width**2 > slots:
        most = 1 << (slots.bit_length() - 1) // 2
        raise RangeError(
            f"Only real numbers can be ordered, along an axis of at most {most} on this engine, and these are "
            f"{count} {'real' if lines.is_real else 'complex'} numbers; take numpy.max, say, of parts, and then of "
            "their results."
        )
    columns, rows = _tables(lines, width)
    signs = functions.compare("sign", rows - columns)
    place = np.arange(width)[::first]
    before = np.sign(place[:, None] - place)
    # Half the sum over a row, over the number of values; what is plain of it is a value's own place.
    half = np.where(np.arange(width) < count, 0.5 / count, 0.0)
    steps = signs.square() * (signs * (half if width > count else 0.5 / count) - before * half)
    own = np.arange(count)[::first][np.minimum(np.arange(width), count - 1)]
    return _Pairs(rows, steps.sum(axis=-1) + own / count, number, count)


def _tables(lines: EncryptedArray, width: int) -> tuple[EncryptedArray, EncryptedArray]:
    """For each line two tables: its values along columns, and along rows. Lines repeat until chunks are full."""
    slots, (number, count) = lines.session.slots, lines.shape
    each = slots // width**2
    total = -(-number // each) * each
    lines.session.check_room(2 * total // each, lines.level, 64 * total * width**2)
    source = lines.index[np.arange(total) % number][:, np.minimum(np.arange(width), count - 1)]
    target = np.arange(total * width**2, dtype=np.int64).reshape(total, width, width)
    columns, rows = (
        moves.moved(lines, np.broadcast_to(one, target.shape), target, total // each)
        for one in (source[:, None, :], source[:, :, None])
    )
    return columns, rows


def _at_zero(distance: EncryptedArray, values: Any, count: int) -> EncryptedArray:
    """The values where a distance in (-1, 1) is 0, and 0 where it is another multiple of 1 / count; twice.

    This uses Fejer's kernel, a polynomial in the cosine. The cosine is fitted on the range of the distances.
    """
    fine = max(count, _LEAST_POINTS)
    points = np.arange(1 - fine, fine) / fine
    weights = np.where(points == 0, 100, 1)
    cosine = np.polynomial.chebyshev.chebfit(points, np.cos(2 * np.pi * points), _COSINE_DEGREE, w=weights)
    cosine[1::2] = 0
    fejer = 2 * (1 - np.arange(count) / count) / count
    fejer[0] /= 2
    angle = distance.session.chebyshev(distance.assume(bound=1), cosine).assume(bound=1)
    kernel = distance.session.chebyshev(angle, fejer).assume(bound=_KERNEL_RANGE)
    # The kernel is steep: what is left of noise there, that of a refresh too, is squared. 3 k^2 - 2 k^3 is from 0 to 1
    # where the kernel is.
    kernel.need(2)
    chosen: EncryptedArray = kernel.square() * (3 * values - 2 * (kernel * values))
    around = values.interval if is_encrypted(values) else Interval.around(values)
    return chosen.replaced(interval=around | Interval(0.0, 0.0))
