"""`<<` and `>>` of two operands: every digit of the result is a choice among those of all shifts, by products of flags.

With steps `4 a + b` a digit is made of bits of two digits, a tables of each, so nothing carries and no bootstrap is
needed but for levels. Steps below 0, or of the bits of the dtype and more, leave 0 or the sign, as in numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.orders import has_digits
from aglet.arrays.slots.places import ends_of, is_slots, laid
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, MOST_PLACES, Chunks, Entries, Numbers, calm, quiet_sum, together
from aglet.arrays.slots.wide import Products, is_wide, spelled, tabled

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession

__all__ = ["held_by", "shifted"]

_BITS = 4
"""Of a digit."""
_OF_DIGIT = 7
"""Levels of a table of a digit, two products, and what stays."""
_TO_FLAGS = 8
"""With a product more, of flags of two digits."""
_GATED = 4
"""Levels of three products, and what stays."""
_MOST_TERMS = 16
"""Of a sum of more products a bootstrap might not take the noise at level 1."""
_Sum = dict[int, Entries]
"""A sum of tables: of these digits, one each."""


def held_by(ufunc: np.ufunc, x: Any, y: Any, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, int]]:
    """The dtype of at most 32 bits that holds a shifted array, if there is one, and the ends of its elements."""
    low, high = ends_of(x)
    if ufunc is np.right_shift:
        ends = min(low, 0), max(high, 0 if low >= 0 else -1)
    else:
        most = min(max(ends_of(y)[1], 0), 8 * dtype.itemsize - 1)
        ends = min(low << most, 0), max(high << most, 0)
        span = dtypes.span(dtype)
        ends = ends if span[0] <= ends[0] and ends[1] <= span[1] else span
    held = dtypes.held(dtype, (min(ends[0], low), max(ends[1], high)))
    return held, ends


def shifted(ufunc: np.ufunc, x: Any, y: Any, dtype: np.dtype[Any]) -> Numbers | None:
    """`x << y` or `x >> y` as numbers of a dtype; None if an operand has no digits, or too many values.

    Elements of arrays have the same places; `y` may be a number of Python. Both factors of a product need two levels.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """
    held, ends = held_by(ufunc, x, y, dtype)
    like = next(one for one in (x, y) if is_slots(one))
    session = like.session
    count, low, bits = 2 * held.itemsize, dtypes.span(held)[0], 8 * dtype.itemsize
    of_steps = dtypes.held(y.dtype, y.bound).itemsize <= 4 if is_wide(y) else not is_slots(y) or _is_short(y)
    if held.itemsize > 4 or not of_steps:
        return None
    found = spelled(x, like, count, low)
    if found is None:
        return None
    step = _Steps(ufunc, count, signed=low < 0)
    first, last = max(ends_of(y)[0], 0), min(ends_of(y)[1], bits - 1)
    # More steps than what holds the array has leave of it what its own bits do.
    flags = _flags(session, like, y, range(first, last + 1))
    sums = [[step.of(steps, at) for steps in flags] for at in range(count)]
    fill = [step.fill(at) for at in range(count)]
    looked = _Looked(like, found, [one for row in [*sums, fill] for one in row], encrypted=is_slots(x))
    digits = tuple(looked.chosen(list(flags.values()), *pair) for pair in zip(sums, fill, strict=True))
    if not is_slots(x) or (not is_slots(y) and np.size(y) > 1):
        digits = Numbers(digits, 0, 0, 0).quieter(session).digits
    if step.offset(count - 1):
        digits = (*digits[:-1], [session.engine.add(chunk, step.offset(count - 1)) for chunk in digits[-1]])
    return Numbers(digits, low, *ends).trimmed()


def _is_short(y: EncryptedSlots) -> bool:
    return y.numbers.places <= MOST_PLACES


def _flags(session: SlotSession, like: Any, y: Any, steps: range) -> dict[int, Any]:
    """For each number of steps whether an element has it: ciphertexts, rows in the clear, or nothing if all have it."""
    if not is_slots(y):
        if np.size(y) == 1:
            return dict.fromkeys(steps)
        rows = laid(like, y)
        return {one: [(row == one).astype(np.int64) for row in rows] for one in steps if (np.asarray(y) == one).any()}
    y = y.still()
    if y.numbers.places > DIGIT:
        return _of_digits(session, y, steps)
    values, [numbers] = y.values(), together(session, [y.numbers], _OF_DIGIT)
    made = looked_up_all(session, numbers, [(values == one).astype(np.int64) for one in steps]) if steps else []
    return dict(zip(steps, (one.digits[0] for one in calm(session, made, _GATED - 1)), strict=True))


def _of_digits(session: SlotSession, y: EncryptedSlots, steps: range) -> dict[int, Any]:
    """The same of numbers with more values than a digit: of the lowest two digits, where all above are 0."""
    digits, zeros = _digits_of(session, y)
    lowest, second, *others = together(session, [Numbers((one,), 0, 0, DIGIT - 1) for one in digits], _TO_FLAGS)
    is_one = np.eye(DIGIT, dtype=np.int64)
    places = [zeros[0] + at for at in range(max(steps, default=-1) // DIGIT + 1)]
    seconds = [is_one[at] if 0 <= at < DIGIT else 0 * is_one[0] for at in places]
    flags, gates = (tabled(session, [one], [list(some)])[0] for one, some in ((lowest, is_one), (second, seconds)))
    multiplied = Products(session, "A shift of two arrays")
    if others:
        above = tabled(session, others, [[1 - is_one[zero]] for zero in zeros[1:]])
        total = Numbers((quiet_sum(session, [one for [one] in above]),), 0, 0, len(above))
        is_none = (np.arange(len(above) + 1) == 0).astype(np.int64)
        [none] = looked_up_all(session, total, [is_none])
        met = [Numbers((multiplied((none.digits[0], one)),), 0, 0, 1) for one in gates]
        gates = [one.digits[0] for one in together(session, met, _GATED)]
    return {one: multiplied((gates[one // DIGIT], flags[one % DIGIT])) for one in steps}


def _digits_of(session: SlotSession, y: EncryptedSlots) -> tuple[list[Chunks], list[int]]:
    """The digits of numbers, and what all but the lowest are of numbers below 16."""
    numbers = y.numbers
    if is_wide(y):
        held = dtypes.held(y.dtype, y.bound)
        count, low = 2 * held.itemsize, dtypes.span(held)[0]
        return spelled(y, y, count, low) or [], [*[0] * (count - 2), DIGIT // 2 if low < 0 else 0]
    if has_digits(y) and numbers.offset % DIGIT == 0:
        return list(numbers.digits), [-numbers.offset // DIGIT]
    values = y.values()
    # No element has so many steps.
    values = np.where((values < 0) | (values >= DIGIT**2), DIGIT**2 - 1, values)
    found = looked_up_all(session, numbers, [values % DIGIT, values // DIGIT])
    return [one.digits[0] for one in found], [0]


class _Steps:
    """What the digits of shifted numbers are sums of."""

    def __init__(self, ufunc: np.ufunc, count: int, *, signed: bool) -> None:
        self._left, self._count, self._signed = ufunc is np.left_shift, count, signed

    def of(self, steps: int, at: int) -> _Sum:
        """A digit after so many steps, less what is there without."""
        whole, bits = divmod(steps, _BITS)
        own = at - whole if self._left else at + whole
        if not 0 <= own < self._count:
            return {}
        other = own - 1 if self._left else own + 1
        value = self._value(own)
        found = {own: self._stored(value << bits, at) if self._left else self._stored(value >> bits, at)}
        if bits and 0 <= other < self._count:
            rest = self._value(other)
            # The lower bits of a digit below, or the upper ones of one above.
            found[other] = (rest % DIGIT >> _BITS - bits) if self._left else rest << _BITS - bits & DIGIT - 1
        for digit, table in self.fill(at).items():
            found[digit] = found.get(digit, 0) - table
        return found

    def fill(self, at: int) -> _Sum:
        """What is there without: zeros, or signs."""
        last = self._count - 1
        if self._left or not self._signed:
            return {}
        return {last: self._stored(self._value(last) >> _BITS, at)}

    def offset(self, at: int) -> int:
        """What is added to a digit: half of what it counts, if it has the sign."""
        return DIGIT // 2 if self._signed and at == self._count - 1 else 0

    def _value(self, at: int) -> Entries:
        """What a digit counts, for all that is stored."""
        return np.arange(DIGIT) - self.offset(at)

    def _stored(self, values: Entries, at: int) -> Entries:
        half = self.offset(at)
        return (values + half) % DIGIT - half


class _Looked:
    """Tables of digits, which may be in the clear."""

    def __init__(self, like: EncryptedSlots, digits: list[Any], sums: list[_Sum], *, encrypted: bool) -> None:
        self._session = session = like.session
        self._tables: dict[tuple[int, bytes], Any] = {}
        wanted: dict[int, dict[bytes, Entries]] = {}
        for one in sums:
            for at, table in one.items():
                if table.any():
                    wanted.setdefault(at, {})[table.tobytes()] = table
        numbers = [Numbers((digits[at],), 0, 0, DIGIT - 1) for at in wanted] if encrypted else []
        ready = iter(together(session, numbers, _OF_DIGIT))
        for at, tables in wanted.items():
            if encrypted:
                digit = next(ready)
                made = tabled(session, [digit], [list(tables.values())], spare=int(digit.level > _OF_DIGIT))[0]
            else:
                made = [[table[np.asarray(row)] for row in digits[at]] for table in tables.values()]
            self._tables.update(zip(((at, name) for name in tables), made, strict=True))
        self._encrypted, self._zero = encrypted, like.numbers.constant(session, 0).digits[0]

    def chosen(self, flags: list[Any], sums: list[_Sum], fill: _Sum) -> Chunks:
        """A digit: what is there without a shift, and what each flag changes of it."""
        some = [(flag, self._sum(one)) for flag, one in zip(flags, sums, strict=True) if _any(one)]
        engine, rows = self._session.engine, [self._sum(fill)] if _any(fill) else []
        rows += [one for flag, one in some if flag is None]
        pairs = [pair for pair in some if pair[0] is not None]
        if not self._encrypted:
            found = self._weighted(pairs) if pairs else self._zero
            return [engine.add(a, b) for a, b in zip(found, rows[0], strict=True)] if rows else found
        if pairs and hasattr(pairs[0][0][0], "level"):
            multiplied = Products(self._session, "A shift of two arrays")
            rows += [multiplied(*pairs[at : at + _MOST_TERMS]) for at in range(0, len(pairs), _MOST_TERMS)]
        elif pairs:
            rows.append(self._weighted([(one, flag) for flag, one in pairs]))
        return quiet_sum(self._session, rows) if rows else self._zero

    def _weighted(self, pairs: list[tuple[Any, Any]]) -> Chunks:
        """Sums of ciphertexts with weights in the clear."""
        encrypted, clear = zip(*pairs, strict=True)
        columns = zip(zip(*encrypted, strict=True), zip(*clear, strict=True), strict=True)
        return [self._session.engine.weighted_sum(list(a), list(b)) for a, b in columns]

    def _sum(self, one: _Sum) -> Any:
        add = self._session.engine.add if self._encrypted else lambda a, b: a + b
        some = [self._tables[at, table.tobytes()] for at, table in one.items() if table.any()]
        found = some[0]
        for more in some[1:]:
            found = [add(a, b) for a, b in zip(found, more, strict=True)]
        return found


def _any(some: _Sum) -> bool:
    return any(table.any() for table in some.values())
