"""Moves of elements by the bits of their steps: a few key switches and masks, in place of one of each for every step.

A stage brings each element on by some bits of its step. Either a mask chooses the elements of each digit of these bits,
after a rotation by it. Or the ciphertext is doubled, added to itself turned, once for each bit, and one mask takes the
copy of each element that is in the right place. That needs places in which no other copy lies. So the bits of elements
that spread come from the highest on, and those of elements that close up from the lowest on. Whether copies meet is
counted before anything moves. Each stage takes a level, for the noise of its masks.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aglet.arrays import copies, gathers, rotations

__all__ = ["Way", "made", "planned"]

Index = NDArray[np.int64]
LEVEL = 50.0
"""What a level is worth, in key switches: four times what a bootstrap takes for each that it gives."""
LAST = 100.0
"""The same without a bootstrap."""
MASK = 0.6
"""A mask, in key switches."""
_MOST = 7
"""Bits that masks choose by in one stage."""


@dataclass(frozen=True)
class _Elements:
    """Elements of one new ciphertext, and the order in which the bits of their steps are taken."""

    around: int
    chunks: list[tuple[int, int]]
    """For each group the ciphertext that it comes from, and a first rotation of that."""
    group: Index
    source: Index
    """A number for each place that elements come from."""
    row: Index
    place: Index
    """The place within the row, after the first rotation."""
    steps: Index
    """What is left of the steps, in units."""
    unit: int
    bits: int
    falling: bool
    """Whether the highest bit comes first."""

    def done(self, bits: int) -> Index:
        """The part of the steps that the first bits make up."""
        if self.falling:
            rest = self.bits - bits
            return self.steps >> rest << rest
        return self.steps & ((1 << bits) - 1)

    def weight(self, begin: int, end: int) -> int:
        """The value of the lowest of these bits."""
        return 1 << (self.bits - end if self.falling else begin)

    def at(self, bits: int) -> Index:
        """The slots after these bits, counted through the rows."""
        return self.row * self.around + (self.place + self.unit * self.done(bits)) % self.around

    def digits(self, begin: int, end: int) -> Index:
        """The numbers that these bits make up."""
        found: Index = (self.done(end) - self.done(begin)) // self.weight(begin, end)
        return found

    def turn(self, step: int) -> int:
        """The key switches of a rotation."""
        return (step * self.unit % self.around).bit_count()


class _Stage(NamedTuple):
    """Bits from `begin` to `doubled` by doubling, and from there to `end` by masks."""

    begin: int
    doubled: int
    end: int


class _Found(NamedTuple):
    cost: float
    elements: _Elements
    stages: tuple[_Stage, ...]
    windows: list[tuple[int, int]]


class Way(NamedTuple):
    """How each new ciphertext is made: a sum of moves, each with copies that follow."""

    cost: float
    levels: int
    chunks: list[list[_Found]]


def planned(array: Any, parts: list[rotations.Part], ends: tuple[Index, Index], levels: int, each: float) -> Way | None:
    """The cheapest way within so many levels, if elements do not meet on it. Its cost includes `each` level."""
    rows = array.session.slots // rotations.cycle(array)
    plans = copies.broadcasts(array, *ends, len(parts), 1)
    # For each number of levels the ways of all new ciphertexts.
    ways: list[list[list[_Found]] | None] = [[] for _ in range(levels)]
    for at, part in enumerate(parts):
        own = [[(part, list[tuple[int, int]]())]] if part else [[]]
        together = copies.together(array, plans[at * rows : (at + 1) * rows])
        if together:
            own.append([(plan.part, plan.windows) for plan in together])
        options = [_all_of(array, several, levels) for several in own]
        for level, way in enumerate(ways):
            able = [option[level] for option in options if option[level] is not None]
            if way is None or not able:
                ways[level] = None
            else:
                way.append(min(able, key=_sum))  # type: ignore[arg-type]
    found = [
        Way(sum(map(_sum, way)) + each * level, level, way) for level, way in enumerate(ways, 1) if way is not None
    ]
    return min(found, key=lambda one: one.cost, default=None)


def _sum(found: list[_Found]) -> float:
    return sum(one.cost for one in found)


def _all_of(array: Any, several: list[tuple[rotations.Part, Any]], levels: int) -> list[list[_Found] | None]:
    """For each number of levels the cheapest moves, for parts that are added."""
    around = rotations.cycle(array)
    found: list[list[_Found] | None] = [[] for _ in range(levels)]
    for part, windows in several:
        copied = sum(rotations.window_cost(length, step, around) for length, step in windows)
        options = [(elements, _searched(elements, levels)) for elements in _orders(part, around)]
        for level, way in enumerate(found):
            able = [(*one[level], elements) for elements, one in options if one[level] is not None]  # type: ignore[misc]
            if way is None or not able:
                found[level] = None
                continue
            cost, stages, elements = min(able, key=lambda one: one[0])
            way.append(_Found(cost + copied, elements, stages, windows))
    return found


def _orders(part: rotations.Part, around: int) -> list[_Elements]:
    """The elements, with the bits of their steps or of their numbers, and both orders of these."""
    places = np.concatenate(list(part.values()))
    step = np.repeat([step for _, step in part], [len(one) for one in part.values()])
    chunk = np.repeat([chunk for chunk, _ in part], [len(one) for one in part.values()])
    row = places // around
    before = (places - step) % around
    rows = int(row.max()) + 1
    names, group = np.unique(chunk * rows + row, return_inverse=True)
    first = np.array([_after_gap(step[group == at], around) for at in range(len(names))])
    rest = (step - first[group]) % around
    unit = int(np.gcd.reduce(rest)) or 1
    found = []
    for each in sorted({1, unit}):
        bits = int(rest.max() // each).bit_length()
        # Of first rotations that leave steps of so many bits, the cheapest one.
        spare = [(1 << bits) - 1 - int(rest[group == at].max()) if each == 1 else 0 for at in range(len(names))]
        base = [
            min(((int(one) - less) % around for less in range(more + 1)), key=int.bit_count)
            for one, more in zip(first, spare, strict=True)
        ]
        left = (step - np.array(base)[group]) % around
        chunks = [(int(name) // rows, one) for name, one in zip(names, base, strict=True)]
        source = (chunk * rows + row) * around + before
        place = (before + np.array(base)[group]) % around
        found += [
            _Elements(around, chunks, group, source, row, place, left // each, each, bits, falling)
            for falling in (True, False)
        ]
    return found


def _after_gap(steps: Index, around: int) -> int:
    """The step after the largest gap between steps, around the row."""
    ordered = np.unique(steps)
    gaps = np.diff(ordered, prepend=ordered[-1] - around)
    return int(ordered[int(np.argmax(gaps))])


def _searched(x: _Elements, levels: int) -> list[tuple[float, tuple[_Stage, ...]] | None]:
    """For each number of levels the cheapest stages, by all beginnings of the bits."""
    free = [_apart(x, bits) for bits in range(x.bits + 1)]
    best: list[tuple[float, tuple[_Stage, ...]] | None] = [
        (_first(x, end), (_Stage(0, 0, end),)) if free[end] and end <= _MOST else None for end in range(x.bits + 1)
    ]
    doubled = [_doubled(x, begin) if free[begin] else begin for begin in range(x.bits + 1)]
    found = [best[x.bits]]
    for _ in range(levels - 1):
        after = list(best)
        for end in range(1, x.bits + 1):
            for begin in range(end if free[end] else 0):
                one = best[begin]
                if one is None or end - doubled[begin] > _MOST:
                    continue
                stage = _Stage(begin, min(doubled[begin], end), end)
                cost = one[0] + _cost(x, stage)
                old = after[end]
                if old is None or cost < old[0]:
                    after[end] = cost, (*one[1], stage)
        best = after
        found.append(best[x.bits])
    return found


def _apart(x: _Elements, bits: int) -> bool:
    """Whether no two elements from different places lie in one."""
    places = x.at(bits)
    slots = np.full(int(places.max()) + 1, -1, dtype=np.int64)
    slots[places] = x.source
    return bool((slots[places] == x.source).all())


def _doubled(x: _Elements, begin: int) -> int:
    """How far bits can be taken by doubling, with nothing but the elements in the ciphertext."""
    held = np.zeros((int(x.row.max()) + 1, x.around), dtype=np.int32)
    held.reshape(-1)[x.at(begin)] = 1
    for bit in range(begin, x.bits):
        held += np.roll(held, x.unit * x.weight(bit, bit + 1), axis=1)
        if (held.reshape(-1)[x.at(bit + 1)] != 1).any():
            return bit
    return x.bits


def _different(digits: Index) -> set[int]:
    return set(np.flatnonzero(np.bincount(digits)).tolist())


def _first(x: _Elements, end: int) -> float:
    """The cost of a stage of masks alone, which leave nothing but the elements."""
    digits, cost = x.digits(0, end), 0.0
    for at, (_, base) in enumerate(x.chunks):
        own = _different(digits[x.group == at])
        babies = gathers.babies(own)
        cost += base.bit_count() + MASK * len(own) + sum(x.turn((one & -one) * x.weight(0, end)) for one in babies)
    return cost


def _cost(x: _Elements, stage: _Stage) -> float:
    digits = _different(x.digits(stage.doubled, stage.end))
    doublings = sum(x.turn(x.weight(bit, bit + 1)) for bit in range(stage.begin, stage.doubled))
    weight = x.weight(stage.doubled, stage.end) if stage.end > stage.doubled else 1
    turns = sum(x.turn((one & -one) * weight) for one in gathers.babies(digits))
    return doublings + MASK * len(digits) + turns


def made(array: Any, way: Way) -> list[Any]:
    """The new ciphertexts: the elements in their slots, and 0 in the others, below by all levels of the way."""
    machine, found = array.session.machine, []
    for several in way.chunks:
        parts = [_made(array, one, way.levels) for one in several]
        empty = [] if parts else [_lower(machine, machine.multiply(array.chunks[0], 0), way.levels - 1)]
        found.append(machine.quieter(functools.reduce(machine.add, parts + empty)))
    return found


def _made(array: Any, found: _Found, levels: int) -> Any:
    machine, x = array.session.machine, found.elements
    first, *others = found.stages
    turned = [_turned(machine, array.chunks[of], base) for of, base in x.chunks]
    chunk = _chosen(array, x, first, turned)
    for stage in others:
        chunk = machine.quieter(chunk)
        for bit in range(stage.begin, stage.doubled):
            chunk = machine.add(chunk, _turned(machine, chunk, x.unit * x.weight(bit, bit + 1) % x.around))
        chunk = _chosen(array, x, stage, [chunk])
    # What is added later has come down as often.
    chunk = _lower(machine, chunk, levels - len(found.stages))
    for length, step in found.windows:
        chunk = rotations.window(array, chunk, length, step)
    return chunk


def _lower(machine: Any, chunk: Any, levels: int) -> Any:
    for _ in range(levels):
        chunk = machine.quieter(chunk)
    return chunk


def _chosen(array: Any, x: _Elements, stage: _Stage, chunks: list[Any]) -> Any:
    """The elements after a stage, each from its group's ciphertext turned by its digit."""
    machine, slots = array.session.machine, array.session.slots
    digits, places = x.digits(stage.doubled, stage.end), x.at(stage.end)
    unit = x.unit * x.weight(stage.doubled, stage.end)
    terms, masks = [], []
    for at, chunk in enumerate(chunks):
        own = x.group == at if len(chunks) > 1 else np.ones(len(digits), dtype=bool)
        wanted = _different(digits[own])
        turned = {0: chunk}
        for one in gathers.babies(wanted):
            turned[one] = _turned(machine, turned[one & (one - 1)], (one & -one) * unit % x.around)
        for one in sorted(wanted):
            terms.append(turned[one])
            masks.append(rotations.mask(places[own & (digits == one)], slots))
    return machine.weighted_sum(terms, masks)


def _turned(machine: Any, chunk: Any, step: int) -> Any:
    return machine.rotate(chunk, [step])[0] if step else chunk
