"""Elements of arrays moved and joined, digit by digit. Nothing here takes a bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes, operations
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import AnyDigit, Digit
from aglet.arrays.whole import WholeNumbers
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = ["REARRANGE", "axis_first", "axis_last", "joined", "rearranged", "taken"]

_Array = TypeVar("_Array", bound=WholeNumbers)

REARRANGE: frozenset[Callable[..., Any]] = frozenset(
    {
        np.append, np.array_split, np.broadcast_to, np.column_stack, np.concatenate,
        np.copy, np.delete, np.diagonal, np.dsplit, np.dstack, np.expand_dims, np.flip, np.fliplr, np.flipud, np.hsplit,
        np.hstack, np.moveaxis, np.ravel, np.repeat, np.reshape, np.resize, np.roll, np.rot90, np.split, np.squeeze,
        np.stack, np.swapaxes, np.take, np.take_along_axis, np.tile, np.transpose, np.vsplit, np.vstack,
    }
)  # fmt: skip
"""numpy's functions that only move elements."""


def taken(digit: AnyDigit, places: Any) -> AnyDigit:
    """The elements of a digit at these places of its first axis."""
    return Digit(digit.cells[places], digit.low, digit.high) if isinstance(digit, Digit) else digit[places]


def joined(m: Machine, digits: Sequence[AnyDigit]) -> AnyDigit:
    """Digits one after the other on the first axis."""
    # Those without an element have no ciphertext that could serve as a pattern.
    digits = [digit for digit in digits if (digit.cells if isinstance(digit, Digit) else digit).size] or digits[:1]
    if len(digits) == 1:
        return digits[0]
    if not any(isinstance(digit, Digit) for digit in digits):
        return np.concatenate([np.asarray(digit) for digit in digits])
    parts = [m.encrypted(digit, np.shape(digit), digits) if not isinstance(digit, Digit) else digit for digit in digits]
    cells: Any = np.concatenate([part.cells for part in parts])
    return Digit(cells, min(part.low for part in parts), max(part.high for part in parts))


def axis_first(x: _Array, axis: Any) -> _Array:
    """The elements with some axes as one axis in front; None is all of them.

    Raises
    ------
    RangeError
        If an axis does not exist.
    """
    # A number has, for reductions of numpy, one axis.
    whole = axis is None or (not x.ndim and axis in (0, -1))
    given = range(x.ndim) if whole else axis if isinstance(axis, tuple) else (axis,)
    axes = [checks.whole("axis", at) for at in given]
    if any(not -x.ndim <= at < x.ndim for at in axes) or len({at % x.ndim for at in axes}) < len(axes):
        raise RangeError(f"axis={axis} does not name axes of this array; it has {x.ndim}, and each may be given once.")
    axes = [at % x.ndim for at in axes]
    rest = tuple(length for at, length in enumerate(x.shape) if at not in axes)
    count = int(np.prod([x.shape[at] for at in axes], dtype=np.int64))
    found: _Array = x.moved(lambda places: np.moveaxis(places, axes, range(len(axes))).reshape(count, *rest))
    return found


def axis_last(x: EncryptedIntegers, axis: int) -> EncryptedIntegers:
    """The inverse of `axis_first` of one axis."""
    return x.moved(lambda places: np.moveaxis(places, 0, axis))


def rearranged(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of numpy that only moves elements, of digits or of slots, applied to their places."""
    if kwargs.get("out") is not None or kwargs.get("dtype") is not None:
        raise TypeError(f"numpy.{function.__name__} of encrypted values takes no out and no dtype; leave them out.")
    pool: list[Any] = []

    def places(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(places(one) for one in value)
        array = operations.operand(value)
        start = sum(int(np.prod(one.shape)) for one in pool)
        pool.append(array)
        return start + np.arange(int(np.prod(array.shape))).reshape(array.shape)

    count = 2 if function is np.append else 1
    if any(isinstance(one, WholeNumbers) for one in (*args[count:], *kwargs.values())):
        # numpy would ask again.
        raise TypeError(
            f"numpy.{function.__name__} takes places and lengths in the clear; choose elements by an encrypted mask "
            "with numpy.where(mask, x, 0)."
        )
    given = [places(one) if at < count else one for at, one in enumerate(args)]
    found = checks.rearranged(
        f"call of numpy.{function.__name__}", pool[0].shape if pool else (), lambda: function(*given, **kwargs)
    )
    whole = next(one for one in pool if isinstance(one, WholeNumbers))._joined(pool)

    def result(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(result(one) for one in value)
        return whole.moved(lambda at: at[value])

    return result(found)


def concatenated(arrays: Sequence[Any]) -> EncryptedIntegers:
    """All elements on one axis, in the dtype that holds all."""
    session = next(one.session for one in arrays if operations.is_encrypted(one))
    dtype = dtypes.common(*(one.dtype for one in arrays))
    flat = [operations.operands([one, session.zeros((), dtype)])[0].reshape(-1) for one in arrays]
    digits = [joined(session.machine, [one.digits[at] for one in flat]) for at in range(dtypes.width(dtype))]
    return flat[0].__class__(session, digits, dtype, (sum(one.size for one in flat),))
