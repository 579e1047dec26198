"""Ten programs of a trial, for arrays of any size: what `Session.plan` states of them is measured beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aglet import EncryptedArray, Session

__all__ = ["COMPARING", "PROGRAMS", "SINGLE", "Measured", "measured"]

RANDOM = np.random.default_rng(7)
ROOT = np.polynomial.Chebyshev.interpolate(lambda v: 1 / np.sqrt(v), 15, domain=(0.2, 0.5))
SIGMOID = np.polynomial.Chebyshev.interpolate(lambda v: 1 / (1 + np.exp(-v)), 15, domain=(-4, 4))
FEATURES = RANDOM.uniform(-0.5, 0.5, 8)
MATRIX = RANDOM.uniform(-1, 1, (8, 5))
COEFFICIENTS = RANDOM.uniform(-1, 1, 12)

Draw = Callable[[Any, int], list[Any]]


def _standardised(x: Any) -> Any:
    centred = x - x.mean()
    if not isinstance(x, EncryptedArray):
        return centred * ROOT(x.var())
    variance = (centred * centred).mean().assume(bound=(0.2, 0.5))
    return centred * x.session.chebyshev(variance, ROOT.coef, domain=(0.2, 0.5))


def _logistic(x: Any) -> Any:
    logits = x @ FEATURES
    if not isinstance(x, EncryptedArray):
        return SIGMOID(logits)
    return x.session.chebyshev(logits.assume(bound=4), SIGMOID.coef, domain=(-4, 4))


def _polynomial(x: Any) -> Any:
    if not isinstance(x, EncryptedArray):
        return np.polynomial.polynomial.polyval(x, COEFFICIENTS)
    return x.session.poly(x, COEFFICIENTS)


def _one(random: Any, size: int) -> list[Any]:
    return [random.uniform(-1, 1, size)]


def _two(random: Any, size: int) -> list[Any]:
    return [random.uniform(-1, 1, size), random.uniform(-1, 1, size)]


def _table(random: Any, size: int) -> list[Any]:
    return [random.uniform(-1, 1, (size // 8, 8))]


def _sixteen(random: Any, size: int) -> list[Any]:
    return [random.permutation(16) / 16 - 0.5]


PROGRAMS: dict[str, tuple[Callable[..., Any], Draw]] = {
    "statistics": (lambda x: np.stack([x.mean(), x.var()]), _one),
    "standardise": (_standardised, _one),
    "logistic step": (_logistic, _table),
    "sort of 16": (np.sort, _sixteen),
    "argmax": (np.argmax, _sixteen),
    "where": (lambda x, y: np.where(x > y, x, y), _two),
    "dot": (lambda x, y: x @ y, _two),
    "matrix product": (lambda x: x @ MATRIX, _table),
    "polynomial": (_polynomial, _one),
    "running mean": (lambda x: sum(np.roll(x, i) for i in range(4)) / 4, _one),
    "column means": (lambda x: x.mean(axis=0), lambda random, size: [random.uniform(-1, 1, (size // 16, 16))]),
    "comparison": (lambda x: x > 0.1, _one),
}
COMPARING = ("sort of 16", "argmax", "where", "comparison")
SINGLE = ("statistics", "argmax", "dot")
"""Whose results are one number or two: luck decides how large their error is."""


class Measured(NamedTuple):
    """A run, and what was stated of it."""

    bits: float
    """Of the element with the largest error."""
    error: float
    stated: float | None
    deviation: float
    drawn: float | None
    """What was stated for values drawn evenly from the bounds."""


def measured(session: Session, name: str, size: int, seed: int) -> Measured:
    """One run, of values of that seed."""
    program, draw = PROGRAMS[name]
    given = draw(np.random.default_rng(seed), size)
    shapes = [one.shape for one in given]
    plan = Session.plan(program, shapes, engine=session.engine, sample=given)
    drawn = Session.plan(program, shapes, engine=session.engine)
    assert (plan.bits is None) == (plan.unstated is not None)
    assert plan.deviation is not None
    error = float(np.abs(session.decrypt(program(*map(session.encrypt, given))) - program(*given)).max())
    return Measured(-np.log2(error), error, plan.bits, plan.deviation, drawn.bits)
