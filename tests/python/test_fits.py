"""Values too large for the modulus where they are decrypted: right, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Ciphertext, Engine, IntegerEngine, MemoryLimitError, RangeError, Session, _core
from conftest import Keys

REFUSED = r"too large for its modulus.*check=False"


class Narrow:
    """Little room: 2^9 at level 0, 2^49 at level 1."""

    def __init__(self) -> None:
        self.engine = Engine(max_level=3)
        self.secret = self.engine.create_secret_key()
        self.relin = self.engine.create_relinearization_key(self.secret)

    def encrypt(self, message: Any, level: int | None = None, **named: Any) -> Ciphertext:
        return self.engine.encrypt(message, self.secret, level, **named)

    def product(self, *factors: Ciphertext) -> Ciphertext:
        result, *rest = factors
        for factor in rest:
            result = self.engine.multiply(result, factor, self.relin)
        return result

    def stored(self, x: Ciphertext) -> Ciphertext:
        """As another process has it, that knows nothing of the message."""
        return self.engine.deserialize_ciphertext(self.engine.serialize_ciphertext(x))


@pytest.fixture(scope="module")
def narrow() -> Narrow:
    return Narrow()


def test_all_limbs_are_read(engine: Engine, keys: Keys) -> None:
    """The toy ring has 2^126 at level 0; two limbs of it have 2^46."""
    message = np.linspace(-1000.0, 1000.0, engine.slot_count)
    for level in (0, 1, engine.max_level):
        x, size = engine.encrypt(message, keys.secret, level), 1
        for factor in (1, 2**40, 2**37, 1000):
            x, size = engine.multiply(x, factor), size * factor
            found = engine.decrypt(x, keys.secret)
            assert np.abs(found / size - message).max() < 1e-6
            assert np.abs(engine.decrypt_many([x, x], keys.secret)[: message.size] / size - message).max() < 1e-6


def test_products_beyond_their_level_are_refused(narrow: Narrow) -> None:
    """x^3 of 2e5 to 3e5 at level 1, where its own bound says 2.7e16, came out as -7.8e15."""
    engine = narrow.engine
    message = np.random.default_rng(1).uniform(2e5, 3e5, engine.slot_count)
    for named in ({}, {"bound": 3e5}):
        x = narrow.encrypt(message, **named)
        cube = narrow.product(narrow.product(x, x), x)
        assert cube.level == 1
        assert cube.bound is None or cube.bound > 2e16
        plaintext_path: list[Callable[..., Any]] = [engine.decrypt, engine.decrypt_to_plaintext]
        for call in (*plaintext_path, lambda ct, key: engine.decrypt_many([ct], key)):
            for ct in (cube, narrow.stored(cube)):
                with pytest.raises(RangeError, match=REFUSED):
                    call(ct, narrow.secret)
        assert np.isfinite(engine.decrypt(cube, narrow.secret, check=False)).all()
    tens = narrow.encrypt(message / 1e4, 2, bound=30)
    with pytest.raises(RangeError, match=REFUSED):
        engine.decrypt_shared(narrow.product(tens, tens, tens), narrow.secret, security=1)
    square = narrow.product(x, x)
    assert np.abs(engine.decrypt(square, narrow.secret) / message**2 - 1).max() < 1e-6


@pytest.mark.parametrize("size", [2.0**7, 2.0**8, 2.0**20, -(2.0**7)])
def test_powers_of_two_do_not_come_out_as_nothing(narrow: Narrow, size: float) -> None:
    """The primes are next to powers of two, so that 2^14 at level 0 leaves nearly nothing modulo them."""
    n = narrow.engine.slot_count
    signs = np.resize([1.0, -1.0], n)
    for message in (np.full(n, size), size * signs):
        x, y = narrow.encrypt(message, 1), narrow.encrypt(message, 1)
        for factors in ((x, y), (x, x)):
            with pytest.raises(RangeError, match=r"too large for its modulus|would not fit"):
                narrow.engine.decrypt(narrow.product(*factors), narrow.secret)
        with pytest.raises(RangeError, match=r"too large for its modulus|would not fit"):
            narrow.engine.decrypt(narrow.engine.multiply(x, message), narrow.secret)


def test_what_wrapped_at_a_higher_level_stays_refused(narrow: Narrow) -> None:
    engine, n = narrow.engine, narrow.engine.slot_count
    message = np.random.default_rng(2).uniform(0.5, 1, n)
    x, y = narrow.encrypt(message * 1e6, 2), narrow.encrypt(message * 1e6, 2)
    large = engine.multiply(narrow.product(x, y), 10_000)
    for call in (
        lambda: engine.multiply(large, 1e-12),
        lambda: engine.multiply(large, np.full(n, 1e-9)),
        lambda: engine.level_down(large, 0),
    ):
        with pytest.raises(RangeError, match=r"too large for its modulus|would not fit"):
            engine.decrypt(call(), narrow.secret)


def test_what_fits_is_served(narrow: Narrow) -> None:
    """Few values are spread over all coefficients; polynomials of polynomials stay small where their terms do not."""
    engine = narrow.engine
    message = np.array([100.0, -200.0, 300.0])
    x, y = narrow.encrypt(message, 1), narrow.encrypt(message, 1)
    assert np.abs(engine.decrypt(narrow.product(x, y), narrow.secret)[:3] - message**2).max() < 1e-1
    random = np.random.default_rng(3).uniform(-1, 1, engine.slot_count)
    by_hand = narrow.encrypt(random)
    square = narrow.product(by_hand, by_hand)
    by_hand = engine.multiply(narrow.product(by_hand, engine.subtract(3000.0, engine.multiply(square, 1000))), 1e-3)
    assert by_hand.level == 0
    assert np.abs(engine.decrypt(by_hand, narrow.secret) - random * (3 - random**2)).max() < 1e-4
    sign = [0, 35 / 16, 0, -35 / 16, 0, 21 / 16, 0, -5 / 16]
    made = engine.evaluate_polynomial(narrow.encrypt(random), sign, narrow.relin)
    expected = np.polynomial.Polynomial(sign)(random)
    assert np.abs(engine.decrypt(made, narrow.secret) - expected).max() < 1e-4
    stored = narrow.stored(narrow.product(narrow.encrypt([10.0, 20.0], 1), narrow.encrypt([10.0, 20.0], 1)))
    assert np.abs(engine.decrypt(stored, narrow.secret)[:2] - [100, 400]).max() < 1e-2


def test_matrices_and_sums_are_followed(narrow: Narrow) -> None:
    engine, n = narrow.engine, 64
    matrix = np.full((n, n), 1e3)
    message = np.full(n, 1e3)
    x = narrow.encrypt(message, 1)
    key = engine.create_matrix_multiplication_key(narrow.secret, level=1, baby_step_count=8)
    found = engine.decrypt(engine.multiply_matrix(np.eye(n), x, key), narrow.secret)
    assert np.abs(found[:n] - message).max() < 1e-1
    large = np.ones(engine.slot_count) * 300
    many = [narrow.encrypt(large, 1) for _ in range(4)]
    for made in (
        engine.weighted_sum(many, [large / 300] * 4),
        engine.multiply_matrix(matrix, narrow.encrypt(np.full(engine.slot_count, 300.0), 1), key),
    ):
        with pytest.raises(RangeError, match=REFUSED):
            engine.decrypt(made, narrow.secret)


def test_ciphertexts_are_not_compared(narrow: Narrow) -> None:
    integers = IntegerEngine(depth=1)
    key = integers.create_secret_key()
    for x, y in (
        (narrow.encrypt([1.0], 0), narrow.encrypt([1.0], 0)),
        (integers.encrypt([1], key), integers.encrypt([1], key)),
    ):
        comparisons: list[Callable[[], object]] = [
            lambda x=x: bool(x),
            lambda x=x, y=y: x == y,
            lambda x=x: x != 1,
            lambda x=x: x == x,
            lambda x=x, y=y: x < y,
            lambda x=x: x >= 0,
            lambda x=x: not x,
        ]
        for comparison in comparisons:
            with pytest.raises(TypeError, match="Python does not compare encrypted values"):
                comparison()
        assert len({x, y, x}) == 2
        assert {x: 1}[x] == 1
        assert x in [x, y]
        assert x != None  # noqa: E711
        assert not (x == None)  # noqa: E711, SIM201


def test_memory_is_forecast_before_many_are_encrypted(narrow: Narrow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two million numbers under a limit of the process ended it."""
    engine = narrow.engine
    session = Session(engine, engine.create_keys(narrow.secret, bootstrap=None, rotation=False))
    free = {**_core.doctor(), "memory_available_bytes": 2**30}
    monkeypatch.setattr(_core, "doctor", lambda: free)
    many = np.zeros(2_000_000)
    for call in (lambda: session.encrypt(many), lambda: engine.encrypt_many(np.tile(many, 4), narrow.secret)):
        free["memory_available_bytes"] = 2**27
        with pytest.raises(MemoryLimitError, match=r"These \d+ ciphertexts take .* in parts"):
            call()
    free["memory_available_bytes"] = 2**30
    assert session.encrypt(many[:20_000]).size == 20_000


@pytest.mark.parametrize("size", [2.0, 16.0, 200.0])
def test_what_was_too_large_for_its_bootstrap_is_refused(engine: Engine, keys: Keys, size: float) -> None:
    """Nobody knows a product in advance; its bootstrap gave 23.5 for 200."""
    rest = (keys.relinearization, keys.conjugation, keys.bootstrap)
    random = np.random.default_rng(4).uniform(-1, 1, engine.slot_count)
    x, ones = engine.encrypt(random * size, keys.secret, 5), engine.encrypt(np.ones(engine.slot_count), keys.secret, 5)
    large = engine.multiply(x, ones, keys.relinearization)
    made = engine.bootstrap(large, *rest)
    for wrong in (made, engine.multiply(engine.add(made, made), 0.5)):
        with pytest.raises(RangeError, match=r"larger bound=.*check=False"):
            engine.decrypt(wrong, keys.secret)
    assert np.isfinite(engine.decrypt(made, keys.secret, check=False)).all()
    found = engine.decrypt(engine.bootstrap(large, *rest, bound=size), keys.secret)
    assert np.abs(found - random * size).max() < size * 2.0**-12
