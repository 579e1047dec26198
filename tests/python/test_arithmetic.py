"""Every operation at every level against numpy, on the toy ring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Ciphertext, Engine
from aglet.errors import LevelError
from conftest import Keys
from support import assert_near, random_message

LEVELS = range(14)


@pytest.fixture(scope="module")
def left(engine: Engine) -> np.ndarray:
    return random_message(engine.slot_count, 1)


@pytest.fixture(scope="module")
def right(engine: Engine) -> np.ndarray:
    return random_message(engine.slot_count, 2)


def test_the_levels_are_all_of_them(engine: Engine) -> None:
    assert engine.max_level == LEVELS[-1]


@pytest.mark.parametrize("level", LEVELS)
def test_encrypt_and_decrypt(engine: Engine, keys: Keys, left: np.ndarray, level: int) -> None:
    for key in (keys.secret, keys.public):
        ciphertext = engine.encrypt(left, key, level)
        assert ciphertext.level == level
        assert ciphertext.key_id == keys.secret.key_id
        decrypted = engine.decrypt(ciphertext, keys.secret)
        assert decrypted.dtype == np.complex128
        assert_near(decrypted, left)


@pytest.mark.parametrize("level", LEVELS)
def test_encode_and_decode(engine: Engine, left: np.ndarray, level: int) -> None:
    plaintext = engine.encode(left, level)
    assert plaintext.level == level
    assert_near(engine.decode(plaintext), left, 2.0**-28)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_two_operands(engine: Engine, keys: Keys, left: np.ndarray, right: np.ndarray, name: str, level: int) -> None:
    operation: Callable[..., Ciphertext] = getattr(engine, name)
    expected: Callable[..., np.ndarray] = getattr(np, name)
    cost = 1 if name == "multiply" else 0
    a = engine.encrypt(left, keys.public, level)
    b = engine.encrypt(right, keys.secret, level)
    others: list[tuple[Any, Any, int]] = [
        (engine.encode(right, level), right, cost),
        (right, right, cost),
        (right.tolist()[:5], np.pad(right[:5], (0, engine.slot_count - 5)), cost),
        (3, 3, 0),
        (-1, -1, 0),
        (np.int32(2), 2, 0),
        (0.25, 0.25, cost),
        (0.5 - 0.25j, 0.5 - 0.25j, cost),
    ]
    if level == 0 and cost:
        for call in (lambda: operation(a, b, keys.relinearization), lambda: operation(a, right)):
            with pytest.raises(LevelError, match="bootstrap"):
                call()
        others = [row for row in others if row[2] == 0]
    else:
        extra = (keys.relinearization,) if cost else ()
        result = operation(a, b, *extra)
        assert result.level == level - cost
        assert_near(engine.decrypt(result, keys.secret), expected(left, right))
    for other, value, levels in others:
        for result, wanted in (
            (operation(a, other), expected(left, value)),
            (operation(other, a), expected(value, left)),
        ):
            assert result.level == level - levels
            assert_near(engine.decrypt(result, keys.secret), wanted)
    # The operands are as they were.
    assert (a.level, b.level) == (level, level)
    assert_near(engine.decrypt(a, keys.secret), left)
    assert_near(engine.decrypt(b, keys.secret), right)


@pytest.mark.parametrize("high", [10, 5])
@pytest.mark.parametrize("low", [4, 1])
def test_levels_are_aligned(
    engine: Engine, keys: Keys, left: np.ndarray, right: np.ndarray, high: int, low: int
) -> None:
    a, b = engine.encrypt(left, keys.secret, high), engine.encrypt(right, keys.secret, low)
    for x, y, u, v in ((a, b, left, right), (b, a, right, left)):
        assert_near(engine.decrypt(engine.add(x, y), keys.secret), u + v)
        assert_near(engine.decrypt(engine.subtract(x, y), keys.secret), u - v)
        product = engine.multiply(x, y, keys.relinearization)
        assert product.level == low - 1
        assert_near(engine.decrypt(product, keys.secret), u * v)
    assert_near(engine.decrypt(engine.add(a, engine.encode(right, low)), keys.secret), left + right)
    assert_near(engine.decrypt(engine.multiply(b, engine.encode(left, high)), keys.secret), left * right)


def test_sums_of_ciphertexts_that_came_different_ways(engine: Engine, keys: Keys, left: np.ndarray) -> None:
    """Scales are exact: a product, a plain product and a fresh ciphertext of one level add up."""
    fresh = engine.encrypt(left, keys.secret)
    product = engine.multiply(fresh, fresh, keys.relinearization)
    plain = engine.multiply(fresh, left)
    down = engine.level_down(fresh, product.level)
    total = engine.add(engine.add(product, plain), engine.add(down, left))
    assert_near(engine.decrypt(total, keys.secret), 2 * left**2 + 2 * left)
    # Halves stay below a half: 0.5 x + x^2.
    deep = engine.encrypt(left / 2, keys.secret)
    expected = left / 2
    for _ in range(engine.max_level):
        deep = engine.add(engine.multiply(deep, 0.5), engine.square(deep, keys.relinearization))
        expected = 0.5 * expected + expected**2
    assert deep.level == 0
    assert_near(engine.decrypt(deep, keys.secret), expected)


@pytest.mark.parametrize("level", LEVELS)
def test_one_operand(engine: Engine, keys: Keys, left: np.ndarray, level: int) -> None:
    a = engine.encrypt(left, keys.secret, level)
    for result, expected in (
        (engine.negate(a), -left),
        (engine.clone(a), left),
        (engine.conjugate(a, keys.conjugation), left.conj()),
    ):
        assert result.level == level
        assert_near(engine.decrypt(result, keys.secret), expected)
    for lower in range(level + 1):
        result = engine.level_down(a, lower)
        assert result.level == lower
        assert_near(engine.decrypt(result, keys.secret), left)
    if level == 0:
        with pytest.raises(LevelError):
            engine.square(a, keys.relinearization)
        return
    square = engine.square(a, keys.relinearization)
    assert square.level == level - 1
    assert_near(engine.decrypt(square, keys.secret), left**2)


@pytest.mark.parametrize("level", [1, 5, 10])
def test_relinearize_later(engine: Engine, keys: Keys, left: np.ndarray, right: np.ndarray, level: int) -> None:
    a, b = engine.encrypt(left, keys.secret, level), engine.encrypt(right, keys.secret, level)
    for product, expected in ((engine.multiply(a, b), left * right), (engine.square(a), left**2)):
        assert product.level == level - 1
        assert_near(engine.decrypt(product, keys.secret), expected)
        assert_near(engine.decrypt(engine.relinearize(product, keys.relinearization), keys.secret), expected)
        both = engine.relinearize(engine.add(product, product), keys.relinearization)
        assert_near(engine.decrypt(both, keys.secret), 2 * expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("delta", [1, -1, 5, -100, 511, 0, 512, 513])
def test_rotate_as_numpy_rolls(engine: Engine, keys: Keys, left: np.ndarray, delta: int, level: int) -> None:
    a = engine.encrypt(left, keys.secret, level)
    result = engine.rotate(a, keys.rotation, delta)
    assert result.level == level
    assert_near(engine.decrypt(result, keys.secret), np.roll(left, delta))


@pytest.mark.parametrize("delta", [1, -3, 7])
def test_a_fixed_rotation_key(engine: Engine, keys: Keys, left: np.ndarray, delta: int) -> None:
    key = engine.create_fixed_rotation_key(keys.secret, delta)
    assert key.delta == delta
    a = engine.encrypt(left, keys.secret)
    assert_near(engine.decrypt(engine.rotate(a, key), keys.secret), np.roll(left, delta))
    assert_near(engine.decrypt(engine.rotate(a, key, delta), keys.secret), np.roll(left, delta))


def test_a_fixed_rotation_key_of_a_lower_level(engine: Engine, keys: Keys, left: np.ndarray) -> None:
    key = engine.create_fixed_rotation_key(keys.secret, 2, level=3)
    for level in range(4):
        a = engine.encrypt(left, keys.secret, level)
        assert_near(engine.decrypt(engine.rotate(a, key), keys.secret), np.roll(left, 2))
    with pytest.raises(LevelError):
        engine.rotate(engine.encrypt(left, keys.secret, 4), key)


def test_a_plaintext_can_be_encrypted(engine: Engine, keys: Keys, left: np.ndarray) -> None:
    plaintext = engine.encode(left, 5)
    assert engine.encrypt(plaintext, keys.public).level == 5
    lower = engine.encrypt(plaintext, keys.public, 2)
    assert lower.level == 2
    assert_near(engine.decrypt(lower, keys.secret), left)
    with pytest.raises(LevelError, match="encode it at that level"):
        engine.encrypt(plaintext, keys.public, 6)


def test_messages_of_any_length(engine: Engine, keys: Keys) -> None:
    message = random_message(2 * engine.slot_count + 3, 3)
    ciphertexts = engine.encrypt_many(message, keys.public, level=1)
    assert len(ciphertexts) == 3
    assert {ciphertext.level for ciphertext in ciphertexts} == {1}
    decrypted = engine.decrypt_many(ciphertexts, keys.secret)
    assert_near(decrypted[: message.size], message)
    assert_near(decrypted[message.size :], 0)
