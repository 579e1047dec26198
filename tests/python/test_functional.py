"""Functional bootstraps on the toy ring: tables and smooth functions, refused noise, the law of errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from aglet import Engine
from aglet.errors import AgletError, LevelError, NoiseError, ParameterError, RangeError
from conftest import Keys
from support import ToyEngine


def table(entries: int, seed: int = 1) -> np.ndarray:
    """Irregular entries of a grid between 0 and 1, both ends among them."""
    return np.asarray(np.random.default_rng(seed).permutation(entries) / (entries - 1))


def messages(engine: Engine, entries: int, low: float = 0.0, step: float = 1.0, real: bool = False) -> Any:
    """Every entry in some slot, in both parts."""
    place = np.arange(engine.slot_count)
    first, second = place % entries, (3 * place + 1) % entries
    return low + step * first if real else low + step * first + 1j * (low + step * second)


def looked_up(message: Any, entries: np.ndarray, low: float = 0.0, step: float = 1.0) -> Any:
    def of(part: Any) -> Any:
        return entries[np.round((part - low) / step).astype(int) % len(entries)]

    return of(message.real) + 1j * of(message.imag) if np.iscomplexobj(message) else of(message)


def bootstrapped(engine: Engine, keys: Keys, message: Any, function: Any, **options: Any) -> Any:
    ciphertext = engine.encrypt(message, keys.secret, level=0)
    options.setdefault("input_error", 2.0**-20)
    return engine.functional_bootstrap(
        ciphertext, function, keys.relinearization, keys.conjugation, keys.bootstrap, **options
    )


@pytest.mark.parametrize(
    ("entries", "low", "step", "level"), [(2, 0.0, 1.0, 10), (4, -0.5, 0.25, 8), (16, 0.0, 1.0, 6)]
)
@pytest.mark.parametrize("real", [True, False])
def test_tables(engine: Engine, keys: Keys, entries: int, low: float, step: float, level: int, real: bool) -> None:
    message, of = messages(engine, entries, low, step, real), table(entries)
    result = bootstrapped(engine, keys, message, of, low=low, step=step)
    assert result.level == level
    assert result.level == engine.functional_estimate(of, low=low, step=step, real=real).level
    found = engine.decrypt(result, keys.secret)
    assert np.iscomplexobj(found) is not real
    wanted = looked_up(message, of, low, step)
    assert np.abs(found - wanted).max() < 2.0**-18
    assert (engine.decrypt_entries(result, keys.secret, of) == wanted).all()


def test_a_lossy_key_leaves_more_levels(engine: Engine, keys: Keys) -> None:
    lossy = engine.create_lossy_bootstrap_key(keys.secret, stage_count=3)
    for entries, level in ((16, 10), (256, 4)):
        message, of = messages(engine, entries), table(entries)
        ciphertext = engine.encrypt(message, keys.secret, level=0)
        result = engine.functional_bootstrap(
            ciphertext, of, keys.relinearization, keys.conjugation, lossy, input_error=2.0**-20
        )
        assert result.level == level == engine.functional_estimate(of, method="lossy").level
        assert (engine.decrypt_entries(result, keys.secret, of) == looked_up(message, of)).all()
        # At a lower level the same.
        lower = engine.functional_bootstrap(
            ciphertext, of, keys.relinearization, keys.conjugation, lossy, input_error=2.0**-20, target_level=level - 2
        )
        assert lower.level == level - 2
        assert (engine.decrypt_entries(lower, keys.secret, of) == looked_up(message, of)).all()


def test_a_small_key(engine: Engine, keys: Keys) -> None:
    small, rotation = engine.create_small_bootstrap_key(keys.secret), engine.create_rotation_key(keys.secret)
    message, of = messages(engine, 16), table(16)
    ciphertext = engine.encrypt(message, keys.secret, level=0)
    result = engine.functional_bootstrap(
        ciphertext, of, keys.relinearization, keys.conjugation, rotation, small, input_error=2.0**-20
    )
    assert result.level == engine.functional_estimate(of, size="small").level
    assert (engine.decrypt_entries(result, keys.secret, of) == looked_up(message, of)).all()


def test_several_tables_and_two_parts(engine: Engine, keys: Keys) -> None:
    message, tables = messages(engine, 8), [table(8, seed) for seed in (1, 2, 3)]
    results = bootstrapped(engine, keys, message, tables)
    assert len(results) == 3
    for result, of in zip(results, tables, strict=True):
        assert np.abs(engine.decrypt(result, keys.secret) - looked_up(message, of)).max() < 2.0**-18
    one = bootstrapped(engine, keys, message, tables[0], imaginary=tables[1])
    wanted = looked_up(message.real, tables[0]) + 1j * looked_up(message.imag, tables[1])
    assert np.abs(engine.decrypt(one, keys.secret) - wanted).max() < 2.0**-18


def test_sums_count_modulo_the_entries(engine: Engine, keys: Keys) -> None:
    message, of = messages(engine, 8, real=True), table(8)
    x = engine.encrypt(message, keys.secret, level=0)
    result = engine.functional_bootstrap(
        engine.add(x, x), of, keys.relinearization, keys.conjugation, keys.bootstrap, input_error=2.0**-20
    )
    assert (engine.decrypt_entries(result, keys.secret, of) == looked_up(2 * message, of)).all()


def test_tables_one_after_the_other(engine: Engine, keys: Keys) -> None:
    """Twelve permutations of [0, 1): what one leaves, the next one takes, by what ciphertexts state."""
    entries = 16
    message = messages(engine, entries) / entries
    x = engine.encrypt(message, keys.secret, level=0, bound=2)
    for seed in range(12):
        of = np.random.default_rng(seed).permutation(entries) / entries
        message = looked_up(message, of, step=1 / entries)
        x = engine.functional_bootstrap(x, of, keys.relinearization, keys.conjugation, keys.bootstrap, step=1 / entries)
    assert (engine.decrypt_entries(x, keys.secret, np.arange(entries) / entries) == message).all()
    error = np.abs(engine.decrypt(x, keys.secret) - message)
    assert np.sqrt((error**2).mean()) < x.noise


def test_errors_are_squared(engine: Engine, keys: Keys) -> None:
    """Order 1: an error of u steps leaves at most 3.3 u^2 of the range; order 3 leaves less."""
    entries, u = 16, 2.0**-6
    message, of = messages(engine, entries, real=True), table(entries)
    noisy = message + u * np.where(np.arange(engine.slot_count) % 2, 1, -1)
    left = []
    for order in (1, 3):
        result = bootstrapped(engine, keys, noisy, of, order=order, max_failure=1.0)
        left.append(np.abs(engine.decrypt(result, keys.secret) - looked_up(message, of)).max())
    assert u * u < left[0] < 3.4 * u * u
    assert left[1] < left[0] / 4


@pytest.mark.parametrize("entries", [1, 4])
def test_few_slots(entries: int) -> None:
    slots = 16
    engine = ToyEngine(use_bootstrap=True, slot_count=slots)
    secret = engine.create_secret_key()
    relinearization, conjugation = engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)
    bootstrap = engine.create_bootstrap_key(secret, stage_count=2)
    message, of = messages(engine, 4 * entries), table(4 * entries)
    x = engine.encrypt(message, secret, level=0)
    choices: list[dict[str, Any]] = [{}, {"target_level": 1}, {"imaginary": of[::-1]}]
    for options in choices:
        result = engine.functional_bootstrap(
            x, of, relinearization, conjugation, bootstrap, input_error=2.0**-20, **options
        )
        other = options.get("imaginary", of)
        wanted = looked_up(message.real, of) + 1j * looked_up(message.imag, np.asarray(other))
        assert np.abs(engine.decrypt(result, secret) - wanted).max() < 2.0**-17


FUNCTIONS: list[tuple[Any, tuple[float, float], float]] = [
    (np.tanh, (-4, 4), 16), (np.exp, (-1, 1), 18), (lambda x: 1 / (1 + np.exp(-x)), (-8, 8), 18),
    (lambda x: 1 / x, (0.25, 1), 18),
]  # fmt: skip


@pytest.mark.parametrize(("function", "interval", "bits"), FUNCTIONS)
def test_smooth_functions(engine: Engine, keys: Keys, function: Any, interval: Any, bits: float) -> None:
    message = np.linspace(*interval, engine.slot_count)
    result = bootstrapped(engine, keys, message, function, interval=interval, bits=bits)
    found, wanted = engine.decrypt(result, keys.secret), function(message)
    assert -np.log2(np.abs(found - wanted).max() / np.abs(wanted).max()) > bits - 1.5
    error = np.abs(found - wanted)
    assert np.sqrt((error**2).mean()) < result.noise * 2 + 2.0**-bits * np.abs(wanted).max()


def test_a_scalar_function_and_one_with_a_kink(engine: Engine, keys: Keys) -> None:
    message = np.linspace(-1, 1, engine.slot_count)
    result = bootstrapped(engine, keys, message, math.sin, interval=(-1, 1))
    assert np.abs(engine.decrypt(result, keys.secret) - np.sin(message)).max() < 2.0**-17
    with pytest.raises(RangeError, match=r"has .* bits of this function"):
        bootstrapped(engine, keys, message, lambda x: np.maximum(x, 0), interval=(-1, 1), bits=20)


def test_noise_that_is_not_known_or_too_large_is_refused(engine: Engine, keys: Keys) -> None:
    message, of = messages(engine, 16), table(16)
    ciphertext = engine.encrypt(message, keys.secret, level=0)
    cut = (of, keys.relinearization, keys.conjugation, keys.bootstrap)
    refreshed = engine.functional_bootstrap(ciphertext, *cut)  # a fresh ciphertext states its noise
    assert refreshed.noise < 2.0**-12
    squares = engine.square(engine.encrypt(message, keys.secret, level=1), keys.relinearization)
    assert squares.noise is None
    with pytest.raises(NoiseError, match=r"not known.*input_error="):
        engine.functional_bootstrap(squares, *cut)
    largest = engine.functional_estimate(of).largest_input_error
    assert largest is not None
    assert 2.0**-12 < largest < 2.0**-6
    engine.functional_bootstrap(ciphertext, *cut, input_error=largest * 0.99)
    with pytest.raises(NoiseError, match="may err by"):
        engine.functional_bootstrap(ciphertext, *cut, input_error=largest * 1.02)
    engine.functional_bootstrap(ciphertext, *cut, input_error=largest * 1.02, max_failure=2.0**-100)


def test_an_estimate_says_what_comes(engine: Engine) -> None:
    estimate = engine.functional_estimate(table(16), input_error=2.0**-12)
    assert estimate.levels == 4
    assert estimate.log2_failure is not None
    assert estimate.log2_failure < -128
    assert "4 levels, to level 6" in str(estimate)
    smooth = engine.functional_estimate(np.tanh, interval=(-4, 4), bits=16)
    assert smooth.log2_failure is None
    assert smooth.largest_input_error is None


REFUSED: list[tuple[Any, dict[str, Any], type[AgletError] | type[TypeError], str]] = [
    ([1.0], {}, RangeError, "2 to 256"),
    (np.zeros(257), {}, RangeError, "2 to 256"),
    ([0.5, 0.5], {}, ParameterError, "constant polynomial or table"),
    ([0.0, float("nan")], {}, RangeError, "nan|finite"),
    ([0, 1j], {}, ParameterError, "real entries"),
    ([0, 1], {"step": 0}, ParameterError, "step between values"),
    ([0, 1], {"order": 4}, ParameterError, "1, 2 or 3"),
    ([0, 1], {"interval": (0, 1)}, ParameterError, "is for a callable"),
    ([0, 1], {"imaginary": [[0, 1], [1, 0]]}, ParameterError, "as many of each"),
    ([0, 1], {"imaginary": np.tanh}, ParameterError, "cannot be mixed"),
    (np.tanh, {}, ParameterError, "needs interval"),
    (np.tanh, {"interval": (1, 0)}, ParameterError, "empty"),
    (np.tanh, {"interval": (0, 1), "step": 1.0}, ParameterError, "is for a table"),
    (np.log, {"interval": (-1, 1)}, RangeError, "no finite real number"),
    (3, {}, TypeError, "a table"),
    ([0, 1], {"max_failure": 0}, ParameterError, "no probability"),
    ([0, 1], {"target_level": 11}, LevelError, "level"),
    (table(256), {}, LevelError, "level"),
    ([0, 1], {"colour": 3}, TypeError, "colour"),
]


@pytest.mark.parametrize(("function", "options", "error", "match"), REFUSED)
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_what_is_refused(
    engine: Engine, keys: Keys, function: Any, options: dict[str, Any], error: type[Exception], match: str
) -> None:
    if function is REFUSED[-2][0]:
        options = {"target_level": 5}
    with pytest.raises(error, match=match):
        bootstrapped(engine, keys, np.zeros(engine.slot_count), function, **options)


def test_values_that_are_known_to_be_outside(engine: Engine, keys: Keys) -> None:
    with pytest.raises(RangeError, match="outside of the interval"):
        bootstrapped(engine, keys, np.full(engine.slot_count, 40.0), np.tanh, interval=(-4, 4))


def test_ship_has_none() -> None:
    engine = Engine(preset="toy-ship", allow_insecure=True)
    with pytest.raises(ParameterError, match="take a preset"):
        engine.functional_estimate([0, 1])
