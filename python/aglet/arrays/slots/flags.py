"""Functions of an array of two values and numbers in the clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.arithmetic import times
from aglet.arrays.slots.places import is_slots, laid
from aglet.arrays.slots.values import DIGIT, MOST_PLACES, Numbers

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["by_flag"]

_BOOL = np.dtype(bool)


def by_flag(ufunc: np.ufunc, x: Any, y: Any, dtype: np.dtype[Any]) -> EncryptedSlots | None:
    """A function of an array of up to two values and numbers in the clear: a choice between two arrays in the clear.

    It is made of digits. None if there are other operands, or if one slot and a table have all results.
    """
    array, plain = (x, y) if is_slots(x) else (y, x)
    session, (least, most) = array.session, array.bound
    if is_slots(plain) or most - least > 1 or dtype.itemsize not in (2, 4):
        return None
    with np.errstate(over="ignore"):
        pairs = [[np.asarray(end, one.dtype) if is_slots(one) else one for one in (x, y)] for end in (least, most)]
        none, all_ = (np.asarray(ufunc(*pair)).astype(np.int64) for pair in pairs)
    low, high = int(min(none.min(), all_.min())), int(max(none.max(), all_.max()))
    if session.fits(low, high) and high - low < MOST_PLACES:
        return None
    flag, first = array.replaced(array.forced().scaled(session, 1, -least), None, _BOOL), dtypes.span(dtype)[0]
    digits = []
    for unit in (DIGIT**at for at in range(2 * dtype.itemsize)):
        without, within = ((one - first) // unit % DIGIT for one in (none, all_))
        made = zip(times(flag, within - without).digits[0], laid(array, without), strict=True)
        digits.append([session.engine.add(chunk, row) for chunk, row in made])
    found: EncryptedSlots = array.replaced(Numbers(tuple(digits), first, low, high).trimmed(), None, dtype)
    return found
