"""Whole numbers in slots, their range, their levels and their noise.

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
    "DIGIT", "LONG_DIGITS", "MOST_DIGITS", "MOST_PLACES", "MOST_VALUES", "WIDE_DIGITS", "Later", "Numbers", "calm",
    "enough", "fits", "loud", "noise_at_1", "quiet_sum", "room", "together", "too_noisy",
]  # fmt: skip

Chunks = list[Any]
Entries = NDArray[np.int64]

DIGIT = 16
"""Values of a digit."""
MOST_DIGITS = 2
"""As many digits have the numbers of 8 bits that are encrypted in digits."""
WIDE_DIGITS = 4
"""As many have those of 16 bits, of more values than a table."""
LONG_DIGITS = 8
"""As many have those of 32 bits, of more values than the modulus."""
MOST_VALUES = 2**18
"""Numbers with more values have no list of them, and no function of one array that is made from it."""
_GAIN = 2.0
"""Bits of noise for which a ciphertext is divided rather than switched."""
_LOUD = 2.5
"""Bits of noise above a rounding that powers of a number do not outgrow."""
_TAKEN = 3.0
"""Bits of noise above a rounding that a bootstrap takes."""
MOST_PLACES = 8192
"""The longest table of slots."""
_WHOLE, _DIGITS = b"whole", b"digits"
"""The names of the same numbers in one slot, and in digits, among tables, whose names are longer."""


@dataclass(frozen=True, slots=True)
class Later:
    """How numbers in one slot are had in digits, for those who ask for more than sums: `aglet.arrays.slots.later`."""

    made: Callable[[], Numbers | None]
    kept: int
    """Operands that are in memory for it."""


@dataclass(slots=True, eq=False)
class Numbers:
    """Encrypted whole numbers from `low` to `high`: `offset` and digits that count 1, 16, ...

    They never change once they are made. Nothing checks that, as a check is a fifth of what Python takes for a sum.
    """

    digits: tuple[Chunks, ...]
    """For each digit its ciphertexts."""
    offset: int
    low: int
    high: int
    tables: dict[bytes, Numbers] = field(default_factory=dict, repr=False)
    """What was looked up of them, for all arrays that share them."""
    later: Later | None = field(default=None, repr=False)
    """Of more values than a table has, if it is known what they are made of."""

    @property
    def level(self) -> int:
        """The products that are left."""
        return int(min(chunk.level for digit in self.digits for chunk in digit))

    @property
    def places(self) -> int:
        """How many values there may be."""
        return self.high - self.low + 1

    def values(self) -> Entries:
        """All of them, from the least.

        Raises
        ------
        RangeError
            If they are too many.
        """
        if self.places > MOST_VALUES:
            raise RangeError(
                f"Of numbers with {self.places:,} values slots have + - * << >> & | ^ ~, comparisons, where, "
                "minimum, maximum, sort, casts of whole numbers, and // and % by numbers in the clear, up to "
                f"{MOST_PLACES // DIGIT} without their powers of two; compute in digits, "
                'x.to("digits"), or declare a smaller range with x.assume(bound=(low, high)).'
            )
        return np.arange(self.low, self.high + 1)

    def digit(self, at: int) -> Numbers:
        """One digit as numbers of their own, the same ones each time, so that its tables are kept."""
        name = f"digit {at}".encode()
        return self.tables.setdefault(name, Numbers((self.digits[at],), 0, 0, DIGIT - 1))

    def in_digits(self) -> Numbers | None:
        """These numbers in digits of four bits, made once; None if nobody knows what makes them."""
        if len(self.digits) > 1:
            return self
        later, found = self.later, self.tables.get(_DIGITS)
        if found is not None or later is None:
            return found
        made = later.made()
        if made is not None:
            made = self.tables.setdefault(_DIGITS, made)
            # What they were made of is of no use any more.
            self.later = None
        return made

    @property
    def has_digits(self) -> bool:
        """Whether these numbers lie in digits, or it is known what makes them."""
        return len(self.digits) > 1 or self.later is not None or _DIGITS in self.tables

    @property
    def kept(self) -> int:
        """Operands that are in memory for these numbers, or they alone."""
        # Another thread may make the digits meanwhile.
        later = self.later
        return 1 if later is None else later.kept

    def within(self, low: int, high: int) -> Numbers:
        """The same numbers, of which another range is declared."""
        found = Numbers(self.digits, self.offset, low, high)
        if found.places > MOST_PLACES:
            found.later = self.also(lambda digits: Numbers(digits.digits, digits.offset, low, high))
        return found.trimmed()

    def also(self, call: Callable[[Numbers], Numbers]) -> Later | None:
        """How something that is made of these numbers is had in digits."""
        if self.places <= MOST_PLACES or len(self.digits) > 1 or not self.has_digits:
            return None

        def made() -> Numbers | None:
            found = self.in_digits()
            return None if found is None else call(found)

        return Later(made, self.kept)

    def whole(self, session: SlotSession) -> Numbers:
        """The numbers in one slot each, without an offset. It uses no level.

        Raises
        ------
        RangeError
            If they do not fit the modulus.
        """
        if self.offset == 0 and len(self.digits) == 1:
            return self
        session.check_range(self.low, self.high)
        return self._kept(session)

    def residues(self, session: SlotSession) -> Chunks:
        """The numbers modulo t in one slot each, whatever their range: of use where what is made of them fits."""
        return self.digits[0] if self.offset == 0 and len(self.digits) == 1 else self._kept(session).digits[0]

    def _kept(self, session: SlotSession) -> Numbers:
        # Kept for the next sum or product of them, as each takes a pass over all digits.
        return self.tables.get(_WHOLE) or self.tables.setdefault(_WHOLE, self._joined(session))

    def _joined(self, session: SlotSession) -> Numbers:
        engine, t = session.engine, session.engine.plaintext_modulus

        def made(numbers: Numbers) -> Chunks:
            chunks = numbers.digits[0]
            for at, digit in enumerate(numbers.digits[1:], 1):
                chunks = [engine.add(x, engine.multiply(y, DIGIT**at % t)) for x, y in zip(chunks, digit, strict=True)]
            return chunks

        chunks = _in_time(session, self, made) if len(self.digits) > 1 else self.digits[0]
        chunks = [engine.add(x, self.offset % t) for x in chunks] if self.offset else chunks
        return Numbers((chunks,), 0, self.low, self.high)

    def scaled(self, session: SlotSession, factor: int, add: int) -> Numbers:
        """`factor x + add`, with a factor that is not 0. It uses no level."""
        engine = session.engine
        ends = sorted((factor * self.low + add, factor * self.high + add))
        session.check_range(*ends)

        def made(numbers: Numbers) -> Chunks:
            return [engine.multiply(x, factor) for x in numbers.digits[0]]

        add = add if abs(add) < engine.plaintext_modulus else add % engine.plaintext_modulus
        chunks = self.residues(session)
        if factor != 1:
            chunks = _in_time(session, Numbers((chunks,), 0, self.low, self.high), made)
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
            # alone leaves another correction factor, which tables absorb.
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

    def check_table(self, table: Entries) -> None:
        """Refuse a function of these numbers that is no line and cannot be looked up.

        Raises
        ------
        RangeError
            If the table is too long, and digits do not make it up.
        """
        if self.lacks(table):
            raise self.no_table()

    def lacks(self, table: Entries) -> bool:
        """Whether a function of these numbers is no line, and cannot be looked up."""
        return not self.has_table(table) and bool(np.diff(table, 2).any())

    def no_table(self) -> RangeError:
        """What is said of a table that is too long."""
        ways = 'compute in digits, x.to("digits")' if len(self.digits) > 1 else "take digits: encrypt without "
        ways += "" if len(self.digits) > 1 else 'representation="slots"'
        return RangeError(
            f"These numbers may have {self.places:,} values, and a table of slots has up to {MOST_PLACES:,}; declare a "
            f"smaller range with x.assume(bound=(low, high)), or {ways}."
        )

    def separated(self, table: Entries) -> Any:
        """`aglet.arrays.slots.separate.separated` of a function of numbers of more than two digits."""
        return None if len(self.digits) <= MOST_DIGITS else separated(table, self.low - self.offset, len(self.digits))

    def chosen(self, places: Any) -> Numbers:
        """Those of these ciphertexts."""
        digits = tuple([chunks[at] for at in places] for chunks in self.digits)
        later = self.also(lambda one: one.chosen(places))
        return Numbers(digits, self.offset, self.low, self.high, later=later)

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
        return Numbers(digits, self.offset, self.low, self.high, later=self.also(lambda one: one))


def quiet_sum(session: SlotSession, rows: Sequence[Chunks]) -> Chunks:
    """A sum whose noise a bootstrap takes: of bootstrapped terms, if need be."""
    add = session.engine.add

    def summed(some: Sequence[Chunks]) -> Chunks:
        return [functools.reduce(add, column) for column in zip(*some, strict=True)]

    found = summed(rows)
    return summed([session.bootstrapped(one) for one in rows]) if too_noisy(session, found) else found


def loud(session: SlotSession, x: Numbers) -> bool:
    """Whether powers of these numbers would outgrow their noise."""
    return any(session.engine.noise_excess(chunk) > _LOUD for digit in x.digits for chunk in digit)


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
    low = [one.level - loud(session, one) < levels for one in some]
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
    return [one.quieter(session) if loud(session, one) and one.level > levels else one for one in found]


def _in_time(session: SlotSession, x: Numbers, made: Callable[[Numbers], Chunks]) -> Chunks:
    """What is made of numbers, of these after a bootstrap where no bootstrap would take the noise of it."""
    found = made(x)
    return made(x.refreshed(session)) if too_noisy(session, found) else found


def fits(limit: int | None, low: int, high: int) -> bool:
    """Whether numbers of this range fit a modulus, which is None if nothing is too large."""
    return limit is None or (high - low < limit and -limit < low <= high < limit)


def too_noisy(session: SlotSession, chunks: Chunks) -> bool:
    """Whether a bootstrap, which alone is left at level 1, does not take the noise of one of these ciphertexts."""
    return noise_at_1(session, chunks) > _TAKEN and session.bootstrap_level is not None


def noise_at_1(session: SlotSession, chunks: Chunks) -> float:
    """The most noise of those at level 1, where nothing divides it, in bits above a rounding."""
    low = [chunk for chunk in chunks if chunk.level == 1]
    return max(map(session.engine.noise_excess, low)) if low else -math.inf


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
