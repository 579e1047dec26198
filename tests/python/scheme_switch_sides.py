"""SchemeSwitches in rings that are as small as the ring of the lookups allows, with all their keys."""

from __future__ import annotations

from typing import Any

from aglet import FhewEngine, FhewSecretKey, KeySet, SchemeSwitch, SecretKey
from support import toy

__all__ = ["Sides"]


class Sides:
    """A switch with 64 slots, and both secret keys: to published lookups of so many bits, or to those of an engine."""

    def __init__(self, log_n: int, lookups: int | FhewEngine) -> None:
        self.engine = toy(log_n, 64)
        self.switch = SchemeSwitch(self.engine, FhewEngine(bits=lookups) if isinstance(lookups, int) else lookups)
        self.secret: SecretKey = self.engine.create_secret_key()
        self.lwe: FhewSecretKey = self.switch.fhew_engine.create_secret_key()
        self.keys: KeySet = self.switch.create_keys(self.secret, self.lwe, bootstrap="medium")

    def decrypt(self, x: Any) -> Any:
        """What an array of FHEW holds."""
        return self.switch.fhew_engine.decrypt(x, self.lwe)
