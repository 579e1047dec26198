"""What circuits on digits need of a machine: free sums, and functions of sums, each a bootstrap for every element.

Digits lie at m/32 of the torus, as the padded messages of an engine of four bits do. A sum has up to 16 values, and a
function of it is a lookup table. Fewer values lie further apart (`step`). Sums from -15 to 15 go into odd functions:
half a torus further on, a table gives the negative.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from aglet.arrays.digits.sums import AnyDigit, Digit, Sum
from aglet.fhew.engine import FhewEngine
from aglet.fhew.estimate import Counted
from aglet.fhew.table import Table

__all__ = ["MESSAGES", "Machine", "Tables"]

MESSAGES = 16
"""Messages of an engine whose digits have two bits."""

_MOST_COSTS = 4096
_TREES = 16
"""Tables of several messages whose costs are kept, at most half a megabyte each."""
_FEW = 5
"""As many digits have a sum that a table reads."""

Function = Callable[[int], int]
_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Tables:
    """Functions of a sum as lookup tables of one bootstrap."""

    tables: tuple[tuple[int, ...], ...]
    """The values at the messages that are multiples of `step`, with `less` added."""
    step: int
    low: int
    """The sum that message 0 stands for."""
    less: tuple[int, ...]
    """For each function what is taken off the result: a table has no negative values."""
    ranges: tuple[tuple[int, int], ...]
    """The range of each function."""
    kind: str = "table"
    """"table", "odd", or "sign": 1 for sums of 0 or more, else 0, from -16 to 15."""

    @classmethod
    def of(cls, functions: tuple[Function, ...], low: int, high: int) -> Tables:
        """Functions of sums from `low` to `high`, at most 16 values."""
        boxes = max(2, 1 << (high - low).bit_length())
        if boxes > MESSAGES:
            raise AssertionError(f"A sum from {low} to {high} has too many values for one table.")
        values = [[function(min(low + i, high)) for i in range(boxes)] for function in functions]
        less = tuple(max(0, -min(row)) for row in values)
        tables = tuple(tuple(v + add for v in row) for row, add in zip(values, less, strict=True))
        return cls(tables, MESSAGES // boxes, low, less, tuple((min(row), max(row)) for row in values))

    @classmethod
    def odd(cls, function: Function) -> Tables:
        """A function with f(m - 16) = -f(m), given for 0 to 15, of sums from -15 to 15."""
        values = tuple(function(m) for m in range(MESSAGES))
        both = [*values, *(-v for v in values[1:])]
        return cls((values,), 1, 0, (0,), ((min(both), max(both)),), "odd")

    def each(self) -> list[Tables]:
        """The functions one at a time."""
        columns = zip(self.tables, self.less, self.ranges, strict=True)
        return [replace(self, tables=(row,), less=(less,), ranges=(ends,)) for row, less, ends in columns]

    def at(self, sums: Any) -> list[Any]:
        """The functions of sums in the clear."""
        if self.kind == "sign":
            return [(np.asarray(sums) >= 0).astype(np.int64)]
        messages = np.asarray((sums - self.low) * self.step)
        index, sign = messages % MESSAGES // self.step, np.where(messages // MESSAGES % 2, -1, 1)
        return [np.asarray(row)[index] * sign - less for row, less in zip(self.tables, self.less, strict=True)]


_of = functools.lru_cache(maxsize=1024)(Tables.of)
_odd = functools.lru_cache(maxsize=64)(Tables.odd)
_SIGN = Tables(((0,) * MESSAGES,), 1, 0, (0,), ((0, 1),), "sign")
"""Its table says what it costs."""


class Machine(ABC):
    """Sums and functions of digits. A subclass says what a bootstrap is.

    Results of bootstraps are fresh. Digits with more noise, as those of `digit`, lie in 0 to 3. They are refreshed
    where a sum of them would be read wrongly too often.
    """

    engine: FhewEngine
    rotations: int
    """The blind rotations so far, refreshes included."""

    def __init__(self, engine: FhewEngine) -> None:
        self.engine, self.rotations = engine, 0
        # What was estimated of tables on inputs of a noise variance: the same few over and over.
        self._costs: dict[tuple[Tables, float], Counted] = {}
        self._trees: dict[tuple[str, float, tuple[bytes, ...]], Counted] = {}

    @abstractmethod
    def encrypt(self, messages: Any) -> Any:
        """Fresh ciphertexts of messages."""

    @abstractmethod
    def decrypt(self, cells: Any) -> Any:
        """The messages of ciphertexts."""

    @abstractmethod
    def variance(self, cells: Any) -> float:
        """The largest noise variance of ciphertexts."""

    @abstractmethod
    def lookup(self, cells: Any, tables: Tables) -> Sequence[Any]:
        """The cells of each function, from those of the messages of its table."""

    @abstractmethod
    def lookup_tree(self, cells: Sequence[Any], tables: list[bytes]) -> Sequence[Any]:
        """The cells of each table of two to four messages, the first of which counts most.

        With one more, the message before the last is there as two digits, the high one first.
        """

    @abstractmethod
    def compress(self, cells: Any) -> Any:
        """Messages of four bits, packed and rounded for sending. They decrypt, and nothing else."""

    @abstractmethod
    def nearest_cells(self, words: Any, count: int) -> Sequence[Any]:
        """The lowest digits of the whole numbers nearest to numbers modulo a power of two."""

    @abstractmethod
    def half_way(self, words: Any, bits: int) -> float:
        """How near to half way between two whole numbers such numbers may lie, and become either."""

    @property
    @abstractmethod
    def allowed(self) -> float:
        """Base-2 logarithm of the largest accepted probability of a wrong result."""

    # What circuits call

    def digit(self, total: Sum, within: tuple[int, int] | None = None) -> AnyDigit:
        """A sum as a digit, without a bootstrap. `within` states a smaller range than follows from the terms."""
        if not total.terms:
            return total.clear
        low, high = (total.low, total.high) if within is None else within
        (first, weight), *others = total.terms
        if not others and isinstance(weight, int) and weight == 1 and not total.clear.any():
            return first if within is None else Digit(first.cells, low, high)
        return Digit(_formed(total, 1, 0), low, high)

    def digits(self, totals: Sequence[Sum], within: tuple[int, int] | None = None) -> list[AnyDigit]:
        """`digit` of each sum."""
        return [self.digit(total, within) for total in totals]

    def read(self, totals: Sequence[Sum], *functions: Function, fresh: bool = False) -> list[list[AnyDigit]]:
        """Functions of sums of up to 16 values: for each function, its digits. All sums are read in one batch.

        Several functions share a bootstrap if the set allows it. With `fresh` they do not if their results would have
        too much noise for a sum of a few.
        """
        low, high = min(total.low for total in totals), max(total.high for total in totals)
        free = [self._free(totals, function, low, high) for function in functions]
        others = tuple(function for function, known in zip(functions, free, strict=True) if known is None)
        found = iter(self._read(totals, _of(others, low, high), fresh) if others else ())
        return [next(found) if known is None else known for known in free]

    def _free(self, totals: Sequence[Sum], function: Function, low: int, high: int) -> list[AnyDigit] | None:
        """The digits of a function that has one value, or changes no digit: no bootstrap is needed."""
        values = [function(value) for value in range(low, high + 1)]
        if len(set(values)) == 1:
            return [np.array(values[0], dtype=np.int64)] * len(totals)
        return self.digits(totals) if low >= 0 and high <= 3 and values == list(range(low, high + 1)) else None

    def read_odd(self, totals: Sequence[Sum], function: Function) -> list[AnyDigit]:
        """A function with f(m - 16) = -f(m) of sums from -15 to 15."""
        if any(max(-total.low, total.high) >= MESSAGES for total in totals):
            raise AssertionError("A sum leaves -15 to 15.")
        return self._read(totals, _odd(function))[0]

    def sign(self, totals: Sequence[Sum]) -> list[AnyDigit]:
        """1 where a sum from -16 to 15 is 0 or more, else 0."""
        if any(total.low < -MESSAGES or total.high >= MESSAGES for total in totals):
            raise AssertionError("A sum leaves -16 to 15.")
        return self._read(totals, _SIGN)[0]

    def readable(self, total: Sum, function: Function | None = None) -> bool:
        """Whether a function of a sum, or its sign, is wrong seldom enough.

        Results of bootstraps of the same input err alike, so a sum of them can have too much noise although each is
        fresh.
        """
        if not total.terms:
            return True
        tables = _SIGN if function is None else _of((function,), total.low, total.high)
        return self.estimate(tables, _formed(total, tables.step, -tables.low * tables.step))[1] <= self.allowed

    def readable_refreshed(self, total: Sum, function: Function) -> bool:
        """`readable`, after a refresh of the terms if they have too much noise."""
        return self.readable(total, function) or (self._refresh_terms([total]) and self.readable(total, function))

    def read_tree(self, totals: Sequence[Sum], tables: list[bytes], digits: Sequence[Sum] = ()) -> list[AnyDigit]:
        """Tables of two to four sums from 0 to 15, one of them encrypted at least; the first sum counts most.

        The sum before the last may be there as its two digits too, the high one first. It is taken so if that takes
        fewer rotations, and does not leave too much noise.
        """
        split = ("lookup_split", [*totals[:-2], *digits, totals[-1]])
        ways = [*([split] if digits else []), ("lookup2", totals)]

        fewest = _fewest(tables) if digits else 0

        def fewer(cost: Counted) -> bool:
            return cost.log2_failure <= self.allowed and cost.rotations < fewest

        def best() -> tuple[Counted, list[Any]]:
            found: list[tuple[Counted, list[Any]]] = []
            for what, sums in ways:
                # A plan of large tables takes as long as some rotations.
                if found and fewer(found[0][0]):
                    break
                cells = self._together(sums)
                most = max(self.variance(one) for one in cells)
                found.append((self._cost_of_tree(what, tables, most), cells))
            found.sort(key=lambda way: (way[0].log2_failure > self.allowed, way[0].rotations, len(way[1])))
            return found[0]

        cost, cells = best()
        if cost.log2_failure > self.allowed and self._refresh_terms(totals):
            cost, cells = best()
        self.rotations += cost.rotations * cells[0].size
        results = self.lookup_tree(cells, tables)
        values = [np.frombuffer(row, np.uint8) for row in tables]
        return [Digit(one, int(row.min()), int(row.max())) for one, row in zip(results, values, strict=True)]

    def _cost_of_tree(self, what: str, tables: list[bytes], variance: float) -> Counted:
        """Of one element. A plan of large tables takes as long as some rotations."""
        key = (what, variance, tuple(tables))
        return _kept(self._trees, _TREES, key, lambda: self.engine._counted(what, 1, tables, {}, variance))

    def nearest(self, words: Any, bits: int, count: int) -> Sequence[Any]:
        """The cells of the lowest digits of the whole numbers nearest to numbers modulo `2^bits`, the lowest first."""
        cost = self.engine._counted("nearest", words.size, [], {"bits": bits, "low": count}, self.variance(words))
        self.rotations += cost.rotations
        return self.nearest_cells(words, count)

    def _together(self, totals: Sequence[Sum]) -> list[Any]:
        digits = [self.digit(total) for total in totals]
        shape = next(digit.cells.shape for digit in digits if isinstance(digit, Digit))
        return [self.encrypted(digit, shape, digits).cells for digit in digits]

    def _read(self, totals: Sequence[Sum], tables: Tables, fresh: bool = False) -> list[list[AnyDigit]]:
        found: list[list[AnyDigit]] = [[row] * len(totals) for row in (np.zeros(0, dtype=np.int64),) * len(tables.less)]
        encrypted = [at for at, total in enumerate(totals) if total.terms]
        for at, total in enumerate(totals):
            if not total.terms:
                for row, value in zip(found, tables.at(total.clear), strict=True):
                    row[at] = value
        if encrypted:
            results = self._looked_up([totals[at] for at in encrypted], tables, fresh)
            for row, cells, (low, high) in zip(found, results, tables.ranges, strict=True):
                for i, at in enumerate(encrypted):
                    row[at] = Digit(cells[i], low, high)
        return found

    def _looked_up(self, totals: Sequence[Sum], tables: Tables, fresh: bool) -> list[Any]:
        def formed() -> Any:
            return np.stack([_formed(total, tables.step, -tables.low * tables.step) for total in totals])

        cells = formed()
        if self.estimate(tables, cells)[1] > self.allowed and self._refresh_terms(totals):
            cells = formed()
        apart = tables.each() if fresh and self._noisy(tables, cells) else [tables]
        self.rotations += sum(self.estimate(one, cells)[0] for one in apart)
        results = [row for one in apart for row in self.lookup(cells, one)]
        return [row - less if less else row for row, less in zip(results, tables.less, strict=True)]

    def _noisy(self, tables: Tables, cells: Any) -> bool:
        """Whether a sum of a few results of tables that share a bootstrap is read wrongly too often."""
        variance = _FEW * max(self.growth(tables, cells)) * self.engine.noise["bootstrap"] ** 2
        return self._counted(tables.each()[0], 1, variance).log2_failure > self.allowed

    def growth(self, tables: Tables, cells: Any) -> list[float]:
        """For each table the variance of its results, over that of a bootstrap.

        It is 1, unless tables are multiples of one that is rotated (eprint 2018/622): then their steps multiply noise.
        """
        count, noise = len(tables.tables), self.engine.noise
        if count == 1 or self.estimate(tables, cells)[0] == count * cells.size:
            return [1.0] * count
        # Interleaved tables have no more noise, and need exponents that are rounded so much more.
        rounded = noise["mod_switch"] ** 2 * 4.0 ** (count - 1).bit_length()
        variance = self.variance(cells) + noise["key_switch"] ** 2 + rounded
        distance = noise["distance"]["padded"] * tables.step
        if math.erfc(distance / math.sqrt(2 * variance)) <= 2.0**-128:
            return [1.0] * count
        return [float((np.diff([*row, -row[0]]) ** 2).sum()) for row in tables.tables]

    def estimate(self, tables: Tables, cells: Any) -> tuple[int, float]:
        """The rotations of a lookup, and the base-2 logarithm of the probability that a result is wrong."""
        key = (tables, self.variance(cells))
        found = _kept(self._costs, _MOST_COSTS, key, lambda: self._counted(tables, 1, key[1]))
        return found.rotations * cells.size, found.log2_failure

    def _counted(self, tables: Tables, count: int, variance: float) -> Counted:
        made = [Table(row) for row in tables.tables]
        return self.engine._counted("lookup", count, made, {"step": tables.step}, variance)

    def _refresh_terms(self, totals: Sequence[Sum]) -> bool:
        """Refresh the terms that have more noise than a bootstrap leaves. Return whether there were any."""
        fresh = 1.01 * self.engine.noise["bootstrap"] ** 2
        terms = {id(digit): digit for total in totals for digit, _ in total.terms}
        noisy = [digit for digit in terms.values() if self.variance(digit.cells) > fresh]
        self.refresh(noisy)
        return bool(noisy)

    def refresh(self, digits: Sequence[AnyDigit]) -> None:
        """Bootstrap encrypted digits in place, in one batch."""
        noisy = [digit for digit in digits if isinstance(digit, Digit)]
        if not noisy:
            return
        [found] = self._read([Sum.of((digit, 1)) for digit in noisy], _of((_identity,), 0, 3))
        for old, new in zip(noisy, found, strict=True):
            old.cells = new.cells  # type: ignore[union-attr]

    def picked(self, mask: Any, one: AnyDigit, other: AnyDigit) -> AnyDigit:
        """The elements of one digit where a mask in the clear is true, else those of the other."""
        shape = mask.shape
        if mask.all() or not mask.any():
            return one if mask.all() else other
        if not (isinstance(one, Digit) or isinstance(other, Digit)):
            return np.where(mask, one, other)
        pair = [self.encrypted(digit, shape, (one, other)) for digit in (one, other)]
        places = np.arange(mask.size).reshape(shape)
        flat: Any = np.concatenate([digit.cells.reshape(-1) for digit in pair])
        low, high = min(digit.low for digit in pair), max(digit.high for digit in pair)
        return Digit(flat[np.where(mask, places, places + mask.size)], low, high)

    @staticmethod
    def encrypted(digit: AnyDigit, shape: tuple[int, ...], like: Sequence[AnyDigit]) -> Digit:
        """A digit as ciphertexts: those of a number in the clear are without noise, and everybody can read them."""
        if isinstance(digit, Digit):
            return digit
        cells = next(one.cells for one in like if isinstance(one, Digit) and one.cells.size)
        value = np.broadcast_to(digit, shape)
        zero: Any = np.broadcast_to(cells.reshape(-1)[:1] * 0, (value.size,))
        low, high = (int(value.min()), int(value.max())) if value.size else (0, 0)
        return Digit((zero + value.reshape(-1)).reshape(shape), low, high)


def _kept(costs: dict[_Key, Counted], most: int, key: _Key, counted: Callable[[], Counted]) -> Counted:
    """A cost that is counted once, of so many that are kept."""
    found = costs.get(key)
    if found is None:
        if len(costs) >= most:
            costs.clear()
        # Another thread may clear them at once.
        found = costs[key] = counted()
    return found


def _fewest(tables: list[bytes]) -> int:
    """At least as many rotations take tables of several messages that are not split, for each element.

    There is one for all rows, and one for each choice among 16 rows that differ.
    """
    pair = MESSAGES**2
    groups = {row[at : at + pair] for row in tables for at in range(0, len(row), pair)}
    return 1 + sum(group != group[:MESSAGES] * MESSAGES for group in groups)


def _identity(value: int) -> int:
    return value


def _formed(total: Sum, factor: int, offset: int) -> Any:
    """The ciphertexts of a sum times a factor, plus an offset."""
    cells: Any = None
    for digit, weight in total.terms:
        scaled = np.asarray(weight) * factor
        if scaled.ndim == 0 and int(scaled) in (1, -1) and cells is not None:
            cells = cells + digit.cells if int(scaled) == 1 else cells - digit.cells
            continue
        term = digit.cells if scaled.ndim == 0 and int(scaled) == 1 else digit.cells * scaled
        cells = term if cells is None else cells + term
    clear = total.clear * factor + offset
    return cells + clear if np.any(clear) else cells
