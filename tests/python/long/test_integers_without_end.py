"""Bootstraps of integers at the real size: 32,768 numbers modulo 65537, exact."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from aglet import IntegerEngine, NoiseError

T = 65537


def test_computation_without_end(tmp_path: Path) -> None:
    """Squares and additions against numpy, with a bootstrap whenever levels run out."""
    engine = IntegerEngine(use_bootstrap=True, thread_count=2)
    secret = engine.create_secret_key()
    relinearization, key = engine.create_relinearization_key(secret), engine.create_bootstrap_key(secret)
    assert key.byte_count == engine.bootstrap_forecast()[0]
    random = np.random.default_rng(3).integers(0, T, engine.slot_count)
    messages = [random, np.zeros_like(random), np.full_like(random, T - 1), np.arange(engine.slot_count) % 2]
    cts = [engine.encrypt(message, secret) for message in messages]
    bootstraps = 0
    for step in range(40):
        if cts[0].level == 1:
            cts = engine.bootstrap_many(cts, key)
            bootstraps += 1
            assert cts[0].level == engine.bootstrap_output_level == 8
        cts = [engine.add(engine.square(ct, relinearization), step) for ct in cts]
        messages = [(message * message + step) % T for message in messages]
        for ct, message in zip(cts, messages, strict=True):
            assert np.array_equal(engine.decrypt(ct, secret) % T, message)
    assert bootstraps == 5
    engine.write(key, tmp_path / "key")
    assert (tmp_path / "key").stat().st_size < 0.9e9
    again = IntegerEngine(use_bootstrap=True, scheme="bgv", thread_count=2)
    one = again.bootstrap(cts[0], again.read(tmp_path / "key"))
    assert np.array_equal(engine.decrypt(one, secret) % T, messages[0])
    assert "digit_extraction" in dict(again.stage_times())
    # Noise that would not be gone by the bootstrap is refused, not refreshed.
    noisy = engine.encrypt(random, secret, level=1)
    noisy = engine.multiply(noisy, np.full(engine.slot_count, 12345))
    with pytest.raises(NoiseError):
        engine.bootstrap(noisy, key)


def test_the_example_of_dot_products(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(Path(__file__).parents[3] / "examples" / "recurrence.py"))
    assert "3 bootstraps" in capsys.readouterr().out
