"""What plans of programs with fixed formats count: the rotations that the core reports of a run on ciphertexts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import DigitSession, Session, fixed
from digit_sets import toy, toy_keys
from mixed_sets import small

PRICE, BYTE = fixed(16, 8), fixed(8, 4)
PROGRAMS: dict[str, Any] = {
    "product": (lambda x, y: x * y, PRICE),
    "by numbers in the clear": (lambda x, y: 1.5 * x - y / 4 + 0.25, PRICE),
    "choice": (lambda x, y: np.where(x > y, x * y, abs(y) >> 1), BYTE),
    "casts": (lambda x, y: (x.astype(BYTE, casting="unsafe") * 2).astype(np.int8, casting="unsafe") + 1, PRICE),
    "order": (lambda x, y: np.where(np.abs(x) >= 0.5, x, y).clip(-1, 1) < y[0], BYTE),
    "sum": (lambda x, y: (x.sum(dtype=PRICE) < y[0]).any(), PRICE),
    "products of products": (lambda x, y: np.minimum(x * y, y) * x, fixed(8, 7)),
    "unsigned": (lambda x, y: (x * y + x).cumsum(dtype=fixed(8, 4, signed=False)), fixed(8, 4, signed=False)),
    "bound": (lambda x, y: x.assume(bound=2) * y.assume(bound=(0, 1)), PRICE),
    "refreshed": (lambda x, y: (x + y).refresh() - x, BYTE),
}


def _clear(dtype: fixed) -> list[Any]:
    return [dtype.round(np.array(one)) for one in ([0.5, 0.875, 0.25], [0.75, 0.125, 0.625])]


@pytest.mark.parametrize("name", PROGRAMS)
def test_rotations_are_those_of_a_run(name: str) -> None:
    program, dtype = PROGRAMS[name]
    counted: list[int] = []

    def progress(done: int, total: int, what: str) -> None:
        assert what == "rotations"
        counted.extend([done] * (done == total))

    own = DigitSession(toy(), toy_keys(), progress=progress)
    program(*(own.encrypt(one, dtype) for one in _clear(dtype)))
    assert own.rotations == sum(counted) > 0
    plan = DigitSession.plan(program, [((3,), dtype)] * 2, engine=toy())
    assert plan.rotations == own.rotations
    engine: Any = small().engine
    for sample in (None, _clear(dtype)):
        of_all = Session.plan(
            program, [(3,), (3,)], dtypes=[dtype] * 2, sample=sample, engine=engine, fhew_engine=toy()
        )
        assert of_all.blind_rotations == own.rotations


def test_a_program_that_ends_in_floats() -> None:
    """The casts of its digits are those of a run; what CKKS does beside them is its own."""
    own = small()
    assert own.digits is not None

    def program(x: Any, y: Any) -> Any:
        return (np.where(x > 0.5, x, 0) * x).astype(np.float64) * y

    before = own.digits.rotations
    program(own.encrypt([0.5, 0.75], dtype=BYTE), own.encrypt([0.5, -0.5]))
    engine: Any = own.engine
    plan = Session.plan(program, [(2,), (2,)], dtypes=[BYTE, np.float64], engine=engine, fhew_engine=toy())
    assert plan.blind_rotations == own.digits.rotations - before > 0


def test_a_long_sort_takes_no_more_than_a_plan_says() -> None:
    """Ciphertexts know that noise of `a + b - min(a, b)` cancels; a model adds it up, and refreshes more often."""

    def program(x: Any, y: Any) -> Any:
        return np.sort(np.concatenate([x, y]))

    own = DigitSession(toy(), toy_keys())
    program(*(own.encrypt(one, BYTE) for one in _clear(BYTE)))
    planned = DigitSession.plan(program, [((3,), BYTE)] * 2, engine=toy()).rotations
    assert own.rotations <= planned < 1.5 * own.rotations
    assert planned == DigitSession.plan(program, [((3,), np.int8)] * 2, engine=toy()).rotations
