"""All of numpy's namespace on whole numbers, in digits and in slots: right, or refused with a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet.arrays.whole import WholeNumbers
from aglet.errors import AgletError
from mixed_sets import three

CLEAR = np.array([[1, 3], [2, 0]], dtype=np.uint8)
PLAIN = np.array([[1, 0], [2, 1]], dtype=np.uint8)
NAMES = sorted(
    name
    for name in dir(np)
    if (hasattr(getattr(np, name), "__wrapped__") and name not in ("printoptions", "can_cast"))
    or isinstance(getattr(np, name), np.ufunc)
)
PATTERNS: dict[str, Callable[..., Any]] = {
    "f(a)": lambda f, a, b: f(a),
    "f(a, a)": lambda f, a, b: f(a, a),
    "f(a, plain)": lambda f, a, b: f(a, b),
    "f(plain, a)": lambda f, a, b: f(b, a),
    "f([a, a])": lambda f, a, b: f([a, a]),
    "f(a, axis=0)": lambda f, a, b: f(a, axis=0),
    "f(a, dtype=...)": lambda f, a, b: f(a, dtype=np.int16),
    "f(a, where=...)": lambda f, a, b: f(a, where=[[True, False], [True, True]]),
    "f(a, initial=...)": lambda f, a, b: f(a, initial=3),
    "f(a, keepdims=...)": lambda f, a, b: f(a, axis=1, keepdims=True),
    "f(v)": lambda f, a, b: f(a[0]),
    "f(v, v)": lambda f, a, b: f(a[0], a[1]),
    "f.reduce": lambda f, a, b: f.reduce(a),
    "f.accumulate": lambda f, a, b: f.accumulate(a),
    "f.outer": lambda f, a, b: f.outer(a, b),
    "f.at": lambda f, a, b: f.at(np.ones((2, 2)), 0, a),
}
# What Python and numpy say before an array is asked.
ELSEWHERE = re.compile(
    r"argument|not callable|subscript|attribute|iterable|ufunc|operand|scalar|expected|must be|requires"
)


def _sentence(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, AgletError | TypeError | ZeroDivisionError) and (
        text.endswith(".") or bool(ELSEWHERE.search(text))
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["digits", "slots"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_right_or_refused(pattern: str, kind: str) -> None:
    encrypted, call, given = three().encrypt(CLEAR, representation=kind), PATTERNS[pattern], 0
    if kind == "slots":
        encrypted = encrypted.assume(bound=(0, 3))
    for name in NAMES:
        error: Exception | None = None
        try:
            expected = call(getattr(np, name), CLEAR.copy(), PLAIN.copy())
        except Exception as one:
            error = one
        try:
            found = call(getattr(np, name), encrypted, PLAIN.copy())
        except Exception as refusal:
            if error is None and not _sentence(refusal):
                raise AssertionError(f"numpy.{name} as {pattern} has no sentence") from refusal
            continue
        if isinstance(found, np.ndarray) and name.endswith("_like"):
            # They take the dtype of anything that has one.
            continue
        assert error is None, f"numpy.{name} as {pattern} is an error of numpy, and not here: {error!r}"
        given += 1
        several = isinstance(found, list | tuple)
        assert not several or len(found) == len(expected), name
        for part, wanted in zip(found, expected, strict=True) if several else [(found, expected)]:
            if not hasattr(part, "session"):
                assert np.array_equal(part, wanted), f"numpy.{name} as {pattern}"
                continue
            wanted = np.asarray(wanted)
            assert part.shape == wanted.shape, f"numpy.{name} as {pattern}"
            if isinstance(part, WholeNumbers):
                assert part.dtype == wanted.dtype, f"numpy.{name} as {pattern}: {part.dtype}, not {wanted.dtype}"
            off = np.abs(three().decrypt(part) - wanted.astype(float)).max(initial=0)
            assert off < (0.25 if isinstance(part, WholeNumbers) else 2.0**-6), f"numpy.{name} as {pattern}: {off}"
    assert given or pattern not in ("f(a)", "f(a, plain)", "f(a, axis=0)", "f.reduce", "f(v, v)")
