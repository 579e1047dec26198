"""numpy's functions on numbers in slots: moves, reductions, and what others make up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import arguments, casts, composed, missing, options
from aglet.arrays.digits import choices, compositions, contractions, dtypes, functions, rows
from aglet.arrays.slots import empty, later, lookups, operations, ordering, sums
from aglet.arrays.slots.direct import direct
from aglet.arrays.slots.places import clear, is_slots, one_session
from aglet.arrays.slots.values import Numbers
from aglet.arrays.slots.wide import in_words, is_wide

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["apply", "argmax", "argmin", "call", "clip", "concatenated", "known"]


def apply(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A universal function of arrays in slots and numbers in the clear, `matmul` among them.

    Errors are those of `operations.apply` and of `sums.matmul`.
    """
    known = direct(ufunc, inputs)
    known = empty.answered(ufunc, inputs, {}) if known is None else known
    if known is not None:
        return known
    if ufunc is np.matmul:
        return sums.matmul(*(one if is_slots(one) else clear(one) for one in inputs))
    if ufunc in composed.UFUNCS:
        made = composed.UFUNCS[ufunc]
        return apply(made, inputs) if isinstance(made, np.ufunc) else made(*inputs)
    return operations.apply(ufunc, inputs)


def concatenated(arrays: Sequence[Any]) -> EncryptedSlots:
    """All elements on one axis, in the dtype that holds all: the ciphertexts of all are put into one list.

    Raises
    ------
    KeyMismatchError
        If two arrays belong to two sessions.
    """
    first: EncryptedSlots = next(one for one in arrays if is_slots(one))
    session, dtype = first.session, dtypes.common(*(one.dtype for one in arrays))
    parts = []
    # Of arrays without elements the dtype alone counts.
    for one in [one for one in arrays if np.size(one)] or [first]:
        if not is_slots(one):
            one = session.public(one, one.dtype, first.numbers.digits[0][0])
        one_session(first, one)
        one = one.at(np.arange(one.size).reshape(one.shape)) if one.everywhere else one
        parts.append(operations.in_digits(operations.cast(one, dtype)).still())
    if any(is_wide(part) for part in parts):
        lows, highs = zip(*(part.bound for part in parts), strict=True)
        held = dtypes.held(dtype, (min(lows), max(highs)))
        parts = [in_words(part, held) for part in parts]
    if not all(_alike(parts[0], part) for part in parts):
        parts = [part.replaced(part.forced().whole(session), None, dtype) for part in parts]
    numbers, places, before = [part.numbers for part in parts], [], 0
    for part in parts:
        places.append(part.index.reshape(-1) + before * session.slots)
        before += part.numbers.shape[1]
    digits = tuple([chunk for one in numbers for chunk in one.digits[at]] for at in range(numbers[0].shape[0]))
    low, high = min(one.low for one in numbers), max(one.high for one in numbers)
    joint = Numbers(digits, numbers[0].offset, low, high)
    joint = joint if len(digits) > 1 or parts[0].table is not None else later.joined(parts, joint)
    return first.__class__(session, joint, parts[0].table, dtype, np.concatenate(places))


def _alike(x: EncryptedSlots, y: EncryptedSlots) -> bool:
    """Whether numbers of two arrays are read in the same way."""
    one, other = x.numbers, y.numbers
    if (one.shape[0], one.offset) != (other.shape[0], other.offset) or (x.table is None) != (y.table is None):
        return False
    same = (one.low, one.high) == (other.low, other.high)
    return x.table is None or y.table is None or (same and np.array_equal(x.table, y.table))


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """As `numpy.clip`."""
    ends = [given if given is not None else named for given, named in ((a_min, min), (a_max, max))]
    if is_slots(a) and a.dtype.kind != "b":
        # A number of Python beyond the dtype is no bound.
        span = dtypes.span(a.dtype)
        ends[0] = None if type(ends[0]) is int and ends[0] <= span[0] else ends[0]
        ends[1] = None if type(ends[1]) is int and ends[1] >= span[1] else ends[1]
    found = a if ends[0] is None else operations.apply(np.maximum, (a, ends[0]))
    return found if ends[1] is None else operations.apply(np.minimum, (found, ends[1]))


def _count(a: Any, axis: Any = None, *, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.count_nonzero`."""
    return sums.total(operations.cast(a, np.dtype(bool)), axis, None, keepdims)


def argmin(a: EncryptedSlots, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.argmin`: the first one of equal elements."""
    options.new(out)
    axis = options.one_axis(axis)
    known = empty.answered(np.argmin, (a,), {"axis": axis, "keepdims": keepdims})
    if known is not None:
        return known  # type: ignore[no-any-return]
    return sums.kept(ordering.best(a, axis, smallest=True), a, axis, keepdims)


def argmax(a: EncryptedSlots, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.argmax`: the first one of equal elements."""
    options.new(out)
    axis = options.one_axis(axis)
    known = empty.answered(np.argmax, (a,), {"axis": axis, "keepdims": keepdims})
    if known is not None:
        return known  # type: ignore[no-any-return]
    return sums.kept(ordering.best(a, axis, smallest=False), a, axis, keepdims)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: operations.where, np.shape: lambda a: a.shape, np.size: lambda a: a.size, np.ndim: lambda a: a.ndim,
    **options.REDUCED, **options.FLAGS, **lookups.FUNCTIONS, np.select: choices.select,
    np.einsum: contractions.einsum, np.convolve: contractions.convolve, **compositions.FUNCTIONS,
    np.cumsum: sums.cumsum, np.dot: sums.dot, np.count_nonzero: _count,
    np.sort: ordering.sort, np.argsort: ordering.argsort, np.argmin: argmin, np.argmax: argmax,
    np.clip: composed.two_ends(clip),
}  # fmt: skip
_AS_FLOATS = frozenset({np.var, np.std, np.average, *composed.FLOATS})
"""Those that numpy computes in floats."""


def known() -> frozenset[Any]:
    """The functions of numpy that slots have."""
    return frozenset({*_FUNCTIONS, *rows.REARRANGE, *composed.FUNCTIONS, *_AS_FLOATS})


def call(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of numpy that is no universal one.

    Raises
    ------
    TypeError
        If it is not supported.
    """
    served = _FUNCTIONS.get(function) or composed.FUNCTIONS.get(function)
    found = empty.answered(function, args, kwargs) if function in known() - _AS_FLOATS else None
    if found is not None:
        return found
    if function in rows.REARRANGE:
        return rows.rearranged(function, args, kwargs)
    if function in _AS_FLOATS:
        return function(*casts.floats(list(args)), **casts.floats(kwargs))
    if served is None:
        digits = function in functions.known()
        raise TypeError(missing.function(f"numpy.{function.__name__}", "encrypted slots", known(), digits=digits))
    return served(*args, **arguments.taken(function.__name__, served, args, kwargs))
