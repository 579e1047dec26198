"""Sums, differences and products of two operands in the same places, one of which may be in the clear."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots import carries, later, wide
from aglet.arrays.slots.places import chunks_of, ends_of, is_slots, laid
from aglet.arrays.slots.products import wide_product
from aglet.arrays.slots.values import MOST_PLACES, Numbers, noise_at_1, room, too_noisy
from aglet.arrays.slots.wide import is_wide
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["added", "combined", "multiplied", "signed", "times"]


def signed(found: Any) -> Any:
    """Entries as int64.

    Raises
    ------
    RangeError
        If one is too large.
    """
    if found.dtype.kind == "u" and found.size and int(found.max()) >= 2**63:
        raise RangeError("Numbers of 64 bits that wrap around do not fit slots; call astype with a signed dtype first.")
    return found.astype(np.int64)


def added(x: Any, y: Any, sign: int, dtype: np.dtype[Any]) -> EncryptedSlots:
    """`x + sign y` as a dtype, around which it wraps."""
    one, (low, high) = (x if is_slots(x) else y), dtypes.span(dtype)
    ends = zip(ends_of(x), sorted(sign * end for end in ends_of(y)), strict=True)
    least, most = (a + b for a, b in ends)
    # A sum of 64 bits that 32 bits hold is one of them, unless it wraps: their digits say nothing of 2^64.
    every = (least, most, *ends_of(x), *ends_of(y)) if dtype.itemsize == 8 else (least, most)
    held = dtypes.held(dtype, (min(every), max(every)))
    fits, wraps = one.session.fits(least, most), not low <= least <= most <= high
    in_words = held.itemsize == 2 or (held.itemsize == 4 and (wraps or not fits))
    # Nine digits hold a sum that has 33 bits and a sign.
    in_words = in_words or (held.itemsize == 8 and not fits and not wraps and least >= -(2**35) and most < 2**35)
    if in_words and (not fits or (wraps and most - least >= MOST_PLACES)):
        # No slot holds the sum, or no table what wraps.
        x, y = wide.widened(x, y, held)
    if in_words and (is_wide(x) or is_wide(y)):
        made = wide.added(x, y, sign, held, (least, most))
    else:
        made = carries.carried(x, y, sign, dtype) if wraps else None
    if made is None:
        return _wrapped(one, later.total(x, y, sign, combined(x, y, sign)), dtype)
    carried_over: EncryptedSlots = one.replaced(made, None, dtype)
    return carried_over


def _wrapped(like: EncryptedSlots, found: Numbers, dtype: np.dtype[Any]) -> EncryptedSlots:
    """Numbers as a dtype, around which they wrap."""
    low, high = dtypes.span(dtype)
    fits = low <= found.low and found.high <= high
    return like.replaced(found, None if fits else signed(found.values().astype(dtype)), dtype)


def combined(x: Any, y: Any, sign: int) -> Numbers:
    """`x + sign y`, before it wraps around a dtype."""
    (low, high), other = ends_of(x), sorted(sign * end for end in ends_of(y))
    low, high = low + other[0], high + other[1]
    session = (x if is_slots(x) else y).session
    session.check_range(low, high)
    engine = session.engine
    if is_slots(x) and is_slots(y):
        call: Callable[[Any, Any], Any] = engine.add if sign == 1 else engine.subtract
        pair = [chunks_of(x), chunks_of(y)]
        made = [call(a, b) for a, b in zip(*pair, strict=True)]
        for loudest in sorted((0, 1), key=lambda at: noise_at_1(session, pair[at]), reverse=True):
            if too_noisy(session, made):
                # What is added to a bootstrap is divided on its way down.
                pair[loudest] = session.bootstrapped(pair[loudest])
                made = [call(a, b) for a, b in zip(*pair, strict=True)]
        return Numbers((made,), 0, low, high)
    encrypted, plain = (x, y) if is_slots(x) else (y, x)
    rows, chunks = laid(encrypted, plain), chunks_of(encrypted)
    if encrypted is y and sign == -1:
        chunks = [engine.negate(chunk) for chunk in chunks]
    weight, t = sign if encrypted is x else 1, engine.plaintext_modulus
    if not session.fits(*ends_of(plain)):
        rows = [row % t for row in rows]
    made = [engine.add(chunk, weight * row) for chunk, row in zip(chunks, rows, strict=True)]
    return Numbers((made,), 0, low, high)


def multiplied(x: Any, y: Any, dtype: np.dtype[Any]) -> EncryptedSlots:
    """`x y` as a dtype, around which it wraps."""
    ends = [a * b for a in ends_of(x) for b in ends_of(y)]
    low, high = min(ends), max(ends)
    one = x if is_slots(x) else y
    session = one.session
    least, most = dtypes.span(dtype)
    wraps, held = not least <= low <= high <= most, dtypes.held(dtype, (low, high))
    fits = session.fits(low, high) and all(session.fits(*each.bound) for each in (x, y) if is_slots(each))
    if held.itemsize in (2, 4) and (not fits or (wraps and high - low >= MOST_PLACES)):
        # No slot holds the product, or no table what wraps.
        x, y = (wide.in_words(each, held) if is_slots(each) else each for each in (x, y))
    if (held.itemsize == 2 or (held.itemsize == 4 and not fits)) and (is_wide(x) or is_wide(y)):
        digits = wide_product(x, y, held, (low, high))
        if digits is not None:
            wrapped: EncryptedSlots = one.replaced(digits, None, dtype)
            return wrapped
    if high - low >= MOST_PLACES:
        # What wraps is looked up, and a table is shorter.
        shorter = carries.multiplied(x, y, dtype)
        if shorter is not None:
            return _wrapped(one, shorter, dtype)
    session.check_range(low, high)
    # Slots without an element hold zeros after a product with numbers in the clear, so that 0 is a value too.
    found = times(x, y)
    return _wrapped(one, later.product(x, y, Numbers(found.digits, 0, low, high)), dtype)


def times(x: Any, y: Any) -> Numbers:
    """`x y` of elements in the same places, whatever they may be."""
    one = x if is_slots(x) else y
    session, engine = one.session, one.session.engine
    if is_slots(x) and is_slots(y):
        key = session.relinearization("A product of two arrays")
        # One more level is for a cast or a bootstrap.
        first, second = (each.with_levels(2).whole(session).digits[0] for each in (x, y))
        return Numbers(([engine.multiply(a, b, key) for a, b in zip(first, second, strict=True)],), 0, 0, 0)
    rows = laid(one, y if one is x else x)
    several = isinstance(rows[0], np.ndarray)
    # Those of one number for all slots are quiet.
    placed = room(session, one.forced(), 2 if several else 0, 0).whole(session).digits[0]
    numbers = Numbers(([engine.multiply(chunk, row) for chunk, row in zip(placed, rows, strict=True)],), 0, 0, 0)
    return numbers.quieter(session) if several else numbers
