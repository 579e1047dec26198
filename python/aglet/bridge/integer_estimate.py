"""The part of `IntegerBridge` that says what a call would take, before a key exists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aglet import _core, checks, forecast
from aglet.bridge.estimate import DOWN, Between, BridgeEstimate, Stage, Way
from aglet.errors import ParameterError
from aglet.lookup import records

if TYPE_CHECKING:
    from aglet._core import RaisingPlan
    from aglet.integer.engine import IntegerEngine

__all__ = ["IntegerEstimates"]

_CALLS = ("to_lookup", "from_lookup", "lookup", "lookup_bytes")


class IntegerEstimates(Between):
    """Mixed into `IntegerBridge`."""

    _core: _core.IntegerBridge
    _engine: IntegerEngine

    def estimate(
        self, what: str, *, count: int = 1, bits: int | None = None, up: bool = False, table: Any = None
    ) -> BridgeEstimate:
        """What a call would take; it needs no key.

        Parameters
        ----------
        what
            The name of a method: "to_lookup", "from_lookup", "lookup" or "lookup_bytes". What "from_lookup" takes up
            are results of a table of one message or of gates.
        count
            Slots.
        bits
            Of what goes up, as in `from_lookup`: messages are below 2^bits. All bits if it is left out.
        up
            With the way up of the results, of which tables of bytes have two.
        table
            Of "lookup_bytes", as it takes it: the steeper it is, the more noise its results have, and the more levels
            their way up takes. Without it the steepest is supposed, so that the level is one that every table keeps.

        Raises
        ------
        ParameterError
            If there is no such method, it takes no table, or `bits` is given where nothing goes up.
        RangeError
            If `bits` is out of range, there are more values than slots go up, the table is none of bytes, or the
            look-up engine has no nibbles.
        LevelError
            If the engine has not the levels for what goes up.
        """
        if checks.word("what", what) not in _CALLS:
            raise ParameterError(f'There is no estimate of "{what}"; choose one of {", ".join(_CALLS)}.')
        number, width = checks.count("count", count, 1), checks.optional_count("bits", bits, 1)
        raised = checks.flag("up", up) or what == "from_lookup"
        if width is not None and not raised:
            raise ParameterError("bits= says what goes up; pass up=True too, or leave it out.")
        read = 8 if what == "lookup_bytes" else None
        pair = self._pair(what, table)
        calls, ways = [], []
        if what != "from_lookup":
            ways.append(self._down(number))
        if what.startswith("lookup"):
            calls = self._tables(what, number, self._core.variance(read), pair)
        if raised:
            after = self._core.variance(None) if what == "to_lookup" else self._variance_after(pair)
            ways += [self._up(number, width, after)] * (2 if what == "lookup_bytes" else 1)
        return self._whole(calls, ways)

    def _record(self, way: str, values: int, **more: Any) -> Mapping[str, Any] | None:
        presets = self._engine.preset, self._lookup_engine.preset
        return records.bridge(f"integer-bridge-{way}", presets, self._engine.slot_count, None, values, **more)

    def _down(self, values: int) -> Way:
        record = self._record("down", values)
        if record is not None:
            return Way(float(record["seconds"]), True)
        return Way(self._modelled("down", self._stages_down(), values), False)

    def _up(self, values: int, bits: int | None, variance: float) -> Way:
        """The way up of values that have this variance."""
        self._check_slots(values)
        plan = self._plan_up(bits, variance)
        record = self._record("up", values, messages=plan["messages"], output_level=plan["output_level"])
        known = record is not None
        seconds = (
            float(record["seconds"]) if record is not None else self._modelled("up", self._stages_up(plan), values)
        )
        working = self._core.packing_bytes(values)
        return Way(seconds, known, 1, working, plan["log2_failure"], plan["output_level"])

    def _plan_up(self, bits: int | None, variance: float, units: Mapping[str, float] | None = None) -> RaisingPlan:
        """The way up of values of this variance, with seconds by these microseconds, or those that come with Aglet."""
        return self._core.plan_up(variance, bits, units or self._units())

    def _units(self) -> Mapping[str, float]:
        return forecast.shipped_for(self._log_n(), forecast.VECTOR_BITS)

    def _log_n(self) -> int:
        return next(p["log_n"] for p in _core.integer_presets() if p["name"] == self._engine.preset)

    def _stages_down(self, units: Mapping[str, float] | None = None) -> list[Stage]:
        plan = _core.integer_plan(self._engine.preset, units or self._units())["bootstrap"]
        stages = [] if plan is None else plan["stages"]
        return [_stage(stage) for stage in stages if stage["name"].startswith(DOWN)]

    def _stages_up(self, plan: RaisingPlan) -> list[Stage]:
        return [_stage(stage) for stage in plan["stages"]]


def _stage(row: _core.IntegerStageRow | _core.RaisingStageRow) -> Stage:
    return Stage(row["name"], row["work"], row["seconds"] or 0.0)
