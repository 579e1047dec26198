"""The part of `Bridge` that says what a call would take, before a key exists."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglet import _core, checks, forecast, planned
from aglet.errors import ParameterError
from aglet.lookup import records
from aglet.lookup.table import Table

if TYPE_CHECKING:
    from aglet._core import KeySize
    from aglet.ckks.engine import Engine
    from aglet.lookup.engine import LookupEngine

__all__ = ["BridgeEstimate", "Estimates"]

_CALLS = ("to_lookup", "from_lookup", "lookup", "lookup_bytes", "sign", "compare", "argmin", "argmax", "top_k")
_RANKS = ("argmin", "argmax", "top_k")
_REALS = ("sign", "compare", *_RANKS)
_DOWN = ("slots_to_coeffs", "scale_down")
"""How the names of the stages begin that a way down has; a way up has the others."""
_SECONDS_OF_ONE = {"down": 10e-6, "up": 40e-6}
"""Of a value that is extracted or packed, beside what all have together, where nothing was measured."""


@dataclass(frozen=True)
class BridgeEstimate:
    """What a call over a bridge would take, on fresh ciphertexts that the secret key encrypted."""

    rotations: int
    """Blind rotations of all values together."""
    refreshes: int
    """Bootstraps of slots: one if the results go up, else none."""
    seconds: float
    """On one thread."""
    source: str
    """Where `seconds` come from: "measured" if every part was recorded on this kind of machine, else "modelled"."""
    key_bytes: int
    """Of the bridge key in memory; those of both engines come beside it."""
    working_bytes: int
    """Of look-ups at their peak, beside keys; slots need what a bootstrap of `Engine.memory_report` needs."""
    log2_failure: float
    """Base-2 logarithm of the probability that one result is wrong; minus infinity without a look-up."""


class Estimates:
    """Mixed into `Bridge`."""

    _core: _core.Bridge
    _engine: Engine
    _lookup_engine: LookupEngine

    def estimate(
        self,
        what: str,
        *,
        count: int = 1,
        bits: int = 16,
        row: int = 2,
        up: bool = False,
        size: KeySize = "large",
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
            With the way up of the results.
        size
            Of the bootstrap key.

        Raises
        ------
        ParameterError
            If there is no such method.
        RangeError
            If a number of bits does not fit.
        """
        if checks.word("what", what) not in _CALLS:
            raise ParameterError(f'There is no estimate of "{what}"; choose one of {", ".join(_CALLS)}.')
        number, width = checks.count("count", count, 1), checks.count("row", row, 2)
        down = 0 if what == "from_lookup" else number * (width if what in _RANKS else 1)
        results = number * (width if what == "top_k" else 1)
        ups = results if checks.flag("up", up) or what == "from_lookup" else 0
        rotations, seconds, measured, working, failures = self._lookups(what, number, checks.count("bits", bits), width)
        for way, values in (("down", down), ("up", ups)):
            if values:
                took, known = self._way(way, values, checks.word("size", size))
                seconds, measured = seconds + took, measured and known
        failure = _sum_of_log2(failures)
        source = "measured" if measured else "modelled"
        return BridgeEstimate(rotations, int(ups > 0), seconds, source, self._core.key_bytes, working, failure)

    def _lookups(self, what: str, count: int, bits: int, row: int) -> tuple[int, float, bool, int, list[float]]:
        """Rotations, seconds and whether they were measured, bytes, and log2 of the failures that a result may have."""
        engine, space = self._lookup_engine, 2**self._lookup_engine.bits
        after = engine.noise["bootstrap"] ** 2
        identity = Table(list(range(space)))
        # Calls of LookupEngine: name, how many, tables, options, the variance of what they read, how many in a result.
        calls: list[tuple[str, int, list[Table], dict[str, int], float, int]] = []
        if what == "lookup":
            calls = [("lookup", count, [identity], {}, self._core.fresh_variance(), 1)]
        elif what == "lookup_bytes":
            pair = [Table([n // space for n in range(space**2)]), Table([n % space for n in range(space**2)])]
            read = self._core.fresh_variance(8, False)
            calls = [("digits", count, [], {"bits": 8}, read, 1), ("lookup2", count, pair, {}, after, 1)]
        elif what in _REALS:
            pairs = row * (row - 1) // 2 if what in _RANKS else 1
            variance = self._core.fresh_variance(bits, True, 2 if what == "compare" else 1)
            # Ranks subtract what came down.
            variance *= 2 if what in _RANKS else 1
            calls = [("sign", count * pairs, [], {"bits": bits}, variance, pairs)]
            if what in _RANKS:
                last = Table([int(n + 1 >= row) for n in range(space)])
                calls.append(("lookup", count * row, [last], {}, (row - 1) * after, row))
        found = [(engine._estimated(name, n, made, given, v), n, each) for name, n, made, given, v, each in calls]
        threads = engine.thread_count
        measured = all(one.source != "modelled" for one, _, _ in found)
        # Rotations run side by side in rounds, the last of which may be short.
        rounds = [math.ceil(one.rotations / threads) for one, _, _ in found]
        seconds = sum(one.seconds * one.rotations / n for (one, _, _), n in zip(found, rounds, strict=True) if n)
        rotations = sum(one.rotations for one, _, _ in found)
        working = max((one.working_bytes for one, _, _ in found), default=0)
        return rotations, seconds, measured, working, [one.log2_failure + math.log2(each) for one, _, each in found]

    def _way(self, way: str, values: int, size: str) -> tuple[float, bool]:
        """Seconds of a way for so many values on one thread, and whether they were measured."""
        record = records.bridge(
            f"bridge-{way}", (self._engine.preset, self._lookup_engine.preset), self._engine.slot_count, size, values
        )
        if record is not None:
            return float(record["seconds"]), True
        plan = self._engine._core.plan("bits", None, size)
        known = {preset["name"]: preset["prime_bits"] for preset in _core.presets()}
        units = forecast.shipped_for(plan["log_n"], known.get(plan["preset"], 50))
        stages = [stage for stage in plan["stages"] if stage["name"].startswith(_DOWN) == (way == "down")]

        def took(stage: Any) -> float:
            # The plan is one of complex slots.
            half = 0.5 if stage["name"].startswith("eval_mod") else 1.0
            return half * planned.of_limbs(planned.limbs(plan, [stage]), units)

        modelled = forecast.TYPICAL_FACTOR * sum(took(stage) for stage in stages)
        return modelled + values * _SECONDS_OF_ONE[way], False


def _sum_of_log2(terms: list[float]) -> float:
    most = max(terms, default=-math.inf)
    return most if math.isinf(most) else most + math.log2(sum(2.0 ** (term - most) for term in terms))
