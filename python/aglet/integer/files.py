"""The part of `IntegerEngine` that writes and reads files and bytes, as the one of `Engine` does."""

from __future__ import annotations

from typing import Any

from aglet import _core
from aglet._core import (
    IntegerBootstrapKey,
    IntegerCiphertext,
    IntegerPlaintext,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSecretKey,
)
from aglet.files import Stores, methods

__all__ = ["IntegerFiles"]


class IntegerFiles(Stores):
    """Mixed into `IntegerEngine`."""

    _core: _core.IntegerEngine

    def _class(self, words: str) -> str:
        name = super()._class(words)
        return name if name.startswith("Integer") else f"Integer{name}"

    def _storable(self, value: Any) -> Any:
        if not isinstance(value, _STORED):
            raise TypeError(
                f"Keys, plaintexts and ciphertexts of integers are written, not {type(value).__name__}; numpy.save "
                "writes arrays."
            )
        return value

    write_secret_key, read_secret_key, serialize_secret_key, deserialize_secret_key = methods(
        IntegerSecretKey,
        "engine.create_secret_key()",
        "Whoever has it can decrypt. Only its owner may read the file (mode 0600).",
        name="secret key",
    )
    write_public_key, read_public_key, serialize_public_key, deserialize_public_key = methods(
        IntegerPublicKey, "engine.create_public_key(secret_key)", name="public key"
    )
    write_bootstrap_key, read_bootstrap_key, serialize_bootstrap_key, deserialize_bootstrap_key = methods(
        IntegerBootstrapKey,
        "engine.create_bootstrap_key(secret_key)",
        "A file takes half the memory.",
        name="bootstrap key",
    )
    (
        write_relinearization_key,
        read_relinearization_key,
        serialize_relinearization_key,
        deserialize_relinearization_key,
    ) = methods(IntegerRelinearizationKey, "engine.create_relinearization_key(secret_key)", name="relinearization key")
    write_rotation_key, read_rotation_key, serialize_rotation_key, deserialize_rotation_key = methods(
        IntegerRotationKey, "engine.create_rotation_key(secret_key)", name="rotation key"
    )
    (
        write_integer_plaintext,
        read_integer_plaintext,
        serialize_integer_plaintext,
        deserialize_integer_plaintext,
    ) = methods(IntegerPlaintext, "engine.encode(values)", "It holds the message, readable for everybody.")
    (
        write_integer_ciphertext,
        read_integer_ciphertext,
        serialize_integer_ciphertext,
        deserialize_integer_ciphertext,
    ) = methods(IntegerCiphertext, "engine.encrypt(values, key)", "Its level and the bound on its noise go with it.")


_STORED = (
    IntegerSecretKey,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerBootstrapKey,
    IntegerPlaintext,
    IntegerCiphertext,
)
