"""The figures of every bootstrap of the secure presets, from a table, because planning all of them takes many seconds.

`tools/plan_table.py` makes the table with the functions here, and a test computes a sample of it again.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from aglet import _core, forecast

__all__ = ["Planned", "compute", "iterated_bits", "of", "predict", "predicted_bits", "seconds"]

SECURE = 128.0
SIZES = ("large", "medium", "small")
STAGES = range(1, 6)
PAIRS = ("merge", "lossy-merge")
MAX_LAYERS = 6
"""The most layers of the DFT in one map. Larger maps take more memory and time than one more stage."""
_UNCLAIMED = 20.0
_CLAIM_MARGIN = 4.0
"""The first of two iterations is trusted this many bits below the claim of its preset (`iterated.rs`)."""


@dataclass(frozen=True)
class Planned:
    """One bootstrap, to the highest level that it can leave."""

    preset: str
    method: str
    key_size: str
    stage_count: int
    slot_count: int
    real: bool
    input_level: int
    output_level: int
    key_bytes: int
    """The bytes of all keys that it reads."""
    peak_bytes: int
    work: tuple[int, ...]
    """The limbs of each kind of unit."""


def label(size: str, stages: int, real: bool) -> str:
    """The name of a row, within a preset, a method and a number of slots."""
    return f"{size}/{stages}/{'real' if real else 'complex'}"


def layers(slots: int, stages: int) -> int:
    """The layers of the DFT in the largest map."""
    return math.ceil((slots.bit_length() - 1) / stages)


def stages_of(preset: _core.PresetInfo, slots: int) -> list[int]:
    """The possible numbers of stages, for a preset and a number of slots. SHIP has one."""
    if not preset["raises_modulus"]:
        return [1] if slots == preset["slots"] or slots <= preset["few_slots"] else []
    return [stages for stages in STAGES if layers(slots, stages) <= MAX_LAYERS]


def advised(preset: _core.PresetInfo) -> bool:
    """Whether the table has the preset.

    It must be secure, bootstrap, and claim a precision, which sets for bits alone do not.
    """
    secure = preset["security_bits"] >= SECURE
    return bool(preset["methods"]) and secure and preset["precision_bits"] is not None


def noise_of(method: str) -> str:
    """The method whose noise it has. Levels and the parts of a message do not matter."""
    return method if method in ("sign", "bits") else "regular"


def compute(preset: str, method: str, size: str, stages: int, slots: int, real: bool) -> list[int]:
    """The row of the table: levels, bytes of the keys and of the peak, limbs of work."""
    plan = _core.plan(preset, method, stages, size, slots, real)
    work = forecast.limbs(plan, plan["stages"])
    rotations = 0
    if size == "small":
        # The rotation key of the user, for all powers of two at the highest level, is not in the plan.
        rotations = (plan["log_n"] - 1) * max(s["key_bytes"] // s["keys"] for s in plan["stages"] if s["keys"])
    keys = plan["key_bytes"] + plan["other_key_bytes"] + rotations
    levels = [plan["input_level"], plan["output_level"]]
    return [*levels, keys, plan["peak_bytes"] + rotations, *(round(words) for words in work)]


def predict(preset: str, noise: str, slots: int) -> float:
    """The mean bits from running the plan on plain values with the noise of ciphertexts.

    Keys and stages matter little.
    """
    return _core.predicted_precision(preset, noise, None, "large", slots)["mean_bits"]


@functools.cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        resources.files("aglet_bench.ckks").joinpath("planned.json").read_text(encoding="utf-8")
    )
    return found


def of(preset: str, method: str, slots: int) -> Iterator[Planned]:
    """All bootstraps of a preset with a method and a number of slots; empty if there are none."""
    for name, (level_in, level_out, keys, peak, *work) in (
        _table()["plans"].get(f"{preset}/{method}/{slots}", {}).items()
    ):
        size, stages, kind = name.split("/")
        real = kind == "real"
        yield Planned(preset, method, size, int(stages), slots, real, level_in, level_out, keys, peak, tuple(work))


def seconds(plan: Planned, units: Mapping[str, float]) -> float:
    """The seconds of its work on one thread, at these microseconds per limb of each kind."""
    return forecast.of_limbs(plan.work, units)


def predicted_bits(preset: str, method: str, slots: int) -> float:
    """The mean precision of one iteration."""
    return float(_table()["bits"][f"{preset}/{noise_of(method)}/{slots}"])


def iterated_bits(preset: _core.PresetInfo, slots: int, one: float) -> float:
    """The mean precision of two iterations, each of precision `one`.

    Two roundings at the scale of the messages limit it.

    Under a dense secret a rounding leaves a deviation of `N / 6` in each component of a slot, `sqrt(2N/3 / 12 * N/2)`.
    Decoding few slots averages it.
    """
    claimed = preset["precision_bits"]
    both = one + math.floor(_UNCLAIMED if claimed is None else claimed) - _CLAIM_MARGIN
    n = 2.0 ** preset["log_n"]
    deviation = n / 6 * math.sqrt(slots / (n / 2))
    rounding = preset["scale_bits"] - math.log2(math.sqrt(math.pi / 2) * deviation) - 0.5
    return -0.5 * math.log2(4.0**-both + 4.0**-rounding)
