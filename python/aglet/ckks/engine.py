"""`Engine`: encrypt, compute and refresh, with numpy in and out.

The engine checks and converts what it is given, then hands it to the compiled module `aglet._core`. It follows the
documented CKKS interface whose programs Aglet runs with only the import line changed; extras are keyword arguments or
new names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from aglet import _core, checks
from aglet._core import (
    Ciphertext,
    ConjugationKey,
    FixedRotationKey,
    Plaintext,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
)
from aglet.arrays.keymaker import MakesKeys
from aglet.ckks import elsewhere, operands, options, values
from aglet.ckks.arithmetic import Arithmetic
from aglet.ckks.bootstrapping import Bootstrapping
from aglet.ckks.circuits import Circuits
from aglet.ckks.comparison import Comparison
from aglet.ckks.elsewhere import OtherNames
from aglet.ckks.figures import Figures
from aglet.ckks.light import LightMessages, LightPlaintext
from aglet.ckks.matrices import Matrices
from aglet.ckks.sharing import Sharing
from aglet.ckks.tensors import Tensors
from aglet.errors import LevelError, MemoryLimitError, RangeError
from aglet.files import Files
from aglet.progress import ProgressCallback, progress_bar
from aglet.reports import gigabytes

__all__ = ["Engine"]


class Engine(
    Arithmetic,
    Bootstrapping,
    Circuits,
    Comparison,
    Figures,
    Files,
    LightMessages,
    MakesKeys,
    Matrices,
    OtherNames,
    Sharing,
    Tensors,
):
    """A CKKS engine: one parameter set, its tables, and its threads.

    All methods leave their arguments as they were, but for the `out=` of `add` and `subtract`, and may be called from
    many threads at once. An engine works in forked children, and its pickle makes it again from its arguments, with the
    threads of the machine that it comes to; keys are no part of it.

    Parameters
    ----------
    *positional
        `Engine(mode)`, `Engine(max_level)`, `Engine(max_level, mode)`, `Engine(log_coeff_count,
        special_prime_count)` or `Engine(log_coeff_count, special_prime_count, mode)`.
    max_level
        How many multiplications a fresh ciphertext allows, 0 to 77; the smallest secure ring that has them is chosen,
        and in one ring keys for fewer levels are smaller. 7 if nothing else is given, or all levels of the ring if
        `slot_count` needs a larger one: 17 for 2^14 slots, 36 for 2^15, 77 for 2^16.
    mode
        "cpu" for one thread (the default, as in the documented interface: programs that start several engines or
        processes do not fight for cores) or as many as `thread_count` says, "parallel" for many. The results are the
        same. "gpu" is not in this version and is refused; "auto" takes a card where there is one and is "parallel"
        where there is none, as everywhere in this version.
    use_bootstrap
        Choose the ring that can refresh a ciphertext: N = 2^16, 32768 slots. A fresh ciphertext has 13 levels, 10 are
        left after a regular bootstrap and up to 13 after a lossy one. `for_bootstrap` is another name for it.
    use_bootstrap_to_14_levels
        A ring of that size with 14 levels in a fresh ciphertext, all of which a regular bootstrap leaves; it has no
        lossy and no sign bootstrap.
    compact
        With either of the two: one level of the bootstrap less, so that all is smaller and faster, and less precise on
        values near 1. Keys and ciphertexts are those of another engine. Without bootstrapping it changes nothing: those
        sets are as small as their levels allow.
    precision
        With `use_bootstrap`: "standard" (products and bootstraps keep 26 and 24 bits), "high" (35 and 25 bits in 1.2
        times the time) or "highest" (35 bits for both: `bootstrap` takes two iterations, in 2.3 times the time). The
        last two have 10 levels and the regular bootstrap only, no lossy and no sign bootstrap.
    slot_count, log_slot_count
        Sparse packing: a power of two below the full number of slots. Bootstraps are faster with it.
    thread_count
        The number of threads; 0 means all cores in mode "parallel", and one in mode "cpu". More than 64, or twice the
        cores, become one for each core, with a warning.
    use_multiparty, use_bootstrap_to_17_levels
        Documented, and not here: `True` is refused with what there is instead.
    device_id
        For the modes "gpu" and "auto" only.
    log_coeff_count, special_prime_count
        Expert form: the ring by its size, 13 to 17, with all the levels that it carries: 2, 7, 17, 36 or 77. The number
        of special primes is Aglet's own choice, whatever the second number is.
    preset
        Expert form: a parameter set by its name, see `aglet params`.
    parameters
        A parameter set of your own: a path to a TOML file in the form of `crates/aglet/presets/regular.toml`, or such a
        text itself (with its line breaks). It says all, the name that files and pickles carry included, and has to pass
        the same security gate.
    allow_insecure
        Accept parameters below 128 bits. For tests only; the `repr` shows it.

    Raises
    ------
    ParameterError
        If arguments contradict one another or ask for what this version does not have.
    InsecureParametersError
        If the preset is below 128 bits and `allow_insecure` was not given.
    DeviceError
        If the mode is "gpu", or AGLET_BACKEND names a backend that the processor lacks.

    Examples
    --------
    >>> from aglet import Engine
    >>> engine = Engine(max_level=2)
    >>> key = engine.create_secret_key()
    >>> tripled = engine.multiply(engine.encrypt([1, 2, 3], key), 3)
    >>> [round(x) for x in engine.decrypt(tripled, key)[:4].real]
    [3, 6, 9, 0]
    """

    def __init__(
        self,
        *positional: int | str,
        max_level: int | None = None,
        mode: str | None = None,
        use_bootstrap: bool = False,
        slot_count: int | None = None,
        log_slot_count: int | None = None,
        thread_count: int | None = None,
        device_id: int = 0,
        log_coeff_count: int | None = None,
        special_prime_count: int | None = None,
        use_bootstrap_to_14_levels: bool = False,
        compact: bool = False,
        precision: str | None = None,
        preset: str | None = None,
        parameters: str | os.PathLike[str] | None = None,
        allow_insecure: bool = False,
        for_bootstrap: bool = False,
        use_bootstrap_to_17_levels: bool = False,
        use_multiparty: bool = False,
    ) -> None:
        flags = {
            "use_bootstrap": use_bootstrap,
            "use_bootstrap_to_14_levels": use_bootstrap_to_14_levels,
            "compact": compact,
            "allow_insecure": allow_insecure,
            "for_bootstrap": for_bootstrap,
            "use_bootstrap_to_17_levels": use_bootstrap_to_17_levels,
            "use_multiparty": use_multiparty,
        }
        for name, given in flags.items():
            checks.flag(name, given)
        elsewhere.refuse_flags(use_multiparty=use_multiparty, use_bootstrap_to_17_levels=use_bootstrap_to_17_levels)
        words: dict[str, Any] = {
            "max_level": max_level,
            "mode": mode,
            "use_bootstrap": use_bootstrap or for_bootstrap,
            "use_bootstrap_to_14_levels": use_bootstrap_to_14_levels,
            "compact": compact,
            "precision": precision,
            "slot_count": slot_count,
            "log_slot_count": log_slot_count,
            "thread_count": thread_count,
            "device_id": device_id,
            "log_coeff_count": log_coeff_count,
            "special_prime_count": special_prime_count,
            "preset": preset,
            "parameters": checks.literal(parameters),
        }
        self._words = positional, {**words, "allow_insecure": allow_insecure}
        chosen = options.choose(positional, **words)
        self._mode = chosen.mode
        self._iterations = chosen.iterations
        self._core = _core.Engine(
            chosen.preset,
            chosen.slot_count,
            chosen.threads,
            allow_insecure=allow_insecure,
            levels=chosen.levels,
            parameters=chosen.parameters,
        )
        self._max_level = self._core.max_level if chosen.max_level is None else chosen.max_level

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the arguments it was made with, and what a subclass or user has put on it."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_core", "_tensor_dtype")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        positional, named = state["_words"]
        Engine.__init__(self, *positional, **named)
        self.__dict__.update(state)

    def __repr__(self) -> str:
        insecure = "" if self.security_report().is_secure else ", NOT SECURE"
        return (
            f"<Engine {self.preset}: 2^{self.log_coeff_count} coefficients, {self.slot_count} slots, "
            f"{self.max_level} levels, {self.thread_count} threads, {self.backend}{insecure}>"
        )

    # Keys

    def create_secret_key(self) -> SecretKey:
        """A fresh secret key, uniform ternary, from the randomness of the system. It refuses to be pickled."""
        return self._core.create_secret_key()

    def create_public_key(self, secret_key: SecretKey) -> PublicKey:
        """A key that encrypts and cannot decrypt."""
        return self._core.create_public_key(operands.secret_key(secret_key))

    def create_relinearization_key(self, secret_key: SecretKey, level: int | None = None) -> RelinearizationKey:
        """The key that products of ciphertexts need.

        Parameters
        ----------
        level
            The highest level at which it will be used. The key serves all levels, whatever it is.
        """
        self._key_level(level)
        return self._core.create_relinearization_key(operands.secret_key(secret_key))

    def create_conjugation_key(self, secret_key: SecretKey, level: int | None = None) -> ConjugationKey:
        """The key for complex conjugation; a bootstrap needs it too. `level` as in `create_relinearization_key`."""
        self._key_level(level)
        return self._core.create_conjugation_key(operands.secret_key(secret_key))

    def create_rotation_key(
        self, secret_key: SecretKey, level: int | None = None, *, progress: ProgressCallback | None = None
    ) -> RotationKey:
        """Keys for the steps that are powers of two; any step is a composition of them.

        `level` as in `create_relinearization_key`.
        """
        self._key_level(level)
        with progress_bar(progress) as report:
            return self._core.create_rotation_key(operands.secret_key(secret_key), progress=report)

    def _key_level(self, level: int | None) -> int | None:
        return None if level is None else values.as_level(level, self.max_level)

    def create_fixed_rotation_key(
        self, secret_key: SecretKey, delta: int, level: int | None = None
    ) -> FixedRotationKey:
        """The key for one step, in one key switch.

        Parameters
        ----------
        delta
            The step, as in `numpy.roll`: positive moves values to higher slots.
        level
            The highest level at which it will be used; a lower one makes a smaller key.
        """
        wanted = self._key_level(level)
        return self._core.create_fixed_rotation_key(operands.secret_key(secret_key), checks.step(delta), wanted)

    # Messages

    def encode(
        self, message: Any, level: int | None = None, *, real: bool | None = None, bound: float | None = None
    ) -> Plaintext:
        """Encode a list or array of at most `slot_count` numbers; shorter ones are padded with zeros.

        Parameters
        ----------
        real
            Whether the message is real, which everybody can read off its ciphertext and which makes bootstraps cheaper.
            If not given, the dtype says it, and never the values: bool, int and float are real, complex is complex.
        bound
            A size that no value exceeds, which everybody can read off its ciphertext: with it the noise of products is
            known too, as `decrypt_shared` needs it.

        Raises
        ------
        TypeError
            If it is text, a lone number, or holds something else than numbers.
        RangeError
            If it is empty, too long, not flat, or not finite, has an imaginary part and `real=True`, or a value above
            the bound.
        LevelError
            If the level is above `max_level`.
        """
        slots = values.as_slots(message, self.slot_count, real)
        declared = None if bound is None else values.as_bound(bound)
        return self._core.encode(slots, values.as_level(level, self.max_level), declared)

    def decode(self, plaintext: Plaintext | LightPlaintext) -> values.Vector:
        """The `slot_count` values of a plaintext: float64 if it is real, complex128 if not."""
        if isinstance(plaintext, LightPlaintext):
            return plaintext.values.copy()
        plaintext = checks.need(plaintext, Plaintext, "engine.encode(message)")
        return values.as_marked(self._core.decode(plaintext), plaintext.is_real)

    def encrypt(
        self,
        message: Any,
        public_key: PublicKey | SecretKey | None = None,
        level: int | None = None,
        *,
        secret_key: SecretKey | None = None,
        real: bool | None = None,
        bound: float | None = None,
    ) -> Ciphertext:
        """Encrypt a message or a plaintext with the public key or, with less noise, the secret key.

        Parameters
        ----------
        message
            A plaintext, or whatever `encode` takes.
        public_key
            The public key, or the secret key, which may be given as `secret_key=` too.
        level
            The level of the ciphertext; `max_level` (or the plaintext's) if not given.
        real, bound
            As in `encode`.

        Raises
        ------
        LevelError
            If the level is above `max_level`, or above that of the plaintext.
        KeyMismatchError
            If the key belongs to another engine.
        """
        key = checks.one_of(public_key=public_key, secret_key=secret_key)
        if not isinstance(key, PublicKey | SecretKey):
            key = checks.need(key, PublicKey, "engine.create_public_key(secret_key)")
        if isinstance(message, LightPlaintext):
            message = self.encode(message.values, message.level)
        if not isinstance(message, Plaintext):
            return self._core.encrypt(self.encode(message, level, real=real, bound=bound), key)
        if real is not None or bound is not None:
            raise TypeError(
                "A plaintext is real or complex already, with its bound; give real= to encode, and bound= too."
            )
        wanted = message.level if level is None else values.as_level(level, self.max_level)
        if wanted > message.level:
            raise LevelError(
                f"The plaintext has level {message.level}, below the level {wanted} asked for; encode it at that level."
            )
        ciphertext = self._core.encrypt(message, key)
        return ciphertext if wanted == message.level else self._core.level_down(ciphertext, wanted)

    def decrypt(self, ciphertext: Ciphertext, secret_key: SecretKey, *, check: bool = True) -> values.Vector:
        """The `slot_count` values of a ciphertext: float64 if it is real (`is_real`), complex128 if not.

        Do not publish the result of a decryption as it is: its low bits tell something about the secret key. Take
        `decrypt_shared` for that, or `decrypt_bits`; see SECURITY.md, "Sharing decrypted results".

        Values too large for the modulus of their level wrap around, and nothing in the ciphertext tells. What is
        computed in the process that encrypted is followed by its size, and what was encrypted with `bound=` by that;
        that is believed where it fits. Anything else, and ciphertexts of which nothing is known, such as those from
        files without a bound, are refused unless their coefficients are far smaller than the modulus: a millionth of
        it, or 2 at levels that hold little more. A coefficient is no larger than the mean of the absolute values of all
        slots.

        Parameters
        ----------
        check
            False gives what is there, right or not.

        Raises
        ------
        RangeError
            If the values do not fit the modulus, or may not.
        KeyMismatchError
            If the ciphertext was made under another secret key.
        """
        ciphertext, key = operands.ciphertext(ciphertext), operands.secret_key(secret_key)
        if checks.flag("check", check):
            found = self._core.decrypt_decode(ciphertext, key)
        else:
            found = self._core.decrypt_decode(ciphertext, key, False)
        return values.as_marked(found, ciphertext.is_real)

    def decrypt_to_plaintext(self, ciphertext: Ciphertext, secret_key: SecretKey) -> Plaintext:
        """What `decrypt` gives as a plaintext of the level of the ciphertext; the same care with its low bits."""
        return self.encode(self.decrypt(ciphertext, secret_key), ciphertext.level)

    def encrypt_many(
        self,
        message: Any,
        public_key: PublicKey | SecretKey,
        level: int | None = None,
        *,
        real: bool | None = None,
        bound: float | None = None,
    ) -> list[Ciphertext]:
        """Encrypt a message of any length, `slot_count` values to a ciphertext; the last one is padded with zeros.

        Raises
        ------
        MemoryLimitError
            Before anything is encrypted, if the machine has too little memory for the ciphertexts.
        """
        vector = values.as_vector(message, real)
        step = self.slot_count
        self.check_memory(-(-vector.size // step), level)
        parts = (vector[start : start + step] for start in range(0, vector.size, step))
        return [self.encrypt(part, public_key, level, bound=bound) for part in parts]

    def check_memory(self, count: int, level: int | None = None) -> None:
        """Refuse so many fresh ciphertexts of a level, `max_level` if not given, if they do not fit in memory.

        Raises
        ------
        MemoryLimitError
            If the machine has less memory free, or this process may have less.
        """
        count = checks.count("count", count)
        needed = count * self._core.ciphertext_bytes(values.as_level(level, self.max_level))
        free = _core.doctor()["memory_available_bytes"] if count > 1 else None
        # An encryption takes some memory for itself.
        if free is not None and 1.1 * needed + 2**26 > free:
            raise MemoryLimitError(
                f"These {count} ciphertexts take {gigabytes(needed)} and {gigabytes(free)} of memory are free; encrypt "
                "them in parts, write each to a file, or encrypt at a lower level."
            )

    def decrypt_many(self, ciphertexts: Iterable[Ciphertext], secret_key: SecretKey) -> values.Vector:
        """The values of several ciphertexts in one array; cut it to the length of the message."""
        found = [self.decrypt(ciphertext, secret_key) for ciphertext in checks.each("ciphertexts", ciphertexts)]
        if not found:
            raise RangeError("There is no ciphertext to decrypt; give one at least.")
        joined: Any = np.concatenate(found)
        return joined  # type: ignore[no-any-return]
