"""What goes into a program from Python, and what comes out."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet._core import Ciphertext, PublicKey, SecretKey
from aglet.ckks.values import as_array, as_number
from aglet.errors import ParameterError, RangeError
from aglet.heir.context import Context
from aglet.heir.scalars import CODES, INTEGERS, Scalar, convert
from aglet.heir.syntax import Type
from aglet.heir.values import Budget, Encrypted, Plain, Record, Vector

__all__ = ["incoming", "outgoing"]

_MAKERS: dict[str, tuple[type, str]] = {
    "CryptoContextT": (Context, "program.NAME__generate_crypto_context()"),
    "PublicKeyT": (PublicKey, "context.KeyGen().publicKey"),
    "PrivateKeyT": (SecretKey, "context.KeyGen().secretKey"),
}


def incoming(of: Type, value: Any) -> Any:
    """The value of a program that an argument becomes. Arguments are copied, and ciphertexts never change.

    Raises
    ------
    TypeError, RangeError
        If the argument is not of the type of the parameter.
    """
    if of.is_reference and not of.is_const:
        raise ParameterError(f"The program changes an argument of type {of}; compile it to return its results.")
    if of.name in _MAKERS:
        return checks.need(value, *_MAKERS[of.name])
    if of.name == "CiphertextT":
        return Encrypted(checks.need(value, Ciphertext, "engine.encrypt(message, public_key)"))
    if of.name == "Plaintext":
        return value if isinstance(value, Plain) else Plain(_doubles(value))
    if of.element is not None:
        return _vector(of.element, value)
    if of.name in CODES:
        number = as_number(value)
        if isinstance(number, complex):
            raise TypeError(f"A real number is needed for {of}; give its .real.")
        return convert(of.name, Scalar("exact" if isinstance(number, int) else "double", number))
    raise ParameterError(f"Python has no value of type {of}; call another function of the program.")


def _array(value: Any) -> NDArray[Any]:
    numbers = as_array(value, "vector")
    if numbers.ndim == 0:
        raise TypeError("A vector is needed here, and this is one number; give a list or an array.")
    return numbers


def _doubles(value: Any) -> NDArray[np.float64]:
    numbers = _array(value)
    if numbers.dtype.kind == "c":
        raise RangeError("Programs compute with real numbers; give the .real of the array.")
    with np.errstate(over="ignore"):
        found = numbers.astype(np.float64).ravel()
    if not np.isfinite(found).all():
        raise RangeError("The array is not finite somewhere; replace such values, for example with numpy.nan_to_num.")
    doubles: NDArray[np.float64] = found
    return doubles


def _vector(of: Type, value: Any) -> Vector:
    """Arrays of any shape are flattened row by row, as the emitter counts their elements."""
    made = Vector(of, Budget())
    if of.name not in CODES:
        made.extend([incoming(of, one) for one in checks.each(f"an argument of vectors of {of}", value)])
    elif of.name in INTEGERS:
        numbers = _array(value).ravel()
        if numbers.dtype.kind not in "biu":
            raise TypeError(f"A vector of {of} holds whole numbers; give an array of an integer dtype.")
        made.extend([convert(of.name, Scalar("exact", one)).value for one in numbers.tolist()])
    else:
        with np.errstate(over="ignore"):
            floats = _doubles(value).astype(CODES[of.name])
        if not np.isfinite(floats).all():
            raise RangeError(f"The array has values that no {of} holds; scale it down.")
        made.extend(array(CODES[of.name], floats.tobytes()))
    return made


def outgoing(value: Any) -> Any:
    """What Python gets of a value: arrays, numbers, ciphertexts, lists of these, and tuples of several results."""
    if isinstance(value, Encrypted):
        return value.value
    if isinstance(value, Scalar):
        return bool(value.value) if value.kind == "bool" else value.value
    if isinstance(value, Record):
        return tuple(outgoing(one) for one in value.fields.values())
    if not isinstance(value, Vector):
        return value
    if value.is_numeric:
        return np.array(value.items, dtype=np.bool_ if value.of.name == "bool" else None)
    return [outgoing(item) for item in value.items]
