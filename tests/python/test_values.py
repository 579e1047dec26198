"""Conversions: what becomes a message, what is refused, and with which words."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aglet import checks
from aglet.ckks import values
from aglet.errors import LevelError, ParameterError, RangeError

finite = st.complex_numbers(allow_nan=False, allow_infinity=False, max_magnitude=1e300)


@settings(deadline=None)
@given(st.lists(finite, min_size=1, max_size=16))
def test_a_list_is_padded_with_zeros(message: list[complex]) -> None:
    slots = values.as_slots(message, 16)
    assert slots.dtype == np.asarray(message).dtype
    assert slots.shape == (16,)
    assert slots[: len(message)].tolist() == message
    assert not slots[len(message) :].any()


@pytest.mark.parametrize(
    "message",
    [
        [1, 2, 3],
        (1, 2, 3),
        range(1, 4),
        np.array([1, 2, 3]),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, 2, 3], dtype=np.float32),
        np.array([1, 2, 3], dtype=np.complex64),
        np.array([0, 1, 0, 2, 0, 3])[1::2],
    ],
)
def test_every_kind_of_sequence(message: object) -> None:
    assert values.as_slots(message, 4).tolist() == [1, 2, 3, 0]


def test_booleans_are_zero_and_one() -> None:
    assert values.as_slots([True, False], 2).tolist() == [1, 0]


def test_the_message_itself_is_not_shared() -> None:
    message = np.ones(4, dtype=np.complex128)
    values.as_slots(message, 4)[0] = 7
    assert message.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("message", "error", "words"),
    [
        ("0.5", TypeError, "text"),
        (b"0.5", TypeError, "text"),
        (["a", "b"], TypeError, "elements of type <U1"),
        ([1, None], TypeError, "elements of type object"),
        (0.5, TypeError, r"write \[x\]"),
        (np.float64(0.5), TypeError, r"numpy\.full"),
        (np.array(0.5), TypeError, r"numpy\.full"),
        ([], RangeError, "empty"),
        (np.zeros(0), RangeError, "empty"),
        ([[1, 2], [3, 4]], RangeError, r"ravel\(\)"),
        ([[1, 2], [3]], RangeError, "flat"),
        ([1, math.nan], RangeError, "index 1"),
        ([math.inf], RangeError, "index 0"),
        ([1, complex(0, math.inf)], RangeError, "index 1"),
        ([0] * 9, RangeError, "encrypt_many"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), TypeError, "masked"),
        (["3"], TypeError, "elements of type"),
        ([2**70], TypeError, "more than 64 bits"),
    ],
)
def test_what_is_not_a_message(message: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        values.as_slots(message, 8)


@pytest.mark.parametrize("number", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_whole_numbers_stay_whole(number: object) -> None:
    assert values.is_number(number)
    converted = values.as_number(number)
    assert type(converted) is int
    assert converted == 3


@pytest.mark.parametrize("number", [0.5, np.float32(0.5), np.longdouble(0.5), np.array(0.5), Fraction(1, 2)])
def test_real_numbers_are_real(number: object) -> None:
    assert values.is_number(number)
    converted = values.as_number(number)
    assert type(converted) is float
    assert converted == 0.5


@pytest.mark.parametrize("number", [0.5 + 0j, np.complex64(0.5), np.clongdouble(0.5), np.array(0.5 + 0j)])
def test_complex_numbers_are_complex_whatever_their_value(number: object) -> None:
    assert values.is_number(number)
    converted = values.as_number(number)
    assert type(converted) is complex
    assert converted == 0.5


def test_what_is_not_a_number() -> None:
    with pytest.raises(RangeError, match="not finite"):
        values.as_number(math.nan)
    with pytest.raises(RangeError, match="as a float"):
        values.as_number(2**62)
    with pytest.raises(TypeError, match="Decimal"):
        values.as_number(Decimal(1))
    assert not values.is_number("1")
    assert not values.is_number([1])


def test_levels() -> None:
    assert values.as_level(None, 7) == 7
    assert values.as_level(np.int64(3), 7) == 3
    for level in (-1, 8):
        with pytest.raises(LevelError, match="levels 0 to 7"):
            values.as_level(level, 7)
    for level in (1.0, True, "1"):
        with pytest.raises(TypeError, match="whole number"):
            values.as_level(level, 7)


def test_bounds() -> None:
    assert values.as_bound(np.float32(2)) == 2.0
    for bound in (0, -1, math.inf, math.nan):
        with pytest.raises(RangeError, match="positive and finite"):
            values.as_bound(bound)
    with pytest.raises(TypeError, match="real number"):
        values.as_bound(1j)


@pytest.mark.parametrize("count", [3, np.int64(3), np.uint8(3)])
def test_counts_are_whole_numbers_of_python_or_numpy(count: object) -> None:
    found = checks.count("stage_count", count)
    assert (type(found), found) == (int, 3)
    assert checks.optional_count("level", None) is None


@pytest.mark.parametrize("count", [True, np.True_, 3.0, "3", None])
def test_what_is_not_a_count(count: object) -> None:
    with pytest.raises(TypeError, match="stage_count is a whole number"):
        checks.count("stage_count", count)


@pytest.mark.parametrize("count", [0, -1, 2**62, 2**80])
def test_counts_out_of_range(count: int) -> None:
    with pytest.raises(ParameterError, match=r"stage_count=-?\d+ is out of range"):
        checks.count("stage_count", count, 1)
