"""What reductions of numpy take beside an axis: `where=`, `initial=`, `dtype=` and `out=`, for every kind of array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.errors import RangeError

__all__ = ["FLAGS", "REDUCED", "among", "chosen", "float_only", "joined", "mean", "new"]


def new(out: Any) -> None:
    """Refuse a place for the result.

    Raises
    ------
    TypeError
        If there is one.
    """
    if out is not None:
        raise TypeError("Encrypted arrays never change, so nothing takes out=; leave it out and use the result.")


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
    return chosen(x, where, initial)


def joined(found: Any, join: np.ufunc, initial: Any) -> Any:
    """The result of a reduction, joined with the number that it begins with.

    Raises
    ------
    TypeError
        If it would have another dtype.
    """
    made = found if initial is None else join(found, initial)
    if made.dtype != found.dtype:
        raise TypeError(f"initial= makes {made.dtype} of {found.dtype}; give a number of this dtype.")
    return made


def float_only(dtype: Any, own: Any = np.float64) -> None:
    """Refuse a dtype that a result of floats does not have.

    Raises
    ------
    TypeError
        If it is another one than its own.
    """
    if dtype is not None and np.dtype(dtype) != np.dtype(own):
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
    total = x.sum(axis, where=where, keepdims=keepdims)
    counts = np.broadcast_to(where, x.shape).sum(axis=axis, keepdims=keepdims)
    if not np.all(counts):
        raise RangeError("A mean of no element is not a number; let where= name one at least.")
    return total / counts


def _called(name: str, *order: str) -> Callable[..., Any]:
    """The method of this name, whose arguments numpy's function has in this order after the array."""

    def function(a: Any, *given: Any, **named: Any) -> Any:
        known = dict(zip(order, given, strict=False)) | named
        if len(given) > len(order) or not set(known) <= set(order):
            raise TypeError(f"numpy.{name} on encrypted arrays takes a, {', '.join(order)}; leave other arguments out.")
        if not hasattr(a, "session"):
            new(a)
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
