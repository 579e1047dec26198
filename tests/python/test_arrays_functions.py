"""Functions that are fitted: precision, intervals, levels, and what is refused."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Engine, ParameterError, RangeError, Session
from aglet.arrays.reciprocals import Reciprocal
from fuzz.checked import check

RANDOM = np.random.default_rng(29)


@pytest.fixture(scope="module")
def session() -> Session:
    engine = Engine(preset="toy", allow_insecure=True, slot_count=32)
    return Session(engine, engine.create_keys())


SMOOTH: list[tuple[Callable[[Any], Any], float, float]] = [
    (np.sqrt, 0.05, 2),
    (np.exp, -3, 2),
    (np.exp, 0, 10),
    (np.log, 0.1, 4),
    (np.reciprocal, 0.1, 2),
    (np.reciprocal, -3, -0.2),
    (np.tanh, -4, 4),
    (np.sin, -10, 10),
    (np.cos, 2, 2),
    (np.log1p, -0.5, 0.5),
    (lambda x: 1 / x, 0.5, 3),
    (lambda x: np.arange(1, 31) / x, 0.5, 3),
]


@pytest.mark.parametrize(("function", "low", "high"), SMOOTH)
def test_twenty_bits(session: Session, function: Callable[[Any], Any], low: float, high: float) -> None:
    """Relative to the largest value; and the interval holds what is in every slot."""
    x = np.append(RANDOM.uniform(low, high, 28), [low, high])
    expected = function(x)
    check(session, function(session.encrypt(x, bound=(low, high))), expected, 2.0**-19 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("low", "high"), [(1, 4096), (1, 256), (0.001, 1), (0.5, 3), (100, 100.5), (1e-6, 1e-5), (1, 1.000001)]
)
def test_products_of_reciprocals_are_as_close_as_they_say(low: float, high: float) -> None:
    for bits in (8, 20, 30):
        product = Reciprocal.of(low, high, bits)
        if product is None:
            assert high > 3000 * low, "wide intervals alone are refused"
            assert bits == 30
            continue
        x = np.geomspace(low, high, 20_001)
        slope, constant = product.line
        sizes: list[float] = []

        def known(value: Any, size: float, sizes: list[float] = sizes) -> Any:
            sizes.append(np.abs(value).max())
            assert sizes[-1] <= size <= 2.5 * sizes[-1]
            return value

        first = slope * x + constant
        found = product.evaluated(first, operator.add, operator.mul, known)
        error = np.abs(found * x - 1).max()
        assert error <= 1.01 * product.error + 2.0**-40 <= 2.0**-bits * 1.01 + 2.0**-40
        # The interpolation nodes of the largest errors are in between.
        assert error >= 0.9 * product.error - 2.0**-40
        np.testing.assert_allclose(product.exact(first), 1 / x, rtol=1e-8)
        # What is on the way is larger than what comes out by the root of the range at most.
        assert max(sizes, default=0.0) < 10 * max(1, 1 / low) * np.sqrt(high / low)


def test_a_division_on_a_wide_interval_has_a_relative_error(session: Session) -> None:
    """A series of the same degree has 39 products and 2^-20 of the largest value, which is nothing of the smallest."""
    for low, high, most in ((1.0, 256.0, 2.0**-12), (-300.0, -1.0, 2.0**-12), (1.0, 4096.0, 2.0**-8)):
        ends = np.geomspace(abs(low), abs(high), 30) * np.sign(low)
        x = session.encrypt(ends, bound=(low, high))
        found = 1 / x
        assert found.interval.low <= (1 / ends).min() <= (1 / ends).max() <= found.interval.high
        assert found.interval.low * found.interval.high > 0
        relative = np.abs(session.decrypt(found) * ends - 1).max()
        assert relative < most, (low, high, relative)
        product = Reciprocal.of(*sorted((abs(low), abs(high))), 20)
        assert product is not None
        assert x.level - found.level == 1 + product.levels
    plan = Session.plan(lambda x: 1 / x, [30], engine=session.engine, bounds=[(1, 256)])
    assert (plan.products, plan.bits is None) == (12, False)
    numbers = RANDOM.uniform(1, 256, 30)
    off = np.abs(session.decrypt(1 / session.encrypt(numbers, bound=(1, 256))) - 1 / numbers).max()
    assert off <= 2.0 ** -float(plan.bits or 0) < 256 * off
    with pytest.raises(RangeError, match="narrower range"):
        1 / session.encrypt(ends, bound=(1, 10**7))


def test_as_many_bits_as_asked_for(session: Session) -> None:
    x = RANDOM.uniform(-1, 1, 30)
    levels = []
    for bits in (4, 8, 16, 24):
        found = session.function(session.encrypt(x), np.exp, bits=bits)
        levels.append(found.level)
        assert np.abs(session.decrypt(found) - np.exp(x)).max() < 2.0**-bits * np.e + 2.0**-20
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == session.max_level - 2
    # A wider domain than that of the values, and a function that is one of numbers.
    wide = session.function(session.encrypt(x), np.vectorize(lambda t: 1 / (1 + t * t)), domain=(-2, 2))
    check(session, wide, 1 / (1 + x * x), 2.0**-18)
    check(session, session.function(session.encrypt(x), lambda t: 0.5), np.full(30, 0.5))
    check(session, session.function(session.encrypt(x[0]), np.exp), np.exp(x[0]))


def test_ten_levels_and_a_domain(session: Session) -> None:
    """More levels than a refresh leaves: the values are mapped to the domain before it."""
    x = RANDOM.uniform(0.0002, 1, 30)
    found = np.sqrt(session.encrypt(x, bound=(0.0002, 1), level=2))
    check(session, found, np.sqrt(x), 2.0**-15)


def test_plan_of_functions(session: Session) -> None:
    """Levels and refreshes are those of the run."""

    def work(x: Any) -> Any:
        return np.exp(np.sqrt(x)) / x

    plan = Session.plan(work, [30], engine=session.engine, bounds=[(0.5, 2)])
    refreshed = []
    refresh = session.machine.refresh
    try:
        session.machine.refresh = lambda c, b, r: (refreshed.append(len(c)), refresh(c, b, r))[1]  # type: ignore[method-assign]
        found = work(session.encrypt(np.linspace(0.5, 2, 30), bound=(0.5, 2)))
    finally:
        del session.machine.refresh
    assert (plan.level, plan.refreshes) == (found.level, sum(refreshed))


@pytest.mark.parametrize("bits", [6, 12, 20])
def test_planned_bits_hold(session: Session, bits: int) -> None:
    """They count what the fit is off by, not only noise."""
    x = RANDOM.uniform(0.25, 2, 30)

    def work(a: Any) -> Any:
        return a.session.function(a, np.log, bits=bits)

    plan = Session.plan(work, [30], engine=session.engine, bounds=[(0.25, 2)])
    off = np.abs(session.decrypt(work(session.encrypt(x, bound=(0.25, 2)))) - np.log(x)).max()
    assert off <= 2.0**-plan.bits
    assert plan.bits > bits - 2


def test_deviations(session: Session) -> None:
    x = RANDOM.uniform(-1, 1, (5, 6))
    encrypted = session.encrypt(x)
    for axis, ddof, keep in ((None, 0, False), (0, 1, True), (-1, 0.5, False), ((0, 1), 0, True)):
        found = encrypted.std(axis, ddof=ddof, keepdims=keep, bound=(0.1, 1))
        check(session, found, x.std(axis, ddof=ddof, keepdims=keep), 2.0**-15)
        check(session, np.var(encrypted, axis, ddof=ddof, keepdims=keep), x.var(axis, ddof=ddof, keepdims=keep))
    check(session, np.var(encrypted, correction=1), np.var(x, correction=1))
    check(session, np.var(encrypted, ddof=-1), np.var(x, ddof=-1))


def test_deviations_of_complex_numbers_are_real(session: Session) -> None:
    x = RANDOM.uniform(-1, 1, (4, 6)) + 1j * RANDOM.uniform(-1, 1, (4, 6))
    encrypted = session.encrypt(x, bound=1.5)
    for axis, ddof in ((None, 0), (0, 1), (-1, 0)):
        found = np.var(encrypted, axis, ddof=ddof)
        assert found.is_real
        assert session.decrypt(found).dtype == np.float64
        check(session, found, x.var(axis, ddof=ddof))
        check(session, encrypted.std(axis, ddof=ddof, bound=(0.2, 1.5)), x.std(axis, ddof=ddof), 2.0**-15)
    assert encrypted.var().level == encrypted.level - 3


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (np.sqrt, RangeError, "narrower range"),
        (np.log, RangeError, "no finite value at 0"),
        (lambda x: np.sqrt(x - 0.5), RangeError, "no finite value at -"),
        (lambda x: 1 / x, RangeError, "divisor may be 0"),
        (lambda x: x / x, RangeError, "divisor may be 0"),
        (lambda x: 1 / (x * 1j), RangeError, "complex"),
        (lambda x: x.session.function(x, np.exp, domain=(0.5, 1)), RangeError, "know that they lie there"),
        (lambda x: x.session.function(x, np.exp, domain=(1, 0)), RangeError, "empty"),
        (lambda x: x.session.function(x, np.exp, domain=3), TypeError, "domain"),
        (lambda x: x.session.function(x, lambda t: np.abs(t - 0.5)), RangeError, "kink"),
        (lambda x: x.session.function(x, np.exp, bits=0), ParameterError, "bits"),
        (lambda x: x.session.function(x, np.exp, bits=60), RangeError, "fewer bits"),
        (lambda x: x.session.function(x, lambda t: t * 1j), TypeError, "real number for each"),
        (lambda x: x.session.function(x, lambda t: t[:3]), TypeError, "real number for each"),
        (lambda x: x.session.function(x, 3), TypeError, "cannot be"),
        (lambda x: x.std(), RangeError, "bound="),
        (np.std, RangeError, "bound="),
        (lambda x: x.std(bound=1), RangeError, "above 0"),
        (lambda x: x.var(ddof=np.nan), RangeError, "ddof"),
        (lambda x: np.var(x, ddof=1, correction=1), TypeError, "two names"),
        (lambda x: np.sqrt(x, where=True), TypeError, "where"),
        (np.arccos, TypeError, "session.function"),
    ],
)
def test_what_is_not_served_says_why(
    session: Session, call: Callable[[Any], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(session.encrypt(np.linspace(0, 1, 20), bound=(0, 1)))
