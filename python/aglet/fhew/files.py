"""The part of `FhewEngine` that writes and reads files and bytes, with the methods that `Engine` has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aglet import _core
from aglet._core import FhewBootstrapKey, FhewPublicKey, FhewSecretKey, PackingKey
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.files import Stores

__all__ = ["FhewFiles"]


class FhewFiles(Stores):
    """Mixed into `FhewEngine`."""

    _core: _core.FhewEngine

    def _fetch(self, ciphertexts: Sequence[Any]) -> None:
        """A card gives all results of a call back together: they are here."""

    def _storable(self, value: Any) -> Any:
        if isinstance(value, FhewCiphertext):
            return value._array
        if not isinstance(value, FhewBootstrapKey | FhewPublicKey | FhewSecretKey | PackingKey):
            raise TypeError(f"Only keys and ciphertexts are stored, not {type(value).__name__}; use numpy.save.")
        return value

    def _restored(self, found: Any) -> Any:
        return FhewCiphertext._of(found) if isinstance(found, _core.FhewArray) else found

    def _class(self, words: str) -> str:
        return "FhewArray" if words == "fhew ciphertext" else super()._class(words)
