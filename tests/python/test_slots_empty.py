"""Arrays in slots without an element, as numpy has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import EncryptedSlots
from aglet.errors import AgletError, RangeError, SerializationError
from mixed_sets import three

NONE = np.zeros((0, 3), np.uint8)
CALLS: dict[str, Any] = {
    "sum": lambda x: x + x[:, ::-1], "number": lambda x: x + 1, "column": lambda x: x * np.ones((1, 3), np.uint8),
    "less": lambda x: x < x, "bits": lambda x: x & x[:, ::-1], "chosen": lambda x: np.where(x > 3, x, x),
    "sum of all": lambda x: x.sum(), "sums": lambda x: x.sum(axis=0, dtype=np.int64),
    "kept": lambda x: x.sum(axis=1, keepdims=True), "prod": lambda x: x.prod(axis=0), "any": lambda x: (x > 3).any(),
    "all": lambda x: (x > 3).all(axis=0, keepdims=True), "max": lambda x: x.max(axis=1),
    "begun": lambda x: np.max(x, initial=7), "where": lambda x: x.sum(where=np.zeros((0, 3), bool)),
    "sort": lambda x: np.sort(x, axis=0), "argmin": lambda x: x.argmin(axis=1), "cumsum": lambda x: x.cumsum(0),
    "product": lambda x: x @ np.ones((3, 2), np.uint8), "square": lambda x: x.T @ x,
    "dot": lambda x: x.dot(np.ones(3, int)),
    "joined": lambda x: np.concatenate([x, np.ones((2, 3), np.uint8)]), "stack": lambda x: np.stack([x, x]),
    "places": lambda x: x.reshape(3, 0), "none": lambda x: x[:0], "list": lambda x: x[[]], "T": lambda x: x.T,
    "wide": lambda x: x.astype(np.int64), "table": lambda x: x // 2,
    "counts": lambda x: np.bincount(x.ravel(), minlength=256),
    "isin": lambda x: np.isin(x, [1]), "outer": lambda x: x[:, :, None] + x[:, None, :], "diff": lambda x: np.diff(x),
    "count": lambda x: np.count_nonzero(x),
    "shape": lambda x: np.ones(np.shape(x)[1:], np.uint8) + x.sum(axis=0),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_no_elements(name: str) -> None:
    own = three()
    found, wanted = CALLS[name](own.encrypt(NONE, representation="slots")), np.asarray(CALLS[name](NONE))
    assert isinstance(found, EncryptedSlots)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(own.decrypt(found), wanted)


def test_no_elements_of_an_array() -> None:
    own = three()
    x = own.encrypt(np.arange(300, dtype=np.uint8).reshape(100, 3), representation="slots")
    none = x[50:50]
    assert (none.shape, own.decrypt(none).shape) == ((0, 3), (0, 3))
    np.testing.assert_array_equal(own.decrypt(np.concatenate([none, x[:2], none])), own.decrypt(x[:2]))
    assert own.decrypt(none & x[:1]).shape == (0, 3)
    assert own.decrypt(none.to("digits")).shape == own.decrypt(none.to("digits").to("slots")).shape == (0, 3)
    assert own.decrypt(none.compact()).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: x.max(axis=0), "of no elements"), (lambda x: x.argmin(), "of no elements"),
        (lambda x: x.mean(), "at least one element"), (lambda x: x.astype(np.float64), "at least one element"),
        (lambda x: x + np.ones(4, np.uint8), "of no elements"),
    ],
)  # fmt: skip
def test_what_numpy_refuses_of_no_elements(call: Any, words: str) -> None:
    with pytest.raises(RangeError, match=words):
        call(three().encrypt(NONE, representation="slots"))


def test_no_elements_in_folders(tmp_path: Path) -> None:
    own = three()
    own.save(own.encrypt(NONE, representation="slots"), tmp_path / "none")
    assert own.decrypt(own.load(tmp_path / "none")).shape == (0, 3)
    head = tmp_path / "none" / "slots.json"
    text = head.read_text()
    for shape in ("[0, -3]", "[0, 4611686018427387904, 8]", "[0, 1e400]", "[-1, -1]"):
        head.write_text(text.replace("[0, 3]", shape))
        with pytest.raises((SerializationError, AgletError)):
            own.load(tmp_path / "none")
