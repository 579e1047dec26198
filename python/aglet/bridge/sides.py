"""What every bridge has: two engines, their keys checked and made in one way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from aglet import checks
from aglet._core import LweSecretKey
from aglet.files import Stores
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from aglet._core import PackingKey
    from aglet.lookup.engine import LookupEngine

__all__ = ["Sides"]


class Sides(Stores):
    """Mixed into `Bridge` and `IntegerBridge`."""

    _core: Any
    _engine: Any
    _lookup_engine: LookupEngine
    _keys: ClassVar[type[Any]]
    """The keys that its methods take."""

    def __reduce__(self) -> Any:
        return type(self), (self._engine, self._lookup_engine)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} between {self._engine!r} and {self._lookup_engine!r}>"

    @property
    def lookup_engine(self) -> LookupEngine:
        """The engine of gates, tables and signs."""
        return self._lookup_engine

    @property
    def security_bits(self) -> float:
        """Classical security in bits of the weaker side: a bridge key binds both secrets, so who has one has both."""
        return float(min(self._engine._core.security_bits, self._lookup_engine.security_bits))

    @property
    def key_bytes(self) -> int:
        """Bytes in memory that the bridge key takes, beside the keys of both engines. No key is made."""
        return int(self._core.key_bytes)

    def _need(self, keys: Any) -> Any:
        return checks.need(keys, self._keys, "bridge.create_keys(secret_key, lwe_secret_key)")

    def _bridge_key(self, own: Any, lwe_secret_key: Any, limit: int | None, progress: ProgressCallback | None) -> Any:
        theirs = checks.need(lwe_secret_key, LweSecretKey, "lookup_engine.create_secret_key()")
        most = checks.optional_count("memory_limit_bytes", limit)
        with progress_bar(progress) as report:
            return self._core.create_bridge_key(own, theirs, most, report)

    def _packing_key(self, lwe_secret_key: LweSecretKey, packing: bool) -> PackingKey | None:
        made = checks.flag("packing", packing)
        return self._lookup_engine.create_packing_key(lwe_secret_key) if made else None
