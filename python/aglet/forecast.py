"""A simple model of the time of a bootstrap, from its plan: limbs, keys, transforms.

It counts the transforms and the products of limbs that each stage of `_core.plan` makes; a product costs a fixed part
of a transform. What it leaves out, memory above all, is one factor, taken from bootstraps that were measured.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from aglet import _core

__all__ = ["TYPICAL_FACTOR", "calibrate", "seconds", "work"]

TYPICAL_FACTOR = 2.0
"""Measured over modelled where nothing was measured: the factor of docs/performance.md."""
_PRODUCT = 0.12
"""A product of two limbs, with its share of base conversions, over a transform."""


def _number(pattern: str, note: str, otherwise: float) -> float:
    found = re.search(pattern, note)
    return float(found[1]) if found else otherwise


def work(plan: Mapping[str, Any]) -> float:
    """Transforms of one limb that take as long as the bootstrap does, if memory were free."""
    n = 2 ** plan["log_n"]
    total = 0.0
    for stage in plan["stages"]:
        if not stage["keys"]:
            continue
        limbs = stage["level_in"] + 1
        digits = _number(r"(\d+) digits?", stage["note"], 3 if limbs > 8 else 1)
        extended = max(stage["key_bytes"] / stage["keys"] / (2 * digits * 8 * n), limbs)
        if stage["name"] == "eval_mod":
            switches = _number(r"(\d+) relinearizations", stage["note"], 14)
            middle = (stage["level_in"] + stage["level_out"]) / 2 + 1
            total += switches * _key_switch(middle, extended - limbs + middle, digits)
        elif "diagonals" in stage["note"]:
            diagonals = _number(r"(\d+) diagonals", stage["note"], 1)
            total += _linear_map(limbs, extended, digits, stage["keys"], diagonals)
        else:
            total += stage["keys"] * _key_switch(limbs, extended, digits)
    return total


def _key_switch(limbs: float, extended: float, digits: float) -> float:
    return digits * extended + 2 * extended + limbs + _PRODUCT * (2 * digits * extended + 4 * limbs)


def _linear_map(limbs: float, extended: float, digits: float, keys: float, diagonals: float) -> float:
    """Baby steps share one decomposition; each giant step has its own."""
    giant = max(math.ceil(diagonals / max(keys, 1)) - 1, 0)
    transforms = digits * extended * (1 + giant) + giant * extended + 2 * extended
    products = 2 * digits * extended * (keys + giant) + 2 * diagonals * extended
    return transforms + _PRODUCT * products


def seconds(plan: Mapping[str, Any], transform_us: float, factor: float) -> float:
    """Seconds of a bootstrap on one thread, where one transform of its ring takes `transform_us`."""
    return work(plan) * transform_us * 1e-6 * factor


def calibrate(measured: Iterable[tuple[Mapping[str, Any], float]], transform_us: float) -> float:
    """The factor that makes the model right for plans whose seconds are known, in the median."""
    factors = [known / seconds(plan, transform_us, 1.0) for plan, known in measured]
    return statistics.median(factors) if factors else TYPICAL_FACTOR


def transform_us(log_n: int, backend: str) -> float:
    """One transform of one limb, measured now."""
    return _core.bench_ntt(log_n, 50, backend, 15)["forward_us"]
