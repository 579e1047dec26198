"""Arrays in slots that several threads compute with: a table that one of them looks up is the same array to others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet.arrays.slots import array
from aglet.arrays.slots.values import Numbers
from fuzz.sizes import few_slots

X = np.arange(0, 240, 20, dtype=np.uint8).reshape(3, 4)
Y = np.arange(200, 212, dtype=np.int16).reshape(3, 4)


def _other(x: Any) -> Any:
    return x.session.encrypt(Y, bound=(0, 250))


def _check(make: Any, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each question for what an array is made of in turn, as if another thread had run just then."""
    own, descriptor = few_slots(), array.EncryptedSlots.__dict__["_state"]
    wanted, moment, asked = call(make(X)), 0, 1
    while asked > moment:
        moment, asked = moment + 1, 0
        x = make(own.encrypt(X, representation="slots"))

        def read(self: Any, x: Any = x, moment: int = moment) -> Any:
            nonlocal asked
            found = descriptor.__get__(self)
            if self is x:
                asked += 1
                if asked == moment and found[1] is not None:
                    other = array.EncryptedSlots(x.session, *found, x.dtype, x.index, everywhere=x.everywhere)
                    descriptor.__set__(x, (other.forced(), None))
            return found

        with monkeypatch.context() as patched:
            patched.setattr(array.EncryptedSlots, "_state", property(read, descriptor.__set__))
            result = call(x)
        np.testing.assert_array_equal(own.decrypt(result), wanted)
    assert asked > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x & 3, lambda x: np.where(x > 50, x, np.uint8(1)), lambda x: x.astype(np.uint16), lambda x: x[1:],
        lambda x: np.isin(x, [10, 30]), lambda x: np.concatenate([x, x[:1]]), lambda x: x + x[::-1],
        lambda x: x ^ x.T.T, lambda x: x + Y, lambda x: (_other(x) if hasattr(x, "session") else Y) - x,
        lambda x: np.stack([x, x + np.uint8(0)]), lambda x: np.count_nonzero(x > 50), lambda x: x[0] < x[1],
    ],
)  # fmt: skip
def test_a_table_that_another_thread_looks_up(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(lambda x: x >> 1, call, monkeypatch)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.stack([x, x]),
        lambda x: x + Y,
        lambda x: np.minimum(_other(x), x) if hasattr(x, "session") else np.minimum(Y, x),
        lambda x: x[None] + x,
    ],
)
def test_one_number_in_every_slot(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(lambda x: (x.sum() % 64).astype(np.int16), call, monkeypatch)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x // 7, lambda x: x % 12, lambda x: divmod(x, 7)[1], lambda x: x > 300, lambda x: x * x,
        lambda x: np.minimum(x, x[::-1]), lambda x: x.astype(np.uint8, casting="unsafe"), lambda x: x << 3,
    ],
)  # fmt: skip
def test_a_table_of_words_that_another_thread_looks_up(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(lambda x: (x.astype(np.uint16) * np.uint16(250)) >> 1, call, monkeypatch)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x > 300, lambda x: x & 77, lambda x: x // 7, lambda x: np.minimum(x, x[::-1]), lambda x: x[:2] ^ 5,
        lambda x: np.concatenate([x, x[:1]]) > 9, lambda x: x.astype(np.uint8, casting="unsafe"), lambda x: x + x > 900,
    ],
)  # fmt: skip
def test_digits_of_a_sum_that_another_thread_makes(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each question for the way to its digits in turn, as if another thread had gone it just then."""
    own, descriptor = few_slots(), Numbers.__dict__["later"]
    clear = np.array([[3, 5000, 77], [4099, 0, 12]], dtype=np.uint16)
    pair = [own.encrypt(clear, bound=(0, 5000), representation="slots") for _ in range(2)]
    wanted, moment, asked = call(clear + clear), 0, 1
    while asked > moment:
        moment, asked = moment + 1, 0
        x = pair[0] + pair[1]

        def read(self: Any, numbers: Any = x.numbers, moment: int = moment) -> Any:
            nonlocal asked
            found = descriptor.__get__(self)
            if self is numbers:
                asked += 1
                if asked == moment and found is not None:
                    self.tables.setdefault(b"digits", found.made())
                    descriptor.__set__(self, None)
            return found

        with monkeypatch.context() as patched:
            patched.setattr(Numbers, "later", property(read, descriptor.__set__))
            result = call(x)
        np.testing.assert_array_equal(own.decrypt(result), wanted)
    assert asked > 0
