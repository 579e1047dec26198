"""Numbers in one slot with more values than a table has, of which digits are made when a function is asked for.

A sum, a product or a choice of numbers in one slot takes no bootstrap, and stays so. Only sums and products of the
result are known then. For anything else its operands, which are kept, meet in digits of four bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.slots import wide
from aglet.arrays.slots.places import ends_of, is_slots, laid
from aglet.arrays.slots.products import wide_product
from aglet.arrays.slots.values import MOST_PLACES, Later, Numbers

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["chosen", "function", "joined", "product", "total"]

_MOST_KEPT = 8
"""Operands that wait for a function of one result: a long sum shall not keep all its terms in memory."""
_Ends = tuple[int, int]


def total(x: Any, y: Any, sign: int, numbers: Numbers) -> Numbers:
    """The numbers `x + sign y`, with a way to their digits if they have too many values for a table.

    Operands have the same places. Those in the clear are copied, as their owner may change them.
    """

    def made(x: Any, y: Any, word: np.dtype[Any], ends: _Ends) -> Numbers | None:
        x, y = wide.widened(x, y, word)
        return wide.added(x, y, sign, word, ends) if wide.is_wide(x) or wide.is_wide(y) else None

    return _with_way(numbers, [x, y], made)


def product(x: Any, y: Any, numbers: Numbers) -> Numbers:
    """The numbers `x y`, as `total`."""

    def made(x: Any, y: Any, word: np.dtype[Any], ends: _Ends) -> Numbers | None:
        x, y = wide.widened(x, y, word)
        return wide_product(x, y, word, ends) if wide.is_wide(x) or wide.is_wide(y) else None

    return _with_way(numbers, [x, y], made)


def chosen(flag: Any, x: Any, y: Any, index: Any, numbers: Numbers) -> Numbers:
    """The numbers `x` where an array of booleans is true and `y` elsewhere, as `total`, but in the places `index`."""
    count = numbers.shape[1]

    def placed(one: Any) -> Any:
        return one.broadcast_to(index.shape).at(index, count) if is_slots(one) else one

    def made(flag: Any, x: Any, y: Any, word: np.dtype[Any], ends: _Ends) -> Numbers | None:
        x, y = wide.widened(placed(x), placed(y), word)
        found = wide.both(x, y) if wide.is_wide(x) or wide.is_wide(y) else None
        if found is None:
            return None
        like = x if is_slots(x) else y
        mask = placed(flag).forced() if is_slots(flag) else laid(like, np.broadcast_to(flag, index.shape))
        return Numbers(wide.chosen(like.session, mask, *found[:2]), found[2], *ends).trimmed()

    return _with_way(numbers, [flag, x, y], made)


def joined(parts: list[EncryptedSlots], numbers: Numbers) -> Numbers:
    """The numbers of several arrays, all ciphertexts in one list, as `total`."""

    def made(*given: Any) -> Numbers | None:
        *some, word, ends = given
        words = [wide.in_words(one, word) for one in some]
        if not all(map(wide.is_wide, words)):
            return None
        columns = zip(*(one.numbers.digits for one in words), strict=True)
        digits = tuple([chunk for chunks in column for chunk in chunks] for column in columns)
        return Numbers(digits, words[0].numbers.offset, *ends).trimmed()

    return _with_way(numbers, [*parts], made)


def function(x: EncryptedSlots, numbers: Numbers) -> Numbers:
    """The numbers that the table of an array gives, as `total`."""
    if numbers.places <= MOST_PLACES:
        return numbers
    if x.numbers.places <= MOST_PLACES:
        return _with_way(numbers, [x], lambda x, word, _: _words(x, word))
    # Longer tables are lines.
    table = x.values()
    slope, base = int(table[1] - table[0]), x.replaced(x.numbers, None, x.dtype)
    add = int(table[0]) - slope * x.numbers.low
    of_slope = numbers.low - add, numbers.high - add

    def made(x: Any, word: np.dtype[Any], ends: _Ends) -> Numbers | None:
        x = wide.in_words(x, word)
        times = wide_product(x, np.asarray(slope), word, of_slope) if wide.is_wide(x) else None
        if times is None or not add:
            return times
        return wide.added(x.replaced(times, None, x.dtype), np.asarray(add), 1, word, ends)

    return _with_way(numbers, [base], made, of_slope, (slope, slope), (add, add))


def _words(x: EncryptedSlots, word: np.dtype[Any]) -> Numbers | None:
    """The digits of all numbers of a dtype, those that may differ."""
    found = wide.in_words(x, word)
    return found.numbers.trimmed() if wide.is_wide(found) else None


def _is_lost(x: Numbers) -> bool:
    """Whether numbers have too many values for a table, and no way to their digits."""
    return x.places > MOST_PLACES and not x.has_digits


def _with_way(
    numbers: Numbers, operands: list[Any], made: Callable[..., Numbers | None], *more: tuple[int, int]
) -> Numbers:
    """Numbers, and what makes digits of these operands, in a dtype that has them all and more ends."""
    arrays = [one for one in operands if is_slots(one)]
    if numbers.places <= MOST_PLACES or hasattr(type(arrays[0]), "modulus"):
        return numbers
    kept = len(operands) - len(arrays) + sum(one.numbers.kept for one in arrays)
    if kept > _MOST_KEPT or any(_is_lost(one.numbers) for one in arrays):
        return numbers
    ends, given = (numbers.low, numbers.high), [one if is_slots(one) else np.array(one) for one in operands]

    def call() -> Numbers | None:
        word = wide.word(ends, *map(ends_of, given), *more)
        return None if word is None else made(*given, word, ends)

    numbers.later = Later(call, kept)
    return numbers
