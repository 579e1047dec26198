"""Digits beside floats: one session of all keys, casts to floats, and operands of both kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import DigitSession, Engine, FhewEngine, IntegerEngine, Session, SlotSession
from aglet.errors import KeyMismatchError, MissingKeyError, ParameterError, RangeError, SerializationError
from digit_sets import toy, toy_keys
from mixed_sets import SLOTS, session, small, switch, three

AGE = np.array([17, 18, 40, 64, 65, 80], dtype=np.uint8)
INCOME = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
ADULT = (AGE >= 18) & (AGE < 65)
ERROR = 2.0**-13
"""Of a bit that comes from a bootstrap of FHEW; it is about 2^-15."""


def mean_of_adults(age: Any, income: Any) -> Any:
    adult = (age >= 18) & (age < 65)
    return np.where(adult, income, 0).sum() / adult.sum().assume(bound=(1, age.size))


def test_the_mean_of_some() -> None:
    own = session()
    age, income = own.encrypt(AGE), own.encrypt(INCOME)
    assert (age.dtype, income.dtype) == (np.uint8, np.float64)
    assert own.decrypt(mean_of_adults(age, income)) == pytest.approx(INCOME[ADULT].mean(), abs=0.001)
    adult = (age >= 18) & (age < 65)
    with pytest.raises(RangeError, match="divisor may be 0"):
        np.where(adult, income, 0).sum() / adult.sum()


SHAPES = [(), (1,), (2,), (6,), (3, 5), (7, 9), (64,), (100,)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int8, np.int16])
def test_casts(shape: tuple[int, ...], dtype: Any) -> None:
    own = session()
    low, high = (0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    clear = np.random.default_rng(len(shape)).integers(low, high, size=shape, endpoint=True).astype(dtype)
    clear.reshape(-1)[:2] = [low, high][: clear.size]
    found = own.encrypt(clear, dtype=dtype).astype(np.float64)
    assert (found.shape, found.dtype) == (shape, np.float64)
    assert (found.interval.low, found.interval.high) == (low, high)
    size = max(-low, high)
    # Bits are sharpened where they have weights: an int16 is off by a thousandth, not by one.
    off = ERROR if dtype is np.bool_ else 2.0**-24 * size
    np.testing.assert_allclose(own.decrypt(found), clear, rtol=0, atol=off)
    # The interval holds in every slot, as a bootstrap needs.
    slots = np.concatenate([own.engine.decrypt(chunk, own.keys.secret).real for chunk in found.chunks])  # type: ignore[arg-type]
    assert slots.size % SLOTS == 0
    assert slots.min() > low - ERROR * size
    assert slots.max() < high + ERROR * size


def test_a_single_bit_of_weight_is_as_precise() -> None:
    own = session()
    clear = np.array([-3, 5, -(2**15), 2**15 - 1], np.int16)
    for mask in (-(2**15), 2**14):
        found = (own.encrypt(clear, dtype=np.int16) & np.int16(mask)).astype(np.float64)
        np.testing.assert_allclose(own.decrypt(found), clear & np.int16(mask), rtol=0, atol=2.0**-9)


def test_operands_of_both_kinds() -> None:
    own = session()
    digits, floats = own.encrypt(AGE), own.encrypt(INCOME)
    flags = digits > 40
    clear = AGE > 40
    programs: list[Any] = [
        (lambda d, f, b: b * f, 1),
        (lambda d, f, b: f * b, 1),
        (lambda d, f, b: f + b, 1),
        (lambda d, f, b: b - f, 1),
        (lambda d, f, b: f - b, 1),
        (lambda d, f, b: d * f, 256),
        (lambda d, f, b: d * 0.5, 256),
        (lambda d, f, b: 0.5 - d, 256),
        (lambda d, f, b: f / 4 + d, 256),
        (lambda d, f, b: np.add(f, d), 256),
        (lambda d, f, b: np.multiply(d, INCOME), 256),
        (lambda d, f, b: INCOME * d, 256),
        (lambda d, f, b: np.where(b, f, 0), 1),
        (lambda d, f, b: np.where(b, 2.5, -1.0), 4),
        (lambda d, f, b: np.where(b, f, d), 256),
        (lambda d, f, b: np.concatenate([f, b]), 1),
        (lambda d, f, b: np.dot(b, f), 1),
        (lambda d, f, b: (d[:, None] * f[None, :])[2], 256),
        (lambda d, f, b: b.astype(np.float64) @ f, 1),
    ]
    for number, (program, size) in enumerate(programs):
        wanted = program(AGE, INCOME, clear)
        found = own.decrypt(program(digits, floats, flags))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=4 * ERROR * size, err_msg=str(number))
    # Without floats nothing changes.
    assert (digits + 1).dtype == np.uint8


def test_numbers_in_the_clear_are_cast_too() -> None:
    own = session()
    assert own.digits is not None
    clear = own.digits.clear(np.array([3, 200], dtype=np.uint8))
    np.testing.assert_allclose(own.decrypt(clear * 1.5), [4.5, 300], atol=0.01)
    wide = own.encrypt(np.array([5, 9], dtype=np.uint8)).astype(np.int32).assume(bound=(0, 15))
    found = wide.astype(np.float64)
    assert found.interval.high == 15
    np.testing.assert_allclose(own.decrypt(found), [5, 9], atol=0.01)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("kind", ["digits", "slots", "floats"])
def test_complex_numbers_and_every_casting(kind: str, casting: Any) -> None:
    """As numpy: floats are no whole numbers where casting is "no", and whole numbers become complex ones."""
    clear = np.array([3, 0, 7], dtype=np.float64 if kind == "floats" else np.uint8)
    how: dict[str, Any] = {"bound": 8} if kind == "floats" else {"representation": kind}
    x = three().encrypt(clear, **how)
    for dtype in (np.float64, np.complex128):
        if np.can_cast(clear.dtype, dtype, casting):
            found = x.astype(dtype, casting)
            assert found.dtype == dtype
            np.testing.assert_allclose(three().decrypt(found), clear.astype(dtype), atol=0.01)
        else:
            with pytest.raises(TypeError, match='"safe"'):
                x.astype(dtype, casting)
    with pytest.raises(TypeError, match="complex128"):
        x.astype(np.float32, casting)
    with pytest.raises(ParameterError, match="casting"):
        x.astype(np.float64, "always")


def test_what_may_lose_bits_is_refused() -> None:
    own = session()
    wide = own.encrypt(np.array([1, 2], dtype=np.uint32))
    with pytest.raises(TypeError, match=r"32 bits.*x\.assume\(bound=\.\.\.\).*unsafe"):
        wide.astype(np.float64)
    with pytest.raises(TypeError, match=r'20 bits.*casting="unsafe"'):
        wide.assume(bound=2**20 - 1).astype(np.float64)
    lossy = wide.assume(bound=2**20 - 1).astype(np.float64, casting="unsafe")
    np.testing.assert_allclose(own.decrypt(lossy), [1, 2], atol=0.1)
    with pytest.raises(TypeError, match="32 bits"):
        wide * 0.5
    found = wide.assume(bound=3).astype(np.float64)
    np.testing.assert_allclose(own.decrypt(found), [1, 2], atol=0.001)
    for wrong in ((5, 1), (-1, 3), (0, 2**32)):
        with pytest.raises(RangeError, match=r"bound=|does not fit"):
            wide.assume(bound=wrong)
    floats = own.encrypt(INCOME)
    assert floats.astype(float) is floats


def test_the_dtype_of_an_array_decides() -> None:
    own = session()
    assert own.encrypt(np.array([True, False])).dtype == np.bool_
    assert own.encrypt([1, 2], bound=2).dtype == np.float64
    assert own.encrypt(AGE, dtype=np.float64, bound=255).dtype == np.float64
    assert own.encrypt(AGE.astype(np.float32), bound=255).dtype == np.float64
    # Without keys of FHEW every number is one of CKKS.
    engine = Engine(preset="toy", slot_count=64, allow_insecure=True)
    assert Session(engine.create_keys()).encrypt(AGE, bound=255).dtype == np.float64


def test_both_kinds_in_folders(tmp_path: Path) -> None:
    own = session()
    server = Session(own.keys.evaluation())
    own.save(own.encrypt(AGE), tmp_path / "age")
    own.save(own.encrypt(INCOME), tmp_path / "income")
    found = mean_of_adults(server.load(tmp_path / "age"), server.load(tmp_path / "income"))
    server.save(found, tmp_path / "mean")
    assert own.decrypt(own.load(tmp_path / "mean")) == pytest.approx(INCOME[ADULT].mean(), abs=0.001)
    with pytest.raises(FileExistsError):
        own.save(own.encrypt(AGE), tmp_path / "age")
    with pytest.raises(SerializationError, match="no array"):
        own.load(tmp_path)


def test_sessions_of_one_set_of_keys() -> None:
    assert session().engine is session().keys.engine
    assert isinstance(Session(toy_keys()), DigitSession)
    assert isinstance(Session(IntegerEngine().create_keys()), SlotSession)
    with pytest.raises(TypeError, match=r"Session\(keys\)"):
        Session("keys")  # type: ignore[arg-type]
    with pytest.raises(KeyMismatchError):
        Session(Engine(preset="toy", slot_count=32, allow_insecure=True), session().keys)


def test_keys_without_a_switch() -> None:
    digits = DigitSession(toy(), toy_keys())
    with pytest.raises(MissingKeyError, match=r"SchemeSwitch\(engine, fhew_engine\)"):
        digits.encrypt(AGE).astype(np.float64)
    with pytest.raises(MissingKeyError, match="SchemeSwitch"):
        digits.encrypt(AGE) * 0.5
    one = switch().engine.create_keys()
    from dataclasses import replace

    low = switch().fhew_engine.create_keys()
    both = replace(one, fhew_engine=low.fhew_engine, fhew_secret=low.fhew_secret, fhew_bootstrap=low.fhew_bootstrap)
    with pytest.raises(MissingKeyError, match="key of a switch"):
        Session(both).encrypt(AGE).astype(np.float64)


def test_a_plan_of_digits_and_floats() -> None:
    """What is planned is what runs."""
    own = session()
    age, income = own.encrypt(AGE), own.encrypt(INCOME)
    assert own.digits is not None
    before = own.digits.rotations
    found = mean_of_adults(age, income)
    plan = Session.plan(
        mean_of_adults,
        [AGE.shape, INCOME.shape],
        engine=Engine(use_bootstrap=True),
        fhew_engine=FhewEngine(bits=4),
        dtypes=[np.uint8, np.float64],
    )
    assert plan.blind_rotations == own.digits.rotations - before
    assert plan.level > 0
    assert found.level > 0
    assert "blind rotations" in str(plan)
    assert plan.bits is None
    # The keys of CKKS, of FHEW and of the switch.
    real = switch_bytes()
    assert plan.key_bytes == pytest.approx(real, rel=0.03)
    with pytest.raises(ParameterError, match="set of your own"):
        Session.plan(lambda x: x, [(3,)], engine=switch().engine)
    # Results in digits have no level; a sum of 8 bits takes four blind rotations.
    whole = Session.plan(
        lambda x: x + 1, [(3,)], engine=Engine(use_bootstrap=True), fhew_engine=FhewEngine(bits=4), dtypes=[np.uint8]
    )
    assert (whole.level, whole.blind_rotations, whole.representation) == (None, 12, "digits")


def switch_bytes() -> float:
    """The keys of the real set, as they count their bytes: 5.30 GB."""
    return 5.2972e9


def test_means_and_quotients_are_floats() -> None:
    own = session()
    age, income = own.encrypt(AGE), own.encrypt(INCOME)
    table = own.encrypt(AGE.reshape(2, 3))
    for found, expected in [
        (age.mean(), AGE.mean()),
        (np.mean(table, axis=0), AGE.reshape(2, 3).mean(axis=0)),
        (age / 4, AGE / 4),
        (age / np.arange(1, 7), AGE / np.arange(1, 7)),
        ((age >= 18).mean(), (AGE >= 18).mean()),
        (income / (age >= 0).sum().assume(bound=(1, 6)), INCOME / 6),
    ]:
        assert found.dtype == np.float64
        np.testing.assert_allclose(own.decrypt(found), expected, rtol=0, atol=ERROR * max(1.0, found.interval.size))


def test_floats_beside_digits_are_refreshed_and_compared() -> None:
    """The bootstrap key of a switch is a lossy one, which leaves all 13 levels."""
    own = small()
    assert own.refreshed_level == 13
    values = np.array([0.5, -0.25, 0.875, -1.0])
    x, z = own.encrypt(values, level=0), own.encrypt(values * (0.6 + 0.8j), level=2)
    for fresh, wanted in ((x.refresh(), values), (z.refresh(), values * (0.6 + 0.8j))):
        assert fresh.level == 13
        np.testing.assert_allclose(own.decrypt(fresh), wanted, atol=1e-5)
    # Of several ciphertexts, two real ones at a time.
    many = np.linspace(-1, 1, 3 * SLOTS)
    np.testing.assert_allclose(own.decrypt(own.encrypt(many, level=1).refresh()), many, atol=1e-5)
    np.testing.assert_allclose(own.decrypt(own.encrypt(many * 1j, level=1).refresh()), many * 1j, atol=1e-5)
    np.testing.assert_allclose(own.decrypt(x > 0), values > 0, atol=1e-4)
    np.testing.assert_allclose(own.decrypt(np.sort(x)), np.sort(values), atol=1e-3)
    np.testing.assert_allclose(own.decrypt(np.argmax(x)), 2, atol=1e-2)
    # The noise of a refresh is known, so that digits can follow.
    np.testing.assert_array_equal(own.decrypt((x * 8).refresh().astype(np.int8, casting="unsafe")), [4, -2, 7, -8])
    power = x
    for _ in range(20):
        power = power * x
    np.testing.assert_allclose(own.decrypt(power), values**21, atol=1e-4)


def test_a_plan_refreshes_with_the_key_of_a_switch() -> None:
    engine = Engine(use_bootstrap=True, slot_count=SLOTS)
    for more, level in (({}, 10), ({"fhew_engine": FhewEngine(bits=4)}, 13)):
        given: Any = {"engine": engine, **more}
        plan = Session.plan(lambda x: x.refresh(), [4], **given)
        assert (plan.level, plan.refreshes) == (level, 1)
