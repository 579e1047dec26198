"""The methods of `Engine` for linear maps that are given by diagonals, with rotation keys of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet._core import Ciphertext, EncodedMap, FixedRotationKey, SecretKey
from aglet.ckks import operands, values
from aglet.errors import MissingKeyError, RangeError
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["GIANT", "LinearMaps", "MapCut", "MapKey"]

GIANT = 8
"""A giant step takes the time of so many hoisted baby steps, by the model of `docs/performance.md`."""


@dataclass(frozen=True)
class MapCut:
    """Offsets as sums of a baby step and a giant step, all to the left (baby-step giant-step, eprint 2020/1203)."""

    slots: int
    babies: frozenset[int]
    giants: tuple[int, ...]
    """Ascending, the first is 0. By Horner's rule only their differences are rotations."""

    @classmethod
    def of(cls, offsets: Iterable[int], slots: int, giant: int = GIANT) -> MapCut:
        """The cheapest cut of these offsets, of those whose giant steps are a range of their binary digits.

        A giant step weighs `giant` baby steps. With 1 there are the fewest steps, and so the fewest keys.
        """
        places = np.unique(np.fromiter(offsets, dtype=np.int64) % slots)
        sizes = [1 << bits for bits in range(slots.bit_length())]
        cuts = (
            _window(places, slots, low, high, half)
            for low in sizes
            for high in sizes
            if low <= high
            for half in {0, low // 2}
        )
        return min(cuts, key=lambda cut: cut.cost(giant))

    def cost(self, giant: int = GIANT) -> int:
        """The time of its rotations, in hoisted ones."""
        return len(self.babies - {0}) + giant * (len(self.giants) - 1)

    @property
    def rotations(self) -> list[int]:
        """The rotations to the left that need a key."""
        return sorted((self.babies | set(np.diff(self.giants).tolist())) - {0})

    def place(self, offset: int) -> tuple[int, int]:
        """The number of the giant step and the baby step of an offset.

        Raises
        ------
        MissingKeyError
            If the cut does not have the offset.
        """
        for number, giant in enumerate(self.giants):
            if (baby := (offset - giant) % self.slots) in self.babies:
                return number, baby
        raise MissingKeyError(
            f"This map key was made for other offsets and has no rotations for offset {offset}; make one with "
            "engine.create_map_key(secret_key, offsets) for all offsets of the map."
        )


def _window(places: NDArray[np.int64], slots: int, low: int, high: int, half: int) -> MapCut:
    """The cut whose giant steps are the multiples of `low` modulo `high`, rounded down, or to the nearest."""
    giants = (places + half) // low * low % high
    around = np.unique(giants)
    # They begin after the largest gap of the circle, so that what lies on both sides of 0 is one run.
    start = around[np.argmax(np.diff(around, prepend=around[-1] - high))]
    giants = (giants - start) % high
    return MapCut(slots, frozenset(((places - giants) % slots).tolist()), tuple(np.unique(giants).tolist()))


@dataclass(frozen=True, eq=False)
class MapKey:
    """The rotation keys of linear maps with certain offsets."""

    cut: MapCut
    keys: tuple[FixedRotationKey, ...]
    """One for each rotation of the cut, in its order. They can be stored as fixed rotation keys."""

    @property
    def level(self) -> int:
        """The highest level of a ciphertext that it serves; -1 if no rotation is needed, so that all levels are."""
        return min((key.level for key in self.keys), default=-1)

    @property
    def byte_count(self) -> int:
        """Bytes in memory."""
        return sum(key.byte_count for key in self.keys)

    def __repr__(self) -> str:
        return f"<MapKey: {len(self.keys)} rotations, {self.byte_count / 1e6:.0f} MB>"


class LinearMaps:
    """Mixed into `Engine`."""

    _core: _core.Engine
    _max_level: int

    def create_map_key(
        self,
        secret_key: SecretKey,
        offsets: Iterable[int],
        level: int | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> MapKey:
        """Make the rotation keys of `linear_map` for maps with these offsets or some of them.

        Parameters
        ----------
        offsets
            The offsets of the diagonals; see `linear_map`. Regular ones, as of convolutions, need few keys.
        level
            The highest level at which the key will be used. A lower level makes a smaller key.

        Raises
        ------
        RangeError
            If there is no offset.
        LevelError
            If the level does not exist.
        """
        secret, wanted = operands.secret_key(secret_key), values.as_level(level, self._max_level)
        cut = self.map_cut(offsets)
        keys, steps = [], cut.rotations
        with progress_bar(progress) as report:
            for done, step in enumerate(steps):
                if report is not None:
                    report(done, len(steps), "map keys")
                keys.append(self._core.create_fixed_rotation_key(secret, -step, wanted))
        return MapKey(cut, tuple(keys))

    def map_cut(self, offsets: Iterable[int]) -> MapCut:
        """How `create_map_key` cuts these offsets into baby steps and giant steps. No key is made.

        Raises
        ------
        RangeError
            If there is no offset.
        """
        steps = [checks.step(offset) for offset in checks.each("offsets", offsets)]
        if not steps:
            raise RangeError("There is no offset; give those of the diagonals.")
        return MapCut.of(steps, self._core.slot_count)

    def encode_map(
        self,
        diagonals: Mapping[int, Any],
        map_key: MapKey,
        level: int | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> EncodedMap:
        """Encode the diagonals of a linear map once, for many calls. The results are the same, bit for bit.

        Parameters
        ----------
        diagonals
            As `linear_map` takes them.
        level
            The level of the ciphertexts; `max_level` if not given.

        Raises
        ------
        RangeError, LevelError, MissingKeyError
            As `linear_map`.
        MemoryLimitError
            If the machine has too little memory for the encoded map, before anything is encoded.
        """
        key = checks.need(map_key, MapKey, "engine.create_map_key(secret_key, offsets)")
        steps = self._map_steps(diagonals, key)
        return self._core.encode_map(list(key.keys), steps, values.as_level(level, self._max_level), progress)

    def linear_map(
        self,
        diagonals: Mapping[int, Any] | EncodedMap,
        ciphertext: Ciphertext,
        map_key: MapKey,
        *,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Apply a linear map: slot `j` becomes the sum of `diagonals[k][j] * x[(j + k) % slot_count]`. Uses one level.

        The rotations of baby steps share one decomposition, and their sums stay in the extended basis: a map rounds
        once for each giant step and once at its end (double hoisting, eprint 2020/1203, section 4). The time is that of
        the rotations of the key and of a product for each diagonal.

        Parameters
        ----------
        diagonals
            By offset, as `diagonal_indices` of `encode_to_plain_matrix` counts them: a list or array of `slot_count`
            numbers, or of fewer that repeat, a power of two. Short ones take less time and memory to encode. An
            `EncodedMap` is encoded already.
        map_key
            From `create_map_key`, for these offsets or more.

        Raises
        ------
        RangeError
            If there is no diagonal, an offset stands there twice, or the length or an entry of a diagonal is not
            allowed.
        LevelError
            If the ciphertext is at level 0, above the level of the key, or not at the level of the `EncodedMap`.
        MissingKeyError
            If the key was made for other offsets.
        """
        ciphertext = operands.ciphertext(ciphertext)
        key = checks.need(map_key, MapKey, "engine.create_map_key(secret_key, offsets)")
        if not isinstance(diagonals, EncodedMap):
            steps = self._map_steps(diagonals, key)
            diagonals = self._core.encode_map(list(key.keys), steps, ciphertext.level, progress, once=True)
        return self._core.linear_map(diagonals, ciphertext, list(key.keys), progress)

    def _map_steps(self, diagonals: Mapping[int, Any], key: MapKey) -> list[Any]:
        """For each giant step the place of its key, and its diagonals by the places of keys, rotated back."""
        slots, cut = self._core.slot_count, key.cut
        if not isinstance(diagonals, Mapping):
            raise TypeError(f"diagonals is a dict of vectors by offset, not {type(diagonals).__name__}.")
        by_offset = {checks.step(offset) % slots: vector for offset, vector in diagonals.items()}
        if not by_offset or len(by_offset) < len(diagonals):
            raise RangeError(
                f"There are {len(diagonals)} diagonals at {len(by_offset)} offsets modulo {slots}; give at least one, "
                "and one for each offset."
            )
        if cut.slots != slots:
            raise MissingKeyError(
                f"This map key is for {cut.slots} slots and the engine has {slots}; make one with this engine."
            )
        place = {step: number for number, step in enumerate(cut.rotations)}
        turns = [None, *(place[int(turn)] for turn in np.diff(cut.giants))]
        steps: list[Any] = [(turn, []) for turn in turns]
        for offset, vector in by_offset.items():
            number, baby = cut.place(offset)
            diagonal = values.as_vector(vector, what="diagonal")
            steps[number][1].append((place.get(baby), np.roll(diagonal, cut.giants[number])))
        return steps
