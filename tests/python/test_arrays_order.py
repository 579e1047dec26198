"""Sorting and extremes along axes, of lengths that are no power of two, beside numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Engine, RangeError, Session
from fuzz.checked import check

RANDOM = np.random.default_rng(31)
TABLE = RANDOM.permutation(12).reshape(3, 4) / 8 - 0.7
CUBE = RANDOM.permutation(24).reshape(2, 3, 4) / 16 - 0.7
# Equal ones, and one axis of length 1.
EQUAL = np.array([[0.5, -0.25, 0.5], [0.5, 0.5, 0.5], [0, -0.25, -0.25]])
LONG = np.array([0.3, -0.7, 0.9, 0.1, -0.2, 0.6, -0.9, 0.5, 0.0, 0.75, -0.5])


@pytest.fixture(scope="module")
def session() -> Session:
    engine = Engine(preset="toy", allow_insecure=True, slot_count=256)
    return Session(engine, engine.create_keys(), alpha=5, error_bits=12)


CALLS: dict[str, Callable[[Any], Any]] = {
    "max of rows": lambda x: np.max(x, axis=1),
    "max of columns": lambda x: x.max(0),
    "max of all": lambda x: x.max(),
    "max, axes kept": lambda x: np.max(x, axis=-1, keepdims=True),
    "max of no axis": lambda x: np.max(x, axis=()),
    "min of two axes": lambda x: x.min(axis=(0, -1)),
    "argmax of columns": lambda x: np.argmax(x, axis=0),
    "argmax of all": lambda x: np.argmax(x) * 1.0,
    "argmin of rows, axes kept": lambda x: np.argmin(x, axis=-1, keepdims=True),
    "sort": np.sort,
    "sort of columns": lambda x: np.sort(x, axis=0),
    "sort of all": lambda x: np.sort(x, axis=None),
    "argsort": lambda x: x.argsort(axis=-1),
    "argsort, stable": lambda x: np.argsort(x, axis=0, kind="stable"),
    "of a view": lambda x: np.sort(x[::-1].T[1:], axis=-1),
}


@pytest.mark.parametrize("values", [TABLE, CUBE[:, :2]], ids=["table", "cube"])
@pytest.mark.parametrize("name", CALLS)
def test_along_axes(session: Session, name: str, values: Any) -> None:
    expected = np.asarray(CALLS[name](values), dtype=float)
    check(session, CALLS[name](session.encrypt(values)), expected, 2.0**-9)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 11])
def test_lengths(session: Session, count: int) -> None:
    """Places beyond the last value never come out."""
    for values in (LONG[:count], -LONG[:count]):
        x = session.encrypt(values)
        check(session, np.sort(x), np.sort(values), 2.0**-9)
        check(session, np.max(x), values.max(), 2.0**-9)
        check(session, x.min(), values.min(), 2.0**-9)
        check(session, np.argmax(x), float(values.argmax()), 2.0**-8)
        check(session, x.argmin(), float(values.argmin()), 2.0**-8)
        check(session, np.argsort(x), np.argsort(values) * 1.0, 2.0**-7)


def test_equal_values(session: Session) -> None:
    x = session.encrypt(EQUAL)
    for axis in (0, 1):
        check(session, np.sort(x, axis), np.sort(EQUAL, axis), 2.0**-9)
        check(session, np.argsort(x, axis), np.argsort(EQUAL, axis, kind="stable") * 1.0, 2.0**-7)
        check(session, np.argmax(x, axis), np.argmax(EQUAL, axis) * 1.0, 2.0**-8)
        check(session, np.argmin(x, axis), np.argmin(EQUAL, axis) * 1.0, 2.0**-8)
        check(session, np.max(x, axis), np.max(EQUAL, axis), 2.0**-9)


def test_one_value(session: Session) -> None:
    """Nothing is compared, and no level used."""
    for values in (np.array(0.5), np.array([0.5]), np.array([[0.5], [-0.5]])):
        x = session.encrypt(values, level=1)
        for call in (np.max, np.argmin) if values.size == 1 else (lambda a: a.max(1), lambda a: np.argmax(a, -1)):
            found = call(x)
            check(session, found, np.asarray(call(values), dtype=float))
            assert found.level == 1
    check(session, np.sort(session.encrypt([0.5])), np.array([0.5]))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: np.max(x, axis=2), RangeError, "does not exist"),
        (lambda x: np.sort(x, axis=-3), RangeError, "does not exist"),
        (lambda x: np.argmax(x, axis=(0, 1)), TypeError, "whole number"),
        (lambda x: np.argmin(x, axis=True), TypeError, "whole number"),
        (lambda x: np.sort(x, kind="best"), ValueError, "choose one of quicksort"),
        (lambda x: np.sort(x, stable=True), TypeError, "stable"),
        (lambda x: np.max(x, out=np.zeros(())), TypeError, "out="),
        (lambda x: np.sort(x * 1j), RangeError, "real numbers"),
        (lambda x: np.max(np.tile(x, 5), axis=1), RangeError, "at most 16"),
        (lambda x: np.sort(x[0, 0]), RangeError, "does not exist"),
    ],
)
def test_what_is_not_served_says_why(
    session: Session, call: Callable[[Any], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(session.encrypt(TABLE))


@pytest.mark.parametrize("call", [lambda x: np.sort(x, axis=0), lambda x: np.max(x, axis=1), np.argmin])
def test_plan(session: Session, call: Callable[[Any], Any]) -> None:
    """Levels are those of the run."""
    plan = Session.plan(call, [TABLE.shape], engine=session.engine, alpha=5, error_bits=12)
    assert plan.level == call(session.encrypt(TABLE)).level
