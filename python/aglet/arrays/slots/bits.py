"""`&`, `|` and `^` of two arrays in slots: `x & y` is a sum of products of bits, `x | y` is `x + y - (x & y)`.

A nibble is looked up in one table for each of its bits, which share its powers: four take 11 relinearizations and five
levels, once for all operators. A table of two nibbles takes 29 and six, for one. All products of a number are
relinearized at once. What lies in digits stays in digits; numbers of more than 16 values in one slot have a table for
each nibble first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.orders import has_digits
from aglet.arrays.slots.places import is_slots, laid
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, MOST_DIGITS, MOST_PLACES, Entries, Numbers, room, together
from aglet.arrays.slots.wide import both, in_words, is_wide, widened
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["bitwise"]

_BITS = 4
"""Of a digit."""
_FULL = 7
"""Levels of a nibble for the tables of its bits, a product, and what stays."""
_SPARE = 1
"""Of them what saves relinearizations; a nibble that has them not and cannot be bootstrapped does without."""
_TIMES: dict[Any, int] = {np.bitwise_and: 0, np.bitwise_or: 1, np.bitwise_xor: 2}
"""How often `x & y` is taken from `x + y`; 0 where it is the result."""
_Places = Sequence[tuple[int, int]]
"""Bits of numbers, each with its weight."""


def _is_beyond(x: EncryptedSlots) -> bool:
    """Whether the highest digit of an array counts from beyond the modulus."""
    numbers = x.numbers
    t: int = x.session.engine.plaintext_modulus
    return bool(abs(numbers.offset) >= t * DIGIT ** (len(numbers.digits) - 1))


def bitwise(ufunc: np.ufunc, x: Any, y: Any, dtype: np.dtype[Any]) -> EncryptedSlots:
    """`&`, `|` or `^` of whole numbers, at least one of them encrypted. Elements of arrays have the same places.

    Raises
    ------
    RangeError
        If an array may have more values than a table, or a result does not fit the modulus.
    LevelError
        If there are too few levels, and no bootstrap.
    """
    low, high = _Span.of(x, y, least=0).ends(ufunc)
    session = (x if is_slots(x) else y).session
    if dtype.itemsize > 1 and not (session.fits(low, high) and high - low < MOST_PLACES):
        x, y = widened(x, y, None if dtype.itemsize == 8 else dtype)
    # Of bits above the digits that vary the modulus has no room in the highest one.
    x, y = (in_words(each, dtype) if is_wide(each) and _is_beyond(each) else each for each in (x, y))
    array, other = _like_digits(x, y) if is_wide(x) or is_wide(y) else (x, y)
    array, other = (array, other) if is_slots(array) else (other, array)
    one = _Array(array)
    pair = _Both(one, _Array(other) if is_slots(other) else _Clear(other, array))
    in_digits = one.count > MOST_DIGITS or (dtype.itemsize == 1 and one.count == pair.other.count == MOST_DIGITS)
    # The highest digit has the sign.
    span, times, offset = _Span.of(array, other, least=_BITS * one.count - 1 if in_digits else 0), _TIMES[ufunc], 0
    low, high = span.ends(ufunc)
    if one.count <= MOST_DIGITS:
        array.session.check_range(low, high)
    if in_digits and (times or one.count > MOST_DIGITS or len(span.places) > _BITS):
        offset, last = one.value.numbers.offset if one.count > MOST_DIGITS else dtypes.span(dtype)[0], one.count - 1
        parts = [
            [(at, weight >> _BITS * digit) for at, weight in span.places if min(at // _BITS, last) == digit]
            for digit in range(one.count)
        ]
        ends = [*[0] * last, -offset // DIGIT**last]
        digits = [pair.made(part, times, at, end) for at, (part, end) in enumerate(zip(parts, ends, strict=True))]
    else:
        digits = [pair.made(span.places, times)]
    found: EncryptedSlots = array.replaced(Numbers(tuple(digits), offset, low, high).trimmed(), None, dtype)
    return found


def _like_digits(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands of which one has more than two digits, with as many digits each.

    Raises
    ------
    RangeError
        If one of both cannot have them.
    """
    found = both(x, y)
    if found is None:
        raise RangeError(
            f"Bits of these two meet only if both lie in digits, or have up to {MOST_PLACES:,} values; declare a "
            'smaller range with x.assume(bound=(low, high)), or compute in digits, x.to("digits").'
        )
    ready = [
        one.replaced(Numbers(tuple(digits), found[2], *one.bound), None, one.dtype) if is_slots(one) else one
        for one, digits in zip((x, y), found[:2], strict=True)
    ]
    return ready[0], ready[1]


@dataclass(frozen=True)
class _Span:
    """The bits of two numbers."""

    places: list[tuple[int, int]]
    """Those that both may have, with their weights in `x & y`."""
    bounds: list[tuple[int, int]]
    width: int
    """Bits of the longer one without the sign."""

    @classmethod
    def of(cls, *numbers: Any, least: int) -> _Span:
        """Of arrays, or numbers in the clear; a sign stands at this bit at least."""
        bounds = [one.bound if is_slots(one) else (int(np.min(one)), int(np.max(one))) for one in numbers]
        width = max(max(high, ~low).bit_length() for low, high in bounds)
        # Above a number that is not negative are zeros, and above another one its sign.
        common = min((high.bit_length() for low, high in bounds if low >= 0), default=None)
        if common is not None:
            return cls([(at, 1 << at) for at in range(common)], bounds, width)
        sign = max(width, least)
        return cls([*((at, 1 << at) for at in range(sign)), (sign, -1 << sign)], bounds, width)

    def ends(self, ufunc: np.ufunc) -> tuple[int, int]:
        """The range of the result."""
        most, highs = (1 << self.width) - 1, [high for low, high in self.bounds if low >= 0]
        if ufunc is np.bitwise_and and highs:
            return 0, min(highs)
        return (0 if len(highs) == len(self.bounds) else -most - 1), most


class _Array:
    """An encrypted operand."""

    def __init__(self, value: EncryptedSlots) -> None:
        self.value, self.session = value, value.session
        wide = is_wide(value) or (has_digits(value) and value.numbers.offset % DIGIT == 0)
        self.count = len(value.numbers.digits) if wide else 1
        """The digits that bits are looked up in, of which the highest one has the sign."""
        self.first = value.numbers.offset // DIGIT ** (self.count - 1) if wide else 0

    def digit(self, at: int) -> list[Any]:
        """The low digit, or the high one with its sign."""
        numbers, engine = self.value.numbers, self.session.engine
        first = self.first if at == self.count - 1 else 0
        return [engine.add(chunk, first) if first else chunk for chunk in numbers.digits[at]]

    def whole(self) -> list[Any]:
        """The numbers in one slot each. Of two sums at level 1 a bootstrap does not take the noise."""
        return room(self.session, self.value.forced(), 2, 0).whole(self.session).digits[0]

    def nibbles(self, places: _Places) -> list[tuple[Numbers, Entries]]:
        """For each bit the numbers that it is looked up in, and what the table of it is."""
        value = self.value.still()
        numbers = value.numbers
        if self.count > 1:
            last = self.count - 1
            at_most = [(at, min(at // _BITS, last)) for at, _ in places]
            return [
                (numbers.digit(digit), np.arange(DIGIT) + (digit == last) * self.first >> at - digit * _BITS & 1)
                for at, digit in at_most
            ]
        values = value.values()
        if len(values) <= DIGIT:
            return [(numbers, values >> at & 1) for at, _ in places]
        firsts = sorted({at - at % _BITS for at, _ in places})
        made = looked_up_all(self.session, numbers, [values >> first & DIGIT - 1 for first in firsts])
        of = dict(zip(firsts, made, strict=True))
        return [
            (of[at - at % _BITS], np.arange(of[at - at % _BITS].low, of[at - at % _BITS].high + 1) >> at % _BITS & 1)
            for at, _ in places
        ]


class _Clear:
    """An operand in the clear, in the places of an array."""

    def __init__(self, value: Any, like: EncryptedSlots) -> None:
        array = np.asarray(value)
        self.value, self.like = array.astype(np.int64) if array.dtype.kind == "b" else array, like
        self.count = len(like.numbers.digits)

    def digit(self, at: int) -> list[Any]:
        """As of an array."""
        above = self.value.astype(np.int64) >> _BITS * at
        return laid(self.like, above if at == self.count - 1 else above & DIGIT - 1)

    def whole(self) -> list[Any]:
        """As of an array."""
        return laid(self.like, self.value)

    def masks(self, places: _Places) -> list[list[Any]]:
        """Bits with their weights, for each ciphertext."""
        rows = [laid(self.like, (self.value >> at & 1).astype(np.int64) * weight) for at, weight in places]
        return [list(column) for column in zip(*rows, strict=True)]


class _Both:
    """Two operands, the first one encrypted."""

    def __init__(self, one: _Array, other: _Array | _Clear) -> None:
        self.one, self.other, self.session = one, other, one.session

    def made(self, places: _Places, times: int, digit: int | None = None, add: int = 0) -> list[Any]:
        """`x & y` of these bits, or `x + y` less so many times that, of a digit or of numbers; and a number more."""
        engine = self.session.engine
        found = self._and(places) if places else None
        if times:
            ends = [each.whole() if digit is None else each.digit(digit) for each in (self.one, self.other)]
            sums = [engine.add(a, b) for a, b in zip(*ends, strict=True)]
            taken = found and [chunk if times == 1 else engine.multiply(chunk, times) for chunk in found]
            found = [engine.subtract(a, b) for a, b in zip(sums, taken, strict=True)] if taken else sums
        if found is None:
            found = self.one.value.numbers.constant(self.session, 0).digits[0]
        return [engine.add(chunk, add) for chunk in found] if add else found

    def _and(self, places: _Places) -> list[Any]:
        engine = self.session.engine
        if isinstance(self.other, _Clear):
            ones = [(at, 1) for at, _ in places]
            columns = self._bits([(self.one, ones)])[0]
            masks = self.other.masks(places)
            made = [engine.weighted_sum(column, row) for column, row in zip(columns, masks, strict=True)]
            return Numbers((made,), 0, 0, 0).quieter(self.session).digits[0]
        key = self.session.relinearization("Bits of two arrays")
        # Tables have the weights, which would multiply the noise.
        pairs = zip(*self._bits([(self.one, places), (self.other, [(at, 1) for at, _ in places])]), strict=True)
        return [engine.product_sum(left, right, key) for left, right in pairs]

    def _bits(self, wanted: Sequence[tuple[_Array, _Places]]) -> list[list[Any]]:
        """For each array, and for each of its ciphertexts, the bits of these places times their weights."""
        tables: dict[int, tuple[Numbers, list[Entries]]] = {}
        listed: list[list[tuple[Numbers, Entries]]] = []
        for array, places in wanted:
            bits = [(of, bit * weight) for (of, bit), (_, weight) in zip(array.nibbles(places), places, strict=True)]
            listed.append(bits)
            for of, table in bits:
                tables.setdefault(id(of), (of, []))[1].append(table)
        lacking = [(of, some) for of, some in tables.values() if any(one.tobytes() not in of.tables for one in some)]
        for (of, some), ready in zip(lacking, together(self.session, [of for of, _ in lacking], _FULL), strict=True):
            looked_up_all(self.session, ready, some, spare=_SPARE if ready.level >= _FULL else 0)
            of.tables.update(ready.tables)
        columns = [[of.tables[table.tobytes()].digits[0] for of, table in bits] for bits in listed]
        return [[list(column) for column in zip(*bits, strict=True)] for bits in columns]
