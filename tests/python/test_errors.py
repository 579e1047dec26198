"""Bad input: the right class, a sentence that names the fix, and nothing harmed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import aglet
from aglet import Ciphertext, Engine
from aglet.errors import (
    AgletError,
    KeyMismatchError,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
)
from aglet.keys.kinds import KINDS
from conftest import Keys
from support import assert_near, random_message


def test_every_error_is_an_aglet_error() -> None:
    import aglet.errors as module

    for name in module.__all__:
        assert issubclass(getattr(module, name), AgletError)
        assert issubclass(getattr(module, name), ValueError)


def test_what_is_missing_is_made_by_a_full_call() -> None:
    """The call that an error names says whose it is: of a class, or a method of an engine, switch or plan."""
    package = Path(aglet.__file__).parent
    texts = "".join(path.read_text() for path in sorted(package.rglob("*.py")))
    made = re.findall(r'(?<!def )\b(?:need|operand|methods)\((?:[^"()]|\[[^]]*\])*"([^"]*)"', texts)
    made += [kind.maker for kind in KINDS.values()]
    assert len(made) > 50
    for call in made:
        assert re.match(r"(engine|fhew_engine|switch|plan)\.[\w{}]+\(|[A-Z]\w+\(", call), call


def test_a_key_of_another_secret(engine: Engine, keys: Keys) -> None:
    stranger = engine.create_secret_key()
    a = engine.encrypt([1], keys.secret)
    b = engine.encrypt([1], stranger)
    calls: list[Callable[[], object]] = [
        lambda: engine.decrypt(a, stranger),
        lambda: engine.add(a, b),
        lambda: engine.subtract(a, b),
        lambda: engine.multiply(a, b, keys.relinearization),
        lambda: engine.multiply(a, a, engine.create_relinearization_key(stranger)),
        lambda: engine.square(a, engine.create_relinearization_key(stranger)),
        lambda: engine.conjugate(a, engine.create_conjugation_key(stranger)),
        lambda: engine.rotate(a, engine.create_fixed_rotation_key(stranger, 1)),
        lambda: engine.bootstrap(b, keys.relinearization, keys.conjugation, keys.bootstrap),
        lambda: engine.bootstrap(a, engine.create_relinearization_key(stranger), keys.conjugation, keys.bootstrap),
    ]
    for call in calls:
        with pytest.raises(KeyMismatchError):
            call()
    assert_near(engine.decrypt(a, keys.secret)[0], 1)


def test_a_key_of_another_engine(engine: Engine, keys: Keys) -> None:
    other = Engine(max_level=2)
    secret = other.create_secret_key()
    b = other.encrypt([1], secret)
    a = engine.encrypt([1], keys.secret)
    relinearization, conjugation = other.create_relinearization_key(secret), other.create_conjugation_key(secret)
    calls: list[Callable[[], object]] = [
        lambda: engine.encrypt([1], other.create_public_key(secret)),
        lambda: engine.encrypt([1], secret),
        lambda: engine.create_public_key(secret),
        lambda: engine.decrypt(a, secret),
        lambda: engine.add(a, b),
        lambda: engine.decode(other.encode([1])),
        lambda: engine.multiply(a, a, relinearization),
        lambda: engine.rotate(a, other.create_fixed_rotation_key(secret, 1)),
        lambda: engine.bootstrap(a, relinearization, conjugation, keys.bootstrap),
        lambda: Engine(max_level=2, slot_count=64).decrypt(b, secret),
    ]
    for call in calls:
        with pytest.raises(KeyMismatchError, match="same options"):
            call()


def test_engines_with_the_same_options_share(engine: Engine, keys: Keys) -> None:
    other = Engine(preset="toy", allow_insecure=True, mode="parallel", thread_count=2)
    a = other.add(engine.encrypt([1], keys.public), other.encrypt([2], keys.secret))
    assert_near(engine.decrypt(a, keys.secret)[0], 3)
    stranger = other.create_secret_key()
    with pytest.raises(KeyMismatchError, match="secret key"):
        engine.decrypt(a, stranger)


def test_a_missing_key(engine: Engine, keys: Keys) -> None:
    a = engine.encrypt([1], keys.secret)
    none: object = None
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: engine.encrypt([1], none), "create_public_key"),  # type: ignore[arg-type]
        (lambda: engine.decrypt(a, none), "create_secret_key"),  # type: ignore[arg-type]
        (lambda: engine.rotate(a, none, 1), "create_rotation_key"),  # type: ignore[arg-type]
        (lambda: engine.conjugate(a, none), "create_conjugation_key"),  # type: ignore[arg-type]
        (
            lambda: engine.bootstrap(a, keys.relinearization, keys.conjugation, none),  # type: ignore[arg-type]
            "create_bootstrap_key",
        ),
        (
            lambda: engine.bootstrap(a, none, keys.conjugation, keys.bootstrap),  # type: ignore[arg-type]
            "create_relinearization_key",
        ),
    ]
    for call, words in calls:
        with pytest.raises(MissingKeyError, match=words):
            call()


def test_the_wrong_kind_of_key(engine: Engine, keys: Keys) -> None:
    a = engine.encrypt([1], keys.secret)
    with pytest.raises(TypeError, match=r"PublicKey is needed here, not RotationKey"):
        engine.encrypt([1], keys.rotation)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"SecretKey is needed here, not PublicKey"):
        engine.decrypt(a, keys.public)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs at least one ciphertext"):
        engine.add(1, 2)
    with pytest.raises(TypeError, match="a list or an array of numbers, not PublicKey"):
        engine.add(a, keys.public)
    with pytest.raises(TypeError, match="a list or an array of numbers, not NoneType"):
        engine.multiply(None, a)
    with pytest.raises(TypeError, match="Ciphertext is needed here, not list"):
        engine.negate([1])  # type: ignore[arg-type]


def test_levels(engine: Engine, keys: Keys) -> None:
    with pytest.raises(LevelError, match="0 to 13"):
        engine.encrypt([1], keys.public, level=14)
    with pytest.raises(LevelError):
        engine.encode([1], level=-1)
    low = engine.encrypt([1], keys.public, level=2)
    with pytest.raises(LevelError, match="bootstrap"):
        engine.level_down(low, 3)


def test_rotation_steps(engine: Engine, keys: Keys) -> None:
    a = engine.encrypt([1], keys.secret)
    fixed = engine.create_fixed_rotation_key(keys.secret, 1)
    with pytest.raises(KeyMismatchError, match=r"create_fixed_rotation_key\(secret_key, 2\)"):
        engine.rotate(a, fixed, 2)
    with pytest.raises(TypeError, match="needs the step"):
        engine.rotate(a, keys.rotation)
    with pytest.raises(TypeError, match="whole number"):
        engine.rotate(a, keys.rotation, 1.5)  # type: ignore[arg-type]


def test_rotation_before_relinearization(engine: Engine, keys: Keys) -> None:
    a = engine.encrypt([1], keys.secret)
    product = engine.multiply(a, a)
    for call in (
        lambda: engine.rotate(product, keys.rotation, 1),
        lambda: engine.multiply(product, a, keys.relinearization),
        lambda: engine.bootstrap(product, keys.relinearization, keys.conjugation, keys.bootstrap),
    ):
        with pytest.raises(AgletError, match="relinearize"):
            call()


def test_values_that_would_wrap_around() -> None:
    """At level 0 there are few bits above the scale; a larger value would come back as another one."""
    engine = Engine(max_level=2)
    secret = engine.create_secret_key()
    assert_near(engine.decrypt(engine.encrypt([500.0], secret, level=0), secret)[0], 500)
    with pytest.raises(RangeError, match="at level 0, which holds values up to 51"):
        engine.encrypt([600.0], secret, level=0)
    assert_near(engine.decrypt(engine.encrypt([600.0], secret, level=1), secret)[0], 600)
    with pytest.raises(RangeError):
        engine.encode([1e300])


def test_results_that_would_wrap_around() -> None:
    """What is known of a message follows it through arithmetic, and no result that is known not to fit is computed."""
    engine = Engine(max_level=3)
    secret = engine.create_secret_key()
    relin, rotation = engine.create_relinearization_key(secret), engine.create_rotation_key(secret)
    one = engine.encrypt([1.0], secret, level=0)

    def doubled(x: Ciphertext, times: int) -> Ciphertext:
        return doubled(engine.add(x, x), times - 1) if times else x

    for call in (lambda: doubled(one, 44), lambda: engine.multiply(one, 2**44)):
        with pytest.raises(RangeError, match="would not fit at level 0, which holds values up to 51"):
            call()
    ones = engine.encrypt(np.ones(engine.slot_count), secret, level=0)
    total = ones
    for count in range(2, 512):
        total = engine.add(total, ones)
        assert count < 511 or round(engine.decrypt(total, secret)[0]) == count
    high = engine.encrypt(np.full(engine.slot_count, 300.0), secret, level=2)
    for call in (
        lambda: engine.add(total, ones),
        lambda: engine.subtract(engine.negate(total), 4.0),
        lambda: engine.add(total, np.ones(engine.slot_count)),
        lambda: engine.multiply(ones, 600),
        lambda: engine.multiply_imaginary_integer(ones, 600),
        lambda: engine.multiply(engine.level_down(high, 1), 2.0),
        lambda: engine.level_down(engine.multiply(high, 2), 0),
        lambda: engine.weighted_sum([engine.level_down(high, 1)] * 3, [1.0, 0.5, 0.5]),
        lambda: engine.add(engine.multiply(high, 2), one),
        lambda: engine.square(engine.square(engine.multiply(high, 2**20), relin), relin),
    ):
        with pytest.raises(RangeError, match="scale the values down first"):
            call()
    # Estimates from above would refuse these, which are right.
    few = engine.multiply(engine.encrypt([1, 2, 3], secret, level=1), np.ones(engine.slot_count))
    assert_near(engine.decrypt(engine.sum(few, rotation), secret), 6)
    assert_near(engine.decrypt(engine.subtract(engine.multiply(ones, 500), engine.multiply(ones, 400)), secret), 100)
    random = np.random.default_rng(5).choice([-1.0, 1.0], engine.slot_count)
    signs = engine.encrypt(random, secret, level=0)
    assert_near(engine.decrypt(engine.multiply(signs, 4000), secret), 4000 * random, 2.0**-6)


def test_a_message_that_wrapped_around_does_not_decrypt() -> None:
    """What nobody knows in advance is seen in the end: its coefficients fill the modulus."""
    engine = Engine(max_level=2)
    secret = engine.create_secret_key()
    message = np.random.default_rng(6).uniform(-1, 1, engine.slot_count)
    x = engine.deserialize_ciphertext(engine.serialize_ciphertext(engine.encrypt(message, secret)))
    for level in (0, 1, 2):
        large = engine.multiply(engine.multiply(engine.level_down(x, level), 2**40), 2**40)
        with pytest.raises(RangeError, match="wrapped around earlier"):
            engine.decrypt(large, secret)


def test_a_message_of_which_some_coefficients_wrapped_does_not_decrypt() -> None:
    """Random signs just fit; twice as large, some coefficients wrap, and every slot is wrong."""
    engine = Engine(max_level=3)
    secret = engine.create_secret_key()
    signs = np.sign(np.random.default_rng(1).normal(size=engine.slot_count)) * 1e4
    x = engine.multiply(engine.encrypt(signs.astype(complex) / 1e6, secret, level=0), 10**6)
    assert np.abs(engine.decrypt(x, secret) - signs).max() < 1e-1
    with pytest.raises(RangeError, match="wrapped around earlier"):
        engine.decrypt(engine.add(x, x), secret)


def test_values_near_one_number_that_wrapped_around_do_not_decrypt() -> None:
    """One coefficient of 1,024 or so wraps to nearly nothing, and all others are small."""
    engine = Engine(max_level=2)
    secret = engine.create_secret_key()
    key = engine.create_relinearization_key(secret)
    noise = np.random.default_rng(7).uniform(-0.1, 0.1, engine.slot_count)

    def near(level: int) -> Ciphertext:
        """A sum of which nobody knows the least value, but the mean."""
        x = engine.encrypt(np.full(engine.slot_count, 32.0), secret, level=level, bound=48.0)
        return engine.add(engine.subtract(noise, x), engine.add(x, x))

    assert_near(engine.decrypt(near(1), secret), 32 + noise, 2.0**-20)
    for made in (
        engine.multiply(near(1), engine.encrypt(np.full(engine.slot_count, 32.0), secret, level=1), key),
        engine.multiply(near(1), near(1), key),
        engine.square(near(1), key),
        engine.evaluate_polynomial(near(2), [0.0, 0.0, 1.0], key),
        engine.make_power_basis(near(1), 2, key)[-1],
    ):
        with pytest.raises(RangeError, match="wrapped around earlier"):
            engine.decrypt(made, secret)
    # At a level with more room they fit.
    high = engine.encrypt(32 + noise, secret)
    assert_near(engine.decrypt(engine.square(high, key), secret), (32 + noise) ** 2, 2.0**-14)


def test_products_of_alternating_values_that_wrapped_around_do_not_decrypt() -> None:
    """Their mean is nothing, and of a sum that cancels nobody knows the least value: slots are compared."""
    engine = Engine(max_level=2)
    secret = engine.create_secret_key()
    key = engine.create_relinearization_key(secret)
    signs = np.resize([32.0, -32.0], engine.slot_count)
    noise = np.random.default_rng(8).uniform(-0.1, 0.1, engine.slot_count)
    x = engine.encrypt(signs, secret, level=1)
    near = engine.add(engine.add(engine.subtract(noise, x), x), x)
    assert_near(engine.decrypt(near, secret), signs + noise, 2.0**-20)
    scaled = engine.multiply(
        engine.encrypt(signs / 32.0, secret), engine.encrypt(np.full(engine.slot_count, 32.0), secret), key
    )
    for made in (engine.multiply(near, x, key), engine.square(near, key), engine.multiply(near, scaled, key)):
        with pytest.raises(RangeError, match="wrapped around earlier"):
            engine.decrypt(made, secret)
    # What is small is right, although its bound says nothing.
    small = engine.multiply(engine.subtract(near, x), engine.encrypt(noise, secret), key)
    assert_near(engine.decrypt(small, secret), noise * noise, 2.0**-14)


def test_few_numbers_are_followed_through_rotations() -> None:
    """Whole multiples of twice the room come out as nothing, as 2^17 does at level 0."""
    engine = Engine(max_level=2)
    secret = engine.create_secret_key()
    relinearization, rotation = engine.create_relinearization_key(secret), engine.create_rotation_key(secret)
    x = engine.rotate(engine.encrypt(np.resize([16.0, -16.0], engine.slot_count), secret), rotation, -1)
    fourth = engine.make_power_basis(x, 4, relinearization)[-1]
    with pytest.raises(RangeError):
        engine.decrypt(fourth, secret)
    with pytest.raises(RangeError):
        engine.decrypt(engine.subtract(engine.negate(fourth), fourth), secret)
    # Near such a pattern too.
    noise = np.random.default_rng(9).uniform(-0.01, 0.01, engine.slot_count)
    near = np.resize([32.0, -32.0], engine.slot_count) + noise
    x = engine.rotate(engine.encrypt(near, secret, level=1), rotation, 1)
    for other in (x, engine.rotate_batch(engine.encrypt(-near, secret, level=1), rotation, [2])[0]):
        with pytest.raises(RangeError):
            engine.decrypt(engine.multiply(x, other, relinearization), secret)
    # What may not fit and does is right, whatever the rotation: the difference is known to be nothing.
    ramp = np.resize(np.arange(1.0, 9.0) * 50, engine.slot_count)
    encrypted = engine.encrypt(ramp, secret, level=0)
    for delta, turned in (
        (1, engine.rotate(encrypted, rotation, 1)),
        (-3, engine.rotate(encrypted, rotation, -3)),
        (6, engine.rotate_batch(encrypted, rotation, [6])[0]),
    ):
        difference = engine.subtract(turned, engine.encrypt(np.roll(ramp, delta), secret, level=0))
        assert_near(engine.decrypt(difference, secret), np.zeros(engine.slot_count), 2.0**-14)


def test_out_of_range_for_a_bootstrap(engine: Engine, keys: Keys) -> None:
    rest = (keys.relinearization, keys.conjugation, keys.bootstrap)
    large = engine.encrypt([3.0, -1.0], keys.secret, level=0)
    with pytest.raises(RangeError, match="bound="):
        engine.bootstrap(large, *rest)
    with pytest.raises(RangeError, match="positive"):
        engine.bootstrap(large, *rest, bound=0)
    refreshed = engine.bootstrap(large, *rest, bound=4)
    assert_near(engine.decrypt(refreshed, keys.secret)[:3], [3, -1, 0], 2.0**-12)


def test_the_wrong_bootstrap(engine: Engine, keys: Keys) -> None:
    a = engine.encrypt([1], keys.secret)
    rest = (keys.relinearization, keys.conjugation)
    with pytest.raises(MissingKeyError, match="create_small_bootstrap_key"):
        engine.bootstrap(a, *rest, keys.rotation)
    small = engine.create_small_bootstrap_key(keys.secret)
    with pytest.raises(ParameterError, match="create_rotation_key"):
        engine.bootstrap(a, *rest, keys.bootstrap, small)
    with pytest.raises(MissingKeyError, match="rotation key"):
        engine.bootstrap(a, *rest, small)
    with pytest.raises(ParameterError, match="choose 1 to 5"):
        engine.bootstrap(a, *rest, keys.rotation, small, stage_count=6)
    with pytest.raises(MissingKeyError, match="is for regular bootstraps with stage_count=3"):
        engine.lossy_bootstrap(a, *rest, keys.bootstrap)
    with pytest.raises(LevelError, match="level 10 at most"):
        engine.bootstrap(a, *rest, keys.bootstrap, target_level=11)
    low = engine.lossy_bootstrap(engine.encrypt([1], keys.secret, level=0), *rest, keys.rotation, small)
    assert low.level == 13
    with pytest.raises(RangeError, match=r"beyond 1\.25"):
        engine.sign_bootstrap(engine.encrypt([2], keys.secret), *rest, keys.rotation, small)
    with pytest.raises(RangeError, match="real ciphertexts"):
        engine.merge_bootstrap(a, engine.encrypt([1j], keys.secret), *rest, keys.bootstrap)
    with pytest.raises(ParameterError, match="stage_count=4"):
        engine.bootstrap(a, *rest, keys.bootstrap, stage_count=4)
    for arguments in ({"stage_count": 0}, {"stage_count": 99}, {"size": "huge"}):
        with pytest.raises(ParameterError):
            engine.create_bootstrap_key(keys.secret, **arguments)  # type: ignore[arg-type]


def test_memory_is_forecast_before_it_is_taken(engine: Engine, keys: Keys) -> None:
    with pytest.raises(MemoryLimitError):
        engine.create_bootstrap_key(keys.secret, memory_limit_bytes=1000)


def test_a_secret_key_keeps_its_secret(keys: Keys) -> None:
    assert keys.secret.key_id in repr(keys.secret)
    assert len(repr(keys.secret)) < 80


def test_an_exception_from_the_callback_cancels_the_work(engine: Engine, keys: Keys) -> None:
    class EnoughError(Exception):
        pass

    calls = []

    def stop(done: int, total: int, what: str) -> None:
        calls.append((done, total, what))
        raise EnoughError

    with pytest.raises(EnoughError):
        engine.create_bootstrap_key(keys.secret, progress=stop)
    assert len(calls) == 1
    message = random_message(engine.slot_count, 4)
    assert_near(engine.decrypt(engine.encrypt(message, keys.public), keys.secret), message)


def test_an_unknown_backend_is_refused_with_a_sentence() -> None:
    program = "import aglet; aglet.Engine(max_level=2)"
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "AGLET_BACKEND": "abacus"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "DeviceError" in result.stderr
    assert "abacus" in result.stderr
