"""The part of `IntegerEngine` that writes and reads files and bytes, with the methods that `Engine` has."""

from __future__ import annotations

from typing import Any

from aglet import _core
from aglet.files import Stores
from aglet.keys.kinds import BETWEEN, KINDS

__all__ = ["IntegerFiles"]


class IntegerFiles(Stores):
    """Mixed into `IntegerEngine`."""

    _core: _core.IntegerEngine

    def _class(self, words: str) -> str:
        # Keys of integers have the words of those of CKKS. All else of other families keeps its name, for the refusal.
        name = super()._class(words)
        return f"Integer{name}" if f"Integer{name}" in _SHARED else name

    def _storable(self, value: Any) -> Any:
        if not isinstance(value, _STORED):
            raise TypeError(
                f"Only keys, plaintexts and ciphertexts of integers can be written, not {type(value).__name__}; write "
                "arrays with numpy.save."
            )
        return value


_KEYS: list[Any] = [
    kind.types["integer"] for name, kind in KINDS.items() if "integer" in kind.types and name != BETWEEN
]
_STORED = (_core.IntegerPlaintext, _core.IntegerCiphertext, _core.IntegerFixedRotationKey, *_KEYS)
_SHARED = frozenset(kind.__name__ for kind in (_core.IntegerFixedRotationKey, *_KEYS))
