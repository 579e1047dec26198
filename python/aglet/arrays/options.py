"""What reductions of numpy take beside an axis, and methods of universal functions, for every kind of array.

The options are `where=`, `initial=`, `dtype=` and `out=`; the methods `reduce`, `accumulate` and `outer`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes
from aglet.errors import RangeError

__all__ = [
    "FLAGS",
    "REDUCED",
    "among",
    "by_method",
    "chosen",
    "float_only",
    "joined",
    "mean",
    "new",
    "one_axis",
    "refuse",
    "sortable",
]


def new(out: Any) -> None:
    """Refuse a place for the result.

    Raises
    ------
    TypeError
        If there is one.
    """
    if out is not None:
        raise TypeError("Encrypted arrays never change, so nothing takes out=; leave it out and use the result.")


def one_axis(axis: Any) -> int | None:
    """The axis of what numpy has along one alone; None is all elements, one after the other.

    Raises
    ------
    TypeError
        If it is a tuple, or anything else but a whole number.
    """
    return None if axis is None else checks.whole("axis", axis)


def sortable(a: Any, axis: Any, kind: Any) -> tuple[Any, Any]:
    """What is sorted along which axis; whatever kind is asked for, it is a network.

    Raises
    ------
    RangeError
        If it is a number.
    """
    checks.choice("kind", kind or "stable", ("quicksort", "heapsort", "mergesort", "stable"))
    if axis is None:
        return a.ravel(), 0
    if not a.ndim:
        raise RangeError("A number has no axis to sort along; call reshape(1) first.")
    return a, one_axis(axis)


def _every(where: Any) -> bool:
    return where is None or where is True


def chosen(x: Any, where: Any, neutral: int) -> Any:
    """The elements that `where` names, and a number that changes nothing in the place of others.

    Raises
    ------
    TypeError
        If it is no array of booleans, or one of floats beside whole numbers.
    RangeError
        If it has axes or lengths that the elements do not have.
    """
    if _every(where):
        return x
    flags = where if hasattr(where, "session") else dtypes.unmasked(where)
    if flags.dtype.kind != "b" and not hasattr(flags, "session"):
        raise TypeError("where= is an array of booleans; compare first, as in x > 0.")
    try:
        fits = np.broadcast_shapes(flags.shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise RangeError(f"where= of shape {flags.shape} does not fit elements of shape {x.shape}; give this shape.")
    found = np.where(flags, x, bool(neutral) if x.dtype.kind == "b" else neutral)
    if found.dtype != x.dtype:
        raise TypeError("where= of floats makes floats of whole numbers; call x.astype(numpy.float64) first.")
    return found


def among(x: Any, where: Any, initial: Any) -> Any:
    """The elements that `where` names, of which the extreme is asked: others are the number that it begins with.

    Raises
    ------
    RangeError
        If there is no such number.
    """
    if initial is None and not _every(where):
        raise RangeError("The least or the largest of no element is what initial= says; give it beside where=.")
    return chosen(x, where, _number(initial, x.dtype))


def joined(found: Any, join: np.ufunc, initial: Any) -> Any:
    """The result of a reduction, joined with the number that it begins with.

    Raises
    ------
    TypeError
        If this is not one number, or one of floats beside whole numbers.
    RangeError
        If it does not fit the dtype.
    """
    return found if initial is None else join(found, _number(initial, found.dtype))


def _number(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number of this dtype, as which numpy reads what a reduction of whole numbers begins with."""
    if value is None or hasattr(value, "session"):
        return value
    if dtype.kind not in "biu":
        if np.ndim(value):
            raise TypeError(
                f"initial= is one number, not an array of shape {np.shape(value)}; add others to the result."
            )
        return value
    number = dtypes.unmasked(value)
    if number.ndim or number.dtype.kind not in "biu":
        raise TypeError(f"initial= is a whole number here, as these elements are of {dtype}, not {value!r}.")
    return dtype.type(bool(number) if dtype.kind == "b" else dtypes.fitting(int(number), dtype))


def float_only(dtype: Any, own: Any = np.float64) -> None:
    """Refuse a dtype that a result of floats does not have.

    Raises
    ------
    TypeError
        If it is another one than its own.
    """
    if dtype is not None and dtypes.of_numpy(dtype) != np.dtype(own):
        raise TypeError(f"This result is of {np.dtype(own)}, not {np.dtype(dtype)}; leave dtype= out.")


def mean(x: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """The mean of the elements that a mask in the clear names.

    Raises
    ------
    TypeError
        If the mask is encrypted.
    RangeError
        If it names none.
    """
    if hasattr(where, "session"):
        raise TypeError(
            "Nobody knows how many elements an encrypted mask names; write x.sum(where=m) / "
            "m.sum().assume(bound=(1, m.size))."
        )
    counts = np.broadcast_to(where, x.shape).sum(axis=axis, keepdims=keepdims)
    if not np.all(counts):
        raise RangeError("A mean of no element is not a number; let where= name one at least.")
    if hasattr(x, "_mean"):
        # Whole numbers become floats on the way, as their sums may be too large for it.
        return chosen(x, where, 0)._mean(axis, keepdims) * (x.size / np.size(counts) / counts)
    return x.sum(axis, where=where, keepdims=keepdims) / counts


def _called(name: str, *order: str) -> Callable[..., Any]:
    """The method of this name, whose arguments numpy's function has in this order after the array."""

    def function(a: Any, *given: Any, **named: Any) -> Any:
        known = dict(zip(order, given, strict=False)) | named
        if len(given) > len(order) or not set(known) <= set(order):
            raise TypeError(f"numpy.{name} on encrypted arrays takes a, {', '.join(order)}; leave other arguments out.")
        if not hasattr(a, "session"):
            new(a)
        if "keepdims" in known:
            # numpy takes 1 for True.
            known["keepdims"] = known["keepdims"] is not np._NoValue and bool(known["keepdims"])
        return getattr(a, name)(**{key: one for key, one in known.items() if one is not np._NoValue})

    return function


_LONG = ("axis", "dtype", "out", "keepdims", "initial", "where")
_SHORT = ("axis", "out", "keepdims", "initial", "where")
_FLAGS = ("axis", "out", "keepdims", "where")
REDUCED: dict[Any, Callable[..., Any]] = {
    np.sum: _called("sum", *_LONG), np.prod: _called("prod", *_LONG), np.min: _called("min", *_SHORT),
    np.max: _called("max", *_SHORT), np.amin: _called("min", *_SHORT), np.amax: _called("max", *_SHORT),
    np.mean: _called("mean", "axis", "dtype", "out", "keepdims", "where"),
}  # fmt: skip
"""numpy's functions that call the method of their name, of floats and of whole numbers."""
FLAGS: dict[Any, Callable[..., Any]] = {np.any: _called("any", *_FLAGS), np.all: _called("all", *_FLAGS)}
"""Those of whole numbers alone."""

# Methods of universal functions

_REDUCE: dict[Any, Any] = {
    np.add: np.sum, np.multiply: np.prod, np.minimum: np.min, np.maximum: np.max,
    np.logical_or: np.any, np.logical_and: np.all,
}  # fmt: skip
_ACCUMULATE: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
_JOINED = frozenset({
    *_REDUCE, np.subtract, np.divide, np.floor_divide, np.remainder, np.fmin, np.fmax, np.bitwise_and, np.bitwise_or,
    np.bitwise_xor, np.logical_xor, np.left_shift, np.right_shift,
})  # fmt: skip
"""Those of two arrays that encrypted ones have."""


def refuse(ufunc: np.ufunc, given: dict[str, Any]) -> None:
    """Refuse the options of a universal function that is called.

    Raises
    ------
    TypeError
        Always.
    """
    name, names = f"numpy.{ufunc.__name__}", ", ".join(f"{one}=" for one in given)
    instead = {
        "out": f"write y = {name}(...), also for y += x of an array in the clear",
        "where": f"write numpy.where(mask, {name}(...), x)",
        "dtype": "call astype first",
    }.get(next(iter(given)), "leave it out")
    raise TypeError(f"{name} takes no {names} on encrypted arrays; {instead}.")


def by_method(ufunc: np.ufunc, method: str, inputs: Any, given: dict[str, Any]) -> Any:
    """A method of a universal function, by the function of numpy that is the same.

    Raises
    ------
    TypeError
        If there is none.
    """
    name = f"numpy.{ufunc.__name__}"
    if method == "outer" and not given:
        x, y = (one if hasattr(one, "session") else np.asarray(one) for one in inputs)
        return ufunc(x.reshape(x.shape + (1,) * y.ndim), y)
    served = {"reduce": _REDUCE, "accumulate": _ACCUMULATE}.get(method, {})
    if ufunc in served:
        [place] = given.pop("out", (None,))
        new(place)
        return served[ufunc](inputs[0], axis=given.pop("axis", 0), **{k: v for k, v in given.items() if v is not None})
    instead = {
        "reduce": f"write functools.reduce({name}, x), which goes along the first axis",
        "accumulate": f"write numpy.stack(list(itertools.accumulate(x, {name})))",
        "at": f"arrays never change, so write numpy.where(mask, {name}(x, y), x)",
    }.get(method, "call the function itself")
    if ufunc not in _JOINED:
        instead = f"they have no {name} either"
    raise TypeError(f"{name}.{method} is not supported on encrypted arrays; {instead}.")
