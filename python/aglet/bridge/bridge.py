"""`Bridge`: slots of `Engine` as bits and integers of `LookupEngine`, and bits as slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglet import _core, checks
from aglet._core import BridgeKey, Ciphertext, LweSecretKey, SecretKey
from aglet.bridge.estimate import Estimates
from aglet.bridge.indices import slots
from aglet.bridge.keys import BridgeKeys
from aglet.bridge.orders import Orders
from aglet.bridge.sides import Sides
from aglet.bridge.tables import Tables
from aglet.ckks import values
from aglet.ckks.engine import Engine
from aglet.files import methods
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.engine import LookupEngine
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from aglet._core import KeySize

__all__ = ["Bridge"]


class Bridge(Tables, Orders, Estimates, Sides):
    """What stands between an `Engine` that bootstraps and a `LookupEngine`.

    Slots come down as bits, as messages of tables or as integers with a sign, from any level; bits go up as slots of
    a fresh ciphertext, at the level of a lossy bootstrap. Between them comparisons are exact, where polynomials
    approximate them: for some hundred values that is faster, for thousands `Engine.compare` is.

    Parameters
    ----------
    engine
        Its parameters bootstrap, and not by roots of unity. The work runs on its threads.
    lookup_engine
        Of 4 bits (`LookupEngine(bits=4)`) for comparisons; of 1 bit for gates.

    Raises
    ------
    ParameterError
        If the parameters of one of them do not allow a bridge.

    Examples
    --------
    A bridge in a ring that is far too small to be secure::

        engine = Engine(preset="toy", slot_count=64, allow_insecure=True)
        bridge = Bridge(engine, LookupEngine(bits=4))
        secret_key, lwe_secret_key = engine.create_secret_key(), bridge.lookup_engine.create_secret_key()
        keys = bridge.create_keys(secret_key, lwe_secret_key)
        x = engine.encrypt([0.25, -0.5, 0.75], secret_key)
        signs = bridge.sign(x, [0, 1, 2], keys, bits=8)
        engine.decrypt(bridge.from_lookup(signs, keys), secret_key)[:3].real.round(1)  # 1, 0, 1
    """

    _core: _core.Bridge
    _engine: Engine
    _keys = BridgeKeys

    def __init__(self, engine: Engine, lookup_engine: LookupEngine) -> None:
        self._engine = checks.need(engine, Engine, "Engine(preset)")
        self._lookup_engine = checks.need(lookup_engine, LookupEngine, "LookupEngine(bits=4)")
        self._core = _core.Bridge(engine._core, lookup_engine._core)

    @property
    def engine(self) -> Engine:
        """The engine of slots."""
        return self._engine

    # Keys

    def create_bridge_key(
        self,
        secret_key: SecretKey,
        lwe_secret_key: LweSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> BridgeKey:
        """The key that leads from one secret key to the other and back; it decrypts nothing.

        Parameters
        ----------
        memory_limit_bytes
            More than this is refused before anything is allocated, and so is more than the machine has free.
        progress
            Called as `progress(done, total, what)`; an exception from it cancels the work.

        Raises
        ------
        MemoryLimitError
            If the key would not fit.
        KeyMismatchError
            If a secret key is of other parameters.
        """
        own = checks.need(secret_key, SecretKey, "engine.create_secret_key()")
        key: BridgeKey = self._bridge_key(own, lwe_secret_key, memory_limit_bytes, progress)
        return key

    def create_keys(
        self,
        secret_key: SecretKey,
        lwe_secret_key: LweSecretKey,
        *,
        size: KeySize = "large",
        packing: bool = False,
        progress: ProgressCallback | None = None,
    ) -> BridgeKeys:
        """Every key that the methods of this class take.

        Parameters
        ----------
        size
            Of the bootstrap key, "medium" or "large".
        packing
            With a packing key, which `lookup_bytes` takes.

        Raises
        ------
        MemoryLimitError
            If they would not fit.
        KeyMismatchError
            If a secret key is of other parameters.
        """
        lookups = self._lookup_engine
        packing_key = self._packing_key(lwe_secret_key, packing)
        return BridgeKeys(
            self.create_bridge_key(secret_key, lwe_secret_key, progress=progress),
            self._engine.create_lossy_bootstrap_key(secret_key, size=size, progress=progress),
            lookups.create_lookup_key(lwe_secret_key, progress=progress),
            self._engine.create_relinearization_key(secret_key),
            self._engine.create_conjugation_key(secret_key),
            packing_key,
        )

    # Down and up

    def to_lookup(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int | None = None,
        signed: bool = True,
        part: str = "real",
        bound: float | None = None,
        noise: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """Parts of some slots as an array of the look-up engine; one call serves any number of them.

        Slots are encrypted, so nobody sees whether they are what is read; others are read as other values. Bits: a
        slot counts modulo 4, 0.5 to 2.5 as 1 and the others as 0. Messages of p values: modulo 2 p, so that -1 is
        2 p - 1, which tables do not take. Words: modulo 2^bits. Real numbers beyond their range change their sign.
        A slot that is d away from a whole number leaves 1/2 - d to the noise, and what is said of failures is of d = 0.

        Parameters
        ----------
        ciphertext
            Of any level. Slots are near whole numbers, 0 and 1 for gates and 0 to 2^bits - 1 for tables, or with
            `bits` any real numbers from -1 to 1. Its noise must be known: of products and of lower levels it is if
            the messages were encrypted with a `bound`.
        indices
            Whole numbers, in any shape, which the result has; the same slot may stand there more than once.
        bits
            Read real numbers as integers with a sign of so many bits, 2 to 20: x as `x 2^(bits - 1)`. What x has
            below a unit stays, so that a sign or a difference knows it. Of numbers that are subtracted afterwards the
            differences must be from -1 to 1.
        signed
            False reads whole numbers from 0 to 2^bits - 1, for `LookupEngine.digits` and `floor`.
        part
            "real", "imaginary", or "both", which has the two parts as a new first axis, the real ones first.
        bound
            No part is larger, as the caller knows, whatever was declared. Real numbers are read from -bound to bound
            then: x as `x 2^(bits - 1) / bound`.
        noise
            The root mean square of the error of a slot, as the caller knows it, where the ciphertext states none or a
            larger one (`ciphertext.noise`). If it is more, results are wrong more often than is said.

        Raises
        ------
        RangeError
            If a slot or a part does not exist, values are known or declared to be larger than what is read, or the
            noise is not known.
        MemoryLimitError
            If so many values do not fit into memory.
        MissingKeyError
            If a key is missing, or the bootstrap key is small or for other slots.
        KeyMismatchError
            If ciphertext and keys do not belong together.
        """
        ct = self._assumed(ciphertext, bound, noise)
        size = 1.0 if bound is None else float(bound)
        places, number = slots(indices, self._engine.slot_count), checks.optional_count("bits", bits, 2)
        which, sign = checks.word("part", part), checks.flag("signed", signed)
        shape = [2, *places.shape] if which == "both" else list(places.shape)
        given: BridgeKeys = self._need(keys)
        with progress_bar(progress) as report:
            found = self._core.to_lookup(
                ct, places.ravel().tolist(), shape, which, *given._down(), number, sign, size, report
            )
        return LweCiphertext._of(found)

    def _assumed(self, ciphertext: Any, bound: float | None, noise: float | None) -> Ciphertext:
        """A ciphertext with what a caller says of it."""
        ct = checks.need(ciphertext, Ciphertext, "engine.encrypt(message, secret_key)")
        if bound is None and noise is None:
            return ct
        return self._engine._core.assume(ct, None if bound is None else values.as_bound(bound), noise)

    def from_lookup(
        self,
        x: LweCiphertext,
        keys: BridgeKeys,
        *,
        imaginary: LweCiphertext | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Bits as the first slots of a fresh ciphertext, 0.0 and 1.0 in the order of C; all other slots are 0.

        It takes the time of a lossy bootstrap of real slots, for one bit or for all slots; of complex ones, if other
        bits go up as imaginary parts.

        Parameters
        ----------
        x
            Bits of gates, or messages of tables that are 0 or 1, as signs, comparisons and tables give them. Nobody
            sees whether they are: of a greater message the lowest bit comes up, 0 of 2 and 1 of 15.
        imaginary
            Such bits for imaginary parts, as many as they may be.

        Raises
        ------
        ParameterError
            If they are integers, which a sign or a table brings to bits.
        RangeError
            If there are more bits than slots, or they have too much noise.
        MemoryLimitError
            If so many bits do not fit into memory.
        MissingKeyError
            If a key is missing, or the bootstrap key is not one of `create_lossy_bootstrap_key`.
        KeyMismatchError
            If bits and keys do not belong together.
        """
        made = "lookup_engine.encrypt(values, secret_key)"
        array = checks.need(x, LweCiphertext, made)._array
        other = None if imaginary is None else checks.need(imaginary, LweCiphertext, made)._array
        given: BridgeKeys = self._need(keys)
        with progress_bar(progress) as report:
            return self._core.from_lookup(array, other, *given._up(), report)

    # Files

    def _storable(self, value: Any) -> Any:
        return checks.need(value, BridgeKey, "bridge.create_bridge_key(secret_key, lwe_secret_key)")

    write_bridge_key, read_bridge_key, serialize_bridge_key, deserialize_bridge_key = methods(
        BridgeKey,
        "bridge.create_bridge_key(secret_key, lwe_secret_key)",
        "A file takes less than half of the memory of the key: seeds stand for what is uniform.",
    )
