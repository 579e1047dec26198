"""Polynomials, weighted sums, batches of rotations and matrices against numpy, on the toy ring."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, polynomial

from aglet import Engine, MatrixMultiplicationKey, _core
from aglet.errors import (
    KeyMismatchError,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
)
from conftest import Keys
from support import assert_near, random_message

DEGREES = range(1, 64)


@pytest.fixture(scope="module")
def message(engine: Engine) -> np.ndarray:
    return random_message(engine.slot_count, 11)


@pytest.fixture(scope="module")
def matrix_key(engine: Engine, keys: Keys) -> MatrixMultiplicationKey:
    return engine.create_matrix_multiplication_key(keys.secret)


def coefficients(degree: int, kind: str = "complex") -> np.ndarray:
    """Uniform in the square of side 2, or real ones in [-1, 1]."""
    random = np.random.default_rng(degree)
    real = random.uniform(-1, 1, degree + 1)
    return real if kind == "real" else real + 1j * random.uniform(-1, 1, degree + 1)


@pytest.mark.parametrize("degree", DEGREES)
def test_polynomials_of_complex_values(engine: Engine, keys: Keys, message: np.ndarray, degree: int) -> None:
    c = coefficients(degree)
    result = engine.evaluate_polynomial(engine.encrypt(message, keys.secret), c, keys.relinearization)
    assert result.level == engine.max_level - ceil(log2(degree + 1))
    # An error of the argument grows with the slope, which passes 1,000 near the unit circle: 2^-29 of it was seen.
    slope = np.abs(polynomial.polyval(message, polynomial.polyder(c)))
    assert_near(engine.decrypt(result, keys.secret), polynomial.polyval(message, c), 2.0**-27 * (1 + slope))


@pytest.mark.parametrize("degree", DEGREES)
def test_chebyshev_polynomials(engine: Engine, keys: Keys, degree: int) -> None:
    x = np.linspace(-1, 1, engine.slot_count)
    c = coefficients(degree, "real")
    result = engine.evaluate_chebyshev_polynomial(engine.encrypt(x, keys.secret), c.tolist(), keys.relinearization)
    assert result.level == engine.max_level - ceil(log2(degree + 1))
    # The slope at the ends is a sum of squares of degrees: 2^-18.8 was seen at degree 60.
    assert_near(engine.decrypt(result, keys.secret), chebyshev.chebval(x, c), 2.0**-16)


def test_polynomials_at_every_level_that_serves(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    c = coefficients(7)
    for level in range(3, 11):
        ciphertext = engine.encrypt(message, keys.public, level)
        result = engine.evaluate_polynomial(ciphertext, c, keys.relinearization)
        assert result.level == level - 3
        assert_near(engine.decrypt(result, keys.secret), polynomial.polyval(message, c))
        # The result is as good as any other of its level.
        assert_near(
            engine.decrypt(engine.subtract(result, ciphertext), keys.secret), polynomial.polyval(message, c) - message
        )
    for level in range(3):
        with pytest.raises(LevelError, match=f"degree 7 needs 3 levels and the ciphertext is at level {level}"):
            engine.evaluate_polynomial(engine.encrypt(message, keys.public, level), c, keys.relinearization)


def test_polynomials_with_gaps_and_small_ones(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    ciphertext = engine.encrypt(message, keys.secret)
    cases: list[tuple[list[Any], int]] = [
        ([2.5], 13),
        ([1j, 0, 0], 13),
        ([0], 13),
        ([0, 1], 12),
        ([1, 2, 0, 0], 12),
        ([0, 0, 1], 11),
        ([0, 0, 0, 1], 11),
        ([1, 0, 0, 0, 3], 10),
        ([0] * 16 + [1], 8),
        ([True, False, True], 11),
    ]
    for c, level in cases:
        result = engine.evaluate_polynomial(ciphertext, c, keys.relinearization)
        assert result.level == level, c
        assert_near(engine.decrypt(result, keys.secret), polynomial.polyval(message, np.asarray(c, complex)))


def test_what_a_polynomial_refuses(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    ciphertext = engine.encrypt(message, keys.secret)
    for bad in ([1, np.nan], [np.inf, 1], [], [[1, 2], [3, 4]], [1, 1e300]):
        for call in (engine.evaluate_polynomial, engine.evaluate_chebyshev_polynomial):
            with pytest.raises(RangeError):
                call(ciphertext, bad, keys.relinearization)
    with pytest.raises(TypeError):
        engine.evaluate_polynomial(ciphertext, "12", keys.relinearization)
    with pytest.raises(MissingKeyError, match="create_relinearization_key"):
        engine.evaluate_polynomial(ciphertext, [1, 2], None)  # type: ignore[arg-type]
    stranger = engine.create_relinearization_key(engine.create_secret_key())
    with pytest.raises(KeyMismatchError):
        engine.evaluate_polynomial(ciphertext, [1, 2, 3], stranger)


@pytest.mark.parametrize("degree", [1, 2, 3, 9, 17])
def test_bases(engine: Engine, keys: Keys, message: np.ndarray, degree: int) -> None:
    x = np.linspace(-1, 1, engine.slot_count)
    powers = engine.make_power_basis(engine.encrypt(message, keys.secret), degree, keys.relinearization)
    cosines = engine.make_chebyshev_basis(engine.encrypt(x, keys.secret), degree, keys.relinearization)
    assert len(powers) == len(cosines) == degree
    for k in range(1, degree + 1):
        for element, expected in ((powers[k - 1], message**k), (cosines[k - 1], np.cos(k * np.arccos(x)))):
            assert element.level == engine.max_level - ceil(log2(k))
            assert_near(engine.decrypt(element, keys.secret), expected, 2.0**-22)
    # The elements are at the scales of their levels: sums of them are sums.
    total = powers[0]
    for element in powers[1:]:
        total = engine.add(total, element)
    assert_near(engine.decrypt(total, keys.secret), sum(message**k for k in range(1, degree + 1)))


def test_what_a_basis_refuses(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    ciphertext = engine.encrypt(message, keys.secret, 2)
    assert len(engine.make_power_basis(ciphertext, 4, keys.relinearization)) == 4
    with pytest.raises(LevelError, match="up to degree 5 needs 3 levels"):
        engine.make_power_basis(ciphertext, 5, keys.relinearization)
    for degree in (0, -3, 2**40):
        with pytest.raises(RangeError):
            engine.make_chebyshev_basis(ciphertext, degree, keys.relinearization)
    with pytest.raises(TypeError, match="whole number"):
        engine.make_power_basis(ciphertext, 1.5, keys.relinearization)  # type: ignore[arg-type]


def test_weighted_sums(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    levels = [10, 4, 7, 4]
    messages = [random_message(engine.slot_count, 20 + i) for i in range(4)]
    terms = [engine.encrypt(m, keys.secret, level) for m, level in zip(messages, levels, strict=True)]
    weights: list[Any] = [0.25, -2j, message, engine.encode(message.conj(), 9)]
    result = engine.weighted_sum(terms, weights)
    assert result.level == 3
    expected = 0.25 * messages[0] - 2j * messages[1] + message * messages[2] + message.conj() * messages[3]
    assert_near(engine.decrypt(result, keys.secret), expected, 2.0**-22)
    assert_near(engine.decrypt(engine.add(result, terms[1]), keys.secret), expected + messages[1])
    short = engine.weighted_sum(terms[:1], [[1, 2]])
    assert_near(engine.decrypt(short, keys.secret)[:3], [messages[0][0], 2 * messages[0][1], 0])


def test_long_weighted_sums(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    ciphertext = engine.encrypt(message, keys.secret)
    vectors = [random_message(engine.slot_count, 50 + i) / 150 for i in range(150)]
    result = engine.weighted_sum([ciphertext] * 150, vectors)
    assert_near(engine.decrypt(result, keys.secret), message * np.sum(vectors, axis=0), 2.0**-22)
    numbers = [v[0] for v in vectors]
    assert_near(
        engine.decrypt(engine.weighted_sum([ciphertext] * 150, numbers), keys.secret), message * np.sum(numbers)
    )


def test_what_a_weighted_sum_refuses(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    a = engine.encrypt(message, keys.secret)
    for weights in ([1.0], [1.0, 2.0, 3.0], [1.0, np.nan], [1.0, [np.inf]], [1, [1] * (engine.slot_count + 1)]):
        with pytest.raises(RangeError):
            engine.weighted_sum([a, a], weights)
    with pytest.raises(RangeError, match="at least one ciphertext"):
        engine.weighted_sum([], [])
    with pytest.raises(LevelError, match="needs 1 level and the ciphertext is at level 0"):
        engine.weighted_sum([a, engine.encrypt(message, keys.secret, 0)], [1, 1])
    with pytest.raises(KeyMismatchError):
        engine.weighted_sum([a, engine.encrypt(message, engine.create_secret_key())], [1, 1])
    with pytest.raises(TypeError):
        engine.weighted_sum([a, message], [1, 1])  # type: ignore[list-item]


@pytest.mark.parametrize("level", [0, 5, 10])
def test_rotate_batch(engine: Engine, keys: Keys, message: np.ndarray, level: int) -> None:
    a = engine.encrypt(message, keys.secret, level)
    deltas = [1, 2, 3, 64, 0, -1, 5, 3, 511, 512, 513, 7]
    for delta, result in zip(deltas, engine.rotate_batch(a, keys.rotation, deltas), strict=True):
        assert result.level == level
        assert_near(engine.decrypt(result, keys.secret), np.roll(message, delta))
    assert engine.rotate_batch(a, keys.rotation, []) == []


def test_rotate_batch_with_fixed_keys(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    steps = {1: None, -7: 3, 100: 5, 0: None}
    fixed = [engine.create_fixed_rotation_key(keys.secret, delta, level) for delta, level in steps.items()]
    a = engine.encrypt(message, keys.secret, 3)
    for deltas in (None, list(steps), [1 - 512, 505, 100, 0]):
        for delta, result in zip(steps, engine.rotate_batch(a, fixed, deltas), strict=True):
            assert_near(engine.decrypt(result, keys.secret), np.roll(message, delta))
    for wrong in ([1, -7, 100], [1, -7, 100, 2], []):
        with pytest.raises(RangeError, match="leave deltas out"):
            engine.rotate_batch(a, fixed, wrong)
    with pytest.raises(LevelError, match="up to level 3"):
        engine.rotate_batch(engine.encrypt(message, keys.secret, 4), fixed)
    with pytest.raises(TypeError, match="needs the steps"):
        engine.rotate_batch(a, keys.rotation)
    with pytest.raises(TypeError, match="FixedRotationKey is needed"):
        engine.rotate_batch(a, [keys.rotation])  # type: ignore[list-item]
    with pytest.raises(MissingKeyError, match="create_rotation_key"):
        engine.rotate_batch(a, None, [1])  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (3, 40), (40, 3), (100, 100), (512, 512), (512, 1), (1, 512)])
def test_matrices(
    engine: Engine, keys: Keys, matrix_key: MatrixMultiplicationKey, message: np.ndarray, shape: tuple[int, int]
) -> None:
    rows, columns = shape
    matrix = random_message(rows * columns, 31).reshape(shape) / np.sqrt(columns)
    result = engine.multiply_matrix(matrix, engine.encrypt(message, keys.secret), matrix_key)
    assert result.level == 12
    expected = np.zeros(engine.slot_count, complex)
    expected[:rows] = matrix @ message[:columns]
    assert_near(engine.decrypt(result, keys.secret), expected, 2.0**-22)
    assert result.scale == engine.encrypt([1], keys.secret, 12).scale


def test_matrices_of_few_diagonals(
    engine: Engine, keys: Keys, matrix_key: MatrixMultiplicationKey, message: np.ndarray
) -> None:
    n = engine.slot_count
    for level in (1, 5):
        a = engine.encrypt(message, keys.public, level)
        for shifts in ([0], [0, 1, n - 1], [5, 300, 301], [n - 40]):
            matrix = np.zeros((n, n))
            for shift in shifts:
                matrix[np.arange(n), (np.arange(n) + shift) % n] = 0.5 + shift / n
            result = engine.multiply_matrix(matrix, a, matrix_key)
            assert result.level == level - 1
            assert_near(engine.decrypt(result, keys.secret), matrix @ message)
    zero = engine.multiply_matrix([[0, 0], [0, 0]], a, matrix_key)
    assert zero.level == 4
    assert_near(engine.decrypt(zero, keys.secret), 0)


def test_matrix_keys(engine: Engine, keys: Keys, message: np.ndarray, matrix_key: MatrixMultiplicationKey) -> None:
    small = engine.create_matrix_multiplication_key(keys.secret, level=3, baby_step_count=4)
    assert small.byte_count < matrix_key.byte_count / 2
    assert small.stored_bytes < small.byte_count
    assert small.key_id == keys.secret.key_id
    matrix = random_message(400, 7).reshape(20, 20)
    for level in (1, 3):
        result = engine.multiply_matrix(matrix, engine.encrypt(message, keys.secret, level), small)
        assert_near(engine.decrypt(result, keys.secret)[:20], matrix @ message[:20])
    with pytest.raises(LevelError, match="up to 3"):
        engine.multiply_matrix(matrix, engine.encrypt(message, keys.secret, 4), small)
    with pytest.raises(LevelError, match="needs 1 level"):
        engine.multiply_matrix(matrix, engine.encrypt(message, keys.secret, 0), small)
    for count in (0, 3, 1024):
        with pytest.raises(ParameterError, match="power of two"):
            engine.create_matrix_multiplication_key(keys.secret, baby_step_count=count)
    a = engine.encrypt(message, keys.secret)
    for bad in ([1, 2], [[1, 2], [3]], [[np.nan]], np.zeros((0, 3)), np.ones((1, 513)), np.ones((2, 2, 2))):
        with pytest.raises(RangeError):
            engine.multiply_matrix(bad, a, matrix_key)
    with pytest.raises(TypeError, match="holds numbers"):
        engine.multiply_matrix([["a"]], a, matrix_key)
    with pytest.raises(MissingKeyError, match="create_matrix_multiplication_key"):
        engine.multiply_matrix(matrix, a, None)  # type: ignore[arg-type]
    with pytest.raises(KeyMismatchError):
        engine.multiply_matrix(matrix, engine.encrypt(message, engine.create_secret_key()), matrix_key)


def test_sparse_slots() -> None:
    """In an engine with fewer slots than its ring, on all of these operations."""
    engine = Engine(max_level=2, slot_count=64)
    secret = engine.create_secret_key()
    relin, rotation = engine.create_relinearization_key(secret), engine.create_rotation_key(secret)
    message = random_message(64, 5)
    a = engine.encrypt(message, secret)
    cubed = engine.evaluate_polynomial(a, [0, 0, 0, 1], relin)
    assert_near(engine.decrypt(cubed, secret), message**3)
    for delta, result in zip([3, -5], engine.rotate_batch(a, rotation, [3, -5]), strict=True):
        assert_near(engine.decrypt(result, secret), np.roll(message, delta))
    assert_near(engine.decrypt(engine.weighted_sum([a, a], [message, 1j]), secret), message**2 + 1j * message)
    matrix = random_message(64 * 64, 6).reshape(64, 64) / 8
    key = engine.create_matrix_multiplication_key(secret)
    assert_near(engine.decrypt(engine.multiply_matrix(matrix, a, key), secret), matrix @ message)


@pytest.mark.parametrize("kind", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(1, 1), (40, 3), (100, 100)])
def test_encoded_matrices(
    engine: Engine, keys: Keys, matrix_key: MatrixMultiplicationKey, message: np.ndarray, shape: Any, kind: Any
) -> None:
    """The same bytes as by the matrix itself, with both kinds of keys, and again."""
    whole = random_message(shape[0] * shape[1], 8).reshape(shape) / 8
    matrix = whole if kind is np.complex128 else whole.real
    for level in (1, 6):
        a = engine.encrypt(message, keys.secret, level)
        for key in (matrix_key, keys.rotation):
            encoded = engine.encode_matrix(matrix, key, level=level)
            assert (encoded.shape, encoded.level) == (shape, level)
            assert encoded.byte_count > 0
            expected = engine.serialize(engine.multiply_matrix(matrix, a, key))
            for _ in range(2):
                assert engine.serialize(engine.multiply_matrix(encoded, a, key)) == expected
    zero = engine.encode_matrix(np.zeros((3, 3)), matrix_key)
    assert zero.byte_count == 0
    assert_near(
        engine.decrypt(engine.multiply_matrix(zero, engine.encrypt(message, keys.secret), matrix_key), keys.secret), 0
    )


def test_encoded_weights(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    a = engine.encrypt(message, keys.secret, 5)
    for weights in (message.real, message):
        encoded = engine.encode_weights(weights, 5)
        assert encoded.level == 5
        found = engine.weighted_sum([a, a], [encoded, 2.5])
        assert engine.serialize(found) == engine.serialize(engine.weighted_sum([a, a], [weights, 2.5]))
    with pytest.raises(LevelError, match="encoded for level 4"):
        engine.weighted_sum([a], [engine.encode_weights(message, 4)])
    with pytest.raises(LevelError, match="encoded for level 5"):
        engine.weighted_sum([engine.level_down(a, 3)], [encoded])
    with pytest.raises(LevelError, match="needs 1 level"):
        engine.encode_weights(message, 0)
    for bad in ([np.nan], [], np.ones(513)):
        with pytest.raises(RangeError):
            engine.encode_weights(bad)


def test_matrices_that_cannot_be_encoded(
    engine: Engine, keys: Keys, matrix_key: MatrixMultiplicationKey, message: np.ndarray, monkeypatch: Any
) -> None:
    matrix, a = np.ones((3, 3)), engine.encrypt(message, keys.secret, 5)
    for key, other in ((matrix_key, keys.rotation), (keys.rotation, matrix_key)):
        encoded = engine.encode_matrix(matrix, key, level=4)
        with pytest.raises(LevelError, match="encoded for level 4"):
            engine.multiply_matrix(encoded, a, key)
        with pytest.raises(TypeError, match="other kind of key"):
            engine.multiply_matrix(encoded, a, other)
        with pytest.raises(LevelError, match="level 1 or higher"):
            engine.encode_matrix(matrix, key, level=0)
        with pytest.raises(RangeError):
            engine.encode_matrix([[np.inf]], key)
    small = engine.create_matrix_multiplication_key(keys.secret, level=3, baby_step_count=4)
    with pytest.raises(LevelError, match="up to 3"):
        engine.encode_matrix(matrix, small, level=4)
    with pytest.raises(LevelError, match="another shape"):
        engine.multiply_matrix(engine.encode_matrix(matrix, small, level=3), engine.level_down(a, 3), matrix_key)
    with pytest.raises(MissingKeyError, match="create_matrix_multiplication_key"):
        engine.encode_matrix(matrix)
    machine = _core.doctor()
    monkeypatch.setattr(_core, "doctor", lambda: {**machine, "memory_available_bytes": 1000})
    with pytest.raises(MemoryLimitError, match=r"encoded and .* of memory are free"):
        engine.encode_matrix(matrix, keys.rotation)
