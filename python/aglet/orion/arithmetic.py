"""The calls of Orion on ciphertexts: each in place, and with `New` after its name for a new ciphertext.

Products divide at once, so `Rescale` has nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglet import checks
from aglet._core import Ciphertext
from aglet.errors import RangeError

__all__ = ["OPERATIONS", "forms"]


def _number(value: Any) -> float:
    number = checks.real("A scalar", value)
    if not abs(number) < float("inf"):
        raise RangeError("A scalar must be finite; replace it before the call.")
    return number


def _times_float(library: Any, x: Ciphertext, value: Any) -> Any:
    """As in Orion, a product by a whole number uses no level."""
    number = _number(value)
    return library.engine.multiply(x, int(number) if number.is_integer() and abs(number) < 2**53 else number)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "Rotate": lambda library, x, amount: library.rotate_left(x, amount),
    "Rescale": lambda library, x: library.engine.rescale(x),
    "AddScalar": lambda library, x, value: library.engine.add(x, _number(value)),
    "SubScalar": lambda library, x, value: library.engine.subtract(x, _number(value)),
    "MulScalarInt": lambda library, x, value: library.engine.multiply(x, checks.whole("A scalar", value)),
    "MulScalarFloat": _times_float,
    "AddPlaintext": lambda library, x, handle: library.engine.add(x, library.plaintexts.get(handle).values),
    "SubPlaintext": lambda library, x, handle: library.engine.subtract(x, library.plaintexts.get(handle).values),
    "MulPlaintext": lambda library, x, handle: library.engine.multiply(x, library.plaintexts.get(handle).values),
    "AddCiphertext": lambda library, x, handle: library.engine.add(x, library.ciphertexts.get(handle)),
    "SubCiphertext": lambda library, x, handle: library.engine.subtract(x, library.ciphertexts.get(handle)),
    "MulRelinCiphertext": lambda library, x, handle: library.engine.multiply(
        x, library.ciphertexts.get(handle), library.relinearization_key
    ),
}
"""What each call does with the ciphertext of its first handle and its other argument."""


def forms(library: Any, name: str) -> Callable[..., int] | None:
    """The call of a name: in place, or for a new ciphertext."""
    operation = OPERATIONS.get(name.removesuffix("New"))
    if operation is None:
        return None

    def call(handle: int, *arguments: Any) -> int:
        made = operation(library, library.ciphertexts.get(handle), *arguments)
        return int(library.ciphertexts.add(made) if name.endswith("New") else library.ciphertexts.put(handle, made))

    return call
