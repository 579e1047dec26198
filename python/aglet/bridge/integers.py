"""`IntegerBridge`: slots of `IntegerEngine` as bits, messages and words of `LookupEngine`, and these as slots."""

from __future__ import annotations

from typing import Any

from aglet import _core, checks
from aglet._core import IntegerBridgeKey, IntegerCiphertext, IntegerSecretKey, LweSecretKey
from aglet.bridge.indices import slots
from aglet.bridge.integer_estimate import IntegerEstimates
from aglet.bridge.keys import IntegerBridgeKeys
from aglet.bridge.sides import Sides
from aglet.bridge.tables import ByteTable
from aglet.files import methods
from aglet.integer.engine import IntegerEngine
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.engine import LookupEngine
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["IntegerBridge"]


class IntegerBridge(IntegerEstimates, Sides):
    """What stands between an `IntegerEngine` that bootstraps and a `LookupEngine`.

    Slots come down as bits, messages or words, from level 1 or above: for a few of them, or for what tables on all
    slots (`IntegerEngine.lookup`) have not the levels for. Bits and messages go up as slots of a fresh ciphertext,
    exactly.

    Parameters
    ----------
    engine
        With a bootstrap and slots: `IntegerEngine(use_bootstrap=True)`. The work runs on its threads.
    lookup_engine
        Of 2 to 4 bits for tables, of 1 bit for gates, of preset "wide" for bytes.

    Raises
    ------
    ParameterError
        If the integers have no bootstrap, or the parameters of both sides allow no bridge.
    """

    _core: _core.IntegerBridge
    _engine: IntegerEngine
    _keys = IntegerBridgeKeys

    def __init__(self, engine: IntegerEngine, lookup_engine: LookupEngine) -> None:
        self._engine = checks.need(engine, IntegerEngine, "IntegerEngine(use_bootstrap=True)")
        self._lookup_engine = checks.need(lookup_engine, LookupEngine, "LookupEngine(bits=4)")
        self._core = _core.IntegerBridge(engine._core, lookup_engine._core)

    @property
    def engine(self) -> IntegerEngine:
        """The engine of integers."""
        return self._engine

    def create_bridge_key(
        self,
        secret_key: IntegerSecretKey,
        lwe_secret_key: LweSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerBridgeKey:
        """The key that leads from one secret key to the other and back; it decrypts nothing.

        Raises
        ------
        MemoryLimitError
            If the key would take more than `memory_limit_bytes` or than the machine has free.
        KeyMismatchError
            If a secret key is of other parameters.
        """
        own = checks.need(secret_key, IntegerSecretKey, "engine.create_secret_key()")
        key: IntegerBridgeKey = self._bridge_key(own, lwe_secret_key, memory_limit_bytes, progress)
        return key

    def create_keys(
        self,
        secret_key: IntegerSecretKey,
        lwe_secret_key: LweSecretKey,
        *,
        packing: bool = False,
        progress: ProgressCallback | None = None,
    ) -> IntegerBridgeKeys:
        """Every key that the methods of this class take; with `packing` that of `lookup_bytes` too.

        Raises
        ------
        MemoryLimitError
            If they would not fit.
        KeyMismatchError
            If a secret key is of other parameters.
        """
        lookups = self._lookup_engine
        packing_key = self._packing_key(lwe_secret_key, packing)
        return IntegerBridgeKeys(
            self.create_bridge_key(secret_key, lwe_secret_key, progress=progress),
            self._engine.create_bootstrap_key(secret_key, progress=progress),
            lookups.create_lookup_key(lwe_secret_key, progress=progress),
            packing_key,
        )

    def to_lookup(
        self,
        ciphertext: IntegerCiphertext,
        indices: Any,
        keys: IntegerBridgeKeys,
        *,
        bits: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """Some slots as an array of the look-up engine; one call serves any number of them.

        Parameters
        ----------
        ciphertext
            Of level 1 or above. Slots are 0 and 1 for gates, and 0 to 2^bits - 1 for tables or words. Nobody sees
            whether they are: others, and negative ones, give values of no meaning.
        indices
            Whole numbers, in any shape, which the result has; the same slot may stand there more than once.
        bits
            Read words of so many bits, 1 to 12, for `LookupEngine.digits` and `floor`.

        Raises
        ------
        RangeError
            If a slot does not exist, or words have more than 20 bits.
        MemoryLimitError
            If so many values do not fit into memory.
        LevelError
            If the ciphertext is at level 0.
        NoiseError
            If it has more noise than a bootstrap takes.
        ParameterError
            If words have more than 12 bits.
        MissingKeyError
            If a key is missing.
        KeyMismatchError
            If ciphertext and keys do not belong together.
        """
        ct = checks.need(ciphertext, IntegerCiphertext, "engine.encrypt(message, secret_key)")
        places, number = slots(indices, self._engine.slot_count), checks.optional_count("bits", bits, 1)
        given: IntegerBridgeKeys = self._need(keys)
        with progress_bar(progress) as report:
            found = self._core.to_lookup(
                ct, places.ravel().tolist(), list(places.shape), *given._down(), number, report
            )
        return LweCiphertext._of(found)

    def from_lookup(
        self,
        x: LweCiphertext,
        keys: IntegerBridgeKeys,
        *,
        bits: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """Messages or bits as the first slots of a fresh ciphertext, exactly, in the order of C; all others are 0.

        One value takes as long as all slots do. A polynomial removes the noise, whose levels are missing above: results
        of a table of preset "lut4" come up at level 5 of "int16" if they have 1 bit, and at level 1 if they have 4.
        From level 1 a bootstrap leads to the highest.

        Parameters
        ----------
        x
            Bits of gates, or messages of tables in any domain, at most as many as there are slots.
        bits
            Messages are below 2^bits: 1 to as many bits as the look-up engine has. Signs, comparisons and tables of
            0 and 1 have 1. All bits if it is left out. Nobody sees whether they are: a greater message comes up as a
            number of no meaning, from 0 to 65,536.

        Raises
        ------
        ParameterError
            If they are integers or words, of which signs and digits are messages.
        RangeError
            If there are more values than slots, `bits` is out of range, or one result in 2^128 would be wrong.
        MemoryLimitError
            If so many values do not fit into memory.
        LevelError
            If the engine has not the levels for messages with so much noise: what gates give goes up to "int16-deep".
        MissingKeyError
            If a key is missing, or the bridge key is of a file from before anything went up (its `leads_up` is False).
        KeyMismatchError
            If values and keys do not belong together.

        References
        ----------
        docs/bridges.md: packing, a modulus switch to 65537 under the sparse secret (eprint 2022/024), the raise of
        the bootstrap, and a polynomial through all messages with all errors.
        """
        array = checks.need(x, LweCiphertext, "lookup_engine.encrypt(values, secret_key)")._array
        number = checks.optional_count("bits", bits, 1)
        given: IntegerBridgeKeys = self._need(keys)
        with progress_bar(progress) as report:
            return self._core.from_lookup(array, *given._down(), number, report)

    def lookup(
        self,
        ciphertext: IntegerCiphertext,
        indices: Any,
        table: Any,
        keys: IntegerBridgeKeys,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> Any:
        """A table on slots: `table[m]` in place of each message m, as messages; one bootstrap for each, or two.

        `table` is as in `LookupEngine.lookup`; other arguments and errors are those of `to_lookup` and of it.
        """
        key = self._need(keys)._lookup()
        x = self.to_lookup(ciphertext, indices, keys, progress=progress)
        return self._lookup_engine.lookup(x, table, key, max_failure=max_failure, progress=progress)

    def lookup_bytes(
        self,
        ciphertext: IntegerCiphertext,
        indices: Any,
        table: Any,
        keys: IntegerBridgeKeys,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[LweCiphertext, LweCiphertext]:
        """A table on slots of 8 bits: both nibbles of `table[byte]` as messages, the high one first.

        As `Bridge.lookup_bytes`, with the arguments and errors of `to_lookup`.
        """
        byte = ByteTable(self._lookup_engine, table, self._need(keys))
        x = self.to_lookup(ciphertext, indices, keys, bits=8, progress=progress)
        return byte.of(x, max_failure, progress)

    # Files

    def _storable(self, value: Any) -> Any:
        return checks.need(value, IntegerBridgeKey, "bridge.create_bridge_key(secret_key, lwe_secret_key)")

    write_bridge_key, read_bridge_key, serialize_bridge_key, deserialize_bridge_key = methods(
        IntegerBridgeKey,
        "bridge.create_bridge_key(secret_key, lwe_secret_key)",
        "A file takes less than half of the memory of the key: seeds stand for what is uniform.",
    )
