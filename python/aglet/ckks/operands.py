"""Keys and ciphertexts that calls are given: of the kind that is needed, or a sentence with the call that makes one."""

from __future__ import annotations

from typing import Any

from aglet import checks
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, SecretKey

__all__ = [
    "ciphertext",
    "conjugation_key",
    "not_of_a_bootstrap",
    "relinearization_key",
    "secret_key",
]


def not_of_a_bootstrap(value: Any) -> None:
    """Refuse a bootstrap key where any rotation is wanted.

    Raises
    ------
    TypeError
        If the value is a bootstrap key.
    """
    if isinstance(value, BootstrapKey):
        raise TypeError(
            "A bootstrap key rotates by the steps of its bootstrap and at its levels only; make a key for all steps "
            "with engine.create_rotation_key(secret_key)."
        )


def secret_key(value: Any) -> SecretKey:
    """`value` if it is a secret key."""
    return checks.need(value, SecretKey, "engine.create_secret_key()")


def relinearization_key(value: Any) -> RelinearizationKey:
    """`value` if it is a relinearization key."""
    return checks.need(value, RelinearizationKey, "engine.create_relinearization_key(secret_key)")


def conjugation_key(value: Any) -> ConjugationKey:
    """`value` if it is a conjugation key."""
    return checks.need(value, ConjugationKey, "engine.create_conjugation_key(secret_key)")


def ciphertext(value: Any) -> Ciphertext:
    """`value` if it is a ciphertext."""
    return checks.need(value, Ciphertext, "engine.encrypt(message, key)")
