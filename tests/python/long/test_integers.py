"""Bootstraps of integers at the real size: 32,768 numbers modulo 65537, exact."""

from __future__ import annotations

import numpy as np
import pytest

from aglet import IntegerEngine, NoiseError

T = 65537


def test_computation_without_end() -> None:
    """Squares and additions against numpy, with a bootstrap whenever levels run out."""
    engine = IntegerEngine(use_bootstrap=True, thread_count=2)
    secret = engine.create_secret_key()
    relinearization, key = engine.create_relinearization_key(secret), engine.create_bootstrap_key(secret)
    assert key.byte_count == engine.bootstrap_forecast()[0]
    random = np.random.default_rng(3).integers(0, T, engine.slot_count)
    messages = [random, np.zeros_like(random), np.full_like(random, T - 1), np.arange(engine.slot_count) % 2]
    cts = [engine.encrypt(message, secret) for message in messages]
    bootstraps = 0
    for step in range(20):
        if cts[0].level == 1:
            cts = engine.bootstrap_many(cts, key)
            bootstraps += 1
            assert cts[0].level == engine.bootstrap_output_level == 8
        cts = [engine.add(engine.square(ct, relinearization), step) for ct in cts]
        messages = [(message * message + step) % T for message in messages]
        for ct, message in zip(cts, messages, strict=True):
            assert np.array_equal(engine.decrypt(ct, secret) % T, message)
    assert bootstraps == 2
    one = engine.bootstrap(cts[0], key)
    assert np.array_equal(engine.decrypt(one, secret) % T, messages[0])
    assert "remove" in dict(engine.stage_times())
    noisy = engine.encrypt(random, secret, level=1)
    with pytest.raises(NoiseError):
        for _ in range(4):
            noisy = engine.multiply(noisy, np.full(engine.slot_count, 12345))
            engine.bootstrap(noisy, key)
