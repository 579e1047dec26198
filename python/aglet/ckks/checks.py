"""Checks of arguments that are objects of the engine: keys, ciphertexts, rotation steps."""

from __future__ import annotations

import numbers
from typing import Any, TypeVar

from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, SecretKey
from aglet.errors import MissingKeyError

__all__ = [
    "ciphertext",
    "conjugation_key",
    "need",
    "not_of_a_bootstrap",
    "one_of",
    "relinearization_key",
    "secret_key",
    "step",
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


def one_of(name: str, value: _T | None, other_name: str, other: _T | None) -> _T | None:
    """The one of two arguments that was given.

    Raises
    ------
    TypeError
        If both were.
    """
    if value is not None and other is not None:
        raise TypeError(f"{name} and {other_name} stand for one argument; give one of them.")
    return other if value is None else value


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


def step(delta: Any) -> int:
    """A rotation step as an `int`.

    Raises
    ------
    TypeError
        If it is not a whole number.
    """
    if isinstance(delta, bool) or not isinstance(delta, numbers.Integral):
        raise TypeError(f"A rotation step is a whole number, not {type(delta).__name__}.")
    return int(delta)
