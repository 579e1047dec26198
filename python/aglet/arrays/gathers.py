"""Elements that are brought to their slots, each by a rotation: the cheapest way for all of them together."""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aglet.arrays import rotations, stretches
from aglet.arrays.rotations import Part

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray, Index
    from aglet.arrays.machine import Chunk

__all__ = ["babies", "collected", "part_cost"]


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
        turns = [(baby & -baby) * unit for baby in babies({number % size for number in numbers})]
        giants = sorted({number // size for number in numbers}, reverse=True)
        back = [(one - after) * size * unit for one, after in itertools.pairwise(giants)]
        found.append(_Giants(rotations.cost([*turns, *back, giants[-1] * size * unit + base], slots), base, unit, size))
    return min(found)


def babies(wanted: set[int]) -> list[int]:
    """These steps and those that lead to them, each by one more bit."""
    every = set(wanted)
    for one in wanted:
        while one:
            every.add(one)
            one &= one - 1
    return sorted(every - {0})


def collected(array: EncryptedArray, part: Part, levels: int) -> Chunk:
    """The elements of a part in their new slots, and 0 in the others. Uses one level, or up to so many."""
    machine = array.session.machine
    stretch = stretches.planned(array, part, levels)
    if stretch is not None and stretch.cost < _giant_cost(part, rotations.cycle(array)):
        return stretches.stretched(array, stretch)
    found = None
    for chunk in sorted({chunk for chunk, _ in part}):
        steps = {step: places for (of, step), places in part.items() if of == chunk}
        made = _from_chunk(array, array.chunks[chunk], steps)
        found = made if found is None else machine.add(found, made)
    return machine.multiply(array.chunks[0], 0) if found is None else found


def _from_chunk(array: EncryptedArray, chunk: Chunk, steps: dict[int, Index]) -> Chunk:
    """The sum of rotations of one chunk, each with a mask: rotated alone, or in baby and giant steps."""
    machine, slots, around = array.session.machine, array.session.slots, rotations.cycle(array)
    plan = _planned(tuple(steps), around)
    if rotations.cost(steps, around) <= plan.cost:
        turns = [step for step in steps if step]
        rotated = dict(zip(turns, machine.rotate(chunk, turns), strict=True)) if turns else {}
        rotated[0] = chunk
        return machine.weighted_sum(
            [rotated[step] for step in steps], [rotations.mask(p, slots) for p in steps.values()]
        )
    numbered = {(step - plan.base) % around // plan.unit: places for step, places in steps.items()}
    rotated = {0: chunk}
    for baby in babies({number % plan.size for number in numbered}):
        rotated[baby] = machine.rotate(rotated[baby & (baby - 1)], [(baby & -baby) * plan.unit % around])[0]
    groups: dict[int, list[int]] = defaultdict(list)
    for number in numbered:
        groups[number // plan.size].append(number)
    total, before = None, 0
    for giant in sorted(groups, reverse=True):
        rest = giant * plan.size * plan.unit + plan.base
        masks = [rotations.mask(rotations.back(numbered[number], rest, around), slots) for number in groups[giant]]
        made = machine.weighted_sum([rotated[number % plan.size] for number in groups[giant]], masks)
        if total is not None:
            made = machine.add(made, machine.rotate(total, [(before - rest) % around])[0])
        total, before = made, rest
    return machine.rotate(total, [before % around])[0] if before % around else total


def part_cost(array: EncryptedArray, part: Part, levels: int) -> int:
    """The key switches of `collected`."""
    stretch, giant = stretches.planned(array, part, levels), _giant_cost(part, rotations.cycle(array))
    return giant if stretch is None else min(giant, stretch.cost)


def _giant_cost(part: Part, around: int) -> int:
    chunks = {chunk for chunk, _ in part}
    every = [[step for of, step in part if of == chunk] for chunk in chunks]
    return sum(min(rotations.cost(steps, around), _planned(tuple(steps), around).cost) for steps in every)
