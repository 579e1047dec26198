"""What a session encrypts as numpy or pandas have it: columns, bytes in another order, bounds, dates, text."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import pytest

from aglet import Session
from aglet.errors import MissingKeyError, ParameterError, RangeError
from digit_sets import session
from mixed_sets import three
from test_clear_operands import Column

KINDS = ["digits", "slots"]
DATES = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[s]")


@pytest.mark.parametrize("kind", [*KINDS, "auto"])
def test_columns_keep_the_dtype_of_their_values(kind: str) -> None:
    """A nullable column and a table of pandas have no dtype of numpy's; their numbers were floats."""
    for values in (np.array([1, 200], dtype=np.uint8), np.array([[True], [False]])):
        x = three().encrypt(Column(values), representation=kind)
        assert x.dtype == values.dtype
        np.testing.assert_array_equal(three().decrypt(x), values)
    floats = three().encrypt(Column([0.5, 0.25]))
    np.testing.assert_allclose(three().decrypt(floats), [0.5, 0.25], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [">u2", ">i2", "<i2"])
def test_bytes_in_another_order(kind: str, dtype: str) -> None:
    clear = np.array([1, 500], dtype=dtype)
    x = three().encrypt(clear, representation=kind)
    assert x.dtype == clear.dtype.newbyteorder("=")
    np.testing.assert_array_equal(three().decrypt(x), clear)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_heeded(kind: str) -> None:
    """As those of floats: larger values are refused, and a divisor that is declared not to be 0 divides."""
    clear = np.array([3, 10], dtype=np.uint8)
    x = three().encrypt(clear, bound=(1, 15), representation=kind)
    assert x.bound == (1, 15)
    for found in (1 / x, 1 / three().encrypt(clear, representation=kind).assume(bound=(1, 15))):
        np.testing.assert_allclose(three().decrypt(found), 1 / clear, atol=1e-3)
    with pytest.raises(RangeError, match="give a larger bound"):
        three().encrypt(clear, bound=(1, 9), representation=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_declaration_is_seen(kind: str) -> None:
    x = three().encrypt(np.array([3, 14], dtype=np.int16), representation=kind, bound=(0, 20)).assume(bound=(0, 12))
    for wrong in (x, x[::-1]):
        with pytest.raises(RangeError, match="beyond 0 to 12, the range that was declared"):
            three().decrypt(wrong)


def test_a_declared_divisor_divides() -> None:
    """Zeros between its elements, in slots of a ciphertext, are no divisors."""
    x = three().encrypt(np.array([100, 50, 7], dtype=np.uint8))
    for dtype, ends, divisors in ((np.uint8, (1, 4), [1, 2, 4]), (np.int8, (-4, -1), [-1, -2, -4])):
        y = three().encrypt(np.array(divisors, dtype=dtype)).assume(bound=ends)
        np.testing.assert_allclose(three().decrypt(x / y), np.array([100, 50, 7]) / divisors, atol=0.05)


@pytest.mark.parametrize("kind", [*KINDS, "auto"])
def test_refusals_say_how_to_make_numbers(kind: str) -> None:
    """What they say is done, and works."""
    cases: list[tuple[Any, str, Any]] = [
        (DATES, 'numpy.asarray(x, dtype="datetime64[D]").astype(numpy.int32)', [18262, 18628]),
        (DATES - DATES[0], 'numpy.asarray(x, dtype="timedelta64[D]").astype(numpy.int32)', [0, 366]),
        (np.array(["b", "a", "b"]), "numpy.unique(x, return_inverse=True)[1]", [1, 0, 1]),
        (np.array(["b", "a"], dtype=object), "numpy.unique(x, return_inverse=True)[1]", [1, 0]),
    ]
    for x, fix, wanted in cases:
        with pytest.raises(TypeError) as refusal:
            three().encrypt(x, representation=kind)
        assert fix in str(refusal.value)
        numbers = eval(fix, {"numpy": np, "x": x})
        found = three().encrypt(numbers, bound=(0, 20000), representation=kind)
        assert three().decrypt(found).tolist() == wanted


def test_sessions_of_one_family_take_the_same_arguments() -> None:
    """A program of a session of all families runs where its representation is the only one."""
    clear, keys = np.array([3, 10], dtype=np.uint8), three().keys
    assert keys.integers is not None
    slots: Any = Session(keys.integers)
    for own, kind, other in ((session(), "digits", "slots"), (slots, "slots", "digits")):
        for how in (kind, "auto", None):
            x = own.encrypt(clear, bound=(1, 15), representation=how)
            assert x.bound == (1, 15)
            assert own.decrypt(x).tolist() == clear.tolist()
            assert own.decrypt(own.take(np.arange(16, dtype=np.uint8) ** 2, x)).tolist() == [9, 100]
        with pytest.raises(MissingKeyError, match="leave representation= out"):
            own.encrypt(clear, representation=other)
        with pytest.raises(ParameterError, match="rows"):
            own.encrypt(clear, representation="rows")


def test_who_decrypts_is_said() -> None:
    """To make a secret key, as a refusal said, would not help: it is another one."""
    keys = three().keys
    server = Session(keys.evaluation())
    for kind in KINDS:
        x = Session(keys.encryption()).encrypt(np.array([1, 2], dtype=np.uint8), representation=kind)
        moved = _sent(x, server)
        with pytest.raises(MissingKeyError, match=r"KeySet\.load\(folder, secret=True\)"):
            server.decrypt(moved)


def _sent(x: Any, to: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        x.session.save(x, f"{folder}/x")
        return to.load(f"{folder}/x")
