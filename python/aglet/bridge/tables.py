"""The part of `Bridge` with tables: of up to four bits in one look-up, of eight by the nibbles of a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aglet import checks
from aglet._core import Ciphertext, LookupKey, PackingKey
from aglet.bridge.keys import BridgeKeys
from aglet.errors import RangeError
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.table import Table
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from aglet.lookup.engine import LookupEngine

__all__ = ["STEEPEST", "ByteTable", "Tables", "of_nibbles"]

_NIBBLE = 16
STEEPEST = [255 * (low % 2 ^ (low < _NIBBLE // 2)) for _ in range(_NIBBLE) for low in range(_NIBBLE)]
"""A table of bytes that leaves as much noise as any: its rows jump at all borders but one, from the top to the top."""


class _Keys(Protocol):
    """Of every bridge."""

    @property
    def packing_key(self) -> PackingKey | None: ...
    def _lookup(self) -> LookupKey: ...


class Tables:
    """Mixed into `Bridge`."""

    _lookup_engine: LookupEngine
    to_lookup: Any
    _need: Any

    def lookup(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        table: Any,
        keys: BridgeKeys,
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
            As in `to_lookup`: slots near whole numbers from 0 to 2^bits - 1, of an engine of 2 to 4 bits.
        table
            As in `LookupEngine.lookup`: a `Table`, a callable, a list or an array; a list of tables gives a tuple.
            What goes up again is 0 or 1.
        max_failure
            The probability of a wrong result that is accepted, 2^-128 if not given.

        Other errors are those of `to_lookup` and `LookupEngine.lookup`.
        """
        key = self._need(keys)._lookup()
        x = self.to_lookup(ciphertext, indices, keys, part=part, bound=bound, noise=noise, progress=progress)
        return self._lookup_engine.lookup(x, table, key, max_failure=max_failure, progress=progress)

    def lookup_bytes(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        table: Any,
        keys: BridgeKeys,
        *,
        part: str = "real",
        bound: float | None = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[LweCiphertext, LweCiphertext]:
        """A table on slots of 8 bits: both nibbles of `table[byte]` as messages, the high one first.

        Bytes fall into two nibbles, four bootstraps or more, and a table of both takes three.

        Parameters
        ----------
        ciphertext, indices, part, bound, noise
            As in `to_lookup`: slots near whole numbers from 0 to 255.
        table
            A callable that takes a byte and gives one, or 256 of them.
        keys
            With a packing key: `create_keys(..., packing=True)`.
        max_failure
            The probability of a wrong result that is accepted in each of both steps, 2^-128 if not given.

        Raises
        ------
        RangeError
            If the engine of look-ups has not 4 bits, the table has another number of values or one that is no byte, or
            a result would be wrong more often than accepted: preset "wide" is made for pairs of messages.
        MissingKeyError
            If a key is missing.

        Other errors are those of `to_lookup`.
        """
        byte = ByteTable(self._lookup_engine, table, self._need(keys))
        words: dict[str, Any] = {"bits": 8, "signed": False, "part": part, "bound": bound, "noise": noise}
        x = self.to_lookup(ciphertext, indices, keys, **words, progress=progress)
        return byte.of(x, max_failure, progress)


class ByteTable:
    """A table of bytes, ready for words of 8 bits.

    Raises
    ------
    RangeError
        If the engine has not 4 bits, or the table is none of bytes.
    MissingKeyError
        If a key is missing.
    """

    def __init__(self, engine: LookupEngine, table: Any, keys: _Keys) -> None:
        self._tables = of_nibbles(engine, table)
        self._engine, self._key = engine, keys._lookup()
        made = "bridge.create_keys(secret_key, lwe_secret_key, packing=True)"
        self._packing = checks.need(keys.packing_key, PackingKey, made)

    def of(self, x: LweCiphertext, max_failure: float | None, progress: Any) -> tuple[LweCiphertext, LweCiphertext]:
        """Both nibbles of its values, the high one first."""
        engine, options = self._engine, {"max_failure": max_failure, "progress": progress}
        low, high = engine.digits(x, self._key, **options)
        found = engine.lookup2(high, low, self._tables, self._key, self._packing, **options)
        return found[0], found[1]


def of_nibbles(engine: LookupEngine, table: Any) -> list[Table]:
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
        raise RangeError(f"An engine of {bits} has no nibbles; make the bridge with LookupEngine(preset='wide').")
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
