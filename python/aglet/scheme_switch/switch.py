"""`SchemeSwitch` converts slots of `Engine` or `IntegerEngine` to ciphertexts of `FhewEngine`, and back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aglet import checks
from aglet._core import Ciphertext, FhewSecretKey, IntegerCiphertext, IntegerSecretKey, SecretKey
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.engine import FhewEngine
from aglet.files import Stores
from aglet.integer.engine import IntegerEngine
from aglet.keys.keyset import KeySet
from aglet.keys.making import refuse_above_free
from aglet.progress import ProgressCallback, progress_bar
from aglet.scheme_switch.estimate import Estimates
from aglet.scheme_switch.indices import slots
from aglet.scheme_switch.integers import Integers
from aglet.scheme_switch.options import ReadOptions
from aglet.scheme_switch.orders import Orders
from aglet.scheme_switch.reals import Reals
from aglet.scheme_switch.sides import Reading
from aglet.scheme_switch.tables import Tables

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["SchemeSwitch"]

_SWITCH_KEY = "switch.create_switch_key(secret_key, fhew_secret_key)"


class SchemeSwitch(Tables, Orders, Estimates, Stores):
    """Converts between ciphertexts of CKKS or integers and FHEW ciphertexts.

    CKKS: slots at any level become bits, messages of tables or signed integers of FHEW. Bits go back to slots of a
    fresh ciphertext, at the level of a lossy bootstrap. Comparisons between the two conversions are exact, where
    polynomials approximate them. For some hundred values this is faster than `Engine.compare`; for thousands,
    `Engine.compare` is faster.

    Integers: slots at level 1 or above become bits, messages or integers modulo 2^bits. Use it for a few slots, or if
    tables on all slots (`IntegerEngine.lookup`) need too many levels. Bits and messages go back to slots of a fresh
    ciphertext, exactly. `IntegerEngine` compares integers; `sign`, `compare`, `argmin`, `argmax` and `top_k` take slots
    of CKKS.

    Parameters
    ----------
    engine
        An `Engine` that bootstraps, but not by SHIP, or an `IntegerEngine` that has slots and bootstraps:
        `IntegerEngine(use_bootstrap=True)`. The work runs on its threads.
    fhew_engine
        An engine of 4 bits (`FhewEngine(bits=4)`) for comparisons, of 2 to 4 bits for tables, of 1 bit for gates, or
        with preset "wide" for bytes.

    Raises
    ------
    ParameterError
        If the parameters of one of them do not allow a switch.

    Examples
    --------
    A switch in a ring that is far too small to be secure::

        engine = Engine(preset="toy", slot_count=64, allow_insecure=True)
        switch = SchemeSwitch(engine, FhewEngine(preset="toy-lut4", allow_insecure=True))
        secret_key, fhew_secret_key = engine.create_secret_key(), switch.fhew_engine.create_secret_key()
        keys = switch.create_keys(secret_key, fhew_secret_key)
        x = engine.encrypt([0.25, -0.5, 0.75], secret_key)
        signs = switch.sign(x, [0, 1, 2], keys, bits=8)
        engine.decrypt(switch.from_fhew(signs, keys), secret_key)[:3].real.round(1)  # 1, 0, 1
    """

    def __init__(self, engine: Engine | IntegerEngine, fhew_engine: FhewEngine) -> None:
        low = checks.need(fhew_engine, FhewEngine, "FhewEngine(bits=4)")
        if isinstance(engine, IntegerEngine):
            self._side: Reals | Integers = Integers(engine, low)
        else:
            made = "Engine(use_bootstrap=True) or IntegerEngine(use_bootstrap=True)"
            self._side = Reals(checks.need(engine, Engine, made), low)
        self._core = self._side.core

    def __reduce__(self) -> Any:
        return type(self), (self.engine, self.fhew_engine)

    def __repr__(self) -> str:
        return f"<SchemeSwitch between {self.engine!r} and {self.fhew_engine!r}>"

    @property
    def engine(self) -> Any:
        """The engine of slots: an `Engine` or an `IntegerEngine`."""
        return self._side.engine

    @property
    def fhew_engine(self) -> FhewEngine:
        """The engine of gates, tables and signs."""
        return self._side.fhew_engine

    @property
    def security_bits(self) -> float:
        """Classical security in bits of the weaker side. A switching key binds both secrets: one reveals the other."""
        return float(min(self.engine._core.security_bits, self.fhew_engine.security_bits))

    # Keys

    @property
    def key_bytes(self) -> int:
        """Bytes in memory of the switching key, without the keys of both engines. No key is made."""
        return int(self._core.key_bytes)

    def create_switch_key(
        self,
        secret_key: SecretKey | IntegerSecretKey,
        fhew_secret_key: FhewSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Any:
        """Make the key that switches from one secret key to the other and back. It decrypts nothing.

        The result is a `SchemeSwitchKey`, or for integers an `IntegerSchemeSwitchKey`.

        Parameters
        ----------
        memory_limit_bytes
            A key of more bytes is refused before anything is allocated. So is a key for which the machine has too
            little free memory.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work stops.

        Raises
        ------
        MemoryLimitError
            If the key would not fit.
        KeyMismatchError
            If a secret key is of other parameters.
        """
        own: Any = checks.need(secret_key, self._side.secret, "engine.create_secret_key()")
        theirs, most = _low(fhew_secret_key), checks.optional_count("memory_limit_bytes", memory_limit_bytes)
        with progress_bar(progress) as report:
            return self._core.create_switch_key(own, theirs, most, report)

    def keys_forecast(self, *, packing: bool = False, integers: IntegerEngine | None = None, **options: Any) -> int:
        """Peak memory in bytes of `create_keys` with these arguments and of one bootstrap. No key is made."""
        own = int(self.engine.keys_forecast(**self._side.options(options)))
        if integers is not None:
            beside = self._beside(integers)
            own += beside.key_bytes + integers.keys_forecast()
        return own + self.key_bytes + self.fhew_engine.keys_forecast(packing=packing)

    def create_keys(
        self,
        secret_key: Any = None,
        fhew_secret_key: FhewSecretKey | None = None,
        *,
        packing: bool = False,
        integers: IntegerEngine | None = None,
        progress: ProgressCallback | None = None,
        **options: Any,
    ) -> KeySet:
        """Make every key that the methods of this class take, in one set. Give `keys.evaluation()` to a server.

        Parameters
        ----------
        secret_key, fhew_secret_key
            The secret keys; fresh ones by default.
        packing
            True adds the packing key, which `lookup_bytes` takes.
        integers
            An engine of integers whose keys, with those of its switch, go beside those of CKKS: `keys.integers`. A
            session of the set then also holds whole numbers in slots.
        options
            Other arguments of `engine.create_keys`. The rotation key is left out unless `rotation=True`. The bootstrap
            key of CKKS is "medium" or "large". By default it is a lossy one, which serves both directions; one with
            `method="regular"` serves `to_fhew` only.

        Raises
        ------
        ParameterError
            If arguments contradict one another.
        MemoryLimitError
            If the keys would not fit. Nothing is made then.
        KeyMismatchError
            If a secret key is of other parameters.
        """
        refuse_above_free(self.keys_forecast(packing=packing, integers=integers, **options))
        start = time.perf_counter()
        theirs = self.fhew_engine.create_secret_key() if fhew_secret_key is None else _low(fhew_secret_key)
        own = self.engine.create_keys(secret_key, progress=progress, **self._side.options(options))
        low = self.fhew_engine.create_keys(theirs, packing=packing, progress=progress)
        made: KeySet = replace(
            own,
            fhew_engine=self.fhew_engine,
            scheme_switch=self.create_switch_key(own.secret, theirs, progress=progress),
            fhew_secret=theirs,
            fhew_bootstrap=low.fhew_bootstrap,
            packing=low.packing,
            fhew_public=low.fhew_public,
        )
        if integers is not None:
            made = replace(made, integers=self._keys_beside(integers, theirs, progress))
        return replace(made, seconds=time.perf_counter() - start)

    def _beside(self, integers: IntegerEngine) -> SchemeSwitch:
        """The switch of an engine of integers to the same FHEW.

        Raises
        ------
        ParameterError
            If this switch is one of integers itself.
        """
        if not isinstance(self._side, Reals):
            raise ParameterError("integers= goes with a switch of CKKS, and this one is of integers; leave it out.")
        return SchemeSwitch(checks.need(integers, IntegerEngine, "IntegerEngine(use_bootstrap=True)"), self.fhew_engine)

    def _keys_beside(
        self, integers: IntegerEngine, fhew_secret_key: FhewSecretKey, progress: ProgressCallback | None
    ) -> KeySet:
        """All keys of slots of integers, and of their switch."""
        own = integers.create_keys(progress=progress)
        secret = checks.need(own.secret, IntegerSecretKey, "engine.create_secret_key()")
        key = self._beside(integers).create_switch_key(secret, fhew_secret_key, progress=progress)
        return replace(own, fhew_engine=self.fhew_engine, scheme_switch=key)

    # Conversions

    def to_fhew(
        self, ciphertext: Ciphertext | IntegerCiphertext, indices: Any, keys: KeySet, **options: Unpack[ReadOptions]
    ) -> FhewCiphertext:
        """Convert slots to an array of the FHEW engine. One call converts any number of slots.

        Slots are encrypted, so nobody can check that they hold what the call reads. Other values are misread:

        - CKKS, bits: a slot counts modulo 4. 0.5 to 2.5 is read as 1, everything else as 0.
        - CKKS, messages of p values: a slot counts modulo 2 p, so -1 becomes 2 p - 1, which tables do not take.
        - CKKS, integers without a sign (`signed=False`): a slot counts modulo 2^bits.
        - CKKS, real numbers (`bits=`): a number beyond the range changes its sign.
        - Integers: negative slots, and slots that hold something else, give arbitrary values.

        A slot at distance d from a whole number leaves 1/2 - d for the noise. Failure probabilities are stated for
        d = 0.

        Parameters
        ----------
        ciphertext
            A ciphertext of CKKS at any level, or one of integers at level 1 or above. Slots are near whole numbers: 0
            and 1 for gates, 0 to 2^bits - 1 for tables. With `bits`, slots of CKKS are real numbers from -1 to 1. The
            noise of a CKKS ciphertext must be known. After products, and at lower levels, it is known if the messages
            were encrypted with a `bound`.
        indices
            The slots: whole numbers in any shape, which is the shape of the result. A slot may occur more than once.
        bits
            CKKS: read real numbers as signed integers of so many bits, 2 to 20; x becomes `x 2^(bits - 1)`. The part
            of x below one unit is kept, so signs and differences use it. If numbers are subtracted afterwards, the
            differences must be from -1 to 1. Integers: read slots modulo 2^bits, 1 to 12 bits, for
            `FhewEngine.digits` and `floor`.
        signed
            CKKS: False reads whole numbers from 0 to 2^bits - 1 as integers modulo 2^bits.
        part
            CKKS: "real", "imaginary" or "both". "both" adds a first axis of length 2, with the real parts first.
        bound
            CKKS: the largest size of a part, as the caller knows it. It replaces what was declared. Real numbers are
            then read from -bound to bound: x becomes `x 2^(bits - 1) / bound`.
        noise
            CKKS: the root mean square of the error of a slot, as the caller knows it, if the ciphertext states none or
            a larger one (`ciphertext.noise`). If the error is larger, results are wrong more often than stated.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work stops.

        Raises
        ------
        RangeError
            If a slot or a part does not exist, values may be larger than what is read, the noise is not known, or
            there are too many bits.
        LevelError
            If a ciphertext of integers is at level 0.
        NoiseError
            If a ciphertext of integers has more noise than a bootstrap takes.
        ParameterError
            If `signed`, `part`, `bound` or `noise` is given for integers, or more than 12 bits.
        MemoryLimitError
            If so many values do not fit into memory.
        MissingKeyError
            If a key is missing, or the bootstrap key is small or for another number of slots.
        KeyMismatchError
            If ciphertext and keys do not belong together.
        """
        checks.known(options, ReadOptions)
        places, part = slots(indices, self.engine.slot_count), checks.string("part", options.get("part", "real"))
        said = (options.get("bits"), options.get("signed"), part, options.get("bound"), options.get("noise"))
        with progress_bar(options.get("progress")) as report:
            return FhewCiphertext._of(self._side.to_fhew(ciphertext, places, Reading(*said), keys, report))

    def from_fhew(
        self,
        x: FhewCiphertext,
        keys: KeySet,
        *,
        bits: int | None = None,
        imaginary: FhewCiphertext | None = None,
        progress: ProgressCallback | None = None,
    ) -> Any:
        """Convert messages to the first slots of a fresh ciphertext, in C order. All other slots are 0.

        CKKS: bits become 0.0 and 1.0. A call takes as long as a lossy bootstrap of real slots, for one bit or for all
        slots. With `imaginary` it takes as long as one of complex slots.

        Integers: bits and messages are converted exactly. A call takes the same time for one value and for all slots. A
        polynomial removes the noise and uses levels: results of a table of preset "lut4" arrive at level 5 of "int16"
        if they have 1 bit, and at level 1 if they have 4. From level 1 a bootstrap leads to the highest level.

        Parameters
        ----------
        x
            CKKS: bits of gates, or messages 0 and 1, as signs, comparisons and tables give them. The call cannot check
            this: of a greater message it converts the lowest bit, 0 for 2 and 1 for 15. Integers: bits of gates, or
            messages of tables in any domain. There may be at most as many values as slots.
        bits
            Integers: messages are below 2^bits. Signs, comparisons and tables of 0 and 1 have 1 bit. By default, as
            many bits as the FHEW engine has. The call cannot check this: a greater message becomes an arbitrary number
            from 0 to 65,536.
        imaginary
            CKKS: bits for the imaginary parts, at most as many as slots.

        Raises
        ------
        ParameterError
            If x holds integers of `bits=`. Convert them to messages first, by a sign, digits or a table.
        RangeError
            If there are more values than slots, they have too much noise, or `bits` is out of range.
        LevelError
            If the integers do not have the levels for messages with so much noise. What gates give can go back to
            "int16-deep".
        MemoryLimitError
            If so many values do not fit into memory.
        MissingKeyError
            If a key is missing, the bootstrap key of CKKS is not one of `create_lossy_bootstrap_key`, or the switching
            key leads to FHEW alone (its `both_ways` is False).
        KeyMismatchError
            If values and keys do not belong together.

        References
        ----------
        docs/scheme-switching.md; to integers: packing, a modulus switch to 65537 under the sparse secret (eprint
        2022/024), mod_raise, and a polynomial through all messages with all errors.
        """
        made = "fhew_engine.encrypt(values, secret_key)"
        array = checks.need(x, FhewCiphertext, made)._array
        other = None if imaginary is None else checks.need(imaginary, FhewCiphertext, made)._array
        with progress_bar(progress) as report:
            return self._side.from_fhew(array, other, bits, keys, report)

    # Files

    def _storable(self, value: Any) -> Any:
        return checks.need(value, self._side.key, _SWITCH_KEY)


def _low(fhew_secret_key: FhewSecretKey) -> FhewSecretKey:
    return checks.need(fhew_secret_key, FhewSecretKey, "fhew_engine.create_secret_key()")
