"""Decryption for others: noise of the stated size on values, none on bits, what ciphertexts state and where not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import (
    Ciphertext,
    DigitSession,
    Engine,
    KeyMismatchError,
    MissingKeyError,
    ParameterError,
    RangeError,
    Session,
)
from conftest import Keys
from mixed_sets import three
from support import random_message


@pytest.fixture(scope="module")
def message(engine: Engine) -> np.ndarray:
    return random_message(engine.slot_count, 21)


def flooding(ciphertext: Ciphertext, slots: int, queries: int, security: float) -> float:
    """The deviation on a real component that eprint 2022/816 asks for, all slots of the ring together.

    The error is below `norm` as surely as is promised: a sum of exponential squares with exponential weights.
    """
    assert ciphertext.noise is not None
    rare = (security + math.log2(queries) + 1) * math.log(2)
    largest = 1 + math.sqrt(2 * (rare + math.log(slots))) + rare + math.log(slots)
    norm = ciphertext.noise * math.sqrt(slots + math.sqrt(2 * slots * largest * rare) + largest * rare)
    return math.sqrt(12 * queries) * 2 ** (security / 2) * norm


def size(errors: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.abs(errors) ** 2)))


def test_values_are_near_and_the_bits_are_those_that_remain(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    x = engine.encrypt(message, keys.public, level=4, bound=1)
    square = engine.square(x, keys.relinearization)
    for ciphertext, wanted in (x, message), (square, message**2), (engine.level_down(x, 2), message):
        values, bits = engine.decrypt_shared(ciphertext, keys.secret, security=10)
        assert values.dtype == np.complex128
        assert bits > 8
        assert abs(-math.log2(size(values - wanted)) - bits) < 0.3


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize(("queries", "security"), [(1, 10), (64, 10), (1, 16.5)])
def test_noise_is_fresh_and_has_its_size(
    engine: Engine, keys: Keys, message: np.ndarray, real: bool, queries: int, security: float
) -> None:
    x = engine.encrypt(message.real if real else message, keys.secret, level=3)
    shared = [[engine.decrypt_shared(x, keys.secret, queries, security).values for _ in range(4)] for _ in range(2)]
    first, second = (np.concatenate(values) for values in shared)
    assert first.dtype == (np.float64 if real else np.complex128)
    deviation = flooding(x, engine.slot_count, queries, security)
    for errors in (first - second) / math.sqrt(2), first - np.tile(engine.decrypt(x, keys.secret), 4):
        parts = errors if real else np.concatenate([errors.real, errors.imag])
        # 2048 or 4096 samples: eight deviations of the estimate, and the few percent that the sampler may be above.
        assert 0.87 < size(parts) / deviation < 1.2
        assert abs(parts.mean()) < 6 * deviation / math.sqrt(parts.size)


def test_fewer_slots_keep_more_bits(keys: Keys, engine: Engine) -> None:
    few = Engine(preset="toy", allow_insecure=True, slot_count=32)
    secret = few.create_secret_key()
    left = few.decrypt_shared(few.encrypt([0.5], secret, level=3), secret).bits
    assert left > engine.decrypt_shared(engine.encrypt([0.5], keys.secret, level=3), keys.secret).bits + 1.9


def test_too_few_bits_are_refused_with_the_remedies(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    x = engine.encrypt(message, keys.secret, level=3)
    bits = engine.decrypt_shared(x, keys.secret).bits
    assert engine.decrypt_shared(x, keys.secret, least_bits=bits - 0.5).bits == bits
    with pytest.raises(RangeError, match=r"fewer than least_bits = .*queries=.*security=.*slots.*precision="):
        engine.decrypt_shared(x, keys.secret, least_bits=bits + 0.5)
    with pytest.raises(RangeError, match=r"does not fit at this level; take a smaller security="):
        engine.decrypt_shared(x, keys.secret, security=200)


def test_unknown_noise_is_refused(engine: Engine, keys: Keys, message: np.ndarray) -> None:
    x = engine.encrypt(message, keys.secret, level=3)
    assert x.noise is not None
    assert x.bound is None
    for ciphertext in (engine.square(x, keys.relinearization), engine.level_down(x, 1)):
        assert ciphertext.noise is ciphertext.bound is None
        with pytest.raises(RangeError, match="encrypt with bound="):
            engine.decrypt_shared(ciphertext, keys.secret)


def test_bounds_are_declared_and_checked(engine: Engine, keys: Keys) -> None:
    declared = engine.encode([0.5, -2], 3, bound=2)
    ciphertexts = [
        engine.encrypt([0.5, -2], keys.public, 3, bound=2),
        engine.encrypt(declared, keys.public),
        *engine.encrypt_many(np.full(engine.slot_count + 1, 2.0), keys.public, 3, bound=2),
    ]
    assert [x.bound for x in ciphertexts] == [2.0] * 4
    product = engine.multiply(ciphertexts[0], ciphertexts[1], keys.relinearization)
    assert product.bound == 4
    assert product.noise is not None
    assert engine.add(product, 3).bound == 7
    with pytest.raises(RangeError, match="larger than 1, the bound declared for it"):
        engine.encode([0.5, -2], bound=1)
    with pytest.raises(RangeError, match="positive and finite"):
        engine.encrypt([0.5], keys.public, bound=0)
    with pytest.raises(TypeError, match="give real= and bound= to encode"):
        engine.encrypt(declared, keys.public, bound=2)


def test_files_keep_what_is_stated(engine: Engine, keys: Keys, message: np.ndarray, tmp_path: Path) -> None:
    x = engine.encrypt(message, keys.public, level=3, bound=1.5)
    for ciphertext in (x, engine.square(x, keys.relinearization), engine.encrypt(message, keys.secret, level=2)):
        engine.write(ciphertext, tmp_path / "ciphertext")
        back = engine.read_ciphertext(tmp_path / "ciphertext")
        assert (back.noise, back.bound) == (ciphertext.noise, ciphertext.bound)
        shared = [engine.decrypt_shared(each, keys.secret).bits for each in (back, ciphertext)]
        assert shared[0] == shared[1]
    engine.write(engine.encode(message, 2, bound=3), tmp_path / "plaintext")
    assert engine.encrypt(engine.read_plaintext(tmp_path / "plaintext"), keys.public).bound == 3


@pytest.mark.parametrize("bits", [False, True])
def test_points_are_exact(engine: Engine, keys: Keys, bits: bool, tmp_path: Path) -> None:
    signs = np.where(np.arange(engine.slot_count) % 3 == 0, -1.0, 1.0)
    signs[-1] = -1 if bits else 0
    points = (signs + 1) / 2 if bits else signs
    rough = points + 1e-3 * np.sin(np.arange(engine.slot_count))
    rest = (keys.relinearization, keys.conjugation, engine.create_lossy_bootstrap_key(keys.secret))
    x = engine.encrypt(rough, keys.public, level=3, bound=1.25)
    cleaned = engine.sign_bootstrap(x, *rest, bits=bits)
    assert cleaned.noise is not None
    engine.write(cleaned, tmp_path / "cleaned")
    for ciphertext, wanted in (
        (cleaned, points),
        (engine.level_down(cleaned, 2), points),
        (engine.rotate(cleaned, keys.rotation, 3), np.roll(points, 3)),
        (engine.conjugate(cleaned, keys.conjugation), points),
        (engine.read_ciphertext(tmp_path / "cleaned"), points),
    ):
        found = engine.decrypt_bits(ciphertext, keys.secret)
        assert found.dtype == (np.bool_ if bits else np.int8)
        assert np.array_equal(found, wanted)
    refused = (
        x,
        engine.add(cleaned, 1),
        engine.multiply(cleaned, 2),
        engine.add(cleaned, cleaned),
        engine.negate(cleaned),
    )
    for ciphertext in refused:
        with pytest.raises(ParameterError, match=r"not the result of a sign or bit bootstrap; .*decrypt_shared"):
            engine.decrypt_bits(ciphertext, keys.secret)


def test_a_value_between_points_is_refused(engine: Engine, keys: Keys) -> None:
    rest = (keys.relinearization, keys.conjugation, engine.create_lossy_bootstrap_key(keys.secret))
    x = engine.encrypt(np.full(engine.slot_count, 0.5), keys.public, level=3)
    with pytest.raises(RangeError, match=r"A value is 0\.25 or more away from -1, 0 and 1"):
        engine.decrypt_bits(engine.sign_bootstrap(x, *rest), keys.secret)


def test_arguments_are_checked(engine: Engine, keys: Keys) -> None:
    x, stranger = engine.encrypt([1], keys.public, 3), engine.create_secret_key()
    for call in (engine.decrypt_shared, engine.decrypt_bits):
        with pytest.raises(TypeError, match="SecretKey is needed here, not PublicKey"):
            call(x, keys.public)  # type: ignore[arg-type]
    with pytest.raises(KeyMismatchError):
        engine.decrypt_shared(x, stranger)
    wrong: list[Any] = ["30", True, None, 1j, [30]]
    for name in ("security", "least_bits"):
        for value in wrong:
            if name == "security" or value is not None:
                with pytest.raises(TypeError, match=f"{name} is a number of bits, not"):
                    engine.decrypt_shared(x, keys.secret, **{name: value})
        for infinite in (math.nan, math.inf, 10**400):
            with pytest.raises(RangeError, match=f"{name} is not a finite number"):
                engine.decrypt_shared(x, keys.secret, **{name: infinite})
    for security in (0, -1, 257):
        with pytest.raises(RangeError, match=r"security = .* out of range"):
            engine.decrypt_shared(x, keys.secret, security=security)


def test_arrays_of_every_family_are_shared() -> None:
    """Floats with noise, all ciphertexts together; whole numbers as they are, by how probable a wrong one is."""
    own = three()
    x = np.linspace(0, 1, 100)
    encrypted = own.encrypt(x, bound=1)
    assert len(encrypted.chunks) == 2
    few, many = (own.decrypt_shared(encrypted, queries=queries, security=10) for queries in (1, 64))
    # 64 times the queries hide behind eight times the noise, and a little more for the largest of their errors.
    assert few.bits - 3.4 < many.bits < few.bits - 3
    alone = own.engine.decrypt_shared(encrypted.chunks[0], own.keys._need("secret", "ckks"), 2, 10)
    assert abs(few.bits - alone.bits) < 0.01
    error = float(np.sqrt(np.mean((few.values - x) ** 2)))
    assert 2.0 ** (-few.bits - 1) < error < 2.0 ** (-few.bits + 1)
    with pytest.raises(RangeError, match="bits"):
        own.decrypt_shared(encrypted, least_bits=few.bits + 20)
    whole = np.array([3, 250, 7], dtype=np.uint8)
    for one in (own.encrypt(whole), own.encrypt(whole, representation="slots"), own.encrypt(whole) < 9):
        shared = own.decrypt_shared(one, security=60)
        np.testing.assert_array_equal(shared.values, own.decrypt(one))
        assert shared.bits == np.inf
    with pytest.raises(RangeError, match=r"security=128"):
        own.decrypt_shared(own.encrypt(whole), security=128)
    digits = DigitSession(own.digits.engine, own.keys, max_failure=2.0**-40)
    with pytest.raises(RangeError, match=r"2\^-36.*max_failure"):
        digits.decrypt_shared(digits.encrypt(whole), security=37)
    np.testing.assert_array_equal(digits.decrypt_shared(digits.encrypt(whole), security=36).values, whole)
    sender = Session(own.keys.encryption())
    other = sender.encrypt(x, bound=1)
    with pytest.raises(MissingKeyError, match="secret"):
        sender.decrypt_shared(other)
