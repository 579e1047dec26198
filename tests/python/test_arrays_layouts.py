"""Broadcasting and indices beside numpy, where elements share a slot or repeat around a chunk."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import Engine, RangeError, Session
from fuzz.checked import check

RANDOM = np.random.default_rng(25)
X = RANDOM.uniform(-1, 1, 8)
"""It goes four times around the 32 slots."""
V = RANDOM.uniform(-1, 1, 5)
A = RANDOM.uniform(-1, 1, (4, 2))
LONG = RANDOM.uniform(-1, 1, 100)
W, WIDE = RANDOM.uniform(-1, 1, (3, 8)), RANDOM.uniform(-1, 1, (3, 5))
LABELS = np.array([1, 0, 1, 1, 2])


@pytest.fixture(scope="module")
def session() -> Session:
    engine = Engine(preset="toy", allow_insecure=True, slot_count=32)
    return Session(engine, engine.create_keys(), alpha=5, error_bits=12)


# A function of an array of each shape, for numpy's and for encrypted ones.
WIDER: dict[str, Callable[..., Any]] = {
    "sum": lambda x, v, a: x + W,
    "sum of plain": lambda x, v, a: W + x,
    "difference": lambda x, v, a: x[None] - W,
    "difference of plain": lambda x, v, a: W - x,
    "product": lambda x, v, a: x * W,
    "product of plain": lambda x, v, a: W * x,
    "quotient": lambda x, v, a: x / (2 + W),
    "column": lambda x, v, a: x[:, None] * V,
    "of a number": lambda x, v, a: x.mean() * V,
    "of a number, longer than a chunk": lambda x, v, a: x.mean() + LONG,
    "that does not divide": lambda x, v, a: v * WIDE + v,
    "table": lambda x, v, a: a[:, None, :] + a[None] * W[:, :2].sum(axis=0),
    "plain less a mean": lambda x, v, a: A - a.mean(axis=0),
    "chosen": lambda x, v, a: np.where(W > 0, x, 0.25),
    "chosen both": lambda x, v, a: np.where(W > 0, x, -x),
    "twice": lambda x, v, a: (x + W) * W,
    "summed": lambda x, v, a: (x * W).sum(axis=0) + (x * W).sum(),
    "then a row": lambda x, v, a: (x + W)[1] * x,
    "mean beside": lambda x, v, a: (x + W).mean(axis=1) + (x * W).var(),
}


@pytest.mark.parametrize("name", WIDER)
def test_plain_arrays_larger_than_the_encrypted_one(session: Session, name: str) -> None:
    clear = WIDER[name](X, V, A)
    check(session, WIDER[name](*(session.encrypt(one) for one in (X, V, A))), clear)


def test_larger_plain_arrays_in_comparisons(session: Session) -> None:
    found = np.maximum(session.encrypt(X), np.where(np.abs(X - W) < 0.2, X + 0.4, W))
    assert np.abs(session.decrypt(found) - np.maximum(X, np.where(np.abs(X - W) < 0.2, X + 0.4, W))).max() < 2.0**-8


REPEATED: dict[str, Callable[..., Any]] = {
    "times plain": lambda x, v, a: x[[0, 0]] * np.array([1.0, 2.0]),
    "plus encrypted": lambda x, v, a: v[[2, 0, 0]] + v[:3],
    "minus encrypted": lambda x, v, a: v[LABELS] - v,
    "from encrypted": lambda x, v, a: v - v[LABELS],
    "two of them": lambda x, v, a: v[[0, 0, 1]] * v[[1, 2, 2]],
    "the same twice": lambda x, v, a: v[[0, 0, 1]] * v[[0, 0, 1]],
    "columns": lambda x, v, a: a[:, [0, 0, 1]] - WIDE[:, :3].sum(),
    "columns less more": lambda x, v, a: a[:, [0, 0, 1]] - np.stack([a[:, 0], a[:, 1], a[:, 0]], axis=1),
    "pairs": lambda x, v, a: a[:, [0, 0, 1]] * a[:, [0, 1, 1]],
    "labels": lambda x, v, a: a[[0, 3, 0, 0]] - A,
    "all of one size": lambda x, v, a: v[[4, 4, 4, 4, 4]] - V,
    "sum": lambda x, v, a: v[LABELS].sum() + x[[0, 0, 1, 1]].sum(),
    "sum along": lambda x, v, a: a[[1, 1, 1, 2]].sum(axis=0),
    "mean": lambda x, v, a: x[[3, 3, 3]].mean() + v[[0, 0]].var(),
    "powers": lambda x, v, a: x[[0, 0, 2]] ** 3 - V[:3],
    "joined": lambda x, v, a: np.concatenate([v[[0, 0]], v]) * np.arange(7),
    "backwards": lambda x, v, a: x[::-1] * x + x[::-1][[0, 0, 0, 1, 1, 1, 7, 7]],
    "product": lambda x, v, a: v[LABELS] @ V,
    "matrix": lambda x, v, a: WIDE @ v[LABELS],
    "rows of a matrix": lambda x, v, a: a[[0, 0, 2]] @ WIDE[:2],
    "views of views": lambda x, v, a: (a.T[[1, 1]][:, ::-1].ravel()[2:6] - x[[5, 5, 5, 5]])[[0, 3, 3]] * V[:3],
    "filled": lambda x, v, a: (v * 0.5 + 1)[[0, 0, 1, 2, 3]].sum(),
}


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_indices(session: Session, name: str) -> None:
    clear = REPEATED[name](X, V, A)
    check(session, REPEATED[name](*(session.encrypt(one) for one in (X, V, A))), clear)


def test_what_is_between_elements_stays_known(session: Session) -> None:
    """A choice of as many elements as there were leaves slots that were elements."""
    check(session, session.encrypt(V)[[0] * 5] + 1, V[[0] * 5] + 1)
    wide = session.encrypt(V + 3, bound=(2, 4)).assume(bound=(2.0, 3.99))
    check(session, wide, V + 3)
    # The filler was 3, and the numbers are said to be elsewhere.
    low = session.encrypt(np.minimum(V, 0.4) - 1, bound=(-2, 4)).assume(bound=(-2.0, -0.5))
    check(session, low, np.minimum(V, 0.4) - 1)
    check(session, low.sum() * 1.0, (np.minimum(V, 0.4) - 1).sum())
    # 1 and 0 beside -3: the variance of slots between would not lie where those of elements do.
    check(session, (session.encrypt(LONG) ** 2)[3:50].var(), (LONG**2)[3:50].var())


MOVES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a column beside rows": lambda x, y, z: y.reshape(-1, 1) * x,
    "a column of scores": lambda x, y, z: (x @ V - y).reshape(-1, 1) * x,
    "the same, turned": lambda x, y, z: (y - x @ V).reshape(-1, 1) * x,
    "to columns": lambda x, y, z: y * x.T,
    "all pairs": lambda x, y, z: y[:, None] * z,
    "all pairs, backwards": lambda x, y, z: z[::-1, None] * y[::-1],
    "in any order": lambda x, y, z: y[np.random.default_rng(1).permutation(40)] + y,
    "in any order, of several": lambda x, y, z: x.ravel()[np.random.default_rng(2).permutation(200)[:40]] * y,
    "a row beside rows": lambda x, y, z: x * x[3],
    "three axes": lambda x, y, z: x[:, :, None] * z[None, None, :3],
    "turned": lambda x, y, z: x.T * x[:5].T.sum(axis=1)[:, None],
}


@pytest.mark.parametrize("slots", [32, 256])
@pytest.mark.parametrize("name", MOVES)
def test_moves_of_many_elements(name: str, slots: int) -> None:
    """Rotations in baby and giant steps, and copies along axes, within chunks and across them."""
    engine = Engine(preset="toy", allow_insecure=True, slot_count=slots)
    place = Session(engine, engine.create_keys())
    clear = RANDOM.uniform(-1, 1, (40, 5)), RANDOM.uniform(-1, 1, 40), RANDOM.uniform(-1, 1, 7)
    check(place, MOVES[name](*map(place.encrypt, clear)), MOVES[name](*clear), 2.0**-16)


@pytest.mark.parametrize(
    ("count", "width", "begin", "more"),
    [(16, 9, 0, 0), (40, 5, 0, 0), (49, 5, 0, 0), (50, 3, 2, 0), (100, 2, 0, 5), (128, 1, 0, 0)],
)
def test_a_vector_of_more_levels_is_stretched(count: int, width: int, begin: int, more: int) -> None:
    """With levels above those of the other, in stages that copy runs by doubling."""
    engine = Engine(preset="toy", allow_insecure=True, slot_count=256)
    place = Session(engine, engine.create_keys())
    y, x = RANDOM.uniform(0.5, 1, begin + count + more), RANDOM.uniform(-1, 1, (count, width))
    part = slice(begin, begin + count)
    low, high = place.encrypt(x, level=2), place.encrypt(y, bound=(0.5, 1))
    check(place, high[part] - low[:, 0], y[part] - x[:, 0])
    check(place, high[part][:, None] * low, y[part][:, None] * x)
    assert (high[part][:, None] * low).level == 1


def test_a_column_beside_rows_takes_few_rotations() -> None:
    """Elements come to their rows in baby and giant steps, and are copied along them by doubling: one level."""
    engine = Engine(use_bootstrap=True)
    weights, shapes = np.linspace(-1, 1, 13), [(300, 13), (300,)]

    def plan(work: Callable[[Any, Any], Any]) -> Any:
        return Session.plan(work, shapes, engine=engine)

    rows = plan(lambda x, y: x @ weights)
    assert plan(lambda x, y: x @ weights - y).rotations - rows.rotations < 70
    for work in (
        lambda x, y: (x @ weights - y).reshape(300, 1) * x,
        lambda x, y: (y - x @ weights).reshape(300, 1) * x,
        lambda x, y: y.reshape(300, 1) * x,
    ):
        assert plan(work).rotations < 100
        assert plan(work).level >= engine.max_level - 3

    def training(x: Any, y: Any) -> Any:
        return (x.session.chebyshev(x @ (weights / 13), [0.5, 0.5, 0, 0.1]) - y).reshape(300, 1) * x

    # The labels have more levels than the scores, so they move in stages of doublings.
    assert plan(training).rotations < 50
    for columns in (8, 16):
        # As many masks as steps were made or refused, where copies along rows take a few rotations more.
        made = Session.plan(lambda x, y: y.reshape(300, 1) * x, [(300, columns), (300,)], engine=engine)
        assert made.rotations < 140
        assert made.seconds < 2 * plan(lambda x, y: y.reshape(300, 1) * x).seconds
    # What is in its row is only copied along it.
    along = plan(lambda x, y: (x @ weights).reshape(300, 1) * x)
    assert along.rotations - rows.rotations <= 4 * 4 + 2


def test_copies_and_shapes_that_do_not_fit(session: Session) -> None:
    """A copy belongs to the same session; what numpy refuses has a sentence."""
    x, table = session.encrypt([0.5, -0.25]), session.encrypt([[0.5, -0.25]])
    for one in (copy.copy(x), copy.deepcopy(x)):
        assert one is not x
        check(session, one, np.array([0.5, -0.25]))
    calls: list[Callable[[], Any]] = [
        lambda: np.concatenate([x, table]), lambda: np.stack([x, table]), lambda: np.hstack([x, table]),
        lambda: np.rot90(x), lambda: np.moveaxis(x, 3, 0), lambda: np.diagonal(x), lambda: np.einsum("ii", table),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(RangeError, match=r"^This .*\.$"):
            call()


def test_masked_numbers_are_refused(session: Session) -> None:
    """A masked number has a value, which is not meant."""
    x = session.encrypt([0.5, -0.25])
    for masked in (np.ma.masked, np.ma.masked_array(3.0, mask=True), np.ma.masked_array([1.0, 2.0], [True, False])):
        for call in (lambda m: np.multiply(m, x), lambda m: np.add(x, m), lambda m: np.subtract(m, x), lambda m: x * m):
            with pytest.raises(TypeError, match="masked"):
                call(masked)
