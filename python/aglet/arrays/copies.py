"""Elements that are wanted in many places, by one mask and doubling: the number of rotations is logarithmic."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aglet.arrays import gathers, rotations
from aglet.arrays.rotations import Part

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk

__all__ = ["Broadcast", "broadcast", "broadcasts", "echo", "echoed", "spread", "together"]

_FEW = 8
"""The number of rotations up to which they are done one by one."""


class Broadcast(NamedTuple):
    """A part of an array whose elements are first put in one place each, and then copied along axes."""

    part: Part
    windows: list[tuple[int, int]]
    """Copies and the step between them, for each axis."""
    cost: int
    levels: int
    """How many levels may be used."""


def broadcasts(array: EncryptedArray, source: Index, target: Index, count: int, levels: int) -> list[Broadcast | None]:
    """For each cycle of new chunks, the axes along which elements repeat, if the elements are a box of array axes.

    Targets are distinct, so copies of different elements never meet.
    """
    around = rotations.cycle(array)
    flat = target.ravel() // around
    order = np.argsort(flat, kind="stable")
    found: list[Broadcast | None] = [Broadcast({}, [], 0, levels) for _ in range(count * array.session.slots // around)]
    for places in np.split(order, np.flatnonzero(np.diff(flat[order])) + 1):
        found[int(flat[places[0]])] = None
        corners = [(int(axis.min()), int(axis.max()) + 1) for axis in np.unravel_index(places, target.shape)]
        if np.prod([end - start for start, end in corners]) == len(places):
            box = tuple(slice(*corner) for corner in corners)
            found[int(flat[places[0]])] = _broadcast(array, source[box], target[box], levels)
    return found


def _broadcast(array: EncryptedArray, source: Index, target: Index, levels: int) -> Broadcast | None:
    slots, windows = array.session.slots, []
    for axis, length in enumerate(source.shape):
        steps = np.diff(target, axis=axis)
        if length < 2 or (source != source.take([0], axis)).any() or (steps != steps.flat[0]).any():
            continue
        step = int(steps.flat[0])
        windows.append((length, abs(step)))
        # Copies go to the right, so from the first slot.
        first = [0 if step > 0 else length - 1]
        source, target = source.take(first, axis), target.take(first, axis)
    # One cycle of two may have a single copy.
    if not windows and rotations.cycle(array) == slots:
        return None
    [part] = rotations.parts_of(source.ravel(), target.ravel() % slots, array, 1)
    return _costed(array, part, windows, levels)


def _costed(array: EncryptedArray, part: Part, windows: list[tuple[int, int]], levels: int) -> Broadcast:
    copied = sum(rotations.window_cost(length, step, rotations.cycle(array)) for length, step in windows)
    return Broadcast(part, windows, gathers.part_cost(array, part, levels) + copied, levels)


def together(array: EncryptedArray, plans: list[Broadcast | None]) -> list[Broadcast]:
    """The plans of the cycles of a chunk, one for cycles with the same copies; none if a cycle has no plan."""
    found: list[Broadcast] = []
    for plan in plans:
        if plan is None:
            return []
        for at, other in enumerate(found):
            if other.windows == plan.windows and plan.part:
                both = {
                    key: np.concatenate([one[key] for one in (other.part, plan.part) if key in one])
                    for key in {**other.part, **plan.part}
                }
                found[at] = _costed(array, both, plan.windows, plan.levels)
                break
        else:
            found += [plan] if plan.part else []
    return found


def broadcast(array: EncryptedArray, plan: Broadcast) -> Chunk:
    """The elements in all their places, and 0 in the others. Uses one level, or what the plan allows."""
    chunk = gathers.collected(array, plan.part, plan.levels)
    for length, step in plan.windows:
        chunk = rotations.window(array, chunk, length, step)
    return chunk


def echo(part: Part, around: int) -> int | None:
    """The step, if a block of slots of one chunk is wanted repeatedly, always this step further around the cycle."""
    steps = sorted(step for _, step in part)
    if len(part) < 4 or len({chunk for chunk, _ in part}) > 1 or steps[0]:
        return None
    step = steps[1] if steps[1] * (len(steps) - 1) == steps[-1] else steps[-1] - around
    if sorted(i * step % around for i in range(len(steps))) != steps:
        return None
    chunk = next(iter(part))[0]
    first = np.sort(part[chunk, 0])
    same = all(
        np.array_equal(np.sort(rotations.back(part[chunk, i * step % around], i * step, around)), first)
        for i in range(len(steps))
    )
    return step if same else None


def echoed(array: EncryptedArray, part: Part, step: int) -> Chunk:
    """The repeated block, and 0 in the other slots. Uses one level."""
    mask = np.zeros(array.session.slots)
    chunk = next(iter(part))[0]
    mask[part[chunk, 0]] = 1
    masked = array.session.machine.multiply(array.chunks[chunk], mask)
    if step < 0:
        masked = array.session.machine.rotate(masked, [step * (len(part) - 1)])[0]
    return rotations.window(array, masked, len(part), abs(step))


def spread(array: EncryptedArray, source: Index, target: Index) -> Chunk | None:
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
    right_of = rotations.window(array, machine.multiply(array.chunks[0], (mark > 0).astype(float)), period, 1)
    back = machine.rotate(right_of, [(1 - period) % slots])[0]
    taken = wanted >= 0
    return machine.weighted_sum([right_of, back], [(taken & later).astype(float), (taken & ~later).astype(float)])
