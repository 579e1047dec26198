"""The list of all keys that a `KeySet` holds: a new key is a line here and a field there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aglet import _core

__all__ = ["BETWEEN", "FHEW", "KINDS", "SECRETS", "Kind"]

BETWEEN = "scheme_switch"
"""The key that belongs to a secret of slots and to one of FHEW."""


@dataclass(frozen=True)
class Kind:
    """One key of a set. What slots have in several families has one name."""

    name: str
    """The field of `KeySet` and the name of its file."""
    maker: str
    """The call that makes it."""
    types: Mapping[str, type[Any]]
    """What it is in each family that has it: "ckks", "integer" or "fhew"."""
    secret: bool = False
    """Whether it decrypts."""


_LIST = (
    Kind(
        "secret",
        "engine.create_secret_key()",
        {"ckks": _core.SecretKey, "integer": _core.IntegerSecretKey},
        secret=True,
    ),
    Kind(
        "public",
        "engine.create_public_key(secret_key)",
        {"ckks": _core.PublicKey, "integer": _core.IntegerPublicKey},
    ),
    Kind(
        "relinearization",
        "engine.create_relinearization_key(secret_key)",
        {"ckks": _core.RelinearizationKey, "integer": _core.IntegerRelinearizationKey},
    ),
    Kind("conjugation", "engine.create_conjugation_key(secret_key)", {"ckks": _core.ConjugationKey}),
    Kind(
        "rotation",
        "engine.create_rotation_key(secret_key)",
        {"ckks": _core.RotationKey, "integer": _core.IntegerRotationKey},
    ),
    Kind("matrix", "engine.create_matrix_multiplication_key(secret_key)", {"ckks": _core.MatrixMultiplicationKey}),
    Kind(
        "bootstrap",
        "engine.create_bootstrap_key(secret_key)",
        {"ckks": _core.BootstrapKey, "integer": _core.IntegerBootstrapKey},
    ),
    Kind(
        BETWEEN,
        "switch.create_switch_key(secret_key, fhew_secret_key)",
        {"ckks": _core.SchemeSwitchKey, "integer": _core.IntegerSchemeSwitchKey},
    ),
    Kind("fhew_secret", "fhew_engine.create_secret_key()", {"fhew": _core.FhewSecretKey}, secret=True),
    Kind("fhew_bootstrap", "fhew_engine.create_bootstrap_key(secret_key)", {"fhew": _core.FhewBootstrapKey}),
    Kind(
        "packing",
        "fhew_engine.create_packing_key(secret_key), or create_keys(packing=True)",
        {"fhew": _core.PackingKey},
    ),
)
KINDS = {kind.name: kind for kind in _LIST}
"""By name, in the order of the fields."""
SECRETS = tuple(name for name, kind in KINDS.items() if kind.secret)
"""The names of keys that decrypt."""
FHEW = tuple(name for name, kind in KINDS.items() if "fhew" in kind.types)
"""The names of keys of a FHEW engine."""
