"""The time of bootstraps of `IntegerEngine`, from records of this machine or, if there are none, of another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aglet import _core
from aglet.integer.bootstrapping import BOOTSTRAP_INPUT_LEVEL
from aglet.integer.engine import IntegerEngine
from aglet_bench.advise import Refreshing, Wish

__all__ = ["IntegerAdvice", "integer_ways"]


@dataclass(frozen=True)
class IntegerAdvice(Refreshing):
    """One parameter set of integers with a bootstrap. Every result is exact."""

    preset: str
    slot_count: int
    level_in: int
    level_out: int
    bits: float
    """The bits of a number modulo t."""
    seconds: float
    """The seconds of one bootstrap on one thread."""
    seconds_measured: bool
    """Whether it was measured on this kind of machine."""
    bootstraps: int
    """The bootstraps that refresh all values."""
    key_bytes: int
    memory_bytes: int
    method: str = "integers"

    @property
    def seconds_per_value(self) -> float:
        """The seconds per value with full ciphertexts."""
        return self.seconds / self.slot_count

    def calls(self, _levels: int) -> str:
        """The program. Results always have all levels."""
        return "\n".join(
            [
                f'engine = IntegerEngine(preset="{self.preset}")',
                "bootstrap_key = engine.create_bootstrap_key(secret_key)",
                "refreshed = engine.bootstrap(ciphertext, bootstrap_key)",
            ]
        )


def _latest(records: Iterable[Mapping[str, Any]], preset: str) -> tuple[Mapping[str, Any] | None, bool]:
    """The latest record of a bootstrap on one thread, and whether it is from this kind of machine.

    A record of another machine with the same kernels comes before one with other kernels, which differ most.
    """
    machine = _core.doctor()
    best: Mapping[str, Any] | None = None
    best_like = (False, False)
    for record in records:
        if (record.get("kind"), record.get("operation")) != ("integer", "bootstrap"):
            continue
        if record.get("preset") != preset or record.get("threads") != 1:
            continue
        backend = record.get("backend") == machine["backend"]
        like = backend, backend and record.get("cpu") == machine["cpu"]
        if best is None or like >= best_like:
            best, best_like = record, like
    return best, best_like[1]


def integer_ways(wish: Wish, records: Iterable[Mapping[str, Any]]) -> list[IntegerAdvice]:
    """The parameter sets of integers whose bootstrap fits the values: integers, or bits as the numbers 0 and 1.

    A set without a record is left out.
    """
    if wish.values not in ("integers", "bits"):
        return []
    records, found = list(records), []
    for preset in _core.integer_presets():
        if not preset["is_secure"]:
            continue
        record, own = _latest(records, preset["name"])
        engine = IntegerEngine(preset=preset["name"])
        level_out = engine.bootstrap_output_level
        if record is None or level_out is None:
            continue
        key, maps = engine.bootstrap_forecast()
        advice = IntegerAdvice(
            preset["name"],
            engine.slot_count,
            BOOTSTRAP_INPUT_LEVEL,
            level_out,
            1 if wish.values == "bits" else math.log2(engine.plaintext_modulus),
            record["seconds"],
            own,
            math.ceil(wish.slots / engine.slot_count),
            key,
            max(key + maps, int(record.get("peak_rss_bytes", 0))),
        )
        # Bits are exact, whatever precision was asked of a real number that stands for one.
        precise = wish.values == "bits" or advice.bits >= wish.bits
        if precise and advice.levels >= wish.levels and advice.memory_bytes <= (wish.memory_bytes or math.inf):
            found.append(advice)
    return found
