"""Tables, membership and counts: numpy's functions that look encrypted integers up."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import bins, casts
from aglet.arrays.digits import dtypes, operations
from aglet.arrays.digits.machine import MESSAGES
from aglet.arrays.digits.sums import AnyDigit, Digit, Sum
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = ["bincount", "check_bins", "check_search", "clear_tests", "entries_of", "isin", "searchsorted", "take"]

_MOST = MESSAGES**4
"""Entries of the largest table: places of four nibbles."""


def _largest(x: EncryptedIntegers) -> tuple[int, int]:
    """The largest value that was declared, and the largest that the ranges of digits allow."""
    if x.dtype.kind == "i" and (x.bound is None or x.bound[0] < 0):
        raise TypeError(
            "Indices that may be negative have no place in a table; declare that they are not, as in "
            "x.assume(bound=(0, 255)), or cast them with astype(..., casting='unsafe')."
        )
    highs = [digit.high if isinstance(digit, Digit) else int(digit.max(initial=0)) for digit in x.digits]
    reach = sum(high << (2 * at) for at, high in enumerate(highs))
    return reach if x.bound is None else min(reach, x.bound[1]), reach


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """As `numpy.isin`: a comparison of every element with every test element."""
    element = element if casts.is_whole(element) else dtypes.unmasked(element)
    tests = test_elements.ravel() if casts.is_whole(test_elements) else clear_tests(test_elements, element.dtype)
    if not tests.size:
        return element.session.clear(np.full(element.shape, checks.flag("invert", invert)))
    found = (element[..., None] == tests).any(axis=-1)
    return ~found if checks.flag("invert", invert) else found


def clear_tests(values: Any, dtype: np.dtype[Any]) -> Any:
    """The test elements in the clear that an element can be equal to, each once, in its dtype.

    Raises
    ------
    TypeError
        If they are no real numbers.
    """
    array = dtypes.unmasked(values)
    if array.dtype.kind == "f":
        whole = [int(one) for one in array.ravel() if float(one).is_integer()]
    else:
        whole = [int(one) for one in operations.operand(array).ravel()]
    low, high = dtypes.span(dtype)
    return np.unique(np.array([one for one in whole if low <= one <= high], dtype=dtype))


def check_search(a: Any, side: str, sorter: Any) -> None:
    """Check the arguments of `searchsorted` beside the elements.

    Raises
    ------
    TypeError
        If there is a sorter.
    RangeError
        If the sorted array is no vector.
    ParameterError
        If there is no such side.
    """
    if sorter is not None:
        raise TypeError("numpy.searchsorted of encrypted integers takes no sorter; sort the array first.")
    checks.choice("side", side, ("left", "right"))
    if np.ndim(a) != 1 and getattr(a, "ndim", 1) != 1:
        raise RangeError(f"numpy.searchsorted takes a sorted vector, and this one has shape {a.shape}; give one axis.")


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """As `numpy.searchsorted`: how many elements of `a` are smaller, or with side "right" not larger.

    `a` in the clear may hold floats, and numbers beyond the dtype of `v`.
    """
    check_search(a, side, sorter)
    if casts.is_whole(a):
        v = operations.operand(v)
        grid = a.reshape(-1, *(1,) * v.ndim)
        return (grid < v if side == "left" else grid <= v).sum(axis=0)
    always, inner, _ = bins.thresholds(a, v.dtype, side)
    if not inner.size:
        return v.session.clear(np.full(v.shape, always, dtype=np.int64))
    found = (inner.reshape(-1, *(1,) * v.ndim) <= v).sum(axis=0)
    return found + always if always else found


def _mask(count: int) -> int:
    """The largest mask of low bits that leaves fewer numbers than so many, or 0."""
    return (1 << max(count, 1).bit_length() - 1) - 1


def check_bins(x: Any, most: int, minlength: Any) -> int:
    """The number of bins, of elements up to `most`.

    Raises
    ------
    RangeError
        If an element may lie beyond the bins, or there is no vector.
    """
    count = checks.count("minlength", minlength)
    if x.ndim != 1 or count <= most:
        mask = _mask(count)
        raise RangeError(
            f"These elements may be as large as {most}, and there are {count} bins for an array of shape {x.shape}; "
            f"give a vector and minlength={most + 1}" + (f", or mask the elements, as in x & {mask}." if mask else ".")
        )
    return count


def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """As `numpy.bincount` with `minlength` bins, which must be as many as values that the elements may have.

    Raises
    ------
    RangeError
        If an element may lie beyond the bins. `x & 7` shows that it does not lie beyond 8.
    """
    count = check_bins(x, _largest(x)[0], minlength)
    return bins.one_hot(x, count).sum(axis=1) if weights is None else bins.weighted(x, weights, count)


@functools.cache
def _entry(row: tuple[int, ...]) -> Callable[[int], int]:
    return lambda index: row[min(index, len(row) - 1)]


def entries_of(table: Any) -> Any:
    """A table in the clear.

    Raises
    ------
    TypeError
        If it holds no whole numbers.
    RangeError
        If it has another number of axes than one.
    """
    table = dtypes.unmasked(table)
    if table.dtype.kind == "f":
        raise TypeError(
            "A table holds whole numbers, not floats; take those of a scale, as in "
            "session.take(numpy.rint(1000 * table).astype(numpy.int16), x) / 1000."
        )
    if table.ndim != 1:
        raise RangeError(f"A table is a vector in the clear, and this one has shape {table.shape}; give one axis.")
    if not table.size:
        raise RangeError("This table is empty; give at least one entry.")
    return operations.operand(table)


def take(table: Any, indices: EncryptedIntegers) -> EncryptedIntegers:
    """As `DigitSession.take`."""
    table = entries_of(table)
    dtype, (largest, reach) = dtypes.known(table.dtype), _largest(indices)
    if largest >= len(table) or reach >= _MOST:
        raise RangeError(
            f"These indices may be as large as {largest}, and the table has {len(table)} entries; give as many as "
            f"{min(largest + 1, _MOST)}, declare that there are no larger indices, as in "
            f"x.assume(bound=(0, {len(table) - 1})), or mask them, as in x & {_mask(len(table))}."
        )
    # What digits could hold beyond a declared range has entries too, which are never asked for.
    rows = [row.astype(np.uint8) for row in dtypes.split(table[: largest + 1], dtype)]
    varying = [at for at, row in enumerate(rows) if (row != row[0]).any()]
    filled = [np.pad(rows[at], (0, reach - largest), mode="edge") for at in varying]
    found = dict(zip(varying, _taken(filled, reach, indices), strict=True))
    return indices.with_digits([found.get(at, np.array(int(row[0]))) for at, row in enumerate(rows)], dtype)


def _taken(rows: list[NDArray[np.uint8]], largest: int, indices: EncryptedIntegers) -> list[AnyDigit]:
    """Tables of digits at the indices."""
    m, nibbles = indices.session.machine, next(count for count in range(1, 5) if largest < MESSAGES**count)
    if nibbles == 1 and rows:
        return [one for [one] in m.read([_nibble(indices.digits, 0)], *(_entry(tuple(row.tolist())) for row in rows))]
    totals = [_nibble(indices.digits, 2 * at) for at in reversed(range(nibbles))]
    # Indices beyond the largest do not occur.
    whole = [np.pad(row, (0, MESSAGES**nibbles - len(row)), mode="edge") for row in rows]
    # From three nibbles on, a choice takes more rotations than to cut a nibble of the result into its digits.
    both = len(whole) // 2 if nibbles > 2 else 0
    whole = [low + 4 * high for low, high in zip(whole[: 2 * both : 2], whole[1::2], strict=False)] + whole[2 * both :]
    # The second nibble of places as its digits, if noise of their own turns the first one.
    digits = [Sum.of((digit, 1)) for digit in (indices.digits[3], indices.digits[2])]
    digits = digits if all(total.terms for total in digits) else []
    found = m.read_tree(totals, [row.tobytes() for row in whole], digits) if whole else []
    cut = m.read([Sum.of((nibble, 1)) for nibble in found[:both]], _low, _high) if both else [[], []]
    return [digit for pair in zip(*cut, strict=True) for digit in pair] + found[both:]


def _low(nibble: int) -> int:
    return nibble & 3


def _high(nibble: int) -> int:
    return nibble >> 2


def _nibble(digits: Any, at: int) -> Sum:
    return Sum.of(*((digit, 4**i) for i, digit in enumerate(digits[at : at + 2])))
