"""Sorting, largest and smallest element of an encrypted vector. All pairs are compared at once (arXiv 2412.15126)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import functions, moves, rotations
from aglet.arrays.interval import Interval
from aglet.arrays.joins import is_encrypted
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["argmax", "argmin", "largest", "ordered", "smallest"]

_COSINE_DEGREE = 14
_LEAST_POINTS = 16
"""The number of half periods that determine the polynomial."""
_KERNEL_RANGE = (-0.25, 1.25)
"""The bound of the kernel, with the noise of a comparison and a bootstrap."""


def ordered(x: EncryptedArray, axis: Any = -1) -> EncryptedArray:
    """Sort the values in ascending order. Equal values are allowed.

    Two values that differ by less than 2^-alpha of the range are undecided: their places in the result hold mixtures of
    both.
    """
    if axis not in (-1, 0, None) or isinstance(axis, bool):
        raise RangeError(f"axis={axis} does not exist; a vector has axis 0.")
    rows, ranks = _ranked(x)
    if len(x) == 1:
        return x
    places = np.arange(len(x)) / len(x)
    return _at_zero(ranks[:, None] - places, rows).sum(axis=0)


def argmax(x: EncryptedArray) -> EncryptedArray:
    """The index of the largest value, as a number close to a whole one. If several are equal, it is the first."""
    return _at_zero(_last(x), np.arange(len(x)) * 1.0).sum()


def argmin(x: EncryptedArray) -> EncryptedArray:
    """The index of the smallest value, as a number close to a whole one. If several are equal, it is the first."""
    return _at_zero(_ranked(x)[1], np.arange(len(x)) * 1.0).sum()


def largest(x: EncryptedArray) -> EncryptedArray:
    """The largest value."""
    return _at_zero(_last(x), _repeated(x)).sum()


def smallest(x: EncryptedArray) -> EncryptedArray:
    """The smallest value."""
    return _at_zero(_ranked(x)[1], _repeated(x)).sum()


def _last(x: EncryptedArray) -> EncryptedArray:
    """The ranks minus the last one, which the first of equal values has."""
    return _ranked(x, first=-1)[1] - (len(x) - 1) / len(x)


def _ranked(x: EncryptedArray, first: int = 1) -> tuple[EncryptedArray, EncryptedArray]:
    """Each value along a row of a table, and the ranks from 0 on, divided by the number of values.

    The rank of a value is the number of smaller values, plus the number of equal values before it (or behind it, with
    `first=-1`). Let s be the sign of a difference, and t = 1 for values before and -1 for values behind. Then `s^3 + t
    (1 - s^2)` is s where s is 1 or -1, and t where s is 0. Where s is undecided, it is at most 1 in size.
    """
    slots, count = x.session.slots, x.size
    if x.ndim != 1 or not x.is_real or slots % count or count**2 > slots:
        most = 1 << (slots.bit_length() - 1) // 2
        raise RangeError(
            f"Only a vector of real numbers can be sorted, whose length is a power of two from 1 to {most} on this "
            f"engine, and this array has shape {x.shape}; pad it with values beyond all others."
        )
    columns = _repeated(x)
    rows = columns[:, None].broadcast_to((count, count))
    signs = functions.compare("sign", rows - columns[None, :])
    own = np.arange(count)[::first]
    before = np.sign(own[:, None] - own)
    # Half the sum over a row, over the number of values; what is plain of it is a value's own place.
    steps = signs.square() * (signs * (0.5 / count) - before * (0.5 / count))
    return rows, steps.sum(axis=1) + own / count


def _repeated(x: EncryptedArray) -> EncryptedArray:
    """The same values, repeated from the first slots of one chunk over all slots."""
    count, slots = x.size, x.session.slots
    first = np.arange(count, dtype=np.int64)
    if x.period == count and np.array_equal(x.index, first):
        return x
    laid = moves.cleaned(moves.compact(x), 0.0)
    chunk = rotations.window(laid, laid.chunks[0], slots // count, count)
    return laid.replaced(chunks=[chunk], index=first, interval=x.interval, filler=None, period=count)


def _at_zero(distance: EncryptedArray, values: Any) -> EncryptedArray:
    """The values where a distance in (-1, 1) is 0, and 0 where it is another multiple of 1 / count; twice.

    This uses Fejer's kernel, a polynomial in the cosine. The cosine is fitted on the range of the distances.
    """
    count = distance.shape[0]
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
