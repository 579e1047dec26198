"""Checks of arguments: keys and ciphertexts, whole numbers, words, flags, lists. Each refusal is a sentence."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, SecretKey
from aglet.errors import MissingKeyError, ParameterError, RangeError

__all__ = [
    "callback",
    "ciphertext",
    "conjugation_key",
    "count",
    "each",
    "flag",
    "need",
    "not_of_a_bootstrap",
    "one_of",
    "optional_count",
    "relinearization_key",
    "secret_key",
    "step",
    "whole",
    "word",
]

_T = TypeVar("_T")


def need(value: Any, kind: type[_T], maker: str) -> _T:
    """`value` if it is of `kind`; else an error that names the method which makes one.

    Raises
    ------
    MissingKeyError
        If the value is None.
    TypeError
        If it is of another type.
    """
    if isinstance(value, kind):
        return value
    if value is None:
        raise MissingKeyError(f"A {kind.__name__} is needed here; make one with engine.{maker}.")
    raise TypeError(f"A {kind.__name__} is needed here, not {type(value).__name__}; make one with engine.{maker}.")


def one_of(**named: Any) -> Any:
    """The one of several arguments that was given; None if none was.

    Raises
    ------
    TypeError
        If more than one was.
    """
    given = [value for value in named.values() if value is not None]
    if len(given) > 1:
        raise TypeError(f"{' and '.join(named)} stand for one argument; give one of them.")
    return given[0] if given else None


def not_of_a_bootstrap(value: Any) -> None:
    """Refuse a bootstrap key where any rotation is wanted.

    Raises
    ------
    TypeError
        If the value is a bootstrap key.
    """
    if isinstance(value, BootstrapKey):
        raise TypeError(
            "A bootstrap key rotates by the steps of its bootstrap and at its levels only; make a key for all steps "
            "with engine.create_rotation_key(secret_key)."
        )


def secret_key(value: Any) -> SecretKey:
    """`value` if it is a secret key."""
    return need(value, SecretKey, "create_secret_key()")


def relinearization_key(value: Any) -> RelinearizationKey:
    """`value` if it is a relinearization key."""
    return need(value, RelinearizationKey, "create_relinearization_key(secret_key)")


def conjugation_key(value: Any) -> ConjugationKey:
    """`value` if it is a conjugation key."""
    return need(value, ConjugationKey, "create_conjugation_key(secret_key)")


def ciphertext(value: Any) -> Ciphertext:
    """`value` if it is a ciphertext."""
    return need(value, Ciphertext, "encrypt(message, key)")


def whole(name: str, value: Any) -> int:
    """A whole number of Python or numpy, as an `int`.

    Raises
    ------
    TypeError
        If it is a boolean, text, or no whole number.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}.")
    return int(value)


def count(name: str, value: Any, least: int = 0) -> int:
    """As `whole`, of at least `least`.

    Raises
    ------
    ParameterError
        If it is below `least`, or of more than 62 bits.
    """
    found = whole(name, value)
    if not least <= found < 2**62:
        raise ParameterError(f"{name}={value} is out of range; give {least} or more, in reason.")
    return found


def optional_count(name: str, value: Any, least: int = 0) -> int | None:
    """As `count`, where None stands for what the method chooses."""
    return None if value is None else count(name, value, least)


def step(delta: Any) -> int:
    """A rotation step as an `int`.

    Raises
    ------
    TypeError
        If it is not a whole number.
    RangeError
        If it has more than 62 bits.
    """
    found = whole("A rotation step", delta)
    if abs(found) >= 2**62:
        raise RangeError(f"The rotation step {delta} has more than 62 bits; take it modulo the number of slots.")
    return found


def word(name: str, value: Any) -> str:
    """A word, such as the size of a key.

    Raises
    ------
    TypeError
        If it is no text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is a word, not {type(value).__name__}.")
    return value


def flag(name: str, value: Any) -> bool:
    """A boolean of Python or numpy.

    Raises
    ------
    TypeError
        If it is anything else, 0 and 1 too.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is True or False, not {type(value).__name__}.")
    return bool(value)


def each(name: str, values: Iterable[_T]) -> list[_T]:
    """A list of what is iterable.

    Raises
    ------
    TypeError
        If it is text, or not iterable.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is a list or another iterable, not {type(values).__name__}.")
    return list(values)


def callback(progress: Callable[[int, int, str], object] | None) -> Callable[[int, int, str], object]:
    """What is called with the progress; nothing happens where none was given.

    Raises
    ------
    TypeError
        If it cannot be called.
    """
    if progress is not None and not callable(progress):
        raise TypeError(
            f"progress is called as progress(done, total, what), and {type(progress).__name__} cannot be called."
        )
    return progress or (lambda *_: None)
