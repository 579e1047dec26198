"""Sort, largest and smallest of an encrypted vector: all pairs are compared at once (the idea of arXiv 2412.15126)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import functions, moves
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["argmax", "argmin", "largest", "ordered", "smallest"]

_COSINE_DEGREE = 14
_KERNEL_RANGE = (-0.25, 1.25)
"""Of the kernel with what a comparison and a refresh leave of noise."""


def ordered(x: EncryptedArray, axis: Any = -1) -> EncryptedArray:
    """The values from the smallest up; two that are closer than 2^-alpha of the range are mixed."""
    if axis not in (-1, 0, None):
        raise RangeError(f"axis={axis} does not fit a vector.")
    rows, ranks = _ranked(x)
    if len(x) == 1:
        return x
    places = np.arange(len(x)) / len(x)
    return (_is_zero(ranks[:, None] - places) * rows).sum(axis=0).within(x.interval)


def argmax(x: EncryptedArray) -> EncryptedArray:
    """The place of the largest value, near a whole number."""
    return (_first(x, last=True) * np.arange(len(x))).sum()


def argmin(x: EncryptedArray) -> EncryptedArray:
    """The place of the smallest value, near a whole number."""
    return (_first(x, last=False) * np.arange(len(x))).sum()


def largest(x: EncryptedArray) -> EncryptedArray:
    """The largest value."""
    return (_first(x, last=True) * _repeated(x)).sum().within(x.interval)


def smallest(x: EncryptedArray) -> EncryptedArray:
    """The smallest value."""
    return (_first(x, last=False) * _repeated(x)).sum().within(x.interval)


def _first(x: EncryptedArray, *, last: bool) -> EncryptedArray:
    """1 at the value of the last rank, or of the first, and 0 at all others."""
    _, ranks = _ranked(x)
    return _is_zero(ranks - (len(x) - 1) / len(x) * last)


def _ranked(x: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
    """Each value along a row of a table, and the ranks, from 0 up, over the number of values."""
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
    return rows, (signs.sum(axis=1) + (count - 1)) * (1 / (2 * count))


def _repeated(x: EncryptedArray) -> EncryptedArray:
    """The same in the first slots of one chunk, over and over."""
    count, slots = x.size, x.session.slots
    first = np.arange(count, dtype=np.int64)
    if x.period == count and np.array_equal(x.index, first):
        return x
    laid = moves.cleaned(moves.compact(x), 0.0)
    chunk = moves.window(laid, laid.chunks[0], slots // count, count)
    return laid.replaced(chunks=[chunk], index=first, interval=x.interval, filler=None, period=count)


def _is_zero(distance: EncryptedArray) -> EncryptedArray:
    """Fejer's kernel: 1 where a distance in (-1, 1) is 0, and 0, twice, at all other multiples of 1 / count.

    It is a polynomial in the cosine, which is fitted where distances are.
    """
    count = distance.shape[0]
    points = np.arange(1 - count, count) / count
    weights = np.where(points == 0, 100, 1)
    cosine = np.polynomial.chebyshev.chebfit(points, np.cos(2 * np.pi * points), _COSINE_DEGREE, w=weights)
    cosine[1::2] = 0
    fejer = 2 * (1 - np.arange(count) / count) / count
    fejer[0] /= 2
    angle = distance.session.chebyshev(distance.assume(bound=1), cosine).assume(bound=1)
    found = distance.session.chebyshev(angle, fejer).assume(bound=_KERNEL_RANGE)
    # The kernel is steep: what is left of noise there, squared.
    return distance.session.poly(found, [0, 0, 3, -2])
