"""`Session`: an engine together with its keys, so that arrays need no key arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import layout, stored
from aglet.arrays.array import EncryptedArray
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.digits.machine import MESSAGES
from aglet.arrays.digits.sent import CompressedIntegers
from aglet.arrays.digits.session import DigitSession
from aglet.arrays.evaluation import Functions
from aglet.arrays.families import Families
from aglet.arrays.fixed.array import EncryptedFixed
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.fixed.sent import CompressedFixed
from aglet.arrays.interval import Interval
from aglet.arrays.machine import Chunk, Live, Machine
from aglet.arrays.planned import Planned
from aglet.arrays.products import KeptMatrix
from aglet.arrays.sharing import SharesArrays
from aglet.arrays.slots.array import EncryptedSlots
from aglet.arrays.slots.residues import zmod
from aglet.arrays.slots.session import SlotSession
from aglet.ckks import values
from aglet.ckks.engine import Engine
from aglet.errors import KeyMismatchError, LevelError, MissingKeyError, ParameterError, RangeError
from aglet.fhew.engine import FhewEngine
from aglet.integer.engine import IntegerEngine
from aglet.keys.keyset import KeySet

if TYPE_CHECKING:
    pass

__all__ = ["Session"]

_MOST_BOUND = 2.0**16
"""A bootstrap loses a bit of precision with every doubling of the bound."""
_NOISE = 2.0**-18
"""The noise that a comparison may leave in its result, bootstraps included."""
_REFRESH = ("auto", "never")


def _engine_of(keys: KeySet) -> Engine:
    if isinstance(keys.engine, Engine):
        return keys.engine
    raise TypeError(
        "Arrays hold floats of CKKS and digits of FHEW, and these keys are of slots of integers; make keys with "
        "Engine.create_keys(), FhewEngine.create_keys() or SchemeSwitch(engine, fhew_engine).create_keys()."
    )


class Session(Functions, Planned, Families, SharesArrays):
    """Encrypted arrays with one engine and one set of keys.

    Parameters
    ----------
    engine
        The engine that computes. With a `FhewEngine` this is a `DigitSession` of booleans and whole numbers.
    keys
        Its keys: `engine.create_keys()`, or `KeySet.load(folder)`. A server has them without the secret key. If they
        hold keys of FHEW too, the session also encrypts booleans and whole numbers, with `dtype=`.
    refresh
        "auto" bootstraps an array, all chunks together, when an operation needs more levels than it has. "never" raises
        a LevelError instead.
    alpha, error_bits
        The precision of comparisons, as in `Engine.sign`. Values closer than 2^-alpha of the range are undecided, and
        decided results are wrong by at most 2^-error_bits.

    Raises
    ------
    ParameterError
        If refresh is neither "auto" nor "never".
    KeyMismatchError
        If the keys belong to an engine with other parameters.

    Examples
    --------
    >>> from aglet import Engine, Session
    >>> engine = Engine(max_level=7)
    >>> session = Session(engine, engine.create_keys())
    >>> x = session.encrypt([[0.1, 0.2], [0.3, 0.4]])
    >>> session.decrypt((2 * x - x * x).sum(axis=1)).round(3).tolist()
    [0.55, 1.15]
    """

    machine: Machine
    _arrays = EncryptedArray
    _stored = stored

    def __new__(cls, engine: Any = None, keys: Any = None, **options: Any) -> Any:
        """Make a `DigitSession` instead if the engine is one of FHEW, or the keys have no other."""
        if isinstance(engine, KeySet) and keys is None and engine.engine is None:
            engine, keys = engine.fhew_engine, engine
        if isinstance(engine, KeySet) and keys is None and isinstance(engine.engine, IntegerEngine):
            engine, keys = engine.engine, engine
        if isinstance(engine, FhewEngine):
            return DigitSession(engine, keys, **options)
        if isinstance(engine, IntegerEngine):
            return SlotSession(engine, keys, **options)
        return super().__new__(cls)

    def __init__(
        self,
        engine: Engine | KeySet,
        keys: KeySet | None = None,
        *,
        refresh: str = "auto",
        alpha: int = 8,
        error_bits: int = 20,
    ) -> None:
        if isinstance(engine, KeySet) and keys is None:
            keys, engine = engine, _engine_of(engine)
        if not isinstance(engine, Engine):
            raise TypeError(
                f"The first argument of Session(engine, keys) is an Engine, not {type(engine).__name__}; Session(keys) "
                "takes the engine of the keys."
            )
        keys = checks.need(keys, KeySet, "engine.create_keys()")
        self.engine, self.keys = engine, keys
        of = keys.engine
        if not isinstance(of, Engine):
            raise KeyMismatchError("These keys are not of CKKS; take those of Engine.create_keys().")
        if (of.preset, of.slot_count) != (engine.preset, engine.slot_count):
            raise KeyMismatchError(
                f"These keys are for preset {of.preset} with {of.slot_count} slots, and the engine "
                f"is {engine.preset} with {engine.slot_count}; use the engine of the keys, keys.engine."
            )
        if checks.string("refresh", refresh) not in _REFRESH:
            raise ParameterError(f'refresh is "auto" or "never", not {refresh!r}.')
        self.machine, self._refreshes = Live(engine, keys), refresh == "auto"
        self._alpha, self._error_bits = checks.count("alpha", alpha), checks.count("error_bits", error_bits)
        fhew = keys.fhew_engine
        self.digits = DigitSession(fhew, keys) if fhew is not None and 2**fhew.bits == MESSAGES else None
        if self.digits is not None:
            self.digits.floats = self
        self.integers = None
        if keys.integers is not None and keys.integers.engine is not None:
            self.integers = SlotSession(keys.integers.engine, keys.integers)  # type: ignore[arg-type]
            self.integers.floats = self
            if self.digits is not None:
                self.integers.beside(self.digits)

    def __repr__(self) -> str:
        return f"<Session of {self.engine!r} with {self.keys!r}>"

    @property
    def slots(self) -> int:
        """The number of values in a chunk."""
        return self.machine.slots

    @property
    def max_level(self) -> int:
        """The level of fresh arrays."""
        return self.engine.max_level

    @property
    def refreshed_level(self) -> int | None:
        """The level after a bootstrap; None without a bootstrap key.

        Data that meets bootstrapped arrays needs no higher level.
        """
        return self.machine.refreshed_level

    # In and out

    def encrypt(
        self,
        message: Any,
        *,
        bound: Any = None,
        level: int | None = None,
        dtype: Any = None,
        representation: Any = None,
    ) -> Any:
        """Encrypt numbers of any shape.

        As many of the last axes as fit are kept together in a ciphertext, so that sums over them stay within
        ciphertexts. Larger arrays take as many ciphertexts as their size requires.

        Parameters
        ----------
        message
            Numbers, nested lists or a numpy array. The dtypes bool, int and float are real, complex ones are complex.
        bound
            The largest absolute value, or a pair of the least and the largest value. Declare a range here instead of
            computing it from the data, because everybody can see it on the ciphertexts. For complex numbers only
            absolute values are followed. 1 by default; of whole numbers in slots what `SlotSession.encrypt` says.
        level
            The level of the ciphertexts; `max_level` if not given.
        dtype
            bool, uint8 to uint64 or int8 to int64 encrypt digits, which have no levels, as `DigitSession.encrypt` does.
            `aglet.fixed(bits, fraction)` rounds numbers to digits with a fraction. numpy.float64 encrypts numbers of
            CKKS, and `aglet.zmod(t)` numbers modulo t in slots of integers. By default the dtype of an array, or of a
            column of pandas, decides, if the keys have FHEW for messages of 4 bits; Python's numbers, and all without
            such keys, are of CKKS.
        representation
            "slots" puts booleans and whole numbers into slots of integers (`SlotSession`), for thousands at once; they
            are digits by default. "auto" takes slots from 64 elements on, if the keys have them and the range of the
            dtype, or the bound, fits. A plan, `Session.plan(f, ..., representation="auto")`, takes what is quicker for
            its function, and an array what it has.

        Raises
        ------
        RangeError
            If the message is empty, ragged or not finite, or a value is outside of the bound.
        MemoryLimitError
            If the machine has too little memory for the ciphertexts and the numbers, before anything is encrypted.
        TypeError
            If it contains something other than numbers.
        """
        # Columns and tables of pandas have dtypes of their own.
        message = np.asarray(message) if hasattr(message, "to_numpy") else message
        if isinstance(dtype, zmod):
            return self._slots().encrypt(message, dtype, bound=bound)
        if isinstance(dtype, fixed):
            if isinstance(representation, str) and representation == "slots":
                raise TypeError(f"Numbers of {dtype} are digits of FHEW; leave representation= out.")
            return self._digits().encrypt(message, dtype, bound=bound)
        # A plan and an array have one.
        representation = getattr(representation, "representation", representation)
        how = checks.choice("representation", representation or "digits", ("auto", "digits", "slots"))
        how = self._chosen(message, dtype, bound) if how == "auto" else how
        if how == "slots":
            return self._slots().encrypt(message, dtype, bound=bound)
        if dtype is None and self.digits is not None:
            dtype = getattr(message, "dtype", None)
            dtype = dtype if isinstance(dtype, np.dtype) and dtype.kind in "biu" else None
        if dtype is not None and dtypes.of_numpy(dtype).kind not in "biufc":
            raise TypeError(
                f"Encrypted arrays have no dtype {dtype}; give one of numpy's numbers, aglet.fixed(bits, fraction) or "
                "aglet.zmod(t)."
            )
        if dtype is not None and dtypes.of_numpy(dtype).kind in "biu":
            return self._digits().encrypt(message, dtype, bound=bound)
        with checks.in_memory("These numbers do not fit in memory; encrypt them in parts."):
            array, bound = values.as_array(message), 1.0 if bound is None else bound
            if array.size > self.slots:
                count, words = layout.chunk_count(array.shape, self.slots), 2 if array.dtype.kind == "c" else 1
                # A copy, the same by chunks, and places.
                self.check_room(count, level, 8 * (words * (array.size + count * self.slots) + array.size))
            return self._encrypted(array, bound, level)

    def check_room(self, count: int, level: int | None, beside_bytes: int) -> None:
        """Check that the ciphertexts, and the memory needed beside them, fit in memory. A plan makes none."""
        if isinstance(self.machine, Live):
            self.engine.check_memory(count, level, beside_bytes=beside_bytes)

    def _encrypted(self, array: Any, bound: Any, level: int | None) -> EncryptedArray:
        flat = values.as_vector(array.ravel())
        interval = Interval.of(bound) if flat.dtype.kind != "c" else Interval.of(bound).disc
        interval.refuse_beyond(flat)
        filler = interval.inside
        if self.slots % flat.size == 0:
            # Written over and over, so that sums are short and broadcasting is free.
            chunk = self.machine.encrypt(np.tile(flat, self.slots // flat.size), level, interval.size)
            return EncryptedArray(self, [chunk], layout.in_a_row(array.shape), interval, None, flat.size)
        index, count = layout.spread(array.shape, self.slots)
        laid = np.full(count * self.slots, filler, dtype=flat.dtype)
        laid[index.ravel()] = flat
        chunks = [self.machine.encrypt(row, level, interval.size) for row in laid.reshape(count, -1)]
        return EncryptedArray(self, chunks, index, interval, filler)

    def encrypt_like(self, message: Any, like: EncryptedArray) -> EncryptedArray:
        """Encrypt plain numbers, to join them with another array. Their range is public, as they are."""
        self.same(like)
        array = values.as_operand(message)
        if not array.size:
            raise RangeError("This array is empty; give at least one number.")
        around = Interval.around(array) | Interval(like.interval.inside, like.interval.inside)
        ends = (around.low, around.high) if around.size else 1.0
        found: EncryptedArray = self.encrypt(array, bound=ends, dtype=np.float64)
        return found

    def decrypt(self, array: Any) -> Any:
        """Decrypt to an array of the same shape: float64 if real, complex128 if not, or the dtype of whole numbers.

        Shape () gives a number.

        Do not publish the values as they are; `decrypt_shared` gives values to publish.

        Raises
        ------
        RangeError
            If a value is outside of the range that the array states (`x.interval`), by more than noise explains. Then a
            bound given to `assume` is wrong, or a file was changed.
        MissingKeyError
            If the keys of this session do not include the secret key.
        """
        if isinstance(array, EncryptedIntegers | CompressedIntegers | EncryptedFixed | CompressedFixed):
            return self._digits().decrypt(array)
        if isinstance(array, EncryptedSlots):
            return self._slots().decrypt(array)
        self.same(array)
        if self.keys.secret is None:
            raise MissingKeyError(
                "These keys do not include the secret key; decrypt where it is, with KeySet.load(folder, secret=True)."
            )
        flat = self.engine.decrypt_many(array.chunks, self.keys._need("secret", "ckks"))
        found = flat[array.index]
        array.interval.refuse_outside(found)
        return found if array.ndim else found[()]

    def encode_matrix(self, matrix: Any) -> KeptMatrix:
        """Encode a plain matrix once for many products, `x @ m` and `m @ x`. Later products reuse the encoding.

        An encoding takes about half the memory of a ciphertext for each diagonal. `byte_count` is its size, `clear()`
        frees it.

        Raises
        ------
        RangeError
            If the matrix is empty, ragged, not finite, or does not have two axes.
        """
        entries = values.as_operand(matrix)
        if entries.ndim != 2:
            raise RangeError(
                f"A matrix has two axes and at least one entry, and this one has shape {entries.shape}; reshape it."
            )
        return KeptMatrix(self, entries)

    # Comparisons

    def comparison(self, operation: str) -> Callable[[Sequence[Chunk]], Chunk]:
        """The comparison of chunks, with this session's alpha and error."""
        return lambda chunks: self.machine.compare(operation, chunks, self._alpha, self._error_bits)

    def loosened(self, operation: str, interval: Interval) -> Interval:
        """The interval after a comparison. Undecided values may leave the old one a little."""
        slack = 2.0**-self._error_bits + _NOISE
        if operation not in ("sign", "compare"):
            slack += 2.0**-self._alpha
        return Interval(interval.low - slack, interval.high + slack)

    # Refreshes

    def may_refresh(self, levels: int, have: int) -> None:
        """Raise an error if levels are missing and a bootstrap is not allowed or not possible."""
        after = self.machine.refreshed_level
        if not self._refreshes:
            raise LevelError(
                f"This uses {levels} levels and the array has {have}; call x.refresh(), or open the session with "
                'refresh="auto".'
            )
        if after is None:
            raise LevelError(
                f"This uses {levels} levels and the array has {have}, and the keys do not include a bootstrap key; "
                'make the engine with use_bootstrap=True and the keys with engine.create_keys(bootstrap="large").'
            )
        if after < levels:
            raise LevelError(
                f"This uses {levels} levels at once and a bootstrap leaves {after}; split it into smaller steps."
            )

    def refreshed(self, chunks: Sequence[Chunk], interval: Interval, real: bool) -> list[Chunk]:
        """The chunks after a bootstrap, which takes the values less the middle of the interval."""
        if interval.size > _MOST_BOUND or not math.isfinite(interval.size):
            raise RangeError(
                f"These values may be as large as {interval.size:.3g}, and a bootstrap loses a bit of precision with "
                "every doubling beyond 1; declare a smaller bound with x.assume(bound=...), or divide the values "
                "first."
            )
        machine, middle = self.machine, interval.inside
        around = interval - Interval(middle, middle)
        moved = [machine.add(chunk, -middle) for chunk in chunks] if middle else chunks
        fresh = machine.refresh(moved, max(1.0, around.size), real)
        return [machine.add(chunk, middle) for chunk in fresh] if middle else fresh
