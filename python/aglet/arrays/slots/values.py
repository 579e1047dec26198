"""Whole numbers in slots, their range, and what arithmetic and tables make of them.

A number lies in one slot, or in two as digits of four bits: tables of digits take fewer levels. Slots beyond the
elements hold something else.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet.arrays.slots.separate import separated
from aglet.errors import LevelError, RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = [
    "DIGIT", "MOST_DIGITS", "MOST_PLACES", "WIDE_DIGITS", "Numbers", "bootstraps", "calm", "enough", "looked_up",
    "looked_up_all", "noise_at_1", "quiet_sum", "ready", "room", "together", "too_noisy",
]  # fmt: skip

Chunks = list[Any]
Entries = NDArray[np.int64]

DIGIT = 16
"""Values of a digit."""
MOST_DIGITS = 2
"""As many digits have the numbers of 8 bits that are encrypted in digits."""
WIDE_DIGITS = 4
"""As many have those of more values than a table."""
_GAIN = 2.0
"""Bits of noise for which a ciphertext is divided rather than switched."""
_LOUD = 2.5
"""Bits of noise above a rounding that powers of a number do not outgrow."""
_TAKEN = 3.0
"""Bits of noise above a rounding that a bootstrap takes."""
MOST_PLACES = 8192
"""The longest table of slots."""
_WHOLE = b"whole"
"""The name of numbers in one slot among tables, whose names are longer."""
_OF_DIGIT = 5
"""Levels of a table of a digit, and what stays."""


@dataclass(frozen=True)
class Numbers:
    """Encrypted whole numbers from `low` to `high`: `offset` and digits that count 1, 16, ..."""

    digits: tuple[Chunks, ...]
    """For each digit its ciphertexts."""
    offset: int
    low: int
    high: int
    tables: dict[bytes, Numbers] = field(default_factory=dict, compare=False, repr=False)
    """What was looked up of them, for all arrays that share them."""

    @property
    def level(self) -> int:
        """The products that are left."""
        return int(min(chunk.level for digit in self.digits for chunk in digit))

    @property
    def places(self) -> int:
        """How many values there may be."""
        return self.high - self.low + 1

    def digit(self, at: int) -> Numbers:
        """One digit as numbers of their own, the same ones each time, so that its tables are kept."""
        name = f"digit {at}".encode()
        return self.tables.setdefault(name, Numbers((self.digits[at],), 0, 0, DIGIT - 1))

    def whole(self, session: SlotSession) -> Numbers:
        """The numbers in one slot each, without an offset. It uses no level."""
        engine, others = session.engine, self.digits[1:]

        def made(numbers: Numbers) -> Chunks:
            chunks = numbers.digits[0]
            for at, digit in enumerate(numbers.digits[1:], 1):
                chunks = [engine.add(x, engine.multiply(y, DIGIT**at)) for x, y in zip(chunks, digit, strict=True)]
            return chunks

        if not others and not self.offset:
            return Numbers((self.digits[0],), 0, self.low, self.high)
        kept = self.tables.get(_WHOLE)
        if kept is None:
            # For the next sum or product of them, as each takes a pass over all digits.
            chunks = _in_time(session, self, made) if others else self.digits[0]
            chunks = [engine.add(x, self.offset) for x in chunks] if self.offset else chunks
            kept = self.tables.setdefault(_WHOLE, Numbers((chunks,), 0, self.low, self.high))
        return Numbers(kept.digits, 0, self.low, self.high)

    def scaled(self, session: SlotSession, factor: int, add: int) -> Numbers:
        """`factor x + add`, with a factor that is not 0. It uses no level."""
        engine = session.engine
        ends = sorted((factor * self.low + add, factor * self.high + add))
        session.check_range(*ends)

        def made(numbers: Numbers) -> Chunks:
            return [engine.multiply(x, factor) for x in numbers.digits[0]]

        whole = self.whole(session)
        chunks = whole.digits[0] if factor == 1 else _in_time(session, whole, made)
        return Numbers(([engine.add(x, add) for x in chunks] if add else chunks,), 0, ends[0], ends[1])

    def same(self, other: Numbers) -> bool:
        """Whether these are the same ciphertexts, read in the same way."""
        if (self.offset, self.low, self.high, self.shape) != (other.offset, other.low, other.high, other.shape):
            return False
        pairs = zip(self.digits, other.digits, strict=True)
        return all(x is y for one, two in pairs for x, y in zip(one, two, strict=True))

    @property
    def shape(self) -> tuple[int, int]:
        """Digits, and ciphertexts of each."""
        return len(self.digits), len(self.digits[0])

    def quieter(self, session: SlotSession) -> Numbers:
        """Without the noise of masks and sums, which tables do not take: a level lower, if one is left then."""
        engine = session.engine

        def lower(x: Any) -> Any:
            if x.level < 2:
                return x
            switched = engine.mod_switch(x, x.level - 1)
            if x.level > 2:
                return switched
            # A switch multiplies the noise by a factor, after which a bootstrap from level 1 may not take it. Division
            # alone leaves another factor, which later tables pay for.
            divided = engine.rescale(x)
            return divided if engine.noise_budget(divided) > engine.noise_budget(switched) + _GAIN else switched

        digits = tuple([lower(x) for x in chunks] for chunks in self.digits)
        return Numbers(digits, self.offset, self.low, self.high)

    def trimmed(self) -> Numbers:
        """Without the digits above two that are the same for all these numbers."""
        digits, offset = self.digits, self.offset
        while len(digits) > MOST_DIGITS:
            unit = DIGIT ** (len(digits) - 1)
            least, most = ((end - offset) // unit for end in (self.low, self.high))
            if least != most:
                break
            digits, offset = digits[:-1], offset + least * unit
        return self if len(digits) == len(self.digits) else Numbers(digits, offset, self.low, self.high)

    def has_table(self, table: Entries) -> bool:
        """Whether a function of these numbers can be looked up, by whatever way."""
        return self.places <= MOST_PLACES or table.min() == table.max() or self.separated(table) is not None

    def separated(self, table: Entries) -> Any:
        """`aglet.arrays.slots.separate.separated` of a function of numbers of more than two digits."""
        return None if len(self.digits) <= MOST_DIGITS else separated(table, self.low - self.offset, len(self.digits))

    def chosen(self, places: Any) -> Numbers:
        """Those of these ciphertexts."""
        digits = tuple([chunks[at] for at in places] for chunks in self.digits)
        return Numbers(digits, self.offset, self.low, self.high)

    def constant(self, session: SlotSession, value: int) -> Numbers:
        """The same value everywhere, as ciphertexts that everybody can read."""
        engine = session.engine
        chunks = [engine.add(engine.multiply(x, 0), value) for x in self.digits[0]]
        return Numbers((chunks,), 0, value, value)

    def refreshed(self, session: SlotSession) -> Numbers:
        """After a bootstrap of every ciphertext."""
        count = len(self.digits[0])
        found = session.bootstrapped([chunk for digit in self.digits for chunk in digit])
        digits = tuple(found[at * count : (at + 1) * count] for at in range(len(self.digits)))
        return Numbers(digits, self.offset, self.low, self.high)


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


def quiet_sum(session: SlotSession, rows: Sequence[Chunks]) -> Chunks:
    """A sum whose noise a bootstrap takes: of bootstrapped terms, if need be."""
    add = session.engine.add

    def summed(some: Sequence[Chunks]) -> Chunks:
        return [functools.reduce(add, column) for column in zip(*some, strict=True)]

    found = summed(rows)
    return summed([session.bootstrapped(one) for one in rows]) if too_noisy(session, found) else found


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
    return x.quieter(session) if _loud(session, x) and (session.bootstrap_level is not None or x.level > needed) else x


def _loud(session: SlotSession, x: Numbers) -> bool:
    return any(session.engine.noise_excess(chunk) > _LOUD for digit in x.digits for chunk in digit)


def _placed(session: SlotSession, x: Numbers, tables: Sequence[Entries]) -> tuple[Numbers, Entries]:
    """Numbers from 0 on, and tables with as many entries as their digits have values."""
    if x.places > MOST_PLACES:
        ways = 'compute in digits, x.to("digits")' if len(x.digits) > 1 else "take digits: encrypt without "
        ways += "" if len(x.digits) > 1 else 'representation="slots"'
        raise RangeError(
            f"These numbers may have {x.places:,} values, and a table of slots has up to {MOST_PLACES:,}; declare a "
            f"smaller range with x.assume(bound=(low, high)), or {ways}."
        )
    x = x.whole(session) if DIGIT ** len(x.digits) > MOST_PLACES else x
    if len(x.digits) == 1:
        moved = [session.engine.add(chunk, x.offset - x.low) for chunk in x.digits[0]]
        return Numbers((moved if x.offset != x.low else x.digits[0],), 0, 0, x.places - 1), np.stack(tables)
    # Digits hold a number less the offset, whatever is declared of it since.
    full = np.stack([np.full(DIGIT ** len(x.digits), table[0]) for table in tables])
    full[:, x.low - x.offset : x.high - x.offset + 1] = tables
    return x, full


def room(session: SlotSession, x: Numbers, levels: int, least: int) -> Numbers:
    """Numbers with levels for rotations and sums; without a bootstrap, with the `least` that they need.

    A bootstrap takes numbers at level 1, and the noise of rotations only from above it.
    """
    return enough(session, x, least if session.keys.bootstrap is None else levels)


def together(session: SlotSession, some: Sequence[Numbers], levels: int) -> list[Numbers]:
    """Numbers with so many levels, after one bootstrap of all that have fewer; as they are where that does not help."""
    after = session.bootstrap_level
    if after is None or after < levels or min((one.level for one in some), default=0) < 1:
        return list(some)
    # A table lowers what is loud first.
    low = [one.level - _loud(session, one) < levels for one in some]
    chunks = [chunk for one, is_low in zip(some, low, strict=True) if is_low for digit in one.digits for chunk in digit]
    found = iter(session.bootstrapped(chunks) if chunks else [])
    return [
        Numbers(tuple([next(found) for _ in digit] for digit in one.digits), one.offset, one.low, one.high)
        if is_low
        else one
        for one, is_low in zip(some, low, strict=True)
    ]


def calm(session: SlotSession, some: Sequence[Numbers], levels: int) -> list[Numbers]:
    """`together`, and a level lower what is loud: products and masks would multiply its noise."""
    found = together(session, some, levels)
    return [one.quieter(session) if _loud(session, one) and one.level > levels else one for one in found]


def ready(session: SlotSession, x: Numbers, table: Entries) -> Numbers:
    """Numbers that will move and then meet in a table: bootstrapped now, if they would be after the move."""
    after = session.bootstrap_level
    if after is None or not 1 <= x.level < after:
        return x
    more = bootstraps(session, table, x.level - 1) > bootstraps(session, table, after - 1)
    return x.refreshed(session) if more else x


def _in_time(session: SlotSession, x: Numbers, made: Callable[[Numbers], Chunks]) -> Chunks:
    """What is made of numbers, of these after a bootstrap where no bootstrap would take the noise of it."""
    found = made(x)
    return made(x.refreshed(session)) if too_noisy(session, found) else found


def too_noisy(session: SlotSession, chunks: Chunks) -> bool:
    """Whether a bootstrap, which alone is left at level 1, does not take the noise of one of these ciphertexts."""
    return session.bootstrap_level is not None and noise_at_1(session, chunks) > _TAKEN


def noise_at_1(session: SlotSession, chunks: Chunks) -> float:
    """The most noise of those at level 1, where nothing divides it, in bits above a rounding."""
    return max((session.engine.noise_excess(chunk) for chunk in chunks if chunk.level == 1), default=-math.inf)


def bootstraps(session: SlotSession, table: Entries, level: int) -> float:
    """The bootstraps that a table takes at a level; infinite where there is no such table."""
    if len(table) > MOST_PLACES:
        return math.inf
    if level >= session.engine.plan_lookup(table).levels + 1:
        return 0
    parts = session.engine.plan_lookup_in_parts(table, level)
    return math.inf if parts is None else parts.bootstraps


def enough(session: SlotSession, x: Numbers, levels: int) -> Numbers:
    """Numbers with so many levels, after a bootstrap if need be.

    Raises
    ------
    LevelError
        If there is no bootstrap that leaves so many.
    """
    if x.level >= levels:
        return x
    after = session.bootstrap_level
    if after is not None and x.level < 1:
        raise LevelError("Nothing is left of these numbers to bootstrap; call x.refresh() one operation earlier.")
    if after is None or after < levels:
        left = (
            "the keys have no bootstrap. Make some that have one with IntegerEngine(use_bootstrap=True).create_keys(), "
            "declare"
            if after is None
            else f"a bootstrap leaves {after}. Declare"
        )
        raise LevelError(
            f"This takes {levels} levels and the numbers have {x.level}; {left} a smaller range with "
            "x.assume(bound=(low, high)), take a wider dtype where sums would wrap around, as in "
            'x.astype(numpy.int16) + y, compute in digits, x.to("digits"), or take IntegerEngine(preset="int16-deep").'
        )
    return x.refreshed(session)
