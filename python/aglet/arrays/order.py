"""Sort, largest and smallest of an encrypted vector: all pairs are compared at once (the idea of arXiv 2412.15126)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import functions, moves
from aglet.arrays.interval import Interval
from aglet.arrays.joins import is_encrypted
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["argmax", "argmin", "largest", "ordered", "smallest"]

_COSINE_DEGREE = 14
_LEAST_POINTS = 16
"""As many halves of a circle determine that polynomial."""
_KERNEL_RANGE = (-0.25, 1.25)
"""Of the kernel with what a comparison and a refresh leave of noise."""


def ordered(x: EncryptedArray, axis: Any = -1) -> EncryptedArray:
    """The values from the smallest up, equal ones too.

    Two that differ by less than 2^-alpha of the range are undecided: what comes out in their places is made of both.
    """
    if axis not in (-1, 0, None) or isinstance(axis, bool):
        raise RangeError(f"axis={axis} does not fit a vector.")
    rows, ranks = _ranked(x)
    if len(x) == 1:
        return x
    places = np.arange(len(x)) / len(x)
    return _at_zero(ranks[:, None] - places, rows).sum(axis=0)


def argmax(x: EncryptedArray) -> EncryptedArray:
    """The place of the largest value, near a whole number; of equal ones that of the first."""
    return _at_zero(_last(x), np.arange(len(x)) * 1.0).sum()


def argmin(x: EncryptedArray) -> EncryptedArray:
    """The place of the smallest value, near a whole number; of equal ones that of the first."""
    return _at_zero(_ranked(x)[1], np.arange(len(x)) * 1.0).sum()


def largest(x: EncryptedArray) -> EncryptedArray:
    """The largest value."""
    return _at_zero(_last(x), _repeated(x)).sum()


def smallest(x: EncryptedArray) -> EncryptedArray:
    """The smallest value."""
    return _at_zero(_ranked(x)[1], _repeated(x)).sum()


def _last(x: EncryptedArray) -> EncryptedArray:
    """Ranks less the last one, which the first of equal values has."""
    return _ranked(x, first=-1)[1] - (len(x) - 1) / len(x)


def _ranked(x: EncryptedArray, first: int = 1) -> tuple[EncryptedArray, EncryptedArray]:
    """Each value along a row of a table, and the ranks, from 0 up, over the number of values.

    A rank is the number of smaller values, and of equal ones before, or behind with `first=-1`. With s the sign of a
    difference, and t = 1 for values before and -1 for those behind, `s^3 + t (1 - s^2)` is s where that is 1 or -1, t
    where it is 0, and no larger than 1 where it is undecided.
    """
    slots, count = x.session.slots, x.size
    if x.ndim != 1 or not x.is_real or slots % count or count**2 > slots:
        most = 1 << (slots.bit_length() - 1) // 2
        raise RangeError(
            f"A vector of real numbers is sorted, a power of two of them from 1 to {most} on this engine, and this has "
            f"shape {x.shape}; fill it up with values beyond the others."
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
    """The same in the first slots of one chunk, over and over."""
    count, slots = x.size, x.session.slots
    first = np.arange(count, dtype=np.int64)
    if x.period == count and np.array_equal(x.index, first):
        return x
    laid = moves.cleaned(moves.compact(x), 0.0)
    chunk = moves.window(laid, laid.chunks[0], slots // count, count)
    return laid.replaced(chunks=[chunk], index=first, interval=x.interval, filler=None, period=count)


def _at_zero(distance: EncryptedArray, values: Any) -> EncryptedArray:
    """The values where a distance in (-1, 1) is 0, and 0, twice, where it is another multiple of 1 / count.

    By Fejer's kernel, a polynomial in the cosine, which is fitted where distances are.
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
