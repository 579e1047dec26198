"""Random comparisons of encrypted real numbers by polynomials: right where decided, in between elsewhere."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import note
from numpy.typing import NDArray

from aglet import Engine
from aglet.errors import RangeError
from fuzz.draws import seed
from support import toy

__all__ = ["program"]

_NOISE = 2.0**-14
"""More than a refresh of the toy ring leaves."""


@cache
def _toy() -> tuple[Engine, Any, tuple[Any, Any, Any]]:
    engine = toy(8, 128)
    secret = engine.create_secret_key()
    keys = (
        engine.create_relinearization_key(secret),
        engine.create_conjugation_key(secret),
        engine.create_bootstrap_key(secret),
    )
    return engine, secret, keys


def program(data: Any) -> None:
    """One comparison of vectors with ties, ends, and numbers that are decided only just, at any level."""
    engine, secret, keys = _toy()
    random = np.random.default_rng(seed(data))
    words = {"alpha": int(random.integers(3, 13)), "error_bits": int(random.choice([12, 20]))}
    least, bound = 2.0 ** -words["alpha"], [None, 1.0, 0.75][random.integers(3)]
    x, y = (_values(random, engine.slot_count, least, bound or 1.0) for _ in range(2))
    y[::9] = x[::9]
    first, second = (
        engine.encrypt(one, secret, level=int(random.integers(0, engine.max_level + 1)), bound=bound) for one in (x, y)
    )
    name = ["sign", "relu", "compare", "maximum", "minimum"][random.integers(5)]
    operands = 1 if name in ("sign", "relu") else 2
    note(f"{name}, {words}, bound={bound}")
    if random.random() < 0.1:
        large = engine.encrypt(x, secret, bound=1.5) if bound else engine.encrypt(1.5 + 0 * x, secret)
        with pytest.raises(RangeError, match=r"larger than 1|as large as"):
            getattr(engine, name)(*[large, second][:operands], *keys, **words)
        return
    found = engine.decrypt(getattr(engine, name)(*[first, second][:operands], *keys, **words), secret).real
    _check(name, found, (x, y), words)


def _values(random: np.random.Generator, count: int, least: float, bound: float) -> NDArray[np.float64]:
    values = random.uniform(-bound, bound, count)
    values[::4] = random.choice([-bound, bound], len(values[::4]))
    values[1::4] = random.choice([-1, 1], len(values[1::4])) * least * random.choice([1, 1.01, 2, 0.5])
    values[2::16] = 0
    return values.clip(-bound, bound)


def _check(name: str, found: Any, given: tuple[Any, Any], words: dict[str, int]) -> None:
    x, y = given
    least, error = 2.0 ** -words["alpha"], 2.0 ** -words["error_bits"] + _NOISE
    expected: Any = {
        "sign": np.sign(x),
        "relu": np.maximum(x, 0),
        "compare": (x > y).astype(float),
        "maximum": np.maximum(x, y),
        "minimum": np.minimum(x, y),
    }[name]
    clear = np.abs(x) >= least if name in ("sign", "relu") else np.abs(x - y) >= 2 * least
    assert np.abs(found - expected)[clear].max(initial=0) < error
    # Undecided: between the results of both sides.
    low, high = {"sign": (-1, 1), "compare": (0, 1)}.get(name, (expected - least, expected + least))
    assert ((found >= low - error) & (found <= high + error)).all()
