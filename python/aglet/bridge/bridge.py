"""`Bridge`: slots of `Engine` as bits and integers of `LookupEngine`, and bits as slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglet import _core, checks
from aglet._core import BridgeKey, Ciphertext, LweSecretKey, SecretKey
from aglet.bridge.estimate import Estimates
from aglet.bridge.indices import slots
from aglet.bridge.keys import BridgeKeys
from aglet.bridge.sides import Sides
from aglet.bridge.tables import Tables
from aglet.ckks.engine import Engine
from aglet.errors import RangeError
from aglet.files import methods
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.engine import LookupEngine
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from aglet._core import KeySize

__all__ = ["Bridge"]


class Bridge(Tables, Estimates, Sides):
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
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """Parts of some slots as an array of the look-up engine; one call serves any number of them.

        Parameters
        ----------
        ciphertext
            Of any level. Slots are near whole numbers, 0 and 1 for gates and 0 to 2^bits - 1 for tables, or with
            `bits` any real numbers from -1 to 1.
        indices
            Whole numbers, in any shape, which the result has; the same slot may stand there more than once.
        bits
            Read real numbers as integers with a sign of so many bits, 2 to 20: x as `x 2^(bits - 1)`. What x has
            below a unit stays, so that a sign or a difference knows it.
        signed
            False reads whole numbers from 0 to 2^bits - 1, for `LookupEngine.digits` and `floor`.
        part
            "real", "imaginary", or "both", which has the two parts as a new first axis, the real ones first.

        Raises
        ------
        RangeError
            If a slot or a part does not exist, or a message is known to be too large.
        MissingKeyError
            If a key is missing, or the bootstrap key is small or for other slots.
        KeyMismatchError
            If ciphertext and keys do not belong together.
        """
        ct = checks.need(ciphertext, Ciphertext, "engine.encrypt(message, secret_key)")
        places, number = slots(indices, self._engine.slot_count), checks.optional_count("bits", bits, 2)
        which, sign = checks.word("part", part), checks.flag("signed", signed)
        shape = [2, *places.shape] if which == "both" else list(places.shape)
        given: BridgeKeys = self._need(keys)
        with progress_bar(progress) as report:
            found = self._core.to_lookup(
                ct, places.ravel().tolist(), shape, which, *given._down(), number, sign, report
            )
        return LweCiphertext._of(found)

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
            Bits of gates, or messages of tables that are 0 or 1, as signs, comparisons and tables give them.
        imaginary
            Such bits for imaginary parts, as many as they may be.

        Raises
        ------
        ParameterError
            If they are integers, which a sign or a table brings to bits.
        RangeError
            If there are more bits than slots, or they have too much noise.
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

    # What is computed on the way

    def sign(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 where a slot is 0 or more and 0 where it is negative, as messages of tables; `from_lookup` takes them up.

        Slots are real numbers from -1 to 1. One that is nearer to 0 than its noise may be taken for either. There are
        `bits / 4 + 1` bootstraps for each.

        Parameters
        ----------
        bits
            The precision, 2 to 20: numbers nearer to 0 than `2^-bits` may be taken for either.
        max_failure
            The probability of a wrong result that is accepted; 2^-128 without it. Fresh slots of preset "regular" have
            that at 16 bits, and 2^-83 at 20: pass `2**-80` there.

        Other arguments and errors are those of `to_lookup` and `LookupEngine.lookup`.
        """
        key = self._need(keys)._lookup()
        x = self.to_lookup(ciphertext, indices, keys, bits=bits, progress=progress)
        return self._lookup_engine.sign(x, key, max_failure=max_failure, progress=progress)

    def compare(
        self,
        order: str,
        x: Ciphertext,
        y: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 where `x >= y`, or `x <= y`, and 0 elsewhere, slot by slot, as messages of tables.

        Parameters
        ----------
        order
            ">=" or "<=".
        x, y
            Ciphertexts whose differences are from -1 to 1.

        Other arguments and errors are those of `sign`.
        """
        if checks.word("order", order) not in (">=", "<="):
            raise RangeError(f'There is no order "{order}" of real numbers; choose ">=" or "<=".')
        first, second = (x, y) if order == ">=" else (y, x)
        difference = self._engine.subtract(first, second)
        return self.sign(difference, indices, keys, bits=bits, max_failure=max_failure, progress=progress)

    def argmin(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        one_hot: bool = False,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The place of the smallest of each row of slots, as `LookupEngine.argmin` gives it.

        Parameters
        ----------
        indices
            Slots in the shape (..., n); the result has the shape (...), or (..., n) with `one_hot`.

        Other arguments and errors are those of `sign`, and slots are from 0 to 1, or from -1/2 to 1/2.
        """
        key = self._need(keys)._lookup()
        x = self.to_lookup(ciphertext, indices, keys, bits=bits, progress=progress)
        return self._lookup_engine.argmin(x, key, one_hot=one_hot, max_failure=max_failure, progress=progress)

    def argmax(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        one_hot: bool = False,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The place of the greatest of each row of slots; as `argmin`."""
        key = self._need(keys)._lookup()
        x = self.to_lookup(ciphertext, indices, keys, bits=bits, progress=progress)
        return self._lookup_engine.argmax(x, key, one_hot=one_hot, max_failure=max_failure, progress=progress)

    def top_k(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        k: int,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 for the k greatest of each row of slots and 0 for the others, in the shape of `indices`; as `argmin`."""
        key = self._need(keys)._lookup()
        x = self.to_lookup(ciphertext, indices, keys, bits=bits, progress=progress)
        return self._lookup_engine.top_k(x, k, key, max_failure=max_failure, progress=progress)

    # Files

    def _storable(self, value: Any) -> Any:
        return checks.need(value, BridgeKey, "bridge.create_bridge_key(secret_key, lwe_secret_key)")

    write_bridge_key, read_bridge_key, serialize_bridge_key, deserialize_bridge_key = methods(
        BridgeKey,
        "bridge.create_bridge_key(secret_key, lwe_secret_key)",
        "A file takes less than half of the memory of the key: seeds stand for what is uniform.",
    )
