"""Large tables at encrypted places: every entry against numpy, the bootstraps that they take, refusals."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from aglet import DigitSession, FhewEngine
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.sums import Digit
from aglet.errors import RangeError
from digit_sets import modelled, session, wide_toy

RNG = np.random.default_rng(29)
TWELVE = {
    "random": RNG.integers(0, 2**16, 4096).astype(np.uint16), "bytes": RNG.integers(0, 256, 4096).astype(np.uint8),
    "alternating": np.arange(4096) % 2 * np.uint16(65_535), "spike": (np.arange(4096) == 2749) * np.uint32(0xFEDCBA98),
    "signed": RNG.integers(-(2**31), 2**31, 4096).astype(np.int32), "booleans": RNG.integers(0, 2, 4096) > 0,
    "odd": RNG.integers(0, 64, 4096).astype(np.uint64) << 58, "steps": np.arange(4096).astype(np.int16) // 256,
}  # fmt: skip
"""Random tables, and those with most noise and fewest rotations."""
# Two digits take a choice and a rotation that cuts them, and 16 read two nibbles of all places. Or 17 choices, and 1.
ROTATIONS = {"random": 24, "bytes": 20, "alternating": 5, "spike": 18, "signed": 32, "booleans": 17, "odd": 19}


@functools.cache
def toy() -> DigitSession:
    """Ciphertexts of a set without security, with the digits of "wide"."""
    engine = wide_toy()
    return DigitSession(engine, engine.create_keys(packing=True))


def taken(own: DigitSession, table: Any, places: Any) -> int:
    """Compare with numpy. Return the bootstraps of a place."""
    x = own.encrypt(places if places.dtype == np.uint8 else places.astype(np.uint16))
    x = x & (len(table) - 1) if len(table) < np.iinfo(x.dtype).max else x
    before = own.rotations
    found = own.decrypt(own.take(table, x))
    assert found.dtype == table.dtype
    np.testing.assert_array_equal(found, table[places])
    return (own.rotations - before) // len(places)


@pytest.mark.parametrize("name", TWELVE)
def test_all_places_of_twelve_bits(name: str) -> None:
    rotations = taken(modelled("wide"), TWELVE[name], np.arange(4096))
    assert rotations == ROTATIONS.get(name, rotations)


@pytest.mark.parametrize("name", TWELVE)
def test_tables_of_twelve_bits_on_ciphertexts(name: str) -> None:
    places = np.array([0, 15, 16, 255, 2749, 4095, *RNG.integers(0, 4096, 2)])
    assert taken(toy(), TWELVE[name], places) == taken(modelled("wide"), TWELVE[name], places)


@pytest.mark.parametrize(
    ("dtype", "rotations"), [(np.uint8, 4), (np.bool_, 2), (np.int16, 6), (np.uint32, 10), (np.uint64, 18)]
)
def test_all_places_of_a_byte(dtype: Any, rotations: int) -> None:
    """Two rotations and one for two digits, or one and one for each digit if that is not more."""
    table = RNG.integers(0, 2**63, 256).astype(np.uint64) * 2 + RNG.integers(0, 2, 256).astype(np.uint64)
    table = (table >> 63).astype(np.bool_) if dtype is np.bool_ else table.astype(dtype)
    assert taken(modelled("wide"), table, np.arange(256).astype(np.uint8)) == rotations
    assert taken(toy(), table, np.array([0, 3, 127, 128, 200, 255], dtype=np.uint8)) == rotations


@pytest.mark.parametrize("name", ["alternating", "spike", "steps"])
def test_bytes_of_most_noise(name: str) -> None:
    table = TWELVE[name][2688:2944].astype(np.uint8)
    taken(modelled("wide"), table, np.arange(256).astype(np.uint8))
    taken(toy(), table, np.array([0, 15, 61, 62, 128, 255], dtype=np.uint8))


def test_noisy_bytes_take_the_longer_way() -> None:
    """Of a digit that counts for a quarter of the torus, noise grows 64 times."""
    own = modelled("wide")
    x = own.encrypt(np.arange(256).astype(np.uint8))
    for digit in x.digits[2:]:
        assert isinstance(digit, Digit)
        digit.cells.variance = 5e-9
    before = own.rotations
    np.testing.assert_array_equal(own.decrypt(own.take(TWELVE["bytes"][:256], x)), TWELVE["bytes"][:256])
    assert (own.rotations - before) // 256 == 5


def test_sixteen_bits() -> None:
    """Two nibbles make 32 choices by the second message, by products with a sample of 14 rows: a rotation each."""
    table = RNG.integers(-128, 128, 2**16).astype(np.int8)
    assert taken(modelled("wide"), table, np.arange(2**16)) == 16 + 14 + 2 * (1 + 1)
    taken(toy(), table, np.array([0, 43_981, 65_535]))


def test_a_table_of_the_real_set() -> None:
    engine = FhewEngine(preset="wide")
    taken(DigitSession(engine, engine.create_keys(packing=True)), TWELVE["random"][:1024] >> 8, np.array([1023, 678]))


@pytest.mark.parametrize("name", ["random", "signed"])
def test_places_with_digits_in_the_clear(name: str) -> None:
    """Turns of digits without noise of their own would depend on each other: they take the longer way."""
    own, places = toy(), np.array([5, 0xF03, 0x70F])
    x = own.encrypt(places.astype(np.uint16)) & 0xF0F
    before, count = own.rotations, len(dtypes.split(TWELVE[name][:1], TWELVE[name].dtype)) // 2
    np.testing.assert_array_equal(own.decrypt(own.take(TWELVE[name], x)), TWELVE[name][places])
    assert own.rotations - before == len(places) * (1 + 18 * count)
    # A digit that is there twice.
    x = own.encrypt(places.astype(np.uint16)) & 0xF3F
    twice = x.with_digits([*x.digits[:3], x.digits[2], *x.digits[4:]], x.dtype)
    found = own.decrypt(own.take(TWELVE[name], twice))
    np.testing.assert_array_equal(found, TWELVE[name][own.decrypt(twice)])


def test_a_table_ends_where_places_do() -> None:
    own, places = toy(), np.array([299, 0, 256])
    x = own.encrypt(places.astype(np.uint16)) & 299
    np.testing.assert_array_equal(own.decrypt(own.take(TWELVE["random"][:1024], x)), TWELVE["random"][places])


def test_places_of_two_arrays_are_those_of_numpy() -> None:
    own, x = toy(), np.array([[1, 2], [77, 200]])
    place = own.encrypt(x.astype(np.uint8)).astype(np.uint16) + 3000
    found = own.take(TWELVE["signed"], place & 4095)
    assert found.shape == (2, 2)
    np.testing.assert_array_equal(own.decrypt(found - 5), TWELVE["signed"][x + 3000] - 5)


def test_what_fails_too_often_is_refused() -> None:
    own = session()
    with pytest.raises(RangeError, match="wide"):
        own.take(TWELVE["random"], own.encrypt(np.array([7], dtype=np.uint16)) & 4095)
    with pytest.raises(RangeError, match="give as many as 65536"):
        own.take(np.arange(300), own.encrypt(np.array([7], dtype=np.uint32)))


def test_plans_state_them() -> None:
    engine = FhewEngine(preset="wide")
    plan = DigitSession.plan(lambda x: x.session.take(TWELVE["random"], x & 4095), [((3,), np.uint16)], engine=engine)
    assert plan.rotations == 3 * ROTATIONS["random"]
