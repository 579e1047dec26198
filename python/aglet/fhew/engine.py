"""`FhewEngine`: gates on encrypted bits and lookup tables on encrypted integers, each one a programmable bootstrap."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from aglet import _core, cards, checks
from aglet._core import FhewBootstrapKey, FhewPublicKey, FhewSecretKey, PackingKey
from aglet.errors import ParameterError, RangeError
from aglet.fhew import sets
from aglet.fhew.calls import as_array, check_room, ciphertext, log2_failure
from aglet.fhew.ciphertext import FhewCiphertext, blocks
from aglet.fhew.estimate import Estimates
from aglet.fhew.files import FhewFiles
from aglet.fhew.gates import Gates
from aglet.fhew.numbers import Numbers
from aglet.fhew.ranking import Ranking
from aglet.fhew.tables import Tables
from aglet.keys.making import MakesFhewKeys
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["FhewEngine"]

_TOO_MANY = "These numbers do not fit in memory beside their ciphertexts; encrypt them in parts."


class EngineOptions(TypedDict, total=False):
    """What `FhewEngine` takes beside what chooses its parameters and threads."""

    mode: str
    device_id: int
    allow_insecure: bool


class FhewEngine(Gates, Tables, Numbers, Ranking, Estimates, MakesFhewKeys, FhewFiles):
    """FHEW/TFHE: gates on encrypted bits and lookup tables (LUTs) on small encrypted integers.

    Every gate and every LUT is a programmable bootstrap of a few milliseconds for each bit or integer. Its result
    always has the same small noise, so programs can have any length. To compute on thousands of numbers at once, use
    `Engine` (CKKS) or `IntegerEngine` (BGV/BFV).

    Methods never change their arguments, and many threads may call them at once. An engine works in forked children. A
    pickled engine is rebuilt from its arguments and contains no keys.

    Parameters
    ----------
    bits
        Message bits, 1 to 4: 1 for gates (the default), more for LUTs.
    preset
        A parameter set by name, in place of `bits` and `method`; `aglet params` lists them. "wide" is made for
        `lookup2`.
    method
        The method of blind rotation. "block" is the default and the fastest. Sets of 1 bit have the published methods
        as well: "cggi" with a binary secret; "ginx", "lmkcdey" and "dm" with a ternary secret; "ntru", which needs
        `allow_insecure`.
    thread_count
        The number of threads; 1 by default, 0 for all cores. They share the ciphertexts of an array between them.
    mode, device_id
        As for `Engine`: "cpu" by default, "parallel", "gpu" or "auto", and the number of the card. A card bootstraps by
        the sets with blocks ("block", "cggi", "ginx"), thousands of ciphertexts at a time; the processor does all else,
        and a warning names a set by which it bootstraps. Results are the same, bit for bit.
    parameters
        Your own parameter set: the path of a TOML file in the form of `crates/aglet/presets/fhew/gate.toml`, or its
        text (with line breaks). It replaces `bits`, `preset` and `method`, and must pass the same security check.
    allow_insecure
        Accept parameters below 128 bits of security, as of the set "toy-lut4", and "ntru", whose security no table here
        estimates. For tests only: a warning gives the reason, and the `repr` says "NOT SECURE".

    Raises
    ------
    ParameterError
        If there is no such set, or arguments contradict one another.
    InsecureParametersError
        If the set fails the security check and `allow_insecure` was not given.
    DeviceError
        If AGLET_BACKEND names a backend that the processor lacks, or there is no card that works with mode="gpu".

    Examples
    --------
    >>> from aglet import FhewEngine, Table
    >>> engine = FhewEngine(bits=2)
    >>> secret_key = engine.create_secret_key()
    >>> key = engine.create_bootstrap_key(secret_key)
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
        **options: Unpack[EngineOptions],
    ) -> None:
        checks.known(options, EngineOptions)
        text = checks.literal(parameters)
        allow_insecure = checks.flag("allow_insecure", options.get("allow_insecure", False))
        self._arguments = {
            "bits": bits,
            "preset": preset,
            "method": method,
            "thread_count": thread_count,
            "parameters": text,
            **options,
        }
        mode, device = checks.string("mode", options.get("mode", "cpu")), options.get("device_id", 0)
        self._mode, card = cards.chosen(mode, checks.whole("device_id", device))
        threads = 1 if self._mode == "cpu" else 0
        threads = threads if thread_count is None else checks.count("thread_count", thread_count)
        name = sets.chosen(bits, preset, method, text)
        self._core = _core.FhewEngine(name, (threads, card), parameters=text, allow_insecure=allow_insecure)
        if self._core.insecurity is not None:
            warnings.warn(f"NOT SECURE, for tests only. {self._core.insecurity}", stacklevel=2)
        if card is not None and not self._core.on_card:
            warnings.warn(sets.stays(self._core.preset), stacklevel=2)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        FhewEngine.__init__(self, **state["_arguments"])
        self.__dict__.update(state)

    def __repr__(self) -> str:
        what = "gates" if self.bits == 1 else f"tables of {self.bits} bits"
        insecure = "" if self._core.insecurity is None else ", NOT SECURE"
        return f"<FhewEngine {self.preset}: {what}, {self.thread_count} threads, {self.backend}{insecure}>"

    # What the engine is

    @property
    def bits(self) -> int:
        """The number of bits of a message; 1 for gates."""
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
    def mode(self) -> str:
        """The mode: "cpu", "parallel" or "gpu"."""
        return self._mode

    @property
    def device(self) -> str:
        """What does blind rotations by blocks: "host", or the name of a card and its arithmetic."""
        return self._core.device

    @property
    def backend(self) -> str:
        """The kernels in use: "avx512ifma", "avx2", "portable" or "scalar"."""
        return self._core.backend

    @property
    def security_bits(self) -> float:
        """Classical security in bits, of the weaker of the two secrets. docs/security.md describes the model.

        It is 0 if the model gives no figure.
        """
        return self._core.security_bits

    @property
    def method(self) -> str:
        """The method of blind rotation: "block", "cggi", "ginx", "lmkcdey", "dm" or "ntru"."""
        return self._core.method

    @property
    def log2_failure(self) -> float:
        """Base-2 logarithm of the largest probability that a gate or LUT on allowed inputs is wrong."""
        return self._core.log2_failure

    # Keys

    def create_secret_key(self) -> FhewSecretKey:
        """Make a new secret key from the system's randomness. It cannot be pickled."""
        return self._core.create_secret_key()

    def create_public_key(self, secret_key: FhewSecretKey) -> FhewPublicKey:
        """Make the compact public key: who has it encrypts and cannot decrypt.

        It is one RLWE sample (eprint 2023/603) of 11 kB in a file. Its ciphertexts have far less noise than results of
        bootstraps, and may stand wherever these may. Up to 2,048 of one call share a mask: in a file they take 10 to 12
        kB and 5 or 6 bytes each.

        Raises
        ------
        KeyMismatchError
            If the secret key is of other parameters.
        ParameterError
            If your own parameters have no public key: more than 4096 coordinates of the secret, or a modulus without a
            transform of their degree.
        """
        return self._core.create_public_key(_secret_key(secret_key))

    def create_bootstrap_key(
        self,
        secret_key: FhewSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewBootstrapKey:
        """Make the bootstrap key (the evaluation key): the server needs it for gates and LUTs. It cannot decrypt.

        Parameters
        ----------
        memory_limit_bytes
            A key that needs more is refused before any memory is allocated. So is one that needs more than the machine
            has free.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work stops.

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
            return self._core.create_bootstrap_key(own, limit, report)

    def create_packing_key(
        self,
        secret_key: FhewSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> PackingKey:
        """Make the packing key, which `lookup2` needs beside the bootstrap key, and `compress` alone.

        It takes less than a megabyte and a moment. Arguments and errors are those of `create_bootstrap_key`.
        """
        limit = checks.optional_count("memory_limit_bytes", memory_limit_bytes)
        own = _secret_key(secret_key)
        with progress_bar(progress) as report:
            return self._core.create_packing_key(own, limit, report)

    # Messages

    def encrypt(
        self,
        values: Any,
        public_key: FhewPublicKey | FhewSecretKey | None = None,
        *,
        secret_key: FhewSecretKey | None = None,
        domain: str = "padded",
        bits: int | None = None,
        signed: bool = True,
    ) -> FhewCiphertext:
        """Encrypt booleans or whole numbers: one, or an array of any shape. Each element becomes its own ciphertext.

        A secret key gives ciphertexts of 38 bytes each; a public key gives ciphertexts that share masks, see
        `create_public_key`.

        The dtype decides the kind of ciphertext. Booleans become bits for gates, whole numbers become integers for
        LUTs. In an engine with `bits=1` both become bits.

        Parameters
        ----------
        public_key
            The public key or the secret key. A secret key may be given as `secret_key=` too.
        domain
            How messages lie on the torus. "padded": any LUT in one bootstrap, and sums must stay below 2^bits. "full":
            any LUT in two bootstraps, and sums wrap around. "negacyclic": LUTs with f(m + 2^bits / 2) = -f(m) in one
            bootstrap, and sums wrap around.
        bits
            Encrypt signed integers of 2 to 20 bits instead, from -2^(bits-1) to 2^(bits-1) - 1. They are for `sign` and
            `compare`.
        signed
            False, with `bits`, encrypts unsigned integers of 1 to 20 bits, from 0 to 2^bits - 1. Their sums wrap
            around. They are for `floor` and `digits`.

        Raises
        ------
        RangeError
            If a number is not a message of this engine (0 to 2^bits - 1), or rows differ in length.
        TypeError
            If the values are neither booleans nor whole numbers.
        KeyMismatchError
            If the key is of other parameters.
        """
        key, array = _encrypting(checks.one_of(public_key=public_key, secret_key=secret_key)), as_array(values)
        where = checks.string("domain", domain)
        flat, shape = np.ascontiguousarray(array).ravel(), list(array.shape)
        check_room(flat.size)
        if bits is not None:
            with checks.in_memory(_TOO_MANY):
                return self._integers(flat, shape, key, bits, checks.flag("signed", signed))
        if not checks.flag("signed", signed):
            raise ParameterError("Unsigned integers need a number of bits; give bits=, 1 to 20, beside signed=False.")
        if array.dtype.kind != "b":
            self._check_messages(array)
        as_bits = array.dtype.kind == "b" or (self.bits == 1 and where == "padded")

        def encrypted(part: NDArray[Any]) -> _core.FhewArray:
            if as_bits:
                return self._core.encrypt_bits(part.astype(np.bool_), [part.size], key)
            return self._core.encrypt_messages(part.astype(np.int64), [part.size], key, where)

        with checks.in_memory(_TOO_MANY):
            return FhewCiphertext._joined([encrypted(flat[part]) for part in blocks(flat.size)], shape)

    def _integers(
        self, flat: NDArray[Any], shape: list[int], key: FhewPublicKey | FhewSecretKey, bits: int, signed: bool
    ) -> FhewCiphertext:
        bits = checks.count("bits", bits, 2 if signed else 1)
        if flat.dtype.kind == "b":
            raise TypeError("Booleans have no sign; encrypt whole numbers, or leave bits= out.")
        size = 2 ** min(bits, 62)
        least, most = (-size // 2, size // 2 - 1) if signed else (0, size - 1)
        outside = (flat < least) | (flat > most)
        if outside.any():
            raise RangeError(f"{flat[outside][0]} does not fit {bits} bits; give {least} to {most}, or more bits.")
        encrypt = self._core.encrypt_integers if signed else self._core.encrypt_unsigned
        parts = [flat[part].astype(np.int64) for part in blocks(flat.size)]
        return FhewCiphertext._joined([encrypt(part, [part.size], key, bits) for part in parts], shape)

    def _check_messages(self, array: NDArray[Any]) -> None:
        outside = (array < 0) | (array >= 2**self.bits)
        if outside.any():
            first = array[outside][0]
            raise RangeError(
                f"{first} is not a message of this engine; give 0 to {2**self.bits - 1}, or use an engine of more bits."
            )

    def decrypt(
        self, ciphertext_: FhewCiphertext, secret_key: FhewSecretKey, *, max_failure: float | None = None
    ) -> NDArray[Any]:
        """Decrypt to an array of the same shape: booleans for bits, int64 for integers.

        Sums in the domains "full" and "negacyclic" come out modulo 2^bits of the engine, and sums of unsigned integers
        modulo their own 2^bits.

        Padded messages and signed integers have a little room beyond their range. A padded sum from 2^bits to
        2^(bits+1) - 1, or a signed sum up to a sixteenth beyond its range, is refused. A sum beyond this room has
        wrapped around: it looks like another number, and nothing can tell. For padded messages of 2 bits 3 + 3 + 3
        decrypts to 1. For integers of 8 bits 127 + 127 decrypts to -18. Keep sums within the range.

        Parameters
        ----------
        max_failure
            The largest accepted probability of a wrong value; 2^-128 by default. 1 returns the nearest value whatever
            the noise and the range. Use it for real numbers that came by scheme switching and have fewer exact bits
            than asked for.

        Raises
        ------
        RangeError
            If the recorded noise makes a wrong value more probable than accepted, or a sum has left the range.
        KeyMismatchError
            If the ciphertexts were made under another secret key.
        """
        x, most = ciphertext(ciphertext_), log2_failure(max_failure)
        own, flat = _secret_key(secret_key), x.ravel()
        parts = [self._core.decrypt(flat[part]._array, own, most) for part in blocks(x.size)]
        found = np.concatenate(parts).reshape(x.shape)
        return found.astype(np.bool_) if x.is_bits else found


_secret_key = checks.operand(FhewSecretKey, "engine.create_secret_key()")


def _encrypting(key: Any) -> FhewPublicKey | FhewSecretKey:
    """A key that encrypts.

    Raises
    ------
    MissingKeyError
        If there is none.
    TypeError
        If it is something else.
    """
    if isinstance(key, FhewSecretKey):
        return key
    return checks.need(key, FhewPublicKey, "engine.create_public_key(secret_key)")
