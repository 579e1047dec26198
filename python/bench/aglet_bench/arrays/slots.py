"""Simulated slots of integers: levels, refreshes and time of whole numbers in slots, for `Session.plan`."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import _core, forecast
from aglet.arrays.digits.model import Cells
from aglet.arrays.slots.session import SlotSession
from aglet.errors import LevelError, NoiseError, ParameterError
from aglet.integer.circuits import CircuitPlan, PartsPlan
from aglet.integer.engine import IntegerEngine
from aglet.scheme_switch.switch import SchemeSwitch

if TYPE_CHECKING:
    from aglet_bench.arrays.shadow import Shadow

__all__ = ["simulated"]

_FEW, _MANY = "table of 4 bits", "table of 8 bits"
_PAIR = "table of 8 bits in 2 digits"
_TAKEN = 3.0
"""Bits of noise above a rounding that a bootstrap takes at level 1; above it they are divided on the way."""
_MASK = 15.8
"""Bits of noise of a product with numbers in the clear in all slots, beside half of log2 N."""
_PRODUCT = -17.1
"""What a division leaves of a product of quiet numbers, in bits above a rounding, beside log2 N."""
_SWITCH, _DIVISION = 22.0, 36.0
"""Bits of noise that a switch of the modulus takes away, and a division alone, as at the highest level."""
_PLAIN = 0.5
"""A product with numbers in the clear, as a part of one of ciphertexts with its relinearization."""


@dataclass(frozen=True)
class _Noise:
    """Noise in roundings, in the parts that the law of integers adds: two of a kind as sums, kinds in quadrature."""

    any: float = 0.0
    divided: float = 0.0
    products: float = 0.0
    switches: float = 0.0

    @property
    def bits(self) -> float:
        """Above a rounding."""
        return math.log2(max(1.0, self.any + math.hypot(self.divided, self.products, self.switches)))

    def plus(self, other: _Noise) -> _Noise:
        """Of a sum."""
        return _Noise(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def times(self, factor: float) -> _Noise:
        """So many times as large."""
        return _Noise(*(getattr(self, one.name) * factor for one in fields(self)))


_QUIET, _SWITCHED = _Noise(any=1.0), _Noise(switches=1.0)


class _Chunk:
    """A simulated ciphertext: its level and noise."""

    def __init__(self, level: int, noise: _Noise = _QUIET) -> None:
        if level < 0:
            raise LevelError("No level is left; bootstrap first.")
        self.level, self.noise = level, noise

    def at(self, level: int) -> _Noise:
        """The noise at this level, or below its own."""
        return self.noise if level == self.level else _SWITCHED


class _Keys:
    """Every key is there."""

    public = secret = relinearization = rotation = bootstrap = scheme_switch = True

    def _need(self, name: str, family: str) -> bool:
        return True


class _Engine:
    """Counts the work that an `IntegerEngine` would do, with the names of its methods."""

    def __init__(self, engine: IntegerEngine, machine: Shadow) -> None:
        self.engine, self.machine = engine, machine
        self.plaintext_modulus, self.slot_count, self.preset = (
            engine.plaintext_modulus,
            engine.slot_count,
            engine.preset,
        )
        self.bootstrap_output_level = engine.bootstrap_output_level
        plan: Any = _core.integer_plan(engine.preset, forecast.shipped_for(engine.log_n, forecast.VECTOR_BITS))
        self._rows = {row["circuit"]: row for row in plan["circuits"]}
        self._bootstrap = 0.0 if plan["bootstrap"] is None else float(plan["bootstrap"]["seconds"])

    @property
    def _core(self) -> _Engine:
        return self

    def _spend(self, seconds: float) -> None:
        self.machine.seconds += seconds * forecast.TYPICAL_FACTOR

    def encrypt(self, values: Any, key: Any) -> _Chunk:
        return _Chunk(self.engine.max_level)

    def add(self, x: Any, y: Any) -> _Chunk:
        if not isinstance(y, _Chunk) or not isinstance(x, _Chunk):
            return x if isinstance(x, _Chunk) else y
        # The higher one is divided on its way down.
        level = min(x.level, y.level)
        return _Chunk(level, x.at(level).plus(y.at(level)))

    subtract = add

    def negate(self, x: _Chunk) -> _Chunk:
        return x

    def multiply(self, x: _Chunk, y: Any, key: Any = None) -> _Chunk:
        if not isinstance(y, _Chunk):
            # One number in all slots is no polynomial.
            self._spend(_PLAIN * self._rows["product"]["seconds"] * (np.ndim(y) > 0))
            mask = 2 ** (_MASK + self.engine.log_n / 2)
            return _Chunk(x.level, x.noise.times(mask if np.ndim(y) else abs(int(y))))
        return self.product_sum([x], [y], key)

    def product_sum(self, left: Sequence[_Chunk], right: Sequence[_Chunk], key: Any) -> _Chunk:
        self.machine.done["products"] += 1
        self._spend(self._rows["product"]["seconds"] * (1 + _PLAIN * (len(left) - 1)))
        return _Chunk(min(x.level for x in (*left, *right)) - 1, self._of_products(len(left)))

    def _of_products(self, count: int) -> _Noise:
        """Of a sum of so many products of quiet numbers."""
        return _Noise(divided=2 ** (_PRODUCT + self.engine.log_n) * count, products=1.0)

    def weighted_sum(self, ciphertexts: Sequence[_Chunk], weights: Sequence[Any]) -> _Chunk:
        terms = [self.multiply(x, weight) for x, weight in zip(ciphertexts, weights, strict=True)]
        return functools.reduce(self.add, terms)

    def plan_lookup(self, table: Any, digits: int = 1, *, spare_levels: int = 0) -> CircuitPlan:
        return self.engine.plan_lookup(table, digits, spare_levels=spare_levels)

    def plan_lookup_in_parts(self, table: Any, level: int) -> PartsPlan | None:
        return self.engine.plan_lookup_in_parts(table, level)

    def lookup_many(
        self, numbers: Sequence[Any], tables: Any, key: Any, *, bootstrap_key: Any = None, spare_levels: int = 0
    ) -> list[list[_Chunk]]:
        if bootstrap_key is not None:
            return self._in_parts(numbers, tables)
        columns = [one if isinstance(one, list) else [one] for one in numbers]
        found = self.plan_lookup(tables, len(columns[0]), spare_levels=spare_levels)
        self._tables(found.relinearizations * len(columns), found.relinearizations, len(columns[0]))
        levels = [min(one.level for one in column) - found.levels for column in columns]
        # Digits meet in as many products as the last one has values beside 0.
        digits = len(columns[0])
        products = round(len(tables[0]) ** (1 / digits)) - 1 if digits > 1 else found.levels
        return [[_Chunk(level, self._of_products(products)) for _ in tables] for level in levels]

    def _in_parts(self, numbers: Sequence[_Chunk], tables: Any) -> list[list[_Chunk]]:
        found = self.plan_lookup_in_parts(tables, min(x.level for x in numbers))
        if found is None:
            raise LevelError("A bootstrap leaves too few levels for this table.")
        self._tables(found.relinearizations * len(numbers), found.relinearizations, 1)
        self.bootstrap_many([x for x in numbers for _ in range(found.bootstraps)], None)
        noise = _Noise(divided=2**found.noise_excess)
        return [[_Chunk(found.output_level, noise) for _ in tables] for _ in numbers]

    def _tables(self, relinearizations: int, each: int, digits: int) -> None:
        self.machine.done["products"] += relinearizations
        self._spend(relinearizations * self._each(each, digits))

    def _each(self, count: int, digits: int) -> float:
        """Seconds of a relinearization with all that goes with it, between those of tables that are modelled."""

        def of(name: str) -> float:
            row = self._rows[name]
            return float(row["seconds"] or 0.0) / float(row["relinearizations"])

        if digits > 1:
            return of(_PAIR)
        ends = [self._rows[name]["relinearizations"] for name in (_FEW, _MANY)]
        found: Any = np.interp(count, ends, [of(_FEW), of(_MANY)])
        return float(found)

    def mod_switch(self, x: _Chunk, level: int) -> _Chunk:
        # Below the highest level it multiplies before it divides.
        taken = _DIVISION if x.level == self.engine.max_level else _SWITCH
        left = _Noise(divided=2.0 ** (x.noise.bits - taken - _SWITCH * (x.level - level - 1)))
        return _Chunk(level, left.plus(_SWITCHED))

    def rescale(self, x: _Chunk) -> _Chunk:
        return _Chunk(x.level - 1, _SWITCHED)

    def noise_excess(self, x: _Chunk) -> float:
        return x.noise.bits

    def noise_budget(self, x: _Chunk) -> float:
        """But for what a level has: only ciphertexts of one level are compared."""
        return -x.noise.bits

    def rotate_rows(self, x: _Chunk, key: Any, delta: int) -> _Chunk:
        return self._rotated(x, (-delta % (self.slot_count // 2)).bit_count())

    def rotate_columns(self, x: _Chunk, key: Any) -> _Chunk:
        return self._rotated(x, 1)

    def sum_slots(self, x: _Chunk, key: Any) -> _Chunk:
        return self._rotated(x, (self.slot_count - 1).bit_length())

    def _rotated(self, x: _Chunk, steps: int) -> _Chunk:
        self.machine.done["rotations"] += steps
        self._spend(steps * self._rows["product"]["seconds"])
        return x

    def bootstrap_many(self, chunks: Sequence[_Chunk], key: Any) -> list[_Chunk]:
        if any(one.level < 1 for one in chunks):
            raise LevelError("A ciphertext at level 0 is left to bootstrap; bootstrap it one operation earlier.")
        if any(one.level == 1 and one.noise.bits > _TAKEN for one in chunks):
            raise NoiseError("A ciphertext at level 1 has more noise than a bootstrap takes; bootstrap it earlier.")
        self.machine.done["refreshes"] += len(chunks)
        self._spend(len(chunks) * self._bootstrap)
        return [_Chunk(self.bootstrap_output_level or 0, _QUIET.times(2)) for _ in chunks]


class _Simulated(SlotSession):
    """A session on a shadow."""

    def down(self, chunk: Any, places: Any) -> Any:
        shadow: Any = self.engine
        count = int(places.size)
        found = self._switch.estimate("to_fhew", count=count)
        shadow.machine.seconds += found.seconds
        # So little noise that it goes up again.
        return Cells(np.zeros(count, dtype=np.int64), self._switch._side.variance(None))

    def up(self, cells: Any, bits: int) -> Any:
        shadow: Any = self.engine
        found = self._switch._side.plan_from_fhew(cells.variance, bits, "medium")
        shadow.machine.seconds += sum(stage.seconds for stage in found.stages)
        return _Chunk(found.output_level)


def simulated(engine: IntegerEngine, machine: Shadow) -> SlotSession:
    """A session without keys, whose arrays count what they take.

    Raises
    ------
    ParameterError
        If the plan has no FHEW engine, over which slots become floats.
    """
    if machine.digits is None:
        raise ParameterError("Slots of integers become floats by FHEW; pass fhew_engine= too.")
    made = object.__new__(_Simulated)
    switch = SchemeSwitch(engine, machine.digits.engine)
    keys: Any = _Keys()
    shadow: Any = _Engine(engine, machine)
    made.engine, made.keys, made._switch, made.ways = shadow, keys, switch, {}
    machine.beside = engine.keys_forecast() - engine.bootstrap_forecast()[1] + switch.key_bytes
    return made
