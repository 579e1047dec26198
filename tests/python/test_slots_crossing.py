"""Whole numbers from slots of integers to digits of FHEW and back: exact, and refused without keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aglet import (
    EncryptedIntegers,
    EncryptedSlots,
    Engine,
    FhewEngine,
    IntegerEngine,
    SchemeSwitch,
    Session,
    SlotSession,
)
from aglet.errors import MissingKeyError, ParameterError, RangeError
from digit_sets import session as digit_session
from digit_sets import toy
from mixed_sets import slots_engine, three

RANDOM = np.random.default_rng(31)
# A dtype, a shape, and a bound: over several ciphertexts, in one, and of wide dtypes.
CASES: list[tuple[Any, tuple[int, ...], Any]] = [
    (np.uint8, (3, 5), None), (np.int8, (700,), None), (np.bool_, (1500,), None), (np.int16, (5,), (-9, 12)),
    (np.uint16, (6,), (0, 200)), (np.int64, (2, 2), (0, 250)), (np.int8, (), None), (np.uint32, (4,), (7, 7)),
]  # fmt: skip


def _values(dtype: Any, shape: tuple[int, ...], bound: Any) -> Any:
    low, high = bound or ((0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max))
    return np.asarray(RANDOM.integers(low, high, shape, endpoint=True)).astype(dtype)


@pytest.mark.parametrize(("dtype", "shape", "bound"), CASES)
def test_numbers_cross_exactly(dtype: Any, shape: tuple[int, ...], bound: Any) -> None:
    own = three()
    clear = _values(dtype, shape, bound)
    x = own.encrypt(clear, representation="slots", bound=bound)
    down = x.to("digits")
    assert isinstance(down, EncryptedIntegers)
    up = down.to("slots")
    assert isinstance(up, EncryptedSlots)
    for found in (down, up):
        assert (found.dtype, found.shape) == (clear.dtype, clear.shape)
        np.testing.assert_array_equal(own.decrypt(found), clear)
    assert (x.to("slots"), down.to("digits")) == (x, down) if not shape else True
    fresh = own.encrypt(clear)
    fresh = fresh if bound is None else fresh.assume(bound=bound)
    np.testing.assert_array_equal(own.decrypt(fresh.to("slots")), clear)


def test_what_crossed_computes_on() -> None:
    """A view of slots sorted as digits, and digits compared as slots."""
    own = three()
    clear = _values(np.uint8, (4, 6), None)
    x = own.encrypt(clear, representation="slots")
    assert own.digits is not None
    before = own.digits.rotations
    digits = x[::2, 1].to("digits")
    assert own.digits.rotations == before
    np.testing.assert_array_equal(own.decrypt(np.sort(digits)), np.sort(clear[::2, 1]))
    back = (digits + np.uint8(3)).to("slots")
    # In digits of four bits, whose tables take the fewest levels.
    assert len(back.numbers.digits) == 2
    np.testing.assert_array_equal(own.decrypt(back > x[1::2, 1]), clear[::2, 1] + np.uint8(3) > clear[1::2, 1])
    np.testing.assert_array_equal(own.decrypt((x.to("digits").to("slots") == x).all()), True)


def test_a_session_of_integers_and_their_switch() -> None:
    own = Session(SchemeSwitch(slots_engine(), toy()).create_keys(rotation=True))
    assert isinstance(own, SlotSession)
    clear = np.array([3, 250, 17], np.uint8)
    down = own.encrypt(clear).to("digits")
    np.testing.assert_array_equal(own.decrypt(down * np.uint8(2)), clear * np.uint8(2))
    np.testing.assert_array_equal(own.decrypt(down.to("slots").sum()), clear.sum())


def test_crossings_without_keys_or_room_are_refused() -> None:
    own = three()
    assert own.integers is not None
    clear = np.array([1, 2], np.uint8)
    alone = Session(slots_engine().create_keys(bootstrap=False))
    x, digits = own.encrypt(clear, representation="slots"), digit_session().encrypt(clear)
    wide = own.encrypt(np.arange(2), representation="slots", bound=(0, 9000))
    refused: list[tuple[Any, Any, str]] = [
        (lambda: alone.encrypt(clear).to("digits"), MissingKeyError, r"create_keys\(integers=integer_engine\)"),
        (lambda: digits.to("slots"), MissingKeyError, "IntegerEngine beside"),
        (lambda: x.to("rows"), ParameterError, "rows"),
        (lambda: own.encrypt(np.arange(3)).to("slots"), RangeError, "do not fit slots"),
        (lambda: wide.to("digits"), RangeError, r"9,001 values.*assume"),
    ]
    for call, error, words in refused:
        with pytest.raises(error, match=words):
            call()
    # Thirteen levels, in three parts.
    np.testing.assert_array_equal(own.decrypt(wide.assume(bound=(0, 5000)).to("digits")), [0, 1])
    still = SlotSession(slots_engine(), replace(own.integers.keys, scheme_switch=None))
    still.digits = own.digits
    with pytest.raises(MissingKeyError, match="switch"):
        still.encrypt(clear).to("digits")


def test_the_representation_follows_from_count_and_range() -> None:
    own = three()
    many = np.arange(200).astype(np.uint8)
    cases = [
        (own.encrypt(many, representation="auto"), "slots"), (own.encrypt(many[:9], representation="auto"), "digits"),
        (own.encrypt(many.astype(np.int64), representation="auto"), "digits"),
        (own.encrypt(many.astype(np.int64), representation="auto", bound=(0, 300)), "slots"),
        (Session(digit_session().engine, digit_session().keys).encrypt(many), "digits"),
    ]  # fmt: skip
    for found, wanted in cases:
        assert found.representation == wanted
        assert wanted in repr(found)
    slots, digits = own.encrypt(many, representation="slots"), own.encrypt(many)
    for mixed in (lambda: slots + digits, lambda: np.add(digits, slots), lambda: np.concatenate([slots, digits])):
        with pytest.raises(TypeError, match=r'x\.to\("slots"\)'):
            mixed()
    np.testing.assert_array_equal(own.decrypt(slots[:5] == digits[:5].to("slots")), True)


def test_a_plan_chooses_the_quicker_representation() -> None:
    """Few elements are quicker as digits, and thousands as slots, by seconds of the model."""
    engines: Any = {"engine": Engine(use_bootstrap=True), "fhew_engine": FhewEngine(bits=4)}
    beside = IntegerEngine(use_bootstrap=True)

    def of(count: int, function: Any, **options: Any) -> Any:
        dtypes = [np.uint8, np.float64]
        return Session.plan(function, [(count,)] * 2, dtypes=dtypes, integer_engine=beside, **engines, **options)

    def mean(age: Any, x: Any) -> Any:
        return np.where((age >= 18) & (age < 65), x, 0).sum()

    few, many = (of(count, mean, representation="auto") for count in (2, 2048))
    assert (few.representation, many.representation) == ("digits", "slots")
    assert (few.blind_rotations > 0, many.blind_rotations) == (True, 0)
    assert many.seconds == of(2048, mean).seconds < of(2048, mean, representation="digits").seconds
    assert few.key_bytes < many.key_bytes
    assert "in slots (slots " in str(many)
    sorts = of(9, lambda age, x: (np.sort(age) > 9).astype(np.float64), representation="auto")
    assert (sorts.representation, sorts.compared.startswith("slots ")) == ("digits", True)
    mixed = of(9, lambda age, x: (age * np.int64(2**40) > age[::-1]).astype(np.float64), representation="auto")
    assert (mixed.representation, "slots refused (Numbers from" in mixed.compared) == ("digits", True)
    # Results are whole numbers, and who encrypts for this computation passes its plan.
    squares = [of(count, lambda age, x: age * age, representation="auto") for count in (2, 2048)]
    assert [plan.representation for plan in squares] == ["digits", "slots"]
    assert (squares[0].level, squares[0].bits, squares[1].level is None) == (None, None, False)
    assert str(squares[0]).startswith("0 bootstraps")
    assert squares[0].blind_rotations > 0
    own = three()
    for plan in [*squares, of(9, mean, representation="digits"), of(9, mean)]:
        found = own.encrypt(np.arange(9).astype(np.uint8), representation=plan)
        assert found.representation == plan.representation
        assert own.encrypt([True], dtype=bool, representation=found).representation == plan.representation
    assert Session.plan(lambda x: x * x, [3], engine=engines["engine"]).representation is None
    with pytest.raises(TypeError, match="representation"):
        own.encrypt(np.arange(9), representation=3)
    crossed = of(9, lambda age, x: (age.to("digits").to("slots") > 9).astype(np.float64))
    assert (crossed.level > 0, crossed.blind_rotations) == (True, 0)
