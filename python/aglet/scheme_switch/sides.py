"""What differs between slots of CKKS and of integers where schemes are switched: a side is one of them beside FHEW."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from aglet import _core, checks
from aglet.errors import ParameterError
from aglet.keys.keyset import KeySet

if TYPE_CHECKING:
    from aglet.fhew.engine import FhewEngine

__all__ = ["DOWN", "Reading", "Side", "Stage", "WayUp"]

DOWN = ("slots_to_coeffs", "scale_down")
"""How the names of the stages begin that a way to FHEW has; a way back has the others."""


@dataclass(frozen=True)
class Reading:
    """As what slots are read, as `SchemeSwitch.to_fhew` takes it."""

    bits: int | None
    signed: bool | None
    part: str
    bound: float | None
    noise: float | None


@dataclass(frozen=True)
class Stage:
    """One stage of a way, by the model."""

    name: str
    work: _core.Work
    seconds: float
    """Of one thread."""


@dataclass(frozen=True)
class WayUp:
    """What messages go through on their way to slots."""

    stages: list[Stage]
    log2_failure: float
    """Of one value."""
    output_level: int
    sizes: Mapping[str, Any]
    """By which a measured way is found, beside those of every way."""
    plan: Any = None
    """All that the compiled module says."""


class Side:
    """An engine of slots and a FHEW engine, with the compiled switch between them."""

    family: ClassVar[str]
    record: ClassVar[str] = "scheme-switch"
    """What measurements of it are called."""
    calls: ClassVar[tuple[str, ...]]
    """What is forecast."""
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
        return tuple(given._need(name, self.family) for name in names)

    def refuse(self, what: str, **given: Any) -> None:
        """Refuse arguments that this side has no use for.

        Raises
        ------
        ParameterError
            If one of them is not None.
        """
        names = [f"{name}=" for name, value in given.items() if value is not None]
        if names:
            raise ParameterError(f"{what} of this engine does not take {', '.join(names)}; leave it out.")
