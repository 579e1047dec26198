"""The part of `SchemeSwitch` that says what a call would take, before a key exists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglet import checks, extra, forecast
from aglet.errors import ParameterError, RangeError
from aglet.fhew.table import Table
from aglet.scheme_switch.options import EstimateOptions
from aglet.scheme_switch.ranges import sign_range, spread
from aglet.scheme_switch.tables import STEEPEST, of_nibbles

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from aglet.fhew.engine import FhewEngine
    from aglet.scheme_switch.sides import Stage

__all__ = ["Estimates", "SchemeSwitchEstimate"]

_RANKS = ("argmin", "argmax", "top_k")
_REALS = ("sign", "compare", *_RANKS)
_SECONDS_OF_ONE = {"to-fhew": 10e-6, "from-fhew": 90e-6}
"""Of a value that is extracted or packed, beside what all have together, where nothing was measured."""


@dataclass(frozen=True)
class SchemeSwitchEstimate:
    """The cost of a call of `SchemeSwitch`, on fresh ciphertexts that the secret key encrypted.

    Values that go back are results of tables or gates.
    """

    rotations: int
    """The number of blind rotations, for all values together."""
    refreshes: int
    """The number of bootstraps of slots: 1 if the results go back (2 for tables of bytes), otherwise 0."""
    seconds: float
    """The time on one thread."""
    source: str
    """The source of `seconds`: "measured" if every part was recorded on this kind of machine, otherwise "modelled"."""
    key_bytes: int
    """The memory of the switching key, without the keys of both engines."""
    working_bytes: int
    """The peak memory of lookups or of the conversion back, without keys. Slots need in addition the memory of a
    bootstrap; see `Engine.memory_report` or `IntegerEngine.bootstrap_forecast`."""
    log2_failure: float
    """Base-2 logarithm of the probability that one result is wrong; minus infinity if nothing is decided."""
    level: int | None = None
    """The level of results that go back; None for messages of FHEW."""


@dataclass(frozen=True)
class Conversion:
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

    def estimate(self, what: str, **options: Unpack[EstimateOptions]) -> SchemeSwitchEstimate:
        """Estimate the cost of a call. It needs no key.

        Parameters
        ----------
        what
            The name of a method: "to_fhew", "from_fhew", "lookup" or "lookup_bytes", and for CKKS "sign", "compare",
            "argmin", "argmax" or "top_k". For "from_fhew" the inputs are results of gates or of a table of one message.
        count
            The number of slots, of pairs for "compare", or of rows for "argmin", "argmax" and "top_k"; 1 by default.
        bits
            For comparisons of real numbers, the precision, 16 by default; others have that of the FHEW engine. For
            integers that go back, messages are below 2^bits, as in `from_fhew`; all bits by default.
        row
            The number of slots in each row of "argmin", "argmax" and "top_k"; 2 by default.
        from_fhew
            True adds the conversion of the results back to slots. To CKKS, results of "lookup" are 0 or 1, and one bit
            goes back. The results of "argmin" and "argmax" with `one_hot` cost what those of "top_k" cost. To integers,
            tables of bytes are converted back twice, once for each nibble.
        size
            The size of the bootstrap key of CKKS; "large" by default.
        table
            For "lookup_bytes", the table. A steeper table leaves more noise in its results, and their conversion back
            to integers then uses more levels. By default the steepest table is assumed.
        bound
            The largest size of the real numbers that are compared, or (least, largest); 1 by default.

        Raises
        ------
        ParameterError
            If there is no such method, its results do not go back, it takes no table, or `bits` changes nothing.
        RangeError
            If a number of bits does not fit, rows are longer than the engine can rank, more values go back than there
            are slots, the table is not one of bytes, or the FHEW engine has no nibbles.
        LevelError
            If the integers do not have the levels for what goes back.
        """
        checks.known(options, EstimateOptions)
        side = self._side
        if checks.string("what", what) not in side.calls:
            raise ParameterError(f'There is no estimate of "{what}"; choose one of {", ".join(side.calls)}.')
        number, width = checks.count("count", options.get("count", 1), 1), checks.count("row", options.get("row", 2), 2)
        fine = checks.optional_count("bits", options.get("bits"), 1)
        returned = checks.flag("from_fhew", options.get("from_fhew", False)) or what == "from_fhew"
        side.check_estimate(what, fine, returned)
        pair, size = self._pair(what, options.get("table")), checks.string("size", options.get("size", "large"))
        results = number * (width if what == "top_k" else 1)
        if returned:
            self._check_slots(results)
        calls = self._calls(what, number, (fine, options.get("bound", 1.0)), width, pair)
        conversions = []
        if what != "from_fhew":
            conversions.append(self._to_fhew(number * (width if what in _RANKS else 1), size))
        if returned:
            after = side.variance(None) if what == "to_fhew" else self._variance_after(pair)
            conversions += [self._from_fhew(results, fine, after, size)] * (2 if what == "lookup_bytes" else 1)
        return self._whole(calls, conversions)

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

    def _to_fhew(self, values: int, size: str) -> Conversion:
        record = self._recorded("to-fhew", values, size)
        if record is not None:
            return Conversion(float(record["seconds"]), True)
        return Conversion(self._modelled("to-fhew", self._side.stages_to_fhew(size), values), False)

    def _from_fhew(self, values: int, bits: int | None, variance: float, size: str) -> Conversion:
        """The conversion from FHEW of values that have this variance."""
        plan = self._side.plan_from_fhew(variance, bits, size)
        record = self._recorded("from-fhew", values, size, **plan.sizes)
        known = record is not None
        seconds = self._modelled("from-fhew", plan.stages, values) if record is None else float(record["seconds"])
        return Conversion(
            seconds, known, 1, self._side.core.packing_bytes(values), plan.log2_failure, plan.output_level
        )

    def _recorded(self, conversion: str, values: int, size: str, **more: Any) -> Mapping[str, Any] | None:
        """The record of a conversion between these sets; None where nothing is known."""
        side, known = self._side, extra.records()
        if known is None:
            return None
        presets, slots = (side.engine.preset, side.fhew_engine.preset), side.engine.slot_count
        kind, keys = f"{side.record}-{conversion}", size if side.family == "ckks" else None
        found: Mapping[str, Any] | None = known.switch(kind, presets, slots, keys, values, **more)
        return found

    def _check_slots(self, values: int) -> None:
        """Refuse more values from FHEW than there are slots.

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
        """On the torus, of results: of tables of two nibbles, or of one rotation where there are none."""
        fhew: FhewEngine = self._side.fhew_engine
        if not pair:
            return fhew.noise["bootstrap"] ** 2
        return fhew._core.tree_variance([table.pair_values(2**fhew.bits) for table in pair], precise=True)

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

    def _whole(self, calls: _Calls, conversions: Iterable[Conversion]) -> SchemeSwitchEstimate:
        """The cost of these calls together with these conversions."""
        rotations, seconds, measured, working, failures = self._fhew(calls)
        refreshes, level = 0, None
        for conversion in conversions:
            seconds, measured = seconds + conversion.seconds, measured and conversion.measured
            refreshes, working = refreshes + conversion.refreshes, max(working, conversion.working_bytes)
            level = conversion.level if conversion.level is not None else level
            failures.append(conversion.log2_failure)
        source, failure = "measured" if measured else "modelled", _sum_of_log2(failures)
        return SchemeSwitchEstimate(
            rotations, refreshes, seconds, source, self._side.core.key_bytes, working, failure, level
        )

    def _modelled(self, conversion: str, stages: list[Stage], values: int) -> float:
        """The seconds of a conversion of so many values, by its stages."""
        return forecast.TYPICAL_FACTOR * sum(stage.seconds for stage in stages) + values * _SECONDS_OF_ONE[conversion]

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
