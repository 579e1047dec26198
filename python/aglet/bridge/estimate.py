"""The part of `Bridge` that says what a call would take, before a key exists; `IntegerBridge` shares some of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglet import _core, checks, forecast, planned
from aglet.bridge.ranges import sign_range, spread
from aglet.bridge.tables import STEEPEST, of_nibbles
from aglet.errors import ParameterError, RangeError
from aglet.lookup import records
from aglet.lookup.table import Table

if TYPE_CHECKING:
    from aglet._core import KeySize
    from aglet.ckks.engine import Engine
    from aglet.lookup.engine import LookupEngine

__all__ = ["DOWN", "Between", "BridgeEstimate", "Estimates", "Stage", "Way"]

_CALLS = ("to_lookup", "from_lookup", "lookup", "lookup_bytes", "sign", "compare", "argmin", "argmax", "top_k")
_PLACES = ("argmin", "argmax")
_RANKS = (*_PLACES, "top_k")
_REALS = ("sign", "compare", *_RANKS)
DOWN = ("slots_to_coeffs", "scale_down")
"""How the names of the stages begin that a way down has; a way up has the others."""
_SECONDS_OF_ONE = {"down": 10e-6, "up": 90e-6}
"""Of a value that is extracted or packed, beside what all have together, where nothing was measured."""


@dataclass(frozen=True)
class BridgeEstimate:
    """What a call over a bridge would take, on fresh ciphertexts that the secret key encrypted.

    What goes up are results of tables or gates.
    """

    rotations: int
    """Blind rotations of all values together."""
    refreshes: int
    """Bootstraps of slots: one if the results go up (for tables of bytes two), else none."""
    seconds: float
    """On one thread."""
    source: str
    """Where `seconds` come from: "measured" if every part was recorded on this kind of machine, else "modelled"."""
    key_bytes: int
    """Of the bridge key in memory; those of both engines come beside it."""
    working_bytes: int
    """Of look-ups or of what goes up at their peak, beside keys; slots need what a bootstrap needs, by
    `Engine.memory_report` or `IntegerEngine.bootstrap_forecast`."""
    log2_failure: float
    """Base-2 logarithm of the probability that one result is wrong; minus infinity where nothing is decided."""
    level: int | None = None
    """That results have which go up; None of messages of look-ups."""


@dataclass(frozen=True)
class Way:
    """What a way down or up takes."""

    seconds: float
    """On one thread."""
    measured: bool
    refreshes: int = 0
    working_bytes: int = 0
    log2_failure: float = -math.inf
    """Of one value."""
    level: int | None = None
    """Of slots that came up."""


@dataclass(frozen=True)
class Stage:
    """One stage of a way, by the model."""

    name: str
    work: _core.Work
    seconds: float
    """Of one thread."""


_Calls = list[tuple[str, int, list[Table], dict[str, int], float, int]]
"""Calls of `LookupEngine`: name, how many, tables, options, the variance of what they read, how many in a result."""


class Between:
    """What estimates of every bridge have."""

    _core: Any
    _engine: Any
    _lookup_engine: LookupEngine

    def _check_slots(self, values: int) -> None:
        """Refuse more values on their way up than there are slots.

        Raises
        ------
        RangeError
            If there are more.
        """
        slots = self._engine.slot_count
        if values > slots:
            raise RangeError(f"{values} values do not fit {slots} slots; bring them up in parts.")

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
            return of_nibbles(self._lookup_engine, STEEPEST if table is None else table)
        if table is not None:
            raise ParameterError(f'table= says nothing of "{what}": only tables of bytes differ. Leave it out.')
        return []

    def _variance_after(self, pair: list[Table]) -> float:
        """In turns squared, of results: of tables of two nibbles, or of one rotation where there are none."""
        lookups = self._lookup_engine
        if not pair:
            return lookups.noise["bootstrap"] ** 2
        return lookups._core.pair_variance([table.pair_values(2**lookups.bits) for table in pair])

    def _tables(self, what: str, count: int, read: float, pair: list[Table]) -> _Calls:
        """Those of "lookup" and "lookup_bytes" on what comes down with this variance.

        Raises
        ------
        ParameterError
            If the look-up engine has gates and no tables.
        """
        if self._lookup_engine.bits == 1:
            raise ParameterError("Bits have gates and no tables; make the bridge with LookupEngine(bits=4).")
        if what == "lookup":
            return [("lookup", count, [Table(list(range(2**self._lookup_engine.bits)))], {}, read, 1)]
        after = self._variance_after([])
        return [("digits", count, [], {"bits": 8}, read, 1), ("lookup2", count, pair, {}, after, 1)]

    def _whole(self, calls: _Calls, ways: Iterable[Way]) -> BridgeEstimate:
        """What these calls take, with these ways."""
        rotations, seconds, measured, working, failures = self._lookups(calls)
        refreshes, level = 0, None
        for way in ways:
            seconds, measured = seconds + way.seconds, measured and way.measured
            refreshes, working = refreshes + way.refreshes, max(working, way.working_bytes)
            level = way.level if way.level is not None else level
            failures.append(way.log2_failure)
        source, failure = "measured" if measured else "modelled", _sum_of_log2(failures)
        return BridgeEstimate(rotations, refreshes, seconds, source, self._core.key_bytes, working, failure, level)

    def _modelled(self, way: str, stages: list[Stage], values: int) -> float:
        """Seconds of a way for so many values, by its stages."""
        return forecast.TYPICAL_FACTOR * sum(stage.seconds for stage in stages) + values * _SECONDS_OF_ONE[way]

    def _lookups(self, calls: _Calls) -> tuple[int, float, bool, int, list[float]]:
        """Rotations, seconds and whether they were measured, bytes, and log2 of the failures that a result may have."""
        engine = self._lookup_engine
        found = [(engine._estimated(name, n, made, given, v), n, each) for name, n, made, given, v, each in calls]
        threads = engine.thread_count
        measured = all(one.source != "modelled" for one, _, _ in found)
        # Rotations run side by side in rounds, the last of which may be short.
        rounds = [math.ceil(one.rotations / threads) for one, _, _ in found]
        seconds = sum(one.seconds * one.rotations / n for (one, _, _), n in zip(found, rounds, strict=True) if n)
        rotations = sum(one.rotations for one, _, _ in found)
        working = max((one.working_bytes for one, _, _ in found), default=0)
        return rotations, seconds, measured, working, [one.log2_failure + math.log2(each) for one, _, each in found]


class Estimates(Between):
    """Mixed into `Bridge`."""

    _core: _core.Bridge
    _engine: Engine

    def estimate(
        self,
        what: str,
        *,
        count: int = 1,
        bits: int = 16,
        row: int = 2,
        up: bool = False,
        size: KeySize = "large",
        table: Any = None,
        bound: Any = 1.0,
    ) -> BridgeEstimate:
        """What a call would take; it needs no key.

        Parameters
        ----------
        what
            The name of a method: "to_lookup", "from_lookup", "lookup", "lookup_bytes", "sign", "compare", "argmin",
            "argmax" or "top_k".
        count
            Slots, or pairs of them for "compare", or rows for "argmin", "argmax" and "top_k".
        bits
            The precision of what compares real numbers; others have that of the look-up engine.
        row
            Slots in each row of "argmin", "argmax" and "top_k".
        up
            With the way up of the results. Those of "lookup" are 0 or 1 then, as one bit of theirs goes up. The bits
            that "argmin" and "argmax" give with `one_hot` take what those of "top_k" do.
        size
            Of the bootstrap key.
        table
            Of "lookup_bytes", as it takes it: the steeper it is, the more noise its results have. Without it the
            steepest is supposed.
        bound
            The largest size of real numbers that are compared, or (least, largest).

        Raises
        ------
        ParameterError
            If there is no such method, its results do not go up, or it takes no table.
        RangeError
            If a number of bits does not fit, rows are longer than what is ranked, more values go up than there are
            slots, the table is none of bytes, or the look-up engine has no nibbles.
        """
        if checks.word("what", what) not in _CALLS:
            raise ParameterError(f'There is no estimate of "{what}"; choose one of {", ".join(_CALLS)}.')
        number, width = checks.count("count", count, 1), checks.count("row", row, 2)
        down = 0 if what == "from_lookup" else number * (width if what in _RANKS else 1)
        results = number * (width if what == "top_k" else 1)
        if checks.flag("up", up) and what == "lookup_bytes":
            raise ParameterError("Nibbles do not go up over this bridge; look up tables of single bits, which do.")
        if up and what in _PLACES:
            raise ParameterError(
                'Places do not go up over this bridge; the bits of one_hot=True do, and take what those of "top_k" do.'
            )
        ups = results if up or what == "from_lookup" else 0
        self._check_slots(ups)
        calls = self._calls(what, number, (checks.count("bits", bits), bound), width, self._pair(what, table))
        word, values = checks.word("size", size), {"down": down, "up": ups}
        return self._whole(calls, [self._way(way, many, word) for way, many in values.items() if many])

    def _calls(self, what: str, count: int, read: tuple[int, Any], row: int, pair: list[Table]) -> _Calls:
        if what == "lookup":
            return self._tables(what, count, self._core.fresh_variance(), [])
        if what == "lookup_bytes":
            return self._tables(what, count, self._core.fresh_variance(8, False), pair)
        if what not in _REALS:
            return []
        most = 2**self._lookup_engine.bits
        if what in _RANKS and row > most:
            raise RangeError(f"{row} slots in a row are not ranked by this look-up engine; give 2 to {most}.")
        pairs = row * (row - 1) // 2 if what in _RANKS else 1
        bits, size = read[0], sign_range(read[1]) if what == "sign" else spread(read[1])
        # Ranks subtract what came down.
        variance = self._core.fresh_variance(bits, True, 2 if what == "compare" else 1, size)
        variance *= 2 if what in _RANKS else 1
        calls: _Calls = [("sign", count * pairs, [], {"bits": bits}, variance, pairs)]
        if what in _RANKS:
            last = Table([int(n + 1 >= row) for n in range(most)])
            after = self._lookup_engine.noise["bootstrap"] ** 2
            calls.append(("lookup", count * row, [last], {}, (row - 1) * after, row))
        return calls

    def _way(self, way: str, values: int, size: str) -> Way:
        """A way for so many values."""
        record = records.bridge(
            f"bridge-{way}", (self._engine.preset, self._lookup_engine.preset), self._engine.slot_count, size, values
        )
        known = record is not None
        if record is not None:
            seconds = float(record["seconds"])
        else:
            seconds = self._modelled(way, self._stages(way, size), values)
        if way == "down":
            return Way(seconds, known)
        level = self._engine._core.plan("bits", None, size)["output_level"]
        failure = self._core.log2_failure_up(self._lookup_engine.noise["bootstrap"] ** 2)
        return Way(seconds, known, 1, self._core.packing_bytes(values), failure, level)

    def _stages(self, way: str, size: str, units: Mapping[str, float] | None = None) -> list[Stage]:
        """The stages of a way, at these microseconds for a unit of work, or those that come with Aglet."""
        plan = self._engine._core.plan("bits", None, size)
        known = {preset["name"]: preset["prime_bits"] for preset in _core.presets()}
        given = units or forecast.shipped_for(plan["log_n"], known.get(plan["preset"], 50))

        def of(stage: _core.StageRow) -> Stage:
            # The plan is one of complex slots, of which eval_mod takes both parts.
            part = 0.5 if stage["name"].startswith("eval_mod") else 1.0
            work: Any = {name: part * amount for name, amount in stage["work"].items()}  # type: ignore[operator]
            return Stage(stage["name"], work, part * planned.of_limbs(planned.limbs(plan, [stage]), given))

        return [of(stage) for stage in plan["stages"] if stage["name"].startswith(DOWN) == (way == "down")]


def _sum_of_log2(terms: list[float]) -> float:
    most = max(terms, default=-math.inf)
    return most if math.isinf(most) else most + math.log2(sum(2.0 ** (term - most) for term in terms))
