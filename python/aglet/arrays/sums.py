"""Sums, means and variances over axes: whole chunks are added, and slots within chunks by doubling."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import fits, functions, moves, rotations
from aglet.arrays.interval import Interval
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk

__all__ = ["axes_of", "count_along", "deviation", "mean", "runs_of", "total", "variance"]


def total(array: EncryptedArray, axis: Any, keepdims: bool) -> EncryptedArray:
    """Sum over these axes (None: all). They stay with length 1 if asked."""
    axes = axes_of(axis, array.ndim)
    shape = tuple(1 if i in axes else length for i, length in enumerate(array.shape))
    if len(axes) == array.ndim:
        summed = _of_all(array)
    else:
        summed = array
        # The first axes first: those are of whole chunks, if any is.
        for done, one in enumerate(sorted(axes)):
            summed = _along(summed, one - done)
    kept = (
        shape
        if checks.flag("keepdims", keepdims)
        else tuple(length for i, length in enumerate(array.shape) if i not in axes)
    )
    return summed.reshape_uniform(kept) if summed.uniform else summed.reshape(kept)


def mean(array: EncryptedArray, axis: Any, keepdims: bool) -> EncryptedArray:
    """The mean. It is one level below the sum."""
    count = count_along(array, axis)
    return total(array, axis, keepdims) * (1 / count) if count > 1 else total(array, axis, keepdims)


def variance(array: EncryptedArray, axis: Any, ddof: Any, keepdims: bool) -> EncryptedArray:
    """The mean of squares minus the square of the mean, without moves.

    It uses two levels; ddof and complex numbers, of which the real part is taken, use one more each.
    """
    count = count_along(array, axis)
    left = count - checks.real("ddof", ddof)
    if not 0 < left < math.inf:
        raise RangeError(
            f"ddof={ddof} leaves nothing to divide by, as the mean is over {count} values; give a smaller ddof."
        )
    # One refresh for both ways.
    array.need(2 if array.is_real else 3)
    squares = mean(array.square() if array.is_real else array * array.conj(), axis, keepdims)
    middle = mean(array, axis, keepdims)
    spread = squares - (middle.square() if array.is_real else middle * middle.conj())
    scaled = spread.real if left == count else spread.real * (count / left)
    return scaled.within(Interval(0.0, array.interval.size**2 * count / left))


def deviation(array: EncryptedArray, axis: Any, ddof: Any, keepdims: bool, bound: Any) -> EncryptedArray:
    """The root of the variance, on the range that the user declares: no polynomial is close to the root near 0."""
    if bound is None:
        raise RangeError(
            "The variance of encrypted values may be 0, near which no polynomial is close to the square root; declare "
            "the range of the standard deviations: x.std(bound=(least, largest)), with least above 0."
        )
    range_of = Interval.of(bound)
    if range_of.low <= 0:
        raise RangeError(
            f"bound={bound} is not a range of standard deviations away from 0; give (least, largest), both above 0."
        )
    squares = Interval(range_of.low**2, range_of.high**2)
    found = variance(array, axis, ddof, keepdims).assume(bound=(squares.low, squares.high))
    return fits.applied(found, np.sqrt)


def axes_of(axis: Any, ndim: int) -> set[int]:
    """The axes that are named, or all."""
    given = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [checks.whole("axis", one) for one in given]
    if any(not -ndim <= one < ndim for one in axes) or len({one % ndim for one in axes}) < len(axes):
        raise RangeError(f"axis={axis} does not exist; this array has {ndim} axes.")
    return {one % ndim for one in axes}


def count_along(array: EncryptedArray, axis: Any) -> int:
    """The number of elements along these axes."""
    return int(np.prod([array.shape[one] for one in axes_of(axis, array.ndim)], dtype=np.int64))


def _of_all(array: EncryptedArray) -> EncryptedArray:
    """The sum of all elements, in every slot. The known value of the other slots is subtracted."""
    if array.uniform:
        return functions.times_whole(array, array.size).reshape_uniform(())
    if array.place_count < array.size:
        array = moves.compact(array)
    machine, slots = array.session.machine, array.session.slots
    # Where the elements are a whole period of a chunk, that is all there is to add.
    around = array.period if array.period == array.size and array.covers_all and len(array.chunks) == 1 else slots
    empty = len(array.chunks) * around - array.size
    if empty and array.filler is None:
        array = moves.cleaned(array, 0.0)
    chunks, filler = array._state
    chunk = _added(array, list(chunks))
    step = 1
    while step < around:
        chunk = machine.add(chunk, machine.rotate(chunk, [step])[0])
        step *= 2
    if empty and filler:
        chunk = machine.add(chunk, -empty * filler)
    interval = array.interval.times(array.size)
    return array.replaced(chunks=[chunk], index=np.zeros((), dtype=np.int64), interval=interval, filler=None, period=1)


def _along(array: EncryptedArray, axis: int) -> EncryptedArray:
    """The sum over one axis of several."""
    if array.uniform:
        return functions.times_whole(array, array.shape[axis]).reshape_uniform(
            array.shape[:axis] + array.shape[axis + 1 :]
        )
    places = np.moveaxis(array.index, axis, 0)
    slots = array.session.slots
    # Runs that lie in the same slots of different chunks are added as chunks, before anything rotates.
    groups: dict[Any, list[EncryptedArray]] = defaultdict(list)
    for start, length, step in runs_of(places, slots):
        run = array._view(places[start : start + length])
        groups[length, step, run.index.tobytes(), len(run.chunks)].append(run)
    parts = []
    for (length, step, *_), runs in groups.items():
        chunks = [_added(array, list(column)) for column in zip(*(run.chunks for run in runs), strict=True)]
        windows = [rotations.window(array, chunk, length, abs(step)) for chunk in chunks]
        interval, period, last = array.interval.times(length * len(runs)), array.period, length - 1
        if (length * step) % (period or slots) == 0 and step:
            # Once around: the sum stands at every element.
            period, last = math.gcd(step, period or slots), 0
        index = runs[0].index[last if step > 0 else 0]
        parts.append(array.replaced(chunks=windows, index=index, interval=interval, filler=None, period=period))
    summed = parts[0]
    for part in parts[1:]:
        summed = summed + part
    return summed


def runs_of(index: Index, slots: int) -> list[tuple[int, int, int]]:
    """Stretches of the first axis that stay within so many slots and advance by one step: (start, length, step)."""
    flat = index.reshape(len(index), -1)
    same = (flat[1:] // slots == flat[:-1] // slots).all(axis=1)
    steps = flat[1:] - flat[:-1]
    even = (steps == steps[:, :1]).all(axis=1)
    runs, start, step = [], 0, 0
    for i in range(1, len(flat) + 1):
        goes_on = i < len(flat) and same[i - 1] and even[i - 1] and (i == start + 1 or steps[i - 1, 0] == step)
        if goes_on:
            step = int(steps[i - 1, 0])
        else:
            runs.append((start, i - start, step))
            start, step = i, 0
    return runs


def _added(array: EncryptedArray, chunks: list[Chunk]) -> Chunk:
    found = chunks[0]
    for chunk in chunks[1:]:
        found = array.session.machine.add(found, chunk)
    return found
