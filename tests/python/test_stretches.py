"""Elements that go to slots further apart: every size and distance in the clear, against where they are wanted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aglet.arrays import stretches
from aglet.arrays.rotations import parts_of


class _Clear:
    """A machine whose chunks are numbers."""

    def multiply(self, x: Any, y: Any) -> Any:
        return x * y

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def rotate(self, x: Any, steps: list[int]) -> Any:
        return [np.roll(x, step) for step in steps]


@pytest.mark.parametrize("to", [0, 1, 5])
@pytest.mark.parametrize("first", [0, 3])
def test_stages_never_bring_two_elements_to_one_slot(first: int, to: int) -> None:
    """The copies of a run that is cut short come around at the end of the slots, if they are not refused."""
    slots, plans = 128, 0
    for size in range(16, slots - first):
        for apart in range(2, (slots - to) // size + 1):
            x, wanted, target = np.full(slots, 1e6), np.zeros(slots), to + np.arange(size) * apart
            x[first + np.arange(size)] = wanted[target] = 1 + np.arange(size)
            session, index = SimpleNamespace(slots=slots, machine=_Clear()), first + np.arange(size)
            array: Any = SimpleNamespace(session=session, period=None, filler=None, chunks=[x], index=index)
            array.still = lambda array=array: array
            plan = stretches.planned(array, parts_of(index, target, array, 1)[0], 9)
            if plan is not None:
                plans += 1
                np.testing.assert_array_equal(stretches.stretched(array, plan), wanted)
    assert plans > 80
