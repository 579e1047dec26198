"""Checks of arguments, for every family: whole numbers, words, flags, lists. Each refusal is a sentence."""

from __future__ import annotations

import numbers
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from aglet.errors import MissingKeyError, ParameterError, RangeError

__all__ = [
    "callback",
    "count",
    "each",
    "flag",
    "literal",
    "need",
    "one_of",
    "optional_count",
    "step",
    "whole",
    "word",
]

_T = TypeVar("_T")


def need(value: Any, kind: type[_T], maker: str) -> _T:
    """`value` if it is of `kind`; else an error that names the call which makes one: "engine.create_keys()".

    Raises
    ------
    MissingKeyError
        If the value is None.
    TypeError
        If it is of another type.
    """
    if isinstance(value, kind):
        return value
    article = "An" if kind.__name__[0] in "AEIOU" else "A"
    if value is None:
        raise MissingKeyError(f"{article} {kind.__name__} is needed here; make one with {maker}.")
    raise TypeError(f"{article} {kind.__name__} is needed here, not {type(value).__name__}; make one with {maker}.")


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


def literal(parameters: str | os.PathLike[str] | None) -> str | None:
    """The text of a parameter set of the user's own, from the file that holds it or as it is.

    Raises
    ------
    ParameterError
        If the file cannot be read as text.
    """
    if parameters is None or (isinstance(parameters, str) and "\n" in parameters):
        return parameters
    if not isinstance(parameters, str | os.PathLike):
        raise TypeError(f"parameters is a path or the text of a TOML file, not {type(parameters).__name__}.")
    try:
        return pathlib.Path(parameters).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ParameterError(f"The parameters cannot be read: {error}. Give the path of a TOML file.") from error


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
