"""Encrypted arrays against numpy, at toy size: values, shapes, levels, refreshes, and what is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import pickle
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aglet import (
    EncryptedArray,
    Engine,
    InsecureParametersError,
    KeyMismatchError,
    KeySet,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
    SerializationError,
    Session,
    _core,
)
from aglet.arrays.interval import Interval
from aglet.arrays.layout import spread
from aglet.keys.kinds import KINDS, SECRETS
from support import change_index

TOLERANCE = 2.0**-18
RANDOM = np.random.default_rng(7)
TABLE = RANDOM.uniform(-1, 1, (300, 13))
"""Eight chunks of 39 rows each in 512 slots."""
COLUMN = RANDOM.uniform(-1, 1, 1300)
CUBE = RANDOM.uniform(-1, 1, (3, 40, 20))


@pytest.fixture(scope="module")
def keys(engine: Engine) -> KeySet:
    return engine.create_keys()


@pytest.fixture(scope="module")
def session(engine: Engine, keys: KeySet) -> Session:
    return Session(engine, keys)


def assert_close(session: Session, found: EncryptedArray, expected: Any, tolerance: float = TOLERANCE) -> None:
    values = session.decrypt(found)
    assert np.shape(values) == found.shape == np.shape(expected)
    assert np.max(np.abs(values - expected)) <= tolerance * max(1.0, np.max(np.abs(expected)))
    slots = np.concatenate([session.engine.decrypt(chunk, session.keys.secret) for chunk in found.chunks])
    if found.is_real:
        assert found.interval.low - TOLERANCE <= slots.min(), "every slot is within the interval"
        assert slots.max() <= found.interval.high + TOLERANCE * max(1.0, found.bound)
    else:
        assert np.abs(slots).max() <= found.bound * (1 + TOLERANCE)
    if found.filler is not None:
        empty = np.ones(slots.size, dtype=bool)
        empty[found.index] = found.uniform
        assert not empty.any() or np.abs(slots[empty] - found.filler).max() <= TOLERANCE * max(1.0, found.bound)


SAME: dict[str, tuple[Callable[[Any], Any], int]] = {
    "add": (lambda x: x + 1.5, 0),
    "add_left": (lambda x: 1 + x, 0),
    "subtract": (lambda x: x - 0.25, 0),
    "subtract_left": (lambda x: 1 - x, 0),
    "negate": (lambda x: -x, 0),
    "double": (lambda x: 2 * x, 0),
    "scale": (lambda x: 0.3 * x, 1),
    "divide": (lambda x: x / 4, 1),
    "square": (lambda x: x * x, 1),
    "numpy_square": (np.square, 1),
    "cube": (lambda x: x**3, 2),
    "logistic": (lambda x: 2.5 * (x - x * x), 2),
    "sum": (lambda x: x.sum(), 0),
    "numpy_sum": (lambda x: np.sum(x, axis=0), 0),
    "sum_last": (lambda x: x.sum(axis=-1), 0),
    "sum_keep": (lambda x: x.sum(axis=-1, keepdims=True), 0),
    "mean": (np.mean, 1),
    "mean_axis": (lambda x: x.mean(axis=0), 1),
    "centred": (lambda x: x - x.mean(), 1),
    "variance": (lambda x: x.var(), 2),
    "variance_axis": (lambda x: np.var(x, axis=-1, ddof=1), 3),
    "first": (lambda x: x[0], 0),
    "some": (lambda x: x[2:9], 0),
    "every_third": (lambda x: x[::3], 0),
    "turned": (lambda x: x.T, 0),
    "flat": (lambda x: x.ravel(), 0),
    "roll": (lambda x: np.roll(x, 5), 0),
    "joined": (lambda x: np.concatenate([x, 2 * x]), 0),
    "stacked": (lambda x: np.stack([x, -x]), 0),
    "sum_of_some": (lambda x: x[1:3].sum(), 1),
    "times_plain": (lambda x: x * np.linspace(-1, 1, x.shape[-1]), 1),
    "plain_first": (lambda x: np.linspace(-1, 1, x.shape[-1]) - x, 0),
}


@pytest.mark.parametrize("message", [COLUMN, TABLE, CUBE], ids=["column", "table", "cube"])
@pytest.mark.parametrize("name", SAME)
def test_same_as_numpy(session: Session, message: np.ndarray, name: str) -> None:
    function, levels = SAME[name]
    x = session.encrypt(message)
    found = function(x)
    assert x.level - found.level <= levels
    assert_close(session, found, function(message))
    assert_close(session, x, message)


def test_axes_together(session: Session) -> None:
    x = session.encrypt(CUBE)
    for axis in [(0, 1), (1, 2), (0, 2), 1, -2]:
        assert_close(session, x.sum(axis=axis), CUBE.sum(axis=axis))
        assert_close(session, x.mean(axis=axis, keepdims=True), CUBE.mean(axis=axis, keepdims=True))


def test_operands_that_lie_elsewhere(session: Session) -> None:
    x, y = session.encrypt(TABLE), session.encrypt(COLUMN[:300])
    assert_close(session, x[:, 4] * y, TABLE[:, 4] * COLUMN[:300])
    assert_close(session, x[:20, 4] + y[40:60], TABLE[:20, 4] + COLUMN[40:60])
    assert_close(session, y[:20].compact(), COLUMN[:20])
    assert_close(session, x[:30] + y[:13], TABLE[:30] + COLUMN[:13])
    assert_close(session, x[:30, 1:2] * x[:30], TABLE[:30, 1:2] * TABLE[:30])
    number = session.encrypt(0.25)
    assert number.shape == ()
    assert_close(session, number * x + number, 0.25 * TABLE + 0.25)
    assert_close(session, (number * np.ones((2, 3))).sum(axis=1), np.full(2, 0.75))


def test_arrays_that_go_around(session: Session) -> None:
    """What fills a chunk evenly repeats in it: sums are short, and broadcasting takes no rotation."""
    message, weights = RANDOM.uniform(-1, 1, (256, 8)), RANDOM.uniform(-1, 1, 8)
    x, y = session.encrypt(message), session.encrypt(weights)
    assert (len(x.chunks), y.period, x.period) == (4, 8, None)
    switches = []
    machine = session.machine
    rotate = machine.rotate
    try:
        machine.rotate = lambda chunk, steps: (switches.append(steps), rotate(chunk, steps))[1]  # type: ignore[method-assign]
        scores = (x * y).sum(axis=1, keepdims=True)
        assert len(switches) == 4 * 3
        assert all(0 < step < 256 for steps in switches for step in steps), "to the right, in one key switch each"
        found = (scores * x).sum(axis=0)
        # Each score to its row: once to the left and three times doubled; then six times around.
        assert len(switches) == 12 + 4 * 4 + 6
        around = found + y
        assert around.period == 8
        assert_close(session, around.sum(), ((message @ weights) @ message + weights).sum())
        assert len(switches) == 34 + 3
    finally:
        del machine.rotate
    assert_close(session, scores, (message @ weights)[:, None])
    assert_close(session, found, (message @ weights) @ message)
    assert_close(session, around - weights, (message @ weights) @ message)
    assert_close(session, around[2:5].assume(bound=256) * 1.0, ((message @ weights) @ message + weights)[2:5])


def test_products_with_matrices(session: Session) -> None:
    x, y = session.encrypt(TABLE), session.encrypt(COLUMN)
    weights, matrix = RANDOM.uniform(-1, 1, 13), RANDOM.uniform(-1, 1, (13, 3))
    wide = RANDOM.uniform(-1, 1, (20, COLUMN.size)) / 30
    assert_close(session, x @ weights, TABLE @ weights)
    assert_close(session, x @ matrix, TABLE @ matrix)
    assert_close(session, wide @ y, wide @ COLUMN)
    assert_close(session, np.dot(y, y), COLUMN @ COLUMN)
    tall = RANDOM.uniform(-1, 1, (700, 13)) / 13
    assert_close(session, tall @ x[0], tall @ TABLE[0])


def test_comparisons(session: Session) -> None:
    # Away from what is undecided.
    clear = np.where(np.abs(COLUMN) < 0.05, 0.5, COLUMN)
    x = session.encrypt(clear)
    assert_close(session, np.sign(x), np.sign(clear), 2.0**-12)
    assert_close(session, x > 0, clear > 0, 2.0**-12)
    assert_close(session, x <= 0, clear <= 0, 2.0**-12)
    assert_close(session, abs(x), abs(clear), 2.0**-9)
    assert_close(session, np.maximum(x, 0), np.maximum(clear, 0), 2.0**-9)
    assert_close(session, np.minimum(x, -2 * x), np.minimum(clear, -2 * clear), 2.0**-8)
    assert_close(session, np.where(x > 0, x, -x), abs(clear), 2.0**-9)
    assert_close(session, np.clip(x, -0.5, 0.5), np.clip(clear, -0.5, 0.5), 2.0**-8)


def test_complex_numbers(session: Session) -> None:
    message = TABLE[:40] + 1j * TABLE[40:80]
    x = session.encrypt(message, bound=1.5)
    assert x.dtype == np.complex128
    assert_close(session, x * x + 1j, message * message + 1j)
    assert_close(session, np.conj(x).sum(axis=0), message.conj().sum(axis=0))
    assert_close(session, x.var(), message.var())
    with pytest.raises(RangeError, match="Complex numbers cannot be compared"):
        x > 0  # noqa: B015


def test_polynomials(session: Session) -> None:
    x = session.encrypt(COLUMN)
    assert_close(session, session.poly(x, [0.5, 0, -1, 2]), 0.5 - COLUMN**2 + 2 * COLUMN**3)
    fit = np.polynomial.Chebyshev.interpolate(np.exp, 9, domain=[-2, 2])
    assert_close(session, session.chebyshev(2 * x, fit.coef, domain=fit.domain), np.exp(2 * COLUMN), 2.0**-12)
    with pytest.raises(RangeError, match="assume"):
        session.chebyshev(3 * x, fit.coef, domain=fit.domain)


@contextlib.contextmanager
def counted_refreshes(session: Session) -> Iterator[list[int]]:
    """The chunks of each refresh between operations; those inside of a comparison are the engine's."""
    calls: list[int] = []
    machine = session.machine
    refresh = machine.refresh

    def counted(chunks: Any, bound: float, real: bool) -> Any:
        calls.append(len(chunks))
        return refresh(chunks, bound, real)

    try:
        machine.refresh = counted  # type: ignore[method-assign]
        yield calls
    finally:
        del machine.refresh


def test_refreshes_by_themselves(session: Session) -> None:
    """As many as a program by hand: one for all chunks whenever levels run out, and none twice."""
    clear, x = np.abs(COLUMN), session.encrypt(np.abs(COLUMN), bound=(0, 1), level=2)
    with counted_refreshes(session) as calls:
        for _ in range(12):
            x = (3.5 * (x - x * x)).assume(bound=(0, 1))
            clear = 3.5 * (clear - clear * clear)
    after = session.machine.refreshed_level
    assert after is not None
    assert calls == [3] * -(-(2 * 12 - 2) // after)
    assert_close(session, x, clear, 2.0**-10)
    low = session.encrypt(COLUMN, level=0)
    first, second = low * low, low * low
    assert low.level == after
    assert first.level == second.level == after - 1
    assert low.refresh().level == after


@pytest.mark.parametrize(("level", "refreshes"), [(10, 1), (3, 0), (0, 2)])
def test_a_filter_refreshes_what_it_multiplies(engine: Engine, keys: KeySet, level: int, refreshes: int) -> None:
    """The filter of examples/column.py: what a comparison leaves at level 0 is refreshed once, for both products."""
    session = Session(engine, keys, alpha=6, error_bits=12)
    clear = np.where(np.abs(np.abs(COLUMN) - 0.6) < 0.02, 0.7, np.abs(COLUMN))
    x = session.encrypt(clear, bound=(0, 1), level=level)
    with counted_refreshes(session) as calls:
        square = x * x
        keep = (x > 0.6).assume(bound=(-0.01, 1.01))
        found = keep, keep * x, keep * square
    assert calls == [3] * refreshes
    for column, expected in zip(found, (clear > 0.6, (clear > 0.6) * clear, (clear > 0.6) * clear**2), strict=True):
        assert_close(session, column, expected.astype(float), 2.0**-12)


def test_never_refreshes_unasked(engine: Engine, keys: KeySet) -> None:
    session = Session(engine, keys, refresh="never")
    x = session.encrypt([0.5], level=0)
    with pytest.raises(LevelError, match="refresh"):
        x * x
    assert_close(session, x.refresh() ** 2, [0.25])


def test_bounds_grow_until_they_are_said(session: Session) -> None:
    x = session.encrypt(np.full(20, 0.5), level=1)
    huge = x * 1e6
    with pytest.raises(RangeError, match="assume"):
        huge * huge
    with pytest.raises(RangeError, match="bound"):
        session.encrypt([2.0])
    with pytest.raises(RangeError, match="bound"):
        session.encrypt([-0.5], bound=(0, 1))


@pytest.mark.parametrize(
    "call",
    [
        bool,
        float,
        int,
        complex,
        np.asarray,
        np.arccos,
        np.subtract.reduce,
        lambda x: x == x,
        lambda x: x != 1,
        lambda x: x[x > 0],
        lambda x: x**0.5,
        lambda x: x + "a",
        lambda x: x + None,
        lambda x: x * np.array(["a"]),
        lambda x: x @ None,
        lambda x: np.sum(x, dtype=np.float32),
        lambda x: np.add(x, 1, where=True),
        pickle.dumps,
        lambda x: x.session.decrypt(3),
        lambda x: x.session.encrypt("abc"),
        lambda x: x.session.encrypt(np.ma.masked_array([1.0])),
    ],
)
def test_what_needs_values_is_refused(session: Session, call: Callable[[Any], Any]) -> None:
    """Nothing is decrypted without a word, and nothing wrong comes out."""
    with pytest.raises(TypeError, match=r"\w+ \w+ \w+"):
        call(session.encrypt([0.5, 0.25]))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s: s.encrypt([]), RangeError),
        (lambda s: s.encrypt([np.nan]), RangeError),
        (lambda s: s.encrypt([[1, 0], [1]]), RangeError),
        (lambda s: s.encrypt([0.5], bound=0), RangeError),
        (lambda s: s.encrypt([0.5], bound="1"), TypeError),
        (lambda s: s.encrypt([0.5], level=99), LevelError),
        (lambda s: s.encrypt([0.5]) + np.ones(7)[:0], RangeError),
        (lambda s: s.encrypt([0.5, 1]) + np.ones(7), ValueError),
        (lambda s: s.encrypt([0.5, 1]) @ np.ones(3), RangeError),
        (lambda s: s.encrypt([0.5, 1]).sum(axis=1), RangeError),
        (lambda s: s.encrypt([0.5, 1]).var(ddof=2), RangeError),
        (lambda s: s.encrypt([0.5, 1])[5], IndexError),
        (lambda s: s.encrypt([0.5, 1])[1:1], RangeError),
        (lambda s: s.encrypt([0.5, 1]) / 0, ZeroDivisionError),
        (lambda s: 1 / s.encrypt([0.5, 1]), RangeError),
        (lambda s: s.encrypt(1) / s.encrypt([0.5, 1]), RangeError),
        (lambda s: Session(s.engine, s.keys, refresh="sometimes"), ParameterError),
        (lambda s: Session(s.engine, None), MissingKeyError),
        (lambda s: Session(None, s.keys), TypeError),
        (lambda s: s.encrypt([0.5]) + Session(s.engine, s.keys).encrypt([0.5]), KeyMismatchError),
    ],
)
def test_bad_input(session: Session, call: Callable[[Session], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call(session)


def test_missing_keys_are_named(engine: Engine) -> None:
    few = KeySet(engine, *(engine.create_keys(rotation=False, bootstrap=None).secret,))
    x = Session(engine, few).encrypt([0.5, 0.25], level=1)
    for call, word in [
        (lambda: x * x, "relinearization"),
        (lambda: x.sum(), "rotation"),
        (x.refresh, "relinearization"),
    ]:
        with pytest.raises(MissingKeyError, match=word):
            call()
    low = x * 0.5
    with pytest.raises(LevelError, match="create_keys"):
        low * 0.5


def test_keys_in_a_folder(engine: Engine, session: Session, tmp_path: Path) -> None:
    keys, folder = session.keys, tmp_path / "keys"
    keys.save(folder)
    assert stat.S_IMODE((folder / "secret.key").stat().st_mode) == 0o600
    server = KeySet.load(folder, engine)
    assert server.secret is None
    assert server.key_id == keys.key_id
    x = session.encrypt(TABLE)
    session.save(x, tmp_path / "x")
    there = Session(engine, server)
    doubled = 2 * there.load(tmp_path / "x") - 1
    with pytest.raises(MissingKeyError, match="secret"):
        there.decrypt(doubled)
    there.save(doubled, tmp_path / "doubled")
    owner = Session(engine, KeySet.load(folder, engine, secret=True))
    assert_close(owner, owner.load(tmp_path / "doubled"), 2 * TABLE - 1)
    with pytest.raises(FileExistsError):
        session.save(x, tmp_path / "x")
    # The preset of a folder passes the gate of every other.
    with pytest.raises(InsecureParametersError):
        KeySet.load(folder)
    with pytest.raises(KeyMismatchError, match="another secret"):
        engine.create_keys(bootstrap=None, rotation=False).save(folder)


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_level": 3},
        {"max_level": 3, "slot_count": 64},
        {"max_level": 1, "slot_count": 8192},
        {"log_coeff_count": 13, "special_prime_count": 1},
        {"preset": "levels-14"},
    ],
)
def test_a_folder_names_the_levels_of_its_engine(tmp_path: Path, arguments: dict[str, Any]) -> None:
    made = Engine(**arguments)
    keys = made.create_keys(bootstrap=None, rotation=False)
    keys.save(tmp_path)
    found = KeySet.load(tmp_path, secret=True)
    engine = found.engine
    assert (engine.preset, engine.max_level, engine.slot_count) == (made.preset, made.max_level, made.slot_count)
    read = engine.decrypt(made.encrypt([0.5, -0.25], keys.public), found.secret)
    assert np.allclose(read[:2], [0.5, -0.25], atol=1e-6)


def test_a_set_has_a_field_for_each_kind_of_key() -> None:
    others = ("engine", "seconds", "fhew_engine", "integers")
    fields = [field.name for field in dataclasses.fields(KeySet) if field.name not in others]
    assert fields == list(KINDS)
    assert set(SECRETS) == {name for name in fields if "secret" in name}


@pytest.mark.parametrize("max_level", ["3", None, True, 12])
def test_an_index_with_other_levels_is_refused(tmp_path: Path, max_level: Any) -> None:
    Engine(max_level=3).create_keys(bootstrap=None, rotation=False).save(tmp_path)
    change_index(tmp_path, max_level=max_level)
    with pytest.raises(SerializationError, match="save"):
        KeySet.load(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 1}', "[" * 100000])
def test_damaged_folders(session: Session, tmp_path: Path, text: str) -> None:
    for name in ("keys.json", "array.json"):
        (tmp_path / name).write_text(text)
    for call in (lambda: KeySet.load(tmp_path, session.engine), lambda: session.load(tmp_path)):
        with pytest.raises(SerializationError):
            call()
    with pytest.raises(SerializationError):
        KeySet.load(tmp_path / "nowhere", session.engine)


def test_a_file_outside_the_folder_is_no_key(engine: Engine, tmp_path: Path) -> None:
    engine.create_keys(bootstrap=None, rotation=False).save(tmp_path)
    change_index(tmp_path, keys=["public", "../secret"])
    with pytest.raises(SerializationError):
        KeySet.load(tmp_path, engine)


def test_pickles_hold_no_secret(keys: KeySet) -> None:
    with pytest.raises(TypeError, match="evaluation"):
        pickle.dumps(keys)
    assert "secret" not in repr(pickle.loads(pickle.dumps(keys.evaluation())))


def test_keys_are_forecast_first(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any is made."""
    made = []
    machine = {**_core.doctor(), "memory_available_bytes": 1000}
    monkeypatch.setattr(_core, "doctor", lambda: machine)
    monkeypatch.setattr(type(engine), "create_secret_key", lambda _: made.append(1))
    with pytest.raises(MemoryLimitError, match="medium"):
        engine.create_keys()
    assert not made


def test_plan_counts_what_runs(session: Session) -> None:
    """Levels and refreshes of the plan are those of the run; its error is not below what comes out."""

    def work(x: Any) -> Any:
        for _ in range(8):
            x = (3.5 * (x - x * x)).assume(bound=(0, 1))
        return x.reshape(-1, 13).sum(axis=0)

    plan = Session.plan(work, [1300], engine=session.engine, bounds=[(0, 1)])
    clear = np.abs(COLUMN)
    found = work(session.encrypt(clear, bound=(0, 1)))
    assert plan.level == found.level
    assert plan.refreshes == 3
    assert plan.rotations > 0
    assert plan.seconds > 0
    for _ in range(8):
        clear = 3.5 * (clear - clear * clear)
    error = np.abs(session.decrypt(found) - clear.reshape(-1, 13).sum(axis=0)).max()
    assert plan.bits <= -np.log2(error)
    assert "bootstraps" in str(plan)


def test_plan_of_the_real_size_needs_no_key() -> None:
    engine = Engine(use_bootstrap=True, mode="parallel")
    plan = Session.plan(lambda x: (x - x.mean()) ** 2, [(10**6,)], engine=engine)
    assert plan.level == engine.max_level - 2
    assert plan.refreshes == 0
    # 31 ciphertexts, and those that come of them.
    assert plan.ciphertext_bytes > 31 * 2**16 * 16 * 10
    assert 20 < plan.bits < 40


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.sampled_from([16, 64, 512]))
def test_places(shape: list[int], slots: int) -> None:
    """Every element has a slot of its own, rows that fit a chunk lie in one, and no chunk is empty."""
    index, count = spread(tuple(shape), slots)
    assert index.shape == tuple(shape)
    assert len(np.unique(index)) == index.size
    assert sorted(set((index // slots).ravel())) == list(range(count))
    if shape[-1] <= slots:
        assert (index // slots == index[..., :1] // slots).all()


@settings(deadline=None)
@given(
    st.floats(-3, 3),
    st.floats(0, 3),
    st.lists(st.floats(-2, 2), min_size=1, max_size=9),
    st.floats(0, 1),
    st.booleans(),
)
def test_polynomials_stay_in_their_interval(
    low: float, width: float, coefficients: list[float], at: float, chebyshev: bool
) -> None:
    if chebyshev:
        low, width = low / 3, min(width, 1 - low / 3)
    inside = Interval(low, low + width).polynomial(coefficients, chebyshev=chebyshev, real=True)
    basis = np.polynomial.chebyshev.chebval if chebyshev else np.polynomial.polynomial.polyval
    value = basis(low + at * width, coefficients)
    # Values reach 4e6, where the last bit of a double is 5e-10.
    rounding = 1e-9 * max(1, abs(value))
    assert inside.low - rounding <= value <= inside.high + rounding


@pytest.mark.parametrize("shape", [(16, 16), (12, 16), (16, 13), (31, 16)])
def test_elements_spread_over_rows(session: Session, shape: tuple[int, int]) -> None:
    """`x[:, None]` beside `x[None, :]`: two levels and a few rotations, whatever the number of elements."""
    rows = shape[0]
    x = np.random.default_rng(5).uniform(-1, 1, 16)
    index = np.arange(rows) % 16
    spread = session.encrypt(x)[index][:, None].broadcast_to(shape)
    assert_close(session, spread, np.broadcast_to(x[index][:, None], shape))


def test_a_table_of_all_pairs_takes_few_rotations(engine: Engine, session: Session) -> None:
    x = np.random.default_rng(6).uniform(-1, 1, 16)
    encrypted = session.encrypt(x)
    assert_close(session, encrypted[:, None] - encrypted[None, :].broadcast_to((16, 16)), x[:, None] - x)
    plan = Session.plan(lambda y: y[:, None].broadcast_to((128, 128)), [(128,)], engine=Engine(use_bootstrap=True))
    assert plan.rotations < 20


def test_order(engine: Engine, keys: KeySet) -> None:
    """Against numpy, for an array as it was encrypted and for one from a slice."""
    session = Session(engine, keys, alpha=8, error_bits=12)
    x = np.random.default_rng(8).permutation(64)[:20] / 32 - 1
    whole, part = session.encrypt(x[:16]), session.encrypt(x)[3:19]
    for encrypted, values in ((whole, x[:16]), (part, x[3:19])):
        assert np.abs(session.decrypt(np.sort(encrypted)) - np.sort(values)).max() < 1e-2
        assert abs(session.decrypt(np.argmax(encrypted)) - np.argmax(values)) < 0.1
        assert abs(session.decrypt(encrypted.argmin()) - np.argmin(values)) < 0.1
        assert abs(session.decrypt(np.max(encrypted)) - values.max()) < 1e-2
        assert abs(session.decrypt(encrypted.min()) - values.min()) < 1e-2
    for wrong in (session.encrypt(x), session.encrypt(np.tile(x[:16], 2)), 1j * whole):
        with pytest.raises(RangeError, match="at most 16"):
            np.sort(wrong)


@pytest.mark.parametrize(
    "values", [[0.5, 0.5, -0.25, 0.5], [0.25] * 8, [0, 1, 1, 0, 1, 2, 2, 2, 0, 1, 0, 0, 2, 1, 1, 1]]
)
def test_equal_values_are_in_order(engine: Engine, keys: KeySet, values: list[float]) -> None:
    """Each has a rank of its own; of places, the first one counts."""
    session = Session(engine, keys, alpha=6, error_bits=12)
    x, clear = session.encrypt(values, bound=2), np.array(values)
    assert_close(session, np.sort(x), np.sort(clear), 2.0**-9)
    assert_close(session, np.max(x), clear.max(), 2.0**-9)
    assert_close(session, np.min(x), clear.min(), 2.0**-9)
    assert_close(session, np.argmax(x), float(np.argmax(clear)), 2.0**-9)
    assert_close(session, np.argmin(x), float(np.argmin(clear)), 2.0**-9)


def test_an_engine_of_one_slot_has_keys_and_arrays(tmp_path: Path) -> None:
    """Nothing rotates there: its rotation key is empty, and had another id than the others."""
    engine = Engine(max_level=3, slot_count=1)
    engine.create_keys(matrix=True).save(tmp_path / "keys")
    keys = KeySet.load(tmp_path / "keys", engine, secret=True)
    assert keys.rotation is not None
    assert keys.rotation.key_id == keys.relinearization.key_id
    session = Session(engine, keys)
    x = session.encrypt([0.5])
    assert np.allclose(session.decrypt(x @ np.full((1, 1), 0.5)), 0.25, atol=1e-4)
    assert np.allclose(session.decrypt(x.sum()), 0.5, atol=1e-4)
