"""Numbers modulo t in slots: every operator wraps at t, what they become, and what they refuse."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import EncryptedResidues, EncryptedSlots, IntegerEngine, Session, SlotSession, zmod
from aglet.errors import KeyMismatchError, MissingKeyError, ParameterError, RangeError
from mixed_sets import slots_engine, small, three

T = 65537
RANDOM = np.random.default_rng(37)


@functools.cache
def session() -> SlotSession:
    found = Session(slots_engine().create_keys(rotation=True))
    assert isinstance(found, SlotSession)
    return found


def numbers(*shape: int) -> Any:
    found = RANDOM.integers(0, T, shape)
    found.flat[: min(4, found.size)] = [0, 1, T - 1, T // 2][: found.size]
    return found


def check(found: Any, wanted: Any) -> None:
    assert isinstance(found, EncryptedResidues)
    assert (found.shape, found.modulus) == (wanted.shape, T)
    result = session().decrypt(found)
    assert result.dtype == np.int64
    np.testing.assert_array_equal(result, wanted % T)


def test_operators_wrap_at_the_modulus() -> None:
    x, y = numbers(4, 30), numbers(4, 30)
    a, b = (session().encrypt(one, dtype=zmod(T)) for one in (x, y))
    for call in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p * q * p - q * 7):
        check(call(a, b), call(x, y))
        check(call(a, y), call(x, y))
        check(call(x, b), call(x, y))
        check(call(a, -123456), call(x, -123456))
        check(call(a, b[0]), call(x, y[0]))
    check(-a, -x)
    check(a**2, x**2)
    check(a**5, np.array([pow(int(one), 5, T) for one in x.flat]).reshape(x.shape))
    check(np.where(x > 9, a, b), np.where(x > 9, x, y))
    check(a + True, x + 1)


def test_sums_products_and_moves() -> None:
    x, w = numbers(6, 9), numbers(9, 3)
    a = session().encrypt(x, dtype=zmod(T))
    check(a.sum(), x.sum())
    check(a.sum(axis=1), x.sum(axis=1))
    check(np.sum(a, axis=0, keepdims=True), x.sum(axis=0, keepdims=True))
    check(np.cumsum(a, axis=1), np.cumsum(x, axis=1))
    check(a[:3].prod(axis=0), x[0] * x[1] % T * x[2])
    check(a @ w, x @ w)
    check(np.dot(a, session().encrypt(w[:, 0], dtype=zmod(T))), x @ w[:, 0])
    check(a[::-1, 2:5] * a[:, :3], x[::-1, 2:5] * x[:, :3])
    check(np.concatenate([a, a[:1], x[:2]]), np.concatenate([x, x[:1], x[:2]]))
    check(np.roll(a.T, 1, 0).reshape(-1), np.roll(x.T, 1, 0).reshape(-1))
    deep = a
    for _ in range(9):
        deep = deep * deep + 1
    wanted = x
    for _ in range(9):
        wanted = (wanted * wanted + 1) % T
    check(deep, wanted)


def test_numbers_of_any_size_and_shape() -> None:
    for given in ([2**80, -(3**50), 5], np.uint64([2**64 - 1]), np.int8([-1, -128]), [True, False], 2**70):
        clear = np.asarray(given)
        wanted = np.array([int(one) % T for one in clear.flat]).reshape(clear.shape)
        np.testing.assert_array_equal(session().decrypt(session().encrypt(given, dtype=zmod(T))), wanted)
    with pytest.raises(TypeError, match="convert"):
        session().encrypt([0.5], dtype=zmod(T))
    with pytest.raises(TypeError, match="bound"):
        session().encrypt([5], dtype=zmod(T), bound=(0, 9))


def test_whole_numbers_and_back(tmp_path: Path) -> None:
    own, x = session(), RANDOM.integers(-100, 100, 30)
    a = own.encrypt(x, bound=(-100, 100)).astype(zmod(T))
    check(a * a * a, x**3)
    back = (a - 3).assume(bound=(-103, 97))
    assert isinstance(back, EncryptedSlots)
    assert not isinstance(back, EncryptedResidues)
    np.testing.assert_array_equal(own.decrypt(back < 5), x - 3 < 5)
    np.testing.assert_array_equal(own.decrypt(back.astype(zmod(T)) * 700), (x - 3) * 700 % T)
    word = own.encrypt(np.uint16([1, 65535])).astype(zmod(T))
    check(word + 3, np.array([4, 65538]))
    own.save(a, tmp_path / "a")
    check(own.load(tmp_path / "a") + 1, x + 1)
    with pytest.raises(RangeError, match="do not fit"):
        a.assume(bound=(0, T))


def test_what_has_no_meaning_is_refused() -> None:
    own = session()
    a = own.encrypt([1, 2, 3], dtype=zmod(T))
    refused: list[Any] = [
        lambda: a < 3, lambda: a == 3, lambda: a // 2, lambda: a & 1, lambda: abs(a), lambda: np.sort(a),
        lambda: a.max(), lambda: a.any(), lambda: a.argmin(), lambda: a.mean(), lambda: np.where(a, 1, 2),
        lambda: a.astype(np.int64), lambda: a.to("digits"), lambda: np.isin(a, [3]), lambda: a.clip(1, 2),
    ]  # fmt: skip
    for call in refused:
        with pytest.raises(TypeError, match=r"assume\(bound=\(low, high\)\)"):
            call()
    with pytest.raises(TypeError, match=r"astype\(zmod\(65537\)\)"):
        _ = a + own.encrypt(np.uint8([1, 2, 3]))
    with pytest.raises(TypeError, match="which numbers they are"):
        _ = a + 0.5
    with pytest.raises(RangeError, match="from 1 on"):
        _ = a**0
    with pytest.raises(ParameterError, match=r"zmod\(65537\).*plaintext_modulus=257"):
        own.encrypt([1], dtype=zmod(257))
    with pytest.raises(MissingKeyError, match="integers="):
        small().encrypt([1], dtype=zmod(T))
    other = Session(slots_engine().create_keys())
    with pytest.raises(KeyMismatchError):
        other.decrypt(a)
    assert "zmod(65537)" in repr(a)


def test_of_other_engines_and_sessions() -> None:
    engine = IntegerEngine(plaintext_modulus=12289, depth=4)
    own = Session(engine.create_keys())
    a = own.encrypt([12288, 5], dtype=zmod(12289))
    np.testing.assert_array_equal(own.decrypt(a * a), [1, 25])
    both = three()
    b = both.encrypt([[7, -1]], dtype=zmod(T))
    np.testing.assert_array_equal(both.decrypt(b * 3), [[21, T - 3]])
