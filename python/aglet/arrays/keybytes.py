"""What the keys of an engine take in memory, before they are made."""

from __future__ import annotations

from typing import Any

from aglet import _core

__all__ = ["key_bytes"]

_BABY_STEPS = 32
"""Of a matrix multiplication key."""


def key_bytes(
    engine: Any, bootstrap: str | None, stage_count: int | None, method: str, *, rotation: bool, matrix: bool
) -> int:
    """Bytes of the keys that `create_keys` makes with these arguments, without a bridge; right to a percent or so."""
    preset = next(p for p in _core.presets() if p["name"] == engine.preset)
    n, level = 1 << preset["log_n"], engine.max_level
    hidden, bits = 0, preset["prime_bits"]
    made = 0
    if engine.can_bootstrap:
        plan = _core.plan(engine.preset, method, stage_count, bootstrap or "large", engine.slot_count)
        hidden = plan["stages"][0]["level_in"] - plan["input_level"] if method == "regular" else 0
        made += plan["other_key_bytes"] + (plan["key_bytes"] if bootstrap else 0)
        moves = _core.rotation_key_bytes(engine.preset, engine.slot_count)[0]
    else:
        each = _switching(engine, preset)
        made += 2 * each
        moves = (engine.slot_count.bit_length() - 1) * each
    # The secret modulo every prime, and as it was drawn; the public key with one special prime.
    made += (8 * round(preset["log_qp"] / bits) + 1) * n
    made += 16 * n * (level + 2 + hidden)
    made += moves if rotation else 0
    return int(made + (engine._core.matrix_key_bytes if matrix else 0))


def _switching(engine: Any, preset: _core.PresetInfo) -> int:
    """Of one key that switches at all levels: a matrix multiplication key is as many of them as it has steps."""
    slots = engine.slot_count
    baby = min(_BABY_STEPS, slots)
    steps = baby - 1 + (slots // baby).bit_length() - 1
    if steps:
        return int(engine._core.matrix_key_bytes // steps)
    return int(_core.rotation_key_bytes(preset["name"], 2)[0])
