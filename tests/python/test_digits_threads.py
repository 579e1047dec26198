"""Digits and fixed formats that threads compute with: a digit that one of them refreshes is the same to others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import fixed
from aglet.arrays.digits.sums import Digit
from digit_sets import session

WORDS = np.array([[3, -120], [77, 64]], dtype=np.int8)
BYTE = fixed(8, 4)
MOMENTS = 12
"""Of all questions for a digit, about so many are followed by a refresh, one in each run."""


def _set(digit: Any, cells: Any) -> None:
    digit.__dict__["cells"] = cells


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + x[::-1], lambda x: x * x, lambda x: np.where(x > x.T, x, x.T), abs, lambda x: x >> 1,
        lambda x: np.sort(x, axis=0), lambda x: np.minimum(x, x[0]), lambda x: x.clip(-2, 3), lambda x: x.argmax(0),
        lambda x: np.concatenate([x, x[:1]]) < x[0, 0],
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["digits", "fixed"])
def test_digits_that_another_thread_refreshes(call: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = session()

    def made() -> Any:
        words = own.encrypt(WORDS) + own.encrypt(np.int8([1]))
        return BYTE.of(words) if kind == "fixed" else words

    def result(x: Any) -> Any:
        found = call(x)
        return own.decrypt(found.words() if hasattr(found, "words") else found)

    wanted, step, moment, asked = result(made()), 1, 1, 1
    while asked >= moment:
        asked, x = 0, made()
        digits = {id(one) for one in (x.words() if kind == "fixed" else x).digits}

        def read(self: Any, digits: Any = digits, moment: int = moment) -> Any:
            nonlocal asked
            found = self.__dict__["cells"]
            if id(self) in digits:
                asked += 1
                if asked == moment:
                    own.machine.refresh([self])
            return found

        with monkeypatch.context() as patched:
            patched.setattr(Digit, "cells", property(read, _set), raising=False)
            np.testing.assert_array_equal(result(x), wanted)
        step = max(step, asked // MOMENTS)
        moment += step
    assert moment > 3
