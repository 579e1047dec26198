"""An engine of FHEW with its keys, as the tests of gates, tables and numbers take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import FhewBootstrapKey, FhewCiphertext, FhewEngine, FhewSecretKey, PackingKey

__all__ = ["Packed", "Set", "make"]


@dataclass(frozen=True)
class Set:
    """An engine with its keys."""

    engine: FhewEngine
    secret: FhewSecretKey
    key: FhewBootstrapKey

    def encrypt(self, values: object, **options: Any) -> FhewCiphertext:
        return self.engine.encrypt(values, self.secret, **options)

    def words(self, values: object, bits: int) -> FhewCiphertext:
        return self.encrypt(values, bits=bits, signed=False)

    def decrypt(self, x: FhewCiphertext) -> np.ndarray:
        return self.engine.decrypt(x, self.secret)


@dataclass(frozen=True)
class Packed(Set):
    """The same with a packing key."""

    packing: PackingKey

    @classmethod
    def of(cls, engine: FhewEngine) -> Packed:
        secret = engine.create_secret_key()
        return cls(engine, secret, engine.create_bootstrap_key(secret), engine.create_packing_key(secret))


def make(**options: Any) -> Set:
    engine = FhewEngine(**options)
    secret = engine.create_secret_key()
    return Set(engine, secret, engine.create_bootstrap_key(secret))
