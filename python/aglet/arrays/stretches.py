"""Consecutive elements that go to slots further apart, such as a vector that meets the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aglet.arrays import rotations
from aglet.arrays.rotations import Part

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray
    from aglet.arrays.machine import Chunk

__all__ = ["Stretch", "planned", "stretched"]

_LEAST = 16
"""Of fewer elements, rotations one by one are as few."""


class Stretch(NamedTuple):
    """Stages, each of which copies runs of elements by doubling, and takes one shorter run from every copy.

    No two copies of a run meet, because a run is cut into at most as many as its elements will be apart.
    """

    cost: int
    chunk: int
    first: int
    """The slot of the first element."""
    to: int
    size: int
    apart: int
    runs: list[tuple[int, int]]
    """For each stage the length of the new runs, and how many are made of one."""
    cleans: bool
    """Whether the other slots have to be masked first."""


def planned(array: EncryptedArray, part: Part, levels: int) -> Stretch | None:
    """The stages, if the elements are such ones and so many levels are enough."""
    slots = array.session.slots
    # Windows are cut at no end of a cycle.
    whole = rotations.cycle(array) == slots
    if levels < 1 or not whole or len({chunk for chunk, _ in part}) != 1 or len(part) < _LEAST:
        return None
    targets = np.concatenate(list(part.values()))
    steps = np.repeat([step for _, step in part], [len(places) for places in part.values()])
    order = np.argsort((targets - steps) % slots)
    sources, targets = ((targets - steps) % slots)[order], targets[order]
    apart = int(targets[1] - targets[0])
    if apart < 2 or (np.diff(sources) != 1).any() or (np.diff(targets) != apart).any():
        return None
    runs, length, last = [], len(targets), len(targets) - 1
    while length > 1:
        shorter = 1 << (-(-length // apart) - 1).bit_length()
        number = -(-length // shorter)
        if last // length * length * apart + last % length + (number - 1) * shorter * (apart - 1) >= slots:
            # A run that is cut short by the end has copies that come around and meet the first elements.
            return None
        runs.append((shorter, number))
        length = shorter
    chunk = next(iter(part))[0]
    cleans = array.filler is None or int((array.index // slots == chunk).sum()) != len(targets)
    if len(runs) + cleans > levels:
        return None
    first, to = int(sources[0]), int(targets[0])
    windows = sum(rotations.window_cost(number, length * (apart - 1), slots) for length, number in runs)
    cost = windows + rotations.cost([to - first], slots)
    return Stretch(cost, chunk, first, to, len(targets), apart, runs, cleans)


def stretched(array: EncryptedArray, plan: Stretch) -> Chunk:
    """The elements in their new slots, and 0 in the others. Each stage uses one level."""
    array = array.still()
    machine, slots = array.session.machine, array.session.slots
    elements, mask = np.arange(plan.size), np.zeros(slots)
    mask[plan.first + elements] = 1
    chunk = array.chunks[plan.chunk]
    if plan.cleans:
        chunk = machine.multiply(chunk, mask)
    elif array.filler:
        chunk = machine.add(chunk, (mask - 1) * array.filler)
    if plan.to != plan.first:
        chunk = machine.rotate(chunk, [(plan.to - plan.first) % slots])[0]
    for length, number in plan.runs:
        chunk = rotations.window(array, chunk, number, length * (plan.apart - 1))
        mask = np.zeros(slots)
        mask[(plan.to + elements // length * length * plan.apart + elements % length) % slots] = 1
        chunk = machine.multiply(chunk, mask)
    return chunk
