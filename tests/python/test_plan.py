"""What `Session.plan` says before a key exists: bits that hold and are no more than some too few, and bytes of keys."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aglet import Engine, ParameterError, RangeError, Session, ml

RANDOM = np.random.default_rng(7)
COLUMN = RANDOM.uniform(-1, 1, 512)
ROOT = np.polynomial.Chebyshev.interpolate(lambda v: 1 / np.sqrt(v), 15, domain=(0.2, 0.5))
MATRIX = RANDOM.uniform(-1, 1, (8, 5))
WEIGHTS = RANDOM.uniform(-1, 1, 12)
MODEL = ml.LogisticRegression.from_sklearn(
    SimpleNamespace(coef_=RANDOM.normal(0, 0.4, (1, 6)), intercept_=np.array([0.2])), reach=8
)
TABLE = RANDOM.uniform(-1, 1, (64, 8))
VALUES = RANDOM.permutation(16) / 16 - 0.5
MISS = 1.5
"""A result may be worse than planned by so many bits with a chance far below 10^-6."""


@pytest.fixture(scope="module")
def session(engine: Engine) -> Session:
    return Session(engine, engine.create_keys())


def standardised(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return (x - x.mean()) * ROOT(x.var())
    centred = x - x.mean()
    variance = (centred * centred).mean().assume(bound=(0.2, 0.5))
    return centred * x.session.chebyshev(variance, ROOT.coef, domain=(0.2, 0.5))


def polynomial(x: Any) -> Any:
    return np.polynomial.polynomial.polyval(x, WEIGHTS) if isinstance(x, np.ndarray) else x.session.poly(x, WEIGHTS)


def refreshed(x: Any) -> Any:
    for _ in range(4):
        x = 0.7 * x * x - 0.3 * x
        x = x if isinstance(x, np.ndarray) else x.assume(bound=1).refresh()
    return x


PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "centred": (lambda x: (x - x.mean()) ** 2, [COLUMN]),
    "standardised": (standardised, [COLUMN]),
    "squares": (lambda x: (x * x).sum(axis=0), [COLUMN.reshape(32, 16)]),
    "product": (lambda x: x @ MATRIX, [COLUMN.reshape(64, 8)]),
    "polynomial": (polynomial, [COLUMN]),
    "logistic": (
        lambda x: MODEL(x, assume=True) if not isinstance(x, np.ndarray) else MODEL(x),
        [TABLE.reshape(-1)[:252].reshape(42, 6)],
    ),
    "training": (
        lambda x: ml.fit_logistic(x, steps=2, count=64, assume=True),
        [ml.labelled_samples(TABLE, np.sign(TABLE[:, 0]), 512)],
    ),
    "refreshed": (refreshed, [COLUMN]),
}
COMPARING: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "sort": (np.sort, [VALUES]),
    "sort of close ones": (np.sort, [COLUMN[:16]]),
    "where": (lambda x, y: np.where(x > y, x, y), [COLUMN[:128], COLUMN[128:256]]),
    "maximum": (np.maximum, [COLUMN[:256], COLUMN[256:]]),
}


def measured(session: Session, program: Callable[..., Any], given: list[Any]) -> float:
    found = session.decrypt(program(*map(session.encrypt, given)))
    return float(-np.log2(np.abs(found - program(*given)).max()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits(session: Session, name: str) -> None:
    """Of values that are drawn, and of those that are given."""
    program, given = PROGRAMS[name]
    shapes = [one.shape for one in given]
    bits = measured(session, program, given)
    for sample in (None, given):
        plan = Session.plan(program, shapes, engine=session.engine, sample=sample)
        assert plan.bits is not None
        assert bits - 3 - MISS < plan.bits < bits + MISS
    assert "bits of precision" in str(plan)


@pytest.mark.parametrize("name", COMPARING)
def test_comparisons_state_bits_of_a_sample_only(session: Session, name: str) -> None:
    """Values that are too close to be decided are part of it: a place in a sort is then made of both."""
    program, given = COMPARING[name]
    shapes = [one.shape for one in given]
    unsaid = Session.plan(program, shapes, engine=session.engine)
    assert unsaid.bits is None
    assert "bits not predicted" in str(unsaid)
    plan = Session.plan(program, shapes, engine=session.engine, sample=given)
    assert plan.bits is not None
    bits = measured(session, program, given)
    assert bits - 3 - MISS < plan.bits < bits + MISS


def test_a_sum_of_the_same_is_not_one_of_others(engine: Engine) -> None:
    """Sixteen times one ciphertext has sixteen times its error, sixteen ciphertexts four times."""
    shapes = [512] * 16
    same = Session.plan(lambda *x: sum([x[0]] * 16), shapes, engine=engine).bits
    others = Session.plan(lambda *x: sum(x), shapes, engine=engine).bits
    assert same is not None
    assert others is not None
    assert 1.5 < others - same < 2.5


@pytest.mark.parametrize("bootstrap", [None, "large", "medium", "small"])
@pytest.mark.parametrize("rotation", [True, False])
def test_bytes_of_keys(engine: Engine, bootstrap: str | None, rotation: bool) -> None:
    """The forecast is what the keys take, to some percent; products alone need the relinearization key."""

    def work(x: Any) -> Any:
        x = x * x
        x = x.refresh() if bootstrap else x
        return x + np.roll(x, 1) if rotation else x

    rotation = rotation or bootstrap == "small"
    made = engine.create_keys(bootstrap=bootstrap, rotation=rotation)
    plan = Session.plan(work, [512], engine=engine, bootstrap=bootstrap or "large")
    assert plan.key_bytes == pytest.approx(made.byte_count, rel=0.05)
    assert plan.peak_bytes >= plan.key_bytes


@pytest.mark.parametrize(("level", "slots"), [(1, None), (4, None), (7, 64)])
@pytest.mark.parametrize("more", [{"rotation": False}, {"rotation": True}, {"rotation": True, "matrix": True}])
def test_bytes_of_keys_of_few_levels(level: int, slots: int | None, more: dict[str, bool]) -> None:
    engine = Engine(max_level=level) if slots is None else Engine(max_level=level, slot_count=slots)
    made = engine.create_keys(**more)  # type: ignore[arg-type]
    assert engine.keys_forecast(**more) == pytest.approx(made.byte_count, rel=0.05)  # type: ignore[arg-type]


def test_samples_that_do_not_fit(engine: Engine) -> None:
    with pytest.raises(ParameterError, match="shape"):
        Session.plan(lambda x: x, [4], engine=engine, sample=[np.zeros(5)])
    with pytest.raises(ParameterError, match="2 samples for 1"):
        Session.plan(lambda x: x, [4], engine=engine, sample=[np.zeros(4)] * 2)
    with pytest.raises(RangeError, match="outside of"):
        Session.plan(lambda x: x, [4], engine=engine, sample=[np.full(4, 2.0)])
