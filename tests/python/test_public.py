"""What a ciphertext says to everybody: nothing in its file but the words of its polynomials depends on the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Ciphertext, Engine
from aglet.errors import RangeError
from conftest import Keys

HEADER = 256

REAL: list[Any] = [
    [0.0, 0.0],
    [1, -1],
    [True, False],
    range(3),
    np.ones(4, np.uint8),
    np.ones(4, np.float16),
    np.linspace(-1, 1, 8),
    np.ones(4, np.longdouble),
]
COMPLEX: list[Any] = [
    [0j],
    [1, 2, 3 + 0j],
    [0.5, 0.5j],
    np.zeros(4, np.complex64),
    np.ones(4, np.complex128),
    np.ones(4, np.clongdouble),
    np.exp(1j * np.arange(8)),
]


def said(engine: Engine, ciphertext: Ciphertext) -> tuple[bytes, int]:
    """Header and length of the file."""
    data = engine.serialize_ciphertext(ciphertext)
    return data[:HEADER], len(data)


@pytest.mark.parametrize(("messages", "real"), [(REAL, True), (COMPLEX, False)])
def test_messages_of_one_kind_of_dtype_have_one_header(
    engine: Engine, keys: Keys, messages: list[Any], real: bool
) -> None:
    # The noise tells the kind of the key, and only that.
    for key in (keys.secret, keys.public):
        made = [engine.encrypt(message, key) for message in messages]
        assert [ciphertext.is_real for ciphertext in made] == [real] * len(made)
        assert len({said(engine, ciphertext) for ciphertext in made}) == 1
    many = [c for message in messages for c in engine.encrypt_many(message, keys.public)]
    assert {said(engine, ciphertext) for ciphertext in many} == {said(engine, made[0])}


OPERATIONS: dict[str, Callable[[Engine, Keys, Ciphertext, Any], Ciphertext]] = {
    "add": lambda engine, keys, x, other: engine.add(x, other),
    "subtract": lambda engine, keys, x, other: engine.subtract(other, x),
    "multiply": lambda engine, keys, x, other: engine.multiply(x, other),
    "weighted sum": lambda engine, keys, x, other: engine.weighted_sum([x, x], [other, 0.5]),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operands_count_by_their_type(engine: Engine, keys: Keys, operation: str) -> None:
    x = engine.encrypt([0.25, 0.5], keys.secret)
    # Numbers are rounded otherwise than arrays, so the noise tells them apart.
    groups: list[tuple[bool, list[Any]]] = [
        (True, [0.0, 1.0, -0.5, np.float32(0.5)]),
        (True, [[0.0], [1.0, 2.0], np.ones(3), engine.encode([1.0])]),
        (False, [0j, 1 + 0j, 0.5j, np.complex64(1)]),
        (False, [[0j], [1 + 0j], engine.encode([0j])]),
    ]
    for real, others in groups:
        results = [OPERATIONS[operation](engine, keys, x, other) for other in others]
        assert [result.is_real for result in results] == [real] * len(results)
        assert len({said(engine, result) for result in results}) == 1


def test_a_declared_bound_is_all_that_is_said_of_sizes(engine: Engine, keys: Keys) -> None:
    messages = [np.zeros(4), np.full(4, 0.25), np.ones(4), np.full(4, -1.0)]
    made: list[list[Ciphertext]] = []
    for message in messages:
        plaintext = engine.encode(message, bound=1)
        x = engine.encrypt(plaintext, keys.public)
        square = engine.square(x, keys.relinearization)
        results = [engine.add(x, plaintext), engine.multiply(x, plaintext), square, engine.level_down(square, 2)]
        made.append([x, *results, engine.rotate(x, keys.rotation, 1)])
    assert all(x.noise is not None and x.bound is not None for x in made[0])
    assert len({tuple(said(engine, x) for x in each) for each in made}) == 1


def test_matrices_count_by_their_dtype(engine: Engine, keys: Keys) -> None:
    key = engine.create_matrix_multiplication_key(keys.secret)
    x = engine.encrypt([0.25, 0.5], keys.secret)
    for matrix in (np.eye(2), np.zeros((2, 2)), [[1, 2], [3, 4]], [[True]]):
        assert engine.multiply_matrix(matrix, x, key).is_real
        assert not engine.multiply_matrix(np.asarray(matrix, complex), x, key).is_real


def test_a_message_can_be_declared(engine: Engine, keys: Keys) -> None:
    zeros = np.zeros(4, complex)
    assert engine.encrypt(zeros, keys.public, real=True).is_real
    assert not engine.encrypt([1.0, 2.0], keys.public, real=False).is_real
    assert all(c.is_real for c in engine.encrypt_many(zeros, keys.public, real=True))
    with pytest.raises(RangeError, match="imaginary part"):
        engine.encode([1, 1j], real=True)
    with pytest.raises(TypeError, match="real is True, False or None"):
        engine.encode([1], real=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="real= and bound= to encode"):
        engine.encrypt(engine.encode([1]), keys.public, real=True)


def test_what_a_process_knows_of_a_message_does_not_travel(engine: Engine, keys: Keys) -> None:
    """The largest value of a fresh message stays here: one that is read back is bootstrapped without a look at it."""
    rest = (keys.relinearization, keys.conjugation, keys.bootstrap)
    large, small = (engine.encrypt([value], keys.secret, level=0) for value in (3.0, 0.5))
    assert said(engine, large) == said(engine, small)
    with pytest.raises(RangeError, match="larger than 1"):
        engine.bootstrap(large, *rest)
    engine.bootstrap(engine.deserialize_ciphertext(engine.serialize_ciphertext(large)), *rest)
