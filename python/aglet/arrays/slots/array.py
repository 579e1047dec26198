"""`EncryptedSlots`: an encrypted numpy array of booleans or whole numbers, in slots of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes
from aglet.arrays.slots import lifting, operations
from aglet.arrays.slots.values import Entries, Numbers, enough, looked_up
from aglet.arrays.whole import WholeNumbers
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["EncryptedSlots"]


class EncryptedSlots(WholeNumbers):
    """Encrypted booleans or whole numbers in the shape of a numpy array. `session.encrypt` makes one.

    It computes what numpy computes on the same dtypes. A function of one array with numbers in the clear costs nothing
    until its values are needed: then a table of all its results is looked up, once for many such functions. Sums and
    products of arrays are arithmetic modulo t. What may not fit the modulus is refused. Elements do not move.
    """

    __slots__ = ("_counted", "_floats", "dtype", "numbers", "session", "shape", "table")

    session: SlotSession
    numbers: Numbers
    """The encrypted numbers that the elements are made of."""
    table: Entries | None
    """The element for each of these numbers, from the least; None if they are the same."""
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def __init__(
        self,
        session: SlotSession,
        numbers: Numbers,
        table: Entries | None,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
    ) -> None:
        self.session, self.numbers, self.table, self.dtype, self.shape = session, numbers, table, dtype, shape
        self._floats: Any = None
        self._counted: EncryptedSlots | None = None

    # What it is

    @property
    def representation(self) -> str:
        """How the values are stored: "slots"."""
        return "slots"

    @property
    def level(self) -> int:
        """The products that are left."""
        return self.numbers.level

    @property
    def bound(self) -> tuple[int, int]:
        """The least and the largest value that an element may have."""
        if self.table is None:
            return self.numbers.low, self.numbers.high
        return int(self.table.min()), int(self.table.max())

    def __repr__(self) -> str:
        low, high = self.bound
        return (
            f"<EncryptedSlots {self.shape}: {self.dtype}, slots of {self.session.engine.preset}, level {self.level}, "
            f"from {low} to {high}{'' if self.table is None else ', a table to look up'}>"
        )

    # Values

    def values(self) -> Entries:
        """What an element is, for each of the numbers that it may be made of."""
        numbers = self.numbers
        return np.arange(numbers.low, numbers.high + 1) if self.table is None else self.table

    def forced(self) -> Numbers:
        """The elements as encrypted numbers: the table is looked up now, once."""
        if self.table is not None:
            self.numbers, self.table = looked_up(self.session, self.numbers, self.table), None
        return self.numbers

    def replaced(self, numbers: Numbers, table: Any, dtype: Any) -> EncryptedSlots:
        """Other elements in this shape."""
        entries = None if table is None else np.asarray(table).astype(np.int64)
        return EncryptedSlots(self.session, numbers, entries, np.dtype(dtype), self.shape)

    def refresh(self) -> EncryptedSlots:
        """Bootstrap all ciphertexts, in place, and return the array."""
        self.numbers = self.numbers.refreshed(self.session)
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
        numbers = self.forced()
        found = self.replaced(Numbers(numbers.digits, numbers.offset, low, high), None, self.dtype)
        found._counted = self._counted
        return found

    def astype(self, dtype: Any, casting: str = "safe") -> Any:
        """The same values in another dtype of whole numbers, at no cost, or as floats of CKKS.

        float64 gives an `EncryptedArray` of the session of CKKS of the same keys: a table and a conversion for each bit
        of an element, none for booleans, and one bootstrap of CKKS for all elements.

        Raises
        ------
        TypeError
            If values may change and casting is not "unsafe", or there is no such dtype of whole numbers. Floats keep
            numbers of up to 16 bits.
        MissingKeyError
            If the keys have no CKKS, or no switches.
        """
        if np.dtype(dtype) == np.float64:
            if self._floats is None:
                self._floats = lifting.to_floats(self)
            return self._floats
        wanted = dtypes.known(dtype)
        how: Any = checks.choice("casting", casting, ("no", "equiv", "safe", "same_kind", "unsafe"))
        low, high = dtypes.span(wanted)
        fits = low <= self.bound[0] and self.bound[1] <= high and how not in ("no", "equiv")
        if not (fits or np.can_cast(self.dtype, wanted, how)):
            raise TypeError(
                f'Numbers from {self.bound[0]} to {self.bound[1]} may not fit {wanted}; say casting="unsafe" to take '
                "what wraps around, or declare a smaller range with x.assume(bound=...)."
            )
        return operations.cast(self, wanted)

    _apply = staticmethod(operations.apply)
    _called = staticmethod(operations.called)
    _function = staticmethod(operations.call)

    def __getitem__(self, index: Any) -> NoReturn:
        raise TypeError("Elements in slots do not move; choose them before they are encrypted, or encrypt digits.")

    def reshape(self, *shape: Any) -> EncryptedSlots:
        """As in numpy. It costs nothing."""
        places = checks.rearranged("shape", self.shape, lambda: np.arange(self.size).reshape(*shape))
        return EncryptedSlots(self.session, self.numbers, self.table, self.dtype, places.shape)

    def ravel(self) -> EncryptedSlots:
        """As in numpy. It costs nothing."""
        return self.reshape(-1)

    def sum(self, axis: Any = None) -> EncryptedSlots:
        """As `numpy.sum` of all elements. Floats made of a sum are sums of floats.

        Raises
        ------
        RangeError
            If the sum may not fit the modulus.
        TypeError
            If an axis is given.
        """
        return operations.total(self, axis)

    def mean(self, axis: Any = None) -> Any:
        """As `numpy.mean` of all elements, a float of CKKS."""
        return operations.total(self, axis).astype(np.float64) * (1 / self.size)

    def with_levels(self, levels: int) -> Numbers:
        """The elements as numbers with so many levels."""
        return enough(self.session, self.forced(), levels)
