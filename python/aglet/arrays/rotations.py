"""Rotations of chunks: the parts that elements come in, and sums of rotations with masks."""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk

__all__ = ["Part", "collected", "cost", "joined", "part_cost", "parts_of", "turned", "window", "window_cost"]

Part = dict[tuple[int, int], "Index"]
"""What a new chunk takes: for (chunk, step) the slots that this chunk fills, rotated by this step."""


def parts_of(source: Index, target: Index, array: EncryptedArray, count: int) -> list[Part]:
    """The part of each new chunk, for elements at the places `source` that go to `target`."""
    slots = array.session.slots
    step = (target - source) % slots
    if array.period:
        # Chunks are the same after so many slots.
        step %= array.period
    parts: list[Part] = [{} for _ in range(count)]
    # One number for each (chunk to be made, chunk, step).
    chunks = int(source.max()) // slots + 1
    code = (target // slots * chunks + source // slots) * slots + step
    order = np.argsort(code, kind="stable")
    found, starts = np.unique(code[order], return_index=True)
    for value, places in zip(found, np.split(order, starts[1:]), strict=True):
        made, chunk, turn = int(value) // slots // chunks, int(value) // slots % chunks, int(value) % slots
        parts[made][chunk, turn] = target[places] % slots
    return parts


def turned(array: EncryptedArray, rotations: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
    """The chunks, rotated by steps, by number and step. All rotations of one chunk are done together."""
    steps: dict[int, list[int]] = defaultdict(list)
    for chunk, step in sorted(rotations):
        steps[chunk].append(step)
    found: dict[tuple[int, int], Any] = {(i, 0): chunk for i, chunk in enumerate(array.chunks)}
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


class _Giants(NamedTuple):
    """Steps as base + unit (baby + size giant): few rotations of the source, and few of sums."""

    cost: int
    base: int
    unit: int
    size: int


# Asked for what moves cost, and again when they are made.
@functools.lru_cache(maxsize=256)
def _planned(steps: tuple[int, ...], slots: int) -> _Giants:
    """The cheapest size of the giant steps."""
    ordered = sorted(steps)
    gaps = [(after - one) % slots for one, after in zip(ordered, ordered[1:] + ordered[:1], strict=True)]
    # They begin after the largest gap, around the chunk.
    base = ordered[(int(np.argmax(gaps)) + 1) % len(ordered)]
    offsets = [(step - base) % slots for step in ordered]
    unit = math.gcd(*offsets) or 1
    numbers = [offset // unit for offset in offsets]
    found = []
    for exponent in range(max(numbers).bit_length() + 1):
        size = 1 << exponent
        turns = [(baby & -baby) * unit for baby in _babies({number % size for number in numbers})]
        giants = sorted({number // size for number in numbers}, reverse=True)
        back = [(one - after) * size * unit for one, after in itertools.pairwise(giants)]
        found.append(_Giants(cost([*turns, *back, giants[-1] * size * unit + base], slots), base, unit, size))
    return min(found)


def _babies(wanted: set[int]) -> list[int]:
    """These steps and those that lead to them, each by one more bit."""
    every = set(wanted)
    for one in wanted:
        while one:
            every.add(one)
            one &= one - 1
    return sorted(every - {0})


def joined(array: EncryptedArray, part: Part, rotated: dict[tuple[int, int], Chunk]) -> Chunk:
    """The elements of a part in their new slots, and 0 in the others, from chunks that are rotated already."""
    machine, slots = array.session.machine, array.session.slots
    if not part:
        return machine.multiply(array.chunks[0], 0)
    return machine.weighted_sum([rotated[key] for key in part], [_mask(places, slots) for places in part.values()])


def collected(array: EncryptedArray, part: Part) -> Chunk:
    """The elements of a part in their new slots, and 0 in the others. Uses one level."""
    found = None
    machine = array.session.machine
    for chunk in sorted({chunk for chunk, _ in part}):
        steps = {step: places for (of, step), places in part.items() if of == chunk}
        made = _from_chunk(array, array.chunks[chunk], steps)
        found = made if found is None else machine.add(found, made)
    return machine.multiply(array.chunks[0], 0) if found is None else found


def _from_chunk(array: EncryptedArray, chunk: Chunk, steps: dict[int, Index]) -> Chunk:
    """The sum of rotations of one chunk, each with a mask: rotated alone, or in baby and giant steps."""
    machine, slots = array.session.machine, array.session.slots
    plan = _planned(tuple(steps), slots)
    if cost(steps, slots) <= plan.cost:
        turns = [step for step in steps if step]
        rotated = dict(zip(turns, machine.rotate(chunk, turns), strict=True)) if turns else {}
        rotated[0] = chunk
        return machine.weighted_sum([rotated[step] for step in steps], [_mask(p, slots) for p in steps.values()])
    numbered = {(step - plan.base) % slots // plan.unit: places for step, places in steps.items()}
    rotated = {0: chunk}
    for baby in _babies({number % plan.size for number in numbered}):
        rotated[baby] = machine.rotate(rotated[baby & (baby - 1)], [(baby & -baby) * plan.unit % slots])[0]
    groups: dict[int, list[int]] = defaultdict(list)
    for number in numbered:
        groups[number // plan.size].append(number)
    total, before = None, 0
    for giant in sorted(groups, reverse=True):
        rest = giant * plan.size * plan.unit + plan.base
        masks = [_mask((numbered[number] - rest) % slots, slots) for number in groups[giant]]
        made = machine.weighted_sum([rotated[number % plan.size] for number in groups[giant]], masks)
        if total is not None:
            made = machine.add(made, machine.rotate(total, [(before - rest) % slots])[0])
        total, before = made, rest
    return machine.rotate(total, [before % slots])[0] if before % slots else total


def _mask(places: Index, slots: int) -> Any:
    mask = np.zeros(slots)
    mask[places] = 1
    return mask


def part_cost(part: Part, slots: int) -> int:
    """The key switches of `collected`."""
    chunks = {chunk for chunk, _ in part}
    every = [[step for of, step in part if of == chunk] for chunk in chunks]
    return sum(min(cost(steps, slots), _planned(tuple(steps), slots).cost) for steps in every)
