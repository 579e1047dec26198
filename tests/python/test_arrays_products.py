"""Products and sums over axes, running sums, convolutions, means and norms, beside numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Engine, RangeError, Session
from fuzz.checked import check

RANDOM = np.random.default_rng(30)
A, B = RANDOM.uniform(-1, 1, (3, 5)), RANDOM.uniform(-1, 1, (5, 4))
T, U = RANDOM.uniform(-1, 1, (2, 3, 5)), RANDOM.uniform(-1, 1, (2, 5, 2))
V, W = RANDOM.uniform(-1, 1, 5), RANDOM.uniform(-1, 1, 8)
LONG = RANDOM.uniform(-1, 1, 40)


@pytest.fixture(scope="module")
def session() -> Session:
    engine = Engine(preset="toy", allow_insecure=True, slot_count=32)
    return Session(engine, engine.create_keys())


# Of a 3 x 5, b 5 x 4, t 2 x 3 x 5, u 2 x 5 x 2, v 5 and w 8 elements.
CALLS: dict[str, Callable[..., Any]] = {
    "matrices": lambda a, b, t, u, v, w: a @ b,
    "matrix and its own": lambda a, b, t, u, v, w: a @ a.T,
    "stacks": lambda a, b, t, u, v, w: t @ u,
    "stack and matrix": lambda a, b, t, u, v, w: t @ b,
    "matrix and stack": lambda a, b, t, u, v, w: a @ u,
    "vector and matrix": lambda a, b, t, u, v, w: v @ b,
    "vector and stack": lambda a, b, t, u, v, w: v @ u,
    "stack and vector": lambda a, b, t, u, v, w: t @ v,
    "plain stack": lambda a, b, t, u, v, w: a @ U,
    "of a plain stack": lambda a, b, t, u, v, w: T @ b,
    "of a plain stack and a vector": lambda a, b, t, u, v, w: T @ v,
    "matmul": lambda a, b, t, u, v, w: np.matmul(a, b),
    "dot": lambda a, b, t, u, v, w: np.dot(a, b),
    "dot of more axes": lambda a, b, t, u, v, w: np.dot(t, u),
    "dot of plain": lambda a, b, t, u, v, w: np.dot(t, U),
    "inner": lambda a, b, t, u, v, w: np.inner(a, b.T),
    "inner of more axes": lambda a, b, t, u, v, w: np.inner(t, b.T),
    "inner of plain": lambda a, b, t, u, v, w: np.inner(T, v) + np.inner(t, T[0]).sum(),
    "outer": lambda a, b, t, u, v, w: np.outer(v, w),
    "outer of tables": lambda a, b, t, u, v, w: np.outer(a, b),
    "outer of plain": lambda a, b, t, u, v, w: np.outer(A, w) + np.outer([[1, 2, 3], [4, 5, 6]], V).sum() + 0 * w,
    "einsum, matrices": lambda a, b, t, u, v, w: np.einsum("ij,jk->ik", a, b),
    "einsum, implicit": lambda a, b, t, u, v, w: np.einsum("ij, jk", a, b),
    "einsum, in the order of letters": lambda a, b, t, u, v, w: np.einsum("zj,jb", a, b),
    "einsum, elementwise": lambda a, b, t, u, v, w: np.einsum("ij,ij->ij", a, A),
    "einsum, all": lambda a, b, t, u, v, w: np.einsum("ij,ij->", a, a),
    "einsum, outer": lambda a, b, t, u, v, w: np.einsum("i,j->ji", v, w),
    "einsum, stacks": lambda a, b, t, u, v, w: np.einsum("nij,njk->nik", t, u),
    "einsum, dots": lambda a, b, t, u, v, w: np.einsum("...ij,jk", t, b),
    "einsum, dots of both": lambda a, b, t, u, v, w: np.einsum("...ij,...jk->...ki", t, u),
    "einsum, diagonal": lambda a, b, t, u, v, w: np.einsum("ii->i", b[:4]),
    "einsum, trace": lambda a, b, t, u, v, w: np.einsum("ii", b[:4]),
    "einsum, trace times": lambda a, b, t, u, v, w: np.einsum("ii,ij->j", b[:4], b[1:]),
    "einsum, transposed": lambda a, b, t, u, v, w: np.einsum("kji", t),
    "einsum, summed alone": lambda a, b, t, u, v, w: np.einsum("ij,k->k", a, w),
    "einsum, plain first": lambda a, b, t, u, v, w: np.einsum("ij,jk->ik", A, b),
    "einsum, optimized": lambda a, b, t, u, v, w: np.einsum("ij,jk->ik", a, B, optimize=True),
    "cumsum": lambda a, b, t, u, v, w: np.cumsum(v),
    "cumsum of all": lambda a, b, t, u, v, w: a.cumsum(),
    "cumsum of rows": lambda a, b, t, u, v, w: np.cumsum(a, axis=1),
    "cumsum of columns": lambda a, b, t, u, v, w: np.cumsum(t, -2),
    "diff": lambda a, b, t, u, v, w: np.diff(w),
    "diff twice": lambda a, b, t, u, v, w: np.diff(a, 2, axis=1),
    "diff of columns": lambda a, b, t, u, v, w: np.diff(t, axis=-2),
    "no diff": lambda a, b, t, u, v, w: np.diff(v, n=0),
    "prod": lambda a, b, t, u, v, w: np.prod(v),
    "prod of rows": lambda a, b, t, u, v, w: a.prod(axis=-1, keepdims=True),
    "prod of axes": lambda a, b, t, u, v, w: np.prod(t, axis=(0, 1)),
    "prod of no axis": lambda a, b, t, u, v, w: np.prod(a, axis=()),
    "convolve": lambda a, b, t, u, v, w: np.convolve(w, v),
    "convolve with shorter": lambda a, b, t, u, v, w: np.convolve(v, w, "same"),
    "convolve, valid": lambda a, b, t, u, v, w: np.convolve(w, v, mode="valid"),
    "convolve, plain": lambda a, b, t, u, v, w: np.convolve(w, V),
    "convolve of plain": lambda a, b, t, u, v, w: np.convolve([1, 2, 3], w, "same"),
    "convolve with longer plain": lambda a, b, t, u, v, w: np.convolve(v, LONG, "valid"),
    "average": lambda a, b, t, u, v, w: np.average(a),
    "average of weights": lambda a, b, t, u, v, w: np.average(a, weights=np.abs(A)),
    "average along": lambda a, b, t, u, v, w: np.average(a, 1, [1, 2, 3, 4, 5]),
    "average of axes": lambda a, b, t, u, v, w: np.average(t, (2, 0), np.abs(T[:, 0].T), keepdims=True),
    "norm": lambda a, b, t, u, v, w: np.linalg.norm(v + 3),
    "norm of rows": lambda a, b, t, u, v, w: np.linalg.norm(a + 3, 2, axis=1, keepdims=True),
    "norm, Frobenius": lambda a, b, t, u, v, w: np.linalg.norm(t + 2, "fro", axis=(0, 2)),
    "norm of all": lambda a, b, t, u, v, w: np.linalg.norm(t + 2),
}

ORDERED = np.linspace(-0.9, 1, 8).reshape(2, 4)[:, [3, 0, 2, 1]]
"""Sizes far enough apart for comparisons."""


@pytest.mark.parametrize("order", [1, np.inf, -np.inf])
def test_norms_of_sizes(session: Session, order: float) -> None:
    """Of vectors: sums and extremes of absolute values."""
    x = session.encrypt(ORDERED)
    for axis in (0, -1):
        found = np.linalg.norm(x, order, axis=axis, keepdims=True)
        check(session, found, np.linalg.norm(ORDERED, order, axis=axis, keepdims=True), 2.0**-7)
    check(session, np.linalg.norm(x[1], order), np.linalg.norm(ORDERED[1], order), 2.0**-7)


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(session: Session, name: str) -> None:
    clear = A, B, T, U, V, W
    check(session, CALLS[name](*map(session.encrypt, clear)), np.asarray(CALLS[name](*clear)), 2.0**-13)


def test_longer_than_a_chunk(session: Session) -> None:
    x, y = RANDOM.uniform(-1, 1, (7, 11)), RANDOM.uniform(-1, 1, (11, 6))
    check(session, session.encrypt(x) @ session.encrypt(y), x @ y, 2.0**-15)
    check(session, np.convolve(session.encrypt(LONG), session.encrypt(V)), np.convolve(LONG, V), 2.0**-15)
    check(session, np.cumsum(session.encrypt(x.T), axis=0), np.cumsum(x.T, axis=0), 2.0**-15)
    check(session, np.diff(session.encrypt(LONG)), np.diff(LONG))
    check(session, np.prod(session.encrypt(1 + LONG / 10, bound=(0.9, 1.1))), np.prod(1 + LONG / 10), 2.0**-12)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: x @ np.ones((2, 4, 2)), RangeError, "inner lengths"),
        (lambda x: x @ x, RangeError, "inner lengths"),
        (lambda x: x @ x.sum(), TypeError, "vector or a matrix"),
        (lambda x: np.einsum("ij,jk,kl", x, A.T, A), TypeError, "two by two"),
        (lambda x: np.einsum("ij,jk->ik", x, x), RangeError, "subscripts"),
        (lambda x: np.einsum("ij->ii", x), RangeError, "subscripts"),
        (lambda x: np.einsum("i...,ij->i", x, x), RangeError, "dots"),
        (lambda x: np.einsum("i...->i", x), RangeError, "dots"),
        (lambda x: np.einsum("ij->k", x), RangeError, "subscripts"),
        (lambda x: np.einsum("ijk", x), RangeError, "subscripts"),
        (lambda x: np.einsum(x, [0, 1], [1, 0]), TypeError, "string"),
        (lambda x: np.einsum("ij", x, dtype=float), TypeError, "dtype"),
        (lambda x: np.diff(x, n=5), RangeError, "smaller n"),
        (lambda x: np.diff(x, n=-1), ValueError, "out of range"),
        (lambda x: np.diff(x, axis=2), RangeError, "does not exist"),
        (lambda x: np.diff(x, prepend=0), TypeError, "prepend"),
        (lambda x: np.cumsum(x, axis=-3), RangeError, "does not exist"),
        (lambda x: np.prod(x, axis=5), RangeError, "does not exist"),
        (lambda x: np.prod(x, out=np.zeros(())), TypeError, "out="),
        (lambda x: np.convolve(x, V), RangeError, "row by row"),
        (lambda x: np.convolve(x[0], V, "circular"), ValueError, "full, same, valid"),
        (lambda x: np.average(x, weights=x), TypeError, "plain weights"),
        (lambda x: np.average(A, weights=x), TypeError, "plain weights"),
        (lambda x: np.average(x, weights=V), TypeError, "axis"),
        (lambda x: np.average(x, axis=0, weights=V), RangeError, "do not fit"),
        (lambda x: np.average(x, axis=1, weights=[1, -1, 0, 0, 0]), ZeroDivisionError, "sum to zero"),
        (lambda x: np.average(x, returned=True), TypeError, "returned"),
        (np.linalg.norm, RangeError, "declare the range"),
        (lambda x: np.linalg.norm(x, 2), TypeError, "Frobenius"),
        (lambda x: np.linalg.norm(x, "nuc"), TypeError, "Frobenius"),
        (lambda x: np.linalg.norm(x, np.inf), TypeError, "Frobenius"),
        (lambda x: np.linalg.norm(x, 3, axis=1), TypeError, "norms 1, 2, inf"),
        (lambda x: np.linalg.norm(x, True, axis=1), TypeError, "Frobenius"),
    ],
)
def test_what_is_not_served_says_why(
    session: Session, call: Callable[[Any], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(session.encrypt(A))


def test_plan_of_products() -> None:
    """Of 32 x 32 and 32 x 32 in one ciphertext: one level to bring each element to its place, one for the product."""
    engine = Engine(use_bootstrap=True)
    plan = Session.plan(lambda x, y: x @ y, [(32, 32), (32, 32)], engine=engine)
    assert plan.level >= engine.max_level - 2
    assert plan.rotations < 250
    assert plan.products == 1
