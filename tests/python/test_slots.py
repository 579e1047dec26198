"""Whole numbers in slots of integers: numpy's results, and one set of keys of CKKS, integers and FHEW."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import EncryptedSlots, Engine, FhewEngine, IntegerEngine, KeySet, SchemeSwitch, Session, SlotSession
from aglet.errors import (
    KeyMismatchError,
    LevelError,
    MissingKeyError,
    ParameterError,
    RangeError,
    SerializationError,
)
from digit_sets import toy as low
from mixed_sets import SLOTS, slots_engine, small, three
from support import toy

RANDOM = np.random.default_rng(3)
AGE = RANDOM.integers(0, 256, 1500).astype(np.uint8)
INCOME = RANDOM.uniform(0, 1, AGE.size)
ADULT = (AGE >= 18) & (AGE < 65)


def ages() -> EncryptedSlots:
    found: EncryptedSlots = three().encrypt(AGE, representation="slots")
    return found


def test_a_mask_of_slots_chooses_among_floats() -> None:
    """The mean of some rows, in more than one ciphertext of integers and many of CKKS."""
    own = three()
    assert own.digits is not None
    before = own.digits.rotations
    age, income = ages(), own.encrypt(INCOME)
    assert (age.representation, age.level, len(age.numbers.digits), len(age.numbers.digits[0])) == ("slots", 8, 2, 2)
    adult = (age >= 18) & (age < 65)
    assert adult.level == 8
    mean = np.where(adult, income, 0).sum() / adult.sum().assume(bound=(1, AGE.size))
    assert own.decrypt(mean) == pytest.approx(INCOME[ADULT].mean(), abs=1e-4)
    np.testing.assert_array_equal(own.decrypt(adult), ADULT)
    # One table for both comparisons: six levels of eight.
    assert adult.level == 2
    assert "level 2" in repr(adult)
    assert own.digits.rotations == before


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int8, np.uint16, np.int16])
def test_functions_of_one_array(dtype: Any) -> None:
    own = three()
    ends = (0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    clear = np.array([*ends, *RANDOM.integers(*ends, 20, endpoint=True)]).astype(dtype)
    found = own.encrypt(clear, representation="slots", dtype=dtype)
    functions: list[Any] = [lambda x: x, lambda x: -x.astype(np.int64), lambda x: x.sum() if x.dtype.kind == "b" else x]
    if clear.dtype.itemsize == 1 and dtype is not np.bool_:
        functions[2] = lambda x: (x > 3).sum()
        functions += [
            lambda x: x + dtype(100), lambda x: x // 7, lambda x: (x << 2) ^ x, lambda x: ~x, lambda x: x % 5 == 2,
            lambda x: np.where(x > 9, x, dtype(3)), lambda x: x.astype(bool, casting="unsafe"),
            lambda x: np.minimum(x, 50) - x,
            lambda x: np.clip(x, 20, 60), lambda x: x * dtype(0), lambda x: x > 1000,
        ]  # fmt: skip
    for number, function in enumerate(functions[: 2 if dtype is np.int16 else None]):
        with np.errstate(all="ignore"):
            wanted = function(clear)
        result = function(found)
        assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype), number
        np.testing.assert_array_equal(own.decrypt(result), wanted, err_msg=str(number))


def test_two_arrays() -> None:
    own = three()
    x, y = (RANDOM.integers(0, 256, (3, 8)).astype(np.uint8) for _ in range(2))
    x[0, :3] = y[0, :3]
    both = [own.encrypt(one, representation="slots") for one in (x, y)]
    programs: list[Any] = [
        lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b, lambda a, b: a == b,
        lambda a, b: a != b, lambda a, b: np.maximum(a, b), lambda a, b: a.astype(np.int64) - b,
        lambda a, b: a.astype(np.int64) * b, lambda a, b: (a > 9) & (b < 200), lambda a, b: (a > 9) ^ (b < 99),
    ]  # fmt: skip
    for number, program in enumerate(programs):
        for pair in (both, (both[0], y), (x, both[1])):
            found = program(*pair)
            wanted = program(x, y)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(own.decrypt(found), wanted, err_msg=str(number))


def test_numbers_of_several_bits_become_floats() -> None:
    own = three()
    clear = RANDOM.integers(-5, 12, (4, 6)).astype(np.int8)
    found = own.encrypt(clear, representation="slots", bound=(-5, 12)) * 0.5
    np.testing.assert_allclose(own.decrypt(found), clear * 0.5, rtol=0, atol=1e-3)
    assert found.dtype == np.float64
    assert own.decrypt(own.encrypt(clear, representation="slots", bound=(-5, 12)).mean()) == pytest.approx(
        clear.mean(), abs=1e-3
    )
    # A number without a bit is public, also where it is a sum.
    zero = own.encrypt(clear, representation="slots", bound=(-5, 12)) % 1
    assert zero.bound == (0, 0)
    assert own.decrypt(zero.mean()) == pytest.approx(0, abs=1e-3)
    with pytest.raises(MissingKeyError, match="integers=integer_engine"):
        Session(slots_engine().create_keys()).encrypt(AGE).astype(np.float64)


def test_numbers_of_64_bits_that_wrap_are_refused() -> None:
    own = three()
    x = own.encrypt(np.array([True, False]), representation="slots")
    y = own.encrypt(np.array([0, 3], dtype=np.uint64), representation="slots", bound=(0, 3))
    # numpy has 2^64 - 3, which was -3 as a float.
    signed = x.astype(np.int64) - y.astype(np.int64)
    for wraps in (lambda: x - y, lambda: y - 1, lambda: signed.astype(np.uint64, casting="unsafe")):
        with pytest.raises(RangeError, match="signed dtype"):
            wraps()
    np.testing.assert_array_equal(own.decrypt(signed), [1, -3])


def test_a_bootstrap_where_levels_run_out() -> None:
    own = three()
    once = ages() % 7 + own.encrypt(AGE, representation="slots") % 5
    twice = once * once > 20
    wide = AGE % 7 + AGE % 5
    np.testing.assert_array_equal(own.decrypt(twice), wide * wide > 20)
    assert own.integers is not None
    without = SlotSession(slots_engine(), replace(own.integers.keys, bootstrap=None))
    x = without.encrypt(np.arange(200), bound=(0, 199)) * without.encrypt(np.arange(200), bound=(0, 199))
    with pytest.raises(LevelError, match=r"have no bootstrap.*x\.assume"):
        x % 3
    with pytest.raises(LevelError, match="have no bootstrap"):
        without.decrypt(x.assume(bound=(0, 4000)) % 3)


def test_what_does_not_fit_is_refused() -> None:
    own = three()
    x = ages()
    alone, long = (
        Session(slots_engine().create_keys()),
        own.encrypt(np.int64([3]), bound=60_000, representation="slots"),
    )
    refused: list[tuple[Any, type[Exception], str]] = [
        (
            lambda: own.encrypt(np.arange(3, dtype=np.uint64), representation="slots"),
            RangeError,
            "do not fit slots.*8 or",
        ),
        (lambda: alone.encrypt(np.uint64([3])), RangeError, r"do not fit slots.*create_keys\(integers=.*=\"digits\""),
        (lambda: own.encrypt([300], dtype=np.uint8, representation="slots"), RangeError, "beyond 0 to 255"),
        (lambda: own.encrypt([0.5], representation="slots"), TypeError, "convert it first"),
        (lambda: own.encrypt([], dtype=np.uint8, representation="slots"), (RangeError, TypeError), "element|convert"),
        (lambda: own.encrypt([1], representation="rows"), ParameterError, "rows"),
        (lambda: own.encrypt(np.int16([3]), representation="slots") // 601, RangeError, r"x\.to\(.digits"),
        (lambda: np.gcd(x, own.encrypt(AGE, representation="slots")), TypeError, "supported are"),
        (lambda: x.astype(np.int8), TypeError, "may not fit int8"),
        (lambda: bool(x), TypeError, r"numpy\.where"),
        (lambda: np.asarray(x), TypeError, r"session\.decrypt"),
        (lambda: x.assume(bound=(7, 3)), RangeError, "empty"),
        (lambda: np.where(x, x, 1), TypeError, "compare first"),
        (lambda: long * long, RangeError, "do not fit slots"),
    ]  # type: ignore[list-item]
    for call, error, words in refused:
        with pytest.raises(error, match=words):
            call()
    assert own.decrypt(x.astype(np.int8, casting="unsafe"))[0] == AGE.astype(np.int8)[0]
    other = Session(slots_engine().create_keys())
    with pytest.raises(KeyMismatchError):
        other.decrypt(x)
    with pytest.raises(RangeError, match="beyond 0 to 3"):
        own.decrypt(own.encrypt([9], dtype=np.int16, representation="slots").assume(bound=(0, 3)))
    with pytest.raises(MissingKeyError, match="beside these"):
        small().encrypt(AGE, representation="slots")


def test_slots_in_folders(tmp_path: Path) -> None:
    own = three()
    server = Session(own.keys.evaluation())
    own.save(ages(), tmp_path / "age")
    found = server.load(tmp_path / "age") > 40
    assert isinstance(found, EncryptedSlots)
    server.save(found, tmp_path / "old")
    np.testing.assert_array_equal(own.decrypt(own.load(tmp_path / "old")), AGE > 40)
    with pytest.raises(MissingKeyError, match="secret"):
        server.decrypt(found)
    head = tmp_path / "old" / "slots.json"
    for old, new in (("bool", "float64"), ('"shape": [1500]', '"shape": [15000]'), ('"digits": 1', '"digits": 3')):
        text = head.read_text()
        assert old in text
        head.write_text(text.replace(old, new))
        with pytest.raises(SerializationError):
            own.load(tmp_path / "old")
        head.write_text(text)
    with pytest.raises(KeyMismatchError):
        Session(slots_engine().create_keys()).load(tmp_path / "old")


# Keys


def test_keys_of_three_families_in_a_folder(tmp_path: Path) -> None:
    keys = three().keys
    keys.save(tmp_path)
    engines: Any = {"fhew_engine": low(), "integer_engine": slots_engine()}
    server = KeySet.load(tmp_path, toy(11, SLOTS), **engines)
    assert server.integers is not None
    assert (server.secret, server.integers.secret) == (None, None)
    owner = KeySet.load(tmp_path, toy(11, SLOTS), secret=True, **engines)
    assert owner.byte_count == keys.byte_count
    assert owner.integers is not None
    assert owner.integers.secret is not None
    assert "toy-int16" in repr(owner)
    assert keys.evaluation().integers.secret is None  # type: ignore[union-attr]
    with pytest.raises(TypeError, match="evaluation"):
        pickle.dumps(replace(keys, secret=None, fhew_secret=None))
    sender = Session(keys.encryption())
    np.testing.assert_array_equal(
        three().decrypt(three().load(_saved(sender, sender.encrypt(AGE, representation="slots"), tmp_path / "x"))), AGE
    )
    # A set of fewer keys than were saved would say of none that it is lost.
    (tmp_path / "integers" / "keys.json").unlink()
    with pytest.raises(SerializationError, match=r"integers' holds no keys"):
        KeySet.load(tmp_path, toy(11, SLOTS), **engines)


def _saved(session: Any, array: Any, folder: Path) -> Path:
    session.save(array, folder)
    return folder


def test_the_forecast_of_three_families() -> None:
    """What the keys take is known before they are made."""
    keys, switch = three().keys, SchemeSwitch(toy(11, SLOTS), low())
    assert keys.integers is not None
    engine = slots_engine()
    maps = engine.bootstrap_forecast()[1]
    assert keys.integers.byte_count == pytest.approx(engine.keys_forecast() - maps + three_switch().key_bytes, rel=0.03)
    alone = switch.keys_forecast(rotation=True)
    beside = switch.keys_forecast(rotation=True, integers=engine) - alone
    assert beside == engine.keys_forecast() + three_switch().key_bytes
    # The keys of the real set, of which the bootstrap's are the most: relinearization and rotation as they were made.
    real = IntegerEngine(use_bootstrap=True)
    secret = real.create_secret_key()
    made = secret.byte_count + real.create_public_key(secret).byte_count
    made += real.create_relinearization_key(secret).byte_count
    assert real.keys_forecast(bootstrap=False, rotation=False) == pytest.approx(made, rel=0.01)


def three_switch() -> SchemeSwitch:
    return SchemeSwitch(slots_engine(), low())


def test_keys_that_do_not_go_together_are_refused() -> None:
    keys = three().keys
    assert keys.integers is not None
    with pytest.raises(TypeError, match="IntegerEngine, beside keys of an Engine"):
        replace(keys, integers=small().keys)
    with pytest.raises(TypeError, match="beside keys of an Engine"):
        replace(keys.integers, integers=keys.integers)
    with pytest.raises(KeyMismatchError, match="different secret keys of FHEW"):
        replace(small().keys, integers=keys.integers)
    with pytest.raises(ParameterError, match="of integers"):
        three_switch().create_keys(integers=slots_engine())
    with pytest.raises(TypeError, match="IntegerEngine"):
        SchemeSwitch(toy(11, SLOTS), low()).create_keys(integers=Engine())  # type: ignore[arg-type]
    assert FhewEngine(bits=4).preset == "lut4"


def test_a_session_of_integers_alone() -> None:
    own = Session(slots_engine().create_keys())
    assert isinstance(own, SlotSession)
    np.testing.assert_array_equal(own.decrypt(own.encrypt(AGE) + 1), AGE + 1)
    assert "SlotSession" in repr(own)
    with pytest.raises(KeyMismatchError):
        SlotSession(IntegerEngine(), own.keys)


def test_a_plan_of_slots_and_floats() -> None:
    """Levels and keys of the real sets as they were measured, and no rotation of FHEW."""

    def mean(age: Any, income: Any) -> Any:
        adult = (age >= 18) & (age < 65)
        return np.where(adult, income, 0).sum() / adult.sum().assume(bound=(1, 64))

    engines: Any = {"engine": Engine(use_bootstrap=True), "fhew_engine": FhewEngine(bits=4)}
    dtypes = [np.uint8, np.float64]
    beside = IntegerEngine(use_bootstrap=True)
    plan = Session.plan(mean, [(64,)] * 2, dtypes=dtypes, integer_engine=beside, **engines)
    assert (plan.level > 1, plan.blind_rotations) == (True, 0)
    # 29 relinearizations of the table.
    assert plan.products > 29
    assert plan.key_bytes == pytest.approx(6.8173e9, rel=0.03)
    few = Session.plan(lambda age, x: np.where(age > 3, x, 0), [(4,)] * 2, dtypes=dtypes, **engines)
    assert few.blind_rotations > 4
    with pytest.raises(ParameterError, match="fhew_engine="):
        Session.plan(lambda x: x, [(3,)], engine=engines["engine"], integer_engine=beside)
    digits = Session.plan(lambda x: x + x, [(3,)], dtypes=[np.uint8], **engines)
    assert (digits.level, digits.representation, digits.blind_rotations) == (None, "digits", 3 * 4)
    words = Session.plan(lambda x: x * x + x, [(3,)], dtypes=[np.uint16], integer_engine=beside, **engines)
    # A product modulo 2^16 takes three bootstraps, and a sum behind it four.
    assert (words.level, words.refreshes) == (1, 7)
    assert "whole numbers are exact" in str(words)
