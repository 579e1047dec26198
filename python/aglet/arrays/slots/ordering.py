"""Sorting networks and tournaments over numbers in slots: all comparators of a stage meet in one table.

Each element meets its partner `p`. With `d = x - p` the smaller one is `x - max(d, 0)`, and the larger one
`x + max(-d, 0)`. The table has both halves, and a number in the clear says which one an element takes, so a stage needs
no product and no mask beside those that move elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import options
from aglet.arrays.digits import ordering
from aglet.arrays.digits.rows import axis_first
from aglet.arrays.slots import operations
from aglet.arrays.slots.operations import cast
from aglet.arrays.slots.places import chunks_of, laid
from aglet.arrays.slots.tables import bootstraps, looked_up, ready
from aglet.arrays.slots.values import MOST_DIGITS, MOST_PLACES, Numbers, room
from aglet.arrays.slots.wide import is_wide, widened

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession
    from aglet.arrays.slots.values import Entries

__all__ = ["argsort", "best", "sort", "tournament"]

_INT64 = np.dtype(np.int64)


def _ready(x: EncryptedSlots, table: Entries) -> EncryptedSlots:
    """The elements as numbers in one slot each, ready for a move and then for this table."""
    return x.replaced(ready(x.session, x.forced().whole(x.session), table), None, x.dtype)


def _larger_by(x: EncryptedSlots) -> Any:
    """By how much an element is larger than another one, for all differences that there may be."""
    places = x.bound[1] - x.bound[0] + 1
    return np.maximum(np.arange(1 - places, places), 0)


def _from_least(x: EncryptedSlots) -> tuple[EncryptedSlots, int]:
    """Elements beyond the modulus, of few values, counted from their least, and that; others as they are, and 0."""
    low, high = x.bound
    if x.session.fits(low, high) or high - low >= MOST_PLACES or len(x.forced().digits) > MOST_DIGITS:
        return x, 0
    return _counted_from(x, -low), low


def _counted_from(x: EncryptedSlots, low: int) -> EncryptedSlots:
    if not low:
        return x
    numbers = x.forced()
    ends = numbers.low + low, numbers.high + low
    return x.replaced(Numbers(numbers.digits, numbers.offset + low, *ends), None, x.dtype)


# Sorting


def _network(x: EncryptedSlots) -> EncryptedSlots:
    """The elements of the first axis in order, by Batcher's odd-even merge sort."""
    if x.bound[0] == x.bound[1]:
        return x
    x = operations.in_digits(x)
    if 2 * (x.bound[1] - x.bound[0]) >= MOST_PLACES:
        x = widened(x, x)[0]
    found = x if np.unique(x.index).size == x.size else x.compact()
    for stage in ordering.stages(len(found)):
        partner = np.arange(len(found))
        larger = np.zeros(len(found), dtype=np.int64)
        for low, high in stage:
            partner[[low, high]], larger[high] = [high, low], 1
        found = _exchanged(found, partner, larger.reshape(-1, *(1,) * (found.ndim - 1)))
    return found


def _exchanged(x: EncryptedSlots, partner: Any, larger: Any) -> EncryptedSlots:
    """The smaller one of each pair, or the larger one where `larger` is 1."""
    if is_wide(x):
        other = x[partner].at(x.index, x.numbers.shape[1])
        pair = [operations.where(larger == at, x, other) for at in (0, 1)]
        ordered: EncryptedSlots = operations.where(x < other, *pair)
        return ordered
    session, engine, above = x.session, x.session.engine, _larger_by(x)
    places = len(above) // 2 + 1
    both = np.concatenate([-above, above[::-1]])
    short = len(both) <= MOST_PLACES and _as_few(session, both, above)
    x = _ready(x, both if short else above)
    own = chunks_of(x)
    others = chunks_of(x[partner].at(x.index, x.numbers.shape[1]))
    apart = [engine.subtract(a, b) for a, b in zip(own, others, strict=True)]
    rows = laid(x, np.broadcast_to(larger, x.shape))
    if short:
        moved = [engine.add(d, len(above) * row) for d, row in zip(apart, rows, strict=True)]
        steps = looked_up(session, Numbers((moved,), 0, 1 - places, len(both) - places), both).digits[0]
        made = Numbers(([engine.add(a, b) for a, b in zip(own, steps, strict=True)],), 0, x.numbers.low, x.numbers.high)
        return x.replaced(made, None, x.dtype)
    # A table of both halves is too long: `x - s`, and `x - d + s` where it is the larger one, with masks for the sign.
    found = looked_up(session, Numbers((apart,), 0, 1 - places, places - 1), above)
    steps = room(session, found, 2, 0).digits[0]
    weights = [(2 * row - 1, -row) for row in rows]
    terms = [engine.weighted_sum([s, d], w) for s, d, w in zip(steps, apart, weights, strict=True)]
    low, high = x.numbers.low, x.numbers.high
    chosen = Numbers(([engine.add(a, b) for a, b in zip(own, terms, strict=True)],), 0, low, high)
    return x.replaced(chosen.quieter(session), None, x.dtype)


def _as_few(session: SlotSession, both: Entries, one: Entries) -> bool:
    """Whether a table of both halves takes no bootstrap beside those of one half and of its masks."""
    after = session.bootstrap_level
    counts = [0.0 if after is None else bootstraps(session, table, after - 1) for table in (both, one)]
    return counts[0] <= counts[1]


def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> EncryptedSlots:
    """As `numpy.sort`, by a network, whatever kind is asked for.

    Raises
    ------
    RangeError
        If the numbers may have more values than a table of their differences has, or there is no such axis.
    LevelError
        If a table takes more levels than there are, and there is no bootstrap.
    """
    a, axis = options.sortable(a, axis, kind)
    across, least = _from_least(axis_first(a, axis))
    return _back(_counted_from(_network(across), least), axis)


def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> EncryptedSlots:
    """As `numpy.argsort`, of numbers and their places in one; equal elements keep their order.

    Errors are those of `sort`.
    """
    a, axis = options.sortable(a, axis, kind)
    across, _ = _from_least(axis_first(a, axis))
    low, high = across.bound
    # No table says what place stands in larger ones.
    across.session.check_range(low * len(across), high * len(across) + len(across) - 1)
    return _back(_network(_with_places(across, _places(across))) % len(across), axis)


def _back(x: EncryptedSlots, axis: int) -> EncryptedSlots:
    return x.moved(lambda places: np.moveaxis(places, 0, axis))


def _places(x: EncryptedSlots) -> Any:
    return np.arange(len(x), dtype=np.int64).reshape(-1, *(1,) * (x.ndim - 1))


def _with_places(x: EncryptedSlots, places: Any) -> Any:
    """Numbers that say an element and then its place."""
    return cast(x, _INT64) * len(x) + np.broadcast_to(places, x.shape)


# Tournaments


def tournament(x: EncryptedSlots, ufunc: Callable[[Any, Any], Any]) -> EncryptedSlots:
    """The smallest or the largest of the first axis: halves meet, so that few steps differ."""
    orders = ufunc in (np.minimum, np.maximum)
    found: Any
    found, least = _from_least(x) if orders else (x, 0)
    while len(found) > 1:
        if orders:
            found = _for_differences(found)
        half = len(found) // 2
        joined = ufunc(found[:half], found[half : 2 * half])
        found = joined if len(found) % 2 == 0 else np.concatenate([joined, found[2 * half :]])
    return _counted_from(found[0], least)


def _for_differences(x: EncryptedSlots) -> EncryptedSlots:
    """The elements, ready for a move and a table of their differences; as they are where there is no such table."""
    if is_wide(x):
        return x
    table = _larger_by(x)
    return _ready(x, table) if 1 < len(table) <= MOST_PLACES else x


def best(x: EncryptedSlots, axis: Any, *, smallest: bool) -> EncryptedSlots:
    """The place of the smallest or the largest element; of equal elements the first wins.

    Errors are those of `sort`.
    """
    across, _ = _from_least(axis_first(x, axis))
    count, places = len(across), _places(across)
    low, high = across.bound
    if _short(across.session, (high - low + 1) * count):
        keys = _with_places(across, places if smallest else count - 1 - places)
        found: Any = tournament(keys, np.minimum if smallest else np.maximum) % count
        return found if smallest else count - 1 - found  # type: ignore[no-any-return]
    return _by_flags(across, smallest)


def _short(session: SlotSession, values: int) -> bool:
    """Whether differences of so many values are looked up with one bootstrap, beside that of the numbers."""
    if not 1 < values <= MOST_PLACES // 2:
        return values == 1
    after, table = session.bootstrap_level, np.maximum(np.arange(1 - values, values), 0)
    return after is None or bootstraps(session, table, after - 1) <= 1


def _by_flags(x: EncryptedSlots, smallest: bool) -> EncryptedSlots:
    """The place by a tournament of neighbours, whose flags choose elements and places."""
    numbers: Any = x
    index: Any = np.broadcast_to(_places(x), x.shape)
    while len(numbers) > 1:
        numbers = _for_differences(numbers)
        even, odd = numbers[0 : len(numbers) - 1 : 2], numbers[1::2]
        flag = odd < even if smallest else odd > even
        # Both choices take a product.
        flag = flag.replaced(flag.with_levels(2), None, flag.dtype)
        pairs = []
        for one in (numbers, index):
            winners = np.where(flag, one[1::2], one[0 : len(one) - 1 : 2])
            pairs.append(np.concatenate([winners, one[-1:]]) if len(one) % 2 else winners)
        numbers, index = pairs
    if not hasattr(index, "session"):
        return x.session.public(index[0], _INT64, x.numbers.digits[0][0])
    return cast(index[0], _INT64)
