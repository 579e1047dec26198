"""Bring elements of an array to other places: rotations of chunks, and masks where several meet in one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.interval import Interval
from aglet.errors import ParameterError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk

__all__ = ["MOST_MOVES", "aligned", "cleaned", "compact", "laid_out", "moved"]

MOST_MOVES = 4096
"""Rotations in one move; more of them take minutes, and another layout does without."""


def aligned(left: EncryptedArray, right: EncryptedArray) -> tuple[EncryptedArray, EncryptedArray]:
    """Both in one shape, with their elements in the same places; the one that costs more to move stays."""
    if left.index is right.index or (len(left.chunks) == len(right.chunks) and np.array_equal(left.index, right.index)):
        return left, right
    shape = np.broadcast_shapes(left.shape, right.shape)
    if left.uniform or right.uniform:
        return left.broadcast_to(shape), right.broadcast_to(shape)
    # An array of the whole shape stays where it is; the other comes to it.
    if left.shape == shape:
        return left, moved(right, np.broadcast_to(right.index, shape), left.index, len(left.chunks))
    if right.shape == shape:
        return moved(left, np.broadcast_to(left.index, shape), right.index, len(right.chunks)), right
    spread = left.broadcast_to(shape)
    return spread, moved(right, np.broadcast_to(right.index, shape), spread.index, len(spread.chunks))


def compact(array: EncryptedArray) -> EncryptedArray:
    """Elements in a row, in numpy's order."""
    return laid_out(array, array.index)


def laid_out(array: EncryptedArray, index: Index) -> EncryptedArray:
    """The elements at these places of an array (some perhaps more than once), in a row from the first slot."""
    slots = array.session.slots
    wanted = np.arange(index.size, dtype=np.int64).reshape(index.shape)
    return moved(array, index, wanted, -(-index.size // slots))


def cleaned(array: EncryptedArray, filler: float) -> EncryptedArray:
    """The same elements in the same places, and one number in all other slots; one level."""
    array.need(1)
    machine, slots = array.session.machine, array.session.slots
    mask = np.zeros(len(array.chunks) * slots)
    mask[array.index] = 1
    rows = mask.reshape(-1, slots)
    chunks = [_filled(array, machine.multiply(c, m), m, filler) for c, m in zip(array.chunks, rows, strict=True)]
    return _made(array, chunks, array.index, filler)


def moved(array: EncryptedArray, source: Index, target: Index, count: int) -> EncryptedArray:
    """The elements at places `source`, brought to places `target` of `count` chunks.

    It costs nothing where slots agree, and a rotation where whole chunks turn; where parts meet in a chunk, they are
    masked, which takes one level, and the slots between get a value within the interval.

    Raises
    ------
    ParameterError
        If it takes more than `MOST_MOVES` rotations.
    """
    slots = array.session.slots
    # For each chunk to be made, what it takes: (chunk, step), and the slots that this fills.
    parts: list[dict[tuple[int, int], Index]] = _parts(source.ravel(), target.ravel(), slots, count)
    rotations = {key for part in parts for key in part if key[1]}
    if len(rotations) > MOST_MOVES:
        raise ParameterError(
            f"This takes {len(rotations)} rotations, as the elements lie in other places; keep arrays that meet in one "
            "shape, or encrypt one of them anew."
        )
    simple = all(len(part) == 1 for part in parts)
    if not simple:
        array.need(1)
    turned = _turned(array, rotations)
    if simple:
        keys = [next(iter(part)) for part in parts]
        kept = array.filler if not rotations and source.size == array.size else None
        return _made(array, [turned[key] for key in keys], target, kept)
    filler = array.interval.inside
    return _made(array, [_joined(array, part, turned, filler) for part in parts], target, filler)


def _parts(source: Index, target: Index, slots: int, count: int) -> list[dict[tuple[int, int], Index]]:
    step = (target - source) % slots
    parts: list[dict[tuple[int, int], Index]] = [{} for _ in range(count)]
    # One number for each (chunk to be made, chunk, step).
    chunks = int(source.max()) // slots + 1
    code = (target // slots * chunks + source // slots) * slots + step
    order = np.argsort(code, kind="stable")
    found, starts = np.unique(code[order], return_index=True)
    for value, places in zip(found, np.split(order, starts[1:]), strict=True):
        made, chunk, turn = int(value) // slots // chunks, int(value) // slots % chunks, int(value) % slots
        parts[made][chunk, turn] = target[places] % slots
    return parts


def _turned(array: EncryptedArray, rotations: set[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
    """Chunks by number and step, those of one chunk rotated together."""
    steps: dict[int, list[int]] = defaultdict(list)
    for chunk, step in sorted(rotations):
        steps[chunk].append(step)
    turned: dict[tuple[int, int], Any] = {(i, 0): chunk for i, chunk in enumerate(array.chunks)}
    for chunk, wanted in steps.items():
        made = array.session.machine.rotate(array.chunks[chunk], wanted)
        turned.update({(chunk, step): one for step, one in zip(wanted, made, strict=True)})
    return turned


def _joined(array: EncryptedArray, part: dict[tuple[int, int], Index], turned: Any, filler: float) -> Chunk:
    weights = []
    for places in part.values():
        weight = np.zeros(array.session.slots)
        weight[places] = 1
        weights.append(weight)
    joined = array.session.machine.weighted_sum([turned[key] for key in part], weights)
    return _filled(array, joined, sum(weights), filler)


def _filled(array: EncryptedArray, chunk: Chunk, mask: Any, filler: float) -> Chunk:
    return array.session.machine.add(chunk, (1 - mask) * filler) if filler else chunk


def _made(array: EncryptedArray, chunks: list[Chunk], index: Index, filler: Any) -> EncryptedArray:
    interval = array.interval if filler is None else array.interval | Interval(filler.real, filler.real)
    return type(array)(array.session, chunks, index, interval, filler)
