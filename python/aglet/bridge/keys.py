"""`BridgeKeys`: what a bridge takes for its two directions and for what is computed between them."""

from __future__ import annotations

from dataclasses import dataclass

from aglet import checks
from aglet._core import (
    BootstrapKey,
    BridgeKey,
    ConjugationKey,
    IntegerBootstrapKey,
    IntegerBridgeKey,
    LookupKey,
    PackingKey,
    RelinearizationKey,
)

__all__ = ["BridgeKeys", "IntegerBridgeKeys"]


@dataclass(frozen=True)
class BridgeKeys:
    """The keys of a bridge, none of which decrypts anything; `Bridge.create_keys` makes all of them.

    Parameters
    ----------
    bridge_key
        Of `Bridge.create_bridge_key`, for both directions.
    bootstrap_key
        Of `Engine.create_lossy_bootstrap_key`, for both directions. The way down takes any but a small one.
    lookup_key
        Of `LookupEngine.create_lookup_key`, for signs, comparisons and ranks.
    relinearization_key, conjugation_key
        Of `Engine`, for the way up.
    packing_key
        Of `LookupEngine.create_packing_key`, for tables of bytes.
    """

    bridge_key: BridgeKey
    bootstrap_key: BootstrapKey
    lookup_key: LookupKey | None = None
    relinearization_key: RelinearizationKey | None = None
    conjugation_key: ConjugationKey | None = None
    packing_key: PackingKey | None = None

    def _down(self) -> tuple[BridgeKey, BootstrapKey]:
        bridge = checks.need(self.bridge_key, BridgeKey, "bridge.create_bridge_key(secret_key, lwe_secret_key)")
        return bridge, checks.need(self.bootstrap_key, BootstrapKey, "engine.create_lossy_bootstrap_key(secret_key)")

    def _up(self) -> tuple[RelinearizationKey, ConjugationKey, BootstrapKey, BridgeKey]:
        bridge, bootstrap = self._down()
        relin, conj = self.relinearization_key, self.conjugation_key
        return (
            checks.need(relin, RelinearizationKey, "engine.create_relinearization_key(secret_key)"),
            checks.need(conj, ConjugationKey, "engine.create_conjugation_key(secret_key)"),
            bootstrap,
            bridge,
        )

    def _lookup(self) -> LookupKey:
        return checks.need(self.lookup_key, LookupKey, "lookup_engine.create_lookup_key(secret_key)")


@dataclass(frozen=True)
class IntegerBridgeKeys:
    """The keys of a bridge to integers, none of which decrypts anything; `IntegerBridge.create_keys` makes all.

    Parameters
    ----------
    bridge_key
        Of `IntegerBridge.create_bridge_key`, for both directions.
    bootstrap_key
        Of `IntegerEngine.create_bootstrap_key`, for both directions.
    lookup_key
        Of `LookupEngine.create_lookup_key`, for tables.
    packing_key
        Of `LookupEngine.create_packing_key`, for tables of bytes.
    """

    bridge_key: IntegerBridgeKey
    bootstrap_key: IntegerBootstrapKey
    lookup_key: LookupKey | None = None
    packing_key: PackingKey | None = None

    def _down(self) -> tuple[IntegerBridgeKey, IntegerBootstrapKey]:
        bridge = checks.need(self.bridge_key, IntegerBridgeKey, "bridge.create_bridge_key(secret_key, lwe_secret_key)")
        return bridge, checks.need(self.bootstrap_key, IntegerBootstrapKey, "engine.create_bootstrap_key(secret_key)")

    def _lookup(self) -> LookupKey:
        return checks.need(self.lookup_key, LookupKey, "lookup_engine.create_lookup_key(secret_key)")
