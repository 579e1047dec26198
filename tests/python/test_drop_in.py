"""docs/drop-in.md and the engine say the same, and what the documented interface promises is so."""

from __future__ import annotations

import copy
import inspect
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aglet
from aglet import (
    AgletError,
    DeviceError,
    Engine,
    KeyMismatchError,
    LevelError,
    MissingKeyError,
    ParameterError,
    RangeError,
)
from conftest import Keys
from support import ROOT, ToyEngine, assert_near, random_message

KINDS = {"same", "same and more", "refused"}


def rows(section: str) -> list[tuple[list[str], str]]:
    """What stands between backticks in the first column of a section, and the second column."""
    text = (ROOT / "docs" / "drop-in.md").read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| `")]
    found = [(re.findall(r"`([^`]+)`", first), kind.strip()) for first, kind in cells]
    assert found
    assert {kind for _, kind in found} <= KINDS
    return found


CALLS = [(call, kind) for calls, kind in rows("Calls") for call in calls]


def test_names_of_the_module() -> None:
    for names, _ in rows("Names of the module"):
        assert all(hasattr(aglet, name) and name in aglet.__all__ for name in names)


def test_arguments_of_the_constructor() -> None:
    known = inspect.signature(Engine.__init__).parameters
    for names, _ in rows("Making an engine"):
        assert all(name.split("=")[0] in known for name in names)


@pytest.mark.parametrize(("call", "kind"), CALLS)
def test_calls(call: str, kind: str) -> None:
    name, arguments = re.fullmatch(r"(\w+)\((.*)\)", call).groups()  # type: ignore[union-attr]
    method = inspect.signature(getattr(Engine, name))
    if kind != "refused":
        wanted = {argument: None for argument in arguments.split(", ") if argument}
        method.bind(None, **wanted)


@pytest.mark.parametrize("call", [call for call, kind in CALLS if kind == "refused"])
def test_refusals_are_sentences(engine: Engine, call: str) -> None:
    with pytest.raises(AgletError, match=r"^[A-Z].*\.$"):
        getattr(engine, call.split("(")[0])("anything")


def test_the_readme_says_what_the_table_says() -> None:
    assert "docs/drop-in.md" in (ROOT / "README.md").read_text()


def test_flags_that_are_refused() -> None:
    for flag in ("use_multiparty", "use_bootstrap_to_17_levels"):
        assert Engine(max_level=1, **{flag: False}).max_level == 1
        with pytest.raises(ParameterError, match=r"14 levels|leaves the most|multiparty keys"):
            Engine(**{flag: True})
    with pytest.raises(ParameterError, match="another scheme"):
        aglet.GLEngine(max_level=3)


def test_errors_are_runtime_errors_too() -> None:
    assert issubclass(AgletError, ValueError)
    assert issubclass(AgletError, RuntimeError)


def test_rescale_costs_nothing() -> None:
    """Depth 3 in level 3, with a rescale wherever a program may have one."""
    engine = Engine(max_level=3, slot_count=8)
    secret = engine.create_secret_key()
    relin = engine.create_relinearization_key(secret)
    x = engine.encrypt([0.5], secret)
    for level in (2, 1, 0):
        x = engine.rescale(engine.multiply(engine.rescale(x), engine.rescale(x), relin))
        assert x.level == level
        x = engine.ntt(engine.intt(engine.rescale(x)))
        assert x.level == level
    assert_near(engine.decrypt(x, secret)[:1], [0.5**8])
    with pytest.raises(LevelError):
        engine.square(x, relin)


def test_real_results_are_floats(engine: Engine, keys: Keys) -> None:
    x = engine.encrypt([1, 2, 3], keys.public)
    half = engine.encrypt([0.5], keys.public, level=0)
    refreshed = engine.bootstrap(half, keys.relinearization, keys.conjugation, keys.bootstrap)
    for result in (x, engine.square(x, keys.relinearization), engine.add(x, 1), refreshed):
        assert engine.decrypt(result, keys.secret).dtype == np.float64
    assert engine.decode(engine.encode([1])).dtype == np.float64
    assert engine.decode(engine.encode([1j])).dtype == np.complex128
    assert engine.decrypt(engine.multiply(x, 1j), keys.secret).dtype == np.complex128
    assert math.isclose(math.sqrt(engine.decrypt(x, keys.secret)[1]), 2**0.5, rel_tol=1e-5)


def test_a_result_may_be_put_into_a_ciphertext(engine: Engine, keys: Keys) -> None:
    x, y = engine.encrypt([1.0, 2.0], keys.secret), engine.encrypt([10.0, 20.0], keys.secret, level=4)
    others = [engine.rescale(x), engine.clone(x), engine.level_down(x, x.level), engine.to_cpu(x)]
    others += [copy.copy(x), copy.deepcopy(x)]
    assert engine.add(x, y, out=x) is x
    assert x.level == 4
    assert_near(engine.decrypt(x, keys.secret)[:2], [11, 22])
    assert engine.subtract([1.0], y, out=x) is x
    assert_near(engine.decrypt(x, keys.secret)[:2], [-9, -20])
    for other in others:
        assert_near(engine.decrypt(other, keys.secret)[:2], [1, 2])
    assert_near(engine.decrypt(y, keys.secret)[:2], [10, 20])
    with pytest.raises(TypeError, match="Ciphertext is needed"):
        engine.add(x, y, out=[])  # type: ignore[arg-type]
    with pytest.raises(AgletError):
        engine.add(x, engine.encrypt([1], engine.create_secret_key()), out=x)
    assert_near(engine.decrypt(x, keys.secret)[:2], [-9, -20])


def test_sums(engine: Engine, keys: Keys) -> None:
    message = np.arange(engine.slot_count) / engine.slot_count
    x = engine.encrypt(message, keys.secret)
    for axis in (None, 1):
        assert_near(engine.decrypt(engine.sum(x, keys.rotation, axis), keys.secret), message.sum(), 2.0**-10)
    assert_near(engine.decrypt(engine.sum(x, keys.rotation, axis=0), keys.secret), message)
    assert len(x) == 1
    assert x.level_available == x.level
    for axis in (2, -1, True, "0"):
        with pytest.raises((RangeError, TypeError), match="axis"):
            engine.sum(x, keys.rotation, axis)  # type: ignore[arg-type]


@pytest.mark.parametrize("slots", [1, 2, 64])
@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (64, 64), (40, 7)])
def test_matrices_with_the_rotation_key(slots: int, shape: tuple[int, int]) -> None:
    if max(shape) > slots:
        shape = (slots, slots)
    engine = Engine(max_level=1, slot_count=slots)
    secret = engine.create_secret_key()
    key, x = engine.create_rotation_key(secret), np.linspace(-1, 1, slots)
    random = np.random.default_rng(5)
    matrix = random.uniform(-1, 1, shape)
    expected = np.zeros(slots)
    expected[: shape[0]] = matrix @ x[: shape[1]]
    ciphertext = engine.encrypt(x, secret)
    result = engine.multiply_matrix(matrix, ciphertext, key)
    assert result.level == 0
    assert result.is_real
    assert_near(engine.decrypt(result, secret), expected)
    assert_near(engine.decrypt(engine.multiply_matrix(0 * matrix, ciphertext, key), secret), 0)


def test_encoding_a_matrix_tells_how_far_it_is(engine: Engine, keys: Keys) -> None:
    told: list[tuple[int, int, str]] = []
    encoded = engine.encode_matrix(np.ones((70, 70)), keys.rotation, progress=lambda *now: told.append(now))
    done = [now[0] for now in told]
    assert encoded.byte_count > 0
    assert done == sorted(done)
    assert len(done) > 1
    assert done[0] == 0
    assert {now[1:] for now in told} == {(139, "matrix")}


def test_keywords_of_later_versions(engine: Engine, keys: Keys) -> None:
    x = engine.encrypt([0.5], keys.secret)
    powers = engine.make_power_basis(x, max_power=3, relinearization_key=keys.relinearization)
    assert_near([engine.decrypt(power, keys.secret)[0] for power in powers], [0.5, 0.25, 0.125])
    with pytest.raises(TypeError, match="give one of them"):
        engine.make_power_basis(x, 3, keys.relinearization, max_power=3)
    with pytest.raises(TypeError, match="degree is a whole number"):
        engine.make_power_basis(x, relinearization_key=keys.relinearization)
    small = ToyEngine(use_bootstrap=True, slot_count=8)
    secret = small.create_secret_key()
    for make in (small.create_bootstrap_key, small.create_lossy_bootstrap_key, small.create_merge_bootstrap_key):
        assert make(secret, count=2).stage_count == 2
        with pytest.raises(TypeError, match="give one of them"):
            make(secret, 2, count=2)


def test_plaintexts_go_down(engine: Engine, keys: Keys) -> None:
    x = engine.encrypt([1.0, 2.0], keys.secret)
    for plaintext in (engine.encode([0.5, 4.0]), engine.encode_to_light_plaintext([0.5, 4.0])):
        assert plaintext.level == engine.max_level
        lower = engine.level_down(plaintext, 2)
        assert lower.level == 2
        assert_near(engine.decode(lower)[:2], [0.5, 4.0])
        assert engine.multiply(x, lower).level == 1
        assert engine.encrypt(lower, keys.secret).level == 2
        with pytest.raises(LevelError, match="cannot be raised to level"):
            engine.level_down(lower, 3)
    light = engine.encode_to_light_plaintext([0.5], 2)
    assert light.level == engine.encode_to_light_plaintext([0.5], level=2).level == 2
    assert engine.deserialize_light_plaintext(engine.serialize_light_plaintext(light)).level == 2
    for sum_ in (engine.add(x, light), engine.subtract(light, x)):
        assert sum_.level == 2
    with pytest.raises(LevelError, match="encode it at that level"):
        engine.encrypt(light, keys.secret, level=3)


def test_plain_matrices(engine: Engine, keys: Keys) -> None:
    x = np.linspace(-1, 1, engine.slot_count)
    matrix = np.random.default_rng(6).uniform(-1, 1, (8, 8))
    plain = engine.encode_to_plain_matrix(matrix, level=2, diagonal_indices=[0, 1])
    light = engine.encode_to_light_plain_matrix(matrix, 2, [0, 1])
    assert isinstance(light, aglet.LightPlainMatrix)
    assert repr(light) == "<LightPlainMatrix: 8 x 8, level 2>"
    kept = np.zeros(engine.slot_count)
    kept[:8] = np.diag(matrix) * x[:8]
    kept[:7] += np.diag(matrix, 1) * x[1:8]
    ciphertext = engine.encrypt(x, keys.secret, level=2)
    key = engine.create_matrix_multiplication_key(keys.secret, level=2)
    for product in (
        engine.multiply_matrix(plain, ciphertext, keys.rotation),
        engine.multiply_matrix(plain, ciphertext, key),
        engine.multiply_matrix(light, ciphertext, key),
        engine.multiply_matrix(plain, ciphertext, matrix_multiplication_key=key),
    ):
        assert_near(engine.decrypt(product, keys.secret), kept)
    with pytest.raises(LevelError, match="encoded for level 2"):
        engine.multiply_matrix(plain, engine.encrypt(x, keys.secret), keys.rotation)


def test_kinds_of_bootstrap_keys(engine: Engine, keys: Keys) -> None:
    small = engine.create_small_bootstrap_key(keys.secret)
    lossy = engine.create_lossy_bootstrap_key(keys.secret)
    kinds = (aglet.SmallBootstrapKey, aglet.LossyBootstrapKey, aglet.MergeBootstrapKey, aglet.BootstrapKey)
    assert [isinstance(small, kind) for kind in kinds] == [True, False, False, True]
    assert [isinstance(lossy, kind) for kind in kinds] == [False, True, False, True]
    assert [isinstance(keys.bootstrap, kind) for kind in kinds] == [False, False, True, True]
    with pytest.raises(TypeError, match=r"create_lossy_bootstrap_key\(secret_key\)"):
        aglet.LossyBootstrapKey()
    x = engine.encrypt([0.5], keys.public, level=0)
    rest = {"relinearization_key": keys.relinearization, "conjugation_key": keys.conjugation}
    made = engine.bootstrap(x, **rest, rotation_key=keys.rotation, small_bootstrap_key=small)
    assert_near(engine.decrypt(made, keys.secret)[:1], [0.5])
    with pytest.raises(TypeError, match="are names of the same argument"):
        engine.bootstrap(x, **rest, bootstrap_key=keys.bootstrap, rotation_key=keys.rotation)
    with pytest.raises(TypeError, match="create_rotation_key"):
        engine.rotate_batch(x, keys.bootstrap, [1])  # type: ignore[arg-type]


@pytest.mark.parametrize("slots", [512, 64, 2])
@pytest.mark.parametrize("size", ["large", "medium"])
def test_bootstrap_keys_rotate_at_level_0(slots: int, size: Any) -> None:
    engine = ToyEngine(use_bootstrap=True, slot_count=slots)
    secret = engine.create_secret_key()
    key = engine.create_bootstrap_key(secret, stage_count=min(3, slots // 2), size=size)
    message = random_message(slots, 9)
    x = engine.encrypt(message, secret, level=0)
    for delta in (-1, -3, -2 - 16, 1, 0, slots - 1, 7 * slots, np.int8(-4)):
        rolled = engine.rotate(x, key, delta)
        assert rolled.level == 0
        assert_near(engine.decrypt(rolled, secret), np.roll(message, delta))
    assert_near(engine.decrypt(engine.rotate(x, bootstrap_key=key, delta=-1), secret), np.roll(message, -1))
    with pytest.raises(LevelError, match=r"up to level 0, and the ciphertext is at level 4; .* create_rotation_key"):
        engine.rotate(engine.encrypt(message, secret, level=4), key, -1)
    with pytest.raises(MissingKeyError, match="small bootstrap key has no rotations"):
        engine.rotate(x, engine.create_small_bootstrap_key(secret), -1)
    with pytest.raises(TypeError, match="needs the step"):
        engine.rotate(x, key)
    with pytest.raises(KeyMismatchError):
        engine.rotate(x, engine.create_bootstrap_key(engine.create_secret_key(), 1, size), -1)


@pytest.mark.parametrize("slots", [512, 4])
def test_bootstrap_keys_rotate_where_spare_primes_stand_for_those_of_their_maps(slots: int) -> None:
    # Keys and ciphertext have other primes: it is switched to theirs and back.
    engine = Engine(preset="toy14", slot_count=slots, allow_insecure=True)
    secret = engine.create_secret_key()
    key = engine.create_bootstrap_key(secret)
    message = random_message(slots, 9)
    x = engine.encrypt(message, secret, level=0)
    for delta in (-1, -3, 1, 0):
        rolled = engine.rotate(x, key, delta)
        assert rolled.level == 0
        assert_near(engine.decrypt(rolled, secret), np.roll(message, delta))
    assert_near(engine.decrypt(engine.add(engine.rotate(x, key, -1), x), secret), np.roll(message, -1) + message)
    with pytest.raises(LevelError, match="up to level 0, and the ciphertext is at level 1"):
        engine.rotate(engine.encrypt(message, secret, level=1), key, -1)


def test_light_plaintexts(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    light = engine.encode_to_light_plaintext([0.5, -0.25])
    assert light.is_real
    x = engine.encrypt([1.0, 2.0], keys.secret, level=3)
    for result, expected in (
        (engine.add(x, light), [1.5, 1.75]),
        (engine.multiply(light, x), [0.5, -0.5]),
        (engine.weighted_sum([x], [light]), [0.5, -0.5]),
        (engine.encrypt(light, keys.public, level=1), [0.5, -0.25]),
    ):
        assert_near(engine.decrypt(result, keys.secret)[:2], expected)
    engine.write_light_plaintext(light, tmp_path / "light")
    for back in (
        engine.read_light_plaintext(tmp_path / "light"),
        engine.deserialize_light_plaintext(engine.serialize_light_plaintext(light)),
    ):
        assert_near(engine.decode(back), engine.decode(light), 2.0**-30)


def test_other_names(engine: Engine, keys: Keys) -> None:
    x = engine.encrypt([1.0, 1j], keys.secret)
    assert_near(engine.decrypt(engine.multiply_imaginary_integer(x, -3), keys.secret)[:2], [-3j, 3])
    plaintext = engine.decrypt_to_plaintext(x, keys.secret)
    assert plaintext.level == x.level
    assert_near(engine.decode(plaintext)[:2], [1, 1j])
    assert engine.create_fixed_rotation_key(keys.secret, 1, level=2).level == 2
    assert engine.create_fixed_rotation_key(keys.secret, 1).level == engine.max_level
    with pytest.raises(DeviceError):
        engine.to_cuda(x)
    with pytest.raises(TypeError, match="give one of them"):
        engine.encrypt([1], keys.public, secret_key=keys.secret)
    assert engine.encrypt([1], secret_key=keys.secret).key_id == keys.secret.key_id


def test_keys_take_the_level_that_they_are_used_at(engine: Engine, keys: Keys) -> None:
    x = engine.encrypt([0.5, 0.25], keys.secret, level=2)
    relin = engine.create_relinearization_key(keys.secret, 2)
    conjugation = engine.create_conjugation_key(keys.secret, level=2)
    rotation = engine.create_rotation_key(keys.secret, level=2)
    assert_near(engine.decrypt(engine.square(x, relin), keys.secret)[:2], [0.25, 0.0625])
    assert_near(engine.decrypt(engine.conjugate(x, conjugation), keys.secret)[:2], [0.5, 0.25])
    assert_near(engine.decrypt(engine.rotate(x, rotation, 1), keys.secret)[:3], [0, 0.5, 0.25])
    for make in (engine.create_relinearization_key, engine.create_conjugation_key, engine.create_rotation_key):
        with pytest.raises(LevelError, match="levels 0 to 13"):
            make(keys.secret, level=14)
