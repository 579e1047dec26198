"""The part of `IntegerEngine` that writes and reads files and bytes, with the methods that `Engine` has."""

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
from aglet.files import Stores

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
                f"Only keys, plaintexts and ciphertexts of integers are stored, not {type(value).__name__}; numpy.save "
                "writes arrays."
            )
        return value


_STORED = (
    IntegerSecretKey,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerBootstrapKey,
    IntegerPlaintext,
    IntegerCiphertext,
)
