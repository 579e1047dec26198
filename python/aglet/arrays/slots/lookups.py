"""Tables of numbers in slots: entries at encrypted places, membership, bins. A function of one array is one table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import bins
from aglet.arrays.digits import dtypes, lookups
from aglet.arrays.slots import longs
from aglet.arrays.slots.arithmetic import signed
from aglet.arrays.slots.places import is_slots
from aglet.arrays.slots.values import MOST_PLACES
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["FUNCTIONS", "take"]


def _looked_up(x: EncryptedSlots, call: Callable[[Any], Any]) -> EncryptedSlots:
    """A function of numpy of the values that an element may have."""
    x = x.still()
    found = np.asarray(call(x.values().astype(x.dtype)))
    if (split := x.ready_for(signed(found))) is not x:
        return _looked_up(split, call)
    return x.replaced(x.numbers, signed(found), found.dtype)


def _has_no_table(x: EncryptedSlots) -> bool:
    """Whether elements have too many values for a table; comparisons take their digits."""
    return longs.is_long(x) or x.numbers.places > MOST_PLACES


def take(table: Any, indices: EncryptedSlots) -> EncryptedSlots:
    """As `SlotSession.take`."""
    entries, (low, high) = lookups.entries_of(table), indices.bound
    if low < 0 or high >= len(entries):
        raise RangeError(
            f"These indices lie from {low} to {high}, and the table has {len(entries)} entries; declare their range "
            f"with x.assume(bound=(0, {max(0, len(entries) - 1)})), or give more entries."
        )
    return _looked_up(indices, lambda values: entries[values])


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """As `numpy.isin`."""
    if not is_slots(element) or is_slots(test_elements):
        return lookups.isin(element, test_elements, assume_unique, invert)
    tests = lookups.clear_tests(test_elements, element.dtype)
    if _has_no_table(element):
        none = element < dtypes.span(element.dtype)[0]
        found: Any = functools.reduce(np.logical_or, [element == one for one in tests] or [none])
        return np.logical_not(found) if checks.flag("invert", invert) else found
    return _looked_up(element, lambda values: np.isin(values, tests, invert=checks.flag("invert", invert)))


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """As `numpy.searchsorted`."""
    if is_slots(a):
        return lookups.searchsorted(a, v, side, sorter)
    lookups.check_search(a, side, sorter)
    first, inner, _ = bins.thresholds(a, v.dtype, side)
    if _has_no_table(v) and len(inner):
        return first + functools.reduce(np.add, [(v >= one).astype(np.int64) for one in inner])
    edges = np.asarray(a)
    return _looked_up(v, lambda values: np.searchsorted(edges, values, side=side))  # type: ignore[call-overload]


def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """As `numpy.bincount` with `minlength` bins, which must be as many as values that the elements may have."""
    low, high = x.bound
    count = lookups.check_bins(x, high, minlength)
    if low < 0:
        raise RangeError(f"Elements may be as small as {low}; declare their range with x.assume(bound=(0, {high})).")
    if weights is not None:
        return bins.weighted(x, weights, count)
    return np.stack([(x == one).sum() for one in range(count)])


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.isin: isin, np.searchsorted: searchsorted, np.bincount: bincount, **bins.FUNCTIONS,
}  # fmt: skip
