"""`Engine`: encrypt, compute and bootstrap with CKKS, with numpy in and out.

The engine checks and converts its arguments and calls the compiled module `aglet._core`. It follows the documented
interface of an existing CKKS library: programs for that library run with only the import changed. What Aglet adds are
keyword arguments or new names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from aglet import _core, checks
from aglet._core import Ciphertext, Plaintext, PublicKey, SecretKey
from aglet.ckks import elsewhere, operands, options, values
from aglet.ckks.arithmetic import Arithmetic
from aglet.ckks.bootstrapping import Bootstrapping
from aglet.ckks.circuits import Circuits
from aglet.ckks.comparison import Comparison
from aglet.ckks.elsewhere import OtherNames
from aglet.ckks.figures import Figures
from aglet.ckks.functional import FunctionalBootstrapping
from aglet.ckks.keys import Keys
from aglet.ckks.light import LightMessages, LightPlaintext
from aglet.ckks.maps import LinearMaps
from aglet.ckks.matrices import Matrices
from aglet.ckks.sharing import Sharing
from aglet.ckks.tensors import Tensors
from aglet.errors import LevelError, MemoryLimitError, RangeError
from aglet.files import Files
from aglet.keys.making import MakesKeys
from aglet.reports import gigabytes

__all__ = ["Engine"]

_FLAGS = (
    "use_bootstrap", "use_bootstrap_to_14_levels", "compact", "allow_insecure", "for_bootstrap",
    "use_bootstrap_to_17_levels", "use_multiparty",
)  # fmt: skip


class Engine(
    Arithmetic,
    Bootstrapping,
    Circuits,
    Comparison,
    Figures,
    Files,
    FunctionalBootstrapping,
    Keys,
    LightMessages,
    LinearMaps,
    MakesKeys,
    Matrices,
    OtherNames,
    Sharing,
    Tensors,
):
    """A CKKS engine: one parameter set, its tables, and its threads.

    Methods never change their arguments, except `out=` of `add` and `subtract`. They may be called from many threads at
    once. An engine works in forked children, unless its mode is "gpu". A pickle holds the arguments of the engine and
    no keys; the engine made from it uses the threads of its machine.

    Parameters
    ----------
    *positional
        `Engine(mode)`, `Engine(max_level)`, `Engine(max_level, mode)`, `Engine(log_coeff_count,
        special_prime_count)` or `Engine(log_coeff_count, special_prime_count, mode)`.
    max_level
        The number of multiplications that a fresh ciphertext allows, 0 to 77. The smallest secure ring with that many
        levels is chosen. Within a ring, fewer levels mean smaller keys. The default is 7. If `slot_count` needs a
        larger ring, the default is all levels of that ring: 17 for 2^14 slots, 36 for 2^15, 77 for 2^16.
    mode
        "cpu" uses one thread, or `thread_count` threads. It is the default, as in the documented interface, so that
        several engines or processes do not compete for cores. "parallel" uses all cores. The results are the same.
        "gpu" gives macro-operations to an NVIDIA card: keys and ciphertexts go there with their first use, secret keys
        never, and results have the same bits. **It has run on emulated cards only.** "auto" means "gpu" where a card
        passes its self-test, and "parallel" elsewhere; the logger "aglet" says which and why.
    use_bootstrap
        Choose a ring that supports bootstrapping: N = 2^16, 32768 slots. A fresh ciphertext has 13 levels. A regular
        bootstrap leaves 10 levels, a lossy one up to 13. Its other name is `for_bootstrap`.
    use_bootstrap_to_14_levels
        Choose a ring of the same size with 14 levels. A regular bootstrap leaves all 14. There is no lossy and no sign
        bootstrap.
    compact
        Together with one of the two: spend one level less on the bootstrap. Keys and ciphertexts are smaller,
        bootstraps are faster, and values near 1 are less precise. Keys and ciphertexts do not fit an engine without
        `compact`. Without bootstrapping it changes nothing, because those sets are already as small as their levels
        allow.
    precision
        Together with `use_bootstrap`. "standard": products keep 26 bits and bootstraps 24. "high": 35 and 25 bits, in
        1.2 times the time. "highest": 35 bits for both, because `bootstrap` takes two iterations, in 2.3 times the
        time. The last two have 10 levels and only the regular bootstrap, no lossy and no sign bootstrap.
    slot_count, log_slot_count
        Sparse packing: use fewer slots than the ring has, a power of two. Bootstraps become faster.
    thread_count
        The number of threads. 0 means all cores in mode "parallel" and one in mode "cpu". More than 64, or more than
        twice the cores, is reduced to one per core, with a warning.
    use_multiparty, use_bootstrap_to_17_levels
        Documented, but not in this version. `True` is refused with a sentence that names the alternative.
    device_id
        Only for the modes "gpu" and "auto": the number of the card, from 0. `aglet doctor` lists the cards.
    log_coeff_count, special_prime_count
        For experts: the ring by its size, 13 to 17, with all of its levels: 2, 7, 17, 36 or 77. Aglet chooses the
        number of special primes itself and ignores the second number.
    preset
        For experts: a parameter set by its name. `aglet params` lists them.
    parameters
        A parameter set of your own: the path of a TOML file in the form of `crates/aglet/presets/ckks/regular.toml`, or
        its text with line breaks. It defines everything, also the name that files and pickles carry, and must pass the
        same security check.
    allow_insecure
        Accept parameters below 128 bits of security. For tests only; the `repr` shows it.

    Raises
    ------
    ParameterError
        If arguments contradict one another or ask for something that this version does not have.
    InsecureParametersError
        If the preset is below 128 bits and `allow_insecure` was not given.
    DeviceError
        If the mode is "gpu" and the card cannot be used, or if AGLET_BACKEND names a backend that the processor lacks.

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
        words = {name: value for name, value in locals().items() if name not in ("self", "positional")}
        for name in _FLAGS:
            checks.flag(name, words[name])
        elsewhere.refuse_flags(words.pop("use_multiparty"), words.pop("use_bootstrap_to_17_levels"))
        del words["allow_insecure"]
        words["use_bootstrap"] = words.pop("for_bootstrap") or use_bootstrap
        words["parameters"] = checks.literal(parameters)
        self._arguments = positional, {**words, "allow_insecure": allow_insecure}
        chosen = options.choose(positional, words)
        self._mode = chosen.mode
        self._iterations = chosen.iterations
        self._by_levels = chosen.levels is not None
        self._plans = {}
        self._core = _core.Engine(
            chosen.preset,
            chosen.slot_count,
            (chosen.threads, chosen.card),
            allow_insecure=allow_insecure,
            levels=chosen.levels,
            parameters=chosen.parameters,
        )
        self._max_level = self._core.max_level if chosen.max_level is None else chosen.max_level

    def __getstate__(self) -> dict[str, Any]:
        """The contents of a pickle: the arguments of the constructor, and attributes that were set since."""
        return {
            name: value for name, value in self.__dict__.items() if name not in ("_core", "_plans", "_tensor_dtype")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        positional, named = state["_arguments"]
        Engine.__init__(self, *positional, **named)
        self.__dict__.update(state)

    def __repr__(self) -> str:
        insecure = "" if self.security_report().is_secure else ", NOT SECURE"
        return (
            f"<Engine {self.preset}: 2^{self.log_coeff_count} coefficients, {self.slot_count} slots, "
            f"{self.max_level} levels, {self.thread_count} threads, {self.backend}{insecure}>"
        )

    # Messages

    def encode(
        self, message: Any, level: int | None = None, *, real: bool | None = None, bound: float | None = None
    ) -> Plaintext:
        """Encode a list or array of at most `slot_count` numbers; a shorter one is padded with zeros.

        Parameters
        ----------
        real
            Whether the message is real. Real messages have cheaper bootstraps. Everybody can see this mark on the
            ciphertext. If not given, the dtype decides, never the values: bool, int and float are real, complex is
            complex.
        bound
            A size that no value exceeds. Everybody can see it on the ciphertext. With it the engine also knows the
            noise of products, which `decrypt_shared` needs.

        Raises
        ------
        TypeError
            If the message is text, a single number, or contains something other than numbers.
        RangeError
            If the message is empty, too long, not one-dimensional or not finite, if it has an imaginary part with
            `real=True`, or if a value exceeds the bound.
        LevelError
            If the level is above `max_level`.
        """
        slots = values.as_slots(message, self.slot_count, real)
        declared = None if bound is None else values.as_bound(bound)
        return self._core.encode(slots, values.as_level(level, self.max_level), declared)

    def decode(self, plaintext: Plaintext | LightPlaintext) -> values.Vector:
        """Decode a plaintext to its `slot_count` values: float64 if it is real, complex128 if not."""
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
        """Encrypt a message or a plaintext with the public key, or with the secret key, which adds less noise.

        Parameters
        ----------
        message
            A plaintext, or anything that `encode` takes.
        public_key
            The public key or the secret key. A secret key may be given as `secret_key=` too.
        level
            The level of the ciphertext. If not given, that of the plaintext, or `max_level` for a message.
        real, bound
            As in `encode`.

        Raises
        ------
        LevelError
            If the level is above `max_level` or above the level of the plaintext.
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
                "A plaintext already has its mark real or complex and its bound; give real= and bound= to encode."
            )
        wanted = message.level if level is None else values.as_level(level, self.max_level)
        if wanted > message.level:
            raise LevelError(
                f"The plaintext is at level {message.level}, below the wanted level {wanted}; encode it at that level."
            )
        ciphertext = self._core.encrypt(message, key)
        return ciphertext if wanted == message.level else self._core.level_down(ciphertext, wanted)

    def decrypt(self, ciphertext: Ciphertext, secret_key: SecretKey, *, check: bool = True) -> values.Vector:
        """Decrypt to the `slot_count` values: float64 if the ciphertext is real (`is_real`), complex128 if not.

        Do not publish a decrypted result as it is: its low bits reveal something about the secret key. Use
        `decrypt_shared` or `decrypt_bits` for that. SECURITY.md, "Sharing decrypted results", says why.

        Values that are too large for the modulus of their level wrap around, and the ciphertext does not show it. The
        engine follows the size of values that this process encrypted, and the size declared with `bound=`. If that size
        fits, the values are trusted. All other ciphertexts, such as those from files without a bound, are refused
        unless their coefficients are far smaller than the modulus: a millionth of it, or 2 at levels whose modulus is
        little larger. A coefficient is never larger than the mean of the absolute values of all slots.

        Parameters
        ----------
        check
            False returns the values without this check, right or wrong.

        Raises
        ------
        RangeError
            If the values do not fit the modulus, or might not.
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
        """Decrypt to a plaintext at the level of the ciphertext. Do not publish it as it is; see `decrypt`."""
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
        """Encrypt a message of any length into several ciphertexts; the last one is padded with zeros.

        Raises
        ------
        MemoryLimitError
            If the machine has too little memory for the ciphertexts, before anything is encrypted.
        """
        vector = values.as_vector(message, real)
        step = self.slot_count
        self.check_memory(-(-vector.size // step), level)
        parts = (vector[start : start + step] for start in range(0, vector.size, step))
        return [self.encrypt(part, public_key, level, bound=bound) for part in parts]

    def check_memory(self, count: int, level: int | None = None, *, beside_bytes: int = 0) -> None:
        """Check that `count` fresh ciphertexts of a level (`max_level` if not given) fit in memory.

        Parameters
        ----------
        beside_bytes
            Memory that is needed at the same time, such as that of the message.

        Raises
        ------
        MemoryLimitError
            If the machine has less memory free, or this process is limited to less.
        """
        count = checks.count("count", count)
        needed = count * self._core.ciphertext_bytes(values.as_level(level, self.max_level))
        needed += checks.count("beside_bytes", beside_bytes)
        free = _core.doctor()["memory_available_bytes"] if count > 1 else None
        # An encryption takes some memory for itself.
        if free is not None and 1.1 * needed + 2**26 > free:
            raise MemoryLimitError(
                f"These {count} ciphertexts take {gigabytes(needed)} and {gigabytes(free)} of memory are free; encrypt "
                "them in parts, write each to a file, or encrypt at a lower level."
            )

    def decrypt_many(self, ciphertexts: Iterable[Ciphertext], secret_key: SecretKey) -> values.Vector:
        """Decrypt several ciphertexts to one array. Cut it to the length of the message."""
        if isinstance(ciphertexts, list | tuple):
            self._fetch([operands.ciphertext(ciphertext) for ciphertext in ciphertexts])
        found = [self.decrypt(ciphertext, secret_key) for ciphertext in checks.each("ciphertexts", ciphertexts)]
        if not found:
            raise RangeError("There is no ciphertext to decrypt; give at least one.")
        joined: Any = np.concatenate(found)
        return joined  # type: ignore[no-any-return]
