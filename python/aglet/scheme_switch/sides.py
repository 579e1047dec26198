"""The part of a scheme switch that differs between CKKS and integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from aglet import _core, checks
from aglet.errors import MissingKeyError, ParameterError
from aglet.keys.keyset import KeySet

if TYPE_CHECKING:
    from aglet.fhew.engine import FhewEngine

__all__ = ["TO_FHEW", "Reading", "ReturnPlan", "Side", "Stage"]

TO_FHEW = ("mod_switch 1/2", "slots_to_coeffs", "scale_down")
"""How the names of the stages begin that a conversion to FHEW runs. A conversion back runs the other stages."""


@dataclass(frozen=True)
class Reading:
    """How slots are read; see `SchemeSwitch.to_fhew`."""

    bits: int | None
    signed: bool | None
    part: str
    bound: float | None
    noise: float | None


@dataclass(frozen=True)
class Stage:
    """One stage of a conversion, by the model."""

    name: str
    work: _core.Work
    seconds: float
    """Of one thread."""


@dataclass(frozen=True)
class ReturnPlan:
    """The stages and the result of a conversion from FHEW."""

    stages: list[Stage]
    log2_failure: float
    """Of one value."""
    output_level: int
    sizes: Mapping[str, Any]
    """Which record of this conversion to look for, beside what every record states."""
    plan: Any = None
    """All that the compiled module says."""


class Side:
    """An engine of slots and a FHEW engine, with the compiled switch between them."""

    family: ClassVar[str]
    record: ClassVar[str] = "scheme-switch"
    """The name of its records."""
    calls: ClassVar[tuple[str, ...]]
    """The calls that `estimate` knows."""
    key: ClassVar[type[Any]]
    secret: ClassVar[type[Any]]
    engine: Any
    core: Any

    def __init__(self, fhew_engine: FhewEngine) -> None:
        self.fhew_engine = fhew_engine

    def keys(self, keys: KeySet, *names: str) -> tuple[Any, ...]:
        """The keys of these names.

        Raises
        ------
        MissingKeyError
            If one is not there; the error names the call that makes it.
        TypeError
            If it is of another family.
        """
        given = checks.need(keys, KeySet, "switch.create_keys()")
        try:
            return tuple(given._need(name, self.family) for name in names)
        except MissingKeyError as error:
            # A set of one engine alone lacks several, and not every bootstrap key serves both directions.
            one = str(error).removesuffix(".")
            raise MissingKeyError(f"{one}, or all with switch.create_keys(secret_key, fhew_secret_key).") from None

    def refuse(self, what: str, **given: Any) -> None:
        """Refuse arguments that this side does not take.

        Raises
        ------
        ParameterError
            If one of them is not None.
        """
        names = [f"{name}=" for name, value in given.items() if value is not None]
        if names:
            raise ParameterError(f"{what} of this engine does not take {', '.join(names)}; leave it out.")
