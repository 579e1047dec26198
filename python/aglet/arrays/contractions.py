"""Products and sums over axes, as in Einstein's notation: matrices that are both encrypted, `outer`, `einsum`."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import functions
from aglet.arrays.joins import is_encrypted
from aglet.arrays.subscripts import placed, read
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["contracted", "einsum", "matrices", "outer", "over_last"]


def contracted(x: Any, y: Any, labels: tuple[str, str], wanted: str) -> EncryptedArray:
    """Multiply elements of the same labels, and sum over labels that are not wanted.

    Each axis has a label, a letter. Labels of one array are distinct. Products stand in a table with an axis for each
    label, so that an array is copied along the axes that it lacks. This uses one level for the product, and one where
    an array is moved to its places in the table.
    """
    xs, ys = labels
    x, xs = _summed(x, xs, ys + wanted)
    y, ys = _summed(y, ys, xs + wanted)
    # The order of both, so that elements move little.
    order = xs + "".join(label for label in ys if label not in xs)
    found: EncryptedArray = placed(x, xs, order) * placed(y, ys, order)
    result: EncryptedArray = placed(*_summed(found, order, wanted), wanted)
    return result


def _summed(x: Any, labels: str, kept: str) -> tuple[Any, str]:
    axes = tuple(i for i, label in enumerate(labels) if label not in kept)
    return (x.sum(axis=axes) if axes else x), "".join(label for label in labels if label in kept)


def matrices(x: Any, y: Any) -> EncryptedArray:
    """As `numpy.matmul`, also of stacks of matrices, which broadcast."""
    stacks = string.ascii_uppercase
    xs = stacks[stacks.index("Z") - max(0, len(x.shape) - 2) : 25] + ("ik" if len(x.shape) > 1 else "k")
    ys = stacks[stacks.index("Z") - max(0, len(y.shape) - 2) : 25] + ("kj" if len(y.shape) > 1 else "k")
    most = max(xs[:-2], ys[:-2], key=len)
    wanted = most + ("i" if len(x.shape) > 1 else "") + ("j" if len(y.shape) > 1 else "")
    return contracted(x, y, (xs, ys), wanted)


def over_last(x: Any, y: Any, axis: int = -1) -> EncryptedArray:
    """The sums of products over the last axis of x and this axis of y, for all pairs of the other axes."""
    if x.shape[-1] != y.shape[axis]:
        raise RangeError(
            f"The sum is over axes of equal lengths, and these are {x.shape[-1]} and {y.shape[axis]}; transpose or "
            "reshape one of the two."
        )
    letters = iter(string.ascii_letters)
    xs = "".join(next(letters) for _ in x.shape)
    others = "".join(next(letters) for _ in y.shape[1:])
    at = axis % len(y.shape)
    return contracted(x, y, (xs, others[:at] + xs[-1] + others[at:]), xs[:-1] + others)


def outer(a: Any, b: Any) -> EncryptedArray:
    """As `numpy.outer`: all products of an element of each."""
    x: Any
    y: Any
    x, y = (one.ravel() if is_encrypted(one) else np.ravel(functions.plain(one)) for one in (a, b))
    found: EncryptedArray = x[:, None] * y[None, :]
    return found


def einsum(subscripts: Any, a: Any, b: Any = None, c: Any = None, optimize: Any = False) -> EncryptedArray:
    """As `numpy.einsum`, of one array or two.

    Raises
    ------
    TypeError
        If there are more arrays, or the axes are not named by a string.
    RangeError
        If the string does not fit the shapes.
    """
    operands = [one for one in (a, b) if one is not None]
    if c is not None or not isinstance(subscripts, str) or not any(is_encrypted(one) for one in operands):
        raise TypeError(
            "numpy.einsum takes a string and one or two arrays here, at least one of them encrypted; contract more "
            "arrays two by two."
        )
    arrays = [one if is_encrypted(one) else np.asarray(functions.plain(one)) for one in operands]
    taken, labels, wanted = read(subscripts, arrays)
    if len(taken) == 2:
        return contracted(taken[0], taken[1], (labels[0], labels[1]), wanted)
    found: EncryptedArray = placed(*_summed(taken[0], labels[0], wanted), wanted)
    return found
