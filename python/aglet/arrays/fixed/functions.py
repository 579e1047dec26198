"""numpy's functions on numbers of a fixed format: moves, choices, order and sums, by their words; no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import arguments, composed, options
from aglet.arrays.digits import choices, rows
from aglet.arrays.digits import functions as whole
from aglet.arrays.fixed import refusals
from aglet.arrays.fixed.operations import is_fixed, words_of

if TYPE_CHECKING:
    from aglet.arrays.fixed.array import EncryptedFixed
    from aglet.arrays.fixed.formats import fixed

__all__ = ["call", "clip", "format_of_sum"]


def call(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of numpy that is no universal one.

    Raises
    ------
    TypeError
        If it, or an argument of it, is not supported.
    """
    if function in rows.REARRANGE:
        return _rearranged(function, args, kwargs)
    served = _FUNCTIONS.get(function)
    if served is None:
        raise TypeError(refusals.function(function.__name__, _first([*args, *kwargs.values()]).dtype))
    return served(*args, **arguments.taken(function.__name__, served, args, kwargs))


def _leaves(values: Any) -> Any:
    for value in values:
        yield from _leaves(value) if isinstance(value, list | tuple) else [value]


def _first(values: Any) -> EncryptedFixed:
    found: EncryptedFixed = next(one for one in _leaves(values) if is_fixed(one))
    return found


def _own(a: Any, name: str) -> EncryptedFixed:
    """The array of a function that is one of this kind.

    Raises
    ------
    TypeError
        If it is another one.
    """
    if not is_fixed(a):
        raise TypeError(
            f"numpy.{name} takes an encrypted array first, and numbers in the clear, masks and places beside it; give "
            "them in this order."
        )
    found: EncryptedFixed = a
    return found


def _rearranged(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function that only moves elements: those of all arrays have one format, or are numbers in the clear."""
    count = 2 if function is np.append else 1
    if any(is_fixed(one) for one in _leaves([*args[count:], *kwargs.values()])):
        raise TypeError(
            f"numpy.{function.__name__} takes its arrays first, and places and lengths in the clear; choose elements "
            "by an encrypted mask with numpy.where(mask, x, 0)."
        )
    dtype = _first(args[:count]).dtype

    def words(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(words(one) for one in value)
        found = words_of(value, dtype)
        return np.asarray(found, dtype.word) if type(found) is int else found

    def numbers(value: Any) -> Any:
        return type(value)(numbers(one) for one in value) if isinstance(value, list | tuple) else dtype.of(value)

    return numbers(rows.rearranged(function, [*map(words, args[:count]), *args[count:]], kwargs))


def where(condition: Any, x: Any, y: Any) -> EncryptedFixed:
    """As `numpy.where` of three arguments. Conditions are booleans, encrypted or in the clear."""
    if is_fixed(condition):
        raise TypeError("A condition is an array of booleans; compare first, as in x != 0.")
    dtype = _first([x, y]).dtype
    return dtype.of(choices.where(condition, words_of(x, dtype), words_of(y, dtype)))


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> EncryptedFixed:
    """As `numpy.clip`."""
    x = _own(a, "clip")
    given = (a_min if a_min is not None else min, a_max if a_max is not None else max)
    low, high = (None if end is None else words_of(end, x.dtype) for end in given)
    return x.dtype.of(whole.clip(x.words(), low, high))


def _clip(a: Any, a_min: Any = ..., a_max: Any = ..., *, min: Any = None, max: Any = None) -> Any:
    """As `numpy.clip`, which takes both ends or their other names."""
    return composed.two_ends(clip)(_own(a, "clip"), a_min, a_max, min=min, max=max)


def format_of_sum(dtype: fixed, wanted: Any) -> fixed:
    """The format of a sum: of 64 bits, as numpy sums words, or another one with the same fraction.

    Raises
    ------
    TypeError
        If it has another fraction, or another sign.
    """
    found: fixed = type(dtype)(64, dtype.fraction, dtype.signed) if wanted is None else wanted
    if not isinstance(found, type(dtype)) or (found.fraction, found.signed) != (dtype.fraction, dtype.signed):
        sign = "" if dtype.signed else ", signed=False"
        raise TypeError(
            f"Numbers of {dtype} add up to fixed(bits, {dtype.fraction}{sign}), not {wanted}; call astype before or "
            "after."
        )
    return found


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> EncryptedFixed:
    """As `numpy.cumsum`."""
    return _own(a, "cumsum").cumsum(axis, dtype, out)


def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> EncryptedFixed:
    """As `numpy.sort`, by a network, whatever kind is asked for."""
    x = _own(a, "sort")
    return x.dtype.of(whole.sort(x.words(), axis, kind))


def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """As `numpy.argsort`; equal elements keep their order."""
    return whole.argsort(_own(a, "argsort").words(), axis, kind)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.argmin`."""
    return _own(a, "argmin").argmin(axis, out, keepdims=keepdims)


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.argmax`."""
    return _own(a, "argmax").argmax(axis, out, keepdims=keepdims)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """As `numpy.count_nonzero`."""
    return whole.count_nonzero(_own(a, "count_nonzero").words(), axis, keepdims=keepdims)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{one: options.REDUCED[one] for one in (np.sum, np.min, np.max, np.amin, np.amax)}, **options.FLAGS,
    np.cumsum: cumsum, np.argmin: argmin, np.argmax: argmax, np.count_nonzero: count_nonzero,
    np.sort: sort, np.argsort: argsort, np.where: where, np.clip: _clip,
    np.shape: lambda a: a.shape, np.size: lambda a: a.size, np.ndim: lambda a: a.ndim,
}  # fmt: skip
"""All that there are beside moves. Others are refused."""
