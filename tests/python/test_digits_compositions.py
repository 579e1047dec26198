"""numpy's functions of encrypted integers that others make up, on the model of digits: values, dtypes and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import MissingKeyError
from aglet.errors import AgletError
from digit_sets import modelled

A = np.array([[0, 1, 2, 255], [128, 127, 3, 7], [16, 64, 200, 9]], dtype=np.uint8)
GIVEN = {
    "A": A,
    "S": A.astype(np.int8),
    "b": A > 9,
    "v": A[1],
    "T": A[1:].reshape(2, 2, 2)[:, :, [0, 1, 1]],
    "k": np.array([-300, 5, 32767], dtype=np.int16),
}


@pytest.mark.parametrize(
    "expression",
    [
        "A**0", "A**1", "A**2", "S**3", "b**2", "b**3", "b**True", "np.power(A, np.int64(2))",
        "np.power(A, np.uint8(5))",
        "np.square(S)", "np.square(b)", "np.sign(S)", "np.sign(A)", "np.sign(k)", "+A",
        "np.diff(A)", "np.diff(S, axis=0)", "np.diff(k, n=2)", "np.diff(b)", "np.diff(v, prepend=3)", "np.diff(v, n=9)",
        "np.diff(A, axis=0, append=np.zeros((1, 4), dtype=np.int16))", "np.diff(v, n=0)", "np.diff(v, append=v[:2])",
        "np.ptp(A)", "np.ptp(S, axis=1, keepdims=True)", "np.trace(A)", "np.trace(S, 1, dtype=np.int8)",
        "np.outer(v, k)", "np.outer([1, 2], v)", "np.inner(A, A)", "np.inner(A, [1, 2, 3, 4])", "np.inner(3, v)",
        "np.pad(v, 1)", "np.pad(A, ((1, 0), (0, 2)), constant_values=7)", "np.pad(A, 1, mode='wrap')",
        "np.pad(v[:0], 1)", "np.concatenate([v[:0], [1, 2]])",
        "np.pad(k, (1, 2), mode='edge')", "np.pad(b, 1, constant_values=True)", "np.pad(v, 2, mode='reflect')",
        "np.diag(v)", "np.diag(v, -1)", "np.diag(A)", "np.diag(S, 1)", "np.tril(A)", "np.triu(S, -1)", "np.tril(S, 1)",
        "np.triu(v)",
        "np.add.reduce(A)", "np.multiply.reduce(v, dtype=np.uint8)", "np.maximum.reduce(S)", "np.minimum.reduce(k)",
        "np.logical_or.reduce(b, axis=1)", "np.logical_and.reduce(A)", "np.delete(v, 0)",
        "np.delete(A, [0, 2], axis=1)",
        "np.resize(v, (3, 3))", "v.repeat(2)", "A.take([1, 5])", "A[:1].squeeze()", "A.swapaxes(0, 1)", "A.ravel('F')",
        "A.copy()", "T @ T.transpose(0, 2, 1)", "v[:3] @ T.transpose(0, 2, 1)", "T @ k", "k[1:] @ T",
        "b[:, None] @ b[..., None]", "np.clip(S, -1000, 100)", "np.clip(A, -5, 300)", "np.clip(A, min=3, max=9)",
        "A.clip(max=3)", "A.clip(min=5)", "S.clip(-3, 3)", "np.argsort(v, kind='stable')",
        "np.sort(S, kind='mergesort')",
    ],
)  # fmt: skip
def test_what_others_make_up_is_numpys(expression: str) -> None:
    own = modelled("lut4")
    with np.errstate(all="ignore"):
        expected = np.asarray(eval(expression, {"np": np, **GIVEN}))
    found: Any = eval(expression, {"np": np, **{name: own.encrypt(values) for name, values in GIVEN.items()}})
    result = np.asarray(own.decrypt(found))
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("A**-1", "no power -1"), ("A**300", "300 does not fit uint8"), ("A**v", "one exponent in the clear"),
        ("2**v", "one exponent in the clear"), ("np.sign(b)", "no sign"), ("+b", "no sign"),
        ("np.diff(v, n=-1)", "n=-1"), ("np.diff(v[0])", "no neighbours"), ("np.tril(v[0])", "two axes"),
        ("np.pad(v, 1, constant_values=300)", "300 does not fit uint8"), ("np.pad(v, 1, mode='mean')", "edge, reflect"),
        ("np.pad(v, 1, constant_values=(1, 2))", "one number"), ("np.subtract.reduce(A)", "functools.reduce"),
        ("v.take(9)", "index 9"), ("A.squeeze(0)", "size not equal to one"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(expression: str, said: str) -> None:
    own = modelled("lut4")
    encrypted = {name: own.encrypt(values) for name, values in GIVEN.items()}
    with pytest.raises((AgletError, TypeError, IndexError), match=said.replace("**", r"\*\*")):
        eval(expression, {"np": np, **encrypted})


@pytest.mark.parametrize("expression", ["v / 2", "2 / v", "v / v", "v.mean()", "np.mean(v, axis=0)", "v**0.5"])
def test_results_that_are_floats_need_the_keys_of_floats(expression: str) -> None:
    with pytest.raises(MissingKeyError, match="SchemeSwitch"):
        eval(expression, {"np": np, "v": modelled("lut4").encrypt(A[1])})
