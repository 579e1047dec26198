"""Random functional bootstraps against numpy: every entry right, or refused; results within what they state."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import note

from aglet import Engine
from aglet.errors import LevelError, NoiseError
from fuzz.draws import seed
from support import toy

__all__ = ["program"]

_TIMES = 16.0
"""No slot errs more than so many times the stated root mean square: by its law less than once in 10^12 runs."""


@cache
def _toy() -> tuple[Engine, Any, tuple[Any, Any], dict[str, tuple[Any, ...]]]:
    engine = toy(8, 128)
    secret = engine.create_secret_key()
    arithmetic = engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)
    keys = {
        "regular": (engine.create_bootstrap_key(secret, stage_count=3),),
        "lossy": (engine.create_lossy_bootstrap_key(secret, stage_count=3),),
        "small": (engine.create_rotation_key(secret), engine.create_small_bootstrap_key(secret)),
    }
    return engine, secret, arithmetic, keys


def program(data: Any) -> None:
    """Tables of any size on sums of messages with errors, by any key, then a table of what comes out."""
    engine, secret, arithmetic, keys = _toy()
    random = np.random.default_rng(seed(data))
    entries = int(random.choice([*range(2, 18), 31, 32, 33, 64, 100, 255, 256]))
    low, step = float(random.choice([0, -1.5, 3])), float(random.choice([1, 0.25, 2, 1 / entries]))
    order, kind = int(random.choice([1, 1, 2, 3])), str(random.choice(["regular", "lossy", "small"]))
    real = bool(random.random() < 0.5)
    tables = [_table(random, entries) for _ in range(int(random.integers(1, 4)))]
    other = None if real or random.random() < 0.5 else [_table(random, entries) for _ in tables]
    options: dict[str, Any] = {"low": low, "step": step, "order": order, "real": real, "imaginary": other}
    note(f"{entries} entries, {kind}, {options}")
    places = random.integers(0, entries, (2, 2, engine.slot_count))
    error = float(random.choice([0, 2.0**-16, 2.0**-11, 2.0**-9])) * step
    x, y = (_slots(low / 2 + step * one, real) for one in places)
    x = x + error * random.choice([-1, 1], engine.slot_count)
    first, second = (
        engine.encrypt(
            one, secret, level=int(random.integers(0, engine.max_level + 1)), bound=2 * np.abs(one).max() + 1
        )
        for one in (x, y)
    )
    total = engine.add(first, second)
    size = {"size": "small"} if kind == "small" else {"method": kind}
    stated = (total.noise or 0.0) + 2 * error
    try:
        estimate = engine.functional_estimate(tables, stated, **size, **options)
    except LevelError:
        with pytest.raises(LevelError):
            engine.functional_bootstrap(total, tables, *arithmetic, *keys[kind], input_error=stated, **options)
        return
    if estimate.log2_failure is not None and estimate.log2_failure > -128:
        with pytest.raises(NoiseError):
            engine.functional_bootstrap(total, tables, *arithmetic, *keys[kind], input_error=stated, **options)
        return
    results = engine.functional_bootstrap(total, tables, *arithmetic, *keys[kind], input_error=stated, **options)
    sums = places.sum(axis=0) % entries
    for number, (of, result) in enumerate(zip(tables, results, strict=True)):
        imaginary = of if other is None else other[number]
        wanted = _slots(np.stack([of[sums[0]], imaginary[sums[1]]]), real)
        known = np.concatenate([of, imaginary])
        assert result.level == estimate.level
        assert (engine.decrypt_entries(result, secret, known) == wanted).all() or _close(known)
        assert np.abs(engine.decrypt(result, secret) - wanted).max() < _TIMES * result.noise


def _slots(parts: Any, real: bool) -> Any:
    return parts[0].astype(float) if real else parts[0] + 1j * parts[1]


def _table(random: np.random.Generator, entries: int) -> Any:
    """Entries of a grid, all equal never."""
    table = random.integers(0, int(random.choice([2, 4, entries])), entries) / entries
    table[random.integers(entries)] = table[0] + 1 if random.random() < 0.5 else -1.0
    return table if np.ptp(table) else _table(random, entries)


def _close(known: Any) -> bool:
    """Whether entries of two tables are nearer to each other than those of one: then a slot may be between them."""
    return bool(np.diff(np.unique(known)).min() < 1 / (2 * len(known)))
