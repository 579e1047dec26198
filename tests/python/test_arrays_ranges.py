"""What an array states of its values is held against them where they are decrypted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Engine, RangeError, SerializationError, Session
from support import toy

X = np.linspace(-0.9, 0.9, 20)


@pytest.fixture(scope="module")
def session(engine: Engine) -> Session:
    return Session(engine, engine.create_keys())


def test_a_range_that_does_not_hold(session: Session) -> None:
    """Said by mistake: what a polynomial makes of it, outside of its domain, is no function of the values."""
    x = session.encrypt(X)
    with pytest.raises(RangeError, match=r"states values within \[-0\.5, 0\.5\] and holds 0\.9"):
        session.decrypt(x.assume(bound=0.5))
    with pytest.raises(RangeError, match=r"within \[0, 1\] and holds -0\.9"):
        session.decrypt(x.assume(bound=(0, 1)))
    steep = session.chebyshev((4 * x).assume(bound=1), [0] * 9 + [1])
    with pytest.raises(RangeError, match="states values"):
        session.decrypt(steep)
    with pytest.raises(RangeError, match=r"holds 0\.9"):
        session.decrypt((x * 1j).assume(bound=0.5))


def test_noise_is_no_value(session: Session) -> None:
    """At the ends of a range, of small ones too, and what is no element."""
    for values, bound in ((np.ones(20), 1), (np.zeros(20), (0, 1)), (np.full(20, 1e-9), 1e-9), (X, (-0.9, 0.9))):
        found = session.decrypt((session.encrypt(values, bound=bound) * 1.0).refresh())
        assert np.abs(found - values).max() < 2.0**-16
    part = session.encrypt(X)[8:12].assume(bound=0.2)
    assert np.abs(session.decrypt(part) - X[8:12]).max() < 2.0**-16


@pytest.mark.parametrize("interval", [[-0.5, 0.5], [0.0, 1.0], [-0.95, 0.95]])
def test_a_file_that_says_another_range(session: Session, tmp_path: Path, interval: Any) -> None:
    """It has a sum of its own; one of an earlier version has none, and its values are looked at."""
    session.save(session.encrypt(X), tmp_path / "x")
    path = tmp_path / "x" / "array.json"
    head = json.loads(path.read_text()) | {"interval": interval}
    path.write_text(json.dumps(head))
    with pytest.raises(SerializationError, match="a damaged one"):
        session.load(tmp_path / "x")
    path.write_text(json.dumps({name: value for name, value in head.items() if name != "head_sha256"}))
    found = session.load(tmp_path / "x")
    if interval == [-0.95, 0.95]:
        assert np.abs(session.decrypt(found) - X).max() < 2.0**-16
        return
    with pytest.raises(RangeError, match="load files that nobody changed"):
        session.decrypt(found)


def test_sums_of_few_values_after_a_refresh() -> None:
    """The slots without an element are many and hold one number; a bootstrap must not leave the same error in all."""
    engine = toy(9, 256)
    session = Session(engine, engine.create_keys())
    part = np.array([0.1, 0.9, 0.4, 0.0, 1.0])
    for low, high in ((2, 3), (0, 1), (-3, 1), (-1, 1)):
        values = low + (high - low) * part
        x = session.encrypt(values, bound=(low, high), level=0)
        largest = max(abs(low), abs(high))
        for y, clear in ((x, values), (x + 1, values + 1), (1 - x, 1 - values), (x * 1j + 1, values * 1j + 1)):
            allowed = 2.0**-20 * (largest + 1)
            assert abs(session.decrypt(y.refresh().sum()) - clear.sum()) < allowed
        assert abs(session.decrypt(x @ x) - values @ values) < 2.0**-20 * largest**2


def test_ranges_that_do_not_meet_decide_comparisons(engine: Engine) -> None:
    """A polynomial has an error of the range of the difference: of 2^24, it left little of the smaller one."""
    session, clear = Session(engine, engine.create_keys()), np.array([0.5, -1.0, 0.25])
    x, far = session.encrypt(clear, bound=2), session.encrypt(clear - 9.0, bound=(-11, -7))
    row = np.array([[2.0**10], [5.0]])
    for call in (np.minimum, np.maximum, np.less, np.greater):
        for other, numbers in ((2.0**24, 2.0**24), (-(2.0**24), -(2.0**24)), (row, row), (far, clear - 9.0)):
            for first in (True, False):
                found = call(x, other) if first else call(other, x)
                wanted = np.asarray(call(clear, numbers) if first else call(numbers, clear), dtype=np.float64)
                assert found.shape == wanted.shape
                error = np.abs(session.decrypt(found) - wanted)
                assert (error < 2.0**-20 * np.maximum(1, np.abs(wanted))).all()
    assert np.minimum(x, 3).level == x.level
    assert session.decrypt(x < 3.0).tolist() == pytest.approx([1, 1, 1])
