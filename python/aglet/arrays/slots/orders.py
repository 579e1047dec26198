"""Comparisons of two arrays in slots whose numbers lie in digits of four bits: the high ones decide, then the low ones.

A table of 8 bits and a sign takes ten levels with the one that stays, and tables of differences of digits take seven.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.slots.places import laid
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, Numbers, together, too_noisy

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession

__all__ = ["FULL", "apart", "by_digits", "digits_of", "has_digits", "met"]

FULL = 7
"""Levels of two digits for a table of each, a product of both, and what stays."""
_NEGATED: dict[Any, Any] = {np.greater_equal: np.less, np.less_equal: np.greater, np.not_equal: np.equal}


def by_digits(ufunc: np.ufunc, x: Any, y: Any) -> tuple[Numbers, Any] | None:
    """A comparison as numbers 0 and 1, and the table of its results; None if an operand lies in no digits.

    Elements of arrays have the same places.
    """
    array = x if has_digits(x) else y
    if not has_digits(array):
        return None
    session, offset = array.session, array.numbers.offset
    pairs = [digits_of(one, array, offset) for one in (x, y)]
    if pairs[0] is None or pairs[1] is None:
        return None
    differences = together(session, [apart(session, one, other) for one, other in zip(*pairs, strict=True)], FULL)
    base = _NEGATED.get(ufunc, ufunc)
    [low] = _decided(session, differences[0], [base])
    high, same = _decided(session, differences[1], [base, np.equal])
    key, engine = session.relinearization("A comparison of two arrays"), session.engine
    both = [engine.multiply(a, b, key) for a, b in zip(same, low, strict=True)]
    if base is not np.equal:
        both = [engine.add(a, b) for a, b in zip(high, both, strict=True)]
    results = np.array([True, False]) if ufunc in _NEGATED else np.array([False, True])
    return Numbers((both,), 0, 0, 1), results


def has_digits(value: Any) -> bool:
    """Whether a value is an array whose numbers lie in two digits, and are its elements."""
    from aglet.arrays.slots.array import EncryptedSlots

    return isinstance(value, EncryptedSlots) and value.table is None and len(value.numbers.digits) == 2


def digits_of(value: Any, like: EncryptedSlots, offset: int) -> Any:
    """The digits of an operand, the lowest first; None if it has none that count from the same offset."""
    if has_digits(value):
        return value.numbers.digits if value.numbers.offset == offset else None
    if type(value) is type(like):
        return None
    above = np.asarray(value).astype(np.int64) - offset
    if above.size and not (above.min() >= 0 and above.max() < DIGIT**2):
        return None
    return [laid(like, above // DIGIT**at % DIGIT) for at in range(2)]


def apart(session: SlotSession, x: Any, y: Any) -> Numbers:
    """Differences of digits."""
    return met(session, x, y, -1)


def met(session: SlotSession, x: Any, y: Any, sign: int) -> Numbers:
    """Sums or differences of digits, `x + sign y`: of bootstrapped ones, if no bootstrap would take their noise.

    One of both may be in the clear. At level 1 two encrypted ones may have different correction factors.
    """
    call = session.engine.add if sign == 1 else session.engine.subtract

    def made(x: Any, y: Any) -> list[Any]:
        return [call(a, b) for a, b in zip(x, y, strict=True)]

    chunks = made(x, y)
    if too_noisy(session, chunks):
        chunks = made(*(one if isinstance(one[0], np.ndarray | int) else session.bootstrapped(one) for one in (x, y)))
    return Numbers((chunks,), 0, *((0, 2 * DIGIT - 2) if sign == 1 else (1 - DIGIT, DIGIT - 1)))


def _decided(session: SlotSession, apart: Numbers, ufuncs: Sequence[np.ufunc]) -> list[Any]:
    """0 or 1 for each difference, with a level beyond the product that follows and the one that stays."""
    tables = [ufunc(np.arange(1 - DIGIT, DIGIT), 0).astype(np.int64) for ufunc in ufuncs]
    return [one.digits[0] for one in looked_up_all(session, apart, tables)]
