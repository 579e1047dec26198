"""Linear maps by diagonals, and sums of products, at toy size, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aglet import Engine, KeyMismatchError, LevelError, MissingKeyError, RangeError
from aglet.ckks.maps import MapCut
from conftest import Keys

RANDOM = np.random.default_rng(30)


def mapped(diagonals: dict[int, Any], x: np.ndarray) -> np.ndarray:
    """The definition."""
    return sum(np.resize(d, len(x)) * np.roll(x, -k) for k, d in diagonals.items())  # type: ignore[return-value]


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(-600, 600), min_size=1, max_size=40), st.sampled_from([8, 64, 512]))
def test_every_offset_has_its_place(offsets: set[int], slots: int) -> None:
    cut, few = MapCut.of(offsets, slots), MapCut.of(offsets, slots, giant=1)
    assert cut.cost() <= few.cost()
    assert few.cost(1) <= cut.cost(1)
    assert cut.giants[0] == 0
    for offset in offsets:
        number, baby = cut.place(offset)
        assert (cut.giants[number] + baby - offset) % slots == 0
    assert cut.cost() <= len({offset % slots for offset in offsets})


def test_cuts_of_convolutions_are_short() -> None:
    """Nine offsets in each of 16 channels, 144 together."""
    offsets = [32 * dy + dx + 1024 * c for dy in (-1, 0, 1) for dx in (-1, 0, 1) for c in range(16)]
    cut = MapCut.of(offsets, 2**15)
    assert len(cut.giants) == 4
    assert len(cut.rotations) == 36
    assert len(MapCut.of(offsets, 2**15, giant=1).rotations) < 24


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_maps_are_what_numpy_computes(engine: Engine, keys: Keys, data: st.DataObject) -> None:
    slots = engine.slot_count
    offsets = data.draw(st.lists(st.integers(-slots, slots), min_size=1, max_size=6, unique_by=lambda k: k % slots))
    level = data.draw(st.integers(1, 4))
    is_complex = data.draw(st.booleans())
    diagonals: dict[int, Any] = {}
    for offset in offsets:
        period = 1 << data.draw(st.integers(0, slots.bit_length() - 1))
        diagonals[offset] = RANDOM.uniform(-1, 1, period) * (1j if is_complex else 1)
    x = RANDOM.uniform(-1, 1, slots)
    key = engine.create_map_key(keys.secret, offsets, level)
    ciphertext = engine.encrypt(x, keys.secret, level)
    found = engine.linear_map(diagonals, ciphertext, key)
    assert (found.level, found.is_real) == (level - 1, not is_complex)
    assert np.abs(engine.decrypt(found, keys.secret) - mapped(diagonals, x)).max() < 2e-6
    again = engine.linear_map(engine.encode_map(diagonals, key, level), ciphertext, key)
    assert engine.serialize(again) == engine.serialize(found)


def test_a_map_of_fewer_slots(keys: Keys) -> None:
    engine = Engine(preset="toy", allow_insecure=True, slot_count=64)
    secret = engine.create_secret_key()
    diagonals = {k: RANDOM.uniform(-1, 1, 64) for k in (-17, -16, -15, 0, 1, 15, 16, 17)}
    x = RANDOM.uniform(-1, 1, 64)
    key = engine.create_map_key(secret, diagonals, 2)
    found = engine.linear_map(diagonals, engine.encrypt(x, secret, 2), key)
    assert np.abs(engine.decrypt(found, secret) - mapped(diagonals, x)).max() < 2e-6


def test_a_map_has_the_precision_of_one_product(engine: Engine, keys: Keys) -> None:
    """Rotations and weighted sums give the same, and are not more precise by more than two bits."""
    x, slots = RANDOM.uniform(-1, 1, engine.slot_count), engine.slot_count
    diagonals = {k: RANDOM.uniform(-1, 1, slots) for k in range(-8, 8)}
    ciphertext, key = engine.encrypt(x, keys.secret), engine.create_map_key(keys.secret, diagonals)
    turned = engine.rotate_batch(ciphertext, keys.rotation, [-k for k in diagonals])
    apart = engine.decrypt(engine.weighted_sum(turned, diagonals.values()), keys.secret)
    found = engine.decrypt(engine.linear_map(diagonals, ciphertext, key), keys.secret)
    wanted = mapped(diagonals, x)
    assert np.abs(found - wanted).std() < 4 * np.abs(apart - wanted).std()


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (RangeError, "at least one", lambda e, ct, key: e.linear_map({}, ct, key)),
        (RangeError, "one for each offset", lambda e, ct, key: e.linear_map({0: [1], e.slot_count: [1]}, ct, key)),
        (RangeError, "power of two", lambda e, ct, key: e.linear_map({0: [1, 2, 3]}, ct, key)),
        (RangeError, "power of two", lambda e, ct, key: e.linear_map({0: np.ones(2 * e.slot_count)}, ct, key)),
        (RangeError, "finite", lambda e, ct, key: e.linear_map({0: [np.inf]}, ct, key)),
        (MissingKeyError, "other offsets", lambda e, ct, key: e.linear_map({7: [1]}, ct, key)),
        (LevelError, "level", lambda e, ct, key: e.linear_map({1: [1]}, e.level_down(ct, 0), key)),
        (LevelError, "level 3", lambda e, ct, key: e.linear_map(e.encode_map({1: [1]}, key, 1), ct, key)),
        (LevelError, "level", lambda e, ct, key: e.encode_map({1: [1]}, key, 0)),
        (LevelError, "higher level", lambda e, ct, key: e.encode_map({1: [1]}, key, 5)),
        (TypeError, "dict", lambda e, ct, key: e.linear_map([1], ct, key)),
        (MissingKeyError, "create_map_key", lambda e, ct, key: e.linear_map({0: [1]}, ct, None)),
        (TypeError, "create_map_key", lambda e, ct, key: e.linear_map({0: [1]}, ct, ct)),
        (RangeError, "no offset", lambda e, ct, key: e.map_cut([])),
    ],
)
def test_maps_that_cannot_be(
    engine: Engine, keys: Keys, error: type[Exception], match: str, call: Callable[..., Any]
) -> None:
    key = engine.create_map_key(keys.secret, [0, 1, 2], 3)
    assert key.level == 3
    assert key.byte_count == len(key.keys) * engine._core.fixed_rotation_key_bytes(3)
    assert "rotations" in repr(key)
    with pytest.raises(error, match=match):
        call(engine, engine.encrypt([1.0], keys.secret, 3), key)


def test_keys_of_others(engine: Engine, keys: Keys) -> None:
    stranger = engine.create_map_key(engine.create_secret_key(), [0, 1])
    with pytest.raises(KeyMismatchError):
        engine.linear_map({0: [1], 1: [1]}, engine.encrypt([1.0], keys.secret), stranger)
    half = Engine(preset="toy", allow_insecure=True, slot_count=64)
    with pytest.raises(MissingKeyError, match="64 slots"):
        engine.linear_map(
            {0: [1]}, engine.encrypt([1.0], keys.secret), half.create_map_key(half.create_secret_key(), [0])
        )


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=5))
def test_sums_of_products(engine: Engine, keys: Keys, levels: list[tuple[int, int]]) -> None:
    pairs = [[RANDOM.uniform(-1, 1, engine.slot_count) for _ in range(2)] for _ in levels]
    left, right = (
        [engine.encrypt(pair[i], keys.secret, at[i]) for pair, at in zip(pairs, levels, strict=True)] for i in (0, 1)
    )
    found = engine.product_sum(left, right, keys.relinearization)
    assert found.level == min(map(min, levels)) - 1
    assert found.is_real
    assert np.abs(engine.decrypt(found, keys.secret) - sum(a * b for a, b in pairs)).max() < 2e-6


def test_sums_of_products_that_cannot_be(engine: Engine, keys: Keys) -> None:
    x = engine.encrypt([1.0], keys.secret, 1)
    with pytest.raises(RangeError, match="at least one product"):
        engine.product_sum([], [], keys.relinearization)
    with pytest.raises(RangeError, match="as many"):
        engine.product_sum([x, x], [x], keys.relinearization)
    with pytest.raises(LevelError, match="level 0"):
        engine.product_sum([x], [engine.level_down(x, 0)], keys.relinearization)
