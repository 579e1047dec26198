"""Weighted means, and norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import fits, functions, sums
from aglet.arrays.joins import is_encrypted
from aglet.ckks import values
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["average", "norm"]

_OF_SIZES: dict[float, Callable[[Any, int, bool], Any]] = {
    1: sums.total,
    np.inf: lambda x, axis, keepdims: x.max(axis, keepdims=keepdims),
    -np.inf: lambda x, axis, keepdims: x.min(axis, keepdims=keepdims),
}
"""Norms of vectors that are made of absolute values."""


def average(array: Any, axis: Any = None, weights: Any = None, keepdims: bool = False) -> EncryptedArray:
    """As `numpy.average`, with plain weights. Uses one level."""
    if not is_encrypted(array) or is_encrypted(weights):
        raise TypeError(
            "numpy.average takes encrypted values and plain weights; for encrypted weights compute "
            "(x * weights).sum() / weights.sum(), after weights.sum().assume(bound=(least, largest))."
        )
    if weights is None:
        return sums.mean(array, axis, keepdims)
    axes = sums.axes_of(axis, array.ndim)
    plain = _weights(array, axis, np.asarray(functions.plain(weights)))
    total = plain.sum(axis=tuple(axes), keepdims=True)
    if not total.all():
        raise ZeroDivisionError("The weights sum to zero; give weights with another sum.")
    return sums.total(array * (plain / total), axis, keepdims)


def _weights(array: EncryptedArray, axis: Any, plain: NDArray[Any]) -> NDArray[Any]:
    """The weights in the shape of the array, or of the axes that they belong to with all others of length 1."""
    if plain.shape == array.shape:
        return plain
    if axis is None:
        raise TypeError(
            f"Weights of shape {plain.shape} for an array of shape {array.shape} need the axis that they belong to."
        )
    given = [checks.whole("axis", one) % array.ndim for one in (axis if isinstance(axis, tuple) else (axis,))]
    if plain.shape != tuple(array.shape[one] for one in given):
        raise RangeError(
            f"Weights of shape {plain.shape} do not fit axis={axis} of an array of shape {array.shape}; give one for "
            "each element along the axis."
        )
    ordered = plain.transpose(np.argsort(given))
    return ordered.reshape([length if i in given else 1 for i, length in enumerate(array.shape)])


def norm(array: EncryptedArray, order: Any = None, axis: Any = None, keepdims: bool = False) -> EncryptedArray:
    """As `numpy.linalg.norm`: the root of the sum of squares, of vectors and of matrices (Frobenius).

    That of order 1, and of plus and minus infinity, takes comparisons.

    Raises
    ------
    RangeError
        If the sum of squares may be so near 0 that no polynomial is close to the root.
    """
    axes = sums.axes_of(axis, array.ndim)
    number = values.is_number(order) and not isinstance(order, bool | np.bool_)
    if len(axes) == 1 and array.is_real and number and order in _OF_SIZES:
        [along] = axes
        found: EncryptedArray = _OF_SIZES[order](abs(array), along, keepdims)
        return found
    if order is None:
        # Without an axis numpy takes all elements as one vector.
        known = axis is None or 1 <= len(axes) <= 2
    elif isinstance(order, str):
        known = order == "fro" and len(axes) == 2
    else:
        known = number and order == 2 and len(axes) == 1
    if not known:
        raise TypeError(
            f"numpy.linalg.norm with ord={order!r} over {len(axes)} axes is not supported on encrypted arrays; "
            "supported are the norms 1, 2, inf and -inf of vectors and the Frobenius norm of matrices."
        )
    if not array.is_real:
        raise RangeError("The norm of complex numbers is not served; compute numpy.sqrt of the sum of x * x.conj().")
    squares = sums.total(array.square(), axis, keepdims)
    if squares.interval.low <= 0:
        raise RangeError(
            "These values may all be 0, near which no polynomial is close to the square root; declare the range of the "
            "sum of squares: numpy.sqrt((x * x).sum().assume(bound=(least, largest))), with least above 0."
        )
    return fits.applied(squares, np.sqrt)
