"""`//` and `%` of two arrays of 8 bits: quotients are read from differences of logarithms.

With whole numbers `u` and `v`, about 190 times logarithms to base 2, `x // y` is a function of `u[x] - v[y]` for all
numbers up to 255: each multiple of `y` by a number has larger differences than what is just below multiples by that
number. So one table of a few thousand values has all quotients. Operands of different signs have their own values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.slots.places import ends_of, is_slots, laid
from aglet.arrays.slots.tables import looked_up_all
from aglet.arrays.slots.values import MOST_PLACES, Chunks, Entries, Numbers, calm, quiet_sum
from aglet.arrays.slots.wide import Products

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["MOST", "Quotient", "quotients", "scales"]

MOST = {False: 255, True: 128}
"""The largest dividend, without signs and with them."""
_PER_OCTAVE = {False: 190, True: 132}
"""What a factor of two adds to `u` and `v`: nearly the least with which there are such numbers."""
_PRODUCT = 2
"""Levels of a product, and what stays."""


@functools.cache
def scales(signed: bool) -> tuple[Entries, Entries]:
    """`u` of numbers from 0, and `v`, up to one above the largest: as of 0, no number has a quotient by it.

    `u` is the least for the logarithms `v`: it begins with zeros, and grows until no condition is left.
    """
    most, each = MOST[signed], _PER_OCTAVE[signed]
    v = np.zeros(most + 2, dtype=np.int64)
    v[1:] = np.floor(each * np.log2(np.arange(1, most + 2)))
    u, before = np.zeros(most + 1, dtype=np.int64), None
    while before is None or (u != before).any():
        before = u.copy()
        for k in range(1, most + 1):
            # Multiples by k, all that have k - 1 or less at most, and those that have more than k.
            y, z = np.arange(1, most // k + 1), np.arange(1, (most + 1) // k + 1)
            u[k * y] = np.maximum(u[k * y], v[y] + 1 + (u[k * z - 1] - v[z]).max())
            above = y[k * y < most]
            if signed and above.size:
                u[k * above + 1] = np.maximum(u[k * above + 1], v[above] + 1 + (u[k * y] - v[y]).max())
        u = np.maximum.accumulate(u)
    v[[0, -1]] = u[most] - (u[1:] - v[1:-1]).min() + 1
    return u, v


@functools.cache
def quotients(signed: bool) -> tuple[Entries, int, int]:
    """All quotients by differences from the least, which comes next, and what is added where signs differ."""
    u, v = scales(signed)
    sizes, others = np.arange(len(u)), np.arange(len(v))
    differences = u[:, None] - v
    least, most = int(differences.min()), int(differences.max())
    apart = most - least + 1 if signed else 0
    table = np.zeros(most - least + 1 + apart, dtype=np.int64)
    with np.errstate(divide="ignore"):
        table[differences - least] = sizes[:, None] // others
        if signed:
            # 0 has no sign.
            table[differences[1:, 1:] - least + apart] = -sizes[1:, None] // others[1:]
    return table, least, apart


class Quotient:
    """`x // y` and `x % y` of two operands in the same places, one of which may be in the clear.

    Raises
    ------
    LevelError
        If there are too few levels, and no bootstrap.
    """

    def __init__(self, x: Any, y: Any) -> None:
        self._x, self._y = _settled(x), _settled(y)
        self._session = (x if is_slots(x) else y).session
        self._like = x if is_slots(x) else y
        self._signed = min(*ends_of(x), *ends_of(y)) < 0

    @property
    def exists(self) -> bool:
        """Whether there are no more values than tables have."""
        short = all(one.numbers.places <= MOST_PLACES for one in (self._x, self._y) if is_slots(one))
        return short and max(map(abs, ends_of(self._x))) <= MOST[self._signed]

    def read(self, dtype: np.dtype[Any], *, whole: bool, rest: bool) -> tuple[Numbers | None, Numbers | None]:
        """The quotient, and the remainder, as numbers of a dtype: those that are asked for."""
        table, least, _ = quotients(self._signed)
        apart = self._apart()
        entries = table[apart.low - least : apart.high - least + 1]
        # -128 // -1 wraps, and the remainder is what is left by 128.
        wanted = [entries.astype(dtype).astype(np.int64)] * whole + [-entries] * rest
        found = looked_up_all(self._session, apart, wanted)
        return found[0] if whole else None, self._rest(found[-1]) if rest else None

    def _apart(self) -> Numbers:
        """Differences of logarithms, those of operands of different signs above the others."""
        (u, v), (_, _, apart) = scales(self._signed), quotients(self._signed)

        def of_y(values: Any) -> Any:
            return -v[np.minimum(np.abs(values), len(v) - 1)]

        first, *least_most = self._side(self._x, lambda values: u[np.abs(values)])
        second, low, high = self._side(self._y, of_y)
        low, high = low + least_most[0], high + least_most[1]
        differing = self._differing(apart)
        chunks = _added(self._session, [first, second, *differing])
        return Numbers((chunks,), 0, low, high + apart if differing else high)

    def _side(self, value: Any, call: Callable[[Any], Any]) -> tuple[Chunks, int, int]:
        """A function of an operand, and its ends."""
        table = call(value.values() if is_slots(value) else np.asarray(value).astype(np.int64))
        ends = int(table.min()), int(table.max())
        if not is_slots(value):
            return laid(self._like, table), *ends
        return looked_up_all(self._session, value.numbers, [table])[0].digits[0], *ends

    def _differing(self, apart: int) -> list[Chunks]:
        """So much where signs differ: products of flags of a negative and of a positive number."""
        pairs = []
        for first, second in ((self._x, self._y), (self._y, self._x)):
            if ends_of(first)[0] < 0 < ends_of(second)[1]:
                below = self._side(first, lambda values: apart * (values < 0))[0]
                pairs.append((below, self._side(second, lambda values: 1 * (values > 0))[0]))
        return _multiplied(self._session, pairs)

    def _rest(self, negated: Numbers) -> Numbers:
        """`x - (x // y) y`, and 0 where y is 0, of negated quotients."""
        x, y = (
            one.with_levels(_PRODUCT).whole(self._session).digits[0] if is_slots(one) else laid(self._like, one)
            for one in (self._x, self._y)
        )
        low, high = ends_of(self._y)
        pairs, rows = [(negated.digits[0], y)], [x]
        if low <= 0 <= high:
            flags = self._side(self._y, lambda values: 1 * (values != 0))[0]
            pairs, rows = [*pairs, (x, flags)], []
        chunks = _added(self._session, [*_multiplied(self._session, pairs), *rows])
        return Numbers((chunks,), 0, min(low + 1, 0), max(high - 1, 0))


def _settled(value: Any) -> Any:
    """An operand that no other thread changes, in as few digits as it has."""
    if not is_slots(value):
        return value
    if value.numbers.places > MOST_PLACES:
        value.forced()
    return value.still()


def _is_clear(chunks: Chunks) -> bool:
    return not hasattr(chunks[0], "level")


def _multiplied(session: SlotSession, pairs: list[tuple[Chunks, Chunks]]) -> list[Chunks]:
    """The sum of products of pairs, each with a ciphertext at least, in up to two parts."""
    flat = [one for pair in pairs for one in pair]
    quiet = iter(calm(session, [Numbers((one,), 0, 0, 0) for one in flat if not _is_clear(one)], _PRODUCT))
    ready = [one if _is_clear(one) else next(quiet).digits[0] for one in flat]
    both, masked = [], []
    for first, second in zip(ready[::2], ready[1::2], strict=True):
        if _is_clear(first) or _is_clear(second):
            masked.append((second, first) if _is_clear(first) else (first, second))
        else:
            both.append((first, second))
    rows = [Products(session, "A quotient of two arrays")(*both)] if both else []
    if masked:
        columns = (zip(*side, strict=True) for side in zip(*masked, strict=True))
        made = [session.engine.weighted_sum(list(a), list(b)) for a, b in zip(*columns, strict=True)]
        rows.append(Numbers((made,), 0, 0, 0).quieter(session).digits[0])
    return rows


def _added(session: SlotSession, rows: list[Chunks]) -> Chunks:
    """A sum of ciphertexts and of numbers in the clear."""
    found = quiet_sum(session, [one for one in rows if not _is_clear(one)])
    for row in (one for one in rows if _is_clear(one)):
        found = [session.engine.add(a, b) for a, b in zip(found, row, strict=True)]
    return found
