"""`IntegerEngine`: BGV/BFV, exact arithmetic on thousands of encrypted integers modulo t at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from aglet import _core, cards, checks
from aglet._core import (
    IntegerCiphertext,
    IntegerFixedRotationKey,
    IntegerPlaintext,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSecretKey,
)
from aglet.errors import ParameterError
from aglet.integer import operands, values
from aglet.integer.arithmetic import SCHEMES, IntegerArithmetic
from aglet.integer.bootstrapping import IntegerBootstrapping
from aglet.integer.circuits import IntegerCircuits
from aglet.integer.files import IntegerFiles
from aglet.integer.values import Integers
from aglet.keys.making import MakesIntegerKeys
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["IntegerEngine"]


class IntegerOptions(TypedDict, total=False):
    """What `IntegerEngine` takes beside what chooses one of the sets that are there."""

    parameters: str | os.PathLike[str] | None
    signed: bool
    thread_count: int | None
    mode: str
    device_id: int
    allow_insecure: bool


class IntegerEngine(IntegerArithmetic, IntegerBootstrapping, IntegerCircuits, MakesIntegerKeys, IntegerFiles):
    """BGV/BFV: exact arithmetic on encrypted integers modulo t.

    A ciphertext holds N integers in two rows of N/2 slots. Sums, products and rotations act on slots as in numpy,
    modulo t. Each product takes one level. Nothing is rounded. Each ciphertext carries a bound on its noise; an
    operation whose result might decrypt to something else raises a `NoiseError` before it is computed.

    Methods never change their arguments, and many threads may call them at once. An engine works in forked children. A
    pickled engine is rebuilt from its arguments and contains no keys.

    Parameters
    ----------
    scheme
        "bfv" or "bgv". Both read the same ciphertexts, with the same keys, arithmetic and results. An engine of one
        scheme takes what an engine of the other made.
    plaintext_modulus
        The modulus t: odd. A larger t needs more of each level, and these sets have room for 65537 and little more.
        65537 has all N slots in every set but the largest, where it has N/2; smaller primes have fewer. Every odd t
        that is no larger works with packing="coefficients". The default is 65537.
    depth
        How many products can follow one another: 1 to 39, 9 by default. The smallest set with this depth is chosen: 4
        (8,192 slots), 9 (16,384), 19 (32,768) or 39.
    preset
        A parameter set by name, in place of `depth`; `aglet params` lists them.
    use_bootstrap
        True chooses the set `int16`, with 32,768 slots modulo 65537. Its bootstrap leaves 7 products.
        preset="int16-deep" chooses one whose bootstrap leaves 25.
    packing
        "slots", or "coefficients": products are then products of polynomials modulo X^N + 1, and there are no
        rotations.
    signed
        True decrypts to -(t-1)/2 ... (t-1)/2, False to 0 ... t - 1. Inputs may always be between -t and t.
    thread_count
        The number of threads; 1 by default, 0 for all cores. Results do not depend on it.
    mode, device_id
        As for `Engine`: "cpu" by default, "parallel", "gpu" or "auto", and the number of the card.
    parameters
        Your own parameter set: the path of a TOML file in the form of `crates/aglet/presets/integer/int16.toml`, or its
        text (with line breaks). It replaces `plaintext_modulus`, `depth`, `preset` and `use_bootstrap`, and must pass
        the same security check.
    allow_insecure
        Accept parameters below 128 bits of security, for tests only; the `repr` says "NOT SECURE". So are the toy sets
        `toy-int16` (1,024 slots) and `toy-int16-deep` (512): they have the primes and the bootstrap of `int16` and
        `int16-deep` in a ring that is far too small, and protect nothing.

    Raises
    ------
    ParameterError
        If the modulus is even, too large or has no slots, there is no such set, or arguments contradict one another.
    InsecureParametersError
        If the set is below 128 bits of security and `allow_insecure` was not given.
    DeviceError
        If the mode is "gpu" and the card cannot be used, or if AGLET_BACKEND names a backend that the processor lacks.

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
        plaintext_modulus: int | None = None,
        *,
        depth: int | None = None,
        preset: str | None = None,
        use_bootstrap: bool = False,
        packing: str = "slots",
        **options: Unpack[IntegerOptions],
    ) -> None:
        checks.known(options, IntegerOptions)
        own = checks.literal(options.get("parameters"))
        self._arguments: dict[str, Any] = {
            "scheme": scheme,
            "plaintext_modulus": plaintext_modulus,
            "depth": depth,
            "preset": preset,
            "use_bootstrap": use_bootstrap,
            "packing": packing,
            **options,
            "parameters": own,
        }
        if own is not None and (use_bootstrap or any(x is not None for x in (plaintext_modulus, depth, preset))):
            raise ParameterError("parameters fixes plaintext_modulus, depth, preset and use_bootstrap; leave them out.")
        if depth is not None and preset is not None:
            raise ParameterError("preset already fixes depth; leave one of them out.")
        if checks.flag("use_bootstrap", use_bootstrap):
            if depth is not None or preset is not None:
                raise ParameterError("use_bootstrap already fixes depth and preset; leave them out.")
            preset = "int16"
        self._scheme = checks.choice("scheme", scheme, SCHEMES)
        self._packing = checks.choice("packing", packing, ("slots", "coefficients"))
        self._signed = checks.flag("signed", options.get("signed", True))
        mode, device = checks.string("mode", options.get("mode", "cpu")), options.get("device_id", 0)
        self._mode, card = cards.chosen(mode, checks.whole("device_id", device))
        threads = options.get("thread_count")
        threads = (1 if self._mode == "cpu" else 0) if threads is None else checks.count("thread_count", threads)
        self._core = _core.IntegerEngine(
            (
                None if preset is None else checks.string("preset", preset),
                9 if depth is None else checks.count("depth", depth, 1),
            ),
            checks.count("plaintext_modulus", 65537 if plaintext_modulus is None else plaintext_modulus),
            self._packing == "slots",
            (threads, card),
            parameters=own,
            allow_insecure=checks.flag("allow_insecure", options.get("allow_insecure", False)),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        IntegerEngine.__init__(self, **state["_arguments"])
        self.__dict__.update(state)

    def __repr__(self) -> str:
        where, insecure = f"{self.slot_count} {self.packing}", "" if self._core.is_secure else ", NOT SECURE"
        return (
            f"<IntegerEngine {self.scheme} {self.preset}: {where} modulo {self.plaintext_modulus}, "
            f"{self.max_level} levels, {self.thread_count} threads, {self.backend}{insecure}>"
        )

    # What the engine is

    @property
    def mode(self) -> str:
        """The mode: "cpu", "parallel" or "gpu"."""
        return self._mode

    @property
    def device(self) -> str:
        """What does macro-operations: "host", or the name of a card and its arithmetic."""
        return self._core.device

    @property
    def scheme(self) -> str:
        """The scheme that ciphertexts are read as: "bfv" or "bgv"."""
        return self._scheme

    @property
    def packing(self) -> str:
        """Where the integers of a message are: in "slots" or in "coefficients"."""
        return self._packing

    @property
    def signed(self) -> bool:
        """Whether decryption gives signed integers."""
        return self._signed

    @property
    def preset(self) -> str:
        """The name of the parameter set."""
        return self._core.preset

    @property
    def plaintext_modulus(self) -> int:
        """The plaintext modulus t."""
        return self._core.plaintext_modulus

    @property
    def slot_count(self) -> int:
        """The number of integers in a message."""
        return self._core.count

    @property
    def max_level(self) -> int:
        """The level of a fresh ciphertext: how many products can follow one another."""
        return self._core.max_level

    @property
    def log_n(self) -> int:
        """log2 of the ring degree N."""
        return self._core.log_n

    @property
    def log_qp(self) -> float:
        """log2 of the largest modulus in use, ciphertext and special primes together."""
        return self._core.log_qp

    @property
    def security_bits(self) -> float:
        """Classical security in bits. docs/security.md describes the model."""
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
        """Make a new secret key from the system's randomness. It cannot be pickled."""
        return self._core.create_secret_key()

    def create_public_key(self, secret_key: IntegerSecretKey) -> IntegerPublicKey:
        """Make a public key, which encrypts at every level and cannot decrypt."""
        return self._core.create_public_key(operands.secret_key(secret_key))

    def create_relinearization_key(self, secret_key: IntegerSecretKey) -> IntegerRelinearizationKey:
        """Make the relinearization key, which products of ciphertexts need, for every level."""
        return self._core.create_relinearization_key(operands.secret_key(secret_key))

    def create_rotation_key(
        self, secret_key: IntegerSecretKey, *, progress: ProgressCallback | None = None
    ) -> IntegerRotationKey:
        """Make the rotation key: it rotates rows by any step and swaps them, at every level.

        Raises
        ------
        ParameterError
            If packing is "coefficients", which has no rotations.
        """
        with progress_bar(progress) as report:
            return self._core.create_rotation_key(operands.secret_key(secret_key), report)

    def create_fixed_rotation_key(
        self,
        secret_key: IntegerSecretKey,
        delta: int,
        level: int | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> IntegerFixedRotationKey:
        """Make a key that rotates rows by one step. It takes one key switch, where a rotation key takes up to 14.

        Parameters
        ----------
        delta
            The step to the right, as in `rotate_rows`.
        level
            The highest level of ciphertexts that it will rotate; `max_level` if not given. A lower level makes a
            smaller and faster key.

        Raises
        ------
        LevelError
            If the level does not exist.
        ParameterError
            If packing is "coefficients", which has no rotations.
        """
        key, step = operands.secret_key(secret_key), checks.step(delta)
        at = self.max_level if level is None else values.as_level(level, self.max_level)
        with progress_bar(progress) as report:
            return self._core.create_fixed_rotation_key(key, step, at, report)

    # Messages

    def encode(self, message: Any) -> IntegerPlaintext:
        """Encode a message as a polynomial modulo t. The plaintext can be used again and at every level.

        Parameters
        ----------
        message
            Up to `slot_count` integers between -t and t, in one dimension or as the two rows of slots. Missing ones are
            0. Any dtype with whole values is accepted.

        Raises
        ------
        RangeError
            If there are too many values, or one is out of range, not whole, or not finite.
        TypeError
            If the values are not numbers.
        """
        if isinstance(message, IntegerPlaintext):
            return message
        return self._core.encode(values.as_integers(message, self.slot_count, self.plaintext_modulus))

    def decode(self, plaintext: IntegerPlaintext) -> Integers:
        """The `slot_count` integers of a plaintext as int64; `signed` decides their range."""
        return self._out(self._core.decode(checks.need(plaintext, IntegerPlaintext, "engine.encode(message)")))

    def encrypt(
        self, message: Any, key: IntegerPublicKey | IntegerSecretKey, *, level: int | None = None
    ) -> IntegerCiphertext:
        """Encrypt a message or a plaintext, at the highest level unless `level` is given.

        Messages and errors are those of `encode`. A key of another engine raises a `KeyMismatchError`.
        """
        if not isinstance(key, IntegerPublicKey):
            operands.secret_key(key)
        at = self.max_level if level is None else values.as_level(level, self.max_level)
        return self._core.encrypt(self.encode(message), key, at)

    def decrypt(self, ciphertext: IntegerCiphertext, secret_key: IntegerSecretKey) -> Integers:
        """The `slot_count` integers of a ciphertext as int64; `signed` decides their range.

        Raises
        ------
        KeyMismatchError
            If the ciphertext was made under another secret key.
        NoiseError
            If the secret key finds less than one bit of the modulus free of noise, for example in an altered file.
        """
        return self._out(self._core.decrypt(operands.ciphertext(ciphertext), operands.secret_key(secret_key)))

    def _out(self, found: Integers) -> Integers:
        return found if self._signed else np.where(found < 0, found + self.plaintext_modulus, found)

    def noise_budget(self, ciphertext: IntegerCiphertext, secret_key: IntegerSecretKey | None = None) -> float:
        """The noise budget in bits: from the bound that the ciphertext carries, or measured with the secret key.

        The bound gives at most what the key measures. At 0 bits a ciphertext might not decrypt, and operations refuse
        to make one. A measured budget is rounded down to whole bits, because noise depends on the key. Even so, do not
        publish the measured budgets of many ciphertexts (SECURITY.md).
        """
        ct = operands.ciphertext(ciphertext)
        return ct.noise_budget if secret_key is None else self._core.noise_budget(ct, operands.secret_key(secret_key))

    def noise_excess(self, ciphertext: IntegerCiphertext) -> float:
        """Bits by which the bound on the noise is above that of a rounding, which products and `mod_switch` leave.

        A bootstrap leaves 1, a product with a number its bits. Products square it: with 2 and more, switch first.
        """
        return self._core.noise_excess(operands.ciphertext(ciphertext))
