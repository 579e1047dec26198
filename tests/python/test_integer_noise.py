"""Integers whose noise is as large as it gets: right, or refused before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import IntegerCiphertext, IntegerEngine
from aglet.errors import NoiseError


def centred(values: Any, t: int) -> Any:
    return (values + t // 2) % t - t // 2


def by_all_the_same(x: Any, number: int, t: int) -> Any:
    """The product of a polynomial and one with all coefficients the same, modulo X^N + 1."""
    sums = np.cumsum(x)
    return centred(number * (2 * sums - sums[-1]), t)


@pytest.mark.parametrize("t", [3, 65537])
def test_polynomials_with_all_coefficients_at_half_the_modulus(t: int) -> None:
    """Products with them came out wrong with 135 bits left modulo 3, and with 9.8 modulo 65537."""
    engine = IntegerEngine(plaintext_modulus=t, depth=4, packing="coefficients")
    secret = engine.create_secret_key()
    all_half = np.full(engine.slot_count, t // 2)
    expected = np.random.default_rng(1).integers(-(t // 2), t // 2 + 1, engine.slot_count)
    ct = engine.encrypt(expected, secret)
    for product in range(20):
        try:
            ct = engine.multiply(ct, all_half)
        except NoiseError:
            break
        expected = by_all_the_same(expected, t // 2, t)
        assert np.array_equal(engine.decrypt(ct, secret), expected), product
        assert 0 < ct.noise_budget < engine.noise_budget(ct, secret) + 1
    assert product == (5 if t == 65537 else 13), "what can be served is served"


def test_sums_that_are_squared_again_and_again() -> None:
    """`x = 2 x^2 - 1`: noise twice, and four times in the product that follows."""
    engine = IntegerEngine(depth=4)
    t, secret = engine.plaintext_modulus, engine.create_secret_key()
    relinearization_key = engine.create_relinearization_key(secret)
    expected = np.random.default_rng(2).integers(-(t // 2), t // 2 + 1, engine.slot_count)
    ct = engine.encrypt(expected, secret)
    for _ in range(4):
        square = engine.square(ct, relinearization_key)
        ct, expected = engine.subtract(engine.add(square, square), 1), centred(2 * expected**2 - 1, t)
        assert np.array_equal(engine.decrypt(ct, secret), expected)


def test_what_is_doubled_before_a_product_goes_all_levels() -> None:
    """`x = 2 x^2 - 1` to the end as `(x + x) x - 1`; doubled after the product it is refused, and the error says so."""
    engine = IntegerEngine(depth=19)
    t, secret = engine.plaintext_modulus, engine.create_secret_key()
    relinearization_key = engine.create_relinearization_key(secret)
    values = np.random.default_rng(2).integers(-(t // 2), t // 2 + 1, engine.slot_count)
    fresh = engine.encrypt(values, secret)

    def doubled_before(x: IntegerCiphertext) -> IntegerCiphertext:
        return engine.subtract(engine.multiply(engine.add(x, x), x, relinearization_key), 1)

    def doubled_after(x: IntegerCiphertext) -> IntegerCiphertext:
        square = engine.square(x, relinearization_key)
        return engine.subtract(engine.add(square, square), 1)

    ct, expected = fresh, values
    for _ in range(19):
        ct, expected = doubled_before(ct), centred(2 * expected**2 - 1, t)
    assert ct.level == 0
    assert np.array_equal(engine.decrypt(ct, secret), expected)
    ct = fresh
    for _ in range(11):
        ct = doubled_after(ct)
    with pytest.raises(NoiseError, match=r"mod_switch.*double what goes into products"):
        doubled_after(ct)


def test_a_plain_operand_costs_what_it_is() -> None:
    """One number in every slot is a polynomial with one coefficient, where random slots are large at every root."""
    engine = IntegerEngine(depth=4)
    secret = engine.create_secret_key()
    fresh = engine.encrypt([1, 2, 3], secret)
    ones = engine.multiply(fresh, np.ones(engine.slot_count, int))
    random = engine.multiply(fresh, np.random.default_rng(3).integers(-32768, 32769, engine.slot_count))
    assert ones.noise_budget == pytest.approx(fresh.noise_budget, abs=1e-3)
    assert 22 < fresh.noise_budget - random.noise_budget < 24
    assert engine.multiply(fresh, engine.encode(np.ones(4))).noise_budget < fresh.noise_budget
    # The key says whole bits.
    budget = engine.noise_budget(random, secret)
    assert budget == int(budget) >= random.noise_budget
