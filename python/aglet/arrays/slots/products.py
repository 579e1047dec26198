"""Products of 16 bits that wrap around: digits meet in pairs, whose low and high digits are sums of products of tables.

`x y` of two digits is `l + 16 h`. All low digits of 16 times 16 values, and all high ones, are combinations of eleven
rows of them (the rank of that matrix modulo t). So a column of the product is one sum of products: of coefficients by
one digit, and of rows by the other. Columns become digits one after the other, with a bootstrap before each: side by
side they would be bootstrapped without what they carry, and two of them once more with it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.slots.places import is_slots
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import DIGIT, WIDE_DIGITS, Chunks, Entries, Numbers, quiet_sum, together
from aglet.arrays.slots.wide import Digits, Products, both, is_wide, tabled, within

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["wide_product"]

_TO_COLUMNS = 7
"""Levels of a table of a digit, with one that saves half of its work, a product, and what stays."""
_TO_DIGITS = 8
"""Of a table of up to 128 values, and what stays."""


def wide_product(x: Any, y: Any, dtype: np.dtype[Any], ends: tuple[int, int]) -> Numbers | None:
    """`x y` as numbers of a dtype of 16 bits, around which it wraps; None as of `both`.

    `ends` are those of the product before it wraps.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """
    found = both(x, y, dtype)
    if found is None:
        return None
    session, low = (x if is_wide(x) else y).session, dtypes.span(dtype)[0]
    first, second = found[:2] if is_slots(x) else found[1::-1]
    columns = _columns(session, first, second, low)
    return Numbers(tuple(_carried(session, columns, low)), low, *within(ends, dtype))


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


def _columns(session: SlotSession, x: Digits, y: Digits, low: int) -> list[Chunks]:
    """What the digits of a product are the low digits of, less what columns carry: `y` may be in the clear."""
    lows, highs, weights = _rows(session.engine.plaintext_modulus)
    plain = not hasattr(y[0][0], "level")
    held = [*x, *([] if plain else y)]
    ready = together(session, [Numbers((one,), 0, 0, DIGIT - 1) for one in held], _TO_COLUMNS)
    factors, others = [], []
    for at in range(WIDE_DIGITS):
        # The sign of a number of two's complement is its highest bit, which counts from the other end here.
        turned = (np.arange(DIGIT) + _turn(low, at)) % DIGIT
        factors.append(_tables(session, ready[at], weights[:, turned]))
        # The high digits of the last one belong to no column.
        tables = np.concatenate([lows[:, turned], *([highs[:, turned]] if at + 1 < WIDE_DIGITS else [])])
        if plain:
            others.append([[table[np.asarray(one)] for one in y[at]] for table in tables])
        else:
            others.append(_tables(session, ready[WIDE_DIGITS + at], tables))
    engine, rank, columns = session.engine, len(weights), []
    multiplied = None if plain else Products(session, "A product of two arrays")
    for column in range(WIDE_DIGITS):
        pairs = []
        for at in range(column + 1):
            for row in range(rank):
                term = others[column - at][row]
                if at < column:
                    more = others[column - at - 1][rank + row]
                    term = [a + b if plain else engine.add(a, b) for a, b in zip(term, more, strict=True)]
                pairs.append((factors[at][row], term))
        if multiplied is not None:
            columns.append(multiplied(*pairs))
            continue
        sides = [list(zip(*side, strict=True)) for side in zip(*pairs, strict=True)]
        columns.append([engine.weighted_sum(list(a), list(b)) for a, b in zip(*sides, strict=True)])
    if plain:
        columns = list(Numbers(tuple(columns), 0, 0, 0).quieter(session).digits)
    return columns


def _turn(low: int, at: int) -> int:
    return DIGIT // 2 if low < 0 and at == WIDE_DIGITS - 1 else 0


def _tables(session: SlotSession, digit: Numbers, tables: Entries) -> list[Chunks]:
    return tabled(session, [digit], [list(tables)], spare=int(digit.level >= _TO_COLUMNS))[0]


def _carried(session: SlotSession, columns: list[Chunks], low: int) -> list[Chunks]:
    """The digits of columns of up to 15, 44, 73 and 102: each takes what the one below carries, and is bootstrapped."""
    most, high = DIGIT - 1, DIGIT - 2
    digits: list[Chunks] = columns[:1]
    carry: Chunks = []
    carried = 0
    for at, column in enumerate(columns[1:], 1):
        # A pair has a low digit of 15 at most, and a high one of 14.
        end = most * (at + 1) + high * at + carried
        chunks = quiet_sum(session, [column, carry] if carry else [column])
        [ready] = together(session, [Numbers((chunks,), 0, 0, end)], _TO_DIGITS)
        tables = [(ready.values() + _turn(low, at)) % DIGIT, ready.values() // DIGIT]
        made = looked_up_all(session, ready, tables[: len(columns) - at])
        digits, carry, carried = [*digits, made[0].digits[0]], made[-1].digits[0], end // DIGIT
    return digits
