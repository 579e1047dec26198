"""The part of `SchemeSwitch` with tables: of up to four bits in one lookup, of eight by the nibbles of a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet._core import Ciphertext, IntegerCiphertext
from aglet.errors import RangeError
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.table import Table
from aglet.keys.keyset import KeySet
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from aglet.fhew.engine import FhewEngine

__all__ = ["STEEPEST", "Tables", "of_nibbles"]

_NIBBLE = 16
STEEPEST = [255 * (low % 2 ^ (low < _NIBBLE // 2)) for _ in range(_NIBBLE) for low in range(_NIBBLE)]
"""A table of bytes that leaves as much noise as any: its rows jump at all borders but one, from the top to the top."""


class Tables:
    """Mixed into `SchemeSwitch`."""

    _side: Any
    to_fhew: Any

    def lookup(
        self,
        ciphertext: Ciphertext | IntegerCiphertext,
        indices: Any,
        table: Any,
        keys: KeySet,
        *,
        part: str = "real",
        bound: float | None = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> Any:
        """A table on slots: `table[m]` in place of each message m, as messages; one bootstrap for each, or two.

        Parameters
        ----------
        ciphertext, indices, part, bound, noise
            As in `to_fhew`: slots near whole numbers from 0 to 2^bits - 1, of an engine of 2 to 4 bits.
        table
            As in `FhewEngine.lookup`: a `Table`, a callable, a list or an array; a list of tables gives a tuple.
            What goes back to CKKS again is 0 or 1.
        max_failure
            The probability of a wrong result that is accepted, 2^-128 if not given.

        Other errors are those of `to_fhew` and `FhewEngine.lookup`.
        """
        (key,) = self._side.keys(keys, "fhew_bootstrap")
        x = self.to_fhew(ciphertext, indices, keys, part=part, bound=bound, noise=noise, progress=progress)
        return self._side.fhew_engine.lookup(x, table, key, max_failure=max_failure, progress=progress)

    def lookup_bytes(
        self,
        ciphertext: Ciphertext | IntegerCiphertext,
        indices: Any,
        table: Any,
        keys: KeySet,
        *,
        part: str = "real",
        bound: float | None = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[FhewCiphertext, FhewCiphertext]:
        """A table on slots of 8 bits: both nibbles of `table[byte]` as messages, the high one first.

        Bytes fall into two nibbles, four bootstraps or more, and a table of both takes three.

        Parameters
        ----------
        ciphertext, indices, part, bound, noise
            As in `to_fhew`: slots near whole numbers from 0 to 255.
        table
            A callable that takes a byte and gives one, or 256 of them.
        keys
            With a packing key: `switch.create_keys(packing=True)`.
        max_failure
            The probability of a wrong result that is accepted in each of both steps, 2^-128 if not given.

        Raises
        ------
        RangeError
            If the engine of FHEW has not 4 bits, the table has another number of values or one that is no byte, or
            a result would be wrong more often than accepted: preset "wide" is made for pairs of messages.
        MissingKeyError
            If a key is missing.

        Other errors are those of `to_fhew`.
        """
        engine, tables = self._side.fhew_engine, of_nibbles(self._side.fhew_engine, table)
        key, packing = self._side.keys(keys, "fhew_bootstrap", "packing")
        words: dict[str, Any] = {"bits": 8, "signed": False, "part": part, "bound": bound, "noise": noise}
        x = self.to_fhew(ciphertext, indices, keys, **words, progress=progress)
        options: dict[str, Any] = {"max_failure": max_failure, "progress": progress}
        low, high = engine.digits(x, key, **options)
        found = engine.lookup2(high, low, tables, key, packing, **options)
        return found[0], found[1]


def of_nibbles(engine: FhewEngine, table: Any) -> list[Table]:
    """A table of bytes as tables of two nibbles, of which the first gives the high one.

    Raises
    ------
    RangeError
        If the engine has not 4 bits, or the table is none of bytes.
    TypeError
        If a value is no whole number.
    """
    if 2**engine.bits != _NIBBLE:
        bits = f"{engine.bits} bit{'s' * (engine.bits > 1)}"
        raise RangeError(f"An engine of {bits} has no nibbles; make the switch with FhewEngine(preset='wide').")
    values = np.array(_bytes(table))
    return [Table(values // _NIBBLE), Table(values % _NIBBLE)]


def _bytes(table: Any) -> list[int]:
    """The 256 values of a table of bytes.

    Raises
    ------
    RangeError
        If there are fewer or more, or one is no byte.
    TypeError
        If one is no whole number.
    """
    if callable(table):
        table = [table(byte) for byte in range(256)]
    values = [checks.whole("A value of a table", value) for value in table]
    if len(values) != 256:
        raise RangeError(f"This table has {len(values)} values; give 256, one for each byte.")
    wrong = [value for value in values if not 0 <= value < 256]
    if wrong:
        raise RangeError(f"The table gives {wrong[0]}, which is no byte; give 0 to 255.")
    return values
