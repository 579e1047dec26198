"""The calls of OpenFHE that Aglet runs, by their names; and those that it refuses, with the reason.

Products rescale at once and scales are canonical, so `ModReduce` has nothing to do. `LevelReduce` lowers the level
where OpenFHE does: with the scaling technique FIXEDMANUAL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aglet._core import Ciphertext, PublicKey, SecretKey
from aglet.errors import LevelError, ParameterError, RangeError
from aglet.heir.context import Context
from aglet.heir.scalars import INTEGERS, Scalar
from aglet.heir.values import Constant, Digits, Encrypted, Plain, Vector

__all__ = ["call", "ciphertext", "integer"]

Arguments = tuple[Any, ...]
_FEATURES = ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "FHE")
_KEY_SWITCHING = "Aglet switches keys inside its calls; compile without the passes that split key switching"
_REFUSED = {
    **dict.fromkeys(("KeySwitch", "KeySwitchInPlace", "KeySwitchDown", "EvalFastRotationExt"), _KEY_SWITCHING),
    "EvalAutomorphism": "rotations are the automorphisms of CKKS; compile to EvalRotate",
    "MakePackedPlaintext": "it is of exact integers (BGV and BFV); compile the program for CKKS",
}


def call(context: Context, name: str, arguments: Arguments) -> Any:
    """Carry out `cc->name(arguments)`.

    Raises
    ------
    ParameterError
        If Aglet does not run this call, or not with these arguments.
    LevelError, RangeError, MissingKeyError
        As the engine raises them.
    """
    if name in _REFUSED:
        raise ParameterError(f"Aglet does not run {name}: {_REFUSED[name]}.")
    if name in _WITH_KEYS:
        return _WITH_KEYS[name](context, arguments)
    in_place = name.endswith("InPlace")
    operation = _ON_CIPHERTEXTS.get(name.removesuffix("InPlace"))
    if operation is None or (in_place and name.removesuffix("InPlace") not in _IN_PLACE):
        raise ParameterError(f"Aglet has no call {name[:60]!a}; it runs those that HEIR's OpenFHE emitter writes.")
    made = operation(context, arguments)
    if not in_place:
        return Encrypted(made)
    ciphertext_box(arguments[0]).value = made
    return None


# Arguments


def ciphertext_box(value: Any) -> Encrypted:
    """The ciphertext that an argument is, to be changed in place."""
    if not isinstance(value, Encrypted):
        raise ParameterError("A ciphertext is needed here; encrypt the argument first.")
    return value


def ciphertext(value: Any) -> Ciphertext:
    """The ciphertext that an argument holds."""
    return ciphertext_box(value).value


def integer(value: Any, what: str) -> int:
    """The whole number that an argument is."""
    if not isinstance(value, Scalar) or value.kind not in INTEGERS:
        raise ParameterError(f"{what} is a whole number; convert it with static_cast.")
    return int(value.value)


def _real(value: Any) -> float:
    if not isinstance(value, Scalar):
        raise ParameterError("A number is needed here; give a scalar.")
    return float(value.value)


def _count(arguments: Arguments, *counts: int) -> None:
    if len(arguments) not in counts:
        raise ParameterError(f"This call takes {counts[0]} arguments, not {len(arguments)}; compile the program again.")


def _secret(value: Any) -> SecretKey:
    if not isinstance(value, SecretKey):
        raise ParameterError("The secret key is needed here; give keys.secretKey of keys = context.KeyGen().")
    return value


def _operand(value: Any) -> Any:
    """A second operand as the engine takes it: a ciphertext, the values of a plaintext, or a number."""
    if isinstance(value, Encrypted):
        return value.value
    if isinstance(value, Plain):
        return value.values
    if isinstance(value, Scalar):
        return int(value.value) if value.kind in INTEGERS else float(value.value)
    raise ParameterError("An operand is a ciphertext, a plaintext or a number; convert it first.")


def _pair(arguments: Arguments) -> tuple[Any, Any]:
    _count(arguments, 2)
    left, right = (_operand(value) for value in arguments)
    if not any(isinstance(value, Encrypted) for value in arguments):
        raise ParameterError("One of the two operands must be a ciphertext; encrypt one of them first.")
    return left, right


# On ciphertexts


def _add(context: Context, arguments: Arguments) -> Any:
    return context.engine.add(*_pair(arguments))


def _subtract(context: Context, arguments: Arguments) -> Any:
    return context.engine.subtract(*_pair(arguments))


def _multiply(context: Context, arguments: Arguments) -> Any:
    left, right = _pair(arguments)
    if all(isinstance(value, Encrypted) for value in arguments):
        return context.engine.multiply(left, right, context.relinearization_key())
    return context.engine.multiply(left, right)


def _multiply_no_relin(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 2)
    return context.engine.multiply(ciphertext(arguments[0]), ciphertext(arguments[1]))


def _square(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 1)
    return context.engine.square(ciphertext(arguments[0]), context.relinearization_key())


def _negate(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 1)
    return context.engine.negate(ciphertext(arguments[0]))


def _relinearize(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 1)
    return context.engine.relinearize(ciphertext(arguments[0]), context.relinearization_key())


def _mod_reduce(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 1)
    return context.engine.rescale(ciphertext(arguments[0]))


def _level_reduce(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 3)
    given, count = ciphertext(arguments[0]), integer(arguments[2], "The number of levels")
    if arguments[1] is not None or count < 0:
        raise ParameterError("LevelReduce takes a ciphertext, nullptr and a number of levels; compile it again.")
    if not context.settings.lowers_levels:
        return context.engine.rescale(given)
    if count > given.level:
        raise LevelError(
            f"The ciphertext is at level {given.level} and cannot lose {count} levels; make the engine with a larger "
            "max_level=, or bootstrap before this line."
        )
    return context.engine.level_down(given, given.level - count)


def _rotate(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 2)
    return context.rotate(ciphertext(arguments[0]), [integer(arguments[1], "A rotation step")])[0]


def _fast_rotation(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 4)
    given, step, digits = ciphertext(arguments[0]), integer(arguments[1], "A rotation step"), arguments[3]
    if not isinstance(digits, Digits) or digits.of is not given:
        raise ParameterError("These digits are of another ciphertext; call EvalFastRotationPrecompute on this one.")
    if integer(arguments[2], "The cyclotomic order") != 2 * context.ring_dimension:
        raise ParameterError("The third argument is the cyclotomic order; give 2 * cc->GetRingDimension().")
    if step not in digits.rotated:
        steps = [step, *sorted(known for known in digits.steps if known != step and context.has_key(known))]
        digits.rotated.update(zip(steps, context.rotate(given, steps), strict=True))
    return digits.rotated[step]


def _chebyshev(context: Context, arguments: Arguments) -> Any:
    """OpenFHE halves the first coefficient, and maps the interval [a, b] to [-1, 1]."""
    _count(arguments, 4)
    given, coefficients = ciphertext(arguments[0]), arguments[1]
    if not isinstance(coefficients, Vector):
        raise ParameterError("The coefficients are a vector of doubles; compile the program again.")
    numbers, (least, most) = coefficients.numbers(), (_real(value) for value in arguments[2:])
    if not numbers.size or not least < most:
        raise RangeError("A Chebyshev series has a coefficient and an interval [a, b] with a < b; compile it again.")
    numbers[0] /= 2
    if (least, most) != (-1.0, 1.0):
        given = context.engine.multiply(given, 2 / (most - least))
        given = context.engine.subtract(given, (most + least) / (most - least))
    return context.engine.evaluate_chebyshev_polynomial(given, numbers, context.relinearization_key())


def _bootstrap(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 1)
    return context.bootstrap(ciphertext(arguments[0]))


def _encrypt(context: Context, arguments: Arguments) -> Any:
    _count(arguments, 2)
    key, plaintext = arguments
    if not isinstance(key, PublicKey | SecretKey) or not isinstance(plaintext, Plain):
        raise ParameterError("Encrypt takes a key and a plaintext; call MakeCKKSPackedPlaintext first.")
    return context.engine.encrypt(plaintext.values, key)


_ON_CIPHERTEXTS: dict[str, Callable[[Context, Arguments], Any]] = {
    "EvalAdd": _add,
    "EvalSub": _subtract,
    "EvalMult": _multiply,
    "EvalMultNoRelin": _multiply_no_relin,
    "EvalSquare": _square,
    "EvalNegate": _negate,
    "Relinearize": _relinearize,
    "ModReduce": _mod_reduce,
    "LevelReduce": _level_reduce,
    "EvalRotate": _rotate,
    "EvalFastRotation": _fast_rotation,
    "EvalChebyshevSeries": _chebyshev,
    "EvalBootstrap": _bootstrap,
    "Encrypt": _encrypt,
}
_IN_PLACE = ("EvalAdd", "EvalSub", "EvalMult", "EvalNegate", "EvalSquare", "Relinearize", "ModReduce", "LevelReduce")

# On plaintexts and keys


def _digits(context: Context, arguments: Arguments) -> Digits:
    _count(arguments, 1)
    return Digits(ciphertext(arguments[0]))


def _plaintext(context: Context, arguments: Arguments) -> Plain:
    _count(arguments, 1)
    if not isinstance(arguments[0], Vector):
        raise ParameterError("MakeCKKSPackedPlaintext takes a vector of doubles; compile the program again.")
    numbers = arguments[0].numbers()
    slots = context.engine.slot_count
    if not 0 < numbers.size <= slots:
        raise RangeError(
            f"A plaintext has 1 to {slots} values with this engine, and this one has {numbers.size}; make the engine "
            "with a larger slot_count=."
        )
    return Plain(numbers)


def _decrypt(context: Context, arguments: Arguments) -> None:
    """The third argument is the place of a plaintext."""
    _count(arguments, 3)
    found = context.engine.decrypt(ciphertext(arguments[1]), _secret(arguments[0]))
    arguments[2].set(Plain(np.array(found.real, dtype=np.float64)))


def _multiplication_key(context: Context, arguments: Arguments) -> None:
    _count(arguments, 1)
    context.make_relinearization_key(_secret(arguments[0]))


def _rotation_keys(context: Context, arguments: Arguments) -> None:
    _count(arguments, 2)
    if not isinstance(arguments[1], list):
        raise ParameterError("EvalRotateKeyGen takes the secret key and steps in braces; compile the program again.")
    context.make_rotation_keys(_secret(arguments[0]), [integer(step, "A rotation step") for step in arguments[1]])


def _setup(context: Context, arguments: Arguments) -> None:
    _count(arguments, 1)
    if not isinstance(arguments[0], list) or len(arguments[0]) != 2:
        raise ParameterError("EvalBootstrapSetup takes two level budgets in braces; compile the program again.")
    context.set_budget()


def _bootstrap_key(context: Context, arguments: Arguments) -> None:
    _count(arguments, 2)
    context.make_bootstrap_key(_secret(arguments[0]), integer(arguments[1], "The number of slots"))


def _enable(context: Context, arguments: Arguments) -> None:
    _count(arguments, 1)
    feature = arguments[0]
    if not isinstance(feature, Constant) or feature.name not in _FEATURES:
        raise ParameterError(f"Enable takes one of {', '.join(_FEATURES)}; compile the program for CKKS.")
    context.is_bootstrapping |= feature.name == "FHE"


def _ring_dimension(context: Context, arguments: Arguments) -> Scalar:
    _count(arguments, 0)
    return Scalar("unsigned", context.ring_dimension)


def _same(context: Context, arguments: Arguments) -> Context:
    """Of the parameters inside a context, only the ring dimension can be asked."""
    _count(arguments, 0)
    return context


_WITH_KEYS: dict[str, Callable[[Context, Arguments], Any]] = {
    "EvalFastRotationPrecompute": _digits,
    "MakeCKKSPackedPlaintext": _plaintext,
    "Decrypt": _decrypt,
    "KeyGen": lambda context, arguments: context.KeyGen(),
    "EvalMultKeyGen": _multiplication_key,
    "EvalRotateKeyGen": _rotation_keys,
    "EvalBootstrapSetup": _setup,
    "EvalBootstrapKeyGen": _bootstrap_key,
    "Enable": _enable,
    "GetRingDimension": _ring_dimension,
    "GetCryptoParameters": _same,
    "GetElementParams": _same,
}
