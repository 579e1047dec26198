"""Sums of products of encrypted integers along letters or windows: `einsum`, `convolve`."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from aglet.arrays import composed
from aglet.arrays.digits import operations
from aglet.arrays.subscripts import placed, read
from aglet.errors import RangeError

__all__ = ["convolve", "einsum"]

_MODES = ("full", "same", "valid")


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """As `numpy.convolve`: each element is a dot product of a window. Numbers in the clear are weights.

    Raises
    ------
    RangeError
        If an operand is empty or has another number of axes, or there is no such mode.
    """
    x, y = operations.operand(a), operations.operand(v)
    if mode not in _MODES:
        raise RangeError(f'mode is "full", "same" or "valid", not {mode!r}.')
    if x.ndim > 1 or y.ndim > 1 or not x.size or not y.size:
        raise RangeError("A convolution is one of two vectors with an element at least; reshape them.")
    x, y = x.reshape(-1), y.reshape(-1)
    if y.size > x.size:
        x, y = y, x
    length, taps = x.size, y.size
    padded: Any = np.pad(x, taps - 1)
    windows = np.arange(length + taps - 1)[:, None] + np.arange(taps)
    found = np.matmul(padded[windows], y[::-1])
    cut = {"full": (0, length + taps - 1), "same": ((taps - 1) // 2, (taps - 1) // 2 + length)}
    first, last = cut.get(mode, (taps - 1, length))
    return found[first:last]


def einsum(subscripts: str, *operands: Any) -> Any:
    """As `numpy.einsum` of any number of arrays.

    Raises
    ------
    RangeError
        If the subscripts do not fit the operands.
    TypeError
        If the subscripts are no text.
    """
    if not isinstance(subscripts, str) or not operands:
        raise TypeError("einsum takes subscripts as text and its operands, as in numpy.einsum('ij,jk->ik', x, y).")
    arrays, terms, out = read(subscripts, [operations.operand(one) for one in operands])
    letters = sorted(set("".join(terms)))
    if len(terms) == 2:
        shared = [letter for letter in terms[0] if letter in terms[1]]
        kept = [letter for term in terms for letter in term if letter not in shared]
        if shared and not set(shared) & set(out) and sorted(kept) == sorted(out):
            axes: Any = [[term.index(letter) for letter in shared] for term in terms]
            if all(arrays[0].shape[i] == arrays[1].shape[j] for i, j in zip(*axes, strict=True)):
                found: Any = composed.tensordot(arrays[0], arrays[1], axes)
                return np.transpose(found, [kept.index(letter) for letter in out]) if found.ndim else found
    order = out + "".join(letter for letter in letters if letter not in out)
    product: Any = functools.reduce(
        operator.mul, (placed(one, term, order) for one, term in zip(arrays, terms, strict=True))
    )
    # numpy multiplies and adds in one dtype.
    axes = tuple(range(len(out), len(order)))
    if not axes:
        return product
    return np.any(product, axis=axes) if product.dtype.kind == "b" else np.sum(product, axis=axes, dtype=product.dtype)
