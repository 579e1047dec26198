"""Checks of the keys and ciphertexts that calls are given. An error names the call that makes the right one."""

from __future__ import annotations

from typing import Any

from aglet import checks
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, SecretKey

__all__ = ["ciphertext", "conjugation_key", "not_of_a_bootstrap", "relinearization_key", "secret_key"]


def not_of_a_bootstrap(value: Any) -> None:
    """Refuse a bootstrap key where a key for any rotation is needed.

    Raises
    ------
    TypeError
        If the value is a bootstrap key.
    """
    if isinstance(value, BootstrapKey):
        raise TypeError(
            "A bootstrap key only has the rotation steps and levels of its bootstrap; make a key for all steps with "
            "engine.create_rotation_key(secret_key)."
        )


secret_key = checks.operand(SecretKey, "engine.create_secret_key()")
relinearization_key = checks.operand(RelinearizationKey, "engine.create_relinearization_key(secret_key)")
conjugation_key = checks.operand(ConjugationKey, "engine.create_conjugation_key(secret_key)")
ciphertext = checks.operand(Ciphertext, "engine.encrypt(message, key)")
