"""Moves of elements to other places, by rotations of chunks, with masks where several meet in one chunk."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.interval import Interval
from aglet.errors import ParameterError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk

__all__ = ["MOST_MOVES", "aligned", "cleaned", "compact", "laid_out", "moved", "spelled_out", "window"]

MOST_MOVES = 4096
"""The most rotations of one move. More of them would take minutes, and another layout avoids them."""


def aligned(left: EncryptedArray, right: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
    """Bring two arrays to one shape, with their elements in the same places. The one that is dearer to move stays."""
    if left.index is right.index or (len(left.chunks) == len(right.chunks) and np.array_equal(left.index, right.index)):
        return left, right
    shape = checks.common_shape(left.shape, right.shape)
    if left.uniform or right.uniform:
        return left.broadcast_to(shape), right.broadcast_to(shape)
    # An array of the whole shape stays where it is, if each element has a place of its own; the other comes to it.
    stays = next((one for one in (left, right) if one.shape == shape and one.place_count == one.size), None)
    if stays is None:
        stays = left = laid_out(left, np.broadcast_to(left.index, shape))
    if stays is left:
        return left, moved(right, np.broadcast_to(right.index, shape), left.index, len(left.chunks))
    return moved(left, np.broadcast_to(left.index, shape), right.index, len(right.chunks)), right


def compact(array: EncryptedArray) -> EncryptedArray:
    """Move the elements to consecutive slots, in numpy's order."""
    return laid_out(array, array.index)


def laid_out(array: EncryptedArray, index: Index) -> EncryptedArray:
    """Copy the elements at these places of an array to consecutive slots. Places may repeat.

    Raises
    ------
    MemoryLimitError
        If the machine has too little memory for these elements, before anything is moved.
    """
    count = -(-index.size // array.session.slots)
    # Both places of an element, and what tells moves apart.
    array.session.check_room(count, array.level, 32 * index.size)
    with checks.in_memory(f"An array of shape {index.shape} does not fit in memory; work on it in parts."):
        wanted = np.arange(index.size, dtype=np.int64).reshape(index.shape)
        return moved(array, index, wanted, count)


def cleaned(array: EncryptedArray, filler: float) -> EncryptedArray:
    """Keep the elements in their places and set all other slots to one number.

    This uses one level, or none if the other slots hold one known number already.
    """
    machine, slots = array.session.machine, array.session.slots
    mask = np.zeros(len(array.chunks) * slots)
    mask[array.index] = 1
    rows = mask.reshape(-1, slots)
    if array.filler is not None:
        change = filler - array.filler
        chunks = [machine.add(c, (1 - m) * change) for c, m in zip(array.chunks, rows, strict=True)]
        return _made(array, chunks, array.index, filler)
    array.need(1)
    chunks = [_filled(array, machine.multiply(c, m), m, filler) for c, m in zip(array.chunks, rows, strict=True)]
    return _made(array, chunks, array.index, filler)


def moved(array: EncryptedArray, source: Index, target: Index, count: int) -> EncryptedArray:
    """Move the elements at the places `source` to the places `target` of `count` chunks. Targets are distinct.

    Equal slots cost nothing, and turning a whole chunk costs a rotation. Where parts of several chunks meet in one,
    they are masked: this uses one level, and the slots between get a value within the interval.

    Raises
    ------
    ParameterError
        If the move takes more than `MOST_MOVES` rotations.
    """
    slots = array.session.slots
    spread = _spread(array, source.ravel(), target.ravel()) if count == 1 else None
    if spread is not None:
        return _made(array, [spread], target, array.interval.inside)
    # For each chunk to be made, what it takes: (chunk, step), and the slots that this fills.
    parts = _parts(source.ravel(), target.ravel(), array, count)
    echoes = [_echo(part, slots) for part in parts]
    rotations = {key for part, echo in zip(parts, echoes, strict=True) if echo is None for key in part if key[1]}
    if len(rotations) > MOST_MOVES:
        raise ParameterError(
            f"The elements of these arrays lie in different places, and moving them takes {len(rotations)} rotations; "
            "use one shape for arrays that are combined, or encrypt one of them again."
        )
    simple = all(len(part) == 1 for part in parts)
    if not simple:
        array.need(1)
    turned = _turned(array, rotations)
    if simple:
        keys = [next(iter(part)) for part in parts]
        found = _made(array, [turned[key] for key in keys], target, None, array.period)
        if array.filler is not None and not rotations and _whole(array, parts):
            found.filler = array.filler
        return found
    filler = array.interval.inside
    made = [
        _joined(array, part, turned, filler) if echo is None else _echoed(array, part, echo, filler)
        for part, echo in zip(parts, echoes, strict=True)
    ]
    return _made(array, made, target, filler)


def _whole(array: EncryptedArray, parts: list[_Part]) -> bool:
    """Whether each new chunk holds all elements of one old chunk."""
    slots = array.session.slots
    held = np.zeros((len(array.chunks), slots), dtype=bool)
    held[array.index // slots, array.index % slots] = True
    return all(len(places) == held[chunk].sum() for part in parts for (chunk, _), places in part.items())


_FEW = 8
"""The number of rotations up to which they are done one by one."""

_Part = dict[tuple[int, int], "Index"]


def _parts(source: Index, target: Index, array: EncryptedArray, count: int) -> list[_Part]:
    slots = array.session.slots
    step = (target - source) % slots
    if array.period:
        # Chunks are the same after so many slots.
        step %= array.period
    parts: list[_Part] = [{} for _ in range(count)]
    # One number for each (chunk to be made, chunk, step).
    chunks = int(source.max()) // slots + 1
    code = (target // slots * chunks + source // slots) * slots + step
    order = np.argsort(code, kind="stable")
    found, starts = np.unique(code[order], return_index=True)
    for value, places in zip(found, np.split(order, starts[1:]), strict=True):
        made, chunk, turn = int(value) // slots // chunks, int(value) // slots % chunks, int(value) % slots
        parts[made][chunk, turn] = target[places] % slots
    return parts


def _echo(part: _Part, slots: int) -> int | None:
    """The step, if a block of slots of one chunk is wanted repeatedly, always this step further."""
    steps = sorted(step for _, step in part)
    if len(part) < 4 or len({chunk for chunk, _ in part}) > 1 or steps[0]:
        return None
    step = steps[1] if steps[1] * (len(steps) - 1) == steps[-1] else steps[-1] - slots
    if sorted(i * step % slots for i in range(len(steps))) != steps:
        return None
    chunk = next(iter(part))[0]
    first = np.sort(part[chunk, 0])
    same = all(
        np.array_equal(np.sort((part[chunk, i * step % slots] - i * step) % slots), first) for i in range(len(steps))
    )
    return step if same else None


def _echoed(array: EncryptedArray, part: _Part, step: int, filler: float) -> Chunk:
    """Repeat a block by one mask and doubling: the number of rotations is logarithmic."""
    mask, filled = np.zeros((2, array.session.slots))
    chunk = next(iter(part))[0]
    mask[part[chunk, 0]] = 1
    for places in part.values():
        filled[places] = 1
    masked = array.session.machine.multiply(array.chunks[chunk], mask)
    if step < 0:
        masked = array.session.machine.rotate(masked, [step * (len(part) - 1)])[0]
    return _filled(array, window(array, masked, len(part), abs(step)), filled, filler)


def _spread(array: EncryptedArray, source: Index, target: Index) -> Chunk | None:
    """Spread one element per period of a chunk over all slots of the period, as for `x[:, None]` beside `x[None, :]`.

    Each element is in its period already. The other slots are masked, the rest is spread to the right and, rotated
    back, to the left, and a mask takes each half. This uses two levels, and a logarithmic number of rotations in place
    of one each.

    None if the places are different, or neighbours would overlap.
    """
    period, slots = array.period, array.session.slots
    if (
        not period
        or len(array.chunks) > 1
        or period * _FEW > slots
        or len(np.unique((target - source) % period)) <= _FEW
    ):
        return None
    wanted = np.full(slots, -1)
    wanted[target] = source % period
    runs = wanted.reshape(-1, period)
    own = runs.max(axis=1)
    if not ((runs == own[:, None]) | (runs < 0)).all():
        return None
    used, column = np.flatnonzero(own >= 0), np.arange(slots) % period
    mark = np.zeros(slots)
    mark[used * period + own[used]] = used + 1
    right = sum(np.roll(mark, i) for i in range(period))
    left = np.roll(right, 1 - period)
    later = column >= np.repeat(own, period)
    reached = np.where(later, right, left)
    if not (reached == np.repeat(np.arange(len(own)) + 1, period))[wanted >= 0].all():
        return None
    array.need(2)
    machine = array.session.machine
    spread = window(array, machine.multiply(array.chunks[0], (mark > 0).astype(float)), period, 1)
    back = machine.rotate(spread, [(1 - period) % slots])[0]
    taken = wanted >= 0
    joined = machine.weighted_sum([spread, back], [(taken & later).astype(float), (taken & ~later).astype(float)])
    return _filled(array, joined, taken.astype(float), array.interval.inside)


def _turned(array: EncryptedArray, rotations: set[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
    """The chunks, rotated by steps, by number and step. All rotations of one chunk are done together."""
    steps: dict[int, list[int]] = defaultdict(list)
    for chunk, step in sorted(rotations):
        steps[chunk].append(step)
    turned: dict[tuple[int, int], Any] = {(i, 0): chunk for i, chunk in enumerate(array.chunks)}
    for chunk, wanted in steps.items():
        made = array.session.machine.rotate(array.chunks[chunk], wanted)
        turned.update({(chunk, step): one for step, one in zip(wanted, made, strict=True)})
    return turned


def window(array: EncryptedArray, chunk: Chunk, length: int, step: int) -> Chunk:
    """Put the sum of `length` slots into each slot, `step` apart and ending there, by doubling.

    It rotates to the right, for which the rotation keys have the powers of two. One rotation to the left would take
    many key switches.
    """
    machine = array.session.machine
    doubled, size, found, done = chunk, 1, None, 0
    while True:
        if length & size:
            part = machine.rotate(doubled, [done * step])[0] if done else doubled
            found = part if found is None else machine.add(found, part)
            done += size
        if done == length:
            return found
        doubled = machine.add(doubled, machine.rotate(doubled, [size * step])[0])
        size *= 2


def _joined(array: EncryptedArray, part: _Part, turned: Any, filler: float) -> Chunk:
    weights = []
    for places in part.values():
        weight = np.zeros(array.session.slots)
        weight[places] = 1
        weights.append(weight)
    joined = array.session.machine.weighted_sum([turned[key] for key in part], weights)
    return _filled(array, joined, sum(weights), filler)


def _filled(array: EncryptedArray, chunk: Chunk, mask: Any, filler: float) -> Chunk:
    return array.session.machine.add(chunk, (1 - mask) * filler) if filler else chunk


def _made(
    array: EncryptedArray, chunks: list[Chunk], index: Index, filler: Any, period: int | None = None
) -> EncryptedArray:
    interval = array.interval if filler is None else array.interval | Interval(filler.real, filler.real)
    return array.replaced(chunks=chunks, index=index, interval=interval, filler=filler, period=period)


def spelled_out(array: EncryptedArray) -> EncryptedArray:
    """Give each element of an array of one number its own place. It costs nothing."""
    index = np.arange(array.size, dtype=np.int64).reshape(array.shape)
    chunks = list(array.chunks) * -(-array.size // array.session.slots)
    return array.replaced(chunks=chunks, index=index, filler=None, period=1)
