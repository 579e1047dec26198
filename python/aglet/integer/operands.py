"""What operations on integers take: ciphertexts and keys, each refused with a sentence if it is something else."""

from __future__ import annotations

from typing import Any

from aglet import checks
from aglet._core import (
    IntegerBootstrapKey,
    IntegerCiphertext,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSecretKey,
)

__all__ = ["bootstrap_key", "ciphertext", "relinearization_key", "rotation_key", "secret_key"]


def ciphertext(value: Any) -> IntegerCiphertext:
    """`value` if it is a ciphertext of integers."""
    return checks.need(value, IntegerCiphertext, "engine.encrypt(values, key)")


def bootstrap_key(value: Any) -> IntegerBootstrapKey:
    """`value` if it is a bootstrap key of integers."""
    return checks.need(value, IntegerBootstrapKey, "engine.create_bootstrap_key(secret_key)")


def secret_key(value: Any) -> IntegerSecretKey:
    """`value` if it is a secret key of integers."""
    return checks.need(value, IntegerSecretKey, "engine.create_secret_key()")


def relinearization_key(value: Any) -> IntegerRelinearizationKey:
    """`value` if it is a relinearization key of integers."""
    return checks.need(value, IntegerRelinearizationKey, "engine.create_relinearization_key(secret_key)")


def rotation_key(value: Any) -> IntegerRotationKey:
    """`value` if it is a rotation key of integers."""
    return checks.need(value, IntegerRotationKey, "engine.create_rotation_key(secret_key)")
