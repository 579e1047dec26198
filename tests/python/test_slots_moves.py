"""Elements in slots that move: views, broadcasts, joins, sums along axes, products of matrices; as numpy does it."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import EncryptedArray, EncryptedSlots, Session, SlotSession
from aglet.arrays import composed
from aglet.arrays.slots import doublings
from aglet.errors import AgletError, LevelError, MissingKeyError, ParameterError, RangeError
from mixed_sets import slots_engine, three

RANDOM = np.random.default_rng(29)
# Of 1,024 slots in two rows: within a row, over both, and in three ciphertexts.
SMALL = RANDOM.integers(0, 256, (5, 7)).astype(np.uint8)
TABLE = RANDOM.integers(-3, 4, (40, 60)).astype(np.int16)
VECTOR = RANDOM.integers(0, 4, 300).astype(np.int16)
FLAGS = RANDOM.integers(0, 2, (3, 50)).astype(bool)
LONG = RANDOM.integers(0, 256, 2500).astype(np.uint8)
PLACES = RANDOM.integers(-40, 40, (6, 20)), RANDOM.integers(-60, 60, (6, 20))

# Programs of a small array x, a table b, a vector v, booleans f and a long vector w.
VIEWS = [
    "x[2]", "x[-1, ::-2]", "x[[0, 0, 3], [1, 1, -2]]", "w[np.arange(2500) % 7 == 3]", "x[1, 2]", "x.T", "x[:, None]",
    "np.tile(x, (2, 2))", "np.flip(b, 1)", "np.repeat(x, 2, axis=1)", "np.roll(w, 100)", "(x > 9)[1:] & (x < 200)[1:]",
    "b.take([1, -1], 1)", "np.concatenate([x.ravel(), np.array([7, 1], np.uint8), v[:3]])", "np.stack([v, v[::-1]])",
    "np.append(x > 9, x[0] > 9)", "b.reshape(-1, 40).swapaxes(0, 1)", "x.ravel('F')",
    "np.split(x[:4], 2)[1]", "np.pad(x, 2)", "np.pad(x, 1, mode='edge')", "np.diag(v[:5])",
    "np.concatenate([f.ravel(), f[0] & f[1]])", "np.broadcast_to(v.sum(), (3, 2))",
]  # fmt: skip
MOVES = [
    "v[1:] - v[:-1]", "b + b[7]", "b - b[:, :1]", "v[:30, None] * v[None, 30:50]", "w.astype(int) + np.roll(w, 1)",
    "x[:, :5].astype(int) - x[:, :5].T", "v - v.sum()", "np.diff(v, prepend=3)", "np.diff(f, axis=0)",
    "v[3] * np.arange(4) + v[2]", "np.where(x > 100, x, x[:, ::-1])",
    "x[0] < x[1]", "np.broadcast_to(v[:3], (2, 3)) + np.arange(6).reshape(2, 3)", "f & f[::-1, ::2].repeat(2, 1)",
    "b[::2] + b[1::2]", "b[places] + np.arange(20)", "w[::50].astype(int) + w[7]", "x[[1, 1, 1]].astype(int) - x[0, 0]",
    "(v[:9] > 1) | (v[9:18] > 1)", "v.sum() - v[7] * b.sum()", "v.sum() * np.arange(3)", "b.T + b[:, 3]",
    "np.where(f[0], v[:50], v[50:100])", "np.where(np.arange(7) > 3, x, x[::-1])", "3 - x[1:3].astype(int) * x[0]",
]  # fmt: skip
SUMS = [
    "b.sum(axis=0)", "b.sum(-1, keepdims=True)", "b.sum(axis=(0, 1))", "b.T.sum(0)", "x[:, [0, 0, 2]].sum()",
    "b[places].sum(1)", "v[:80].reshape(2, 40).sum(1, dtype=np.uint8)",
    "np.repeat(v.sum(), 3).sum()", "f.sum(0)", "np.cumsum(f, axis=1)",
    "np.broadcast_to(v.sum(), (2, 3)).sum(1)", "v.cumsum()", "np.cumsum(b[:, :9], axis=0)", "np.cumsum(w > 200)",
    "f.any(0)", "f.all(axis=0, keepdims=True)", "b[:4].max(0)", "np.min(f, axis=0)", "f.prod(0)", "x[3, 3].sum(axis=0)",
    "np.count_nonzero(x, axis=1)", "(w > 9).sum()", "(v[:5] % 3).prod()", "x[:, None, :2].sum((0, 2), keepdims=True)",
]  # fmt: skip
PRODUCTS = [
    "b[:, :5] @ np.arange(5)", "b[:4, :3] @ np.arange(12).reshape(3, 4)", "np.arange(8).reshape(2, 4) @ b[:4, :3]",
    "b[:4, :6] @ b[:6, :3]", "np.dot(v, v)", "b[:, :20].dot(v[:20])", "v[:6] @ b[:6, :5]", "f[:2, :2] @ f[1:, :2]",
    "b[:2][None, :3, :4] @ b[:8].reshape(2, 4, 60)[:, :, :3]", "np.vdot(v, v)", "np.dot(v, 3)", "np.trace(b)",
    "np.arange(5) @ b[:5]", "b[:6].reshape(2, 3, 60) @ np.arange(60)", "np.ones((2, 2, 5), int) @ b[:5, :3]",
    "np.outer(v[:4], v[3:9])", "np.inner(b[:2], b[:3])", "np.einsum('ij,kj->ik', b[:2], b[:3])",
    "np.convolve(v[:20], [1, 2, -1])", "np.convolve(v[:20], v[:4], 'same')",
]  # fmt: skip


def run(program: str, arrays: Any) -> Any:
    return eval(program, {"np": np, "places": PLACES}, dict(zip("xbvfw", arrays, strict=True)))


@functools.cache
def encrypted() -> tuple[EncryptedSlots, ...]:
    own = three()
    bounds = (None, (-3, 3), (0, 3), None, None)
    clear = (SMALL, TABLE, VECTOR, FLAGS, LONG)
    return tuple(own.encrypt(x, representation="slots", bound=one) for x, one in zip(clear, bounds, strict=True))


@pytest.mark.parametrize("programs", [VIEWS, MOVES, SUMS, PRODUCTS], ids=["views", "moves", "sums", "products"])
def test_elements_move_as_in_numpy(programs: list[str]) -> None:
    own = three()
    for name in programs:
        wanted = np.asarray(run(name, (SMALL, TABLE, VECTOR, FLAGS, LONG)))
        found = run(name, encrypted())
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), name
        np.testing.assert_array_equal(own.decrypt(found), wanted, err_msg=name)
        low, high = found.bound
        assert low <= wanted.min() <= wanted.max() <= high, name


def test_what_views_and_moves_take() -> None:
    """A view takes nothing, whole rows that turn no level, and masks one."""
    x, b, v, *_ = encrypted()
    assert x[::2].numbers.digits[0][0] is x.numbers.digits[0][0]
    assert b[20:].numbers.shape == (1, 2)
    assert (x[::2] > 3).numbers is x[::2].numbers or (x[::2] > 3).numbers.same(x.numbers)
    assert (b[:8].sum(1).level, v.sum().level, v[:200].cumsum().level) == (7, 6, 6)
    assert (v[:299] + v[1:]).level == 8
    assert (b[:20, 0] + v[:20]).level == 7
    low = v.session.engine.mod_switch(v.numbers.digits[0][0], 1)
    last = v.replaced(replace(v.numbers, digits=([low],)), None, v.dtype)
    # The keys have a bootstrap, which a move takes then.
    found = last[:60] + b
    assert found.level == 7
    np.testing.assert_array_equal(three().decrypt(found), VECTOR[:60] + TABLE)


def test_floats_of_sums_along_axes() -> None:
    own = three()
    x = own.encrypt(SMALL[:2, :4], representation="slots") > 100
    wanted = SMALL[:2, :4] > 100
    np.testing.assert_allclose(own.decrypt(x.mean(axis=1)), wanted.mean(axis=1), atol=1e-3)
    np.testing.assert_allclose(own.decrypt(x.T[::-1].astype(np.float64)), wanted.T[::-1], atol=1e-3)
    np.testing.assert_allclose(own.decrypt(x.sum(0) * 0.5), wanted.sum(0) * 0.5, atol=1e-3)


def test_views_in_folders(tmp_path: Path) -> None:
    own = three()
    x, b, v, *_ = encrypted()
    for number, (found, wanted) in enumerate([(x[::2, 1:], SMALL[::2, 1:]), (v.sum(), VECTOR.sum()), (b.T, TABLE.T)]):
        own.save(found, tmp_path / str(number))
        loaded = own.load(tmp_path / str(number))
        np.testing.assert_array_equal(own.decrypt(loaded), wanted)
    own.save(b, tmp_path / "rows")
    np.testing.assert_array_equal(own.decrypt(own.load(tmp_path / "rows")), TABLE)
    # Version 1 had arrays in consecutive slots, whatever their shape.
    assert own.integers is not None
    flat = own.encrypt(TABLE.ravel(), representation="slots", bound=(-3, 3))
    straight = EncryptedSlots(own.integers, flat.numbers, None, flat.dtype, np.arange(TABLE.size).reshape(TABLE.shape))
    own.save(straight, tmp_path / "flat")
    assert '"version": 1' in (tmp_path / "flat" / "slots.json").read_text()
    old = own.load(tmp_path / "flat")
    np.testing.assert_array_equal(own.decrypt(old + b), 2 * TABLE)


def test_moves_without_keys_or_room_are_refused() -> None:
    own = three()
    x, b, _, _, w = encrypted()
    assert own.integers is not None
    keys = own.integers.keys
    still = SlotSession(slots_engine(), replace(keys, rotation=None))
    y = still.encrypt(VECTOR, bound=(0, 3))
    np.testing.assert_array_equal(still.decrypt(y[::-1] * 2), VECTOR[::-1] * 2)
    without = SlotSession(slots_engine(), replace(keys, bootstrap=None))
    z = without.encrypt(VECTOR, bound=(0, 3))
    low = without.engine.mod_switch(z.numbers.digits[0][0], 0)
    empty = z.replaced(replace(z.numbers, digits=([low],)), None, z.dtype)
    refused: list[tuple[Any, Any, str]] = [
        (lambda: y[1:] + y[:-1], MissingKeyError, r"rotation key.*create_keys\(rotation=True\)"),
        (lambda: y.sum(), MissingKeyError, "rotation key"),
        (lambda: empty[:9] + empty[::-1][:9], LevelError, "no bootstrap"),
        (lambda: x[5:].max(), RangeError, "no elements"),
        (lambda: x[9], IndexError, "does not fit"),
        (lambda: x[x > 3], TypeError, "is no index"),
        (lambda: x + b, RangeError, "shape"),
        (lambda: x.sum(axis=2), RangeError, "does not exist"),
        (lambda: np.real(x), TypeError, "digits"),
        (lambda: x @ b, RangeError, "no product"),
        (lambda: w.cumsum(), RangeError, "do not fit slots"),
        (lambda: x.cumsum(dtype=np.uint8), RangeError, "wider dtype"),
        (lambda: x.sum(dtype=bool), TypeError, r"x\.any"),
        (lambda: np.dot(x, b.reshape(2, 20, 60)), RangeError, "numpy.matmul"),
        (lambda: np.concatenate([x, still.encrypt(SMALL)]), AgletError, "two sessions"),
    ]  # fmt: skip
    for call, error, words in refused:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("function", sorted(composed.FUNCTIONS, key=lambda one: one.__name__), ids=lambda f: f.__name__)
def test_functions_that_others_make_up(function: Any) -> None:
    """Numbers of numpy, or a refusal with a sentence."""
    own = three()
    x, clear = encrypted()[2][:4], VECTOR[:4]
    more: dict[Any, Any] = {
        np.compress: lambda f, a: f([True, False, True, True], a), np.extract: lambda f, a: f([1, 0, 1, 1], a),
        np.append: lambda f, a: f(a, a[:2]), np.delete: lambda f, a: f(a, 1), np.resize: lambda f, a: f(a, (2, 3)),
        np.full_like: lambda f, a: f(a, 3), np.kron: lambda f, a: f(a, a[:2]), np.cross: lambda f, a: f(a[:3], a[1:]),
        np.tensordot: lambda f, a: f(a, a, 1), np.vdot: lambda f, a: f(a, a), np.correlate: lambda f, a: f(a, a[:2]),
        np.trace: lambda f, a: f(a.reshape(2, 2)), np.polyval: lambda f, a: f([1, 2], a),
    }  # fmt: skip
    if hasattr(np, "matrix_transpose"):
        more[np.matrix_transpose] = lambda f, a: f(a.reshape(2, 2))
    call = more.get(function, lambda f, a: f(a))
    try:
        found = call(function, x)
    except (AgletError, TypeError) as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        # Orders of wide numbers, and what sorts.
        assert function in (np.median, np.nanmedian, np.nanargmax, np.nanargmin, np.nanstd), refusal
        assert refusal[-1] == "."
        return
    wanted = call(function, clear)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        got = own.decrypt(one) if isinstance(one, EncryptedSlots | EncryptedArray) else one
        np.testing.assert_allclose(got, other, rtol=0, atol=1e-3 if isinstance(one, EncryptedArray) else 0)


def test_moves_over_two_rows_and_too_many_of_them() -> None:
    """Ciphertexts that turn as a whole move, and permutations of thousands are refused."""
    own = Session(slots_engine().create_keys(bootstrap=False))
    x = own.encrypt(np.arange(1500), bound=(0, 1500))
    turned = own.decrypt(x[:1200] - x[300:])
    np.testing.assert_array_equal(turned, np.full(1200, -300))
    with pytest.raises(ParameterError, match="different steps"):
        (
            own.encrypt(np.arange(9000), bound=(0, 9000))
            - own.encrypt(RANDOM.permutation(9000), bound=(0, 9000))[RANDOM.permutation(9000)]
        )


def test_a_plan_counts_what_moves_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels, bootstraps and rotations as they are on ciphertexts."""
    from aglet import Engine, FhewEngine, IntegerEngine

    engines: Any = {"engine": Engine(use_bootstrap=True), "fhew_engine": FhewEngine(bits=4)}
    beside = IntegerEngine(use_bootstrap=True)

    def taken(program: Any, length: int = 40) -> Any:
        def flags(x: Any) -> Any:
            return (program(x.astype(np.int64)) > 1).astype(np.float64)

        return Session.plan(flags, [(length,)], dtypes=[np.bool_], integer_engine=beside, **engines)

    still, turned, mixed = taken(lambda x: x), taken(lambda x: x[8:] + x[:-8]), taken(lambda x: x[:32].sum())
    assert (still.rotations, turned.rotations) == (0, 1)
    assert mixed.rotations >= 15
    # Elements of 300 rows, by the bits of their steps and, where levels are dear, by a mask for each step.
    bits = taken(lambda x: x.reshape(300, 3)[:, 1] + x[:300], 900)
    monkeypatch.setattr(doublings, "LEVEL", 1e6)
    masks = taken(lambda x: x.reshape(300, 3)[:, 1] + x[:300], 900)
    assert 10 < bits.rotations < masks.rotations
    assert bits.seconds < masks.seconds - 0.5


def test_counts_that_are_bootstrapped() -> None:
    """A masked sum that ended at level 1 had too much noise for the bootstrap that what follows needs."""
    own, clear = three(), np.array([17, 42, 80, 65, 18, 3, 64, 29], dtype=np.uint8)
    calls: list[Any] = [
        lambda x: (x == 1).sum() > 2, lambda x: (x == 1).sum() > (x == 2).sum(), lambda x: x.sum() // 3,
        lambda x: np.stack([(x == one).sum() for one in range(4)]).sum(),
    ]  # fmt: skip
    for call in calls:
        x = own.encrypt(clear, representation="slots") & 3
        found = call(x)
        assert found.dtype == np.asarray(call(clear & 3)).dtype
        assert own.decrypt(found) == call(clear & 3)
        assert own.decrypt((x == 0).sum().refresh()) == (clear & 3 == 0).sum()
    # Division alone would leave a factor, which a table of seven levels pays for: its bits go down no more.
    quotients = 109 // own.encrypt(clear, representation="slots")
    some = np.where(np.arange(8) % 2 == 0, quotients, 0)
    np.testing.assert_allclose(
        own.decrypt(some.mean()), np.where(np.arange(8) % 2 == 0, 109 // clear, 0).mean(), atol=0.01
    )


def test_views_of_counts_are_sums_of_floats() -> None:
    """A sum becomes a float as the sum of its terms, which have few bits; so do its elements in other shapes."""
    own, clear = three(), np.array([[17, 42, 80, 65], [18, 3, 64, 29]], dtype=np.uint8)
    calls: list[Any] = [
        lambda x: (x > 18).sum().reshape(1), lambda x: (x > 18).sum(axis=0)[::-1], lambda x: (x > 18).sum(axis=1)[1],
        lambda x: (x > 18).sum(axis=1, keepdims=True).T, lambda x: (x > 18).sum(axis=0).reshape(2, 2)[:, None, ::-1],
    ]  # fmt: skip
    for call in calls:
        found = call(own.encrypt(clear, representation="slots")).astype(np.float64)
        wanted = np.asarray(call(clear), dtype=np.float64)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(own.decrypt(found), wanted, atol=0.01)
