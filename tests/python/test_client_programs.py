"""Small programs as users of the documented interface write them: each name, by position and by keyword."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aglet
from aglet import Engine
from support import ToyEngine, assert_near


def test_the_first_page() -> None:
    engine = Engine(mode="cpu")
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    relinearization_key = engine.create_relinearization_key(secret_key)
    message1, message2 = [1, 2, 3, 4, 5], [6.0, 7.0, 8.0, 9.0, 10.0]
    ciphertext1 = engine.encrypt(message1, public_key)
    ciphertext2 = engine.encrypt(message=message2, public_key=public_key)
    added = engine.add(ciphertext1, ciphertext2)
    multiplied = engine.multiply(ciphertext1, ciphertext2, relinearization_key)
    decrypted = engine.decrypt(multiplied, secret_key)
    assert multiplied.level == engine.max_level - 1
    assert_near(engine.decrypt(added, secret_key)[:5], np.add(message1, message2))
    assert_near(decrypted[:5], np.multiply(message1, message2), 2.0**-10)
    assert json.dumps([round(x) for x in decrypted[:5].tolist()]) == "[6, 14, 24, 36, 50]"
    assert math.sqrt(decrypted[0]) == pytest.approx(6**0.5)


def test_engines_by_all_their_arguments() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        many = Engine(max_level=2, mode="parallel", thread_count=256)
    assert len(caught) == (many.thread_count != 256)
    for engine in (
        Engine(max_level=3, mode="auto"),
        Engine(slot_count=2**14, max_level=1),
        Engine(slot_count=64, mode="parallel", thread_count=2, device_id=0, use_bootstrap=False, use_multiparty=False),
        Engine(3, "cpu"),
        Engine(14, 1, "cpu"),
        Engine(log_coeff_count=13, special_prime_count=1),
        Engine(log_slot_count=6, compact=True),
    ):
        secret_key = engine.create_secret_key()
        assert_near(engine.decrypt(engine.encrypt([0.5], secret_key), secret_key)[:1], [0.5])
    with pytest.raises(RuntimeError, match="auto"):
        Engine(mode="gpu")


class Wrapper(Engine):
    """As programs wrap it: they keep what they were given on the object."""

    def __init__(self, max_level: int = 3, mode: str = "cpu", slot_count: int = 16) -> None:
        self.mode = mode
        self.max_level = max_level
        self.slot_count = slot_count
        super().__init__(max_level=max_level, mode=mode, slot_count=slot_count)
        self.secret_key = self.create_secret_key()
        self.public_key = self.create_public_key(self.secret_key)

    def enc(self, message: Any) -> Any:
        return self.encrypt(message, self.public_key)


def test_a_subclass() -> None:
    engine = Wrapper(mode="parallel")
    assert (engine.mode, engine.max_level, engine.slot_count) == ("parallel", 3, 16)
    assert_near(engine.decrypt(engine.enc([1, 2]), engine.secret_key)[:2], [1, 2])


def test_plaintexts_of_both_kinds() -> None:
    engine = Engine(max_level=4, slot_count=8)
    sk = engine.create_secret_key()
    ct = engine.encrypt([1, 2, 3], sk, level=4)
    for pt in (
        engine.encode([10, 20, 30]),
        engine.encode(message=[10, 20, 30], level=3),
        engine.encode_to_light_plaintext([10, 20, 30]),
        engine.encode_to_light_plaintext([10, 20, 30], 3),
        engine.encode_to_light_plaintext(message=[10, 20, 30], level=2),
        engine.level_down(engine.encode([10, 20, 30]), 1),
    ):
        assert_near(engine.decode(pt)[:3], [10, 20, 30])
        assert_near(engine.decrypt(engine.add(ct, pt), sk)[:3], [11, 22, 33])
        assert_near(engine.decrypt(engine.subtract(pt, ct), sk)[:3], [9, 18, 27])
        product = engine.multiply(ct, pt)
        assert product.level == min(ct.level, pt.level) - 1
        assert_near(engine.decrypt(product, sk)[:3], [10, 40, 90])
        assert_near(engine.decrypt(engine.encrypt(pt, sk), sk)[:3], [10, 20, 30])
    assert_near(engine.decode(engine.decrypt_to_plaintext(ct, sk))[:3], [1, 2, 3])


def test_keys_by_position_and_name(tmp_path: Path) -> None:
    engine = Engine(max_level=3, slot_count=16)
    sk = engine.create_secret_key()
    made = {
        "public_key": engine.create_public_key(secret_key=sk),
        "relinearization_key": engine.create_relinearization_key(sk, 2),
        "conjugation_key": engine.create_conjugation_key(secret_key=sk, level=2),
        "rotation_key": engine.create_rotation_key(sk, level=2),
        "fixed_rotation_key": engine.create_fixed_rotation_key(sk, 1, 2),
        "matrix_multiplication_key": engine.create_matrix_multiplication_key(sk),
        "plaintext": engine.encode([1j, 2]),
        "light_plaintext": engine.encode_to_light_plaintext([1, 2], level=2),
        "ciphertext": engine.encrypt([1, 2], sk, 2),
    }
    keys = {}
    for name, thing in made.items():
        getattr(engine, f"write_{name}")(thing, str(tmp_path / name))
        keys[name] = getattr(engine, f"read_{name}")(str(tmp_path / name))
        data = getattr(engine, f"serialize_{name}")(thing)
        assert type(getattr(engine, f"deserialize_{name}")(data)) is type(thing)
    x = keys["ciphertext"]
    assert_near(engine.decrypt(engine.square(x, keys["relinearization_key"]), sk)[:2], [1, 4])
    assert_near(engine.decrypt(engine.rotate(x, keys["rotation_key"], 1), sk)[:3], [0, 1, 2])
    assert_near(engine.decrypt(engine.rotate(ciphertext=x, rotation_key=keys["rotation_key"], delta=-1), sk)[:1], [2])
    for rotated in (
        engine.rotate(x, keys["fixed_rotation_key"]),
        engine.rotate(x, fixed_rotation_key=keys["fixed_rotation_key"]),
        engine.rotate_batch(x, [keys["fixed_rotation_key"]])[0],
    ):
        assert_near(engine.decrypt(rotated, sk)[:3], [0, 1, 2])
    assert (keys["fixed_rotation_key"].delta, keys["fixed_rotation_key"].level) == (1, 2)
    assert_near(engine.decrypt(engine.conjugate(x, keys["conjugation_key"]), sk)[:2], [1, 2])


def test_matrices() -> None:
    engine = Engine(slot_count=64, max_level=2)
    sk = engine.create_secret_key()
    rk, mk = engine.create_rotation_key(sk), engine.create_matrix_multiplication_key(sk)
    matrix = np.arange(64 * 64).reshape(64, 64) / 4096
    ct, expected = engine.encrypt([2] * 64, sk), matrix @ np.full(64, 2)
    for made in (
        engine.multiply_matrix(matrix, ct, rk),
        engine.multiply_matrix(matrix.tolist(), ct, mk),
        engine.multiply_matrix(engine.encode_to_plain_matrix(matrix, level=2), ct, rk),
        engine.multiply_matrix(engine.encode_to_light_plain_matrix(matrix), ct, mk),
        engine.multiply_matrix(matrix=engine.encode_to_plain_matrix(matrix), ciphertext=ct, rotation_key=rk),
    ):
        assert_near(engine.decrypt(made, sk), expected, 2.0**-10)


def test_polynomials_and_bases() -> None:
    engine = Engine(max_level=5, slot_count=16)
    sk = engine.create_secret_key()
    rlk = engine.create_relinearization_key(sk)
    x = np.linspace(-1, 1, 16)
    ct = engine.encrypt(x, sk)
    assert_near(engine.decrypt(engine.evaluate_polynomial(ct, [1, 0, 2, 3], rlk), sk), 1 + 2 * x**2 + 3 * x**3)
    chebyshev = engine.evaluate_chebyshev_polynomial(ciphertext=ct, coefficients=[0, 0, 1], relinearization_key=rlk)
    assert_near(engine.decrypt(chebyshev, sk), 2 * x**2 - 1)
    for basis in (
        engine.make_power_basis(ct, 3, rlk),
        engine.make_power_basis(ciphertext=ct, max_power=3, relinearization_key=rlk),
    ):
        total = engine.weighted_sum(basis, [1.0, 0.5, -0.25])
        assert_near(engine.decrypt(total, sk), x + 0.5 * x**2 - 0.25 * x**3)
    last = engine.make_chebyshev_basis(ct, 3, rlk)[-1]
    assert_near(engine.decrypt(last, sk), 4 * x**3 - 3 * x)


def test_products_before_they_are_relinearized_and_rescaled() -> None:
    engine = Engine(max_level=3, slot_count=4)
    sk = engine.create_secret_key()
    rlk, rk = engine.create_relinearization_key(sk), engine.create_rotation_key(sk)
    x = engine.encrypt([1, 2, 3, 4], sk)
    y = engine.relinearize(engine.multiply(engine.intt(x), x), rlk)
    y = engine.rescale(engine.ntt(y))
    engine.add(y, x, out=y)
    assert_near(engine.decrypt(y, sk), [2, 6, 12, 20])
    assert_near(engine.decrypt(engine.sum(y, rk), sk), 40)
    assert_near(engine.decrypt(engine.sum(ciphertext=y, rotation_key=rk, axis=0), sk), [2, 6, 12, 20])
    assert_near(engine.decrypt(engine.multiply_imaginary_integer(engine.negate(x), 2), sk), [-2j, -4j, -6j, -8j])
    assert engine.level_down(ciphertext=y, level=0).level_available == 0
    assert engine.to_cpu(engine.clone(y)).level == y.level
    assert len(y) == 1


def test_a_program_that_bootstraps_when_levels_run_out() -> None:
    engine = ToyEngine(use_bootstrap=True, slot_count=16)
    secret_key = engine.create_secret_key()
    relinearization_key = engine.create_relinearization_key(secret_key)
    conjugation_key = engine.create_conjugation_key(secret_key)
    bootstrap_key = engine.create_bootstrap_key(secret_key, count=3, size="medium")
    assert engine.max_level == 13
    x = engine.encrypt([0.99, -0.98, 0.5], secret_key, level=2)
    expected, refreshed = np.array([0.99, -0.98, 0.5]), 0
    for _ in range(6):
        try:
            x = engine.square(x, relinearization_key)
        except RuntimeError:
            x = engine.bootstrap(x, relinearization_key, conjugation_key, bootstrap_key)
            x, refreshed = engine.square(x, relinearization_key), refreshed + 1
        expected = expected**2
    assert refreshed == 1
    assert_near(engine.decrypt(x, secret_key)[:3], expected, 2.0**-10)


def test_the_family_of_bootstraps() -> None:
    engine = ToyEngine(use_bootstrap=True, slot_count=16)
    sk = engine.create_secret_key()
    keys = {
        "relinearization_key": engine.create_relinearization_key(sk),
        "conjugation_key": engine.create_conjugation_key(sk),
    }
    rotation_key, small = engine.create_rotation_key(sk), engine.create_small_bootstrap_key(sk)
    lossy = engine.create_lossy_bootstrap_key(sk, stage_count=3)
    merge = engine.create_merge_bootstrap_key(sk, 3)
    half, signs = engine.encrypt([0.5, -0.5], sk, level=3), engine.encrypt([1, -1] * 8, sk, level=3)
    boot = engine.bootstrap(half, rotation_key=rotation_key, small_bootstrap_key=small, stage_count=2, **keys)
    assert_near(engine.decrypt(boot, sk)[:2], [0.5, -0.5], 2.0**-12)
    assert_near(engine.decrypt(engine.lossy_bootstrap(half, *keys.values(), lossy), sk)[:2], [0.5, -0.5], 2.0**-12)
    made = engine.sign_bootstrap(signs, lossy_bootstrap_key=lossy, **keys)
    assert_near(engine.decrypt(made, sk), [1, -1] * 8, 2.0**-12)
    first, second = engine.merge_bootstrap(half, signs, merge_bootstrap_key=merge, **keys)
    assert_near(engine.decrypt(first, sk)[:2], [0.5, -0.5], 2.0**-12)
    assert_near(engine.decrypt(second, sk), [1, -1] * 8, 2.0**-12)
    mixed = engine.encrypt([0.5 + 0j], sk, level=3)
    with pytest.raises(RuntimeError, match="real=True"):
        engine.merge_bootstrap(mixed, half, *keys.values(), merge)
    assert engine.merge_bootstrap(mixed, half, *keys.values(), merge, real=True)[0].level > 3


def test_names_that_are_asked_for_and_not_there() -> None:
    engine = Engine(max_level=1)
    names = ["create_public_key_a", "create_individual_rotation_key", "individual_decrypt", "multiparty_decrypt"]
    names += ["create_multiparty_relinearization_key", "create_multiparty_bootstrap_key"]
    for name in names:
        assert hasattr(engine, name)
        with pytest.raises(RuntimeError, match="multiparty keys"):
            getattr(engine, name)(1, 2, three=3)
    for kind in ("LightPlaintext", "PlainMatrix", "LightPlainMatrix", "SmallBootstrapKey", "GLEngine"):
        assert hasattr(aglet, kind)
