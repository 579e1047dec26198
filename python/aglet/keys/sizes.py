"""What the keys of an engine take in memory, before they are made."""

from __future__ import annotations

import functools
from typing import Any

from aglet import _core
from aglet.ckks.options import presets

__all__ = ["key_bytes"]

_BABY_STEPS = 32
"""Of a matrix multiplication key."""
_PRIME_BITS = 50


def key_bytes(
    engine: Any, bootstrap: str | None, stage_count: int | None, method: str, *, rotation: bool, matrix: bool
) -> int:
    """Bytes of the keys that `create_keys` makes with these arguments, without a switch; right to a percent or so."""
    core, preset = engine._core, next((p for p in presets() if p["name"] == engine.preset), None)
    n, level = 1 << core.log_n, engine.max_level
    # A set of one's own says nothing of its primes.
    hidden, bits = 0, _PRIME_BITS if preset is None else preset["prime_bits"]
    made = 0
    if engine.can_bootstrap:
        plan = engine._plan(stage_count, bootstrap or "large", method)
        hidden = plan["stages"][0]["level_in"] - plan["input_level"]
        made += plan["other_key_bytes"] + (plan["key_bytes"] if bootstrap else 0)
    else:
        made += 2 * _switching(engine)
    # The secret modulo every prime, and as it was drawn; the public key with one special prime.
    made += (8 * round(core.log_qp / bits) + 1) * n
    made += 16 * n * (level + 2 + hidden)
    if rotation and engine.can_bootstrap and preset is not None:
        made += _rotation(engine.preset, engine.slot_count)
    elif rotation:
        made += (engine.slot_count.bit_length() - 1) * _switching(engine)
    return int(made + (core.matrix_key_bytes if matrix else 0))


def _switching(engine: Any) -> int:
    """Of one key that switches at all levels: a matrix multiplication key is as many of them as it has steps."""
    slots = engine.slot_count
    baby = min(_BABY_STEPS, slots)
    steps = baby - 1 + (slots // baby).bit_length() - 1
    if steps:
        return int(engine._core.matrix_key_bytes // steps)
    return _rotation(engine.preset, 2)


@functools.cache
def _rotation(preset: str, slots: int) -> int:
    """Of the rotation key, whose layout takes a second at the real size: only where one is made, and once."""
    return _core.rotation_key_bytes(preset, slots)[0]
