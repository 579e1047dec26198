"""The part of `LookupEngine` that writes and reads files and bytes, as the one of `Engine` does."""

from __future__ import annotations

from typing import Any

from aglet import _core
from aglet._core import LookupKey, LweSecretKey, PackingKey
from aglet.files import Stores, methods
from aglet.lookup.ciphertext import LweCiphertext

__all__ = ["LookupFiles"]


class LookupFiles(Stores):
    """Mixed into `LookupEngine`."""

    _core: _core.LookupEngine

    def _storable(self, value: Any) -> Any:
        if isinstance(value, LweCiphertext):
            return value._array
        if not isinstance(value, LookupKey | PackingKey | LweSecretKey):
            raise TypeError(f"Keys and ciphertexts are written, not {type(value).__name__}; numpy.save writes arrays.")
        return value

    def _restored(self, found: Any) -> Any:
        return LweCiphertext._of(found) if isinstance(found, _core.LweArray) else found

    def _class(self, words: str) -> str:
        return "LweArray" if words == "lwe ciphertext" else super()._class(words)

    write_lwe_secret_key, read_lwe_secret_key, serialize_lwe_secret_key, deserialize_lwe_secret_key = methods(
        LweSecretKey,
        "engine.create_secret_key()",
        "Whoever has it can decrypt. Only its owner may read the file (mode 0600).",
    )
    write_lookup_key, read_lookup_key, serialize_lookup_key, deserialize_lookup_key = methods(
        LookupKey,
        "engine.create_lookup_key(secret_key)",
        "A file takes a half to a quarter of the memory of the key: seeds stand for what is uniform.",
    )
    write_packing_key, read_packing_key, serialize_packing_key, deserialize_packing_key = methods(
        PackingKey, "engine.create_packing_key(secret_key)", "A file takes half of the memory of the key."
    )
    write_lwe_ciphertext, read_lwe_ciphertext, serialize_lwe_ciphertext, deserialize_lwe_ciphertext = methods(
        LweCiphertext,
        "engine.encrypt(values, secret_key)",
        "A fresh ciphertext takes 41 to 42 bytes, the result of a gate or table some thousands.",
    )
