"""Steps of random programs on arrays: what may be done to some of them, for encrypted ones as for numpy's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fuzz.draws import Draws

__all__ = ["LENGTHS", "STEPS", "Pair", "Step", "numbers"]

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 16, 20, 32, 33, 40]
"""Of axes, some that divide 32 slots and some that do not, and longer ones."""
_DTYPES = ["float64", "float64", "float32", "float16", "bool", "uint8", "int8", "int16", "int64", "uint64", "complex64"]
MARGIN = 2.0**-4
"""Twice the distance that comparisons of alpha=5 leave undecided, for values of size 1."""


@dataclass(frozen=True)
class Pair:
    """An encrypted array and the same in the clear, with what the error may be."""

    encrypted: Any
    clear: Any
    error: float

    @property
    def size(self) -> float:
        return float(np.abs(self.clear).max())


@dataclass(frozen=True)
class Step:
    """A function of some pairs' arrays, and the error of what it makes of theirs."""

    text: str
    call: Callable[..., Any]
    pairs: tuple[Pair, ...]
    error: float
    """What was there is made larger to; the runner adds the noise of the step itself."""
    slack: float = 0.0
    """That the step is off by in any case, as comparisons are."""


def numbers(draw: Draws, shape: tuple[int, ...], low: float, high: float) -> Any:
    """Of a drawn seed: one draw for each number would take too long."""
    random = np.random.default_rng(draw.integer(0, 2**16))
    return random.uniform(low, high, shape)


def _plain(draw: Draws, shape: tuple[int, ...]) -> Any:
    """Numbers that are no secret, of a drawn dtype: an array, a list, or one of numpy's or Python's."""
    dtype = np.dtype(draw.one_of(_DTYPES))
    wide = {"b": (0, 2), "u": (0, 4), "i": (-3, 4)}.get(dtype.kind, (-1.5, 1.5))
    values = numbers(draw, shape, *wide)
    if dtype.kind == "c":
        values = values + 1j * numbers(draw, shape, -1, 1)
    array = np.floor(values).astype(dtype) if dtype.kind in "bui" else values.astype(dtype)
    kind = draw.one_of(["array", "array", "list", "F"])
    if not shape:
        return draw.one_of([array[()], array.item(), array])
    return array.tolist() if kind == "list" else np.asfortranarray(array) if kind == "F" else array


def _beside(draw: Draws, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with another: some axes 1, some left out, some added, some longer."""
    longer = [1, 1, 2, 3, 5, 8]
    kept = tuple(draw.one_of(longer) if length == 1 else 1 if draw.integer(0, 3) == 0 else length for length in shape)
    kept = kept[draw.integer(0, len(kept)) :]
    more = (draw.one_of([1, 2, 3]),) if draw.integer(0, 3) == 0 and len(kept) == len(shape) else ()
    return more + kept


def _with_plain(draw: Draws, pairs: list[Pair]) -> Step:
    x = draw.one_of(pairs)
    y = _plain(draw, _beside(draw, x.clear.shape))
    size = float(np.abs(np.asarray(y).astype(complex)).max())
    text, call, error = draw.one_of(
        [
            ("x + y", lambda a: a + y, x.error),
            ("y + x", lambda a: y + a, x.error),
            ("x - y", lambda a: a - y, x.error),
            ("y - x", lambda a: y - a, x.error),
            ("x * y", lambda a: a * y, x.error * size),
            ("y * x", lambda a: y * a, x.error * size),
            ("np.subtract(y, x)", lambda a: np.subtract(y, a), x.error),
            ("np.multiply(y, x)", lambda a: np.multiply(y, a), x.error * size),
            ("np.add(x, y)", lambda a: np.add(a, y), x.error),
            ("x += y", lambda a: _in_place(operator.iadd, a, y), x.error),
            ("x *= y", lambda a: _in_place(operator.imul, a, y), x.error * size),
            ("np.true_divide(x, y)", lambda a: np.true_divide(a, _divisor(y)), 2 * x.error),
            (
                "x / (1 + y * y)",
                lambda a: a / (1 + abs(np.asarray(y, np.float64 if np.isrealobj(y) else complex)) ** 2),
                x.error,
            ),
        ]
    )
    return Step(f"{text} with y = {_shown(y)}", call, (x,), error)


def _in_place(operation: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """On a new name, and in numpy's case on doubles that have room for the result, as encrypted arrays never change."""
    if isinstance(x, np.ndarray | np.generic):
        shape = np.broadcast_shapes(x.shape, np.shape(y))
        kind = complex if np.iscomplexobj(x) or np.iscomplexobj(y) else float
        x = np.broadcast_to(x, shape).astype(kind)
        y = np.asarray(y).astype(kind)
    return operation(x, y)


def _divisor(y: Any) -> Any:
    """Numbers of size 1/2 at least."""
    wide = np.asarray(y).astype(complex if np.iscomplexobj(y) else float)
    return np.where(np.abs(wide) < 0.5, 0.5, wide)


def _with_encrypted(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), draw.one_of(pairs)
    across = x.error * y.size + y.error * x.size + x.error * y.error
    text, call, error = draw.one_of(
        [
            ("x + y", lambda a, b: a + b, x.error + y.error),
            ("x - y", lambda a, b: a - b, x.error + y.error),
            ("x * y", lambda a, b: a * b, across),
            ("np.add(x, y)", np.add, x.error + y.error),
            ("np.multiply(y, x)", lambda a, b: np.multiply(b, a), across),
            ("x - y.mean()", lambda a, b: a - b.mean(), x.error + y.error),
            ("sum([x, y, x])", lambda a, b: sum([a, b, a]), 2 * x.error + y.error),
        ]
    )
    return Step(text, call, (x, y), error)


def _alone(draw: Draws, pairs: list[Pair]) -> Step:
    x = draw.one_of(pairs)
    cubed = 3 * (x.size + x.error) ** 2 * x.error
    text, call, error = draw.one_of(
        [
            ("-x", lambda a: -a, x.error),
            ("x * x", lambda a: a * a, 2 * x.error * x.size + x.error**2),
            ("np.square(x)", np.square, 2 * x.error * x.size + x.error**2),
            ("x ** 3", lambda a: a**3, cubed),
            ("np.conj(x)", np.conj, x.error),
            ("3 * x", lambda a: 3 * a, 3 * x.error),
            ("x / 4", lambda a: a / 4, x.error),
            ("+x", lambda a: +a, x.error),
            ("np.negative(x)", np.negative, x.error),
            ("np.power(x, 2)", lambda a: np.power(a, 2), 2 * x.error * x.size + x.error**2),
            ("x ** 1", lambda a: a**1, x.error),
            ("np.stack(list(x))", lambda a: np.stack(list(a)), x.error),
        ]
    )
    return Step(text, call, (x,), error)


def _axes(draw: Draws, shape: tuple[int, ...]) -> Any:
    count = len(shape)
    if not count or draw.flag():
        return None
    axes = _unique([draw.integer(-count, count - 1) for _ in range(draw.integer(1, count))], count)
    return axes[0] if len(axes) == 1 else tuple(axes)


def _unique(axes: list[int], count: int) -> list[int]:
    """Each axis once, as it was named first."""
    return list({axis % count: axis for axis in reversed(axes)}.values())


def _sums(draw: Draws, pairs: list[Pair]) -> Step:
    x, keep = draw.one_of(pairs), draw.flag()
    axis = _axes(draw, x.clear.shape)
    name = draw.one_of(["sum", "mean", "var"])
    more = {"ddof": 1} if name == "var" and draw.flag() else {}
    count = x.clear.size // max(1, np.sum(x.clear, axis=axis).size)
    error = {"sum": count * x.error, "mean": x.error, "var": 4 * x.error * x.size + 2 * x.error**2}[name]
    if more:
        # numpy divides by zero, and says so in a warning only.
        more = more if count > 1 else {}
        error *= 2
    method = draw.flag()

    def call(a: Any) -> Any:
        if method:
            return getattr(a, name)(axis=axis, keepdims=keep, **more)
        return getattr(np, name)(a, axis=axis, keepdims=keep, **more)

    return Step(f"x.{name}(axis={axis}, keepdims={keep}, {more})", call, (x,), error)


def _key(draw: Draws, shape: tuple[int, ...]) -> Any:
    """An index of numpy: slices, numbers, lists with repeats and negative ones, masks, new axes."""
    parts: list[Any] = []
    fancy = False
    special = draw.integer(0, 9)
    if special == 0:
        # A mask of the whole shape.
        random = np.random.default_rng(draw.integer(0, 2**16))
        chosen = random.uniform(0, 1, shape) < 0.5
        chosen.flat[random.integers(chosen.size)] = True
        return chosen
    if special == 1 and len(shape) > 1:
        # One element for each of several pairs, and what numpy makes of such lists that stand apart.
        random = np.random.default_rng(draw.integer(0, 2**16))
        first, last = random.integers(-shape[0], shape[0], (2, 1)), random.integers(-shape[-1], shape[-1], 3)
        return (first, ..., last)
    if special == 2 and shape:
        return (..., draw.integer(-shape[-1], shape[-1] - 1))
    for length in shape[: draw.integer(0, len(shape))]:
        kind = draw.one_of(["slice", "slice", "number", "list", "mask", "new"])
        if kind == "new":
            parts.append(None)
        if kind in ("list", "mask") and fancy:
            kind = "slice"
        if kind == "number":
            parts.append(draw.integer(-length, length - 1))
        elif kind == "list":
            fancy = True
            parts.append(draw.several(partial(draw.integer, -length, length - 1), 1, 6))
        elif kind == "mask":
            fancy = True
            random = np.random.default_rng(draw.integer(0, 2**16))
            mask = random.uniform(0, 1, length) < 0.6
            mask[random.integers(length)] = True
            parts.append(mask)
        else:
            first, last = (None if draw.flag() else draw.integer(-length, length) for _ in range(2))
            step = draw.one_of([None, None, 1, 2, 3, -1, -2])
            parts.append(slice(first, last, step))
    return tuple(parts)


def _view(draw: Draws, pairs: list[Pair]) -> Step:
    x = draw.one_of(pairs)
    if draw.integer(0, 2):
        key = _key(draw, x.clear.shape)
        return Step(f"x[{_shown(key)}]", lambda a: a[key], (x,), x.error)
    if draw.flag():
        return _along(draw, x)
    shift, factors = draw.integer(-9, 9), _factored(draw, x.clear.size)
    text, call = draw.one_of(
        [
            ("x.T", lambda a: a.T),
            ("x.ravel()", lambda a: a.ravel()),
            (f"x.reshape({factors})", lambda a: a.reshape(factors)),
            (f"np.roll(x, {shift})", lambda a: np.roll(a, shift)),
            ("np.flip(x)", np.flip),
            ("np.repeat(x, 2)", lambda a: np.repeat(a, 2)),
            (f"np.take(x, [{shift}, 0], mode='wrap')", lambda a: np.take(a, [shift, 0], mode="wrap")),
            ("np.tile(x, 2)", lambda a: np.tile(a, 2)),
            ("x[..., None]", lambda a: a[..., None]),
            ("np.tile(x, (2, 1))", lambda a: np.tile(a, (2, 1))),
            ("x.flatten()", lambda a: a.flatten()),
            ("np.ravel(x, order='F')", lambda a: np.ravel(a, order="F")),
            (f"np.reshape(x, {factors}, order='F')", lambda a: np.reshape(a, factors, order="F")),
            ("np.squeeze(x)", np.squeeze),
            ("np.expand_dims(x, 0)", lambda a: np.expand_dims(a, 0)),
            ("np.diagonal(x)", np.diagonal),
            ("np.broadcast_to(x, (3, ...))", lambda a: np.broadcast_to(a, (3, *a.shape))),
        ]
    )
    return Step(text, call, (x,), x.error)


def _along(draw: Draws, x: Pair) -> Step:
    """Views along axes, that there are or are not."""
    one, other = draw.integer(-3, 2), draw.integer(-3, 2)
    shift = draw.integer(-9, 9)
    length = x.clear.shape[one] if -x.clear.ndim <= one < x.clear.ndim else 1
    counts = [(i + shift) % 3 for i in range(length)]
    text, call = draw.one_of(
        [
            (f"np.roll(x, {shift}, {one})", lambda a: np.roll(a, shift, one)),
            (f"np.roll(x, ({shift}, 1), ({one}, {other}))", lambda a: np.roll(a, (shift, 1), (one, other))),
            (f"np.flip(x, {one})", lambda a: np.flip(a, one)),
            (f"np.repeat(x, 2, {one})", lambda a: np.repeat(a, 2, axis=one)),
            (f"np.repeat(x, {counts}, {one})", lambda a: np.repeat(a, counts, axis=one)),
            (f"np.take(x, [0, {shift}, 0], {one})", lambda a: np.take(a, [0, shift, 0], axis=one)),
            (f"np.take(x, {shift}, {one}, mode='clip')", lambda a: np.take(a, shift, axis=one, mode="clip")),
            (f"np.swapaxes(x, {one}, {other})", lambda a: np.swapaxes(a, one, other)),
            (f"np.moveaxis(x, {one}, {other})", lambda a: np.moveaxis(a, one, other)),
            (f"np.squeeze(x, {one})", lambda a: np.squeeze(a, one)),
            (f"np.expand_dims(x, ({one}, {other}))", lambda a: np.expand_dims(a, (one, other))),
            (f"np.diagonal(x, {shift}, {one}, {other})", lambda a: np.diagonal(a, shift, one, other)),
            (f"np.transpose(x, ({one}, {other}))", lambda a: np.transpose(a, (one, other))),
        ]
    )
    return Step(text, call, (x,), x.error)


def _factored(draw: Draws, size: int) -> tuple[int, ...]:
    divisors = [one for one in range(1, size + 1) if size % one == 0]
    first = draw.one_of(divisors)
    return (first, size // first) if draw.flag() else (first, -1, 1)


def _join(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), draw.one_of(pairs)
    axis = draw.integer(-2, 1)
    plain = np.asarray(_plain(draw, x.clear.shape))
    text, call = draw.one_of(
        [
            (f"np.concatenate([x, y], {axis})", lambda a, b: np.concatenate([a, b], axis)),
            (f"np.concatenate([x, plain], {axis})", lambda a, b: np.concatenate([a, plain], axis=axis)),
            ("np.concatenate([x, y], None)", lambda a, b: np.concatenate([a, b], axis=None)),
            (f"np.stack([x, x, -x], {axis})", lambda a, b: np.stack([a, a, -a], axis=axis)),
            (f"np.stack([plain, x], {axis})", lambda a, b: np.stack([plain, a], axis=axis)),
            ("np.vstack([x, y])", lambda a, b: np.vstack([a, b])),
            ("np.hstack([x, y])", lambda a, b: np.hstack([a, b])),
            ("np.hstack([plain, x])", lambda a, b: np.hstack([plain, a])),
            ("np.vstack([x, plain])", lambda a, b: np.vstack([a, plain])),
            (f"np.concatenate([x[:1], y, x[1:]], {axis})", lambda a, b: np.concatenate([a[:1], b, a[1:]], axis)),
        ]
    )
    return Step(f"{text} with plain = {_shown(plain)}", call, (x, y), max(x.error, y.error))


def _product(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), draw.one_of(pairs)
    last = x.clear.shape[-1] if x.clear.ndim else 1
    first = x.clear.shape[max(0, x.clear.ndim - 2)] if x.clear.ndim else 1
    wide = draw.one_of([1, 2, 3, 8, 40])
    right, left = _plain(draw, (last, wide)), _plain(draw, (wide, first))
    vector, row = _plain(draw, (last,)), _plain(draw, (first,))
    both = last * (x.error * y.size + y.error * x.size + x.error * y.error)
    # Products of all rows with all rows of large arrays take seconds.
    few = x.clear.size * y.clear.size <= 2**13

    def sums(plain: Any, axis: int) -> float:
        return x.error * float(np.abs(np.asarray(plain).astype(complex)).sum(axis=axis).max())

    text, call, error = draw.one_of(
        [
            ("x @ plain", lambda a, b: a @ np.asarray(right), sums(right, 0)),
            ("plain @ x", lambda a, b: np.asarray(left) @ a, sums(left, 1)),
            ("x @ vector", lambda a, b: a @ np.asarray(vector), sums(vector, 0)),
            ("vector @ x", lambda a, b: np.asarray(row) @ a, sums(row, 0)),
            ("np.dot(x, vector)", lambda a, b: np.dot(a, vector), sums(vector, 0)),
            ("np.dot(x, 2.0)", lambda a, b: np.dot(a, 2.0), 2 * x.error),
            ("x @ 2.0", lambda a, b: a @ 2.0, x.error),
            ("np.inner(x, plain)", lambda a, b: np.inner(a, np.asarray(right).T), sums(right, 0)),
            ("np.inner(plain, x)", lambda a, b: np.inner(np.asarray(right).T, a), sums(right, 0)),
            ("np.dot(plain, x)", lambda a, b: np.dot(np.asarray(left), a), sums(left, 1)),
            ("np.matmul(x, plain)", lambda a, b: np.matmul(a, np.asarray(right)), sums(right, 0)),
            ("np.matmul(plain, x)", lambda a, b: np.matmul(np.asarray(left), a), sums(left, 1)),
            ("x @ list", lambda a, b: a @ np.asarray(vector).tolist(), sums(vector, 0)),
        ]
        + [
            ("np.inner(x, y)", lambda a, b: np.inner(a, b), both),
            ("x @ y", lambda a, b: a @ b, both),
            ("x.dot(y)", lambda a, b: a.dot(b), both),
        ]
        * few
    )
    return Step(f"{text} with {wide} columns", call, (x, y), error)


def _choice(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), draw.one_of(pairs)
    condition, plain = _plain(draw, _beside(draw, x.clear.shape)), _plain(draw, _beside(draw, x.clear.shape))
    text, call, error = draw.one_of(
        [
            ("np.where(c, x, y)", lambda a, b: np.where(condition, a, b), max(x.error, y.error)),
            ("np.where(c, x, plain)", lambda a, b: np.where(condition, a, plain), x.error),
            ("np.where(c, plain, x)", lambda a, b: np.where(condition, plain, a), x.error),
            ("np.where(c, x, -x)", lambda a, b: np.where(condition, a, -a), x.error),
        ]
    )
    return Step(f"{text} with c = {_shown(condition)}, plain = {_shown(plain)}", call, (x, y), error)


def _compared(draw: Draws, pairs: list[Pair]) -> Step:
    """Away from what is undecided: the distance of values that are compared is a part of their range at least."""
    x = draw.one_of(pairs)
    if np.iscomplexobj(x.clear):
        return Step("x > 0", lambda a: a > 0, (x,), 0.0)
    factor = 1 << max(0, math.ceil(math.log2(max(1.0, 2 * float(x.encrypted.bound) + 2))))
    apart = MARGIN * factor
    other = numbers(draw, _beside(draw, x.clear.shape), -1, 1)
    shape = np.broadcast_shapes(np.shape(x.clear), np.shape(other))
    distance = x.clear - other
    other = x.clear - np.where(np.abs(distance) < apart, np.where(distance < 0, -apart, apart), distance)
    assert other.shape == shape
    decided = np.abs(x.clear).min() >= apart
    slack = 2.0**-9 * factor
    calls = [
        ("np.maximum(x, other)", lambda a: np.maximum(a, other)),
        ("np.minimum(other, x)", lambda a: np.minimum(other, a)),
        ("x > other", lambda a: (a > other) * 1.0),
        ("np.less(x, other)", lambda a: np.less(a, other) * 1.0),
        ("np.where(x > other, x, other)", lambda a: np.where(a > other, a, other)),
        ("other >= x", lambda a: (other >= a) * 1.0),
        ("x <= other", lambda a: (a <= other) * 1.0),
        ("np.greater_equal(x, other)", lambda a: np.greater_equal(a, other) * 1.0),
        ("np.greater(other, x)", lambda a: np.greater(other, a) * 1.0),
        ("np.clip(x, other, other + 3)", lambda a: np.clip(a, other, other + 3)),
        ("np.where(x < other, 1, 0).sum()", lambda a: np.where(a < other, 1, 0).sum(axis=-1) / max(1, shape[-1])),
    ]
    if decided:
        calls += [("abs(x)", abs), ("np.sign(x)", np.sign), ("np.clip(x, 0, None)", lambda a: np.clip(a, 0, None))]
    text, call = draw.one_of(calls)
    # A polynomial of the sign is steep where values are as near as may be.
    return Step(f"{text}, {apart:.3g} apart", call, (x,), 32 * x.error * (1 + x.size), slack * (1 + x.size))


def _ordered(draw: Draws, pairs: list[Pair]) -> Step:
    """Sort and its like of a vector of values apart from one another, some of them equal, in places of many kinds."""
    session = draw.one_of(pairs).encrypted.session
    count = draw.one_of([1, 2, 4] if session.slots < 256 else [2, 4, 8])
    random = np.random.default_rng(draw.integer(0, 2**16))
    values = random.choice(np.linspace(-0.9, 0.9, 8), 2 * count)
    moves: list[tuple[str, Callable[[Any], Any]]] = [
        ("as it is", lambda a: a[:count]),
        ("every other", lambda a: a[::2]),
        ("backwards", lambda a: a[::-1][:count]),
        ("a column", lambda a: a.reshape(count, 2)[:, 1]),
        ("with repeats", lambda a: a[[0] * count]),
    ]
    way, move = draw.one_of(moves)
    text, call = draw.one_of(
        [
            ("np.sort(x)", np.sort),
            ("np.argmax(x)", np.argmax),
            ("x.argmin()", lambda a: a.argmin()),
            ("x.max()", lambda a: a.max()),
            ("np.min(x)", np.min),
            ("np.sort(x)[::-1][:2]", lambda a: np.sort(a)[::-1][:2]),
        ]
    )
    x = Pair(session.encrypt(values), values, 2.0**-22)
    return Step(f"{text} of {count}, {way}", lambda a: call(move(a)), (x,), 0.0, 2.0**-6 * max(1, count - 1))


def _function(draw: Draws, pairs: list[Pair]) -> Step:
    """Polynomials, and matrices that are encoded once: the session's own functions, and numpy's of the same."""
    x = draw.one_of(pairs)
    session, low, high = x.encrypted.session, x.encrypted.interval.low, x.encrypted.interval.high
    coefficients = draw.several(lambda: draw.integer(-64, 64) / 64, 1, 9)
    kept = session.encode_matrix(numbers(draw, (x.clear.shape[-1] if x.clear.ndim else 1, 3), -1, 1))
    domain = (low - 0.25, high + 0.25)
    slope = sum(abs(c) * k * max(1.0, x.size + 0.1) ** (k - 1) for k, c in enumerate(coefficients))
    steep = sum(abs(c) * k * k for k, c in enumerate(coefficients)) * 2 / (high - low + 0.5)

    def in_session(a: Any, own: Callable[[Any], Any], clear: Callable[[Any], Any]) -> Any:
        return own(a) if a is x.encrypted else clear(a)

    def power(a: Any) -> Any:
        return in_session(
            a, lambda b: session.poly(b, coefficients), lambda b: np.polynomial.Polynomial(coefficients)(b)
        )

    def chebyshev(a: Any) -> Any:
        return in_session(
            a,
            lambda b: session.chebyshev(b, coefficients, domain=domain),
            lambda b: np.polynomial.Chebyshev(coefficients, domain=domain)(b),
        )

    def matrix(a: Any) -> Any:
        return in_session(a, lambda b: b @ kept - (b @ kept) * 0.5, lambda b: b @ kept.entries * 0.5)

    text, call, error = draw.one_of(
        [
            (f"poly {coefficients}", power, x.error * slope),
            (f"chebyshev {coefficients} on {domain}", chebyshev, x.error * steep),
            ("encoded matrix", matrix, 3 * x.error * float(np.abs(kept.entries).sum(axis=0).max())),
        ]
    )
    return Step(text, call, (x,), error)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{value.shape}"
    if isinstance(value, tuple):
        return ", ".join("mask" if isinstance(part, np.ndarray) else str(part) for part in value)
    return f"list{np.shape(value)}" if isinstance(value, list) else repr(value)


STEPS: dict[str, Callable[[Draws, list[Pair]], Step]] = {
    "plain": _with_plain,
    "encrypted": _with_encrypted,
    "alone": _alone,
    "sums": _sums,
    "view": _view,
    "join": _join,
    "product": _product,
    "choice": _choice,
    "compared": _compared,
    "ordered": _ordered,
    "function": _function,
}
