"""`EncryptedSlots`: an encrypted numpy array of booleans or whole numbers, in slots of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import casts, missing
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.slots import empty, functions, later, lifting, moves, operations, sums, wide
from aglet.arrays.slots.tables import looked_up
from aglet.arrays.slots.values import MOST_PLACES, Entries, Numbers, enough
from aglet.arrays.sums import axes_of
from aglet.arrays.whole import WholeNumbers
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["EncryptedSlots"]


class EncryptedSlots(WholeNumbers):
    """Encrypted booleans or whole numbers in the shape of a numpy array. `session.encrypt` makes one.

    It computes what numpy computes on the same dtypes. A function of one array with numbers in the clear costs nothing
    until its values are needed: then a table of all its results is looked up, once for many such functions. Sums and
    products of arrays are arithmetic modulo t. What may not fit the modulus is refused. Views, as slices and transposed
    arrays, cost nothing; elements move when they meet others in different slots, which takes rotations and a level,
    or up to half of the levels in place of thousands of rotations.
    """

    __slots__ = ("_counted", "_floats", "_state", "dtype", "everywhere", "index", "session")

    session: SlotSession
    dtype: np.dtype[Any]
    index: Any
    """The place of each element, counted through the slots of all ciphertexts."""
    everywhere: bool
    """Whether one ciphertext holds one number in all slots, for all elements."""

    def __init__(
        self,
        session: SlotSession,
        numbers: Numbers,
        table: Entries | None,
        dtype: np.dtype[Any],
        index: Any,
        *,
        everywhere: bool = False,
    ) -> None:
        self.session, self.dtype, self.index = session, dtype, index
        # Both at once: another thread may look up the table meanwhile.
        self._state = numbers, table
        self.everywhere = everywhere
        self._floats: Any = None
        self._counted: tuple[EncryptedSlots, dict[str, Any], tuple[Callable[[Any], Any], ...]] | None = None

    # What it is

    @property
    def numbers(self) -> Numbers:
        """The encrypted numbers that the elements are made of."""
        return self._state[0]

    @property
    def table(self) -> Entries | None:
        """The element for each of these numbers, from the least; None if they are the same."""
        return self._state[1]

    def still(self) -> EncryptedSlots:
        """The array as it is now, for those who ask for its numbers and for its table."""
        numbers, table = self._state
        if table is None:
            return self
        found = self.__class__(self.session, numbers, table, self.dtype, self.index, everywhere=self.everywhere)
        found._counted = self._counted
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, as in numpy."""
        found: tuple[int, ...] = self.index.shape
        return found

    @property
    def _reductions(self) -> Any:
        return sums if self.size else empty.REDUCTIONS

    @property
    def representation(self) -> str:
        """How the values are stored: "slots"."""
        return "slots"

    def _crossed(self) -> Any:
        from aglet.arrays.slots.crossing import to_digits

        return to_digits(self)

    @property
    def level(self) -> int:
        """The products that are left."""
        return self.numbers.level

    @property
    def bound(self) -> tuple[int, int]:
        """The least and the largest value that an element may have."""
        numbers, table = self._state
        return (numbers.low, numbers.high) if table is None else (int(table.min()), int(table.max()))

    def __repr__(self) -> str:
        low, high = self.bound
        return (
            f"<EncryptedSlots {self.shape}: {self.dtype}, slots of {self.session.engine.preset}, level {self.level}, "
            f"from {low} to {high}{'' if self.table is None else ', a table to look up'}>"
        )

    # Values

    def values(self) -> Entries:
        """What an element is, for each of the numbers that it may be made of."""
        numbers, table = self._state
        return numbers.values() if table is None else table

    def forced(self) -> Numbers:
        """The elements as encrypted numbers: the table is looked up now, once."""
        numbers, table = self._state
        if table is not None:
            words = wide.looked_up_in_words(self.session, numbers, table, self.dtype)
            made = looked_up(self.session, numbers, table) if words is None else words
            numbers = later.function(self._made_of(numbers, table), made)
            self._state = numbers, None
        return numbers

    def split(self) -> EncryptedSlots:
        """The elements in digits, if they have more values than a table has and are known to be had so; else as now."""
        numbers = self.numbers
        if numbers.places <= MOST_PLACES or len(numbers.digits) > 1 or not numbers.has_digits:
            return self
        made = self.forced().in_digits()
        return self if made is None else self._made_of(made, None)

    def ready_for(self, table: Entries) -> EncryptedSlots:
        """The elements in digits, if a function of the numbers that they are made of exists only there."""
        return self.split() if len(self.numbers.digits) == 1 and self.numbers.lacks(table) else self

    def _made_of(self, numbers: Numbers, table: Entries | None) -> EncryptedSlots:
        """Elements in these places, without a question."""
        return self.__class__(self.session, numbers, table, self.dtype, self.index, everywhere=self.everywhere)

    def replaced(self, numbers: Numbers, table: Any, dtype: Any) -> EncryptedSlots:
        """Other elements in these places.

        Raises
        ------
        RangeError
            If the table is too long to be looked up: now, and not where somebody needs the values.
        """
        entries = None if table is None else np.asarray(table).astype(np.int64)
        if entries is not None:
            numbers.check_table(entries)
        return EncryptedSlots(self.session, numbers, entries, np.dtype(dtype), self.index, everywhere=self.everywhere)

    def refresh(self) -> EncryptedSlots:
        """Bootstrap all ciphertexts, in place, and return the array."""
        numbers, table = self._state
        self._state = numbers.refreshed(self.session), table
        return self

    def assume(self, *, bound: Any) -> EncryptedSlots:
        """Declare the least and the largest value, which nobody can check: tables are then shorter.

        Parameters
        ----------
        bound
            The largest absolute value, or a pair of the least and the largest value: whole numbers of the dtype.

        Raises
        ------
        RangeError
            If the least is above the largest, or no element may have such a value.
        """
        low, high = dtypes.ends(bound, self.dtype)
        own = self.bound
        low, high = max(low, own[0]), min(high, own[1])
        if low > high:
            raise RangeError(f"bound={bound} is empty here, as elements lie from {own[0]} to {own[1]}.")
        found = self.replaced(self.forced().within(low, high), None, self.dtype)
        found._counted = self._counted
        return found

    def astype(self, dtype: Any, casting: str = "safe") -> Any:
        """The same values in another dtype of whole numbers, at no cost, or as floats of CKKS.

        `zmod(t)` gives numbers modulo t, at no cost.

        float64, or complex128, gives an `EncryptedArray` of the session of CKKS of the same keys: a table and a
        conversion for each bit of an element, none for booleans, and one bootstrap of CKKS for all elements.

        Raises
        ------
        TypeError
            If values may change and casting is not "unsafe", or there is no such dtype of whole numbers. Floats keep
            numbers of up to 16 bits, and with casting "unsafe" the 16 highest bits of more.
        MissingKeyError
            If the keys have no CKKS, or no switches.
        """
        if hasattr(dtype, "modulus"):
            from aglet.arrays.slots.residues import EncryptedResidues

            dtype.of(self.session)
            numbers = self.forced()
            return EncryptedResidues(
                self.session.modular, numbers, None, self.dtype, self.index, everywhere=self.everywhere
            )
        if isinstance(dtype, fixed):
            return self.to("digits").astype(dtype, casting)
        inexact = dtypes.of_numpy(dtype)
        if inexact.kind in "fc":
            return casts.to_inexact(self, inexact, casting, lambda: self._lifted(casting))
        wanted = dtypes.known(dtype)
        how: Any = checks.choice("casting", casting, ("no", "equiv", "safe", "same_kind", "unsafe"))
        low, high = dtypes.span(wanted)
        fits = low <= self.bound[0] and self.bound[1] <= high and how not in ("no", "equiv")
        if not (fits or np.can_cast(self.dtype, wanted, how)):
            if wanted == np.bool_:
                raise TypeError(f'{self.dtype} may not fit bool; write x != 0, which is what casting="unsafe" gives.')
            raise TypeError(
                f'Numbers from {self.bound[0]} to {self.bound[1]} may not fit {wanted}; say casting="unsafe" to take '
                "what wraps around, or declare a smaller range with x.assume(bound=...)."
            )
        return operations.cast(self, wanted)

    def _lifted(self, casting: str) -> Any:
        if not self.size:
            raise empty.refuse_floats()
        if casting == "unsafe" and lifting.loses(self):
            return lifting.highest(self)
        if self._floats is None:
            self._floats = lifting.to_floats(self)
        return self._floats

    def _missing(self, name: str) -> str:
        digits = hasattr(EncryptedIntegers, name) and not name.startswith("_")
        return missing.attribute(name, "Encrypted slots", functions.known(), digits=digits)

    _apply = staticmethod(functions.apply)
    _function = staticmethod(functions.call)
    _joined = staticmethod(functions.concatenated)

    # Places

    def moved(self, move: Callable[[Any], Any]) -> EncryptedSlots:
        """The elements where numpy moves them to. It costs nothing, and ciphertexts without an element are left out."""
        index = np.asarray(move(self.index), dtype=np.int64)
        slots, (numbers, table) = self.session.slots, self._state
        used, inverse = np.unique(index // slots, return_inverse=True)
        # Without an element, one ciphertext stays.
        used = used if index.size else np.zeros(1, dtype=np.int64)
        if len(used) < numbers.shape[1]:
            numbers, index = numbers.chosen(used), inverse.reshape(index.shape) * slots + index % slots
        found = self.__class__(self.session, numbers, table, self.dtype, index, everywhere=self.everywhere)
        if self._counted is not None:
            terms, options, views = self._counted
            found._counted = terms, options, (*views, move)
        return found

    def at(self, index: Any, count: int | None = None, *, alone: bool = False) -> EncryptedSlots:
        """The elements at these places of so many ciphertexts; `alone` if all other slots are 0 then.

        Errors are those of `aglet.arrays.slots.moves.moved`.
        """
        slots = self.session.slots
        if not self.size:
            return self
        count = int(index.max()) // slots + 1 if count is None else count
        if self.everywhere and not alone:
            numbers, table = self._state
            return self.__class__(self.session, numbers.chosen([0] * count), table, self.dtype, index)
        if not alone and count == self.numbers.shape[1] and np.array_equal(index, self.index):
            return self
        if alone or len(self.numbers.digits) > 1:
            # One number moves rather than its digits, and 0 is a number only without an offset.
            self.forced()
        numbers, table = self._state
        numbers = numbers.whole(self.session) if alone else numbers

        def move(numbers: Numbers) -> Numbers:
            return moves.moved(self.session, numbers, self.index, index, count, alone=alone)

        made = move(numbers)
        made.later = None if alone or len(numbers.digits) > 1 else numbers.also(move)
        return self.__class__(self.session, made, table, self.dtype, index)

    def compact(self) -> EncryptedSlots:
        """The elements in numpy's order, where those of a new array lie (`SlotSession.laid_out`)."""
        return self.at(*self.session.laid_out(self.shape))

    # Reductions

    def _mean(self, axis: Any, keepdims: bool) -> Any:
        if not self.size:
            raise empty.refuse_floats()
        low, high = (end * self.size for end in self.bound)
        if self.bound[1] - self.bound[0] >= MOST_PLACES or not self.session.fits(low, high):
            # Few such sums fit the modulus.
            return self.astype(np.float64, casting="unsafe").mean(axis, keepdims=keepdims)
        # numpy has no axis of a number here, as it has for sums.
        found = sums.total(self, tuple(axes_of(axis, self.ndim)), None, keepdims)
        return found.astype(np.float64) * (found.size / self.size)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedSlots:
        """As `numpy.argmin`, by a tree of comparisons."""
        return functions.argmin(self, axis, out, keepdims=keepdims)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedSlots:
        """As `numpy.argmax`, by a tree of comparisons."""
        return functions.argmax(self, axis, out, keepdims=keepdims)

    def clip(self, min: Any = None, max: Any = None) -> EncryptedSlots:
        """As `numpy.clip`, with the names that `numpy.ndarray.clip` has."""
        found: Any = self
        return np.clip(found, min, max)  # type: ignore[no-any-return]

    def with_levels(self, levels: int) -> Numbers:
        """The elements as numbers with so many levels."""
        return enough(self.session, self.forced(), levels)
