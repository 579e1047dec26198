"""More steps of random programs on arrays: functions of numpy that are fitted, products over axes, moves, orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.array_steps import Draw, Pair, Step

__all__ = ["FUNCTIONS"]

FIT = 2.0**-19
"""What a fit and the noise of its polynomial leave, relative to the largest value."""


def _real(draw: Draw, pairs: list[Pair]) -> Pair | None:
    real = [one for one in pairs if one.encrypted.is_real]
    return draw(st.sampled_from(real)) if real else None


def _nothing(pairs: list[Pair]) -> Step:
    return Step("nothing", lambda a: a + 0, (pairs[0],), pairs[0].error)


def _smooth(draw: Draw, pairs: list[Pair]) -> Step:
    """Of a real array, moved to where the function is smooth."""
    x = _real(draw, pairs)
    if x is None:
        return _nothing(pairs)
    low, high = x.encrypted.interval.low, x.encrypted.interval.high
    up, width = draw(st.sampled_from([0.25, 0.5, 1, 2])) - low, high - low
    narrow = 3 / max(1.0, x.encrypted.bound)
    session = x.encrypted.session

    def own(a: Any) -> Any:
        return session.function(a, np.arctan, bits=16) if a is x.encrypted else np.arctan(a)

    text, call, alone, move, factor = draw(
        st.sampled_from(
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
    )
    points = np.linspace(low * factor + move, high * factor + move, 4096)
    values = alone(points)
    steep = float(np.abs(np.gradient(values, points)).max()) if width else 1.0
    error = 2 * steep * factor * (x.error + 2.0**-20 * max(1.0, width, x.encrypted.bound))
    slack = (2.0**-15 if call is own else FIT) * max(1.0, float(np.abs(values).max()))
    if call is own:
        return Step(text, call, (x,), error, slack)
    return Step(f"{text} of {factor} x + {move}", lambda a: call(a * factor + move), (x,), error, slack)


def _quotient(draw: Draw, pairs: list[Pair]) -> Step:
    x, y = draw(st.sampled_from(pairs)), _real(draw, pairs)
    if y is None:
        return _nothing(pairs)
    up = draw(st.sampled_from([0.5, 1, 3])) - y.encrypted.interval.low
    text, call = draw(
        st.sampled_from(
            [
                ("x / (y + up)", lambda a, b: a / (b + up)),
                ("np.true_divide(x, y + up)", lambda a, b: np.true_divide(a, b + up)),
                ("x / y as it is", lambda a, b: a / b),
            ]
        )
    )
    near = min(up + y.encrypted.interval.low, 0.5)
    error = x.error / near + 2 * x.size * (y.error + 2.0**-19 * max(1.0, y.encrypted.bound)) / near**2
    return Step(f"{text}, up = {up}", call, (x, y), error, FIT * max(1.0, x.size) / near)


def _deviation(draw: Draw, pairs: list[Pair]) -> Step:
    x = _real(draw, pairs)
    if x is None:
        return _nothing(pairs)
    axis = draw(st.sampled_from([None, None, *range(-x.clear.ndim, x.clear.ndim)]))
    keep, ddof = draw(st.booleans()), draw(st.sampled_from([0, 0, 1, 0.5]))
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


FUNCTIONS: dict[str, Callable[[Draw, list[Pair]], Step]] = {
    "smooth": _smooth,
    "quotient": _quotient,
    "deviation": _deviation,
}
