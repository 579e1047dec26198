"""The real bootstrap (N = 2^16, 2^15 slots): signs at a scale of 44 bits, and drift over a chain of twenty."""

from __future__ import annotations

import numpy as np
import pytest

from aglet import Engine
from aglet_bench.ckks.measure import Precision, make_message


@pytest.mark.parametrize(("real", "bits"), [(True, 30.0), (False, 28.5)])
def test_signs_at_a_scale_of_44_bits(real: bool, bits: float) -> None:
    engine = Engine(preset="regular-44", mode="parallel")
    secret = engine.create_secret_key()
    rest = (engine.create_relinearization_key(secret), engine.create_conjugation_key(secret))
    key = engine.create_lossy_bootstrap_key(secret)
    signs = make_message("alternating", engine.slot_count)
    cleaned = engine.sign_bootstrap(engine.encrypt(signs, secret), *rest, key, real=real)
    precision = Precision.of(signs, engine.decrypt(cleaned, secret))
    print(f"real={real}: {precision.bits_mean:.2f} bits, worst {precision.bits_worst:.2f}")
    assert cleaned.level == 13
    assert precision.bits_mean >= bits


def test_a_chain_of_twenty() -> None:
    """Twenty bootstraps with ten products between each two: errors add up like a random walk, without a drift."""
    engine = Engine(use_bootstrap=True, mode="parallel")
    keys = engine.create_keys(rotation=False)
    random = np.random.default_rng(7)
    start = make_message("random", engine.slot_count)
    phase = np.exp(2j * np.pi * random.uniform(0, 1, engine.slot_count))
    turn = engine.encrypt(phase, keys.secret)
    ciphertext = engine.encrypt(start, keys.secret, level=0)
    expected = start
    for _ in range(20):
        ciphertext = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
        while ciphertext.level > 0:
            ciphertext = engine.multiply(ciphertext, turn, keys.relinearization)
            expected = expected * phase
    decrypted = engine.decrypt(ciphertext, keys.secret)
    precision = Precision.of(expected, decrypted)
    print(f"after 20: {precision.bits_mean:.2f} bits, worst {precision.bits_worst:.2f}")
    # sqrt(20) is 2.2 bits; the products take their share.
    assert precision.bits_mean >= 18.5
    assert precision.bits_worst >= 15.5
    drift = np.mean((decrypted - expected) * np.conj(start)) / np.mean(np.abs(start) ** 2)
    assert abs(drift) < precision.mean_error
