"""More steps of random programs on arrays: functions of numpy that are fitted, products over axes, moves, orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.array_steps import Pair, Step
from fuzz.draws import Draws

__all__ = ["FUNCTIONS", "arranged"]

FIT = 2.0**-19
"""What a fit and the noise of its polynomial leave, relative to the largest value."""


def _real(draw: Draws, pairs: list[Pair]) -> Pair | None:
    real = [one for one in pairs if one.encrypted.is_real]
    return draw.one_of(real) if real else None


def _nothing(pairs: list[Pair]) -> Step:
    return Step("nothing", lambda a: a + 0, (pairs[0],), pairs[0].error)


def _smooth(draw: Draws, pairs: list[Pair]) -> Step:
    """Of a real array, moved to where the function is smooth."""
    x = _real(draw, pairs)
    if x is None:
        return _nothing(pairs)
    low, high = x.encrypted.interval.low, x.encrypted.interval.high
    up, width = draw.one_of([0.25, 0.5, 1, 2]) - low, high - low
    narrow = 3 / max(1.0, x.encrypted.bound)
    session = x.encrypted.session

    def own(a: Any) -> Any:
        return session.function(a, np.arctan, bits=16) if a is x.encrypted else np.arctan(a)

    text, call, alone, move, factor = draw.one_of(
        [
            ("sqrt", np.sqrt, np.sqrt, up, 1.0),
            ("log", np.log, np.log, up, 1.0),
            ("exp", np.exp, np.exp, 0.0, narrow),
            ("tanh", np.tanh, np.tanh, 0.0, 1.0),
            ("sin", np.sin, np.sin, 0.0, 1.0),
            ("reciprocal", np.reciprocal, np.reciprocal, up, 1.0),
            ("2 / x", lambda a: 2 / a, lambda a: 2 / a, up, 1.0),
            ("1 / -x", lambda a: 1 / -a, lambda a: -1 / a, up, 1.0),
            ("log1p", np.log1p, np.log1p, up, 1.0),
            ("arctan of 16 bits", own, np.arctan, 0.0, 1.0),
        ]
    )
    # Of a narrower range they would not be different numbers.
    points = np.linspace(low * factor + move, max(high, low + 2.0**-20) * factor + move, 4096)
    values = alone(points)
    steep = float(np.abs(np.gradient(values, points)).max())
    error = 2 * steep * factor * (x.error + 2.0**-20 * max(1.0, width, x.encrypted.bound))
    slack = (2.0**-15 if call is own else FIT) * max(1.0, float(np.abs(values).max()))
    if call is own:
        return Step(text, call, (x,), error, slack)
    return Step(f"{text} of {factor} x + {move}", lambda a: call(a * factor + move), (x,), error, slack)


def _quotient(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), _real(draw, pairs)
    if y is None:
        return _nothing(pairs)
    up = draw.one_of([0.5, 1, 3]) - y.encrypted.interval.low
    text, call = draw.one_of(
        [
            ("x / (y + up)", lambda a, b: a / (b + up)),
            ("np.true_divide(x, y + up)", lambda a, b: np.true_divide(a, b + up)),
            ("x / y as it is", lambda a, b: a / b),
        ]
    )
    near = min(up + y.encrypted.interval.low, 0.5)
    error = x.error / near + 2 * x.size * (y.error + 2.0**-19 * max(1.0, y.encrypted.bound)) / near**2
    return Step(f"{text}, up = {up}", call, (x, y), error, FIT * max(1.0, x.size) / near)


def _deviation(draw: Draws, pairs: list[Pair]) -> Step:
    x = _real(draw, pairs)
    if x is None:
        return _nothing(pairs)
    axis = draw.one_of([None, None, *range(-x.clear.ndim, x.clear.ndim)])
    keep, ddof = draw.flag(), draw.one_of([0, 0, 1, 0.5])
    count = x.clear.size // max(1, np.sum(x.clear, axis=axis).size)
    with np.errstate(all="ignore"):
        clear = np.std(x.clear, axis=axis, ddof=ddof) if count > ddof else np.zeros(1)
    if clear.min() < 0.1:
        return _nothing(pairs)
    bound = (float(clear.min()) * 0.9, float(clear.max()) * 1.1)
    gain = count / (count - ddof)

    def call(a: Any) -> Any:
        more = {"bound": bound} if a is x.encrypted else {}
        return a.std(axis, ddof=ddof, keepdims=keep, **more)

    of_variance = gain * (4 * x.error * x.size + 2 * x.error**2 + 2.0**-19 * max(1.0, x.encrypted.bound**2))
    error = 2 * of_variance / (2 * bound[0])
    return Step(f"x.std({axis}, ddof={ddof}, keepdims={keep}, {bound})", call, (x,), error, FIT * max(1.0, bound[1]))


def _labels(draw: Draws, shapes: list[tuple[int, ...]]) -> str:
    """A pattern of einsum, whose letters have one length each, more or less."""
    lengths: dict[str, int] = {}
    inputs = []
    for shape in shapes:
        dots = len(shape) > 1 and draw.integer(0, 5) == 0
        labels = ""
        for length in shape[1:] if dots else shape:
            fitting = [one for one, known in lengths.items() if known == length]
            if fitting and draw.integer(0, 2):
                labels += draw.one_of(fitting)
            else:
                lengths["abcdefghijkl"[len(lengths)]] = length
                labels += list(lengths)[-1]
        inputs.append(("..." if dots else "") + labels)
    text = ",".join(inputs)
    if draw.integer(0, 3) == 0:
        return text
    wanted = draw.several(lambda: draw.one_of([*lengths, "a"]), 0, 4)
    if draw.integer(0, 9):
        wanted = list(dict.fromkeys(wanted))
    return f"{text}->{'...' if '...' in text else ''}{''.join(wanted)}"


def _contraction(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), draw.one_of(pairs)
    last = x.clear.shape[-1:] or (1,)
    if x.clear.size * max(y.clear.size, 4 * last[0]) > 2**12:
        return _nothing(pairs)
    pattern, alone = _labels(draw, [x.clear.shape, y.clear.shape]), _labels(draw, [x.clear.shape])
    random = np.random.default_rng(draw.integer(0, 2**16))
    stack = random.uniform(-1, 1, (2, *last, 2))
    text, call = draw.one_of(
        [
            ("x @ y", lambda a, b: a @ b),
            ("x @ x.T", lambda a, b: a @ a.T),
            ("x.T @ x", lambda a, b: a.T @ a),
            ("np.matmul(x, y[..., None])", lambda a, b: np.matmul(a, b[..., None])),
            ("x[:, None] @ y", lambda a, b: a[:, None] @ b),
            ("x @ stack", lambda a, b: a @ stack),
            ("stack.T @ y", lambda a, b: stack.T @ b),
            ("np.dot(x, y)", np.dot),
            ("np.dot(x, y.T)", lambda a, b: np.dot(a, b.T)),
            ("np.dot(x, stack)", lambda a, b: np.dot(a, stack)),
            ("np.inner(x, y)", np.inner),
            ("np.inner(x, stack.T)", lambda a, b: np.inner(a, stack.T)),
            ("np.outer(x, y)", np.outer),
            ("np.outer(x, stack)", lambda a, b: np.outer(a, stack)),
            (f"np.einsum({pattern!r}, x, y)", lambda a, b: np.einsum(pattern, a, b)),
            (f"np.einsum({pattern!r}, x, plain)", lambda a, b: np.einsum(pattern, a, np.ones(y.clear.shape))),
            (f"np.einsum({alone!r}, x)", lambda a, b: np.einsum(alone, a)),
        ]
    )
    count = max(x.clear.size, y.clear.size)
    large, wrong = max(1.0, x.size, y.size), max(x.error, y.error)
    return Step(text, call, (x, y), count * (2 * large * wrong + wrong**2), count * 2.0**-20)


def _scan(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), draw.one_of(pairs)
    axis = draw.one_of([None, 0, -1, 1, 2, -2])
    axes = draw.one_of([None, 0, -1, (0, 1), (-1,), ()])
    times, keep = draw.integer(0, 3), draw.flag()
    mode = draw.one_of(["full", "same", "valid"])
    random = np.random.default_rng(draw.integer(0, 2**16))
    plain = random.uniform(-1, 1, draw.one_of([1, 2, 3, 7, 33]))
    shape = x.clear.shape
    fits = axis is not None and -len(shape) <= axis < len(shape)
    weights = random.uniform(0.1, 1, shape[axis] if fits and keep else shape)
    factors = x.clear.size // max(1, np.prod(x.clear, axis=axes).size) if _is_axis(x, axes) else 1
    text, call = draw.one_of(
        [
            (f"np.cumsum(x, {axis})", lambda a, b: np.cumsum(a, axis)),
            (f"x.cumsum(axis={axis})", lambda a, b: a.cumsum(axis=axis)),
            (f"np.diff(x, {times}, {axis})", lambda a, b: np.diff(a, times, -1 if axis is None else axis)),
            (f"np.convolve(x, y, {mode!r})", lambda a, b: np.convolve(a, b, mode)),
            (f"np.convolve(x.ravel(), y.ravel(), {mode!r})", lambda a, b: np.convolve(a.ravel(), b.ravel(), mode)),
            (f"np.convolve(x, plain, {mode!r})", lambda a, b: np.convolve(a, plain, mode)),
            (f"np.convolve(plain, x.ravel(), {mode!r})", lambda a, b: np.convolve(plain, a.ravel(), mode)),
            (f"np.average(x, {axis}, weights)", lambda a, b: np.average(a, axis, weights)),
            (f"np.average(x, {axes}, keepdims={keep})", lambda a, b: np.average(a, axes, keepdims=keep)),
        ]
        + [
            (f"np.prod(x, {axes}, keepdims={keep})", lambda a, b: np.prod(a, axes, keepdims=keep)),
            (f"x.prod({axes}, keepdims={keep})", lambda a, b: a.prod(axes, keepdims=keep)),
        ]
        * (factors <= 9)
    )
    if "convolve" in text and x.clear.size * y.clear.size > 2**11:
        return _nothing(pairs)
    large, wrong = max(1.0, x.size, y.size), max(x.error, y.error) + 2.0**-21
    if "prod" in text:
        return Step(text, call, (x, y), factors * (large + wrong) ** max(1, factors - 1) * wrong * 2)
    count = max(x.clear.size, y.clear.size, 8)
    return Step(f"{text} with {plain.size}", call, (x, y), count * (2 * large * wrong + wrong**2))


def _is_axis(x: Pair, axes: Any) -> bool:
    given = () if axes is None else axes if isinstance(axes, tuple) else (axes,)
    return all(-x.clear.ndim <= one < x.clear.ndim for one in given)


def _norm(draw: Draws, pairs: list[Pair]) -> Step:
    x = _real(draw, pairs)
    if x is None:
        return _nothing(pairs)
    order, keep = draw.one_of([None, None, 2, "fro"]), draw.flag()
    axis = draw.one_of([None, None, 0, -1, (0, 1), (-1, 0), 1])
    up = draw.one_of([0.5, 2]) - x.encrypted.interval.low
    if np.abs(x.clear + up).max() * x.clear.size**0.5 > 200:
        return _nothing(pairs)

    def call(a: Any) -> Any:
        return np.linalg.norm(a + up, order, axis, keep)

    count = x.clear.size
    error = 4 * count * (x.error + 2.0**-20) * (x.encrypted.bound + abs(up)) / 0.5
    return Step(f"np.linalg.norm(x + {up}, {order}, {axis}, {keep})", call, (x,), error, FIT * 200)


def _move(draw: Draws, pairs: list[Pair]) -> Step:
    x, y = draw.one_of(pairs), draw.one_of(pairs)
    one, other, count = draw.integer(-3, 2), draw.integer(-3, 2), draw.integer(1, 4)
    widths = draw.one_of([1, 2, (1, 0), (0, 3), ((1, 2),), ((0, 1), (2, 0)), 0])
    constant = draw.one_of([0, 0.5, -1, (1, 2), ((0.25, 0.75),)])
    mode = draw.one_of(["edge", "reflect", "symmetric", "wrap", "mean"])
    cuts = draw.several(lambda: draw.integer(-2, 6), 1, 3)
    text, call = draw.one_of(
        [
            (f"np.pad(x, {widths}, constant_values={constant})", _padded(widths, constant)),
            (f"np.pad(x, {widths}) * 2", lambda a, b: np.pad(a, widths) * 2),
            (f"np.pad(x, {widths}, {mode!r})", lambda a, b: np.pad(a, widths, mode)),
            (f"np.split(x, {count}, {one})[-1]", lambda a, b: np.split(a, count, one)[-1]),
            (f"np.split(x, {cuts}, axis={one})[0]", lambda a, b: np.split(a, cuts, axis=one)[0]),
            (f"np.array_split(x, {count}, {one})[-1]", lambda a, b: np.array_split(a, count, one)[-1]),
            (f"np.hsplit(x, {count})[0]", lambda a, b: np.hsplit(a, count)[0]),
            (f"np.vsplit(x, {cuts})[1]", lambda a, b: np.vsplit(a, cuts)[1]),
            ("np.column_stack([x, y])", lambda a, b: np.column_stack([a, b])),
            ("np.column_stack([x, plain])", lambda a, b: np.column_stack([a, np.ones(x.clear.shape)])),
            ("np.dstack([x, y])", lambda a, b: np.dstack([a, b])),
            ("np.vstack([x, y.T])", lambda a, b: np.vstack([a, b.T])),
            ("np.hstack([x, y, x])", lambda a, b: np.hstack([a, b, a])),
            ("np.copy(x) + x.copy()", lambda a, b: np.copy(a) + a.copy() - a),
            (f"x.squeeze({one})", lambda a, b: a.squeeze(one)),
            ("x.squeeze()", lambda a, b: a.squeeze()),
            (f"x.swapaxes({one}, {other})", lambda a, b: a.swapaxes(one, other)),
            (f"x.repeat({count}, axis={one})", lambda a, b: a.repeat(count, axis=one)),
            (f"x.take([0, -1, {one}], {other})", lambda a, b: a.take([0, -1, one], other)),
            (f"x.diagonal({one})", lambda a, b: a.diagonal(one)),
            (f"np.rot90(x, {one})", lambda a, b: np.rot90(a, one)),
            ("np.fliplr(x)", lambda a, b: np.fliplr(a)),
            ("np.flipud(x)", lambda a, b: np.flipud(a)),
            (f"np.rollaxis(x, {one})", lambda a, b: np.rollaxis(a, one)),
        ]
    )
    return Step(text, call, (x, y), max(x.error, y.error))


def _padded(widths: Any, constant: Any) -> Callable[..., Any]:
    return lambda a, b: np.pad(a, widths, constant_values=constant)


def _rows(draw: Draws, pairs: list[Pair]) -> Step:
    """A vector beside the rows or columns of a table, at levels that leave many for the move, or none."""
    session = draw.one_of(pairs).encrypted.session
    random = np.random.default_rng(draw.integer(0, 2**16))
    rows, columns = draw.integer(1, 50), draw.integer(1, 9)
    more, begin = draw.integer(0, 9), draw.integer(0, 9)
    levels = [draw.one_of([None, 9, 5, 3, 1]) for _ in range(2)]
    low = draw.one_of([-1, 0, 0.5])
    pair = random.uniform(low, 1, (rows, columns)), random.uniform(low, 1, begin + rows + more)
    table, vector = (
        Pair(session.encrypt(one, bound=(low, 1), level=level), one, 2.0**-22)
        for one, level in zip(pair, levels, strict=True)
    )
    part = slice(begin, begin + rows)
    column = draw.integer(0, columns - 1)
    text, call = draw.one_of(
        [
            ("y[:, None] * X", lambda a, b: b[part][:, None] * a),
            ("X - y[:, None]", lambda a, b: a - b[part][:, None]),
            ("X[:, i] + y", lambda a, b: a[:, column] + b[part]),
            ("y - X.sum(axis=1)", lambda a, b: b[part] - a.sum(axis=1)),
            ("X.T * y", lambda a, b: a.T * b[part]),
            ("y[::-1] * X[:, i]", lambda a, b: b[part][::-1] * a[:, column]),
            ("y[:, None] + X, flat", lambda a, b: (b[part][:, None] + a).ravel() * 2),
        ]
    )
    return Step(f"{text}, {levels}, {rows} x {columns} from {begin}", call, (table, vector), 2.0**-18)


def arranged(draw: Draws, pairs: list[Pair]) -> Step:
    """Orders along axes of any length up to the root of the slots, of values apart from one another or equal."""
    session = draw.one_of(pairs).encrypted.session
    most = draw.one_of([3, 4, 5]) if session.slots < 128 else 11
    shape = tuple(draw.several(lambda: draw.integer(1, most), 1, 3))
    while np.prod(shape) > 60:
        shape = shape[1:]
    random = np.random.default_rng(draw.integer(0, 2**16))
    high = draw.one_of([1, 1, 3])
    steps = 8 if draw.flag() else 14
    values = random.choice(np.linspace(-0.9, 0.9, steps), shape)
    if draw.flag():
        # An index along an axis is that of one value only, and of others numpy may give any.
        values = np.argsort(random.uniform(size=shape), axis=-1) / most * 1.8 - 0.9
    gaps = np.diff(np.unique(values))
    if high == 3 and gaps.size and gaps.min() <= 2 * high * 2.0**-5:
        # Nearer than 2^-alpha of the range, values are undecided.
        high = 1
    axis = draw.one_of([None, -1, 0, 1, -2, 2])
    axes = draw.one_of([None, -1, 0, (0, 1), (), 1])
    keep = draw.flag()
    moves: list[tuple[str, Callable[[Any], Any]]] = [
        ("as it is", lambda a: a),
        ("turned", lambda a: a.T),
        ("backwards", lambda a: a[::-1]),
        ("with repeats", lambda a: a[[0, -1, 0]]),
        ("a row", lambda a: a[-1]),
    ]
    way, move = draw.one_of(moves)
    text, call = draw.one_of(
        [
            (f"np.sort(x, {axis})", lambda a: np.sort(a, axis)),
            (f"np.argsort(x, {axis})", lambda a: _stable(a, axis)),
            (f"np.argmax(x, {axis}, keepdims={keep})", lambda a: np.argmax(a, axis, keepdims=keep)),
            (f"x.argmin({axis})", lambda a: a.argmin(axis)),
            (f"np.max(x, {axes}, keepdims={keep})", lambda a: np.max(a, axes, keepdims=keep)),
            (f"x.min({axes})", lambda a: a.min(axes)),
        ]
    )
    x = Pair(session.encrypt(values, bound=high), values, 2.0**-22)
    return Step(f"{text}, {way}", lambda a: call(move(a)) * 1.0, (x,), 0.0, 2.0**-6 * most)


def _stable(a: Any, axis: Any) -> Any:
    return a.argsort(axis, kind="stable") if isinstance(a, np.ndarray) else np.argsort(a, axis)


def _composed(draw: Draws, pairs: list[Pair]) -> Step:
    """What others make up, of a matrix of its own: products of a few elements, weights, elements that are chosen."""
    session = draw.one_of(pairs).encrypted.session
    random = np.random.default_rng(draw.integer(0, 2**16))
    shape = (draw.integer(2, 4), draw.integer(3, 5))
    values = random.uniform(-1, 1, shape)
    if draw.flag():
        values = values + 1j * random.uniform(-1, 1, shape)
    axis = draw.one_of([0, 1, -1])
    text, call = draw.one_of(
        [
            ("compress", lambda a: np.compress([True, False, True][: a.shape[axis]], a, axis)),
            ("append", lambda a: np.append(a, a[:1], 0)),
            ("delete", lambda a: np.delete(a, -1, axis)),
            ("resize", lambda a: np.resize(a, (3, 2))),
            ("cumprod", lambda a: np.cumprod(a[:, :3], axis)),
            ("kron", lambda a: np.kron(a[0], a[:2, :2])),
            ("tensordot", lambda a: np.tensordot(a, a, axes=(axis, axis))),
            ("vdot", lambda a: np.vdot(a, a[::-1])),
            ("cross", lambda a: np.cross(a[:, :3], a[::-1, :3])),
            ("trace", lambda a: np.trace(a)),
            ("polyval", lambda a: np.polyval([0.5, -1, 0.25], a)),
            ("ediff1d", lambda a: np.ediff1d(a)),
            ("cov", lambda a: np.cov(a)),
            ("gradient", lambda a: np.gradient(a, 0.5, axis=axis % 2)),
            ("trapezoid", lambda a: np.trapezoid(a, axis=axis)),
            ("correlate", lambda a: np.correlate(a[0], a[1][:2], "full")),
            ("real", lambda a: a.real * 1.0),
            ("imag", lambda a: np.imag(a) + 0.5),
            ("diag", lambda a: np.diag(a[0], 1)),
            ("tril", lambda a: np.tril(a, -1)),
            ("degrees", lambda a: np.degrees(a.real) / 90),
        ]
    )
    x = Pair(session.encrypt(values, bound=2), values, 2.0**-22)
    return Step(f"{text} along {axis}", call, (x,), 0.0, 2.0**-14)


FUNCTIONS: dict[str, Callable[[Draws, list[Pair]], Step]] = {
    "smooth": _smooth,
    "quotient": _quotient,
    "deviation": _deviation,
    "contraction": _contraction,
    "scan": _scan,
    "norm": _norm,
    "move": _move,
    "rows": _rows,
    "composed": _composed,
}
