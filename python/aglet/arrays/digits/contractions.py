"""Sums of products of encrypted integers along letters or windows: `einsum`, `convolve`."""

from __future__ import annotations

from typing import Any

import numpy as np

from aglet.arrays import composed
from aglet.arrays.digits import operations
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
    """As `numpy.einsum` of explicit or implicit letters, each once in an operand.

    Raises
    ------
    RangeError
        If the letters do not fit the operands, or one occurs twice in an operand.
    TypeError
        If the subscripts are no text.
    """
    if not isinstance(subscripts, str) or not operands:
        raise TypeError("einsum takes subscripts as text and its operands, as in numpy.einsum('ij,jk->ik', x, y).")
    arrays = [operations.operand(one) for one in operands]
    given, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if "." in given or any(len(set(term)) < len(term) for term in terms):
        raise RangeError(f"{subscripts!r} has dots or a letter twice in an operand; take numpy.diagonal first.")
    if len(terms) != len(arrays) or any(len(term) != one.ndim for term, one in zip(terms, arrays, strict=True)):
        raise RangeError(f"{subscripts!r} does not fit operands of {[one.ndim for one in arrays]} axes.")
    letters = sorted(set("".join(terms)))
    if not arrow:
        out = "".join(letter for letter in letters if "".join(terms).count(letter) == 1)
    if len(set(out)) < len(out) or not set(out) <= set(letters):
        raise RangeError(f"The result {out!r} names letters that are not there, or one twice.")
    for letter in letters:
        sizes = {one.shape[term.index(letter)] for term, one in zip(terms, arrays, strict=True) if letter in term}
        if len(sizes - {1}) > 1:
            raise RangeError(f"The letter {letter} has several lengths: {sorted(sizes)}; give equal ones.")
    if len(terms) == 2:
        shared = [letter for letter in terms[0] if letter in terms[1]]
        kept = [letter for term in terms for letter in term if letter not in shared]
        if shared and not set(shared) & set(out) and sorted(kept) == sorted(out):
            axes: Any = [[term.index(letter) for letter in shared] for term in terms]
            if all(arrays[0].shape[i] == arrays[1].shape[j] for i, j in zip(*axes, strict=True)):
                found: Any = composed.tensordot(arrays[0], arrays[1], axes)
                return np.transpose(found, [kept.index(letter) for letter in out]) if found.ndim else found
    return _summed(arrays, terms, out + "".join(letter for letter in letters if letter not in out), len(out))


def _summed(arrays: list[Any], terms: list[str], order: str, kept: int) -> Any:
    """The product of all operands on axes for all letters, in this order, and its sum over those behind the first."""
    laid = []
    for term, one in zip(terms, arrays, strict=True):
        moved = np.transpose(one, [term.index(letter) for letter in order if letter in term])
        laid.append(moved.reshape([one.shape[term.index(x)] if x in term else 1 for x in order]))
    product: Any = laid[0]
    for one in laid[1:]:
        product = product * one
    # numpy multiplies and adds in one dtype.
    axes = tuple(range(kept, len(order)))
    boolean = product.dtype.kind == "b"
    if not axes:
        return product
    return np.any(product, axis=axes) if boolean else np.sum(product, axis=axes, dtype=product.dtype)
