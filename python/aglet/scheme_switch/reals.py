"""The side of CKKS: slots are real or complex numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aglet import _core, checks, forecast
from aglet._core import Ciphertext, SchemeSwitchKey, SecretKey
from aglet.ckks import values
from aglet.ckks.engine import Engine
from aglet.ckks.options import presets
from aglet.errors import ParameterError
from aglet.fhew.engine import FhewEngine
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.sides import TO_FHEW, Reading, ReturnPlan, Side, Stage

__all__ = ["Reals"]


class Reals(Side):
    """An `Engine` and a `FhewEngine`."""

    family = "ckks"
    calls = ("to_fhew", "from_fhew", "lookup", "lookup_bytes", "sign", "compare", "argmin", "argmax", "top_k")
    key, secret = SchemeSwitchKey, SecretKey
    engine: Engine
    core: _core.SchemeSwitch

    def __init__(self, engine: Engine, fhew_engine: FhewEngine) -> None:
        super().__init__(fhew_engine)
        self.engine, self.core = engine, _core.SchemeSwitch(engine._core, fhew_engine._core)

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Of `create_keys` of the engine of slots.

        Raises
        ------
        ParameterError
            If the bootstrap key would have no rotations of its own.
        """
        if given.get("bootstrap", "large") in (None, "small"):
            raise ParameterError('A switch goes with bootstrap="medium" or "large", whose rotations it takes.')
        return {"rotation": False, "method": "lossy", **given}

    def assumed(self, ciphertext: Any, bound: float | None, noise: float | None) -> Ciphertext:
        """A ciphertext with what a caller says of it."""
        ct = checks.need(ciphertext, Ciphertext, "engine.encrypt(message, secret_key)")
        if bound is None and noise is None:
            return ct
        return self.engine._core.assume(ct, None if bound is None else values.as_bound(bound), noise)

    def to_fhew(self, ciphertext: Any, places: Any, read: Reading, keys: KeySet, report: Any) -> _core.FhewArray:
        """Parts of slots."""
        ct = self.assumed(ciphertext, read.bound, read.noise)
        size = 1.0 if read.bound is None else float(read.bound)
        number, sign = (
            checks.optional_count("bits", read.bits, 2),
            read.signed is None or checks.flag("signed", read.signed),
        )
        shape = [2, *places.shape] if read.part == "both" else list(places.shape)
        switch, bootstrap = self.keys(keys, "scheme_switch", "bootstrap")
        return self.core.to_fhew(
            ct, places.ravel().tolist(), shape, read.part, switch, bootstrap, number, sign, size, report
        )

    def from_fhew(self, x: Any, imaginary: Any, bits: int | None, keys: KeySet, report: Any) -> Ciphertext:
        """Bits as real parts, and as imaginary parts."""
        self.refuse("from_fhew", bits=bits)
        names = "relinearization", "conjugation", "bootstrap", "scheme_switch"
        relinearization, conjugation, bootstrap, switch = self.keys(keys, *names)
        return self.core.from_fhew(x, imaginary, relinearization, conjugation, bootstrap, switch, report)

    def variance(self, bits: int | None) -> float:
        """Of fresh slots that went to FHEW as messages, or as unsigned integers of so many bits."""
        return self.core.fresh_variance(bits, False)

    def check_estimate(self, what: str, bits: int | None, returned: bool) -> None:
        """Refuse what does not go back.

        Raises
        ------
        ParameterError
            If this is asked for.
        """
        if returned and what == "lookup_bytes":
            raise ParameterError(
                "Nibbles do not go back by this scheme switch; look up tables of single bits, which do."
            )
        if returned and what in ("argmin", "argmax"):
            raise ParameterError(
                'Places do not go back to slots; the bits of one_hot=True do, and take what those of "top_k" do.'
            )

    def stages_to_fhew(self, size: str, units: Mapping[str, float] | None = None) -> list[Stage]:
        """At these microseconds for a unit of work, or those that come with Aglet."""
        return self._stages(self.engine._plan(None, size, "bits"), True, units)

    def plan_from_fhew(
        self, variance: float, bits: int | None, size: str, units: Mapping[str, float] | None = None
    ) -> ReturnPlan:
        """The conversion from FHEW of bits that have this variance."""
        plan = self.engine._plan(None, size, "bits")
        stages = self._stages(plan, False, units)
        return ReturnPlan(stages, self.core.log2_failure_from_fhew(variance), plan["output_level"], {})

    def _stages(self, plan: _core.Plan, down: bool, units: Mapping[str, float] | None) -> list[Stage]:
        known = {preset["name"]: preset["prime_bits"] for preset in presets()}
        given = units or forecast.shipped_for(plan["log_n"], known.get(plan["preset"], 50))

        def of(stage: _core.StageRow) -> Stage:
            # The plan is one of complex slots, of which eval_mod takes both parts.
            part = 0.5 if stage["name"].startswith("eval_mod") else 1.0
            work: Any = {name: part * amount for name, amount in stage["work"].items()}  # type: ignore[operator]
            return Stage(stage["name"], work, part * forecast.of_limbs(forecast.limbs(plan, [stage]), given))

        return [of(stage) for stage in plan["stages"] if stage["name"].startswith(TO_FHEW) == down]
