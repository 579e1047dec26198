"""Arrays in slots without an element: numpy says what functions of them give, which everybody can see.

They keep one ciphertext, which no result depends on, so that they have a key and a level as others do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.places import is_slots
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["REDUCTIONS", "answered", "refuse_floats"]


def answered(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What numpy gives if no element of an encrypted array has a part in it; else None.

    Raises
    ------
    RangeError
        If numpy refuses it of no elements, or gives floats.
    """
    arrays = list(_arrays((*args, *kwargs.values())))
    empty = [one for one in arrays if not one.size]
    if not empty:
        return None
    args, kwargs = _clear(tuple(args)), {name: _clear(value) for name, value in kwargs.items()}
    try:
        with np.errstate(all="ignore"):
            found = function(*args, **kwargs)
    except ValueError as error:
        raise RangeError(f"numpy refuses this of no elements ({error}); give at least one.") from error
    sized = [one for one in (found if isinstance(found, list | tuple) else [found]) if isinstance(one, np.ndarray)]
    if len(empty) < len(arrays) and any(one.size for one in sized):
        return None
    return _encrypted(empty[0], found)


def refuse_floats() -> RangeError:
    """That there are no floats without an element."""
    return RangeError("This gives floats, and encrypted floats have at least one element, which this array has not.")


def _arrays(values: Sequence[Any]) -> Iterator[EncryptedSlots]:
    for one in values:
        if is_slots(one):
            yield one
        elif isinstance(one, list | tuple):
            yield from _arrays(one)


def _clear(value: Any) -> Any:
    """Zeros of the shape of encrypted arrays; a mask is refused, as elsewhere."""
    if is_slots(value):
        return np.zeros(value.shape, value.dtype)
    if isinstance(value, np.ma.MaskedArray):
        return dtypes.unmasked(value)
    return type(value)(_clear(one) for one in value) if type(value) in (list, tuple) else value


def _encrypted(like: EncryptedSlots, found: Any) -> Any:
    """Results of numpy as arrays of a session; shapes and counts as they are."""
    if isinstance(found, np.ndarray | np.generic):
        array: Any = np.asarray(found)
        if array.dtype.kind not in "biu":
            raise refuse_floats()
        return like.session.public(array, array.dtype, like.numbers.digits[0][0])
    return type(found)(_encrypted(like, one) for one in found) if type(found) in (list, tuple) else found


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduction(x: EncryptedSlots, axis: Any = None, *more: Any) -> Any:
        # What reductions take after an axis: `dtype` of sums, and `keepdims`.
        names = ("keepdims",) if len(more) < 2 else ("dtype", "keepdims")
        return answered(function, (x,), {"axis": axis, **dict(zip(names, more, strict=False))})

    return reduction


REDUCTIONS = SimpleNamespace(
    total=_reduced(np.sum), product=_reduced(np.prod), some=_reduced(np.any), every=_reduced(np.all),
    least=_reduced(np.min), most=_reduced(np.max),
    cumsum=lambda x, axis=None, dtype=None: answered(np.cumsum, (x,), {"axis": axis, "dtype": dtype}),
    dot=lambda x, other: answered(np.dot, (x, other), {}),
)  # fmt: skip
"""The reductions of `aglet.arrays.slots.sums`, of no elements."""
