"""`SchemeSwitch`: slots of `Engine` or `IntegerEngine` as bits, messages and integers of `FhewEngine`, and back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from aglet import checks
from aglet._core import Ciphertext, FhewSecretKey, IntegerCiphertext, IntegerSecretKey, SecretKey
from aglet.ckks.engine import Engine
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
from aglet.scheme_switch.orders import Orders
from aglet.scheme_switch.reals import Reals
from aglet.scheme_switch.sides import Reading
from aglet.scheme_switch.tables import Tables

__all__ = ["SchemeSwitch"]

_SWITCH_KEY = "switch.create_switch_key(secret_key, fhew_secret_key)"


class SchemeSwitch(Tables, Orders, Estimates, Stores):
    """What stands between an engine of slots that bootstraps, `Engine` or `IntegerEngine`, and a `FhewEngine`.

    Slots of CKKS go to FHEW as bits, as messages of tables or as integers with a sign, from any level; bits go back as
    slots of a fresh ciphertext, at the level of a lossy bootstrap. Between them comparisons are exact, where
    polynomials approximate them: for some hundred values that is faster, for thousands `Engine.compare` is.

    Slots of integers go to FHEW as bits, messages or words, from level 1 or above: for a few of them, or for what
    tables on all slots (`IntegerEngine.lookup`) have not the levels for. Bits and messages go back as slots of a fresh
    ciphertext, exactly. They are compared by `IntegerEngine`; `sign`, `compare`, `argmin`, `argmax` and `top_k` take
    slots of CKKS.

    Parameters
    ----------
    engine
        An `Engine` whose parameters bootstrap, and not by SHIP, or an `IntegerEngine` with a bootstrap and slots:
        `IntegerEngine(use_bootstrap=True)`. The work runs on its threads.
    fhew_engine
        Of 4 bits (`FhewEngine(bits=4)`) for comparisons, of 2 to 4 bits for tables, of 1 bit for gates, of preset
        "wide" for bytes.

    Raises
    ------
    ParameterError
        If the parameters of one of them do not allow a switch.

    Examples
    --------
    A switch in a ring that is far too small to be secure::

        engine = Engine(preset="toy", slot_count=64, allow_insecure=True)
        switch = SchemeSwitch(engine, FhewEngine(bits=4))
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
        """Classical security in bits of the weaker side: a switching key binds both secrets; who has one has both."""
        return float(min(self.engine._core.security_bits, self.fhew_engine.security_bits))

    # Keys

    @property
    def key_bytes(self) -> int:
        """Bytes in memory that the switching key takes, beside the keys of both engines. No key is made."""
        return int(self._core.key_bytes)

    def create_switch_key(
        self,
        secret_key: SecretKey | IntegerSecretKey,
        fhew_secret_key: FhewSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Any:
        """The key that leads from one secret key to the other and back; it decrypts nothing.

        It is a `SchemeSwitchKey`, or of integers an `IntegerSchemeSwitchKey`.

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
        own: Any = checks.need(secret_key, self._side.secret, "engine.create_secret_key()")
        theirs, most = _low(fhew_secret_key), checks.optional_count("memory_limit_bytes", memory_limit_bytes)
        with progress_bar(progress) as report:
            return self._core.create_switch_key(own, theirs, most, report)

    def keys_forecast(self, *, packing: bool = False, **options: Any) -> int:
        """Bytes that `create_keys` with these arguments and one bootstrap take at their peak. No key is made."""
        own = int(self.engine.keys_forecast(**self._side.options(options)))
        return own + self.key_bytes + self.fhew_engine.keys_forecast(packing=packing)

    def create_keys(
        self,
        secret_key: Any = None,
        fhew_secret_key: FhewSecretKey | None = None,
        *,
        packing: bool = False,
        progress: ProgressCallback | None = None,
        **options: Any,
    ) -> KeySet:
        """Every key that the methods of this class take, in one set; a server gets `keys.evaluation()`.

        Parameters
        ----------
        secret_key, fhew_secret_key
            The secrets; fresh ones if not given.
        packing
            With the packing key, which `lookup_bytes` takes.
        options
            Others of `engine.create_keys`. The rotation key is left out unless `rotation=True`. A bootstrap key of CKKS
            is "medium" or "large", and a lossy one, which both directions take; with `method="regular"` slots go to
            FHEW alone.

        Raises
        ------
        ParameterError
            If arguments contradict one another.
        MemoryLimitError
            If they would not fit; nothing was made then.
        KeyMismatchError
            If a secret key is of other parameters.
        """
        refuse_above_free(self.keys_forecast(packing=packing, **options))
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
        )
        return replace(made, seconds=time.perf_counter() - start)

    # Conversions

    def to_fhew(
        self,
        ciphertext: Ciphertext | IntegerCiphertext,
        indices: Any,
        keys: KeySet,
        *,
        bits: int | None = None,
        signed: bool | None = None,
        part: str = "real",
        bound: float | None = None,
        noise: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewCiphertext:
        """Some slots as an array of the FHEW engine; one call serves any number of them.

        Slots are encrypted, so nobody sees whether they are what is read; others are read as other values. Of CKKS,
        bits: a slot counts modulo 4, 0.5 to 2.5 as 1 and the others as 0. Messages of p values: modulo 2 p, so that -1
        is 2 p - 1, which tables do not take. Words: modulo 2^bits. Real numbers beyond their range change their sign.
        A slot that is d away from a whole number leaves 1/2 - d to the noise, and what is said of failures is of d = 0.
        Of integers, slots that are not what is read, and negative ones, give values of no meaning.

        Parameters
        ----------
        ciphertext
            Of CKKS at any level: slots are near whole numbers, 0 and 1 for gates and 0 to 2^bits - 1 for tables, or
            with `bits` any real numbers from -1 to 1. Its noise must be known: of products and of lower levels it is if
            the messages were encrypted with a `bound`. Of integers at level 1 or above: slots are 0 and 1 for gates,
            and 0 to 2^bits - 1 for tables or words.
        indices
            Whole numbers, in any shape, which the result has; the same slot may stand there more than once.
        bits
            Read real numbers as integers with a sign of so many bits, 2 to 20: x as `x 2^(bits - 1)`. What x has
            below a unit stays, so that a sign or a difference knows it. Of numbers that are subtracted afterwards the
            differences must be from -1 to 1. Integers are read as words of so many bits, 1 to 12, for
            `FhewEngine.digits` and `floor`.
        signed
            False reads whole numbers from 0 to 2^bits - 1 of CKKS as words too.
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
            If a slot or a part does not exist, values are known or declared to be larger than what is read, the noise
            is not known, or words have too many bits.
        LevelError
            If a ciphertext of integers is at level 0.
        NoiseError
            If one has more noise than a bootstrap takes.
        ParameterError
            If `signed`, `part`, `bound` or `noise` is said of integers, or their words have more than 12 bits.
        MemoryLimitError
            If so many values do not fit into memory.
        MissingKeyError
            If a key is missing, or the bootstrap key is small or for other slots.
        KeyMismatchError
            If ciphertext and keys do not belong together.
        """
        places, read = slots(indices, self.engine.slot_count), checks.word("part", part)
        with progress_bar(progress) as report:
            found = self._side.to_fhew(ciphertext, places, Reading(bits, signed, read, bound, noise), keys, report)
        return FhewCiphertext._of(found)

    def from_fhew(
        self,
        x: FhewCiphertext,
        keys: KeySet,
        *,
        bits: int | None = None,
        imaginary: FhewCiphertext | None = None,
        progress: ProgressCallback | None = None,
    ) -> Any:
        """Messages as the first slots of a fresh ciphertext of the engine, in the order of C; all other slots are 0.

        To CKKS go bits, as 0.0 and 1.0. It takes the time of a lossy bootstrap of real slots, for one bit or for all
        slots; of complex ones, if other bits go back as imaginary parts.

        To integers go bits and messages, exactly. One value takes as long as all slots do. A polynomial removes the
        noise, whose levels are missing above: results of a table of preset "lut4" come back at level 5 of "int16" if
        they have 1 bit, and at level 1 if they have 4. From level 1 a bootstrap leads to the highest.

        Parameters
        ----------
        x
            To CKKS bits of gates, or messages of tables that are 0 or 1, as signs, comparisons and tables give them.
            Nobody sees whether they are: of a greater message the lowest bit comes back, 0 of 2 and 1 of 15. To
            integers bits of gates, or messages of tables in any domain, at most as many as there are slots.
        bits
            Messages that go to integers are below 2^bits: 1 to as many bits as the FHEW engine has. Signs, comparisons
            and tables of 0 and 1 have 1. All bits if it is left out. Nobody sees whether they are: a greater message
            comes back as a number of no meaning, from 0 to 65,536.
        imaginary
            Bits for imaginary parts of CKKS, as many as they may be.

        Raises
        ------
        ParameterError
            If they are integers or words, which a sign, digits or a table bring to messages.
        RangeError
            If there are more values than slots, they have too much noise, or `bits` is out of range.
        LevelError
            If the integers have not the levels for messages with so much noise: what gates give goes back to
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
        2022/024), the raise of the bootstrap, and a polynomial through all messages with all errors.
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
