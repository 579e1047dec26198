"""Arrays of floats that several threads compute with: one that a thread bootstraps is the same array to others."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import pytest

from aglet import EncryptedArray, Session
from aglet.arrays import moves
from aglet.arrays.digits import machine
from fuzz.checked import check
from fuzz.sizes import levels

X = np.linspace(-0.25, 0.7, 20).reshape(4, 5)
"""Two chunks of sixteen slots, with places that hold no element."""


@pytest.fixture(scope="module")
def session() -> Session:
    engine = levels(16, 6)
    return Session(engine, engine.create_keys())


def _array(session: Session) -> EncryptedArray:
    """The slots without an element hold 0.5, and a bootstrap leaves 0.25 in them, the middle of the range."""
    return (session.encrypt(X - 0.5, bound=(-1, 1)) + 0.5).assume(bound=(-0.5, 1))


def _other(x: Any) -> Any:
    return x.session.encrypt(X[::-1], bound=(-1, 1)) + 0.125 if isinstance(x, EncryptedArray) else X[::-1] + 0.125


def _stored(x: Any) -> Any:
    if not isinstance(x, EncryptedArray):
        return x
    with tempfile.TemporaryDirectory() as place:
        x.session.save(x, place)
        return x.session.load(place)


def _assumed(x: Any, low: float) -> Any:
    return x.assume(bound=(low, 0.75)) if isinstance(x, EncryptedArray) else x


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(), lambda x: x.sum(axis=0), lambda x: x + 1, lambda x: x * 3, lambda x: x * 0.5,
        lambda x: x - X, lambda x: x * X, lambda x: x + _other(x), lambda x: _other(x) * x,
        lambda x: x.T, lambda x: x[1:, 2],
        lambda x: np.concatenate([x, _other(x)]), lambda x: x.reshape(20).copy(), lambda x: x * x, lambda x: x**3,
        lambda x: _assumed(x, -0.3), lambda x: _assumed(x, -0.45), lambda x: x[0] + x[1], lambda x: x - x[0],
        lambda x: x.var(), lambda x: x @ np.ones(5), lambda x: x + x[:, :1], lambda x: x.T + np.ones((5, 4)),
        lambda x: _stored(x), lambda x: np.negative(x),
    ],
)  # fmt: skip
def test_an_array_that_another_thread_bootstraps(call: Any, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each question for what an array is made of in turn, as if another thread had run just then."""
    descriptor, wanted, moment, asked = EncryptedArray.__dict__["_state"], call(X), 0, 1
    while asked > moment:
        moment, asked = moment + 1, 0
        x = _array(session)

        def read(self: Any, x: Any = x, moment: int = moment) -> Any:
            nonlocal asked
            found = descriptor.__get__(self)
            if self is x:
                asked += 1
                if asked == moment:
                    # What a bootstrap does to values.
                    copy = EncryptedArray(session, found[0], x.index, x.interval, found[1], x.period)
                    descriptor.__set__(x, descriptor.__get__(moves.cleaned(copy, x.interval.inside)))
            return found

        with monkeypatch.context() as patched:
            patched.setattr(EncryptedArray, "_state", property(read, descriptor.__set__))
            result = call(x)
        check(session, result, wanted)
        check(session, result.sum(), np.sum(wanted))
    assert asked > 0


class _Forgetful(dict[Any, Any]):
    """What another thread clears as soon as something is put down."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.clear()


def test_what_is_kept_may_be_cleared_by_another_thread(session: Session) -> None:
    matrix, plain = session.encode_matrix(X.T), np.linspace(-1, 1, 4)
    matrix._kept = _Forgetful()
    check(session, matrix @ session.encrypt(plain), X.T @ plain)
    cost: Any = object()
    assert machine._kept(_Forgetful(), 1, "table", lambda: cost) is cost
