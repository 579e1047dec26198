"""Engines without bootstrapping in the larger rings: every level is spent, and the result is still right."""

from __future__ import annotations

import numpy as np
import pytest

from aglet import Engine


@pytest.mark.parametrize(("max_level", "log_n"), [(17, 15), (18, 16), (36, 16), (37, 17), (77, 17)])
def test_as_many_products_as_promised(max_level: int, log_n: int) -> None:
    engine = Engine(max_level=max_level, mode="parallel")
    assert (engine.log_coeff_count, engine.max_level) == (log_n, max_level)
    assert engine.security_report().is_secure
    secret = engine.create_secret_key()
    relin = engine.create_relinearization_key(secret)
    message = np.linspace(-1, 0.5, engine.slot_count)
    ciphertext = engine.encrypt(message, engine.create_public_key(secret))
    # x -> x (x + 1) / 2 contracts to 0, and errors with it.
    expected = message
    for _ in range(max_level // 2):
        ciphertext = engine.multiply(engine.add(ciphertext, 1), engine.multiply(ciphertext, 0.5), relin)
        expected = expected * (expected + 1) / 2
    assert ciphertext.level == max_level - 2 * (max_level // 2)
    assert np.abs(engine.decrypt(ciphertext, secret) - expected).max() < 2.0**-18
