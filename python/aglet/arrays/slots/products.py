"""Products of 16 and 32 bits that wrap around, by columns: digits meet in pairs, and columns carry.

`x y` of two digits is `l + 16 h`. All low digits of 16 times 16 values, and all high ones, are combinations of eleven
rows of them (the rank of that matrix modulo t). So a column of the product is one sum of products: of coefficients by
one digit, and of rows by the other. Columns become digits one after the other, with a bootstrap before each: side by
side they would be bootstrapped without what they carry, and two of them once more with it. Numbers in the clear meet a
digit as a whole: what 16 values of it give, a digit of the product each.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.places import is_slots
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, Chunks, Entries, Numbers, quiet_sum, together
from aglet.arrays.slots.wide import Digits, Products, both, tabled, within

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["wide_product"]

_BITS = 4
"""Of a digit."""
_TO_COLUMNS = 7
"""Levels of a table of a digit, with one that saves half of its work, a product, and what stays."""
_OF_DIGIT = 5
"""Levels of a table of a digit, and what stays."""


@dataclass(frozen=True)
class _Shape:
    """Which digits of two factors are not always 0, how many the product has, and what these count from."""

    first: int
    second: int
    count: int
    low: int
    of_factors: int
    """The digits that factors have. The highest one counts from `low` of their dtype."""
    turned: int
    """By how much it is turned: the sign of a number of two's complement is its highest bit."""

    @classmethod
    def of(cls, x: Any, y: Any, dtype: np.dtype[Any], ends: tuple[int, int]) -> _Shape:
        """Of operands, and of the ends of the product before it wraps."""
        digits, (low, high) = 2 * dtype.itemsize, dtypes.span(dtype)
        bounds = [one.bound if is_slots(one) else (int(np.min(one)), int(np.max(one))) for one in (x, y)]
        first, second = (_width(least, most, digits) for least, most in bounds)
        count = _width(ends[0], ends[1], digits) if ends[1] <= high else digits
        return cls(first, second, count, low if count == digits else 0, digits, DIGIT // 2 if low < 0 else 0)

    def values(self, at: int) -> Entries:
        """The values of a digit that two's complement has, in the order in which it is stored."""
        return (np.arange(DIGIT) + (self.turned if at == self.of_factors - 1 else 0)) % DIGIT

    def pairs(self, column: int) -> list[tuple[int, int]]:
        """The digits that meet in a column."""
        return [(at, column - at) for at in range(column + 1) if at < self.first and column - at < self.second]


def _width(low: int, high: int, digits: int) -> int:
    """How many digits of two's complement are not always 0."""
    return digits if low < 0 else max(1, min(digits, -(-high.bit_length() // _BITS)))


def wide_product(x: Any, y: Any, dtype: np.dtype[Any], ends: tuple[int, int]) -> Numbers | None:
    """`x y` as numbers of a dtype of 16 or 32 bits, around which it wraps; None as of `both`.

    `ends` are those of the product before it wraps. Of 32 bits it takes ten bootstraps, of 16 three; each digit of a
    factor with fewer than seven levels takes one more.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """
    found = both(x, y, dtype)
    if found is None:
        return None
    if not is_slots(x):
        x, y, found = y, x, (found[1], found[0], found[2])
    session, shape = x.session, _Shape.of(x, y, dtype, ends)
    first, second = found[0][: shape.first], found[1][: shape.second]
    columns, most = (_columns if is_slots(y) else _weighted)(session, first, second, shape)
    turned = shape.turned if shape.low else 0
    zero = Numbers((first[0],), 0, 0, 0).constant(session, 0).digits[0]
    digits = _carried(session, [one or zero for one in columns], most, turned)
    return Numbers(tuple(digits), shape.low, *within(ends, dtype))


@functools.cache
def _rows(t: int) -> tuple[Entries, Entries, Entries]:
    """Low and high digits of the products of some digits with all, and the combination of these for every digit."""
    products = np.outer(np.arange(DIGIT), np.arange(DIGIT))
    both = np.concatenate([products % DIGIT, products // DIGIT], axis=1)
    chosen: list[int] = []
    reduced: list[Any] = []
    pivots: list[int] = []
    for at, row in enumerate(both):
        left = _without(row, reduced, pivots, t)
        if left.any():
            pivots.append(int(np.flatnonzero(left)[0]))
            reduced.append(left * pow(int(left[pivots[-1]]), -1, t) % t)
            chosen.append(at)
    # Every row of the matrix by the chosen ones, at the places where these are independent.
    square = both[np.ix_(chosen, pivots)]
    weights = np.array([_solved(square.T, row[pivots], t) for row in both])
    return both[chosen, :DIGIT], both[chosen, DIGIT:], weights.T


def _without(row: Any, reduced: list[Any], pivots: list[int], t: int) -> Any:
    left = row % t
    for one, pivot in zip(reduced, pivots, strict=True):
        left = (left - left[pivot] * one) % t
    return left


def _solved(matrix: Any, right: Any, t: int) -> Entries:
    """The solution of a system modulo t that has one."""
    rows = np.concatenate([matrix, right[:, None]], axis=1).astype(np.int64) % t
    for at in range(len(rows)):
        swap = at + int(np.flatnonzero(rows[at:, at])[0])
        rows[[at, swap]] = rows[[swap, at]]
        rows[at] = rows[at] * pow(int(rows[at, at]), -1, t) % t
        others = np.arange(len(rows)) != at
        rows[others] = (rows[others] - rows[others, at : at + 1] * rows[at]) % t
    found: Entries = rows[:, -1]
    # Entries of a table lie between -t and t.
    return np.where(found > t // 2, found - t, found)


def _columns(session: SlotSession, x: Digits, y: Digits, shape: _Shape) -> tuple[list[Chunks], list[int]]:
    """What the digits of a product are the low digits of, less what columns carry, and the most that each may be."""
    lows, highs, weights = _rows(session.engine.plaintext_modulus)
    square = len(x) == len(y) and all(
        a is b for one, two in zip(x, y, strict=True) for a, b in zip(one, two, strict=True)
    )
    held = [Numbers((one,), 0, 0, DIGIT - 1) for one in (x if square else [*x, *y])]
    ready = together(session, held, _TO_COLUMNS)
    multiplied, rank = Products(session, "A product of two arrays"), len(weights)

    def of_factor(at: int) -> Entries:
        return weights[:, shape.values(at)]

    def of_term(at: int) -> Entries:
        # High digits beyond the product belong to no column.
        return np.concatenate(
            [rows[:, shape.values(at)] for rows in ([lows, highs] if at + 1 < shape.count else [lows])]
        )

    columns: list[Chunks] = [[] for _ in range(shape.count)]
    # Hundreds of tables of each ciphertext are there at once.
    for chunk in range(len(x[0])):
        digits = [one.chosen([chunk]) for one in ready]
        if square:
            made = [
                _tables(session, one, np.concatenate([of_factor(at), of_term(at)])) for at, one in enumerate(digits)
            ]
            factors, terms = [one[:rank] for one in made], [one[rank:] for one in made]
        else:
            factors = [_tables(session, one, of_factor(at)) for at, one in enumerate(digits[: len(x)])]
            terms = [_tables(session, one, of_term(at)) for at, one in enumerate(digits[len(x) :])]
        for column, found in enumerate(columns):
            pairs = _met(session, factors, terms, shape, column)
            found += multiplied(*pairs) if pairs else []
    return columns, [_most(column, shape) for column in range(shape.count)]


def _met(session: SlotSession, factors: Any, terms: Any, shape: _Shape, column: int) -> list[tuple[Chunks, Chunks]]:
    """The factors and the terms of a column: low digits of it, and high ones of the one below."""
    add, rank = session.engine.add, len(factors[0])
    low, high = dict(shape.pairs(column)), dict(shape.pairs(column - 1))
    pairs = []
    for at in sorted({*low, *high}):
        for row in range(rank):
            some = [terms[low[at]][row]] if at in low else []
            some += [terms[high[at]][rank + row]] if at in high else []
            term = some[0] if len(some) == 1 else [add(a, b) for a, b in zip(*some, strict=True)]
            pairs.append((factors[at][row], term))
    return pairs


@functools.cache
def _most(column: int, shape: _Shape) -> int:
    """The most that a column may be without what it is carried.

    Pairs share digits, and where the low digit of a product is large the high one often is not: 185 for the eighth
    column, in place of 218. Each digit is in one pair of low digits and in one of high ones, so pairs are a path.
    """
    products = np.outer(np.arange(DIGIT), np.arange(DIGIT))
    low, high = shape.pairs(column), shape.pairs(column - 1)
    best = np.zeros(DIGIT, dtype=np.int64)
    for at in range(column + 1):
        for pairs, table, other in ((low, products % DIGIT, column - at), (high, products // DIGIT, column - 1 - at)):
            best = (best[:, None] + (table if (at, other) in pairs else 0)).max(axis=0) + np.zeros(
                DIGIT, dtype=np.int64
            )
    return int(best.max())


def _weighted(session: SlotSession, x: Digits, y: Digits, shape: _Shape) -> tuple[list[Chunks], list[int]]:
    """The same of numbers in the clear: a digit times such a number has one digit in each column."""
    number = sum(
        np.stack([np.asarray(one) for one in digit]).astype(np.int64) * DIGIT**at for at, digit in enumerate(y)
    )
    if len(y) == shape.of_factors:
        number = (number + shape.turned * DIGIT ** (len(y) - 1)) % DIGIT ** len(y)
    held = [Numbers((one,), 0, 0, DIGIT - 1) for one in x]
    if number.ndim == 1:
        return _by_number(session, together(session, held, _OF_DIGIT), int(number[0]), shape)
    columns: list[Chunks] = [[] for _ in range(shape.count)]
    for chunk, digits in enumerate(zip(*(one.digits[0] for one in together(session, held, _TO_COLUMNS)), strict=True)):
        flags = [_tables(session, Numbers(([one],), 0, 0, DIGIT - 1), np.eye(DIGIT, dtype=np.int64)) for one in digits]
        for column, found in enumerate(columns):
            terms = [
                (flags[at][stored][0], value * number[chunk] >> _BITS * (column - at) & DIGIT - 1)
                for at in range(min(column + 1, len(x)))
                for stored, value in enumerate(shape.values(at))
                if value
            ]
            found.append(session.engine.weighted_sum(*map(list, zip(*terms, strict=True))))
    most = [(DIGIT - 1) * min(column + 1, len(x)) for column in range(shape.count)]
    return [list(one) for one in Numbers(tuple(columns), 0, 0, 0).quieter(session).digits], most


def _by_number(
    session: SlotSession, digits: list[Numbers], number: int, shape: _Shape
) -> tuple[list[Chunks], list[int]]:
    """The same of one number for all elements: tables of digits."""
    columns, most = [], []
    for column in range(shape.count):
        tables = [shape.values(at) * number >> _BITS * (column - at) & DIGIT - 1 for at in range(column + 1)]
        some = [(one, table) for one, table in zip(digits, tables, strict=False) if table.any()]
        rows = [looked_up_all(session, one, [table])[0].digits[0] for one, table in some]
        columns.append(quiet_sum(session, rows) if rows else [])
        most.append(sum(int(table.max()) for _, table in some))
    return columns, most


def _tables(session: SlotSession, digit: Numbers, tables: Entries) -> list[Chunks]:
    return tabled(session, [digit], [list(tables)], spare=int(digit.level >= _TO_COLUMNS))[0]


def _carried(session: SlotSession, columns: list[Chunks], most: list[int], turned: int) -> list[Chunks]:
    """The digits of columns, of which each takes what the one below carries, and is bootstrapped.

    Columns of up to 127 are bootstrapped once; those of more go in parts, with two bootstraps.
    """
    digits: list[Chunks] = []
    carry: Chunks = []
    carried, last = 0, len(columns) - 1
    for at, column in enumerate(columns):
        chunks, end = quiet_sum(session, [column, carry] if carry else [column]), most[at] + carried
        turn = turned if at == last else 0
        carry, carried = [], end // DIGIT
        if end < DIGIT and not turn:
            digits.append(chunks)
            continue
        # The table, and what stays.
        [ready] = together(session, [Numbers((chunks,), 0, 0, end)], end.bit_length() + 1)
        tables = [(ready.values() + turn) % DIGIT, *([ready.values() // DIGIT] if carried and at < last else [])]
        made = looked_up_all(session, ready, tables)
        digits.append(made[0].digits[0])
        carry = made[1].digits[0] if len(made) > 1 else []
    return digits
