"""Moves of elements to other places, by rotations of chunks, with masks where several meet in one chunk."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aglet import checks
from aglet.arrays import copies, gathers, layout, rotations
from aglet.arrays.interval import Interval
from aglet.errors import ParameterError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk
    from aglet.arrays.rotations import Part

__all__ = [
    "MOST_MOVES",
    "aligned",
    "cleaned",
    "compact",
    "cost",
    "laid_out",
    "mixed",
    "moved",
    "spelled_out",
    "spread_out",
]

MOST_MOVES = 4096
"""The most rotations of one move. More of them would take minutes, and another layout avoids them."""
_MASKS = 6
"""A key switch takes as long as so many masks, which are encoded and multiplied."""


def aligned(left: EncryptedArray, right: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
    """Bring two arrays to one shape, with their elements in the same places. The one that is dearer to move stays."""
    if left.index is right.index or (len(left.chunks) == len(right.chunks) and np.array_equal(left.index, right.index)):
        return left, right
    shape = checks.common_shape(left.shape, right.shape)
    if left.uniform or right.uniform:
        return left.broadcast_to(shape), right.broadcast_to(shape)
    # An array of the whole shape stays where it is, if each element has a place of its own; the other comes to it. Of
    # two, the one with fewer levels stays, because a move takes one.
    able = [one for one in (left, right) if one.shape == shape and one.place_count == one.size]
    if not able:
        stays = left = spread_out(left, np.broadcast_to(left.index, shape))
    else:
        stays = min(able, key=lambda one: one.level)
    comes = right if stays is left else left
    # Levels above those of the other are of no use.
    spare = comes.level - stays.level
    source, count = np.broadcast_to(comes.index, shape), len(stays.chunks)
    there = moved(comes, source, stays.index, count, levels=max(1, spare))
    return (left, there) if stays is left else (there, right)


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
    array = array.still()
    if array.filler == filler:
        return array
    if array.filler is not None:
        change = filler - array.filler
        chunks = [machine.add(c, (1 - m) * change) for c, m in zip(array.chunks, rows, strict=True)]
        return _made(array, chunks, array.index, filler)
    array.need(1)
    chunks = [machine.multiply(c, m) for c, m in zip(array.chunks, rows, strict=True)]
    return _made(array, _filled(array, chunks, array.index, filler), array.index, filler)


def spread_out(array: EncryptedArray, index: Index) -> EncryptedArray:
    """Copy the elements at these places to slots as `layout.spread` lays out the shape: rows stay in one chunk."""
    if index.size <= array.session.slots:
        return laid_out(array, index)
    count = layout.chunk_count(index.shape, array.session.slots)
    array.session.check_room(count, array.level, 32 * index.size)
    places, count = layout.spread(index.shape, array.session.slots)
    return moved(array, index, places, count)


def moved(array: EncryptedArray, source: Index, target: Index, count: int, *, levels: int = 1) -> EncryptedArray:
    """Move the elements at the places `source` to the places `target` of `count` chunks. Targets are distinct.

    Equal slots cost nothing, and turning a whole chunk costs a rotation. Where parts of several chunks meet in one,
    they are masked: this uses one level, or up to `levels` where that saves rotations. The slots between get a value
    within the interval.

    Raises
    ------
    ParameterError
        If there are more than `MOST_MOVES` different moves.
    """
    filler = array.interval.inside
    spread = copies.spread(array, source.ravel(), target.ravel()) if count == 1 else None
    if spread is not None:
        return _made(array, _filled(array, [spread], target, filler), target, filler)
    parts = rotations.parts_of(source.ravel(), target.ravel(), array, count)
    if all(len(part) == 1 for part in parts):
        return _turned(array, parts, target)
    return _made(array, _filled(array, mixed(array, parts, (source, target), levels), target, filler), target, filler)


def mixed(array: EncryptedArray, parts: list[Part], ends: tuple[Index, Index], levels: int) -> list[Chunk]:
    """New chunks of these parts, for elements that move from the first of two places to the second; 0 between them."""
    steps, shared = _steps(array, parts, ends, levels)
    apart, around = sum(one.ways for one in steps), rotations.cycle(array)
    fewest = min(sum(1 for _, step in shared if step), apart)
    if fewest > MOST_MOVES:
        raise ParameterError(
            f"The elements of these arrays lie in different places, and moving them takes {fewest} "
            "different steps; use one shape for arrays that are combined, or encrypt one of them again."
        )
    array.need(1)
    sharing = rotations.cost((step for _, step in shared), around) <= sum(one.cost for one in steps)
    turned = rotations.turned(array, shared) if sharing or apart > MOST_MOVES else None
    return [one.made(array, turned) for one in steps]


def cost(array: EncryptedArray, parts: list[Part], ends: tuple[Index, Index]) -> tuple[int, int] | None:
    """The key switches and masks of `mixed` on one level; None if it refuses."""
    steps, shared = _steps(array, parts, ends, 1)
    apart, each = sum(one.ways for one in steps), sum(one.cost for one in steps)
    if min(sum(1 for _, step in shared if step), apart) > MOST_MOVES:
        return None
    together = rotations.cost((step for _, step in shared), rotations.cycle(array))
    return (together, sum(len(part) for part in parts)) if together <= each else (each, apart)


def _steps(
    array: EncryptedArray, parts: list[Part], ends: tuple[Index, Index], levels: int
) -> tuple[list[_Move], set[tuple[int, int]]]:
    """How each new chunk is made, and the rotations that several share, if they are made so."""
    (source, target), rows = ends, array.session.slots // rotations.cycle(array)
    plans = copies.broadcasts(array, source, target, len(parts), levels)
    steps = [_Move.planned(array, part, plans[at * rows : (at + 1) * rows], levels) for at, part in enumerate(parts)]
    # Rotations that several new chunks share, or each chunk's own way.
    return steps, {key for one in steps if one.echo is None for key in one.part}


class _Move(NamedTuple):
    """How one new chunk is made."""

    part: Part
    echo: int | None
    plans: list[copies.Broadcast]
    ways: int
    """The number of masks."""
    cost: int
    """The key switches, if it shares no rotations."""
    levels: int

    @classmethod
    def planned(cls, array: EncryptedArray, part: Part, plans: list[copies.Broadcast | None], levels: int) -> _Move:
        """The cheapest way: a repeated block, copies along axes in each cycle, or a move of each element."""
        echo = copies.echo(part, rotations.cycle(array))
        if echo is not None:
            return cls(part, echo, [], 1, 0, levels)
        alone, copied = gathers.part_cost(array, part, levels), copies.together(array, plans)
        cost, ways = sum(plan.cost for plan in copied), sum(len(plan.part) for plan in copied)
        if copied and _MASKS * cost + ways < _MASKS * alone + len(part):
            return cls(part, None, copied, ways, cost, levels)
        return cls(part, None, [], len(part), alone, levels)

    def made(self, array: EncryptedArray, turned: dict[tuple[int, int], Chunk] | None) -> Chunk:
        """The elements in their slots, and 0 in the others."""
        if self.echo is not None:
            return copies.echoed(array, self.part, self.echo)
        if turned is not None:
            return rotations.joined(array, self.part, turned)
        if self.plans:
            found, *others = (copies.broadcast(array, plan) for plan in self.plans)
            return functools.reduce(array.session.machine.add, others, found)
        return gathers.collected(array, self.part, self.levels)


def _turned(array: EncryptedArray, parts: list[Part], target: Index) -> EncryptedArray:
    """Each new chunk is an old one, rotated. Uses no level."""
    keys, array = [next(iter(part)) for part in parts], array.still()
    turned = rotations.turned(array, set(keys))
    kept = array.filler is not None and not any(step for _, step in keys) and _whole(array, parts)
    return array.replaced(chunks=[turned[key] for key in keys], index=target, filler=array.filler if kept else None)


def _whole(array: EncryptedArray, parts: list[Part]) -> bool:
    """Whether each new chunk holds all elements of one old chunk."""
    slots = array.session.slots
    held = np.zeros((len(array.chunks), slots), dtype=bool)
    held[array.index // slots, array.index % slots] = True
    return all(len(places) == held[chunk].sum() for part in parts for (chunk, _), places in part.items())


def _filled(array: EncryptedArray, chunks: list[Chunk], target: Index, filler: float) -> list[Chunk]:
    """The chunks, with one number in the slots without an element, where they have 0."""
    if not filler:
        return chunks
    empty = np.ones(len(chunks) * array.session.slots)
    empty[target] = 0
    rows = empty.reshape(len(chunks), -1) * filler
    return [array.session.machine.add(chunk, row) for chunk, row in zip(chunks, rows, strict=True)]


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
