"""Moves of whole numbers in slots: those of floats, on the two rows of a ciphertext, and what they take of levels.

A rotation turns both rows, and a key switch swaps them. Rotations to the left take one key switch for a power of two;
moves of floats count on that for rotations to the right. So they see both rows from behind.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet.arrays import moves, rotations
from aglet.arrays.slots import doublings
from aglet.arrays.slots.values import Chunks, Numbers, room

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["moved", "window"]

Index = NDArray[np.int64]
_TOGETHER = 64
"""Masks that are encoded at a time: each takes 8 bytes a slot."""
_KEPT = 32
"""Ways that are kept, of up to some megabytes each."""
_UNKNOWN: Any = object()
"""Of a way that is not kept; None is that there is no shorter one."""


class _Machine:
    """What moves of floats ask of an engine, on integers seen from behind."""

    def __init__(self, session: SlotSession) -> None:
        self._session, self._engine = session, session.engine

    def add(self, x: Any, y: Any) -> Any:
        return self._engine.add(x, y)

    def multiply(self, x: Any, mask: Any) -> Any:
        if np.ndim(mask) == 0:
            return self._engine.subtract(x, x)
        return self._engine.multiply(x, self._behind(mask))

    def weighted_sum(self, chunks: Sequence[Any], masks: Sequence[Any]) -> Any:
        parts = []
        for at in range(0, len(chunks), _TOGETHER):
            some = slice(at, at + _TOGETHER)
            parts.append(self._engine.weighted_sum(chunks[some], [self._behind(mask) for mask in masks[some]]))
        return functools.reduce(self._engine.add, parts)

    def rotate(self, x: Any, steps: Sequence[int]) -> list[Any]:
        key = self._session.rotation()
        return [self._engine.rotate_rows(x, key, -step) if step else x for step in steps]

    def quieter(self, x: Any) -> Any:
        """A level lower, without the noise of masks: what `mod_switch` multiplies by would leave some."""
        return self._engine.rescale(x) if x.level > 1 else x

    def _behind(self, mask: Any) -> Any:
        return mask.astype(np.int64).reshape(-1, self._session.row_slots)[:, ::-1].reshape(-1)


class _Ciphertexts:
    """Ciphertexts by number, each followed by itself with swapped rows, which is made when it is asked for."""

    def __init__(self, session: SlotSession, chunks: Chunks) -> None:
        self._session, self._chunks, self._swapped = session, chunks, dict[int, Any]()

    def __getitem__(self, number: int) -> Any:
        at, swapped = divmod(number, 2)
        if not swapped:
            return self._chunks[at]
        if at not in self._swapped:
            self._swapped[at] = self._session.engine.rotate_columns(self._chunks[at], self._session.rotation())
        return self._swapped[at]


class _Rows:
    """What moves of floats ask of an array."""

    period = filler = None

    def __init__(self, session: SlotSession, chunks: Chunks) -> None:
        self.session = _Space(session)
        self.chunks = _Ciphertexts(session, chunks)

    def need(self, levels: int) -> None:
        """Whoever moves numbers has seen to it."""


class _Space:
    """What moves of floats ask of a session."""

    def __init__(self, session: SlotSession) -> None:
        self.slots, self.row_slots, self.machine = session.slots, session.row_slots, _Machine(session)


def moved(
    session: SlotSession, x: Numbers, source: Index, target: Index, count: int, *, alone: bool = False
) -> Numbers:
    """The numbers at the places `source` at the places `target` of `count` ciphertexts. Targets are distinct.

    Places are counted through all ciphertexts. Rows that turn as a whole take no level. Other moves take masks, and
    one level, if there are two, for the noise of these. Moves of many different steps may take more, up to half of the
    levels that there are or that a bootstrap leaves: `t + v[:, None]` of 1000 x 20 takes two of eight, and three with
    a bootstrap, in place of 1,000 masks. With `alone`, all other slots hold 0 in every digit, for sums.

    Raises
    ------
    ParameterError
        If there are more than `aglet.arrays.moves.MOST_MOVES` different moves, and elements meet on every shorter way.
    LevelError
        If there is no level, and no bootstrap.
    MissingKeyError
        If there is no rotation key.
    """
    row = session.row_slots
    ends = tuple(places // row * row + row - 1 - places % row for places in (source, target))
    parts = rotations.parts_of(ends[0].ravel(), ends[1].ravel(), _rows(session, x.digits[0]), count)
    turns = not alone and all(len(part) == 1 for part in parts)
    way = None if turns else _way(session, x, parts, ends)
    if way is not None or not turns or any(step for part in parts for _, step in part):
        # A mask takes more noise than level 0 has room for.
        levels = way.levels if way is not None else 1
        x = room(session, x, levels + 1 + alone, levels * (not turns))
    if way is not None:
        made = tuple(doublings.made(_rows(session, chunks), way) for chunks in x.digits)
        return Numbers(made, x.offset, x.low, x.high)
    digits = tuple(_made(session, chunks, parts, ends, turns) for chunks in x.digits)
    found = Numbers(digits, x.offset, x.low, x.high)
    return found if turns else found.quieter(session)


def _rows(session: SlotSession, chunks: Chunks) -> Any:
    return _Rows(session, chunks)


def _way(session: SlotSession, x: Numbers, parts: list[rotations.Part], ends: Any) -> doublings.Way | None:
    """`_found_way`, which takes a tenth of a move and more: the last ones are kept."""
    places = hashlib.blake2b(b"".join(one.tobytes() for one in ends)).digest()
    key, ways = (places, *(one.shape for one in ends), len(parts), x.level), session.ways
    # Other threads may move elements of other arrays meanwhile, so nothing is asked twice.
    way = ways.pop(key, _UNKNOWN)
    way = _found_way(session, x, parts, ends) if way is _UNKNOWN else way
    ways[key] = way
    for oldest in list(ways)[:-_KEPT]:
        ways.pop(oldest, None)
    return way


def _found_way(session: SlotSession, x: Numbers, parts: list[rotations.Part], ends: Any) -> doublings.Way | None:
    """The way by the bits of steps, if it is cheaper than masks for each step; of these may be too many."""
    rows, again = _rows(session, x.digits[0]), session.keys.bootstrap is not None
    present = moves.cost(rows, parts, ends)
    each = doublings.LEVEL if again else doublings.LAST
    cost = math.inf if present is None else present[0] + doublings.MASK * present[1] + each
    after = session.engine.bootstrap_output_level if again else None
    levels = max(x.level, after or 0) // 2
    if cost <= 2 * each or levels < 2:
        return None
    way = doublings.planned(rows, parts, ends, levels, each)
    return way if way is not None and way.cost < cost else None


def _made(session: SlotSession, chunks: Chunks, parts: list[rotations.Part], ends: Any, turns: bool) -> Chunks:
    rows = _rows(session, chunks)
    if not turns:
        return moves.mixed(rows, parts, ends, 1)
    keys = [next(iter(part)) for part in parts]
    turned = rotations.turned(rows, set(keys))
    return [turned[key] for key in keys]


def window(session: SlotSession, chunk: Any, length: int, step: int) -> Any:
    """The sum of `length` slots, `step` apart and beginning there, in each slot, within its row."""
    return rotations.window(_rows(session, [chunk]), chunk, length, step)
