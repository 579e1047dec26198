"""What the test files share: the toy engine, the published snippets, and small comparisons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aglet import Engine

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 2.0**-16


class ToyEngine(Engine):
    """The engine with the toy ring whenever bootstrapping is asked for; subclassing is part of the interface."""

    def __init__(
        self,
        *positional: Any,
        use_bootstrap: bool = False,
        use_bootstrap_to_14_levels: bool = False,
        **named: Any,
    ) -> None:
        if use_bootstrap_to_14_levels:
            super().__init__(*positional, preset="toy14", allow_insecure=True, **named)
        elif use_bootstrap:
            super().__init__(*positional, preset="toy", allow_insecure=True, **named)
        else:
            super().__init__(*positional, **named)


SNIPPETS = sorted(path.name.removesuffix(".py.txt") for path in (ROOT / "tests/python/snippets").glob("*.py.txt"))


def snippet(name: str) -> str:
    """A published program with only its import changed."""
    text = (ROOT / "tests" / "python" / "snippets" / f"{name}.py.txt").read_text()
    changed, count = re.subn(r"^from \w+ import Engine$", "from aglet import Engine", text, flags=re.MULTILINE)
    assert count == 1
    return changed


def random_message(count: int, seed: int) -> np.ndarray:
    """Complex numbers, uniform on the unit disc."""
    random = np.random.default_rng(seed)
    return np.sqrt(random.uniform(0, 1, count)) * np.exp(2j * np.pi * random.uniform(0, 1, count))


def assert_near(actual: ArrayLike, expected: ArrayLike, tolerance: ArrayLike = TOLERANCE) -> None:
    """Every slot within `tolerance`, one for all of them or one for each."""
    error = np.abs(np.asarray(actual) - np.asarray(expected))
    part = error / np.asarray(tolerance)
    slot = int(part.argmax())
    assert part.max() < 1, f"slot {slot} is off by {error.flat[slot]:.3g}"
