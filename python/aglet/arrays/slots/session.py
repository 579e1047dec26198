"""`SlotSession`: an engine of integers with its keys, for encrypted booleans and whole numbers in slots."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import layout
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.digits.machine import MESSAGES
from aglet.arrays.digits.session import DigitSession
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.folders import InFolders
from aglet.arrays.sharing import SharesArrays
from aglet.arrays.slots import lookups, residues, stored
from aglet.arrays.slots.array import EncryptedSlots
from aglet.arrays.slots.residues import EncryptedResidues, zmod
from aglet.arrays.slots.values import DIGIT, MOST_DIGITS, MOST_PLACES, Numbers, fits
from aglet.errors import KeyMismatchError, MissingKeyError, RangeError
from aglet.integer.engine import IntegerEngine
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.switch import SchemeSwitch

if TYPE_CHECKING:
    from aglet.arrays.session import Session
    from aglet.arrays.slots.doublings import Way

__all__ = ["SlotSession"]


class SlotSession(InFolders[EncryptedSlots], SharesArrays):
    """Encrypted booleans and whole numbers in slots of an `IntegerEngine`, thousands in one ciphertext.

    `Session(keys)` makes one, of keys of integers alone; with keys of CKKS too, `session.encrypt(x,
    representation="slots")` encrypts with the one that it holds.

    Parameters
    ----------
    engine
        An engine with slots modulo a prime, 65537 by default.
    keys
        Its keys: `engine.create_keys()`. A server has them without the secret key.

    Raises
    ------
    KeyMismatchError
        If the keys belong to an engine with other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from aglet import IntegerEngine, Session
    >>> engine = IntegerEngine(depth=9)
    >>> session = Session(engine.create_keys())
    >>> age = session.encrypt(np.array([17, 42, 80], dtype=np.uint8))
    >>> session.decrypt((age >= 18) & (age < 65))
    array([False,  True, False])
    """

    floats: Session | None = None
    """The session of CKKS of the same keys; casts to floats go there."""
    digits: DigitSession | None = None
    """The session of digits of the same keys; `x.to("digits")` goes there."""
    modular_of: SlotSession
    """Of a session of numbers modulo t, that of whole numbers."""
    ways: dict[Any, Way | None]
    """How elements moved lately, for those who move the same way again."""
    _arrays = EncryptedSlots
    _stored = stored

    def __init__(self, engine: IntegerEngine, keys: KeySet) -> None:
        self.engine = checks.need(engine, IntegerEngine, "IntegerEngine(use_bootstrap=True)")
        self.keys = checks.need(keys, KeySet, "engine.create_keys()")
        of = keys.engine
        if not isinstance(of, IntegerEngine) or (of.preset, of.packing) != (engine.preset, engine.packing):
            raise KeyMismatchError("These keys are not of this engine; use the engine of the keys, keys.engine.")
        if engine.packing != "slots":
            raise KeyMismatchError('Arrays need slots; make the engine with packing="slots".')
        self.ways = {}
        if keys.fhew_bootstrap is not None and keys.fhew_engine is not None and 2**keys.fhew_engine.bits == MESSAGES:
            self.beside(DigitSession(keys.fhew_engine, keys))

    def beside(self, digits: DigitSession) -> None:
        """Let numbers cross to the digits of this session, and back."""
        self.digits, digits.integers = digits, self

    def __repr__(self) -> str:
        return f"<SlotSession of {self.engine!r} with {self.keys!r}>"

    @functools.cached_property
    def modular(self) -> SlotSession:
        """The same session for numbers modulo t, which no range limits."""
        made = object.__new__(_Modular)
        made.__dict__.update(self.__dict__, modular_of=self, modular=made, floats=None, digits=None)
        return made

    def _own(self, array: Any) -> None:
        if not isinstance(array, EncryptedResidues) or array.session is not self.modular:
            super()._own(array)

    @property
    def slots(self) -> int:
        """The numbers in a ciphertext."""
        return self.engine.slot_count

    @property
    def row_slots(self) -> int:
        """The numbers in each of the two rows of a ciphertext, which rotations turn."""
        return self.slots // 2

    def laid_out(self, shape: tuple[int, ...]) -> tuple[Any, int]:
        """Where the elements of a new array lie, and how many ciphertexts they take.

        The last axes that fit a row of slots together are in one row, so that sums and copies along them stay there.
        """
        index, rows = layout.spread(shape, self.row_slots) if shape and all(shape) else (layout.in_a_row(shape), 1)
        return index, -(-rows // 2)

    # In and out

    def encrypt(
        self, values: Any, dtype: Any = None, *, bound: Any = None, representation: str | None = None
    ) -> EncryptedSlots:
        """Encrypt booleans or whole numbers of any shape.

        Numbers of 8 bits lie in two slots, as digits of four bits, those of 16 bits with more than 8,192 values in
        four, those of 32 bits with more values than the modulus in eight, also as 64 bits; others in one.

        Parameters
        ----------
        values
            Numbers, nested lists or a numpy array.
        dtype
            bool, uint8 to uint64 or int8 to int64; by default that of the values. `aglet.zmod(t)` makes
            `EncryptedResidues`, which wrap at the modulus.
        bound
            The least and the largest value; those of the dtype by default. 64 bits need one that uint32 or int32 has.
        representation
            "slots" or "auto", as in a session of all families.

        Raises
        ------
        RangeError
            If a value is beyond the bound or the dtype, or 32 bits do not have the bound of 64 bits.
        TypeError
            If the values are not booleans or whole numbers, or are masked.
        MissingKeyError
            If the keys have neither the secret nor the public key.
        """
        if checks.choice("representation", representation or "slots", ("auto", "digits", "slots")) == "digits":
            raise MissingKeyError(
                "This session has slots alone; leave representation= out, or make keys with "
                "SchemeSwitch(engine, fhew_engine).create_keys(integers=integer_engine), for Session(keys)."
            )
        if isinstance(dtype, zmod):
            if bound is not None:
                raise TypeError("Numbers modulo t have no bound; leave bound= out.")
            return residues.encrypted(self, values, dtype, self._encrypted)
        if isinstance(dtype, fixed):
            raise TypeError(f"Numbers of {dtype} are digits of FHEW; encrypt them in a session with a FhewEngine.")
        array = dtypes.unmasked(values)
        given = array.dtype
        if given.kind not in "biu":
            raise TypeError(
                f"Slots of integers hold booleans and whole numbers, not {given}; {checks.conversion(given.kind)}."
            )
        wanted = dtypes.known(given if dtype is None else dtype)
        low, high = dtypes.span(wanted) if bound is None else dtypes.ends(bound, wanted)
        dtypes.check_within(array, (low, high))
        index, count = self.laid_out(array.shape)
        flat = np.full(count * self.slots, low, dtype=np.int64)
        flat[index] = array
        flat = flat[: int(index.max(initial=0)) + 1]
        if DIGIT < high - low + 1 <= DIGIT**MOST_DIGITS:
            above = flat - low
            digits = tuple(self._encrypted(above // DIGIT**at % DIGIT) for at in range(MOST_DIGITS))
            numbers = Numbers(digits, low, low, high)
        else:
            numbers = self._in_digits(flat, wanted, (low, high), self._encrypted)
        return EncryptedSlots(self, numbers, None, wanted, index)

    def public(self, values: Any, dtype: Any, pattern: Any = None) -> EncryptedSlots:
        """Numbers in the clear as ciphertexts that everybody can read, made of the ciphertext `pattern`.

        Without one it takes a key that encrypts.

        Raises
        ------
        RangeError
            If the numbers do not fit the modulus.
        MissingKeyError
            If there is no pattern, and no key that encrypts.
        """
        flat = np.asarray(values).astype(np.int64).reshape(-1)
        size = flat.size
        flat = flat if size else np.zeros(1, dtype=np.int64)
        low, high = int(flat.min()), int(flat.max())
        pattern = self._encrypted(np.zeros(1, dtype=np.int64))[0] if pattern is None else pattern
        zero, wanted = self.engine.multiply(pattern, 0), np.dtype(dtype)

        def known(numbers: Any) -> list[Any]:
            return [self.engine.add(zero, numbers[at : at + self.slots]) for at in range(0, flat.size, self.slots)]

        numbers = self._in_digits(flat, wanted, (low, high), known)
        return EncryptedSlots(self, numbers, None, wanted, np.arange(size).reshape(np.shape(values)))

    def _encrypted(self, flat: Any) -> list[Any]:
        key: Any = self.keys.secret if self.keys.public is None else self.keys.public
        if key is None:
            raise MissingKeyError("These keys do not encrypt; take those with a public key, keys.encryption().")
        return [self.engine.encrypt(flat[at : at + self.slots], key) for at in range(0, flat.size, self.slots)]

    def _in_digits(
        self, flat: Any, dtype: np.dtype[Any], ends: tuple[int, int], made: Callable[[Any], list[Any]]
    ) -> Numbers:
        """Numbers of 16 and 32 bits in digits; others, and so few that a table or the modulus has them all, whole."""
        fits = self.fits(*ends)
        dtype = dtype if fits else dtypes.held(dtype, ends)
        whole = ends[1] - ends[0] < MOST_PLACES if dtype.itemsize == 2 else fits or dtype.itemsize != 4
        if whole:
            self.check_range(*ends)
            return Numbers((made(flat),), 0, *ends)
        first = dtypes.span(dtype)[0]
        digits = tuple(made((flat - first) // DIGIT**at % DIGIT) for at in range(2 * dtype.itemsize))
        return Numbers(digits, first, *ends).trimmed()

    def decrypt(self, array: Any) -> Any:
        """Decrypt to a numpy array of the same dtype and shape. Shape () gives a number of numpy.

        Raises
        ------
        RangeError
            If a value is beyond the range that was declared.
        MissingKeyError
            If the keys of this session do not include the secret key.
        """
        if isinstance(array, EncryptedIntegers) and self.digits is not None:
            return self.digits.decrypt(array)
        self.same(array)
        if self.keys.secret is None:
            raise MissingKeyError(
                "These keys do not include the secret key; decrypt where it is, with KeySet.load(folder, secret=True)."
            )
        numbers = array.forced()
        key, t = self.keys._need("secret", "integer"), self.engine.plaintext_modulus
        self.engine._fetch([chunk for digit in numbers.digits for chunk in digit])
        parts = [np.concatenate([self.engine.decrypt(chunk, key) for chunk in digit]) for digit in numbers.digits]
        found = sum(part[array.index] * DIGIT**at for at, part in enumerate(parts)) + numbers.offset
        if numbers.places <= t:
            found = (found - numbers.low) % t + numbers.low
        if found.size and not numbers.low <= found.min() <= found.max() <= numbers.high:
            raise RangeError(
                f"A value is beyond {numbers.low} to {numbers.high}, the range that was declared; give x.assume a "
                "larger bound, or encrypt with one."
            )
        whole = np.asarray(found).astype(array.dtype)
        return whole if array.shape else whole[()]

    def take(self, table: Any, indices: EncryptedSlots) -> EncryptedSlots:
        """`table[indices]`: a table in the clear at encrypted places, as `numpy.take`, of all elements at once.

        Parameters
        ----------
        table
            Booleans or whole numbers on one axis, with an entry for every place that may be.
        indices
            Whole numbers, with up to 8,192 values: `x.assume(bound=(0, 9))` declares which.

        Raises
        ------
        RangeError
            If an index may lie beyond the table, or entries do not fit the modulus.
        LevelError
            If the table takes more levels than there are, and no bootstrap leaves them.
        """
        self.same(indices)
        return lookups.take(table, indices)

    # What operations need

    @functools.cached_property
    def limit(self) -> int | None:
        """The modulus that numbers and their ranges must fit; None if nothing is too large."""
        return self.engine.plaintext_modulus

    def fits(self, low: int, high: int) -> bool:
        """Whether numbers of this range fit the modulus."""
        return fits(self.limit, low, high)

    def check_range(self, low: int, high: int) -> None:
        """Refuse numbers of as many values as the modulus has, or more.

        Raises
        ------
        RangeError
            If they are so many, or lie beyond the modulus.
        """
        t = self.engine.plaintext_modulus
        if not self.fits(low, high):
            way = (
                "make keys of digits too, SchemeSwitch(engine, fhew_engine).create_keys(integers=integer_engine), and "
                if self.digits is None
                else 'call x.to("digits") on terms of 8 or 16 bits, or '
            )
            raise RangeError(
                f"Numbers from {low} to {high} do not fit slots modulo {t}; declare a smaller range with "
                f'bound=(low, high), or {way}encrypt with representation="digits".'
            )

    def relinearization(self, what: str) -> Any:
        """The key of products.

        Raises
        ------
        MissingKeyError
            If there is none.
        """
        if self.keys.relinearization is None:
            raise MissingKeyError(f"{what} needs a relinearization key; make it with engine.create_keys().")
        return self.keys.relinearization

    def rotation(self) -> Any:
        """The key of sums over slots and of moves: one that rotates by every step.

        Raises
        ------
        MissingKeyError
            If there is none.
        """
        if self.keys.rotation is None:
            raise MissingKeyError(
                "Sums and moves of elements need a rotation key, which these keys do not have; make it with "
                "engine.create_keys(rotation=True), or encrypt the elements in the places where they meet."
            )
        return self.keys.rotation

    @functools.cached_property
    def _switch(self) -> SchemeSwitch:
        if self.keys.fhew_engine is None or self.keys.scheme_switch is None:
            raise MissingKeyError(
                "A cast of slots of integers needs the key of their switch, which these keys do not have; make them "
                "with SchemeSwitch(engine, fhew_engine).create_keys(integers=integer_engine)."
            )
        return SchemeSwitch(self.engine, self.keys.fhew_engine)

    def down(self, chunk: Any, places: Any) -> Any:
        """These slots of a ciphertext as messages of FHEW."""
        return self._switch.to_fhew(chunk, places, self.keys)

    def up(self, cells: Any, bits: int) -> Any:
        """Messages of FHEW below `2^bits` as the first slots of a ciphertext."""
        return self._switch.from_fhew(cells, self.keys, bits=bits)

    def bootstrapped(self, chunks: Sequence[Any]) -> list[Any]:
        """Ciphertexts after a bootstrap.

        Raises
        ------
        MissingKeyError
            If the keys have none.
        """
        return self.engine.bootstrap_many(chunks, self.bootstrap_key())

    def bootstrap_key(self) -> Any:
        """The key of bootstraps.

        Raises
        ------
        MissingKeyError
            If there is none.
        """
        return self.keys._need("bootstrap", "integer")

    @property
    def bootstrap_level(self) -> int | None:
        """The level after a bootstrap, or None if there is none."""
        return None if self.keys.bootstrap is None else self.engine.bootstrap_output_level


class _Modular(SlotSession):
    """Of numbers modulo t."""

    @property
    def limit(self) -> int | None:
        return None
