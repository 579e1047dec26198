"""What the calls of `FhewEngine` share: checks of arguments, options, and the run with a bootstrap key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet._core import FhewBootstrapKey
from aglet.errors import MemoryLimitError, RangeError
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.progress import ProgressCallback, progress_bar
from aglet.reports import gigabytes

__all__ = [
    "FhewOptions", "as_array", "broadcast", "check_room", "ciphertext", "fhew_bootstrap_key", "log2_failure", "of_one",
    "run",
]  # fmt: skip

_T = TypeVar("_T")
_EACH, _SMALL = 256, 2**25
"""Bytes of a ciphertext that is a seed, with all beside it; bytes that are taken without a question."""


class FhewOptions(TypedDict, total=False):
    """What every call with a bootstrap key takes by name; see `FhewEngine.gate` and `FhewEngine.lookup`."""

    max_failure: float | None
    progress: ProgressCallback | None


ciphertext = checks.operand(FhewCiphertext, "engine.encrypt(values, secret_key)")
fhew_bootstrap_key = checks.operand(FhewBootstrapKey, "engine.create_bootstrap_key(secret_key)")


def check_room(count: int) -> None:
    """Check that so many fresh ciphertexts fit in memory, and the numbers beside them.

    Raises
    ------
    MemoryLimitError
        If the machine has less memory free, or this process is limited to less.
    """
    needed = count * _EACH
    free = _core.doctor()["memory_available_bytes"] if needed > _SMALL else None
    if free is not None and needed + needed // 8 + _SMALL > free:
        raise MemoryLimitError(
            f"These {count} ciphertexts take {gigabytes(needed)} and {gigabytes(free)} of memory are free; encrypt "
            "them in parts, and write each to a file."
        )


def log2_failure(allowed: Any) -> float | None:
    """The base-2 logarithm of a probability. None stays None and means the engine's default.

    Raises
    ------
    TypeError
        If the argument is not a number.
    RangeError
        If it is not above 0 and at most 1.
    """
    if allowed is None:
        return None
    chance = checks.real("max_failure", allowed)
    if not 0 < chance <= 1:
        raise RangeError(f"max_failure={allowed} is not above 0 and at most 1; give a probability, for example 2**-64.")
    return math.log2(chance)


def broadcast(*arrays: Any) -> list[_core.FhewArray]:
    """Arrays broadcast to one shape, by numpy's rules.

    Raises
    ------
    RangeError
        If the shapes do not fit together.
    """
    found = [ciphertext(array) for array in arrays]
    shape = checks.common_shape(*(array.shape for array in found))
    return [(array if array.shape == shape else array.broadcast_to(shape))._array for array in found]


def run(call: Callable[..., _T], key: Any, options: Mapping[str, Any], kind: Any = FhewOptions) -> _T:
    """Call the core with a bootstrap key and the options by name, those that `kind` has."""
    checks.known(options, kind)
    own, most = fhew_bootstrap_key(key), log2_failure(options.get("max_failure"))
    with progress_bar(options.get("progress")) as report:
        return call(own, most, report)


def of_one(call: Callable[..., _core.FhewArray], x: Any, key: Any, options: Mapping[str, Any]) -> FhewCiphertext:
    """Call the core on one array with a bootstrap key."""
    array = ciphertext(x)._array
    return FhewCiphertext._of(run(lambda *own: call(array, *own), key, options))


def as_array(values: Any) -> NDArray[Any]:
    """Booleans or whole numbers as an array.

    Raises
    ------
    TypeError
        If the values are something else.
    RangeError
        If rows differ in length.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("This array is masked, and ciphertexts have no mask; give .filled(value) in its place.")
    if isinstance(values, FhewCiphertext):
        raise TypeError("These values are encrypted already.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise RangeError("The rows of these values differ in length; give rows of one length.") from error
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "biu":
        raise TypeError(
            f"FhewEngine encrypts booleans and whole numbers, not {array.dtype}; convert them first, for example with "
            "numpy.asarray(values, dtype=int)."
        )
    return array
