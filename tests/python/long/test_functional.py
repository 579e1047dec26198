"""Functional bootstraps at the real size: every entry, noise against what is stated, the law of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import Engine, KeySet

# A slot is a Gaussian times what the secret is there: E|z|^4 is 4 (E|z|^2)^2 (docs/measuring.md).
KURTOSIS = (3.0, 5.5)
MANY, KURTOSIS_OF_MANY = 64, 10.0
"""Entries of large tables have noises of their own, by how steep the polynomial is in the size of the exponential."""


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(use_bootstrap=True, mode="parallel")


@pytest.fixture(scope="module")
def keys(engine: Engine) -> KeySet:
    return engine.create_keys(method="lossy", rotation=False)


def of_slots(message: Any, entries: np.ndarray) -> Any:
    return entries[message.real.astype(int)] + 1j * entries[message.imag.astype(int)]


# Entries, bits of the root mean square by the model of shared tables (a slot has two parts), level.
CASES = [(4, 25.0, 12), (16, 23.7, 10), (256, 22.4, 4)]


@pytest.mark.parametrize(("entries", "bits", "level"), CASES)
def test_a_table(engine: Engine, keys: KeySet, entries: int, bits: float, level: int) -> None:
    random = np.random.default_rng(entries)
    places = random.integers(0, entries, (2, engine.slot_count))
    message = places[0] + 1j * places[1]
    of = random.permutation(entries) / (entries - 1)
    x = engine.encrypt(message, keys.secret, level=0, bound=2 * entries)
    y = engine.functional_bootstrap(x, of, *keys.bootstrap_arguments)
    assert y.level == level
    error = np.abs(engine.decrypt(y, keys.secret) - of_slots(message, of))
    rms = float(np.sqrt((error**2).mean()))
    print(
        f"{entries} entries: 2^{np.log2(rms):.2f}, worst 2^{np.log2(error.max()):.2f}, stated 2^{np.log2(y.noise):.2f}"
    )
    assert (engine.decrypt_entries(y, keys.secret, of) == of_slots(message, of)).all()
    assert -np.log2(rms) > bits
    assert y.noise / 2**5 < rms < y.noise
    least, most = KURTOSIS
    assert least < float((error**4).mean()) / rms**4 < (most if entries < MANY else KURTOSIS_OF_MANY)


def test_inputs_with_noise_show_the_law_of_squares(engine: Engine, keys: KeySet) -> None:
    """An error of 2^-9 steps leaves S_m (pi u / p)^2: computed from the second derivative of the table's polynomial."""
    entries = 16
    random = np.random.default_rng(3)
    places = random.integers(0, entries, engine.slot_count)
    error = 2.0**-9 * random.standard_normal(engine.slot_count)
    of = random.permutation(entries) / (entries - 1)
    x = engine.encrypt(places + error, keys.secret, level=0, bound=2 * entries)
    y = engine.functional_bootstrap(x, of, *keys.bootstrap_arguments, input_error=2.0**-9, max_failure=1.0)
    found = engine.decrypt(y, keys.secret) - of[places]
    distance = np.arange(1, entries)
    weights = np.sin(np.pi * distance / entries) ** -2
    s = np.array([((np.roll(of, -m)[1:] - of[m]) * weights).sum() for m in range(entries)])
    wanted = s[places] * (np.pi * error / entries) ** 2
    assert np.sqrt(((found - wanted) ** 2).mean()) < 0.05 * np.sqrt((wanted**2).mean())


def test_smooth_functions(engine: Engine, keys: KeySet) -> None:
    message = np.linspace(-4, 4, engine.slot_count)
    x = engine.encrypt(message, keys.secret, level=0, bound=4)
    results = engine.functional_bootstrap(
        x, [np.tanh, np.cos], *keys.bootstrap_arguments, interval=(-4, 4), bits=20, real=True
    )
    for result, function in zip(results, (np.tanh, np.cos), strict=True):
        error = np.abs(engine.decrypt(result, keys.secret) - function(message))
        print(f"{function.__name__}: 2^{np.log2(np.sqrt((error**2).mean())):.2f}, worst 2^{np.log2(error.max()):.2f}")
        assert error.max() < 2.0**-19
