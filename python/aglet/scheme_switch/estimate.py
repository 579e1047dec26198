"""The part of `SchemeSwitch` that says what a call would take, before a key exists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglet import checks, extra, forecast
from aglet.errors import ParameterError, RangeError
from aglet.fhew.table import Table
from aglet.scheme_switch.ranges import sign_range, spread
from aglet.scheme_switch.tables import STEEPEST, of_nibbles

if TYPE_CHECKING:
    from aglet._core import KeySize
    from aglet.fhew.engine import FhewEngine
    from aglet.scheme_switch.sides import Stage

__all__ = ["Estimates", "SchemeSwitchEstimate"]

_RANKS = ("argmin", "argmax", "top_k")
_REALS = ("sign", "compare", *_RANKS)
_SECONDS_OF_ONE = {"to-fhew": 10e-6, "from-fhew": 90e-6}
"""Of a value that is extracted or packed, beside what all have together, where nothing was measured."""


@dataclass(frozen=True)
class SchemeSwitchEstimate:
    """What a call by scheme switching would take, on fresh ciphertexts that the secret key encrypted.

    What goes back are results of tables or gates.
    """

    rotations: int
    """Blind rotations of all values together."""
    refreshes: int
    """Bootstraps of slots: one if the results go back (for tables of bytes two), else none."""
    seconds: float
    """On one thread."""
    source: str
    """Where `seconds` come from: "measured" if every part was recorded on this kind of machine, else "modelled"."""
    key_bytes: int
    """Of the switching key in memory; those of both engines come beside it."""
    working_bytes: int
    """Of lookups or of what goes back at their peak, beside keys; slots need what a bootstrap needs, by
    `Engine.memory_report` or `IntegerEngine.bootstrap_forecast`."""
    log2_failure: float
    """Base-2 logarithm of the probability that one result is wrong; minus infinity where nothing is decided."""
    level: int | None = None
    """That results have which go back; None of messages of FHEW."""


@dataclass(frozen=True)
class Way:
    """What a conversion in one direction takes."""

    seconds: float
    """On one thread."""
    measured: bool
    refreshes: int = 0
    working_bytes: int = 0
    log2_failure: float = -math.inf
    """Of one value."""
    level: int | None = None
    """Of slots that came back."""


_Calls = list[tuple[str, int, list[Table], dict[str, int], float, int]]
"""Calls of `FhewEngine`: name, how many, tables, options, the variance of what they read, how many in a result."""


class Estimates:
    """Mixed into `SchemeSwitch`."""

    _side: Any

    def estimate(
        self,
        what: str,
        *,
        count: int = 1,
        bits: int | None = None,
        row: int = 2,
        from_fhew: bool = False,
        size: KeySize = "large",
        table: Any = None,
        bound: Any = 1.0,
    ) -> SchemeSwitchEstimate:
        """What a call would take; it needs no key.

        Parameters
        ----------
        what
            The name of a method: "to_fhew", "from_fhew", "lookup" or "lookup_bytes", and of CKKS "sign", "compare",
            "argmin", "argmax" or "top_k". What "from_fhew" takes are results of a table of one message or of gates.
        count
            Slots, or pairs of them for "compare", or rows for "argmin", "argmax" and "top_k".
        bits
            The precision of what compares real numbers, 16 if it is left out; others have that of the FHEW engine. Of
            integers that go back: they are below 2^bits, as in `from_fhew`; all bits if it is left out.
        row
            Slots in each row of "argmin", "argmax" and "top_k".
        from_fhew
            With the way back of the results. To CKKS those of "lookup" are 0 or 1: one bit of theirs goes back. The
            bits that "argmin" and "argmax" give with `one_hot` take what those of "top_k" do. To integers tables of
            bytes have two ways back.
        size
            Of the bootstrap key of CKKS.
        table
            Of "lookup_bytes", as it takes it: the steeper it is, the more noise its results have, and the more levels
            their way back to integers takes. Without it the steepest is supposed.
        bound
            The largest size of real numbers that are compared, or (least, largest).

        Raises
        ------
        ParameterError
            If there is no such method, its results do not go back, it takes no table, or `bits` says nothing.
        RangeError
            If a number of bits does not fit, rows are longer than what is ranked, more values go back than there are
            slots, the table is none of bytes, or the FHEW engine has no nibbles.
        LevelError
            If the integers have not the levels for what goes back.
        """
        side = self._side
        if checks.word("what", what) not in side.calls:
            raise ParameterError(f'There is no estimate of "{what}"; choose one of {", ".join(side.calls)}.')
        number, width = checks.count("count", count, 1), checks.count("row", row, 2)
        fine = checks.optional_count("bits", bits, 1)
        raised = checks.flag("from_fhew", from_fhew) or what == "from_fhew"
        side.check_estimate(what, fine, raised)
        pair, word = self._pair(what, table), checks.word("size", size)
        results = number * (width if what == "top_k" else 1)
        if raised:
            self._check_slots(results)
        calls = self._calls(what, number, (fine, bound), width, pair)
        ways = []
        if what != "from_fhew":
            ways.append(self._down(number * (width if what in _RANKS else 1), word))
        if raised:
            after = side.variance(None) if what == "to_fhew" else self._variance_after(pair)
            ways += [self._up(results, fine, after, word)] * (2 if what == "lookup_bytes" else 1)
        return self._whole(calls, ways)

    def _calls(self, what: str, count: int, read: tuple[int | None, Any], row: int, pair: list[Table]) -> _Calls:
        if what.startswith("lookup"):
            return self._tables(what, count, self._side.variance(8 if what == "lookup_bytes" else None), pair)
        if what not in _REALS:
            return []
        fhew = self._side.fhew_engine
        most = 2**fhew.bits
        if what in _RANKS and row > most:
            raise RangeError(f"{row} slots in a row are not ranked by this FHEW engine; give 2 to {most}.")
        pairs = row * (row - 1) // 2 if what in _RANKS else 1
        bits, size = read[0] or 16, sign_range(read[1]) if what == "sign" else spread(read[1])
        variance = self._side.core.fresh_variance(bits, True, 2 if what == "compare" else 1, size)
        # Ranks subtract what went to FHEW, whose noises count as dependent: twice the deviation.
        variance *= 4 if what in _RANKS else 1
        calls: _Calls = [("sign", count * pairs, [], {"bits": bits}, variance, pairs)]
        if what in _RANKS:
            last = Table([int(n + 1 >= row) for n in range(most)])
            after = fhew.noise["bootstrap"] ** 2
            calls.append(("lookup", count * row, [last], {}, (row - 1) * after, row))
        return calls

    def _down(self, values: int, size: str) -> Way:
        record = self._recorded("to-fhew", values, size)
        if record is not None:
            return Way(float(record["seconds"]), True)
        return Way(self._modelled("to-fhew", self._side.stages_to_fhew(size), values), False)

    def _up(self, values: int, bits: int | None, variance: float, size: str) -> Way:
        """The way back of values that have this variance."""
        way = self._side.plan_from_fhew(variance, bits, size)
        record = self._recorded("from-fhew", values, size, **way.sizes)
        known = record is not None
        seconds = self._modelled("from-fhew", way.stages, values) if record is None else float(record["seconds"])
        return Way(seconds, known, 1, self._side.core.packing_bytes(values), way.log2_failure, way.output_level)

    def _recorded(self, way: str, values: int, size: str, **more: Any) -> Mapping[str, Any] | None:
        """What was measured of a way between these sets; None where nothing is known."""
        side, known = self._side, extra.records()
        if known is None:
            return None
        presets, slots = (side.engine.preset, side.fhew_engine.preset), side.engine.slot_count
        kind, keys = f"{side.record}-{way}", size if side.family == "ckks" else None
        found: Mapping[str, Any] | None = known.switch(kind, presets, slots, keys, values, **more)
        return found

    def _check_slots(self, values: int) -> None:
        """Refuse more values on their way back than there are slots.

        Raises
        ------
        RangeError
            If there are more.
        """
        slots = self._side.engine.slot_count
        if values > slots:
            raise RangeError(f"{values} values do not fit {slots} slots; bring them back in parts.")

    def _pair(self, what: str, table: Any) -> list[Table]:
        """What "lookup_bytes" reads both nibbles with: this table of bytes, or the steepest there is. None of others.

        Raises
        ------
        ParameterError
            If another call is given a table.
        RangeError
            If there is no such table, or the engine has no nibbles.
        """
        if what == "lookup_bytes":
            return of_nibbles(self._side.fhew_engine, STEEPEST if table is None else table)
        if table is not None:
            raise ParameterError(f'table= says nothing of "{what}": only tables of bytes differ. Leave it out.')
        return []

    def _variance_after(self, pair: list[Table]) -> float:
        """In turns squared, of results: of tables of two nibbles, or of one rotation where there are none."""
        fhew: FhewEngine = self._side.fhew_engine
        if not pair:
            return fhew.noise["bootstrap"] ** 2
        return fhew._core.pair_variance([table.pair_values(2**fhew.bits) for table in pair])

    def _tables(self, what: str, count: int, read: float, pair: list[Table]) -> _Calls:
        """Those of "lookup" and "lookup_bytes" on what goes to FHEW with this variance.

        Raises
        ------
        ParameterError
            If the FHEW engine has gates and no tables.
        """
        if self._side.fhew_engine.bits == 1:
            raise ParameterError("Bits have gates and no tables; make the switch with FhewEngine(bits=4).")
        if what == "lookup":
            return [("lookup", count, [Table(list(range(2**self._side.fhew_engine.bits)))], {}, read, 1)]
        after = self._variance_after([])
        return [("digits", count, [], {"bits": 8}, read, 1), ("lookup2", count, pair, {}, after, 1)]

    def _whole(self, calls: _Calls, ways: Iterable[Way]) -> SchemeSwitchEstimate:
        """What these calls take, with these ways."""
        rotations, seconds, measured, working, failures = self._fhew(calls)
        refreshes, level = 0, None
        for way in ways:
            seconds, measured = seconds + way.seconds, measured and way.measured
            refreshes, working = refreshes + way.refreshes, max(working, way.working_bytes)
            level = way.level if way.level is not None else level
            failures.append(way.log2_failure)
        source, failure = "measured" if measured else "modelled", _sum_of_log2(failures)
        return SchemeSwitchEstimate(
            rotations, refreshes, seconds, source, self._side.core.key_bytes, working, failure, level
        )

    def _modelled(self, way: str, stages: list[Stage], values: int) -> float:
        """Seconds of a way for so many values, by its stages."""
        return forecast.TYPICAL_FACTOR * sum(stage.seconds for stage in stages) + values * _SECONDS_OF_ONE[way]

    def _fhew(self, calls: _Calls) -> tuple[int, float, bool, int, list[float]]:
        """Rotations, seconds and whether they were measured, bytes, and log2 of the failures that a result may have."""
        engine = self._side.fhew_engine
        found = [(engine._estimated(name, n, made, given, v), n, each) for name, n, made, given, v, each in calls]
        threads = engine.thread_count
        measured = all(one.source != "modelled" for one, _, _ in found)
        # Rotations run side by side in rounds, the last of which may be short.
        rounds = [math.ceil(one.rotations / threads) for one, _, _ in found]
        seconds = sum(one.seconds * one.rotations / n for (one, _, _), n in zip(found, rounds, strict=True) if n)
        rotations = sum(one.rotations for one, _, _ in found)
        working = max((one.working_bytes for one, _, _ in found), default=0)
        return rotations, seconds, measured, working, [one.log2_failure + math.log2(each) for one, _, each in found]


def _sum_of_log2(terms: list[float]) -> float:
    most = max(terms, default=-math.inf)
    return most if math.isinf(most) else most + math.log2(sum(2.0 ** (term - most) for term in terms))
