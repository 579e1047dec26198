"""Checks of the ciphertexts and keys of calls on integers. Anything else raises an error that says what is needed."""

from __future__ import annotations

from aglet import checks
from aglet._core import (
    IntegerBootstrapKey,
    IntegerCiphertext,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSecretKey,
)

__all__ = ["bootstrap_key", "ciphertext", "relinearization_key", "rotation_key", "secret_key"]


ciphertext = checks.operand(IntegerCiphertext, "engine.encrypt(values, key)")
bootstrap_key = checks.operand(IntegerBootstrapKey, "engine.create_bootstrap_key(secret_key)")
secret_key = checks.operand(IntegerSecretKey, "engine.create_secret_key()")
relinearization_key = checks.operand(IntegerRelinearizationKey, "engine.create_relinearization_key(secret_key)")
rotation_key = checks.operand(IntegerRotationKey, "engine.create_rotation_key(secret_key)")
