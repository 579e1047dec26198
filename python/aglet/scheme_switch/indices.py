"""Slots that are named by their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.errors import RangeError

__all__ = ["slots"]


def slots(indices: Any, count: int) -> NDArray[np.int64]:
    """Numbers of slots, of which there are `count`, in any shape.

    Raises
    ------
    RangeError
        If one does not exist.
    TypeError
        If one is no whole number.
    """
    try:
        found = np.asarray(indices)
    except ValueError as error:
        raise TypeError("Slots are named by whole numbers, in a list or rows of one length.") from error
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise TypeError(f"Slots are named by whole numbers, not by {found.dtype}.")
    outside = (found < 0) | (found >= count)
    if outside.any():
        raise RangeError(f"There is no slot {found[outside][0]}; this engine has slots 0 to {count - 1}.")
    return found.astype(np.int64)
