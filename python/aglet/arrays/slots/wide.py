"""Numbers of 16 and 32 bits in digits of four bits, of which no table has all values: digits meet, and carry.

Elements of two arrays have the same places. All counts of levels are with the one that stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.orders import apart, met
from aglet.arrays.slots.places import ends_of, is_slots, laid
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import (
    DIGIT,
    LONG_DIGITS,
    MOST_DIGITS,
    MOST_PLACES,
    WIDE_DIGITS,
    Chunks,
    Entries,
    Numbers,
    calm,
    quiet_sum,
    together,
)

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession

__all__ = [
    "Digits", "Products", "added", "both", "chosen", "compared", "in_words", "is_wide", "looked_up_in_words", "spelled",
    "tabled", "widened", "within", "word",
]  # fmt: skip

Digits = list[Chunks]
"""Of a number, the lowest first, each with a ciphertext for every one of the array; or numbers in the clear."""
_LEVELS = 8
"""Of a table of sums of digits, two products, and what stays."""
_AFTER_TABLES = 3
"""Of two products, and what stays."""
_ONE_PRODUCT = 2
_NINE = -DIGIT // 2 * DIGIT**LONG_DIGITS
"""What nine digits with a sign count from."""
_WORDS = tuple(np.dtype(name) for name in ("u2", "i2", "u4", "i4"))
_NEGATED: dict[Any, Any] = {np.greater_equal: np.less, np.less_equal: np.greater, np.not_equal: np.equal}


def is_wide(value: Any) -> bool:
    """Whether a value is an array whose numbers lie in more digits than a table has variables."""
    return is_slots(value) and value.table is None and len(value.numbers.digits) > MOST_DIGITS


def both(x: Any, y: Any, dtype: np.dtype[Any] | None = None) -> tuple[Digits, Digits, int] | None:
    """The digits of two operands, at least one of them wide, and what they count from.

    They are those of all numbers of a dtype, if there is one, else those of the one with the most digits, or of all
    numbers of 16 or 32 bits of one sign or both. None if one of both has none of this kind.
    """
    like = max((one for one in (x, y) if is_wide(one)), key=lambda one: len(one.numbers.digits))
    count, offset = len(like.numbers.digits), like.numbers.offset
    if dtype is not None:
        count, offset = 2 * dtype.itemsize, dtypes.span(dtype)[0]
    found = [spelled(one, like, count, offset) for one in (x, y)]
    most = WIDE_DIGITS if count <= WIDE_DIGITS else LONG_DIGITS
    if (found[0] is None or found[1] is None) and count < most:
        found = [spelled(one, like, most, offset) for one in (x, y)]
    if (found[0] is None or found[1] is None) and dtype is None:
        held = word(ends_of(x), ends_of(y))
        # int32 beside uint32 has a ninth digit, with the sign.
        last = LONG_DIGITS if held is None else 2 * held.itemsize - 1
        offset = _NINE if held is None else dtypes.span(held)[0]
        found = [spelled(one, like, last + 1, offset) for one in (x, y)]
    return None if found[0] is None or found[1] is None else (found[0], found[1], offset)


def spelled(value: Any, like: EncryptedSlots, count: int, offset: int) -> Digits | None:
    """So many digits that count from here; None if the number has not as many, or too many values to look them up."""
    if not is_slots(value):
        above = np.asarray(value).astype(np.int64) - offset
        if above.size and not (above.min() >= 0 and above.max() < DIGIT**count):
            return None
        return [laid(like, above // DIGIT**at % DIGIT) for at in range(count)]
    value = value.split().still()
    session, numbers, (low, high) = value.session, value.numbers, value.bound
    if low < offset or high >= offset + DIGIT**count:
        return None
    held, over = len(numbers.digits), numbers.offset - offset
    if value.table is None and 1 < held <= count and over % DIGIT**held == 0:
        more = [numbers.constant(session, over // DIGIT**at % DIGIT).digits[0] for at in range(held, count)]
        return [*numbers.digits, *more]
    last = count - 1
    if value.table is None and held > count and over % DIGIT**last == 0:
        # Of digits above these, which are the same for all, nothing counts.
        turned = (np.arange(DIGIT) + over // DIGIT**last) % DIGIT
        return [*numbers.digits[:last], looked_up_all(session, numbers.digit(last), [turned])[0].digits[0]]
    last = held - 1
    if value.table is None and 1 < held <= count and over % DIGIT**last == 0:
        of_high = over // DIGIT**last + np.arange(DIGIT)
        tables = [of_high // DIGIT**at % DIGIT for at in range(count - last)]
        found = looked_up_all(session, numbers.digit(last), tables)
        return [*numbers.digits[:last], *(one.digits[0] for one in found)]
    if numbers.places > MOST_PLACES:
        return None
    above = value.values() - offset
    tables = [above // DIGIT**at % DIGIT for at in range(count)]
    return [one.digits[0] for one in looked_up_all(session, numbers, tables)]


def word(*ends: tuple[int, int]) -> np.dtype[Any] | None:
    """The least dtype of 16 or 32 bits that has all numbers between these ends, if there is one."""
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    return next((one for one in _WORDS if dtypes.span(one)[0] <= low and high <= dtypes.span(one)[1]), None)


def widened(x: Any, y: Any, dtype: np.dtype[Any] | None = None) -> tuple[Any, Any]:
    """Two operands in the digits of all numbers of a dtype, by default of the least that has both."""
    dtype = (word(ends_of(x), ends_of(y)) or np.dtype(np.int64)) if dtype is None else dtype
    if is_wide(x) or is_wide(y):
        return x, y
    return (in_words(x, dtype) if is_slots(x) else x), (in_words(y, dtype) if is_slots(y) else y)


def looked_up_in_words(session: SlotSession, x: Numbers, table: Entries, dtype: np.dtype[Any]) -> Numbers | None:
    """A function of numbers as numbers of 32 bits; None if one slot holds the results, or there is no such table."""
    ends = int(table.min()), int(table.max())
    held = dtypes.held(dtype, ends)
    if session.fits(*ends) or held.itemsize != 4 or x.places > MOST_PLACES:
        return None
    first = dtypes.span(held)[0]
    tables = [(table - first) // DIGIT**at % DIGIT for at in range(LONG_DIGITS)]
    digits = tuple(one.digits[0] for one in looked_up_all(session, x, tables))
    return Numbers(digits, first, *ends).trimmed()


def in_words(x: EncryptedSlots, dtype: np.dtype[Any]) -> EncryptedSlots:
    """An array in the digits of all numbers of a dtype of 16 or 32 bits, or as it is if it has none.

    Of 64 bits it has nine digits, with a sign.
    """
    count, offset = (LONG_DIGITS + 1, _NINE) if dtype.itemsize == 8 else (2 * dtype.itemsize, dtypes.span(dtype)[0])
    found = spelled(x, x, count, offset)
    return x if found is None else x.replaced(Numbers(tuple(found), offset, *x.bound), None, x.dtype)


def tabled(session: SlotSession, some: Sequence[Numbers], tables: Sequence[Any], spare: int = 0) -> list[list[Chunks]]:
    """Several tables of each of some numbers, with two levels beside the one that stays, and with little noise.

    What was masked at level 2 and then bootstrapped leaves tables with noise that products would multiply.
    """
    found = [looked_up_all(session, one, own, spare=spare) for one, own in zip(some, tables, strict=True)]
    quiet = iter(calm(session, [one for row in found for one in row], _AFTER_TABLES))
    return [[next(quiet).digits[0] for _ in row] for row in found]


class Products:
    """Sums of products of ciphertexts, of all places at once."""

    def __init__(self, session: SlotSession, what: str) -> None:
        self._engine, self._key = session.engine, session.relinearization(what)

    def __call__(self, *pairs: tuple[Chunks, Chunks], more: Any = None) -> Chunks:
        """The sum of products of these pairs, and more."""
        columns = [list(zip(*side, strict=True)) for side in zip(*pairs, strict=True)]
        # Of one product alone factors may differ, of a sum those that are not of their level cost noise.
        made = [
            self._engine.product_sum(list(a), list(b), self._key)
            if len(pairs) > 1
            else self._engine.multiply(a[0], b[0], self._key)
            for a, b in zip(*columns, strict=True)
        ]
        return made if more is None else [self._engine.add(a, b) for a, b in zip(made, more, strict=True)]


def compared(ufunc: np.ufunc, x: Any, y: Any) -> tuple[Numbers, Any] | None:
    """A comparison as numbers 0 and 1, and the table of its results; None as of `both`.

    The high digits decide, then the next ones: eight levels of two times two digits, one product more than of two.
    """
    found = both(x, y)
    if found is None:
        return None
    session = (x if is_wide(x) else y).session
    differences = [apart(session, a, b) for a, b in zip(*found[:2], strict=True)]
    base = _NEGATED.get(ufunc, ufunc)
    values = np.arange(1 - DIGIT, DIGIT)
    tables = [one(values, 0).astype(np.int64) for one in ((np.equal,) if base is np.equal else (np.equal, base))]
    rows = tabled(session, together(session, differences, _LEVELS), [tables] * len(differences))
    multiplied = Products(session, "A comparison of two arrays")
    while len(rows) > 1:
        # Of each two the low one decides where the high one is equal. Whether all are does not matter at last.
        first, equal = len(rows) % 2, base is np.equal or len(rows) > 2
        pairs = zip(rows[first::2], rows[first + 1 :: 2], strict=True)
        rows = rows[:first] + [_decided(session, multiplied, (low, high), equal=equal) for low, high in pairs]
    results = np.array([True, False]) if ufunc in _NEGATED else np.array([False, True])
    return Numbers((rows[0][-1],), 0, 0, 1), results


def _decided(
    session: SlotSession, multiplied: Products, pair: tuple[list[Chunks], list[Chunks]], *, equal: bool
) -> list[Chunks]:
    """Whether two digits each are equal, if that is asked for, and their order if they have one."""
    low, high = pair
    low = low if equal else low[1:]
    # Of eight digits a third product is to come.
    same, *others = together(session, [Numbers((one,), 0, 0, 1) for one in (high[0], *low)], _ONE_PRODUCT)
    sums = [None, *high[1:]] if equal else high[1:]
    return [multiplied((same.digits[0], one.digits[0]), more=more) for one, more in zip(others, sums, strict=True)]


def within(ends: tuple[int, int], dtype: np.dtype[Any]) -> tuple[int, int]:
    """The range of what would have these ends, or of the dtype around which it wraps."""
    low, high = dtypes.span(dtype)
    return ends if low <= ends[0] and ends[1] <= high else (low, high)


def chosen(session: SlotSession, flag: Any, x: Digits, y: Digits) -> tuple[Chunks, ...]:
    """`y + flag (x - y)` of every digit; the flag is encrypted, or numbers in the clear for each ciphertext.

    Raises
    ------
    LevelError
        If a level is missing for the product.
    """
    engine, differences = session.engine, [apart(session, a, b) for a, b in zip(x, y, strict=True)]
    if isinstance(flag, Numbers):
        # One product, and what stays.
        first, *others = calm(session, [flag, *differences], 2)
        flags, multiplied = first.whole(session).digits[0], Products(session, "A choice between two arrays")
        return tuple(multiplied((flags, one.digits[0]), more=more) for one, more in zip(others, y, strict=True))
    rows = []
    for one, more in zip(calm(session, differences, 2), y, strict=True):
        masked = [engine.multiply(chunk, row) for chunk, row in zip(one.digits[0], flag, strict=True)]
        [quiet] = Numbers((masked,), 0, 0, 0).quieter(session).digits
        plain = isinstance(more[0], np.ndarray | int)
        rows.append(
            [engine.add(a, b) for a, b in zip(quiet, more, strict=True)] if plain else quiet_sum(session, [quiet, more])
        )
    return tuple(rows)


def added(x: Any, y: Any, sign: int, dtype: np.dtype[Any], ends: tuple[int, int]) -> Numbers | None:
    """`x + sign y` as numbers of a dtype of 16 or 32 bits, around which it wraps; None as of `both`.

    `ends` are those of the sum before it wraps. Four digits at a time carry to the next four, which are bootstrapped
    with it. Of 64 bits there are nine digits, which must hold the sum.
    """
    like = x if is_slots(x) else y
    if dtype.itemsize == 8:
        nine = [spelled(one, like, LONG_DIGITS + 1, _NINE) for one in (x, y)]
        found = None if nine[0] is None or nine[1] is None else (nine[0], nine[1], _NINE)
    else:
        found = both(x, y, dtype)
    if found is None:
        return None
    session, offset = like.session, found[2]
    sums = together(session, [met(session, a, b, sign) for a, b in zip(*found[:2], strict=True)], _LEVELS)
    digits: list[Chunks] = []
    carry: Chunks = []
    for at in range(0, len(sums), WIDE_DIGITS):
        four = sums[at : at + WIDE_DIGITS]
        if at:
            four = [*together(session, [_with_carry(session, four[0], carry, sign)], _LEVELS), *four[1:]]
        if len(four) == 1:
            # Both offsets and that of the result are half of what the ninth digit counts.
            [last] = looked_up_all(session, four[0], [(four[0].values() - sign * DIGIT // 2) % DIGIT])
            digits.append(last.digits[0])
            continue
        last_four = at + WIDE_DIGITS == len(sums)
        made, carry = _four(session, four, sign, offset // DIGIT ** (len(sums) - 1) if last_four else None)
        digits += made
    return Numbers(tuple(digits), offset, *within(ends, dtype)).trimmed()


def _with_carry(session: SlotSession, one: Numbers, carry: Chunks, sign: int) -> Numbers:
    call = session.engine.add if sign == 1 else session.engine.subtract
    chunks = [call(a, b) for a, b in zip(one.digits[0], carry, strict=True)]
    return Numbers((chunks,), 0, *((one.low, one.high + 1) if sign == 1 else (one.low - 1, one.high)))


def _four(session: SlotSession, sums: Sequence[Numbers], sign: int, offset: int | None) -> tuple[list[Chunks], Chunks]:
    """The digits of four sums of digits, the last of which wraps where there is an offset, and else what they carry.

    With sums s, and what they carry by themselves (g) or hand on (p), carries are `g + p c`.
    """

    def own(one: Numbers) -> list[Any]:
        values = one.values()
        carries, passes = values // DIGIT * sign, (values == (DIGIT - 1 if sign == 1 else 0)).astype(np.int64)
        return [carries, DIGIT * carries, passes, DIGIT * passes]

    # Both offsets and that of the result are alike, and 0 or half of what the highest digit counts.
    turned = sums[3].values() + (offset or 0)
    top = turned % DIGIT
    tables = [*map(own, sums[:3]), own(sums[3]) if offset is None else [top, (turned + sign) % DIGIT - top]]
    (g0, wide0, *_), (g1, wide1, p1, over1), (g2, wide2, p2, over2), last = tabled(session, sums, tables)
    multiplied = Products(session, "A sum that wraps")
    second, wide_second = multiplied((p1, g0), more=g1), multiplied((over1, g0), more=wide1)
    wide_third = multiplied((over2, second), more=wide2)
    carries: list[tuple[Any, Any]] = [(None, wide0), (g0, wide_second), (second, wide_third)]
    if offset is None:
        # Of the next four: by the product of what two digits hand on.
        g3, wide3, p3, over3 = last
        handed, wide_handed = multiplied((p3, p2)), multiplied((over3, p2))
        carry = multiplied((p3, g2), (handed, second), more=g3)
        wide_carry = multiplied((over3, g2), (wide_handed, second), more=wide3)
        carries.append((multiplied((p2, second), more=g2), wide_carry))
    digits = [_carried(session, one.digits[0], *pair, sign) for one, pair in zip(sums, carries, strict=False)]
    if offset is None:
        return digits, carry
    t, change = last
    highest = multiplied((change, g2), (multiplied((change, p2)), second), more=t)
    return [*digits, highest], []


def _carried(session: SlotSession, chunks: Chunks, carry: Any, over: Chunks, sign: int) -> Chunks:
    """Sums of digits with a carry, if there is one, less 16 times what they carry."""
    engine = session.engine
    calls = (engine.add, engine.subtract) if sign == 1 else (engine.subtract, engine.add)
    for call, one in zip(calls, (carry, over), strict=True):
        chunks = chunks if one is None else [call(a, b) for a, b in zip(chunks, one, strict=True)]
    return chunks
