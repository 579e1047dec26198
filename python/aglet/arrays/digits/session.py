"""`DigitSession`: an FHEW engine with its keys, for encrypted arrays of booleans and whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes, lookups, sent, stored
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.digits.live import Live
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.model import Model
from aglet.arrays.digits.sent import CompressedIntegers
from aglet.arrays.digits.sums import AnyDigit, Digit
from aglet.arrays.fixed import stored as fixed_stored
from aglet.arrays.fixed.array import EncryptedFixed
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.fixed.sent import CompressedFixed
from aglet.arrays.folders import InFolders
from aglet.arrays.sharing import SharesArrays
from aglet.errors import KeyMismatchError, MissingKeyError, RangeError
from aglet.fhew.engine import FhewEngine
from aglet.keys.keyset import KeySet
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from aglet.arrays.session import Session
    from aglet.arrays.slots.session import SlotSession

__all__ = ["DigitPlan", "DigitSession"]


@dataclass(frozen=True)
class DigitPlan:
    """What a function of encrypted integers takes. `print` shows it as a sentence."""

    rotations: int
    """Blind rotations. They take nearly all of the time."""
    seconds: float
    """Seconds on the threads of the engine, as `FhewEngine.estimate` gives them for batches of 64."""

    def __str__(self) -> str:
        return f"{self.rotations} blind rotations, about {self.seconds:.3g} s."


class DigitSession(InFolders[Any], SharesArrays):
    """Encrypted booleans and whole numbers with one FHEW engine and one set of keys.

    `Session(engine, keys)` makes one, if the engine is a `FhewEngine`.

    Parameters
    ----------
    engine
        The engine that computes, of 4 bits: `FhewEngine(bits=4)`, or `FhewEngine(preset="wide")`, which has so little
        noise that several tables share a bootstrap.
    keys
        Its keys: `engine.create_keys()`, or `KeySet.load(folder)`. A server has them without the secret key. With
        `keys.encryption()`, the public keys, a sender only encrypts.
    max_failure
        The largest accepted probability that a bootstrap, or a decrypted digit, is wrong. Arrays are refreshed where it
        would be larger.
    progress
        Called as `progress(done, total, what)` by every batch of bootstraps. If it raises an exception, the work stops.

    Raises
    ------
    ParameterError
        If the engine has messages of another size than 4 bits.
    KeyMismatchError
        If the keys belong to an engine with other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from aglet import FhewEngine, Session
    >>> engine = FhewEngine(bits=4)
    >>> session = Session(engine, engine.create_keys())
    >>> age = session.encrypt(np.array([17, 42, 80], dtype=np.uint8))
    >>> session.decrypt((age >= 18) & (age < 65))
    array([False,  True, False])
    >>> session.decrypt(np.where(age < 18, age + 200, 0))
    array([217,   0,   0], dtype=uint8)
    """

    machine: Machine
    floats: Session | None = None
    """The session of CKKS that the same keys serve; casts to floats go there."""
    integers: SlotSession | None = None
    """The session of slots of integers that the same keys serve; `x.to("slots")` goes there."""
    _arrays = EncryptedIntegers
    _stored = stored

    def __init__(
        self,
        engine: FhewEngine,
        keys: KeySet,
        *,
        max_failure: float = 2.0**-128,
        progress: ProgressCallback | None = None,
    ) -> None:
        if not isinstance(engine, FhewEngine):
            raise TypeError(f"Digits need a FhewEngine, not {type(engine).__name__}; call FhewEngine(bits=4).")
        self.engine, self.keys = engine, checks.need(keys, KeySet, "engine.create_keys()")
        if keys.fhew_engine is None or keys.fhew_engine.preset != engine.preset:
            raise KeyMismatchError("These keys are not of this engine; use the engine of the keys, keys.fhew_engine.")
        self.machine = Live(engine, keys, max_failure, progress)

    @classmethod
    def modelled(cls, engine: FhewEngine) -> DigitSession:
        """A session without keys that computes in the clear and counts bootstraps: nothing in it is encrypted."""
        made = object.__new__(cls)
        made.engine, made.keys, made.machine = engine, KeySet(fhew_engine=engine), Model(engine)
        return made

    def __repr__(self) -> str:
        return f"<DigitSession of {self.engine!r} with {self.keys!r}>"

    @property
    def rotations(self) -> int:
        """The blind rotations so far, refreshes included."""
        return self.machine.rotations

    # In and out

    def encrypt(self, values: Any, dtype: Any = None, *, bound: Any = None, representation: str | None = None) -> Any:
        """Encrypt booleans or whole numbers of any shape, each in as many ciphertexts as its dtype has digits.

        Parameters
        ----------
        values
            Numbers, nested lists or a numpy array.
        dtype
            bool, uint8 to uint64 or int8 to int64; by default that of the values. `aglet.fixed(bits, fraction)` makes
            an `EncryptedFixed` of floats or whole numbers, rounded to the nearest multiple of `2^-fraction`.
        bound
            The least and the largest value, as `EncryptedIntegers.assume` takes them; everybody can see it.
        representation
            "digits" or "auto", as in a session of all families.

        Raises
        ------
        RangeError
            If a value does not fit the dtype, or lies beyond the bound.
        TypeError
            If the values are not booleans or whole numbers, or digits do not hold the dtype.
        MissingKeyError
            If the keys of this session include neither the secret key nor the public key.
        """
        if checks.choice("representation", representation or "digits", ("auto", "digits", "slots")) == "slots":
            raise MissingKeyError(
                "This session has digits alone; leave representation= out, or make keys with "
                "SchemeSwitch(engine, fhew_engine).create_keys(integers=integer_engine), for Session(keys)."
            )
        if isinstance(dtype, fixed):
            with checks.in_memory("These numbers do not fit in memory as words; encrypt them in parts."):
                words = dtype.nearest(values)
            ends = None if bound is None else dtype.within(words, dtype.ends(bound))
            return dtype.of(self.encrypt(words, bound=ends))
        with checks.in_memory("These numbers do not fit in memory as digits; encrypt them in parts."):
            array = self._array(values, dtype)
            if bound is not None:
                dtypes.check_within(array, dtypes.ends(bound, array.dtype))
            # All digits together, so that a public key has one mask for them.
            cells = self.machine.encrypt(np.stack(dtypes.split(array, array.dtype)))
        digits = [Digit(cells[at], 0, dtypes.high(array.dtype)) for at in range(dtypes.width(array.dtype))]
        found = EncryptedIntegers(self, digits, array.dtype, array.shape)
        return found if bound is None else found.assume(bound=bound)

    def clear(self, values: Any, dtype: Any = None) -> Any:
        """An array of numbers in the clear, which everybody can read. It takes no key."""
        if isinstance(dtype, fixed):
            return dtype.of(self.clear(dtype.nearest(values)))
        array = self._array(values, dtype)
        return EncryptedIntegers(self, dtypes.split(array, array.dtype), array.dtype, array.shape)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of zeros in the clear."""
        return self.clear(np.zeros(shape, dtype=np.uint8), dtype)

    @staticmethod
    def _array(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
        array = dtypes.unmasked(values)
        if array.dtype.kind not in "biu":
            raise TypeError(
                f"Digits hold booleans and whole numbers, not {array.dtype}; {checks.conversion(array.dtype.kind)}."
            )
        wanted = dtypes.known(array.dtype if dtype is None else dtype)
        for end in (array.min(), array.max()) if array.size else ():
            dtypes.fitting(int(end), wanted)
        return array.astype(wanted)

    def compress(self, array: EncryptedIntegers | EncryptedFixed) -> Any:
        """Pack and round an array for sending: it decrypts to the same numbers, and computes no more.

        Four bits share a ciphertext, up to 2,048 of these a mask, and words are rounded as far as `max_failure` allows.
        8,192 bits take 5.9 kB, 0.7 bytes a bit; an array of one to a few elements takes 4 kB. It takes no bootstrap,
        unless digits have too much noise. `decrypt`, `save` and `load` take the result.

        Raises
        ------
        MissingKeyError
            If the keys have no packing key; `create_keys(packing=True)` makes one.
        """
        if isinstance(array, EncryptedFixed):
            return CompressedFixed(self.compress(array.words()), array.dtype)
        self.same(array)
        return sent.compress(self, array)

    def decrypt(self, array: EncryptedIntegers | CompressedIntegers | EncryptedFixed | CompressedFixed) -> Any:
        """Decrypt to a numpy array of the same dtype and shape, or to float64. Shape () gives a number of numpy.

        Raises
        ------
        MissingKeyError
            If the keys of this session do not include the secret key.
        RangeError
            If noise makes a wrong value more probable than the session accepts, a value is beyond the range that
            `assume` declared, or a number of a fixed format has more than 53 bits.
        """
        if isinstance(array, EncryptedFixed | CompressedFixed):
            words, ends = array.words(), None
            if isinstance(words, EncryptedIntegers):
                # The sentence about a range is one of numbers.
                words, ends = words.with_digits(words.digits), words.bound
            found = self.decrypt(words)
            if ends is not None:
                array.dtype.within(found, ends)
            return array.dtype.numbers(found)[()]
        if isinstance(array, CompressedIntegers):
            self._own(array)
            found = sent.opened(array)
        else:
            self.same(array)
            found = dtypes.join([self._opened(digit) for digit in array.digits], array.dtype)
            if array.bound is not None:
                low, high = array.bound
                if found.size and not low <= int(found.min()) <= int(found.max()) <= high:
                    raise RangeError(
                        f"A value is beyond {low} to {high}, the range that was declared; give x.assume a larger bound."
                    )
        return found if array.shape else found[()]

    def _writer(self, array: Any) -> Any:
        if isinstance(array, EncryptedFixed | CompressedFixed):
            self._own(array)
            return fixed_stored
        if not isinstance(array, CompressedIntegers):
            return super()._writer(array)
        self._own(array)
        return sent

    def _reader(self, place: Path) -> tuple[Any, Any]:
        if fixed_stored.holds_fixed(place):
            return self, fixed_stored
        return (self, sent) if sent.holds_compressed(place) else super()._reader(place)

    def _opened(self, digit: AnyDigit) -> np.ndarray[Any, Any]:
        return self.machine.decrypt(digit.cells) if isinstance(digit, Digit) else digit

    def take(self, table: Any, indices: EncryptedIntegers) -> EncryptedIntegers:
        """`table[indices]`: a table in the clear at encrypted places, as `numpy.take`.

        Places of up to 16 values take a bootstrap for each digit of the result. Those of up to 256 take one more for
        all digits, and the packing key: preset "wide" and `create_keys(packing=True)`. Those of up to 4,096 take 2 for
        two digits and 16 more, those of up to 65,536 too and 12 to 16 beyond that, or 18 for two digits of few. Equal
        parts of tables are computed once.

        Parameters
        ----------
        table
            Booleans or whole numbers on one axis, with an entry for every place that may be.
        indices
            Unsigned integers. `x & 15` shows that they are small.

        Raises
        ------
        RangeError
            If an index may lie beyond the table, or there are more than 65,536 of them.
        MissingKeyError
            If the keys have no packing key, and there are more than 16.
        """
        self.same(indices)
        return lookups.take(table, indices)

    # Forecast

    @staticmethod
    def plan(function: Callable[..., Any], arrays: Sequence[tuple[Any, Any]], *, engine: FhewEngine) -> DigitPlan:
        """Count the bootstraps of a function before any key exists.

        Parameters
        ----------
        function
            Called with one simulated array for each of `arrays`.
        arrays
            The shape and the dtype of each argument, `aglet.fixed(bits, fraction)` too.
        engine
            The engine that will run the function.
        """
        session = DigitSession.modelled(engine)
        function(*(session.encrypt(np.zeros(checks.shape(shape), dtype=np.uint8), dtype) for shape, dtype in arrays))
        each = engine.estimate("lookup", batch=64).seconds / 64
        return DigitPlan(session.rotations, session.rotations * each)
