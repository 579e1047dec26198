"""The functions of numpy that encrypted arrays serve, with numpy's names of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aglet import checks
from aglet.arrays import along, composed, contractions, fits, functions, joins, norms, order, products
from aglet.arrays.functions import compare, larger
from aglet.arrays.joins import is_encrypted
from aglet.ckks import values
from aglet.errors import RangeError

__all__ = ["FUNCTIONS", "OPERANDS", "UFUNCS", "VIEWS"]

_CONDITION = (-0.05, 1.05)
"""The bound of the result of a comparison, with its noise."""


def _where(condition: Any, x: Any, y: Any) -> Any:
    """numpy.where. A plain condition chooses, an encrypted one mixes: `condition * x + (1 - condition) * y`."""
    if is_encrypted(condition):
        low, high = condition.interval.low, condition.interval.high
        if not condition.is_real or low < _CONDITION[0] or high > _CONDITION[1]:
            raise RangeError(
                "An encrypted condition is the result of a comparison, so 0 or 1, and this array lies within "
                f"[{low:.4g}, {high:.4g}]; compare first, or write condition.assume(bound=(0, 1)) if its values are 0 "
                "and 1."
            )
        left, right = (one if is_encrypted(one) else functions.plain(one) for one in (x, y))
        return condition * (left - right) + right
    chosen = np.asarray(values.as_array(condition, "condition") != 0)
    return _chosen(x, chosen) + _chosen(y, ~chosen)


def _chosen(x: Any, where: Any) -> Any:
    return x * where.astype(np.float64) if is_encrypted(x) else np.where(where, values.as_array(x, "operand"), 0.0)


def _clip(x: Any, low: Any, high: Any) -> Any:
    raised = x if low is None else np.maximum(x, low)
    return raised if high is None else np.minimum(raised, high)


def _ends(a: Any, a_min: Any = ..., a_max: Any = ..., min: Any = None, max: Any = None) -> Any:
    """The two ends, under both pairs of names that numpy has. Of the first pair both are required."""
    if a_min is ... and a_max is ...:
        return _clip(a, min, max)
    if a_min is ... or a_max is ... or min is not None or max is not None:
        raise TypeError("numpy.clip needs a_min and a_max, or min and max; give None for an end that is open.")
    return _clip(a, a_min, a_max)


def _of(ddof: Any, correction: Any) -> Any:
    """The argument under either of numpy's names."""
    if checks.real("ddof", ddof) and checks.real("correction", correction):
        raise TypeError("ddof and correction are two names of one argument; give one of them.")
    return ddof or correction


def _sorted(call: Callable[..., Any], a: Any, axis: Any, kind: Any) -> Any:
    """Sorting is stable, whatever kind is asked for."""
    checks.choice("kind", kind, ("quicksort", "heapsort", "mergesort", "stable"))
    return call(a, axis)


def _cut(called: Any) -> Callable[..., Any]:
    return lambda ary, indices_or_sections, axis=0: joins.split(called, ary, indices_or_sections, axis=axis)


# Fitted on the interval of the array, with the precision that `fits` states.
_SMOOTH = (
    *(np.sqrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p),
    *(np.sin, np.cos, np.tanh, np.sinh, np.cosh, np.arctan, np.arcsinh),
)


def _fitted(function: Any) -> Callable[[Any], Any]:
    return lambda x: fits.applied(x, function)


UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: lambda x, y: x + y,
    np.subtract: lambda x, y: x - y,
    np.multiply: lambda x, y: x * y,
    np.true_divide: lambda x, y: x / y,
    np.negative: lambda x: -x,
    np.positive: lambda x: x,
    np.square: lambda x: x.square(),
    np.power: lambda x, y: x**y,
    np.matmul: lambda x, y: x @ y,
    np.maximum: lambda x, y: larger("maximum", x, y),
    np.minimum: lambda x, y: larger("minimum", x, y),
    np.greater: lambda x, y: x > y,
    np.greater_equal: lambda x, y: x > y,
    np.less: lambda x, y: x < y,
    np.less_equal: lambda x, y: x < y,
    np.sign: lambda x: compare("sign", x),
    np.absolute: abs,
    np.conjugate: lambda x: x.conj(),
    np.reciprocal: lambda x: fits.reciprocal(x),
    **{one: _fitted(one) for one in _SMOOTH},
    **composed.UFUNCS,
    np.fabs: abs,
    **dict.fromkeys((np.deg2rad, np.radians), lambda x: x * (np.pi / 180)),
    **dict.fromkeys((np.rad2deg, np.degrees), lambda x: x * (180 / np.pi)),
}

# Each with numpy's names of its arguments in their order; of these, the call takes what is served.
FUNCTIONS: dict[Any, tuple[str, Callable[..., Any]]] = {
    np.var: (
        "a axis dtype out ddof keepdims where mean correction",
        lambda a, axis=None, ddof=0, keepdims=False, correction=0: a.var(
            axis, ddof=_of(ddof, correction), keepdims=bool(keepdims)
        ),
    ),
    np.std: (
        "a axis dtype out ddof keepdims where mean correction",
        lambda a, axis=None, ddof=0, keepdims=False, correction=0: a.std(
            axis, ddof=_of(ddof, correction), keepdims=bool(keepdims)
        ),
    ),
    np.sort: ("a axis kind order stable", lambda a, axis=-1, kind="stable": _sorted(order.ordered, a, axis, kind)),
    np.argsort: ("a axis kind order stable", lambda a, axis=-1, kind="stable": _sorted(order.argsort, a, axis, kind)),
    np.argmax: ("a axis out keepdims", lambda a, axis=None, keepdims=False: order.argmax(a, axis, bool(keepdims))),
    np.argmin: ("a axis out keepdims", lambda a, axis=None, keepdims=False: order.argmin(a, axis, bool(keepdims))),
    np.cumsum: ("a axis dtype out", lambda a, axis=None: along.cumsum(a, axis)),
    np.diff: ("a n axis prepend append", lambda a, n=1, axis=-1: along.diff(a, n, axis)),
    np.convolve: ("a v mode", lambda a, v, mode="full": along.convolve(a, v, mode)),
    np.average: (
        "a axis weights returned keepdims",
        lambda a, axis=None, weights=None, keepdims=False: norms.average(a, axis, weights, bool(keepdims)),
    ),
    np.linalg.norm: (
        "x ord axis keepdims",
        lambda x, ord=None, axis=None, keepdims=False: norms.norm(x, ord, axis, bool(keepdims)),  # noqa: A006
    ),
    np.einsum: ("subscripts a b c out dtype order casting optimize", contractions.einsum),
    np.outer: ("a b out", lambda a, b: contractions.outer(a, b)),
    np.dot: ("a b out", lambda a, b: products.dot(a, b)),
    np.inner: ("a b", lambda a, b: products.inner(a, b)),
    np.concatenate: ("arrays axis out dtype casting", joins.concatenate),
    np.stack: ("arrays axis out dtype casting", joins.stack),
    np.hstack: ("tup dtype casting", lambda tup: joins.joined(np.hstack, tup)),
    np.vstack: ("tup dtype casting", lambda tup: joins.joined(np.vstack, tup)),
    np.column_stack: ("tup", lambda tup: joins.joined(np.column_stack, tup)),
    np.dstack: ("tup", lambda tup: joins.joined(np.dstack, tup)),
    np.pad: ("array pad_width mode constant_values stat_length end_values reflect_type", joins.padded),
    np.split: ("ary indices_or_sections axis", _cut(np.split)),
    np.array_split: ("ary indices_or_sections axis", _cut(np.array_split)),
    np.hsplit: (
        "ary indices_or_sections",
        lambda ary, indices_or_sections: joins.split(np.hsplit, ary, indices_or_sections),
    ),
    np.vsplit: (
        "ary indices_or_sections",
        lambda ary, indices_or_sections: joins.split(np.vsplit, ary, indices_or_sections),
    ),
    np.broadcast_to: ("array shape subok", lambda array, shape: array.broadcast_to(tuple(np.atleast_1d(shape)))),
    np.where: ("condition x y", _where),
    np.clip: ("a a_min a_max out min max", _ends),
    np.shape: ("a", lambda a: a.shape),
    np.ndim: ("a", lambda a: a.ndim),
    np.size: ("a axis", lambda a, axis=None: np.size(a.index, axis)),
}

OPERANDS = ("a", "b", "v", "weights", "a_min", "a_max", "min", "max")

# What chooses elements only: done to the places of elements. After the first, the arguments are plain.
VIEWS: dict[Any, str] = {
    np.roll: "a shift axis",
    np.copy: "a order subok",
    np.fliplr: "m",
    np.flipud: "m",
    np.rot90: "m k axes",
    np.rollaxis: "a axis start",
    np.reshape: "a shape order newshape copy",
    np.ravel: "a order",
    np.transpose: "a axes",
    np.swapaxes: "a axis1 axis2",
    np.moveaxis: "a source destination",
    np.squeeze: "a axis",
    np.expand_dims: "a axis",
    np.flip: "m axis",
    np.take: "a indices axis out mode",
    np.take_along_axis: "arr indices axis",
    np.repeat: "a repeats axis",
    np.tile: "A reps",
    np.diagonal: "a offset axis1 axis2",
}
