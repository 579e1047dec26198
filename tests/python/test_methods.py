"""Every bootstrapping method on the toy ring: levels, values, key sizes, stage counts, sparse slots."""

from __future__ import annotations

import numpy as np
import pytest

from aglet import Engine, KeyMismatchError, ParameterError, RangeError
from conftest import Keys
from support import ToyEngine, assert_near, random_message

CLOSE = 2.0**-20


def signs(count: int) -> np.ndarray:
    """1 and -1, far from periodic."""
    return np.where(np.arange(count) % 3 == 0, -1.0, 1.0)


@pytest.mark.parametrize(("stage_count", "level"), [(3, 13), (4, 13), (5, 12)])
def test_lossy_and_sign(engine: Engine, keys: Keys, stage_count: int, level: int) -> None:
    key = engine.create_lossy_bootstrap_key(keys.secret, stage_count, "medium")
    rest = (keys.relinearization, keys.conjugation, key)
    message = random_message(engine.slot_count, 7)
    refreshed = engine.lossy_bootstrap(engine.encrypt(message, keys.public, level=stage_count), *rest)
    assert (refreshed.level, refreshed.is_real) == (level, False)
    assert_near(engine.decrypt(refreshed, keys.secret), message, CLOSE)
    rough = signs(engine.slot_count) * (1 + 1e-3 * np.sin(np.arange(engine.slot_count)))
    cleaned = engine.sign_bootstrap(engine.encrypt(rough, keys.public, level=stage_count), *rest)
    assert (cleaned.level, cleaned.is_real) == (level, True)
    assert_near(engine.decrypt(cleaned, keys.secret), signs(engine.slot_count), 2e-6)


def test_bits(engine: Engine, keys: Keys) -> None:
    key = engine.create_lossy_bootstrap_key(keys.secret)
    bits = (signs(engine.slot_count) + 1) / 2
    rough = bits + 1e-3 * np.sin(np.arange(engine.slot_count))
    for level in (0, 3):
        ciphertext = engine.encrypt(rough, keys.secret, level=level)
        cleaned = engine.sign_bootstrap(ciphertext, keys.relinearization, keys.conjugation, key, bits=True)
        assert cleaned.level == 13
        assert_near(engine.decrypt(cleaned, keys.secret), bits, 3e-6)


def test_values_far_from_the_points_are_refused_where_they_are_known(engine: Engine, keys: Keys) -> None:
    rest = (keys.relinearization, keys.conjugation, engine.create_lossy_bootstrap_key(keys.secret))
    ones = engine.encrypt(signs(engine.slot_count), keys.public, level=6)
    three = engine.multiply(ones, 3)
    for far in (three, engine.negate(three), engine.multiply(ones, 1.5), engine.rotate(three, keys.rotation, 1)):
        with pytest.raises(RangeError, match=r"beyond 1\.25, too far from the points of a sign bootstrap"):
            engine.sign_bootstrap(far, *rest)
    # Both parts of a complex message may be 1; of a sum nothing is known, and sin(3 pi / 2) is -1.
    both = engine.encrypt(signs(engine.slot_count) * (1 + 1j), keys.public, level=3)
    assert_near(engine.decrypt(engine.sign_bootstrap(both, *rest), keys.secret), signs(engine.slot_count) * (1 + 1j))
    unknown = engine.sign_bootstrap(engine.add(three, 0.0), *rest)
    assert_near(engine.decrypt(unknown, keys.secret), -signs(engine.slot_count))


def test_the_small_key_serves_every_method_and_stage_count(engine: Engine, keys: Keys) -> None:
    rest = (keys.relinearization, keys.conjugation, keys.rotation, engine.create_small_bootstrap_key(keys.secret))
    message = random_message(engine.slot_count, 8)
    ciphertext = engine.encrypt(message, keys.public, level=5)
    for stage_count in (3, 5):
        refreshed = engine.bootstrap(ciphertext, *rest, stage_count=stage_count)
        assert refreshed.level == 10
        assert_near(engine.decrypt(refreshed, keys.secret), message, CLOSE)
        lossy = engine.lossy_bootstrap(ciphertext, *rest, stage_count=stage_count)
        assert lossy.level == 16 - stage_count
        assert_near(engine.decrypt(lossy, keys.secret), message, CLOSE)
    assert engine.bootstrap(ciphertext, *rest).level == 10


def test_real_messages_are_recognised_or_declared(engine: Engine, keys: Keys) -> None:
    rest = (keys.relinearization, keys.conjugation, keys.bootstrap)
    message = np.linspace(-1, 1, engine.slot_count)
    ciphertext = engine.encrypt(message, keys.public, level=1)
    assert ciphertext.is_real
    assert engine.multiply(ciphertext, ciphertext, keys.relinearization).is_real
    assert engine.add(engine.multiply(ciphertext, 0.5), message).is_real
    assert not engine.multiply(ciphertext, 0.5j).is_real
    assert not engine.add(ciphertext, engine.encrypt([1j], keys.public)).is_real
    for real in (None, True, False):
        refreshed = engine.bootstrap(ciphertext, *rest, real=real)
        assert refreshed.is_real == (real is not False)
        assert_near(engine.decrypt(refreshed, keys.secret), message, CLOSE)
    mixed = engine.encrypt(message / 2 + 0.25j, keys.public, level=1)
    assert_near(engine.decrypt(engine.bootstrap(mixed, *rest, real=True), keys.secret), message / 2, CLOSE)


def test_merge(engine: Engine, keys: Keys) -> None:
    x = np.linspace(-1, 1, engine.slot_count)
    first, second = engine.encrypt(x, keys.public, level=4), engine.encrypt(-x[::-1] / 2, keys.public, level=3)
    rest = (keys.relinearization, keys.conjugation)
    for method, key, level in [
        (engine.merge_bootstrap, engine.create_merge_bootstrap_key(keys.secret), 10),
        (engine.lossy_merge_bootstrap, engine.create_lossy_bootstrap_key(keys.secret), 13),
    ]:
        made = method(first, second, *rest, key)
        assert [ct.level for ct in made] == [level, level]
        for ciphertext, expected in zip(made, (x, -x[::-1] / 2), strict=True):
            assert_near(engine.decrypt(ciphertext, keys.secret), expected, CLOSE)


def test_bound_and_target_level(engine: Engine, keys: Keys) -> None:
    rest = (keys.relinearization, keys.conjugation, keys.bootstrap)
    message = 2.0**17 * random_message(engine.slot_count, 9)
    ciphertext = engine.encrypt(message, keys.secret, level=0)
    refreshed = engine.bootstrap(ciphertext, *rest, bound=2**17, target_level=4)
    assert refreshed.level == 4
    assert_near(engine.decrypt(refreshed, keys.secret), message, 2.0**-3)


def test_many(engine: Engine, keys: Keys) -> None:
    messages = [random_message(engine.slot_count, seed) for seed in (1, 2)]
    ciphertexts = [engine.encrypt(message, keys.secret, level=0) for message in messages]
    made = engine.bootstrap_many(ciphertexts, keys.relinearization, keys.conjugation, keys.bootstrap, target_level=7)
    for ciphertext, message in zip(made, messages, strict=True):
        assert ciphertext.level == 7
        assert_near(engine.decrypt(ciphertext, keys.secret), message, CLOSE)
    assert engine.bootstrap_many([], keys.relinearization, keys.conjugation, keys.bootstrap) == []


def test_many_are_the_results_of_one_by_one(engine: Engine, keys: Keys) -> None:
    # Real and complex ones: each is asked for itself.
    messages = [
        random_message(engine.slot_count, 3),
        np.linspace(-1, 1, engine.slot_count),
        np.zeros(engine.slot_count),
    ]
    ciphertexts = [engine.encrypt(message, keys.secret, level=i) for i, message in enumerate(messages)]
    rest = (keys.relinearization, keys.conjugation, keys.bootstrap)
    seen: list[tuple[int, int, str]] = []
    made = engine.bootstrap_many(iter(ciphertexts), *rest, iterations=2, progress=lambda *said: seen.append(said))
    single = [engine.bootstrap(ciphertext, *rest, iterations=2) for ciphertext in ciphertexts]
    serialize = engine.serialize_ciphertext
    assert [serialize(ciphertext) for ciphertext in made] == [serialize(ciphertext) for ciphertext in single]
    assert [ciphertext.is_real for ciphertext in made] == [False, True, True]
    assert seen[-1][0] == seen[-1][1]


def test_many_name_the_ciphertext_that_is_wrong(engine: Engine, keys: Keys) -> None:
    good = engine.encrypt(np.zeros(engine.slot_count), keys.secret, level=0)
    rest = (keys.relinearization, keys.conjugation, keys.bootstrap)
    foreign = engine.encrypt(np.zeros(engine.slot_count), engine.create_secret_key(), level=0)
    large = engine.encrypt(np.full(engine.slot_count, 3.0), keys.secret, level=0)
    elsewhere = ToyEngine(max_level=3)
    other = elsewhere.encrypt(np.zeros(4), elsewhere.create_secret_key())
    for wrong, error in ((foreign, KeyMismatchError), (large, RangeError), (other, KeyMismatchError)):
        with pytest.raises(error, match=r"^ciphertexts\[1\]: "):
            engine.bootstrap_many([good, wrong, good], *rest)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.bootstrap_many([good] * 3, *rest, progress=stop)


@pytest.mark.parametrize("slot_count", [1, 2, 32, 256])
def test_sparse(slot_count: int) -> None:
    engine = ToyEngine(use_bootstrap=True, slot_count=slot_count)
    secret = engine.create_secret_key()
    common = (engine.create_relinearization_key(secret), engine.create_conjugation_key(secret))
    small = (engine.create_rotation_key(secret), engine.create_small_bootstrap_key(secret))
    stages = range(1, min(4, max(1, slot_count.bit_length() - 1)) + 1)
    message = random_message(slot_count, 4)
    ciphertext = engine.encrypt(message, secret, level=0)
    for stage_count in stages:
        key = engine.create_bootstrap_key(secret, stage_count)
        for refreshed in (
            engine.bootstrap(ciphertext, *common, key),
            engine.bootstrap(ciphertext, *common, *small, stage_count=stage_count),
        ):
            assert refreshed.level == 10
            assert_near(engine.decrypt(refreshed, secret), message, CLOSE)
    assert engine.bootstrap(ciphertext, *common, *small).level == 10
    rotated = engine.rotate(ciphertext, small[0], 1)
    assert_near(engine.decrypt(rotated, secret), np.roll(message, 1))


def test_fourteen_levels() -> None:
    engine = ToyEngine(use_bootstrap_to_14_levels=True)
    secret = engine.create_secret_key()
    rest = (engine.create_relinearization_key(secret), engine.create_conjugation_key(secret))
    message = random_message(engine.slot_count, 3)
    ciphertext = engine.encrypt(message, secret, level=0)
    small = (engine.create_rotation_key(secret), engine.create_small_bootstrap_key(secret))
    for keys in ((engine.create_bootstrap_key(secret),), small):
        refreshed = engine.bootstrap(ciphertext, *rest, *keys)
        assert refreshed.level == 14
        assert_near(engine.decrypt(refreshed, secret), message, CLOSE)
    with pytest.raises(ValueError, match="no levels for lossy"):
        engine.create_lossy_bootstrap_key(secret)
    more_stages = engine.bootstrap(ciphertext, *rest, *small, stage_count=4)
    assert more_stages.level == 13
    assert_near(engine.decrypt(more_stages, secret), message, CLOSE)


def test_iterations(engine: Engine, keys: Keys) -> None:
    rest = (keys.relinearization, keys.conjugation, engine.create_bootstrap_key(keys.secret))
    message = random_message(engine.slot_count, 9)
    ciphertext = engine.encrypt(message, keys.secret, level=2)
    errors = []
    for iterations in (1, 2):
        refreshed = engine.bootstrap(ciphertext, *rest, iterations=iterations)
        assert refreshed.level == 10
        errors.append(np.mean(np.abs(engine.decrypt(refreshed, keys.secret) - message)))
    assert errors[1] < errors[0] / 16
    with pytest.raises(ParameterError, match="iterations"):
        engine.bootstrap(ciphertext, *rest, iterations=0)
