"""Functions of numbers in slots by tables: by arithmetic if the table is a line, else by polynomials, once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.slots.values import DIGIT, MOST_PLACES, Entries, Numbers, enough, loud, quiet_sum, together

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["bootstraps", "looked_up", "looked_up_all", "ready"]

_OF_DIGIT = 5
"""Levels of a table of a digit, and what stays."""


def looked_up(session: SlotSession, x: Numbers, table: Entries) -> Numbers:
    """`table[x - low]` of every number: by arithmetic, if the table is a line, else by a polynomial, once.

    Raises
    ------
    RangeError
        If the results have too large a range, or the table is too long.
    LevelError
        If it takes more levels than there are, and no bootstrap.
    """
    return looked_up_all(session, x, [table])[0]


def looked_up_all(session: SlotSession, x: Numbers, tables: Sequence[Entries], *, spare: int = 0) -> list[Numbers]:
    """`looked_up` of several tables, which share the powers of the numbers and may take spare levels to save work."""
    missing = {one.tobytes(): one for one in tables if one.tobytes() not in x.tables}
    found = [_by_digits(session, x, one) or _by_arithmetic(session, x, one) for one in missing.values()]
    bent = [one for one, made in zip(missing.values(), found, strict=True) if made is None]
    others = iter(_by_polynomials(session, x, bent, spare) if bent else [])
    made = [next(others) if one is None else one for one in found]
    x.tables.update(zip(missing, made, strict=True))
    return [x.tables[one.tobytes()] for one in tables]


def _by_arithmetic(session: SlotSession, x: Numbers, table: Entries) -> Numbers | None:
    """Of a table that is a line."""
    low, high = int(table.min()), int(table.max())
    session.check_range(low, high)
    if low == high:
        return x.constant(session, low)
    steps = np.diff(table)
    if (steps != steps[0]).any():
        return None
    slope = int(steps[0])
    return x.scaled(session, slope, int(table[0]) - slope * x.low)


def _by_digits(session: SlotSession, x: Numbers, table: Entries) -> Numbers | None:
    """Of more digits than a table has variables, if digits of the results are sums of tables of them."""
    found = None if table.min() == table.max() else x.separated(table)
    if found is None:
        return None
    offset, results = found
    tables = [[row[at] for row in results] for at in range(len(x.digits))]
    bent = {at: [one for one in some if one.min() < one.max()] for at, some in enumerate(tables)}
    digits = _raised(session, x, [at for at, some in bent.items() if some])
    columns: list[Any] = []
    for at, some in enumerate(tables):
        made = iter(looked_up_all(session, digits[at], bent[at]) if bent[at] else [])
        columns.append([next(made) if one.min() < one.max() else int(one[0]) for one in some])
    rows = []
    for row in zip(*columns, strict=True):
        encrypted = [one.digits[0] for one in row if isinstance(one, Numbers)]
        rest = sum(one for one in row if not isinstance(one, Numbers))
        chunks = quiet_sum(session, encrypted) if encrypted else x.constant(session, 0).digits[0]
        rows.append([session.engine.add(chunk, rest) for chunk in chunks] if rest else chunks)
    return Numbers(tuple(rows), offset, int(table.min()), int(table.max())).trimmed()


def _raised(session: SlotSession, x: Numbers, places: Sequence[int]) -> dict[int, Numbers]:
    """Digits with levels for a table of one, which are kept for the next function: each bit of a number is one."""
    names = {at: f"raised {at}".encode() for at in places}
    made = together(session, [x.tables.get(name, x.digit(at)) for at, name in names.items()], _OF_DIGIT)
    x.tables.update(zip(names.values(), made, strict=True))
    return dict(zip(places, made, strict=True))


def _by_polynomials(session: SlotSession, x: Numbers, tables: Sequence[Entries], spare: int) -> list[Numbers]:
    x, entries = _placed(session, x, tables)
    # A cast or a bootstrap needs one more.
    needed = session.engine.plan_lookup(entries, len(x.digits), spare_levels=spare).levels + 1
    x = _quiet(session, x, needed)
    key, call = session.relinearization("A table"), session.engine.lookup_many
    if x.level < needed and _goes_in_parts(session, x, entries, needed):
        rows = call(x.digits[0], entries, key, bootstrap_key=session.bootstrap_key())
    else:
        columns = zip(*enough(session, x, needed).digits, strict=True)
        rows = call([list(digits) for digits in columns], entries, key, spare_levels=spare)
    ends = [(int(table.min()), int(table.max())) for table in tables]
    return [Numbers((list(made),), 0, *end) for made, end in zip(zip(*rows, strict=True), ends, strict=True)]


def _goes_in_parts(session: SlotSession, x: Numbers, entries: Entries, needed: int) -> bool:
    """Whether a table takes more levels than a bootstrap leaves, and can be looked up with several."""
    after = session.bootstrap_level
    if len(x.digits) > 1 or after is None or after >= needed:
        return False
    return session.engine.plan_lookup_in_parts(entries, x.level) is not None


def _quiet(session: SlotSession, x: Numbers, needed: int) -> Numbers:
    """Numbers whose noise a table does not square: a level lower, if it would and there is one, or a bootstrap."""
    return x.quieter(session) if loud(session, x) and (session.bootstrap_level is not None or x.level > needed) else x


def _placed(session: SlotSession, x: Numbers, tables: Sequence[Entries]) -> tuple[Numbers, Entries]:
    """Numbers from 0 on, and tables with as many entries as their digits have values."""
    if x.places > MOST_PLACES:
        raise x.no_table()
    if DIGIT ** len(x.digits) > MOST_PLACES:
        # Counted from the least, they fit the modulus wherever they lie.
        x = Numbers(x.digits, x.offset - x.low, 0, x.places - 1).whole(session)
    if len(x.digits) == 1:
        moved = [session.engine.add(chunk, x.offset - x.low) for chunk in x.digits[0]]
        return Numbers((moved if x.offset != x.low else x.digits[0],), 0, 0, x.places - 1), np.stack(tables)
    # Digits hold a number less the offset, whatever is declared of it since.
    full = np.stack([np.full(DIGIT ** len(x.digits), table[0]) for table in tables])
    full[:, x.low - x.offset : x.high - x.offset + 1] = tables
    return x, full


def ready(session: SlotSession, x: Numbers, table: Entries) -> Numbers:
    """Numbers that will move and then meet in a table: bootstrapped now, if they would be after the move."""
    after = session.bootstrap_level
    if after is None or not 1 <= x.level < after:
        return x
    more = bootstraps(session, table, x.level - 1) > bootstraps(session, table, after - 1)
    return x.refreshed(session) if more else x


def bootstraps(session: SlotSession, table: Entries, level: int) -> float:
    """The bootstraps that a table takes at a level; infinite where there is no such table."""
    if len(table) > MOST_PLACES:
        return math.inf
    if level >= session.engine.plan_lookup(table).levels + 1:
        return 0
    parts = session.engine.plan_lookup_in_parts(table, level)
    return math.inf if parts is None else parts.bootstraps
