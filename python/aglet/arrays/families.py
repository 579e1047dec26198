"""The part of `Session` that finds the family of an array: floats of CKKS, digits of FHEW, slots of integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.digits.sent import CompressedIntegers, holds_compressed
from aglet.arrays.digits.session import DigitSession
from aglet.arrays.digits.stored import holds_digits
from aglet.arrays.fixed.array import EncryptedFixed
from aglet.arrays.fixed.sent import CompressedFixed
from aglet.arrays.fixed.stored import holds_fixed
from aglet.arrays.folders import InFolders
from aglet.arrays.slots.array import EncryptedSlots
from aglet.arrays.slots.session import SlotSession
from aglet.arrays.slots.stored import holds_slots
from aglet.errors import MissingKeyError

__all__ = ["LEAST_SLOTS", "Families"]

LEAST_SLOTS = 64
"""From so many elements on, `representation="auto"` takes slots.

By models of one thread, a table of 8 bits of all slots takes the time of those of 10 elements in digits, a comparison
that of 18, and sums, with the bootstraps that they need now and then, that of 9 to 60.
"""


class Families(InFolders[Any]):
    """Mixed into `Session`."""

    digits: DigitSession | None
    """The arrays of booleans and whole numbers, if the keys hold keys of FHEW for messages of 4 bits."""
    integers: SlotSession | None
    """The arrays of whole numbers in slots, if the keys hold keys of integers beside those of CKKS."""

    def _slots(self) -> SlotSession:
        if self.integers is None:
            raise MissingKeyError(
                "Whole numbers in slots need keys of an IntegerEngine beside these; make them with "
                "SchemeSwitch(engine, fhew_engine).create_keys(integers=integer_engine)."
            )
        return self.integers

    def _chosen(self, values: Any, dtype: Any, bound: Any) -> str:
        """The representation that "auto" takes for whole numbers: slots for many that fit them, else digits."""
        if self.integers is None or self.digits is None:
            return "digits" if self.integers is None else "slots"
        array = np.asarray(values)
        kind = array.dtype if dtype is None else dtypes.of_numpy(dtype)
        if array.size < LEAST_SLOTS or kind.kind not in "biu":
            return "digits"
        low, high = dtypes.span(kind) if bound is None else dtypes.ends(bound, kind)
        return "slots" if max(high - low, high, -low) < self.integers.engine.plaintext_modulus else "digits"

    def _digits(self) -> DigitSession:
        if self.digits is None:
            raise MissingKeyError(
                "Booleans and whole numbers need keys of FHEW for messages of 4 bits; make them with "
                "FhewEngine(bits=4).create_keys() and put them into this set, or leave dtype= out."
            )
        return self.digits

    def _writer(self, array: Any) -> Any:
        if isinstance(array, EncryptedIntegers | CompressedIntegers | EncryptedFixed | CompressedFixed):
            return self._digits()._writer(array)
        return self._slots()._writer(array) if isinstance(array, EncryptedSlots) else super()._writer(array)

    def _reader(self, place: Path) -> tuple[Any, Any]:
        if holds_digits(place) or holds_compressed(place) or holds_fixed(place):
            return self._digits()._reader(place)
        return self._slots()._reader(place) if holds_slots(place) else super()._reader(place)

    def take(self, table: Any, indices: Any) -> Any:
        """`table[indices]`: a table in the clear at encrypted places, as `numpy.take`.

        Places in digits are looked up as `DigitSession.take` does, those in slots as `SlotSession.take`.

        Raises
        ------
        TypeError
            If the places are no encrypted whole numbers, or the table holds others.
        RangeError
            If a place may lie beyond the table.
        MissingKeyError
            If the keys have no packing key of FHEW, which digits of more than 16 places need.
        """
        if isinstance(indices, EncryptedSlots):
            return self._slots().take(table, indices)
        if not isinstance(indices, EncryptedIntegers):
            raise TypeError(
                f"Places in a table are encrypted whole numbers, not {type(indices).__name__}; cast floats with "
                "x.astype(numpy.uint8), and call numpy.take for places in the clear."
            )
        return self._digits().take(table, indices)

    def compress(self, array: EncryptedIntegers | EncryptedFixed) -> Any:
        """Pack and round digits for sending, as `DigitSession.compress` does.

        Raises
        ------
        MissingKeyError
            If the keys have no packing key of FHEW.
        """
        return self._digits().compress(array)
