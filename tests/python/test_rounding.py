"""Floats as digits of the nearest whole numbers: exact for whole numbers, either way half way between two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from aglet import Engine, FhewEngine, Session
from aglet.errors import MissingKeyError, RangeError
from mixed_sets import SLOTS, session, small, three

RANDOM = np.random.default_rng(29)
SHAPES = [(), (1,), (3, 5), (2, 1, 4), (70,)]
DTYPES = [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint64]
REAL = 7
"""Rotations of a number of 8 bits on lut4."""


def whole(dtype: Any, shape: tuple[int, ...]) -> Any:
    """Whole numbers of at most 16 bits, with both ends."""
    info = np.iinfo(dtype)
    low, high = max(info.min, -(2**15)), min(info.max, 2**16 - 1 if info.min == 0 else 2**15 - 1)
    found = RANDOM.integers(low, high, shape, dtype=np.int64, endpoint=True)
    found.reshape(-1)[:2] = [low, high][: found.size]
    return found.astype(dtype), (low, high)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_numbers_are_exact(shape: tuple[int, ...], dtype: Any) -> None:
    own = small()
    clear, bound = whole(dtype, shape)
    found = own.encrypt(clear.astype(np.float64), bound=bound).astype(dtype)
    assert (found.shape, found.dtype, found.bound) == (shape, dtype, bound)
    np.testing.assert_array_equal(own.decrypt(found), clear)
    # They are digits as others: sums wrap around as numpy's.
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(own.decrypt(found + found), clear + clear)


@pytest.mark.parametrize("bound", [(0, 3), (0, 4), (-1, 1), (-2, 1), (0, 255.4), (-0.4, 0.4), (-128.5, 100), (2, 900)])
def test_fractions_become_the_nearest(bound: tuple[float, float]) -> None:
    own = small()
    values = RANDOM.uniform(*bound, 120)
    array = own.encrypt(values, bound=bound)
    near = array.half_way(np.int16)
    assert 0 < near < 0.02
    found = own.decrypt(array.astype(np.int16))
    sure = np.abs(values % 1 - 0.5) > near
    assert sure.sum() > 100
    np.testing.assert_array_equal(found[sure], np.rint(values[sure]))
    np.testing.assert_array_equal(np.abs(found - values) < 0.5 + near, True)


def test_half_way_is_either_and_nothing_else() -> None:
    own = small()
    values = np.arange(-64, 64) + 0.5
    found = own.decrypt(own.encrypt(values, bound=128).astype(np.int16))
    np.testing.assert_array_equal(np.abs(found - values), 0.5)
    assert 30 < (found > values).sum() < 98


def test_half_way_is_what_the_formula_says() -> None:
    """As near to half way as one in twenty is said to become the farther number, or fewer."""
    own = small()
    assert own.digits is not None
    count, chance = 1500, 0.1
    array = own.encrypt(np.zeros(SLOTS), bound=4)
    words = own.machine.to_words(array.chunks[0], np.zeros(1, dtype=int), 8, 4.0, None)
    near = own.digits.engine._core.half_way(8, words._array.variance, math.log2(chance))
    values = np.where(np.arange(count) % 2, 2.5 - near, 2.5 + near)
    found = own.decrypt(own.encrypt(values, bound=(0, 4)).astype(np.uint8))
    share = (found != np.rint(values)).mean()
    # The chance is that of both sides, and noise to the other side does nothing. The formula is for a heavy secret.
    assert chance / 6 < share < 0.7 * chance


def test_what_does_not_fit_wraps_around_if_it_may() -> None:
    own = small()
    values = np.array([-300.0, -129, -128, 127, 128, 255, 256, 511, 3.4])
    array = own.encrypt(values, bound=512)
    with pytest.raises(TypeError, match=r"may not fit int8.*x\.assume.*unsafe"):
        array.astype(np.int8)
    for dtype in (np.int8, np.uint8):
        found = array.astype(dtype, casting="unsafe")
        np.testing.assert_array_equal(own.decrypt(found), np.rint(values).astype(np.int64).astype(dtype))
        assert found.bound is None
    with pytest.raises(TypeError, match="may not fit uint8"):
        own.encrypt([1.0, 2.0], bound=(-0.6, 3)).astype(np.uint8)
    assert own.decrypt(own.encrypt([1.0, 2.0], bound=(-0.4, 3)).astype(np.uint8)).tolist() == [1, 2]
    assert own.decrypt(array.assume(bound=(0, 600))[-4:].astype(np.uint16)).tolist() == [255, 256, 511, 3]


def test_what_has_no_cast_is_refused() -> None:
    own = small()
    array = own.encrypt([1.0, 2.0], bound=4)
    assert array.astype(float) is array
    whole = array.astype(np.complex128)
    assert whole.dtype == np.complex128
    np.testing.assert_allclose(own.decrypt(whole), [1, 2], atol=1e-6)
    for dtype, words in ((bool, "compare values"), (np.float32, "choose one")):
        with pytest.raises(TypeError, match=words):
            array.astype(dtype)
    for casting in ("no", "equiv"):
        with pytest.raises(TypeError, match="may not fit"):
            array.astype(np.int8, casting=casting)
    with pytest.raises(TypeError, match="cast their real parts"):
        own.encrypt([1j]).astype(np.int8)
    with pytest.raises(TypeError, match=r"22 bits, and 20 are read.*x\.assume"):
        own.encrypt([1.0], bound=2.0**20).astype(np.int32)
    engine = Engine(preset="toy", slot_count=64, allow_insecure=True)
    with pytest.raises(MissingKeyError, match="FHEW"):
        Session(engine.create_keys()).encrypt([1.0]).astype(np.int8)


def test_noise_that_nobody_knows_is_refused() -> None:
    own = three()
    digits = own.encrypt(np.array([3, 200, 7], dtype=np.uint8))
    floats = digits.astype(np.float64)
    assert floats.chunks[0].noise is None
    with pytest.raises(RangeError, match="noise="):
        floats.astype(np.uint8)
    # There and back, by what a user knows: the error of a bit, and what it counts.
    assert own.decrypt(floats.astype(np.uint8, noise=0.01)).tolist() == [3, 200, 7]
    assert own.decrypt((floats * 0.5).astype(np.uint8, noise=0.01))[1] == 100
    with pytest.raises(RangeError, match="probability"):
        floats.astype(np.uint8, noise=0.2)
    assert floats.half_way(np.uint8, noise=0.01) > 0.08


def test_elements_that_share_a_slot_are_read_once() -> None:
    own = small()
    assert own.digits is not None
    values, places = np.array([1.0, 2.0, 3.0]), np.array([[0, 2, 2, 1], [1, 1, 1, 0]])
    rotations = []
    for array in (own.encrypt(values, bound=(0, 4)), own.encrypt(values, bound=(0, 4))[places]):
        before = own.digits.rotations
        np.testing.assert_array_equal(own.decrypt(array.astype(np.uint8)), values[places] if array.ndim > 1 else values)
        rotations.append(own.digits.rotations - before)
    assert rotations[0] == rotations[1]


def test_a_plan_counts_the_bootstraps() -> None:
    def program(x: Any) -> Any:
        return ((x * 0.5 + 40).astype(np.uint8) + np.uint8(7)).astype(np.float64)

    own = session()
    assert own.digits is not None
    values, before = np.array([-0.9, 0.0, 0.3, 0.9]), own.digits.rotations
    found = program(own.encrypt(values))
    np.testing.assert_allclose(own.decrypt(found), np.rint(values / 2 + 40) + 7, atol=0.02)
    plan = Session.plan(
        program, [(4,)], engine=Engine(use_bootstrap=True), fhew_engine=FhewEngine(bits=4), dtypes=[np.float64]
    )
    assert plan.blind_rotations == own.digits.rotations - before
    fresh = FhewEngine(bits=4)._estimated("nearest", 1, [], {"bits": 8, "low": 4}, 2.0**-64)
    assert (fresh.rotations, fresh.log2_failure < -128) == (REAL, True)
    assert FhewEngine(bits=4)._estimated("nearest", 1, [], {"bits": 16, "low": 8}, 2.0**-64).rotations == 13
