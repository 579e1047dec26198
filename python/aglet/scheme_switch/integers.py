"""The side of integers: slots are exact, and come back exactly."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from aglet import _core, checks, forecast
from aglet._core import IntegerCiphertext, IntegerSchemeSwitchKey, IntegerSecretKey
from aglet.errors import ParameterError
from aglet.fhew.engine import FhewEngine
from aglet.integer.engine import IntegerEngine
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.sides import TO_FHEW, Reading, ReturnPlan, Side, Stage

__all__ = ["Integers"]


class Integers(Side):
    """An `IntegerEngine` and a `FhewEngine`."""

    family, record = "integer", "integer-scheme-switch"
    calls = ("to_fhew", "from_fhew", "lookup", "lookup_bytes")
    key, secret = IntegerSchemeSwitchKey, IntegerSecretKey
    engine: IntegerEngine
    core: _core.IntegerSchemeSwitch

    def __init__(self, engine: IntegerEngine, fhew_engine: FhewEngine) -> None:
        super().__init__(fhew_engine)
        self.engine, self.core = engine, _core.IntegerSchemeSwitch(engine._core, fhew_engine._core)

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Of `create_keys` of the engine of slots.

        Raises
        ------
        ParameterError
            If there would be no bootstrap key.
        """
        if not given.get("bootstrap", True):
            raise ParameterError("A switch goes with a bootstrap key; leave bootstrap=False out.")
        return {"rotation": False, **given}

    def to_fhew(self, ciphertext: Any, places: Any, read: Reading, keys: KeySet, report: Any) -> _core.FhewArray:
        """Slots as messages or unsigned integers."""
        signed, part = read.signed or None, None if read.part == "real" else read.part
        self.refuse("to_fhew", signed=signed, part=part, bound=read.bound, noise=read.noise)
        ct = checks.need(ciphertext, IntegerCiphertext, "engine.encrypt(message, secret_key)")
        switch, bootstrap = self.keys(keys, "scheme_switch", "bootstrap")
        number = checks.optional_count("bits", read.bits, 1)
        return self.core.to_fhew(ct, places.ravel().tolist(), list(places.shape), switch, bootstrap, number, report)

    def from_fhew(self, x: Any, imaginary: Any, bits: int | None, keys: KeySet, report: Any) -> IntegerCiphertext:
        """Messages below 2^bits."""
        self.refuse("from_fhew", imaginary=imaginary)
        switch, bootstrap = self.keys(keys, "scheme_switch", "bootstrap")
        return self.core.from_fhew(x, switch, bootstrap, checks.optional_count("bits", bits, 1), report)

    def variance(self, bits: int | None) -> float:
        """Of slots that went to FHEW as messages, or as unsigned integers of so many bits."""
        return self.core.variance(bits)

    def check_estimate(self, what: str, bits: int | None, returned: bool) -> None:
        """Refuse bits of nothing.

        Raises
        ------
        ParameterError
            If they are given where nothing goes back.
        """
        if bits is not None and not returned:
            raise ParameterError("bits= says what goes back; pass from_fhew=True too, or leave it out.")

    def stages_to_fhew(self, size: str, units: Mapping[str, float] | None = None) -> list[Stage]:
        """At these microseconds for a unit of work, or those that come with Aglet. There is one `size` of keys."""
        if units is None:
            return list(self._shipped)
        return self._planned(units)

    @functools.cached_property
    def _shipped(self) -> list[Stage]:
        """With the microseconds that come with Aglet."""
        return self._planned(forecast.shipped_for(self.engine.log_n, forecast.VECTOR_BITS))

    def _planned(self, units: Mapping[str, float]) -> list[Stage]:
        plan = self.engine._core.plan(units)["bootstrap"]
        stages = [] if plan is None else plan["stages"]
        return [_stage(stage) for stage in stages if stage["name"].startswith(TO_FHEW)]

    def plan_from_fhew(
        self, variance: float, bits: int | None, size: str, units: Mapping[str, float] | None = None
    ) -> ReturnPlan:
        """The conversion from FHEW of messages below 2^bits that have this variance."""
        given = units or forecast.shipped_for(self.engine.log_n, forecast.VECTOR_BITS)
        plan = self.core.plan_from_fhew(variance, bits, given)
        sizes = {"messages": plan["messages"], "output_level": plan["output_level"]}
        stages = [_stage(row) for row in plan["stages"]]
        return ReturnPlan(stages, plan["log2_failure"], plan["output_level"], sizes, plan)


def _stage(row: _core.IntegerStageRow | _core.RaisingStageRow) -> Stage:
    return Stage(row["name"], row["work"], row["seconds"] or 0.0)
