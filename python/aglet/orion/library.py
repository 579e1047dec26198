"""`AgletLibrary`: the scheme, the keys, encryption and the bootstrap, by the names of Orion's `LattigoLibrary`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglet import checks
from aglet._core import Ciphertext
from aglet.ckks.engine import Engine
from aglet.ckks.light import LightPlaintext
from aglet.errors import MissingKeyError, ParameterError
from aglet.orion import transforms
from aglet.orion.arithmetic import forms
from aglet.orion.handles import Handles
from aglet.orion.polynomials import Polynomial, sign_coefficients

__all__ = ["SCALE", "AgletLibrary"]

SCALE = 2**40
"""What every scale is said to be. Aglet keeps scales canonical itself; those that Orion gives change no value."""
_NOTHING = (
    "NewKeyGenerator", "NewEncoder", "NewEncryptor", "NewDecryptor", "NewEvaluator", "NewPolynomialEvaluator",
    "NewLinearTransformEvaluator", "GenerateEvaluationKeys", "FreeCArray",
)  # fmt: skip
"""Calls that have nothing to do: the engine is made by `NewScheme`, and rotation keys when they are needed."""


class AgletLibrary:
    """Takes the place of `LattigoLibrary` in Orion. Plaintexts, ciphertexts and the like are whole numbers there.

    Like the library that it replaces, it holds the secret key.

    Parameters
    ----------
    engine
        An `Engine` to use, with as many slots as Orion's parameters give and at least as many levels. Networks that
        bootstrap need one: `Engine(use_bootstrap=True)`, for up to 10 levels. If not given, `NewScheme` makes an engine
        of 128 bits with the levels and slots of Orion's parameters.
    """

    def __init__(self, engine: Any = None) -> None:
        self._given = engine
        self._scheme: _Scheme | None = None
        self.plaintexts: Handles[LightPlaintext] = Handles("plaintext")
        self.ciphertexts: Handles[Ciphertext] = Handles("ciphertext")
        self._polynomials: Handles[Polynomial] = Handles("polynomial")
        self._transforms: Handles[transforms.Transform] = Handles("linear transform")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in _NOTHING:
            return lambda *arguments: None
        found = None if name.startswith("_") else forms(self, name)
        if found is None:
            raise AttributeError(
                f"Aglet has no call {name!a} for Orion; use io_mode none, and calls that orion.backend.python makes."
            )
        return found

    # The scheme

    def setup_bindings(self, orion_params: Any) -> None:
        """Make the scheme from Orion's parameters. Errors as in `NewScheme`."""
        self.NewScheme(
            orion_params.get_logn(),
            orion_params.get_logq(),
            orion_params.get_logp(),
            orion_params.get_logscale(),
            orion_params.get_hamming_weight(),
            orion_params.get_ringtype(),
            orion_params.get_keys_path(),
            orion_params.get_io_mode(),
        )

    def NewScheme(self, logn: int, logq: list[int], *rest: Any) -> None:  # noqa: N802
        """Make the engine: `len(logq) - 1` levels, `2^(logn - 1)` slots. Aglet chooses ring, primes and secret itself.

        Parameters
        ----------
        *rest
            `logp, logscale, h, ringtype, keys_path, io_mode`. The first three are Aglet's own.

        Raises
        ------
        ParameterError
            If the ring is not the standard one, keys are to be saved or loaded, or the engine that was given has
            other slots or too few levels.
        """
        if len(rest) != 6:
            raise ParameterError(f"NewScheme takes 8 arguments, not {2 + len(rest)}; use Orion of November 2025.")
        if rest[3] != "standard":
            raise ParameterError(f"There is no ring type {rest[3]!a}; set RingType: standard in Orion's parameters.")
        if rest[5] != "none":
            raise ParameterError(f"There is no io_mode {rest[5]!a}; set io_mode: none in Orion's parameters.")
        level = len(checks.each("logq", logq)) - 1
        slots = 1 << (checks.count("logn", logn, 1) - 1)
        engine = Engine(max_level=level, slot_count=slots) if self._given is None else self._given
        if engine.slot_count != slots or engine.max_level < level:
            raise ParameterError(
                f"Orion's parameters have {slots} slots and {level} levels, and the engine has {engine.slot_count} and "
                f"{engine.max_level}; change LogN and LogQ, or give another engine."
            )
        self.DeleteScheme()
        self._scheme = _Scheme(engine, level)

    def DeleteScheme(self) -> None:  # noqa: N802
        """Forget all keys, and all that handles stand for."""
        self._scheme = None
        for handles in (self.plaintexts, self.ciphertexts, self._polynomials, self._transforms):
            handles.clear()

    @property
    def _made(self) -> _Scheme:
        if self._scheme is None:
            raise ParameterError("There is no scheme yet; call setup_bindings first.")
        return self._scheme

    @property
    def engine(self) -> Any:
        """The engine of the scheme."""
        return self._made.engine

    @property
    def relinearization_key(self) -> Any:
        """The key of products."""
        return self._made.key("relinearization")

    # Keys

    def GenerateSecretKey(self) -> None:  # noqa: N802
        """Make the secret key."""
        self._made.keys["secret"] = self.engine.create_secret_key()

    def GeneratePublicKey(self) -> None:  # noqa: N802
        """Make the public key."""
        self._made.keys["public"] = self.engine.create_public_key(self._made.key("secret"))

    def GenerateRelinearizationKey(self) -> None:  # noqa: N802
        """Make the key of products."""
        self._made.keys["relinearization"] = self.engine.create_relinearization_key(self._made.key("secret"))

    def AddRotationKey(self, amount: int) -> None:  # noqa: N802
        """Make the key that rotates to the left by `amount`, if it is not there."""
        self._made.rotation_key(checks.step(amount))

    GenerateLinearTransformRotationKey = AddRotationKey

    def rotate_left(self, x: Ciphertext, amount: int) -> Ciphertext:
        """Rotate to the left, as Lattigo does."""
        step = checks.step(amount)
        if step % self.engine.slot_count == 0:
            return x
        found: Ciphertext = self.engine.rotate(x, self._made.rotation_key(step))
        return found

    # Plaintexts and ciphertexts

    def Encode(self, values: Any, level: int, scale: int) -> int:  # noqa: N802
        """Encode numbers at a level, at most that of the parameters; the scale is Aglet's own."""
        checks.count("scale", scale)
        made = self.engine.encode_to_light_plaintext(values, self._made.level_of(level))
        return self.plaintexts.add(made)

    def Decode(self, plaintext: int) -> list[float]:  # noqa: N802
        """The numbers of a plaintext."""
        return [float(one) for one in self.plaintexts.get(plaintext).values.real]

    def Encrypt(self, plaintext: int) -> int:  # noqa: N802
        """Encrypt with the public key."""
        return self.ciphertexts.add(self.engine.encrypt(self.plaintexts.get(plaintext), self._made.key("public")))

    def Decrypt(self, ciphertext: int) -> int:  # noqa: N802
        """Decrypt to a plaintext of the same level."""
        x = self.ciphertexts.get(ciphertext)
        values = self.engine.decrypt(x, self._made.key("secret"))
        return self.plaintexts.add(self.engine.encode_to_light_plaintext(values, x.level))

    def DeletePlaintext(self, plaintext: int) -> None:  # noqa: N802
        """Forget a plaintext."""
        self.plaintexts.delete(plaintext)

    def DeleteCiphertext(self, ciphertext: int) -> None:  # noqa: N802
        """Forget a ciphertext."""
        self.ciphertexts.delete(ciphertext)

    def GetPlaintextScale(self, plaintext: int) -> int:  # noqa: N802
        """2^40."""
        self.plaintexts.get(plaintext)
        return SCALE

    def GetCiphertextScale(self, ciphertext: int) -> int:  # noqa: N802
        """2^40."""
        self.ciphertexts.get(ciphertext)
        return SCALE

    def SetPlaintextScale(self, plaintext: int, scale: int) -> None:  # noqa: N802
        """Accept 2^40; refuse other scales, which would change the values."""
        _same_scale(self.GetPlaintextScale(plaintext), scale)

    def SetCiphertextScale(self, ciphertext: int, scale: int) -> None:  # noqa: N802
        """Accept 2^40; refuse other scales, which would change the values."""
        _same_scale(self.GetCiphertextScale(ciphertext), scale)

    def GetPlaintextLevel(self, plaintext: int) -> int:  # noqa: N802
        """The level of a plaintext."""
        return self.plaintexts.get(plaintext).level

    def GetCiphertextLevel(self, ciphertext: int) -> int:  # noqa: N802
        """The level of a ciphertext."""
        return self.ciphertexts.get(ciphertext).level

    def GetPlaintextSlots(self, plaintext: int) -> int:  # noqa: N802
        """The number of slots."""
        return int(self.plaintexts.get(plaintext).values.size)

    def GetCiphertextSlots(self, ciphertext: int) -> int:  # noqa: N802
        """The number of slots."""
        return int(self.ciphertexts.get(ciphertext).slot_count)

    def GetCiphertextDegree(self, ciphertext: int) -> int:  # noqa: N802
        """1, as every product is relinearized."""
        self.ciphertexts.get(ciphertext)
        return 1

    def GetModuliChain(self) -> list[int]:  # noqa: N802
        """A scale for each level: Orion asks for primes only to give them as scales."""
        return [SCALE] * (self._made.level + 1)

    def GetLivePlaintexts(self) -> list[int]:  # noqa: N802
        """The handles of all plaintexts."""
        return self.plaintexts.live()

    def GetLiveCiphertexts(self) -> list[int]:  # noqa: N802
        """The handles of all ciphertexts."""
        return self.ciphertexts.live()

    def Negate(self, ciphertext: int) -> int:  # noqa: N802
        """Change all signs, in a new ciphertext."""
        return self.ciphertexts.add(self.engine.negate(self.ciphertexts.get(ciphertext)))

    # Polynomials

    def GenerateMonomial(self, coefficients: list[float]) -> int:  # noqa: N802
        """Keep a polynomial in the power basis, the constant first."""
        return self._polynomials.add(Polynomial.of("power", coefficients))

    def GenerateChebyshev(self, coefficients: list[float]) -> int:  # noqa: N802
        """Keep a polynomial in the Chebyshev basis on [-1, 1], the constant first."""
        return self._polynomials.add(Polynomial.of("chebyshev", coefficients))

    def EvaluatePolynomial(self, ciphertext: int, polynomial: int, scale: int) -> int:  # noqa: N802
        """Evaluate a polynomial in `ceil(log2(degree + 1))` levels; the scale is Aglet's own."""
        checks.count("scale", scale)
        found, x = self._polynomials.get(polynomial), self.ciphertexts.get(ciphertext)
        return self.ciphertexts.add(found.apply(self.engine, x, self.relinearization_key))

    def GenerateMinimaxSignCoeffs(  # noqa: N802
        self, degrees: list[int], prec: int, logalpha: int, logerr: int, debug: int
    ) -> list[float]:
        """Coefficients of a step from 0 to 1, one polynomial after the other; see `sign_coefficients`."""
        return sign_coefficients(degrees, checks.count("logalpha", logalpha), logerr)

    # Linear transforms

    def GenerateLinearTransform(  # noqa: N802
        self, offsets: list[int], data: list[float], level: int, ratio: float, io_mode: str
    ) -> int:
        """Encode diagonals for ciphertexts of a level. Aglet chooses baby steps and giant steps itself."""
        if io_mode != "none":
            raise ParameterError(f"There is no io_mode {io_mode!a}; set io_mode: none in Orion's parameters.")
        return self._transforms.add(transforms.make(self.engine, offsets, data, self._made.level_of(level)))

    def GetLinearTransformRotationKeys(self, transform: int) -> list[int]:  # noqa: N802
        """What `GenerateLinearTransformRotationKey` is to be called with: steps to the left."""
        return self._transforms.get(transform).steps

    def EvaluateLinearTransform(self, transform: int, ciphertext: int) -> int:  # noqa: N802
        """Apply a transform. Uses one level.

        Raises
        ------
        LevelError
            If the ciphertext is below the level of the transform.
        """
        found, x = self._transforms.get(transform), self.ciphertexts.get(ciphertext)
        keys = {step: self._made.rotation_key(step) for step in found.steps}
        return self.ciphertexts.add(found.apply(self.engine, x, keys))

    def DeleteLinearTransform(self, transform: int) -> None:  # noqa: N802
        """Forget a transform."""
        self._transforms.delete(transform)

    # Bootstraps

    def NewBootstrapper(self, logp: list[int], slots: int) -> None:  # noqa: N802
        """Make the bootstrap keys, once for all numbers of slots: bootstraps here are of all slots.

        Raises
        ------
        ParameterError
            If the engine does not bootstrap.
        """
        scheme = self._made
        if not scheme.engine.can_bootstrap:
            raise ParameterError(
                "The engine does not bootstrap; give AgletLibrary(Engine(use_bootstrap=True, slot_count=...))."
            )
        if "bootstrap" not in scheme.keys:
            scheme.keys["conjugation"] = scheme.engine.create_conjugation_key(scheme.key("secret"))
            scheme.keys["bootstrap"] = scheme.engine.create_bootstrap_key(scheme.key("secret"))
        scheme.bootstrapped.add(checks.count("slots", slots, 1))

    def Bootstrap(self, ciphertext: int, slots: int) -> int:  # noqa: N802
        """Refresh a ciphertext of values from -1 to 1 to the level of the parameters.

        Raises
        ------
        LevelError
            If the parameters have more levels than a bootstrap leaves: 10 with `use_bootstrap=True`.
        """
        scheme, x = self._made, self.ciphertexts.get(ciphertext)
        if slots not in scheme.bootstrapped:
            raise MissingKeyError(f"There is no bootstrap of {slots} slots; call NewBootstrapper for them first.")
        keys = [scheme.key(name) for name in ("relinearization", "conjugation", "bootstrap")]
        return self.ciphertexts.add(scheme.engine.bootstrap(x, *keys, target_level=scheme.level))

    def DeleteBootstrappers(self) -> None:  # noqa: N802
        """Forget the bootstrap keys."""
        if self._scheme is not None:
            self._scheme.bootstrapped.clear()
            self._scheme.keys.pop("bootstrap", None)


class _Scheme:
    """An engine with the highest level of Orion's parameters, and its keys."""

    def __init__(self, engine: Any, level: int) -> None:
        self.engine, self.level = engine, level
        self.keys: dict[str, Any] = {}
        self.bootstrapped: set[int] = set()
        self._rotations: dict[int, Any] = {}

    def key(self, name: str) -> Any:
        if name not in self.keys:
            raise MissingKeyError(f"There is no {name} key yet; Orion's key generator makes it first.")
        return self.keys[name]

    def rotation_key(self, step: int) -> Any:
        """The key of a step to the left; it is made if it is not there."""
        delta = -step % self.engine.slot_count
        if delta not in self._rotations:
            self._rotations[delta] = self.engine.create_fixed_rotation_key(self.key("secret"), delta)
        return self._rotations[delta]

    def level_of(self, level: int) -> int:
        if not 0 <= checks.whole("A level", level) <= self.level:
            raise ParameterError(f"Level {level} does not exist; Orion's parameters have the levels 0 to {self.level}.")
        return level


def _same_scale(scale: int, other: int) -> None:
    if other != scale:
        raise ParameterError(f"A scale of {other} would change the values; scales are 2^40 here, set LogScale: 40.")
