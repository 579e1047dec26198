"""The part of `SchemeSwitch` that evaluates tables: of up to four bits in one lookup, of eight by two nibbles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet._core import Ciphertext, IntegerCiphertext
from aglet.errors import RangeError
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.table import Table
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.options import LookupOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from aglet.fhew.engine import FhewEngine

__all__ = ["STEEPEST", "Tables", "of_nibbles"]

_NIBBLE = 16
STEEPEST = [
    15 if high % 2 else 255 * (low % 2 ^ (low < _NIBBLE // 2)) for high in range(_NIBBLE) for low in range(_NIBBLE)
]
"""A table of bytes that leaves as much noise as any: a row jumps at all borders but one, from the top to the top. It
also takes as many rotations as any: both messages decide, and each nibble on its own.
"""


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
        **options: Unpack[LookupOptions],
    ) -> Any:
        """Evaluate a lookup table on slots: each message m becomes `table[m]`. One bootstrap for each message, or two.

        Parameters
        ----------
        ciphertext, indices, part, bound, noise
            As in `to_fhew`: slots near whole numbers from 0 to 2^bits - 1, for a FHEW engine of 2 to 4 bits.
        table
            As in `FhewEngine.lookup`: a `Table`, a callable, a list or an array. A list of tables gives a tuple. Only
            results 0 and 1 can go back to CKKS.
        max_failure
            The accepted probability of a wrong result; 2^-128 by default.

        Other errors are those of `to_fhew` and `FhewEngine.lookup`.
        """
        read, own = _split(options)
        (key,) = self._side.keys(keys, "fhew_bootstrap")
        return self._side.fhew_engine.lookup(self.to_fhew(ciphertext, indices, keys, **read), table, key, **own)

    def lookup_bytes(
        self,
        ciphertext: Ciphertext | IntegerCiphertext,
        indices: Any,
        table: Any,
        keys: KeySet,
        **options: Unpack[LookupOptions],
    ) -> tuple[FhewCiphertext, FhewCiphertext]:
        """Evaluate a lookup table on bytes: the result is both nibbles of `table[byte]`, the high one first.

        Each byte is split into two nibbles by four bootstraps or more. The table of both nibbles takes three more.

        Parameters
        ----------
        ciphertext, indices, part, bound, noise
            As in `to_fhew`: slots near whole numbers from 0 to 255.
        table
            A callable that takes a byte and returns a byte, or 256 bytes.
        keys
            A set with a packing key: `switch.create_keys(packing=True)`.
        max_failure
            The accepted probability of a wrong result, in each of the two steps; 2^-128 by default.

        Raises
        ------
        RangeError
            If the FHEW engine does not have 4 bits, the table does not have 256 values or one of them is not a byte,
            or a result would be wrong more often than accepted. Preset "wide" is made for pairs of messages.
        MissingKeyError
            If a key is missing.

        Other errors are those of `to_fhew`.
        """
        read, own = _split(options)
        engine, tables = self._side.fhew_engine, of_nibbles(self._side.fhew_engine, table)
        key, packing = self._side.keys(keys, "fhew_bootstrap", "packing")
        x = self.to_fhew(ciphertext, indices, keys, bits=8, signed=False, **read)
        low, high = engine.digits(x, key, **own)
        # What their noise leaves decides the level of results that go back to slots.
        found = engine.lookup2(high, low, tables, key, packing.precise(), **own)
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


def _split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `to_fhew` takes of these options, and what the FHEW engine takes."""
    checks.known(options, LookupOptions)
    own = {"max_failure": options.get("max_failure"), "progress": options.get("progress")}
    return {name: value for name, value in options.items() if name != "max_failure"}, own
