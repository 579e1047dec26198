"""Bridges in rings that are as small as the ring of the look-ups allows, with all their keys."""

from __future__ import annotations

from typing import Any

from aglet import Bridge, BridgeKeys, Engine, LookupEngine, LweSecretKey, SecretKey
from support import ROOT

__all__ = ["Sides", "small"]


def small(log_n: int, slots: int) -> Engine:
    """As small as the ring of the look-ups allows."""
    text = (ROOT / "crates/aglet/presets/toy.toml").read_text().split("[claims]")[0]
    larger = text.replace("log_n = 10", f"log_n = {log_n}").replace('name = "toy"', f'name = "toy-{log_n}"')
    options: dict[str, Any] = {"preset": "toy"} if log_n == 10 else {"parameters": larger}
    return Engine(**options, slot_count=slots, allow_insecure=True)


class Sides:
    """A bridge with 64 slots, and both secret keys."""

    def __init__(self, log_n: int, bits: int) -> None:
        self.engine = small(log_n, 64)
        self.bridge = Bridge(self.engine, LookupEngine(bits=bits))
        self.secret: SecretKey = self.engine.create_secret_key()
        self.lwe: LweSecretKey = self.bridge.lookup_engine.create_secret_key()
        self.keys: BridgeKeys = self.bridge.create_keys(self.secret, self.lwe, size="medium")

    def decrypt(self, x: Any) -> Any:
        """What an array of look-ups holds."""
        return self.bridge.lookup_engine.decrypt(x, self.lwe)
