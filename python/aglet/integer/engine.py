"""`IntegerEngine`: exact arithmetic on encrypted integers modulo t, thousands in a ciphertext."""

from __future__ import annotations

from typing import Any

import numpy as np

from aglet import _core, checks
from aglet._core import (
    IntegerCiphertext,
    IntegerPlaintext,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSecretKey,
)
from aglet.errors import LevelError, ParameterError
from aglet.integer import operands, values
from aglet.integer.bootstrapping import IntegerBootstrapping
from aglet.integer.circuits import IntegerCircuits
from aglet.integer.files import IntegerFiles
from aglet.integer.values import Integers
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["IntegerEngine"]

Operand = Any
"""A ciphertext, a plaintext, a whole number, or a list or array of them."""


class IntegerEngine(IntegerBootstrapping, IntegerCircuits, IntegerFiles):
    """Integers modulo t, exact: one parameter set, its tables, and its threads.

    A ciphertext holds N integers in two rows of N/2 slots, and sums, products and rotations are those of numpy modulo
    t. Each product takes one of the levels. Nothing is rounded: a ciphertext carries a bound on its noise, and what
    would decrypt to something else is refused before it is computed, a `NoiseError`.

    All methods leave their arguments as they were and may be called from many threads at once. An engine works in
    forked children, and its pickle makes it again from its arguments; keys are no part of it.

    Parameters
    ----------
    scheme
        "bfv" or "bgv": two readings of one ciphertext, with the same keys, arithmetic and results. What one engine
        makes the other uses.
    plaintext_modulus
        The modulus t, odd and below 2^31, as far as levels have room for it: 65537 has all N slots in every set but
        the largest (there N/2), other primes that are 1 modulo 2N have N, and every odd number goes with
        packing="coefficients".
    depth
        How many products one after the other, 1 to 39: 9 if not given. The smallest set with as many is taken: 4
        (8,192 slots), 9 (16,384), 19 (32,768), 39.
    preset
        A set by its name instead, see `aglet params`.
    use_bootstrap
        True: the set `int16`, 32,768 slots modulo 65537, whose ciphertexts `bootstrap` refreshes to 7 products. The set
        `int16-deep` does so to 25, with preset="int16-deep".
    packing
        "slots", or "coefficients": products are those of polynomials modulo X^N + 1 then, and nothing rotates.
    signed
        True: integers come out from -(t-1)/2 to (t-1)/2. False: from 0 to t - 1. In go those between -t and t.
    thread_count
        The number of threads, 1 if not given; 0 for all cores. Results do not depend on it.

    Raises
    ------
    ParameterError
        If the modulus is even, too large or has no slots, there is no such set, or arguments contradict one another.
    DeviceError
        If AGLET_BACKEND names a backend that the processor lacks.

    Examples
    --------
    >>> from aglet import IntegerEngine
    >>> engine = IntegerEngine(depth=4)
    >>> secret_key = engine.create_secret_key()
    >>> relinearization_key = engine.create_relinearization_key(secret_key)
    >>> x = engine.encrypt([-3, 100, 255], secret_key)
    >>> engine.decrypt(engine.multiply(x, x, relinearization_key), secret_key)[:4].tolist()
    [9, 10000, -512, 0]
    """

    def __init__(
        self,
        scheme: str = "bfv",
        plaintext_modulus: int = 65537,
        *,
        depth: int | None = None,
        preset: str | None = None,
        use_bootstrap: bool = False,
        packing: str = "slots",
        signed: bool = True,
        thread_count: int | None = None,
    ) -> None:
        self._words = {
            "scheme": scheme,
            "plaintext_modulus": plaintext_modulus,
            "depth": depth,
            "preset": preset,
            "use_bootstrap": use_bootstrap,
            "packing": packing,
            "signed": signed,
            "thread_count": thread_count,
        }
        if depth is not None and preset is not None:
            raise ParameterError("preset already fixes depth; leave one of them out.")
        if checks.flag("use_bootstrap", use_bootstrap):
            if depth is not None or preset is not None:
                raise ParameterError("use_bootstrap already fixes depth and preset; leave them out.")
            preset = "int16"
        self._scheme = _one_of("scheme", scheme, ("bfv", "bgv"))
        self._packing = _one_of("packing", packing, ("slots", "coefficients"))
        self._signed = checks.flag("signed", signed)
        self._core = _core.IntegerEngine(
            None if preset is None else checks.word("preset", preset),
            9 if depth is None else checks.count("depth", depth, 1),
            checks.count("plaintext_modulus", plaintext_modulus),
            self._packing == "slots",
            1 if thread_count is None else checks.count("thread_count", thread_count),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        IntegerEngine.__init__(self, **state["_words"])
        self.__dict__.update(state)

    def __repr__(self) -> str:
        where = f"{self.slot_count} {self.packing}"
        return (
            f"<IntegerEngine {self.scheme} {self.preset}: {where} modulo {self.plaintext_modulus}, "
            f"{self.max_level} levels, {self.thread_count} threads, {self.backend}>"
        )

    # What the engine is

    @property
    def scheme(self) -> str:
        """How ciphertexts are read: "bfv" or "bgv"."""
        return self._scheme

    @property
    def packing(self) -> str:
        """Where the integers of a message stand: in "slots" or in "coefficients"."""
        return self._packing

    @property
    def signed(self) -> bool:
        """Whether integers come out with a sign."""
        return self._signed

    @property
    def preset(self) -> str:
        """The name of the parameter set."""
        return self._core.preset

    @property
    def plaintext_modulus(self) -> int:
        """The modulus t."""
        return self._core.plaintext_modulus

    @property
    def slot_count(self) -> int:
        """Integers of a message."""
        return self._core.count

    @property
    def max_level(self) -> int:
        """Products one after the other that a fresh ciphertext allows."""
        return self._core.max_level

    @property
    def log_n(self) -> int:
        """log2 of the ring degree N."""
        return self._core.log_n

    @property
    def log_qp(self) -> float:
        """log2 of the largest modulus in use."""
        return self._core.log_qp

    @property
    def security_bits(self) -> float:
        """Classical security in bits; docs/security.md says by which model."""
        return self._core.security_bits

    @property
    def thread_count(self) -> int:
        """The number of threads."""
        return self._core.threads

    @property
    def backend(self) -> str:
        """The kernels in use: "avx512ifma", "avx2", "portable" or "scalar"."""
        return self._core.backend

    # Keys

    def create_secret_key(self) -> IntegerSecretKey:
        """A fresh secret key from the randomness of the system. It refuses to be pickled."""
        return self._core.create_secret_key()

    def create_public_key(self, secret_key: IntegerSecretKey) -> IntegerPublicKey:
        """The key that encrypts and decrypts nothing, for every level."""
        return self._core.create_public_key(operands.secret_key(secret_key))

    def create_relinearization_key(self, secret_key: IntegerSecretKey) -> IntegerRelinearizationKey:
        """The key of products, for every level."""
        return self._core.create_relinearization_key(operands.secret_key(secret_key))

    def create_rotation_key(
        self, secret_key: IntegerSecretKey, *, progress: ProgressCallback | None = None
    ) -> IntegerRotationKey:
        """The key that rotates rows by any step and exchanges them, for every level.

        Raises
        ------
        ParameterError
            If coefficients are packed, which do not rotate.
        """
        with progress_bar(progress) as report:
            return self._core.create_rotation_key(operands.secret_key(secret_key), report)

    # Messages

    def encode(self, message: Any) -> IntegerPlaintext:
        """A message as a polynomial modulo t, once for many uses and for every level.

        Parameters
        ----------
        message
            Up to `slot_count` integers between -t and t in one dimension, or the two rows of slots; those that are left
            out are 0. Any dtype whose values are whole.

        Raises
        ------
        RangeError
            If there are too many, or one is out of range, not whole, or not finite.
        TypeError
            If they are no numbers.
        """
        if isinstance(message, IntegerPlaintext):
            return message
        return self._core.encode(values.as_integers(message, self.slot_count, self.plaintext_modulus))

    def decode(self, plaintext: IntegerPlaintext) -> Integers:
        """The `slot_count` integers of a plaintext, int64; their range as `signed` says."""
        return self._out(self._core.decode(checks.need(plaintext, IntegerPlaintext, "engine.encode(message)")))

    def encrypt(
        self, message: Any, key: IntegerPublicKey | IntegerSecretKey, *, level: int | None = None
    ) -> IntegerCiphertext:
        """Encrypt a message, or a plaintext, at a level, the highest if not given.

        Messages and errors are those of `encode`; a key of another engine is a `KeyMismatchError`.
        """
        if not isinstance(key, IntegerPublicKey):
            operands.secret_key(key)
        at = self.max_level if level is None else self._level(level)
        return self._core.encrypt(self.encode(message), key, at)

    def decrypt(self, ciphertext: IntegerCiphertext, secret_key: IntegerSecretKey) -> Integers:
        """The `slot_count` integers of a ciphertext, int64; their range as `signed` says.

        Raises
        ------
        KeyMismatchError
            If it was made under another secret key.
        NoiseError
            If the key sees that its noise leaves less than a bit of its modulus, as that of an altered file may.
        """
        return self._out(self._core.decrypt(operands.ciphertext(ciphertext), operands.secret_key(secret_key)))

    def _out(self, found: Integers) -> Integers:
        return found if self._signed else np.where(found < 0, found + self.plaintext_modulus, found)

    def _level(self, level: Any) -> int:
        if not 0 <= checks.whole("A level", level) <= self.max_level:
            raise LevelError(f"Level {level} does not exist here; this engine has the levels 0 to {self.max_level}.")
        return int(level)

    def noise_budget(self, ciphertext: IntegerCiphertext, secret_key: IntegerSecretKey | None = None) -> float:
        """Bits that are free above the noise: by the bound that the ciphertext carries, or as the secret key sees them.

        The bound is never above what the key sees. At 0 a ciphertext would not be certain to decrypt; none is made.
        With the key the budget is rounded down to whole bits, as noise depends on the key: even so show nobody the
        budgets of many ciphertexts (SECURITY.md).
        """
        ct = operands.ciphertext(ciphertext)
        return ct.noise_budget if secret_key is None else self._core.noise_budget(ct, operands.secret_key(secret_key))

    # Arithmetic

    def add(self, a: IntegerCiphertext, b: Operand) -> IntegerCiphertext:
        """The sum a + b, of ciphertexts at any levels, or with numbers in the clear; the lower level of both.

        A list or array that is shorter than a ciphertext has zeros in all other places, in sums and in products.

        Raises
        ------
        NoiseError
            If the sum would not decrypt.
        RangeError
            If numbers in the clear are out of range, see `encode`.
        """
        if isinstance(b, IntegerCiphertext):
            return self._core.add(operands.ciphertext(a), b)
        if _is_number(b):
            return self._core.add_number(operands.ciphertext(a), values.as_number(b, self.plaintext_modulus))
        return self._core.add_plain(operands.ciphertext(a), self._encoded(b))

    def subtract(self, a: IntegerCiphertext, b: Operand) -> IntegerCiphertext:
        """The difference a - b; operands and errors as those of `add`."""
        if isinstance(b, IntegerCiphertext):
            return self._core.subtract(operands.ciphertext(a), b)
        if _is_number(b):
            return self._core.add_number(operands.ciphertext(a), -values.as_number(b, self.plaintext_modulus))
        if isinstance(b, IntegerPlaintext):
            b = self.decode(b)
        return self._core.add_plain(
            operands.ciphertext(a),
            self._core.encode(-values.as_integers(_given(b), self.slot_count, self.plaintext_modulus)),
        )

    def negate(self, ciphertext: IntegerCiphertext) -> IntegerCiphertext:
        """The negative -x."""
        return self._core.negate(operands.ciphertext(ciphertext))

    def multiply(
        self,
        a: IntegerCiphertext,
        b: Operand,
        relinearization_key: IntegerRelinearizationKey | None = None,
        *,
        method: str = "modulus-switching",
    ) -> IntegerCiphertext:
        """The product a * b, one level below the lower of both; with numbers in the clear no level, but its noise.

        Without a key the product of ciphertexts keeps three polynomials at its level, until `relinearize` brings it a
        level down: sums of such products want one relinearization.

        By the method "scale-invariant", that of BFV, two ciphertexts give one at the lower level of both, and at level
        0 as well: the product takes its bits from the noise budget, about as many as a level has. It is slower,
        and there are about as many of them as levels; it is for programs that count budgets and no levels.

        Raises
        ------
        LevelError
            If a ciphertext has no level left.
        MissingKeyError
            If a scale-invariant product has no key.
        NoiseError
            If the product would not decrypt.
        ParameterError
            If there is no such method, or it is for ciphertexts only.
        RangeError
            If numbers in the clear are out of range, see `encode`.
        """
        left, scaled = operands.ciphertext(a), method == "scale-invariant"
        _one_of("method", method, ("modulus-switching", "scale-invariant"))
        if isinstance(b, IntegerCiphertext):
            key = relinearization_key
            if scaled:
                return self._core.multiply_scaled(left, b, operands.relinearization_key(key))
            return self._core.multiply(left, b, None if key is None else operands.relinearization_key(key))
        if scaled:
            raise ParameterError("A product with numbers in the clear has no method; leave it out.")
        if _is_number(b):
            return self._core.multiply_number(left, values.as_number(b, self.plaintext_modulus))
        return self._core.multiply_plain(left, self._encoded(b))

    def square(
        self, ciphertext: IntegerCiphertext, relinearization_key: IntegerRelinearizationKey | None = None
    ) -> IntegerCiphertext:
        """The square x * x; levels, key and errors as those of `multiply`."""
        return self.multiply(ciphertext, operands.ciphertext(ciphertext), relinearization_key)

    def relinearize(
        self, ciphertext: IntegerCiphertext, relinearization_key: IntegerRelinearizationKey
    ) -> IntegerCiphertext:
        """A product as two polynomials, one level below; what has two already stays as it is."""
        key = operands.relinearization_key(relinearization_key)
        return self._core.relinearize(operands.ciphertext(ciphertext), key)

    def mod_switch(self, ciphertext: IntegerCiphertext, level: int) -> IntegerCiphertext:
        """The same integers at a lower level: smaller, faster, and with as little noise as there can be.

        Raises
        ------
        LevelError
            If the ciphertext is below that level, or the level does not exist.
        """
        return self._core.level_down(operands.ciphertext(ciphertext), self._level(level))

    def as_scheme(self, ciphertext: IntegerCiphertext, scheme: str) -> IntegerCiphertext:
        """The same integers as a ciphertext of "bfv" or "bgv": itself, as both are readings of one ciphertext.

        What one engine made goes into the other without it; it is for programs that convert.

        Raises
        ------
        ParameterError
            If there is no such scheme.
        """
        _one_of("scheme", scheme, ("bfv", "bgv"))
        return operands.ciphertext(ciphertext)

    def rotate_rows(
        self, ciphertext: IntegerCiphertext, rotation_key: IntegerRotationKey, delta: int
    ) -> IntegerCiphertext:
        """Both rows by delta places to the right: numpy.roll(x.reshape(2, -1), delta, axis=1); no level.

        Raises
        ------
        MissingKeyError
            If no key is given.
        ParameterError
            If coefficients are packed.
        """
        key, by = operands.rotation_key(rotation_key), checks.step(delta)
        return self._core.rotate_rows(operands.ciphertext(ciphertext), key, by)

    def rotate_columns(self, ciphertext: IntegerCiphertext, rotation_key: IntegerRotationKey) -> IntegerCiphertext:
        """The two rows exchanged: x.reshape(2, -1)[::-1]; no level. Errors as those of `rotate_rows`."""
        return self._core.rotate_columns(operands.ciphertext(ciphertext), operands.rotation_key(rotation_key))

    def sum_slots(self, ciphertext: IntegerCiphertext, rotation_key: IntegerRotationKey) -> IntegerCiphertext:
        """The sum of all slots modulo t, in every slot; no level. Errors as those of `rotate_rows`."""
        return self._core.sum_slots(operands.ciphertext(ciphertext), operands.rotation_key(rotation_key))

    def _encoded(self, operand: Any) -> IntegerPlaintext:
        return self.encode(_given(operand))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)


def _given(value: Any) -> Any:
    if value is None:
        raise TypeError(
            "An operand is a ciphertext, a plaintext, a whole number, or a list or array of them, not None."
        )
    return value


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    if checks.word(name, value) not in known:
        raise ParameterError(f'There is no {name} "{value}"; choose one of {", ".join(known)}.')
    return str(value)
