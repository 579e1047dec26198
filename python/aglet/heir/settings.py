"""The parameters that an emitted program sets, and the engine that they ask for."""

from __future__ import annotations

from typing import Any

from aglet.ckks.engine import Engine
from aglet.errors import ParameterError
from aglet.heir.scalars import INTEGERS, Scalar
from aglet.heir.values import Constant

__all__ = ["Settings"]

_TAKEN = ("MultiplicativeDepth", "RingDim", "BatchSize")
_OWN = (
    "FirstModSize", "ScalingModSize", "EvalAddCount", "KeySwitchCount", "DigitSize", "NumLargeDigits", "MaxRelinSkDeg",
    "SecurityLevel", "KeySwitchTechnique", "ScalingTechnique",
)  # fmt: skip
"""Aglet has its own of these: its primes, its key switching, canonical scales near 2^40, and always 128 bits."""


class Settings:
    """What `CCParamsT` holds: the depth, and the number of slots if the program gives one.

    A program never lowers the security: its engine has 128 bits, whatever `SetSecurityLevel` says.
    """

    def __init__(self) -> None:
        self._given: dict[str, int] = {}
        self._is_manual = False

    def set(self, name: str, arguments: list[Any]) -> None:
        """Carry out `params.SetName(value)`.

        Raises
        ------
        ParameterError
            If there is no such parameter in CKKS, or the value is not of its kind.
        """
        what = name.removeprefix("Set")
        if what == name or what not in (*_TAKEN, *_OWN):
            raise ParameterError(f"There is no parameter {name[:40]!a} of CKKS here; compile the program for CKKS.")
        value = arguments[0] if len(arguments) == 1 else None
        if isinstance(value, Constant) and what in _OWN:
            self._is_manual |= value.name == "FIXEDMANUAL"
            return
        if not isinstance(value, Scalar) or value.kind not in INTEGERS or not 0 <= value.value < 2**31:
            raise ParameterError(f"{name} takes a whole number below 2^31; compile the program again.")
        self._given[what] = int(value.value)

    @property
    def depth(self) -> int:
        """The number of levels."""
        return self._given.get("MultiplicativeDepth", 1)

    @property
    def lowers_levels(self) -> bool:
        """Whether `LevelReduce` does something: OpenFHE heeds it with the technique FIXEDMANUAL alone."""
        return self._is_manual

    @property
    def slot_count(self) -> int | None:
        """The number of slots in which rotations turn, if the program gives it."""
        return self._given.get("BatchSize") or self._given.get("RingDim", 0) // 2 or None

    def engine(self, bootstraps: bool) -> Engine:
        """Make the engine: by its levels, or one that bootstraps.

        Raises
        ------
        ParameterError
            If there is no engine with so many levels and slots.
        """
        if bootstraps:
            return Engine(use_bootstrap=True, slot_count=self.slot_count)
        return Engine(max_level=self.depth, slot_count=self.slot_count)

    def check(self, engine: Any) -> None:
        """Check that an engine of the user's has the slots that the program counts on.

        Raises
        ------
        ParameterError
            If rotations would turn in another number of slots.
        """
        if self.slot_count not in (None, engine.slot_count):
            raise ParameterError(
                f"The program counts on {self.slot_count} slots, and this engine has {engine.slot_count}; make it with "
                f"slot_count={self.slot_count}."
            )
