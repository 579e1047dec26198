"""The list of all keys that a `KeySet` holds. A new key is a line here and a field there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aglet import _core

__all__ = ["BETWEEN", "FHEW", "KINDS", "PUBLIC", "SECRETS", "Kind"]

BETWEEN = "scheme_switch"
"""The key that belongs to a secret of slots and to one of FHEW."""


@dataclass(frozen=True)
class Kind:
    """One key of a set. A key that several families have has one name."""

    name: str
    """The field of `KeySet` and the name of its file."""
    maker: str
    """The call that makes it."""
    types: Mapping[str, type[Any]]
    """Its type in each family that has it: "ckks", "integer" or "fhew"."""
    secret: bool = False
    """Whether it decrypts."""

    @property
    def encrypts(self) -> bool:
        """Whether it encrypts and does nothing else."""
        return self.name.endswith("public")


def _of_slots(
    name: str, maker: str, ckks: type[Any], integer: type[Any] | None = None, *, secret: bool = False
) -> Kind:
    return Kind(name, maker, {"ckks": ckks} if integer is None else {"ckks": ckks, "integer": integer}, secret)


def _of_fhew(name: str, maker: str, fhew: type[Any], *, secret: bool = False) -> Kind:
    return Kind(name, maker, {"fhew": fhew}, secret)


_MAKE, _MAKE_FHEW = "engine.create_{}_key(secret_key)", "fhew_engine.create_{}_key(secret_key)"
_RELINEARIZATION = _core.RelinearizationKey, _core.IntegerRelinearizationKey
_SWITCH = _core.SchemeSwitchKey, _core.IntegerSchemeSwitchKey
_LIST = (
    _of_slots("secret", "engine.create_secret_key()", _core.SecretKey, _core.IntegerSecretKey, secret=True),
    _of_slots("public", _MAKE.format("public"), _core.PublicKey, _core.IntegerPublicKey),
    _of_slots("relinearization", _MAKE.format("relinearization"), *_RELINEARIZATION),
    _of_slots("conjugation", _MAKE.format("conjugation"), _core.ConjugationKey),
    _of_slots("rotation", _MAKE.format("rotation"), _core.RotationKey, _core.IntegerRotationKey),
    _of_slots("matrix", _MAKE.format("matrix_multiplication"), _core.MatrixMultiplicationKey),
    _of_slots("bootstrap", _MAKE.format("bootstrap"), _core.BootstrapKey, _core.IntegerBootstrapKey),
    _of_slots(BETWEEN, "switch.create_switch_key(secret_key, fhew_secret_key)", *_SWITCH),
    _of_fhew("fhew_secret", "fhew_engine.create_secret_key()", _core.FhewSecretKey, secret=True),
    _of_fhew("fhew_bootstrap", _MAKE_FHEW.format("bootstrap"), _core.FhewBootstrapKey),
    _of_fhew("packing", _MAKE_FHEW.format("packing") + ", or create_keys(packing=True)", _core.PackingKey),
    _of_fhew("fhew_public", _MAKE_FHEW.format("public"), _core.FhewPublicKey),
)
KINDS = {kind.name: kind for kind in _LIST}
"""By name, in the order of the fields."""
SECRETS = tuple(name for name, kind in KINDS.items() if kind.secret)
"""The names of keys that decrypt."""
PUBLIC = tuple(name for name, kind in KINDS.items() if kind.encrypts)
"""The names of keys that encrypt and do nothing else."""
FHEW = tuple(name for name, kind in KINDS.items() if "fhew" in kind.types)
"""The names of keys of a FHEW engine."""
