"""`LookupEngine`: gates on encrypted bits and tables on encrypted integers, each with a bootstrap in it."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet._core import LookupKey, LweSecretKey, PackingKey
from aglet.errors import ParameterError, RangeError
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.estimate import Estimates
from aglet.lookup.files import LookupFiles
from aglet.lookup.gates import Gates, ciphertext, log2_failure
from aglet.lookup.numbers import Numbers
from aglet.lookup.ranking import Ranking
from aglet.lookup.tables import Tables
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["LookupEngine"]

_METHODS = ("block", "cggi", "ginx", "lmkcdey", "dm", "ntru")


class LookupEngine(Gates, Tables, Numbers, Ranking, Estimates, LookupFiles):
    """Gates and look-up tables: one parameter set, its tables, and its threads.

    Every gate and every table is a bootstrap, a few milliseconds for each bit or integer, whose result has the same
    small noise whatever went into it: programs of any length run. `Engine` computes on thousands of numbers at once.

    All methods leave their arguments as they were and may be called from many threads at once. An engine works in
    forked children, and its pickle makes it again from its arguments; keys are no part of it.

    Parameters
    ----------
    bits
        Bits of a message, 1 to 4: 1 for gates (the default), more for tables.
    preset
        A parameter set by its name instead, see `aglet params`: "wide" for `lookup2`.
    method
        How blind rotations are done: "block" (the default, the fastest), or for 1 bit one of the published methods:
        "cggi" with a plain binary secret, "ginx", "lmkcdey" and "dm" with a ternary one, "ntru" with `allow_insecure`.
    thread_count
        The number of threads, 1 if not given; 0 for all cores. They share out the ciphertexts of an array.
    parameters
        A parameter set of your own: a path to a TOML file in the form of `crates/aglet/presets/fhew/gate.toml`, or such
        a text itself (with its line breaks). It says all, and has to pass the same security gate.
    allow_insecure
        Accept parameters below 128 bits, and "ntru", which no table judges. For tests only: a warning says why they are
        refused otherwise, and the `repr` shows it.

    Raises
    ------
    ParameterError
        If there is no such set, or arguments contradict one another.
    InsecureParametersError
        If the set does not pass the security gate and `allow_insecure` was not given.
    DeviceError
        If AGLET_BACKEND names a backend that the processor lacks.

    Examples
    --------
    >>> from aglet import LookupEngine, Table
    >>> engine = LookupEngine(bits=2)
    >>> secret_key = engine.create_secret_key()
    >>> key = engine.create_lookup_key(secret_key)
    >>> x = engine.encrypt([0, 1, 2, 3], secret_key)
    >>> engine.decrypt(engine.lookup(x, Table(lambda m: m * m % 4), key), secret_key)
    array([0, 1, 0, 1])
    """

    def __init__(
        self,
        bits: int | None = None,
        *,
        preset: str | None = None,
        method: str | None = None,
        thread_count: int | None = None,
        parameters: str | os.PathLike[str] | None = None,
        allow_insecure: bool = False,
    ) -> None:
        text = checks.literal(parameters)
        self._words = {
            "bits": bits,
            "preset": preset,
            "method": method,
            "thread_count": thread_count,
            "parameters": text,
            "allow_insecure": checks.flag("allow_insecure", allow_insecure),
        }
        threads = 1 if thread_count is None else checks.count("thread_count", thread_count)
        name = _chosen(bits, preset, method, text)
        self._core = _core.LookupEngine(name, threads, parameters=text, allow_insecure=allow_insecure)
        if self._core.insecurity is not None:
            warnings.warn(f"NOT SECURE, for tests only. {self._core.insecurity}", stacklevel=2)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        LookupEngine.__init__(self, **state["_words"])
        self.__dict__.update(state)

    def __repr__(self) -> str:
        what = "gates" if self.bits == 1 else f"tables of {self.bits} bits"
        insecure = "" if self._core.insecurity is None else ", NOT SECURE"
        return f"<LookupEngine {self.preset}: {what}, {self.thread_count} threads, {self.backend}{insecure}>"

    # What the engine is

    @property
    def bits(self) -> int:
        """Bits of a message: 1 for gates."""
        return self._core.messages.bit_length() - 1

    @property
    def preset(self) -> str:
        """The name of the parameter set."""
        return self._core.preset

    @property
    def thread_count(self) -> int:
        """The number of threads."""
        return self._core.threads

    @property
    def backend(self) -> str:
        """The kernels in use: "avx512ifma", "avx2", "portable" or "scalar"."""
        return self._core.backend

    @property
    def security_bits(self) -> float:
        """Classical security in bits, of the weaker of the two secrets; docs/security.md says by which model.

        0 stands for what the model does not know.
        """
        return self._core.security_bits

    @property
    def method(self) -> str:
        """How blind rotations are done: "block", "cggi", "ginx", "lmkcdey", "dm" or "ntru"."""
        return self._core.method

    @property
    def log2_failure(self) -> float:
        """Base-2 logarithm of the probability, at most, that a gate or table on what the set allows is wrong."""
        return self._core.log2_failure

    # Keys

    def create_secret_key(self) -> LweSecretKey:
        """A fresh secret key from the randomness of the system. It refuses to be pickled."""
        return self._core.create_secret_key()

    def create_lookup_key(
        self,
        secret_key: LweSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> LookupKey:
        """The key of gates and tables, for whoever computes: it decrypts nothing.

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
            If the secret key is of other parameters.
        """
        limit = checks.optional_count("memory_limit_bytes", memory_limit_bytes)
        own = _secret_key(secret_key)
        with progress_bar(progress) as report:
            return self._core.create_lookup_key(own, limit, report)

    def create_packing_key(
        self,
        secret_key: LweSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> PackingKey:
        """The key that `lookup2` wants beside a lookup key: less than a megabyte, made in a moment.

        Arguments and errors are those of `create_lookup_key`.
        """
        limit = checks.optional_count("memory_limit_bytes", memory_limit_bytes)
        own = _secret_key(secret_key)
        with progress_bar(progress) as report:
            return self._core.create_packing_key(own, limit, report)

    # Messages

    def encrypt(
        self,
        values: Any,
        secret_key: LweSecretKey,
        *,
        domain: str = "padded",
        bits: int | None = None,
        signed: bool = True,
    ) -> LweCiphertext:
        """Encrypt booleans or whole numbers, one or an array of any shape, each on its own.

        The dtype says what they become: booleans are bits for gates, whole numbers are integers for tables; in an
        engine of one bit both are bits.

        Parameters
        ----------
        domain
            Which tables there are of messages. "padded": any, in one bootstrap, but sums must stay below 2^bits.
            "full": any, in two bootstraps, and sums wrap around. "negacyclic": those with f(m + 2^bits / 2) = -f(m), in
            one bootstrap; sums wrap around.
        bits
            Encrypt integers with a sign instead, -2^(bits-1) to 2^(bits-1) - 1 for 2 to 20 bits: for `sign` and
            `compare`.
        signed
            False for integers without a sign, 0 to 2^bits - 1 for 1 to 20 bits, whose sums wrap around: for `floor`
            and `digits`.

        Raises
        ------
        RangeError
            If a number is no message of this engine, 0 to 2^bits - 1, or rows differ in length.
        TypeError
            If they are no booleans and no whole numbers.
        KeyMismatchError
            If the secret key is of other parameters.
        """
        key, array = _secret_key(secret_key), _as_array(values)
        where = checks.word("domain", domain)
        flat, shape = np.ascontiguousarray(array).ravel(), list(array.shape)
        if bits is not None:
            return LweCiphertext._of(self._integers(flat, shape, key, bits, checks.flag("signed", signed)))
        if not checks.flag("signed", signed):
            raise ParameterError(
                "Integers without a sign have a number of bits; give bits=, 1 to 20, beside signed=False."
            )
        if array.dtype.kind != "b":
            self._check_messages(array)
        if array.dtype.kind == "b" or (self.bits == 1 and where == "padded"):
            return LweCiphertext._of(self._core.encrypt_bits(flat.astype(np.bool_), shape, key))
        return LweCiphertext._of(self._core.encrypt_messages(flat.astype(np.int64), shape, key, where))

    def _integers(
        self, flat: NDArray[Any], shape: list[int], key: LweSecretKey, bits: int, signed: bool
    ) -> _core.LweArray:
        bits = checks.count("bits", bits, 2 if signed else 1)
        if flat.dtype.kind == "b":
            raise TypeError("Booleans have no sign; encrypt whole numbers, or leave bits= out.")
        size = 2 ** min(bits, 62)
        least, most = (-size // 2, size // 2 - 1) if signed else (0, size - 1)
        outside = (flat < least) | (flat > most)
        if outside.any():
            raise RangeError(f"{flat[outside][0]} does not fit {bits} bits; give {least} to {most}, or more bits.")
        encrypt = self._core.encrypt_integers if signed else self._core.encrypt_words
        return encrypt(flat.astype(np.int64), shape, key, bits)

    def _check_messages(self, array: NDArray[Any]) -> None:
        outside = (array < 0) | (array >= 2**self.bits)
        if outside.any():
            first = array[outside][0]
            raise RangeError(
                f"{first} is no message of this engine; give 0 to {2**self.bits - 1}, or make an engine with more bits."
            )

    def decrypt(
        self, ciphertext_: LweCiphertext, secret_key: LweSecretKey, *, max_failure: float | None = None
    ) -> NDArray[Any]:
        """The values in an array of the same shape: booleans of bits, int64 of integers.

        Sums in the domains "full" and "negacyclic" are those modulo 2^bits, and sums of integers without a sign those
        modulo their own 2^bits. Padded messages have room for sums below 2^(bits+1), and of these 2^bits and more are
        refused; integers with a sign for sums up to a sixteenth beyond their range, which are refused as well. A sum
        beyond that has wrapped around and looks like another number, which nothing can tell: 3 + 3 + 3 of padded
        messages of 2 bits is 1, and 127 + 127 of integers of 8 bits is -18. Keep sums within the range.

        Parameters
        ----------
        max_failure
            The probability of a wrong value that is accepted, 2^-128 if not given; 1 gives the nearest value, whatever
            the noise and the range, as for real numbers that came over a bridge with more bits than they have.

        Raises
        ------
        RangeError
            If a value would be wrong more often than accepted, by the noise that the ciphertext says it has, or a sum
            has left the range.
        KeyMismatchError
            If the ciphertexts were made under another secret key.
        """
        x, most = ciphertext(ciphertext_), log2_failure(max_failure)
        found = self._core.decrypt(x._array, _secret_key(secret_key), most).reshape(x.shape)
        return found.astype(np.bool_) if x.is_bits else found


def _secret_key(value: Any) -> LweSecretKey:
    return checks.need(value, LweSecretKey, "engine.create_secret_key()")


def _chosen(bits: Any, preset: Any, method: Any, parameters: str | None) -> str:
    """The parameter set that arguments name.

    Raises
    ------
    ParameterError
        If they contradict one another, or there is none.
    """
    if parameters is not None:
        if (bits, preset, method) != (None, None, None):
            raise ParameterError("parameters already fix bits, preset and method; leave them out.")
        return ""
    if preset is not None:
        if bits is not None or method is not None:
            raise ParameterError("preset already fixes bits and method; leave them out.")
        return checks.word("preset", preset)
    wanted = 1 if bits is None else checks.whole("bits", bits)
    how = "block" if method is None else checks.word("method", method)
    if how not in _METHODS:
        raise ParameterError(f'There is no method "{how}"; choose one of {", ".join(_METHODS)}.')
    sets = [known for known in _core.lookup_presets() if known["method"] == how]
    found = [known["name"] for known in sets if known["bits"] == wanted]
    if not found:
        sizes = ", ".join(str(bits) for bits in sorted({known["bits"] for known in sets})) or "none"
        raise ParameterError(f'There is no set of {wanted} bits with method "{how}"; it has {sizes}.')
    return found[0]


def _as_array(values: Any) -> NDArray[Any]:
    """Booleans or whole numbers as an array.

    Raises
    ------
    TypeError
        If they are something else.
    RangeError
        If rows differ in length.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("This array is masked, and ciphertexts have no mask; give .filled(value) in its place.")
    if isinstance(values, LweCiphertext):
        raise TypeError("These values are encrypted already.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise RangeError("The rows of these values differ in length; give rows of one length.") from error
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "biu":
        raise TypeError(
            f"Booleans or whole numbers are encrypted here, not {array.dtype}; convert them first, for example with "
            "numpy.asarray(values, dtype=int)."
        )
    return array
