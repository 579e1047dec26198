"""`IntegerEngine` against numpy modulo t, and what it refuses."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from aglet import (
    IntegerCiphertext,
    IntegerEngine,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSecretKey,
)
from aglet.errors import (
    InsecureParametersError,
    KeyMismatchError,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    NoiseError,
    ParameterError,
    RangeError,
)

T = 65537


@dataclass(frozen=True)
class World:
    engine: IntegerEngine
    secret: IntegerSecretKey
    public: IntegerPublicKey
    relinearization: IntegerRelinearizationKey
    rotation: IntegerRotationKey

    def read(self, ct: IntegerCiphertext) -> NDArray[np.int64]:
        assert 0 < ct.noise_budget <= self.engine.noise_budget(ct, self.secret)
        return self.engine.decrypt(ct, self.secret)


@pytest.fixture(scope="module")
def w() -> World:
    engine = IntegerEngine(depth=4)
    secret = engine.create_secret_key()
    return World(
        engine,
        secret,
        engine.create_public_key(secret),
        engine.create_relinearization_key(secret),
        engine.create_rotation_key(secret),
    )


def numbers(engine: IntegerEngine, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(-T // 2 + 1, T // 2, engine.slot_count)


def centred(x: NDArray[np.int64]) -> NDArray[np.int64]:
    return (x + T // 2) % T - T // 2


def test_arithmetic_is_that_of_numpy_modulo_t(w: World) -> None:
    e, (x, y) = w.engine, (numbers(w.engine, 1), numbers(w.engine, 2))
    a, b = e.encrypt(x, w.public), e.encrypt(y, w.secret, level=3)
    plain, periodic = e.encode(y), np.resize(np.arange(-30, 34), e.slot_count)
    cases: list[tuple[IntegerCiphertext, NDArray[np.int64], int]] = [
        (e.add(a, b), x + y, 3),
        (e.add(a, y), x + y, 4),
        (e.add(a, plain), x + y, 4),
        (e.add(a, -7), x - 7, 4),
        (e.subtract(b, a), y - x, 3),
        (e.subtract(a, y), x - y, 4),
        (e.subtract(a, plain), x - y, 4),
        (e.subtract(a, np.int64(9)), x - 9, 4),
        (e.negate(a), -x, 4),
        (e.multiply(a, b, w.relinearization), x * y, 2),
        (e.multiply(a, plain), x * y, 4),
        (e.multiply(a, y.reshape(2, -1)), x * y, 4),
        (e.multiply(a, 40_000), 40_000 * x, 4),
        (e.weighted_sum([a, b, a], [y, -3, plain]), 2 * x * y - 3 * y, 3),
        (e.weighted_sum([a] * 40, [y.reshape(2, -1)] * 40), 40 * x * y, 4),
        (e.weighted_sum((e.square(b, w.relinearization), b), iter((periodic, 0))), y * y * periodic, 2),
        (e.square(a, w.relinearization), x * x, 3),
        (e.square(a), x * x, 4),
        (e.relinearize(e.add(e.square(a), e.multiply(a, b)), w.relinearization), x * x + x * y, 2),
        (e.mod_switch(a, 1), x, 1),
        (e.rotate_rows(a, w.rotation, 5), np.roll(x.reshape(2, -1), 5, axis=1).ravel(), 4),
        (e.rotate_rows(a, w.rotation, -3), np.roll(x.reshape(2, -1), -3, axis=1).ravel(), 4),
        (e.rotate_columns(a, w.rotation), x.reshape(2, -1)[::-1].ravel(), 4),
        (e.sum_slots(a, w.rotation), np.full_like(x, x.sum()), 4),
    ]
    for number, (found, wanted, level) in enumerate(cases):
        np.testing.assert_array_equal(w.read(found), centred(wanted), err_msg=str(number))
        assert found.level == level, number
    np.testing.assert_array_equal(w.read(a), x)
    np.testing.assert_array_equal(e.decode(plain), y)


def test_circuits_are_those_of_numpy(w: World) -> None:
    e, x = w.engine, numbers(w.engine, 3)
    a = e.encrypt(x, w.public)
    eighth = centred(np.array([pow(int(v), 8, T) for v in x]))
    np.testing.assert_array_equal(w.read(e.power(a, 8, w.relinearization)), eighth)
    polynomial = e.evaluate_polynomial(a, [5, -2, 10**20, 1], w.relinearization)
    np.testing.assert_array_equal(
        w.read(polynomial), centred(np.array([(5 - 2 * v + 10**20 * v * v + v**3) % T for v in map(int, x)]))
    )
    digits, table = x % 16, np.arange(16) ** 3 % 251
    found = e.lookup(e.encrypt(digits, w.public), table, w.relinearization)
    np.testing.assert_array_equal(w.read(found), table[digits])
    low, high, squares = x % 3, x // 3 % 3, np.arange(9) ** 2
    pair = [e.encrypt(low, w.public), e.encrypt(high, w.public)]
    assert e.plan_lookup(squares, 2) == (3, 3)
    np.testing.assert_array_equal(w.read(e.lookup(pair, squares, w.relinearization)), squares[low + 3 * high])
    u, v = x % 8, x // 8 % 8
    c, d = e.encrypt(u, w.public), e.encrypt(v, w.public)
    assert e.plan_compare(3).levels == 4
    np.testing.assert_array_equal(w.read(e.less(c, d, w.relinearization, bits=3)), u < v)
    np.testing.assert_array_equal(w.read(e.equal(c, d, w.relinearization, bits=3)), u == v)
    np.testing.assert_array_equal(w.read(e.maximum(c, d, w.relinearization, bits=3)), np.maximum(u, v))


@pytest.mark.filterwarnings("error")
def test_dtypes_that_have_no_room_for_the_modulus(w: World) -> None:
    """Coefficients of eight bits ended in an error of numpy's, whole numbers of 16-bit floats in a warning."""
    e, x = w.engine, numbers(w.engine, 5)
    a = e.encrypt(x, w.public)
    for dtype in (np.int8, np.int16, np.uint8, np.uint64, np.float16, bool):
        coefficients = np.array([1, 0, 1], dtype)
        found = e.evaluate_polynomial(a, coefficients, w.relinearization)
        np.testing.assert_array_equal(w.read(found), centred(1 + x * x), err_msg=str(dtype))
        np.testing.assert_array_equal(w.read(e.subtract(a, np.ones(x.size, dtype))), centred(x - 1))
    np.testing.assert_array_equal(w.read(e.multiply(a, np.array(-7, np.int8))), centred(-7 * x))
    for masked in (np.ma.array(5, mask=False), np.ma.masked, np.ma.array([1, 2], mask=[True, False])):
        with pytest.raises(TypeError, match=r"masked|MaskedArray|MaskedConstant"):
            e.add(a, masked)


def test_a_rescale_lets_noise_fall_by_a_whole_prime(w: World) -> None:
    """Between products with numbers; sums with others are right too, whatever their correction factors."""
    e = w.engine
    x, y = (np.random.default_rng(seed).integers(-T // 2 + 1, T // 2, e.slot_count) for seed in (1, 2))
    a, product = e.encrypt(x, w.secret), e.multiply(e.encrypt(x, w.secret), y)
    rescaled, switched = e.rescale(product), e.mod_switch(product, 3)
    assert rescaled.level == switched.level == 3
    xy = (x * y + T // 2) % T - T // 2
    assert np.array_equal(w.read(rescaled), xy)
    again = e.multiply(e.multiply(rescaled, y), rescaled, w.relinearization)
    assert np.array_equal(w.read(again), (xy * y % T * xy + T // 2) % T - T // 2)
    deep = e.rescale(e.multiply(e.rescale(e.multiply(rescaled, y)), y))
    less = e.mod_switch(e.multiply(e.mod_switch(e.multiply(switched, y), 2), y), 1)
    assert deep.noise_budget >= less.noise_budget
    for other in (a, e.mod_switch(a, 3), switched, again, deep):
        value = w.read(other)
        for found, sign in ((e.add(rescaled, other), 1), (e.subtract(other, rescaled), -1)):
            assert np.array_equal(w.read(found), (sign * (xy + sign * value) + T // 2) % T - T // 2)
    with pytest.raises(LevelError):
        e.rescale(e.mod_switch(a, 0))


def test_a_fixed_rotation_key_rotates_by_its_step(w: World) -> None:
    e, x = w.engine, np.arange(w.engine.slot_count)
    a, key = e.encrypt(x, w.secret), e.create_fixed_rotation_key(w.secret, -3)
    wanted = np.roll(x.reshape(2, -1), -3, axis=1).ravel()
    assert (key.delta, key.level) == (-3, 4)
    for delta in (None, -3, e.slot_count // 2 - 3):
        assert np.array_equal(w.read(e.rotate_rows(a, key, delta)), wanted)
    low = e.create_fixed_rotation_key(w.secret, -3, 1)
    assert low.byte_count < key.byte_count
    assert np.array_equal(w.read(e.rotate_rows(e.mod_switch(a, 1), low)), wanted)
    with pytest.raises(LevelError, match="up to level 1"):
        e.rotate_rows(a, low)
    with pytest.raises(KeyMismatchError, match="rotates by -3, not by 4"):
        e.rotate_rows(a, key, 4)
    with pytest.raises(TypeError, match="needs the step"):
        e.rotate_rows(a, w.rotation)
    with pytest.raises(LevelError):
        e.create_fixed_rotation_key(w.secret, 1, 9)
    coefficients = IntegerEngine(depth=4, packing="coefficients")
    with pytest.raises(ParameterError):
        coefficients.create_fixed_rotation_key(coefficients.create_secret_key(), 1)


def test_scale_invariant_products_take_budget_and_no_level(w: World) -> None:
    e, method = w.engine, "scale-invariant"
    x, y = (np.random.default_rng(seed).integers(-T // 2 + 1, T // 2, e.slot_count) for seed in (1, 2))
    a, b = e.encrypt(x, w.secret, level=3), e.encrypt(y, w.secret)
    product = e.multiply(a, b, w.relinearization, method=method)
    assert product.level == 3
    assert product.noise_budget > a.noise_budget - 50
    expected = (x * y + T // 2) % T - T // 2
    assert np.array_equal(w.read(product), expected)
    low = e.mod_switch(e.mod_switch(product, 2), 1)
    below = e.multiply(low, low, w.relinearization)
    assert below.level == 0
    assert np.array_equal(w.read(below), (expected**2 + T // 2) % T - T // 2)
    with pytest.raises(NoiseError):
        e.multiply(below, below, w.relinearization, method=method)
    with pytest.raises(MissingKeyError, match="create_relinearization_key"):
        e.multiply(a, b, method=method)
    with pytest.raises(ParameterError, match="numbers in the clear"):
        e.multiply(a, 3, method=method)
    with pytest.raises(ParameterError, match="modulus-switching"):
        e.multiply(a, b, method="bfv")


def test_unsigned_schemes_and_coefficients() -> None:
    unsigned = IntegerEngine("bgv", 40_961, depth=4, signed=False)
    key = unsigned.create_secret_key()
    assert unsigned.decrypt(unsigned.encrypt([-1, 40_960, 7], key), key)[:4].tolist() == [40_960, 40_960, 7, 0]
    signed = IntegerEngine("bfv", 40_961, depth=4)
    # What one reading of ciphertexts makes, the other uses.
    back = signed.deserialize(unsigned.serialize(key))
    made = unsigned.encrypt([-1, 5], key)
    assert signed.decrypt(made, back)[:3].tolist() == [-1, 5, 0]
    assert unsigned.as_scheme(made, "bfv") is made
    with pytest.raises(ParameterError, match="bfv"):
        unsigned.as_scheme(made, "ckks")
    with pytest.raises(TypeError):
        unsigned.as_scheme([1, 2], "bfv")
    polynomials = IntegerEngine(plaintext_modulus=9_999, depth=2, packing="coefficients")
    key = polynomials.create_secret_key()
    relin = polynomials.create_relinearization_key(key)
    n = polynomials.slot_count
    x = polynomials.encrypt([3, 1], key)  # (3 + X) X^(N-1) = 3 X^(N-1) - 1
    last = polynomials.encrypt(np.eye(1, n, n - 1, dtype=int)[0], key)
    found = polynomials.decrypt(polynomials.multiply(x, last, relin), key)
    assert [*found[[0, -1]], np.count_nonzero(found)] == [-1, 3, 2]
    found = polynomials.decrypt(polynomials.weighted_sum([x, x], [5, [0, 1]]), key)  # (3 + X) (5 + X)
    assert [*found[:3], np.count_nonzero(found)] == [15, 8, 1, 3]
    with pytest.raises(ParameterError, match="packing"):
        polynomials.create_rotation_key(key)
    with pytest.raises(ParameterError, match="packing"):
        polynomials.lookup(x, [0, 1, 4], relin)


@pytest.mark.parametrize(
    ("message", "error", "words"),
    [
        ([1, T], RangeError, "index 1"),
        ([-T], RangeError, "reduce"),
        ([2**70], RangeError, "between"),
        (np.array([2**63], dtype=np.uint64), RangeError, "between"),
        ([0.5], RangeError, "rint"),
        ([0.0, np.nan], RangeError, "index 1"),
        ([np.inf], RangeError, "index 0 is inf; replace"),
        ([2.0**60], RangeError, "integer dtype"),
        (np.zeros(8193, int), RangeError, "split"),
        ([], RangeError, "at least one"),
        (np.zeros((3, 4), int), RangeError, "rows"),
        ([[1], [2, 3]], RangeError, "differ in length"),
        (5, TypeError, "one number"),
        ("12", TypeError, "text"),
        ([1j], TypeError, "integers"),
        (["1"], TypeError, "integers"),
        (np.ma.array([1], mask=[True]), TypeError, "masked"),
    ],
)
def test_messages_that_are_none_are_refused(w: World, message: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        w.engine.encrypt(message, w.public)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"plaintext_modulus": 65536}, "not odd"),
        ({"plaintext_modulus": 2**31 + 1}, "2\\^31"),
        ({"plaintext_modulus": 65539}, "no slots"),
        ({"plaintext_modulus": 1_146_881}, "smaller t"),
        ({"depth": 40}, "the largest has 39"),
        ({"depth": 0}, "depth"),
        ({"depth": 2, "preset": "int-levels-13"}, "leave one"),
        ({"preset": "regular"}, "no preset"),
        ({"scheme": "ckks"}, "bfv"),
        ({"packing": "rows"}, "coefficients"),
    ],
)
def test_engines_that_cannot_be_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        IntegerEngine(**arguments)


def test_what_would_be_wrong_is_refused(w: World) -> None:
    e = w.engine
    a = e.encrypt([1, 2, 3], w.public)
    bottom = e.mod_switch(a, 0)
    with pytest.raises(LevelError, match="level"):
        e.multiply(bottom, bottom, w.relinearization)
    with pytest.raises(LevelError, match="level"):
        e.power(a, 17, w.relinearization)
    with pytest.raises(LevelError, match="does not exist"):
        e.encrypt([1], w.public, level=5)
    with pytest.raises(LevelError, match="level"):
        e.mod_switch(bottom, 1)
    with pytest.raises(NoiseError, match="bits too large"):
        e.multiply(bottom, 30_000)
    with pytest.raises(RangeError, match="plaintext modulus"):
        e.multiply(a, T)
    with pytest.raises(TypeError, match="whole number"):
        e.add(a, 0.5)
    with pytest.raises(RangeError, match="at least one ciphertext"):
        e.weighted_sum([], [])
    with pytest.raises(RangeError, match="1 ciphertexts and 2 weights; give one weight for each"):
        e.weighted_sum([a], [1, 2])
    with pytest.raises(RangeError, match="reduce it"):
        e.weighted_sum([a], [T])
    with pytest.raises(NoiseError, match="bits too large"):
        e.weighted_sum([bottom, bottom], [30_000, numbers(e, 5)])
    with pytest.raises(ParameterError, match="constant polynomial"):
        e.lookup(a, [3, 3], w.relinearization)
    with pytest.raises(RangeError, match="2 to"):
        e.lookup(a, [3], w.relinearization)
    with pytest.raises(RangeError, match="power of their base"):
        e.lookup([a, a], range(17), w.relinearization)
    with pytest.raises(RangeError, match="1 to 12 bits"):
        e.less(a, a, w.relinearization, bits=13)
    with pytest.raises(MissingKeyError, match="create_rotation_key"):
        e.rotate_rows(a, None, 1)  # type: ignore[arg-type]
    with pytest.raises(MissingKeyError, match="create_relinearization_key"):
        e.power(a, 2, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="IntegerCiphertext"):
        e.negate([1])  # type: ignore[arg-type]
    stranger = e.create_secret_key()
    with pytest.raises(KeyMismatchError):
        e.decrypt(a, stranger)
    with pytest.raises(KeyMismatchError):
        e.multiply(a, a, e.create_relinearization_key(stranger))
    with pytest.raises(KeyMismatchError):
        e.add(a, e.encrypt([1], stranger))
    with pytest.raises(KeyMismatchError):
        e.weighted_sum([a, e.encrypt([1], stranger)], [1, 1])
    other = IntegerEngine(plaintext_modulus=40_961, depth=4)
    with pytest.raises(KeyMismatchError, match="plaintext modulus 40961"):
        other.negate(a)


def test_a_file_says_its_packing(w: World) -> None:
    data = w.engine.serialize(w.engine.encrypt([1, 2], w.public))
    with pytest.raises(KeyMismatchError, match='packing="slots"'):
        IntegerEngine(depth=4, packing="coefficients").deserialize(data)
    assert repr(pickle.loads(pickle.dumps(w.engine))) == repr(w.engine)
    with pytest.raises(TypeError, match=r"numpy\.save"):
        w.engine.write(numbers(w.engine, 4), "x")


def test_progress_and_stopping(w: World) -> None:
    said: list[tuple[int, int, str]] = []
    w.engine.create_rotation_key(w.secret, progress=lambda *args: said.append(args))
    assert said[-1][:2] == (13, 13)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        w.engine.create_rotation_key(w.secret, progress=stop)
    with pytest.raises(TypeError, match="called"):
        w.engine.create_rotation_key(w.secret, progress=3)  # type: ignore[arg-type]
    x = w.engine.encrypt(np.arange(w.engine.slot_count) % 16, w.secret)
    table = np.arange(16) ** 3 % 16
    circuits: list[tuple[Any, int, str]] = [
        (lambda **p: w.engine.power(x, 16, w.relinearization, **p), 4, "power"),
        (lambda **p: w.engine.evaluate_polynomial(x, [1, 2, 3], w.relinearization, **p), 1, "polynomial"),
        (lambda **p: w.engine.lookup(x, table, w.relinearization, **p), 7, "table"),
        (lambda **p: w.engine.less(x, x, w.relinearization, bits=3, **p), w.engine.plan_compare(3)[1], "table"),
    ]
    for work, total, what in circuits:
        said.clear()
        whole = w.read(work(progress=lambda *args: said.append(args)))
        assert said[-1] == (total, total, what)
        assert all(a[0] <= b[0] <= total for a, b in itertools.pairwise(said))
        with pytest.raises(KeyboardInterrupt):
            work(progress=stop)
        assert np.array_equal(w.read(work()), whole)


def test_bootstraps_that_are_refused(w: World) -> None:
    """Before anything is made: the set of the quick tests has none."""
    engine, secret = w.engine, w.secret
    assert engine.bootstrap_output_level is None
    for call in (engine.bootstrap_forecast, lambda: engine.create_bootstrap_key(secret)):
        with pytest.raises(ParameterError, match="int16"):
            call()
    ciphertext = engine.encrypt([1], secret)
    for given, error in ((None, MissingKeyError), (secret, TypeError)):
        with pytest.raises(error, match="create_bootstrap_key"):
            engine.bootstrap(ciphertext, given)
    for wrong in ({"depth": 3}, {"preset": "int16"}, {"plaintext_modulus": 786433}):
        with pytest.raises(ParameterError):
            IntegerEngine(use_bootstrap=True, **wrong)


@pytest.mark.parametrize(
    ("preset", "packing", "slots"),
    [("toy-int16", "slots", 1024), ("toy-int16", "coefficients", 1024), ("toy-int16-deep", "slots", 512)],
)
def test_toys_bootstrap_and_say_that_they_hide_nothing(preset: str, packing: str, slots: int) -> None:
    with pytest.raises(InsecureParametersError, match="allow_insecure=True"):
        IntegerEngine(preset=preset, packing=packing)
    engine = IntegerEngine(preset=preset, packing=packing, allow_insecure=True)
    assert repr(engine).endswith(", NOT SECURE>")
    assert repr(pickle.loads(pickle.dumps(engine))) == repr(engine)
    key, maps = engine.bootstrap_forecast()
    assert key + maps < 5e8
    secret = engine.create_secret_key()
    relinearization_key, bootstrap_key = (
        engine.create_relinearization_key(secret),
        engine.create_bootstrap_key(secret),
    )
    assert bootstrap_key.byte_count == key
    values = np.random.default_rng(3).integers(-(T // 2), T // 2 + 1, slots)
    ct = engine.bootstrap(engine.encrypt(values, secret, level=1), bootstrap_key)
    assert ct.level == engine.max_level
    again = engine.bootstrap(engine.mod_switch(ct, 1), bootstrap_key)
    assert np.array_equal(engine.decrypt(again, secret), values)
    if packing == "slots":
        square = engine.decrypt(engine.square(again, relinearization_key), secret)
        assert np.array_equal(square, (values**2 + T // 2) % T - T // 2)
    # What it encrypts travels as files do.
    assert np.array_equal(engine.decrypt(pickle.loads(pickle.dumps(again)), secret), values)


def test_a_deep_set_is_forecast() -> None:
    engine = IntegerEngine(preset="int16-deep")
    assert (engine.slot_count, engine.bootstrap_output_level, engine.max_level) == (2**15, 26, 26)
    assert engine.security_bits >= 128
    key, maps = engine.bootstrap_forecast()
    assert 4e9 < key < 8e9
    assert maps < 1e9
    packed = IntegerEngine(preset="int16-deep", packing="coefficients")
    assert packed.bootstrap_output_level is None
    with pytest.raises(ParameterError, match="packing"):
        packed.bootstrap_forecast()


def test_a_bootstrap_key_is_forecast_first() -> None:
    engine = IntegerEngine(use_bootstrap=True)
    assert engine.preset == "int16"
    assert engine.bootstrap_output_level == 8
    key, maps = engine.bootstrap_forecast()
    assert 1.3e9 < key < 1.5e9
    assert 1e8 < maps < 2e8
    with pytest.raises(MemoryLimitError, match="memory_limit_bytes"):
        engine.create_bootstrap_key(engine.create_secret_key(), memory_limit_bytes=key)
