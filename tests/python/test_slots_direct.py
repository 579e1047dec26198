"""Sums and products of elements in the same slots: numpy's results, by one call into the engine for each ciphertext."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import Session, zmod
from aglet.errors import RangeError
from mixed_sets import slots_engine

RANDOM = np.random.default_rng(41)


class Counted:
    """A module of Rust whose calls are listed."""

    def __init__(self, core: Any) -> None:
        self.core, self.calls = core, list[str]()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.core, name)
        if not callable(found):
            return found

        def call(*args: Any, **given: Any) -> Any:
            self.calls.append(name)
            return found(*args, **given)

        return call


def test_a_sum_is_one_call_for_each_ciphertext(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = Session(slots_engine().create_keys())
    core = Counted(session.engine._core)
    monkeypatch.setattr(session.engine, "_core", core)
    size = session.slots + 40
    x, y = (RANDOM.integers(0, 9000, size).astype(np.int32) for _ in range(2))
    one, other = (session.encrypt(each, bound=(0, 9000)) for each in (x, y))
    both: list[Any] = [lambda x, y: x + y, lambda x, y: x - y]
    for function, name in zip(both, ("add", "subtract"), strict=True):
        core.calls.clear()
        found = function(one, other)
        assert core.calls == [name] * 2
        np.testing.assert_array_equal(session.decrypt(found), function(x, y))
    for function in (*both, lambda x, y: y - x):
        core.calls.clear()
        found = function(one, y)
        assert core.calls.count("add_plain") == 2, core.calls
        assert "lookup_many" not in core.calls
        np.testing.assert_array_equal(session.decrypt(found), function(x, y))
    small = RANDOM.integers(0, 100, (4, 50)).astype(np.uint8)
    digits = session.encrypt(small, bound=(0, 100))
    weight = session.encrypt(small.T.copy(), bound=(0, 100))
    digits + session.encrypt(small, bound=(0, 100))
    core.calls.clear()
    # The digits of a number are joined once.
    assert (digits + digits[:, ::1]).bound == (0, 200)
    assert not core.calls
    product = digits.astype(np.int16) * session.encrypt(small.astype(np.int16), bound=(0, 100))
    np.testing.assert_array_equal(session.decrypt(product), small.astype(np.int16) ** 2)
    # What lies elsewhere moves first.
    np.testing.assert_array_equal(session.decrypt(digits + weight.T), small + small)


@pytest.mark.parametrize("one", [np.bool_, np.uint8, np.int8, np.uint16, np.int64])
@pytest.mark.parametrize("other", [np.bool_, np.uint8, np.int16, np.int32])
def test_dtypes_and_ends_are_those_of_the_long_way(one: Any, other: Any) -> None:
    session = Session(slots_engine().create_keys())
    x = RANDOM.integers(0, 2 if one is np.bool_ else 90, (3, 5)).astype(one)
    y = RANDOM.integers(0, 2 if other is np.bool_ else 90, (3, 5)).astype(other)
    a, b = (session.encrypt(each, bound=None if each.dtype.kind == "b" else (0, 90)) for each in (x, y))
    for ufunc in (np.add, np.subtract, np.multiply):
        if ufunc is np.subtract and one is other is np.bool_:
            continue
        for left, right, wanted in ((a, b, (x, y)), (a, y, (x, y)), (x, b, (x, y))):
            found = ufunc(left, right)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("aglet.arrays.slots.functions.direct", lambda *_: None)
                slow = ufunc(left, right)
            assert (found.dtype, found.bound, found.shape) == (slow.dtype, slow.bound, slow.shape)
            clear = ufunc(*wanted)
            assert found.dtype == clear.dtype
            np.testing.assert_array_equal(session.decrypt(found), clear)


def test_what_may_not_fit_is_refused_and_residues_wrap() -> None:
    session = Session(slots_engine().create_keys())
    x = np.array([40_000, 3], dtype=np.int32)
    a, b = (session.encrypt(x, bound=(0, 40_000)) for _ in range(2))
    with pytest.raises(RangeError, match="do not fit slots modulo 65537"):
        a + b
    with pytest.raises(RangeError, match="do not fit slots modulo 65537"):
        a + x
    r, s = (session.encrypt(x, dtype=zmod(65537)) for _ in range(2))
    np.testing.assert_array_equal(session.decrypt(r + s), 2 * x % 65537)
    np.testing.assert_array_equal(session.decrypt(r - (x + 9)), (x - x - 9) % 65537)
    np.testing.assert_array_equal(session.decrypt((x + 65537 * 4) - r), x * 0)
    np.testing.assert_array_equal(session.decrypt(r * s), x.astype(np.int64) ** 2 % 65537)
