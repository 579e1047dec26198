"""Comparisons of encrypted whole numbers with floats in the clear: those with whole numbers, as no float is made.

`x < 2.5` is `x < 3`. As floats of CKKS, elements that are equal to a border are undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aglet.arrays.digits import dtypes

__all__ = ["compared"]

_TURNED: dict[Any, Any] = {
    np.less: np.greater, np.less_equal: np.greater_equal, np.greater: np.less, np.greater_equal: np.less_equal,
    np.equal: np.equal, np.not_equal: np.not_equal,
}  # fmt: skip
"""Comparisons, and what they are with operands in the other order."""
_UP = (np.less, np.greater_equal)
"""Those for which a border between two whole numbers is as good as the next one above."""


def compared(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A comparison of encrypted whole numbers with floats in the clear, as booleans; None if it is none.

    Floats are taken as the numbers that they are: numpy takes whole numbers above 2^53 as the nearest floats.
    """
    if ufunc not in _TURNED or len(inputs) != 2:
        return None
    x, border = inputs
    if not hasattr(x, "representation"):
        ufunc, x, border = _TURNED[ufunc], border, x
    if hasattr(border, "session"):
        return None
    border = dtypes.unmasked(border)
    if border.dtype.kind != "f":
        return None
    low, high = dtypes.span(x.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = (np.ceil(border) if ufunc in _UP else np.floor(border)).astype(np.float64)
        if ufunc in (np.equal, np.not_equal):
            # No whole number is one between two.
            rounded = np.where(rounded == border, rounded, np.nan)
        # What no element is decides for all of them; so does what is no number.
        known = ~((rounded >= low) & (rounded < high + 1.0))
        of_all = ufunc(float(low), rounded)
    if not border.ndim:
        # A number of Python that the dtype does not hold takes no circuit.
        return (np.not_equal if of_all else np.equal)(x, high + 1) if known else ufunc(x, int(rounded))
    found = ufunc(x, np.where(known, low, rounded).astype(x.dtype))
    return np.where(known, of_all, found) if known.any() else found
