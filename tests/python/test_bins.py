"""Tables, bins, membership and choices of whole numbers, in digits and in slots, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import Session
from aglet.errors import MissingKeyError, RangeError
from digit_sets import modelled
from mixed_sets import three

X = np.array([0, 3, 10, 11, 50, 255], dtype=np.uint8)
SIGNED = np.array([-128, -5, 0, 3, 17, 127], dtype=np.int8)
SMALL = np.array([0, 1, 1, 3], dtype=np.uint8)
WEIGHTS = np.array([0.5, 0.25, -1.0, 0.75])
KINDS = ["digits", "slots"]


def _encrypted(values: Any, kind: str) -> Any:
    return three().encrypt(values, representation=kind)


def _check(call: Any, kind: str, *arrays: Any) -> None:
    wanted = np.asarray(call(*arrays))
    found = call(*(_encrypted(one, kind) if one.dtype.kind in "biu" else three().encrypt(one) for one in arrays))
    result = np.asarray(three().decrypt(found))
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(result, wanted, rtol=0, atol=5e-3 if wanted.dtype.kind == "f" else 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("x", [X, SIGNED, X.reshape(2, 3)], ids=["uint8", "int8", "matrix"])
@pytest.mark.parametrize("edges", [[3, 10, 50], [2.5, 10.0, 10.5], [-np.inf, -5, 3, 300, np.inf], [50, 10, 10, 3], []])
def test_digitize(edges: list[float], x: Any, kind: str) -> None:
    """Edges may be floats, infinite, or beyond the dtype; they rise or fall."""
    _check(lambda x: np.digitize(x, edges), kind, x)
    _check(lambda x: np.digitize(x, edges, right=True), kind, x)


@pytest.mark.parametrize("kind", KINDS)
def test_searchsorted_and_isin(kind: str) -> None:
    for x in (X, SIGNED):
        _check(lambda x: np.searchsorted([-3.5, 3, 10, 400], x), kind, x)
        _check(lambda x: np.searchsorted([3, 10], x, side="right"), kind, x)
        _check(lambda x: np.isin(x, [3, 50.0, 10.5, np.inf, 999]), kind, x)
        _check(lambda x: np.isin(x, [], invert=True), kind, x)
    _check(lambda x: np.searchsorted(x, [0, 4, 11]), kind, X)
    _check(np.isin, kind, SMALL, X[:2])


def test_floats_beside_64_bits_are_exact() -> None:
    """numpy compares as doubles, in which 2^53 and 2^53 + 1 are one."""
    own = modelled("lut4")
    x = own.encrypt(np.array([2**53, 2**53 + 1, 2**63], dtype=np.uint64))
    assert own.decrypt(np.isin(x, [2.0**53])).tolist() == [True, False, False]
    assert own.decrypt(np.isin(x, [2.0**63])).tolist() == [False, False, True]
    assert own.decrypt(np.digitize(x, [2.0**53, 2.0**53 + 2, 2.0**63])).tolist() == [1, 1, 3]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "given",
    [
        {"bins": [0, 10, 50, 255]}, {"bins": [-5.5, 3, 10.5, 300]}, {"bins": 4, "range": (0, 100)},
        {"bins": [3, 3, 50]}, {"bins": [300, 400]}, {"bins": [-9, 500]},
    ],
)  # fmt: skip
def test_histogram(given: Any, kind: str) -> None:
    for x in (X, SIGNED):
        counts, edges = np.histogram(x, **given)
        found, same = np.histogram(_encrypted(x, kind), **given)
        np.testing.assert_array_equal(same, edges)
        result = found if isinstance(found, np.ndarray) else three().decrypt(found)
        np.testing.assert_array_equal(result, counts)
        assert found.dtype == counts.dtype


@pytest.mark.parametrize("kind", KINDS)
def test_bincount(kind: str) -> None:
    _check(lambda x: np.bincount(x & 3, minlength=4), kind, SMALL)
    _check(lambda x: np.bincount(x & 3, [1, 2, 0.5, 4], 4), kind, SMALL)
    _check(lambda x, w: np.bincount(x & 3, weights=w, minlength=4), kind, SMALL, WEIGHTS)
    _check(lambda x, w: np.bincount(x & 3, weights=w, minlength=4), kind, SMALL, SMALL)


@pytest.mark.parametrize("kind", KINDS)
def test_select(kind: str) -> None:
    _check(lambda x: np.select([x < 10, x < 100], [1, 2], 3), kind, X)
    _check(lambda x: np.select([x < 10, x < 100], [x, x // 2], default=0), kind, X)
    _check(lambda x: np.select([x < 10, x < 100], [0.5, 1.5], default=0), kind, X)
    _check(lambda x, w: np.select([x < 1, x < 3], [1, w], default=0), kind, SMALL, WEIGHTS)
    _check(lambda x, w: np.select([x < 1, x < 3], [w, -w], default=w), kind, SMALL, WEIGHTS)


@pytest.mark.parametrize("kind", KINDS)
def test_tables(kind: str) -> None:
    table, flags = np.array([5, 600, -7, 8], dtype=np.int16), np.array([True, False, False, True])
    x = _encrypted(SMALL, kind) & 3
    for entries in (table, flags):
        found = three().take(entries, x)
        assert found.dtype == entries.dtype
        np.testing.assert_array_equal(three().decrypt(found), entries[SMALL])
    scores = three().take(np.rint(1000 * WEIGHTS).astype(np.int16), x) / 1000
    np.testing.assert_allclose(three().decrypt(scores), WEIGHTS[SMALL], atol=2e-3)


def test_refusals_name_a_fix() -> None:
    for kind in KINDS:
        x = _encrypted(X, kind)
        with pytest.raises(RangeError, match=r"mask|assume"):
            three().take([1, 2], x)
        with pytest.raises(TypeError, match=r"numpy\.rint"):
            three().take(WEIGHTS, x & 3)
        with pytest.raises(TypeError, match=r"session\.take\(table, x\)"):
            np.array([1, 2])[x]
        with pytest.raises(TypeError, match=r"session\.take\(table, x\)"):
            np.take(np.array([1, 2]), x)
        with pytest.raises(RangeError, match=r"range=\(low, high\)"):
            np.histogram(x)
        with pytest.raises(RangeError, match="not a number"):
            np.searchsorted([1, np.nan], x)
        with pytest.raises(RangeError, match="rise or fall"):
            np.digitize(x, [1, 3, 2])
        with pytest.raises(RangeError, match=r"minlength=4, or mask the elements, as in x & 1\."):
            np.bincount(x & 3, minlength=3)
    assert three().decrypt(np.bincount(_encrypted(SMALL, "digits") & 1, minlength=3)).tolist() == [1, 3, 0]
    with pytest.raises(TypeError, match="encrypted whole numbers"):
        three().take([1, 2], three().encrypt([0.5]))
    assert isinstance(three(), Session)
    with pytest.raises(MissingKeyError, match="packing"):
        three().take(np.arange(256), _encrypted(X, "digits"))
