"""numpy's functions that others make up, on floats, on the model of digits and on digits that become floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import EncryptedArray, EncryptedIntegers, Engine, Session
from aglet.errors import AgletError
from digit_sets import modelled
from mixed_sets import small
from test_arrays_numpy import NAMES, PATTERNS

RANDOM = np.random.default_rng(41)
F = RANDOM.uniform(-1, 1, (3, 4))
FLOATS = {"x": F, "v": F[1], "w": F[:, 2], "s": F[0, 0], "z": F[0] + 1j * F[2], "q": RANDOM.uniform(-1, 1, (3, 3))}
A = np.array([[0, 1, 2, 255], [128, 127, 3, 7], [16, 64, 200, 9]], dtype=np.uint8)
DIGITS = {"x": A, "v": A[1], "w": A[:, 2].astype(np.int8), "s": A[2, 1], "b": A > 9, "k": A[:, :2].astype(np.int16)}

BOTH = [
    "np.compress([True, False, True], x, axis=0)", "np.compress([0, 1, 1], x)", "np.extract(np.eye(3, 4) > 0, x)",
    "np.append(v, w)", "np.append(x, x[:1], axis=0)", "np.append(v, [1, 2])", "np.delete(x, [0, 2], axis=1)",
    "np.delete(x, 3)", "np.resize(v, (2, 3))", "np.atleast_1d(s)", "np.atleast_2d(v)", "np.atleast_3d(x)",
    "np.broadcast_arrays(x, v)[1]", "np.zeros_like(x)", "np.ones_like(v, dtype=np.int8)", "np.full_like(x, 3)",
    "np.cumprod(v)", "np.cumprod(x, axis=0)", "np.cumprod(x[:2], axis=1)", "np.nancumprod(v[:3])", "np.kron(v, w)",
    "np.kron(x[:2, :2], [[1, 2], [3, 4]])", "np.kron(w, x[:1])", "np.tensordot(x, x, axes=([0, 1], [0, 1]))",
    "np.tensordot(x, v, 1)", "np.tensordot(v, w, 0)", "np.tensordot(x, x, axes=(0, 0))", "np.vdot(v, v)",
    "np.vdot(x, x)", "np.cross(x[:, :3], x[:, 1:])", "np.cross(w, [1, 2, 3])", "np.cross(x[:, :2].T, x[:, 2:].T)",
    "np.cross(x[:, :2], x[:, 2:], axis=0)", "np.trace(x)", "np.trace(x, 1)", "np.polyval([2, 0, 1], v)",
    "np.polyval([3], v)", "np.polyval(w, v)", "np.polyval([0, 0, 1], w)", "np.ediff1d(x)",
    "np.ediff1d(v, to_begin=v[:2], to_end=s)", "np.ptp(v)", "np.correlate(v, v[:2])", "np.nan_to_num(v)",
    "np.correlate(v, [1, 2], 'full')", "np.correlate(v, w, 'same')", "np.nansum(x)", "np.nansum(x, axis=1)",
    "np.nanprod(w)",
    "np.isfinite(x)", "np.isnan(v)", "np.isrealobj(x)", "np.iscomplexobj(v)", "np.real(x)", "np.imag(v)",
    "np.tril(x)", "np.triu(x, 1)", "np.diag(v)", "np.diag(v, -1)", "np.diag(x, 1)", "np.diagflat(x[:2], 1)",
    "np.einsum('ij,j->i', x, v)", "np.einsum('ij,kj->ik', x, x)", "np.einsum('ij->j', x)", "np.einsum('i,j', v, w)",
    "np.einsum('...j,j', x, v)", "np.einsum('ii->i', x[:, :3])", "np.einsum('ii', x[:, 1:])",
    "np.convolve(v, w)", "np.convolve(w, v, 'same')", "np.convolve(v, [1, 2, 1], 'valid')",
]  # fmt: skip
OF_FLOATS = [
    "np.cov(x)", "np.cov(x, bias=True)", "np.cov(x, rowvar=False)", "np.cov(v)", "np.cov(v, x[0], ddof=0)",
    "np.cov(z)", "np.gradient(v)", "np.gradient(x, axis=1)", "np.gradient(x, 0.5, axis=0)", "np.gradient(v[:2])",
    "np.trapezoid(v)", "np.trapezoid(x, dx=0.5, axis=0)", "np.trapezoid(v, [0, 1, 3, 3.5])", "np.real(z)",
    "np.imag(z)", "z.real * 2", "z.imag + v", "x.real", "np.vdot(z, z)", "np.deg2rad(v)", "np.degrees(w)",
    "np.iscomplexobj(z)", "np.correlate(z, z[:2])", "np.nanmean(x, axis=0)", "np.nanvar(v)",
]  # fmt: skip
OF_DIGITS = [
    "np.fmax(v, 100)", "np.fmin(x, v)", "np.conjugate(v)", "np.median(v)", "np.einsum('ij,ij->ij', k, k)",
    "np.einsum('ij,jk->ik', k.T, x)", "np.einsum('ij,jk', b.T, b)", "np.einsum('ij,j,i->', k, k[0], w)",
    "np.einsum('ij,jk->ik', x, np.ones((4, 2), dtype=np.uint8))", "np.convolve(b[0], b[1])", "np.cumprod(b[0])",
    "np.cumprod(w, dtype=np.int8)", "np.kron(b[:2], w)", "np.nanmax(x, axis=1)", "np.polyval([1, 2], w)",
    "np.tensordot(b, b, axes=(0, 0))", "np.nanargmin(v)", "np.convolve(k[0], [-1, 2])",
]  # fmt: skip


@pytest.fixture(scope="module")
def floats() -> Session:
    engine = Engine(preset="toy", allow_insecure=True, slot_count=64)
    return Session(engine, engine.create_keys())


def run(expression: str, own: Any, given: dict[str, Any], **options: Any) -> tuple[Any, Any]:
    expected = np.asarray(eval(expression, {"np": np, **given}))
    encrypted = {name: own.encrypt(values, **options) for name, values in given.items()}
    found = eval(expression, {"np": np, **encrypted})
    return found, expected


@pytest.mark.parametrize("expression", [*BOTH, *OF_FLOATS])
def test_of_floats(floats: Session, expression: str) -> None:
    found, expected = run(expression, floats, FLOATS)
    if not isinstance(found, EncryptedArray):
        np.testing.assert_array_equal(found, expected)
        return
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    result = floats.decrypt(found)
    np.testing.assert_allclose(result, expected, rtol=0, atol=2.0**-16 * max(1.0, found.interval.size))
    if found.is_real:
        slack = 2.0**-16 * max(1.0, found.interval.size)
        assert found.interval.low - slack <= expected.min() <= expected.max() <= found.interval.high + slack


@pytest.mark.parametrize("expression", [*BOTH, *OF_DIGITS])
def test_of_digits(expression: str) -> None:
    own = modelled("lut4")
    if expression == "np.median(v)":
        found, expected = run(expression, small(), {"v": DIGITS["v"]})
        assert (found.dtype, small().decrypt(found)) == (expected.dtype, pytest.approx(float(expected), abs=0.05))
        return
    with np.errstate(all="ignore"):
        found, expected = run(expression, own, DIGITS)
    if not hasattr(found, "session"):
        np.testing.assert_array_equal(found, expected)
        return
    result = np.asarray(own.decrypt(found))
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("expression", ["np.var(v)", "np.average(v, weights=[1, 2, 3, 4])", "np.cov(x[:2])"])
def test_digits_become_floats_where_numpy_computes_in_floats(expression: str) -> None:
    own, given = small(), {"v": A[1] % 8, "x": A % 4}
    found, expected = run(expression, own, given)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(own.decrypt(found), expected, rtol=0, atol=0.02 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("np.compress(x > 0, x)", "in the clear"), ("np.cumprod(v, axis=3)", "axis=3"), ("np.cross(v, v)", "3 coord"),
        ("np.tensordot(x, v, axes=([0], [0]))", "differ in length"), ("np.correlate(w, v)", "swap them"),
        ("np.cumprod(v, out=1)", "leave other arguments out"), ("np.gradient(x)", "one axis"),
        ("np.diag(x[None])", "matrix"),
        ("np.polyval([], v)", "at least one"), ("np.cov(x[None])", "vectors"), ("np.cross(w, v)", "3 coord"),
        ("np.unique(v)", "not supported"), ("np.partition(v, 1)", "not supported"),
        ("np.matrix_transpose(v)", "two axes"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("digits", [False, True])
def test_what_is_refused_says_why(floats: Session, expression: str, said: str, digits: bool) -> None:
    if digits and ("cov" in expression or "gradient" in expression or "diag" in expression):
        said = "switch|floats|axis|fit an array"
    own: Any = modelled("lut4") if digits else floats
    given = {name: own.encrypt(values) for name, values in (DIGITS if digits else FLOATS).items()}
    with pytest.raises((AgletError, TypeError, ValueError), match=said):
        eval(expression, {"np": np, **given})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.bool_])
def test_every_function_of_numpy_on_digits_is_right_or_refused(pattern: str, dtype: Any) -> None:
    """All of its namespace, called in all these ways: what comes back without an error is what numpy gives."""
    clear, plain = np.array([[5, 1], [0, 2]]).astype(dtype), np.array([[1, 0], [0, 1]], dtype=dtype)
    own, call, given = modelled("lut4"), PATTERNS[pattern], 0
    encrypted, wrong = own.encrypt(clear), []
    for name in NAMES:
        try:
            found = call(getattr(np, name), encrypted, plain)
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError, ZeroDivisionError):
            continue
        if isinstance(found, np.ndarray) and name.endswith("_like"):
            continue
        given += 1
        try:
            expected = call(getattr(np, name), clear, plain)
        except Exception as error:
            wrong.append(f"{name} is an error of numpy: {error}")
            continue
        several = isinstance(found, list | tuple)
        for part, wanted in zip(found, expected, strict=True) if several else [(found, expected)]:
            result = np.asarray(own.decrypt(part) if isinstance(part, EncryptedIntegers) else part)
            shown = [(one.dtype, one.shape, one.tolist()) for one in (result, np.asarray(wanted))]
            wrong += [f"{name}: {shown[0]} and in numpy {shown[1]}"] if shown[0] != shown[1] else []
    assert not wrong, "\n".join(wrong)
    assert given or pattern not in ("f(a)", "f(a, plain)", "f(a, axis=0)")
