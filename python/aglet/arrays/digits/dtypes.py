"""The dtypes of encrypted integers, and their digits: two bits each, the lowest first; a boolean is one digit."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays.digits.sums import Clear
from aglet.errors import RangeError

__all__ = [
    "DTypes", "bits", "check_within", "common", "ends", "fitting", "held", "join", "known", "of_numpy", "refuse_matrix",
    "span", "split", "unmasked", "width",
]  # fmt: skip

DTypes = np.dtype[Any]
_KNOWN = tuple(np.dtype(name) for name in ("?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"))


_NO_DTYPE = (TypeError, ValueError, SyntaxError)
"""What numpy raises for what is no dtype of it."""
_OURS = re.compile(r"\s*(?:aglet\s*\.\s*)?(fixed|zmod)\s*\(([\w\s=,-]{0,60})\)\s*")


def of_numpy(dtype: Any) -> DTypes:
    """A dtype of numpy.

    Raises
    ------
    TypeError
        If it is none, or the name of one of ours.
    """
    try:
        found: DTypes = np.dtype(dtype)
    except _NO_DTYPE:
        ours = _named(dtype)
        if ours is not None:
            raise TypeError(f"A name of numpy stands here, and {dtype!r} is none; give {ours} itself.") from None
        raise TypeError(
            f"numpy has no dtype {repr(dtype)[:60]}; give one of its numbers, aglet.fixed(bits, fraction) or "
            "aglet.zmod(t)."
        ) from None
    return found


def _named(dtype: Any) -> str | None:
    """The dtype of ours that a string names, as it is written in Python; None if it names none."""
    found = _OURS.fullmatch(dtype) if isinstance(dtype, str) else None
    return None if found is None else f"aglet.{found[1]}({', '.join(found[2].replace(',', ' ').split())})"


def known(dtype: Any) -> DTypes:
    """A dtype of digits.

    Raises
    ------
    TypeError
        If it is another one.
    """
    found: DTypes | None = None
    with contextlib.suppress(*_NO_DTYPE):
        # Dtypes that are not of numpy are none for it.
        found = np.dtype(dtype)
    if found is None and _named(dtype) is not None:
        found = of_numpy(dtype)
    # Of the types with one size, those that numpy prefers on this machine, in its order of bytes.
    if found is not None and found.kind in "biu" and found.newbyteorder("=") in _KNOWN:
        return found.newbyteorder("=")
    what = found or dtype
    raise TypeError(f"Digits hold bool, int8 to int64 and uint8 to uint64, not {what}; convert the values first.")


def unmasked(values: Any) -> NDArray[Any]:
    """Values in the clear as an array.

    Raises
    ------
    TypeError
        If some are masked, or rows differ in length.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("This array is masked, and ciphertexts have no mask; give .filled(value) instead.")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise TypeError("The rows of these numbers differ in length; give equal rows.") from error


def refuse_matrix(value: Any) -> None:
    """Refuse numpy's class of matrices, whose operators are others.

    Raises
    ------
    TypeError
        If it is one.
    """
    if isinstance(value, np.matrix):
        raise TypeError(
            "The * of numpy.matrix is a matrix product; give numpy.asarray(m), and write @ for matrix products."
        )


def width(dtype: DTypes) -> int:
    """The number of digits of an element."""
    return 1 if dtype.kind == "b" else 4 * dtype.itemsize


def high(dtype: DTypes) -> int:
    """The largest digit."""
    return 1 if dtype.kind == "b" else 3


def span(dtype: DTypes) -> tuple[int, int]:
    """The least and the largest value."""
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def bits(low: int, high: int) -> int:
    """How many hold all whole numbers between these ends; of negative ones with a sign."""
    return high.bit_length() if low >= 0 else max(high, -1 - low).bit_length() + 1


def held(dtype: DTypes, ends: tuple[int, int]) -> DTypes:
    """The dtype of 32 bits that has the numbers between these ends, of one of 64 bits that has them; else itself."""
    of_32 = (np.dtype(np.uint32), np.dtype(np.int32)) if dtype.itemsize == 8 else ()
    return next((one for one in of_32 if all(_has(each, end) for each in (one, dtype) for end in ends)), dtype)


def _has(dtype: DTypes, value: int) -> bool:
    low, high = span(dtype)
    return low <= value <= high


def split(values: NDArray[Any], dtype: DTypes) -> list[Clear]:
    """The digits of values in the clear."""
    bits = np.asarray(values).astype(dtype)
    words = bits.astype(np.uint64) if dtype.kind == "b" else bits.astype(f"u{dtype.itemsize}").astype(np.uint64)
    return [((words >> np.uint64(2 * at)) & np.uint64(3)).astype(np.int64) for at in range(width(dtype))]


def join(digits: Sequence[Clear], dtype: DTypes) -> NDArray[Any]:
    """The values of digits."""
    words: NDArray[Any] = np.zeros(np.broadcast_shapes(*(np.shape(digit) for digit in digits)), dtype=np.uint64)
    for at, digit in enumerate(digits):
        words |= digit.astype(np.uint64) << np.uint64(2 * at)
    if dtype.kind == "b":
        return np.asarray(words != 0)
    return words.astype(f"u{dtype.itemsize}").astype(dtype)


def fitting(number: int, dtype: DTypes) -> int:
    """A number of Python as a number of this dtype, which it takes on.

    Raises
    ------
    RangeError
        If it does not fit.
    """
    low, most = span(dtype)
    if not low <= number <= most:
        raise RangeError(
            f"{number} does not fit {dtype}; give {low} to {most}, or call astype with a wider dtype first."
        )
    return number


def ends(bound: Any, dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the largest value of a bound: a pair of them, or the largest absolute value.

    Raises
    ------
    TypeError
        If it is neither, or not of whole numbers.
    RangeError
        If the least is above the largest, or one of them does not fit the dtype.
    """
    given = bound if isinstance(bound, tuple | list) else (bound,)
    if not 1 <= len(given) <= 2 or (len(given) == 1 and given is bound):
        raise TypeError("bound must be the largest absolute value, or a pair of the least and the largest value.")
    whole = [checks.whole("bound", end) for end in given]
    least = whole[0] if len(whole) == 2 else -whole[0] if dtype.kind == "i" else 0
    low, high = (fitting(end, dtype) for end in (least, whole[-1]))
    if low > high:
        raise RangeError(f"bound={bound} is empty; give the least and the largest value.")
    return low, high


def check_within(values: NDArray[Any], ends: tuple[int, int]) -> None:
    """Check that values in the clear lie between two ends.

    Raises
    ------
    RangeError
        If one does not.
    """
    least, largest = (int(values.min()), int(values.max())) if values.size else ends
    if least < ends[0] or largest > ends[1]:
        raise RangeError(f"Values from {least} to {largest} are beyond {ends[0]} to {ends[1]}; give a larger bound.")


def common(*dtypes: DTypes) -> DTypes:
    """The dtype that numpy computes with.

    Raises
    ------
    TypeError
        If it is not one of integers.
    """
    found = np.result_type(*dtypes)
    if found.kind not in "biu":
        names = " and ".join(str(one) for one in dtypes)
        raise TypeError(f"numpy computes with {found} on {names}, which these arrays do not hold; call astype first.")
    return found
