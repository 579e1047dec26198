"""Tables of two encrypted integers: every result, keys and their files, refusals that name the fix."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aglet import FhewCiphertext, FhewEngine, PackingKey, Table
from aglet.errors import (
    KeyMismatchError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
    SerializationError,
)
from fhew_set import Packed


@pytest.fixture(scope="module")
def wide() -> Packed:
    return Packed.of(FhewEngine(preset="wide", thread_count=2))


def test_bytes_go_through_a_table_of_two_nibbles(wide: Packed) -> None:
    table = np.random.default_rng(3).permutation(256)
    state = np.array([[0, 1, 15, 16], [128, 200, 254, 255]])
    x, y = wide.encrypt([state >> 4, state & 15])
    high, low = wide.engine.lookup2(x, y, [table >> 4, table & 15], wide.key, wide.packing)
    np.testing.assert_array_equal(16 * wide.decrypt(high) + wide.decrypt(low), table[state])
    # What comes out goes in again.
    high, low = wide.engine.lookup2(high, low, [table >> 4, (table & 15).tolist()], wide.key, wide.packing)
    np.testing.assert_array_equal(16 * wide.decrypt(high) + wide.decrypt(low), table[table[state]])


def test_tables_of_pairs_are_made_of_whatever_tables_are(wide: Packed) -> None:
    x, y = np.array([[3], [15]]), np.array([0, 4, 15])
    one, other = wide.encrypt(x), wide.encrypt(y)
    flat = [max(h, low) for h in range(16) for low in range(16)]
    forms: list[object] = [Table(lambda h, low: max(h, low)), max, flat, np.array(flat), Table(flat)]
    for table in forms:
        found = wide.engine.lookup2(one, other, table, wide.key, wide.packing)  # type: ignore[call-overload]
        assert isinstance(found, FhewCiphertext)
        np.testing.assert_array_equal(wide.decrypt(found), np.maximum(x, y))
    (found,) = wide.engine.lookup2(one, other, [max], wide.key, wide.packing)
    np.testing.assert_array_equal(wide.decrypt(found), np.maximum(x, y))
    assert wide.engine.lookup2(wide.encrypt([]), wide.encrypt([]), max, wide.key, wide.packing).shape == (0,)


def test_sums_wrap_around_in_the_full_domain(wide: Packed) -> None:
    x, y = wide.encrypt([9, 2], domain="full"), wide.encrypt([8, 15], domain="full")
    found = wide.engine.lookup2(x + y, y, lambda h, low: h ^ low, wide.key, wide.packing)
    assert found.form == "full"
    np.testing.assert_array_equal(wide.decrypt(found), [1 ^ 8, 1 ^ 15])


def test_pairs_and_tables_that_are_refused(wide: Packed) -> None:
    engine, x = wide.engine, wide.encrypt([1, 2])
    tables: list[tuple[object, str]] = [
        ([0] * 16, "has 16 values; give 256, one for each pair of messages"),
        ([[0] * 16] * 16, "has 16 values; give 256"),
        (lambda h, low: h + low, "gives 16 for 1, 15"),
        ([0] * 255 + [-1], "gives -1 for 15, 15"),
    ]
    for table, words in tables:
        with pytest.raises(RangeError, match=words):
            engine.lookup2(x, x, table, wide.key, wide.packing)  # type: ignore[call-overload]
    for wrong in (lambda h: h, [0.5] * 256, [max, 3], "table"):
        with pytest.raises(TypeError):
            engine.lookup2(x, x, wrong, wide.key, wide.packing)  # type: ignore[call-overload]
    pairs: list[tuple[FhewCiphertext, str]] = [
        (wide.encrypt([1, 2], domain="full"), "one domain; encrypt both alike"),
        (wide.encrypt([True, False]), "these are bits; encrypt whole numbers"),
    ]
    for other, words in pairs:
        with pytest.raises(ParameterError, match=words):
            engine.lookup2(x, other, max, wide.key, wide.packing)
    turned = wide.encrypt([1, 2], domain="negacyclic")
    with pytest.raises(ParameterError, match='"padded" and "full"; encrypt the messages in one of them'):
        engine.lookup2(turned, turned, max, wide.key, wide.packing)
    with pytest.raises(RangeError, match="cannot be broadcast together"):
        engine.lookup2(x, wide.encrypt([1, 2, 3]), max, wide.key, wide.packing)
    noisy = engine.lookup(x, lambda m: m, wide.key)
    with pytest.raises(RangeError, match="bootstrap the inputs first"):
        engine.lookup2(3000 * noisy, x, max, wide.key, wide.packing)


def test_keys_of_pairs_that_are_missing_or_of_others(wide: Packed) -> None:
    engine, x = wide.engine, wide.encrypt([1])
    with pytest.raises(MissingKeyError, match=r"create_packing_key\(secret_key\)"):
        engine.lookup2(x, x, max, wide.key, None)  # type: ignore[call-overload]
    with pytest.raises(MissingKeyError, match=r"create_bootstrap_key\(secret_key\)"):
        engine.lookup2(x, x, max, None, wide.packing)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="PackingKey is needed here, not FhewBootstrapKey"):
        engine.lookup2(x, x, max, wide.key, wide.key)  # type: ignore[call-overload]
    with pytest.raises(KeyMismatchError, match="packing key"):
        engine.lookup2(x, x, max, wide.key, engine.create_packing_key(engine.create_secret_key()))
    other = FhewEngine(bits=4)
    with pytest.raises(KeyMismatchError, match='preset "lut4", and this one has preset "wide"'):
        engine.lookup2(x, x, max, wide.key, other.create_packing_key(other.create_secret_key()))
    with pytest.raises(MissingKeyError, match=r"create_secret_key\(\)"):
        engine.create_packing_key(None)  # type: ignore[arg-type]
    with pytest.raises(MemoryLimitError, match=r"packing key of these parameters needs 42.0 MB and there are 0.1 MB"):
        engine.create_packing_key(wide.secret, memory_limit_bytes=100_000)


def test_results_that_would_be_wrong_are_refused_in_smaller_sets() -> None:
    engine = FhewEngine(bits=4)
    secret = engine.create_secret_key()
    key, packing = engine.create_bootstrap_key(secret), engine.create_packing_key(secret)
    x = engine.encrypt([1, 2], secret)
    with pytest.raises(RangeError, match=r'the set "wide" is made for them.* would fail with probability 2\^-'):
        engine.lookup2(x, x, lambda h, low: (h + low) % 16, key, packing)


def test_generation_reports_and_can_be_stopped(wide: Packed) -> None:
    def stop(done: int, total: int, what: str) -> None:
        raise KeyError(what)

    said: list[tuple[int, int, str]] = []
    x = wide.encrypt(np.ones(64, int))
    with pytest.raises(KeyError, match="rotations"):
        wide.engine.lookup2(x, x, max, wide.key, wide.packing, progress=stop)
    with pytest.raises(KeyError, match="packing key"):
        wide.engine.create_packing_key(wide.secret, progress=stop)
    key = wide.engine.create_packing_key(wide.secret, progress=lambda *words: said.append(words))
    assert said
    assert all(done <= total and what == "packing key" for done, total, what in said)
    found = wide.engine.lookup2(x[:2], x[:2], max, wide.key, key)
    np.testing.assert_array_equal(wide.decrypt(found), [1, 1])


FORMS: dict[str, Callable[[Packed, Path], PackingKey]] = {
    "file": lambda k, path: (k.engine.write(k.packing, path), k.engine.read(path))[1],
    "bytes": lambda k, path: k.engine.deserialize(k.engine.serialize(k.packing)),
    "pickle": lambda k, path: pickle.loads(pickle.dumps(k.packing)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_stored_key_works(wide: Packed, form: str, tmp_path: Path) -> None:
    key = FORMS[form](wide, tmp_path / "key")
    found = wide.engine.lookup2(wide.encrypt(7), wide.encrypt(9), lambda h, low: h * low % 16, wide.key, key)
    assert wide.decrypt(found) == 15
    assert (key.key_id, key.preset, key.byte_count) == (wide.secret.key_id, "wide", wide.packing.byte_count)


def test_stored_keys_are_small_and_other_data_is_refused(wide: Packed) -> None:
    data = wide.engine.serialize(wide.packing)
    assert abs(len(data) - wide.packing.stored_bytes) < 3000
    assert wide.packing.stored_bytes * 2 == wide.packing.byte_count
    with pytest.raises(SerializationError):
        wide.engine.deserialize(data[:-1])
    with pytest.raises(KeyMismatchError, match='preset "wide"'):
        FhewEngine(bits=4).deserialize(data)
