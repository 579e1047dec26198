"""Rotations of chunks: the parts that elements come in, and sums of rotations with masks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk

__all__ = ["Part", "back", "cost", "cycle", "joined", "mask", "parts_of", "turned", "window", "window_cost"]

Part = dict[tuple[int, int], "Index"]
"""What a new chunk takes: for (chunk, step) the slots that this chunk fills, rotated by this step.

Slots of CKKS are one cycle. Those of integers are two, which turn together and may change places: there, chunk 2 i is a
ciphertext, and 2 i + 1 the same with its cycles swapped.
"""


def cycle(array: EncryptedArray) -> int:
    """The slots that a rotation turns around: all of a chunk, or those of a row of integers."""
    session = array.session
    return getattr(session, "row_slots", session.slots)


def back(places: Index, step: int, around: int) -> Index:
    """The slots that a rotation by this step brings to these, within their cycles."""
    return places // around * around + (places - step) % around


def parts_of(source: Index, target: Index, array: EncryptedArray, count: int) -> list[Part]:
    """The part of each new chunk, for elements at the places `source` that go to `target`."""
    slots, around = array.session.slots, cycle(array)
    step, rows = (target - source) % around, slots // around
    if array.period:
        # Chunks are the same after so many slots.
        step %= array.period
    parts: list[Part] = [{} for _ in range(count)]
    # One number for each (chunk to be made, chunk, step).
    origin = source // slots * rows + (target // around - source // around) % rows
    chunks = int(origin.max()) + 1
    code = (target // slots * chunks + origin) * slots + step
    order = np.argsort(code, kind="stable")
    found, starts = np.unique(code[order], return_index=True)
    for value, places in zip(found, np.split(order, starts[1:]), strict=True):
        made, chunk, turn = int(value) // slots // chunks, int(value) // slots % chunks, int(value) % slots
        parts[made][chunk, turn] = target[places] % slots
    return parts


def turned(array: EncryptedArray, rotations: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
    """These chunks, rotated by steps, by number and step. All rotations of one chunk are done together."""
    steps: dict[int, list[int]] = defaultdict(list)
    found: dict[tuple[int, int], Any] = {}
    for chunk, step in sorted(rotations):
        if step:
            steps[chunk].append(step)
        else:
            found[chunk, 0] = array.chunks[chunk]
    for chunk, wanted in steps.items():
        made = array.session.machine.rotate(array.chunks[chunk], wanted)
        found.update({(chunk, step): one for step, one in zip(wanted, made, strict=True)})
    return found


def cost(steps: Iterable[int], slots: int) -> int:
    """The key switches of rotations: the keys are of powers of two."""
    return sum((step % slots).bit_count() for step in steps)


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


def window_cost(length: int, step: int, slots: int) -> int:
    """The key switches of `window`."""
    doublings = [step << i for i in range(length.bit_length() - 1)]
    done, parts = 0, []
    for i in range(length.bit_length()):
        if length >> i & 1:
            parts += [done * step] if done else []
            done += 1 << i
    return cost(doublings + parts, slots)


def joined(array: EncryptedArray, part: Part, rotated: dict[tuple[int, int], Chunk]) -> Chunk:
    """The elements of a part in their new slots, and 0 in the others, from chunks that are rotated already."""
    machine, slots = array.session.machine, array.session.slots
    if not part:
        return machine.multiply(array.chunks[0], 0)
    return machine.weighted_sum([rotated[key] for key in part], [mask(places, slots) for places in part.values()])


def mask(places: Index, slots: int) -> Any:
    """1 in these slots, and 0 in the others."""
    found = np.zeros(slots)
    found[places] = 1
    return found
