"""Checks of arguments, for every family: whole numbers, words, flags, lists. Each refusal is a sentence."""

from __future__ import annotations

import math
import numbers
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from aglet.errors import MissingKeyError, ParameterError, RangeError

__all__ = [
    "callback",
    "common_shape",
    "count",
    "each",
    "flag",
    "literal",
    "need",
    "one_of",
    "optional_count",
    "path",
    "real",
    "rearranged",
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
    # A span of time is a signed integer to numpy, in units that nobody sees.
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, numbers.Integral):
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


def real(name: str, value: Any) -> float:
    """A real number of Python or numpy, as a `float`; it may be infinite or no number.

    Raises
    ------
    TypeError
        If it is a boolean, text, complex, or no number.
    """
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is a real number, not {type(value).__name__}.")
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def word(name: str, value: Any) -> str:
    """A word, such as the size of a key.

    Raises
    ------
    TypeError
        If it is no text, or text that no file could hold.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is a word, not {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise TypeError(f"{name} is a word, and {value!a} holds half a character; write it again.") from error
    return value


def path(name: str, value: Any) -> str:
    """A path of a file or folder, as text.

    Raises
    ------
    TypeError
        If it is none.
    """
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"{name} is a path, so text or a pathlib.Path, not {type(value).__name__}.")
    return word(name, os.fsdecode(value))


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes are broadcast to.

    Raises
    ------
    RangeError
        If there is none.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        named = " and ".join(map(str, shapes))
        raise RangeError(f"The shapes {named} do not go together; give shapes that numpy broadcasts.") from error


def shape(value: Any) -> tuple[int, ...]:
    """The lengths of axes, or that of one.

    Raises
    ------
    TypeError
        If they are no whole numbers.
    ParameterError
        If one is below 0.
    """
    lengths = (value,) if isinstance(value, numbers.Integral) else each("A shape", value)
    return tuple(count("A length", one) for one in lengths)


class _NoSuchPlaceError(RangeError, IndexError):
    """An index that leads out of an array, which programs catch as an `IndexError` too."""


def rearranged(what: str, shape: tuple[int, ...], take: Callable[[], _T]) -> _T:
    """What numpy makes of the places of an array of this shape: by an index, a new shape, an order of axes.

    Raises
    ------
    RangeError
        If numpy refuses the values of the arguments; for an index it is an `IndexError` as well.
    TypeError
        If it refuses their types.
    """
    try:
        return take()
    except TypeError as error:
        raise TypeError(f"This is no {what} of an array of shape {shape}: {_sentence(error)}") from error
    except IndexError as error:
        raise _NoSuchPlaceError(f"This {what} does not fit an array of shape {shape}: {_sentence(error)}") from error
    except (ValueError, OverflowError) as error:
        if isinstance(error, RangeError):
            raise
        raise RangeError(f"This {what} does not fit an array of shape {shape}: {_sentence(error)}") from error


def _sentence(error: Exception) -> str:
    """What numpy says, in a line that ends."""
    return str(error).split("\n")[0].rstrip(".") + "."


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
    is_scalar = isinstance(values, np.ndarray) and values.ndim == 0
    if isinstance(values, str | bytes) or is_scalar or not isinstance(values, Iterable):
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
