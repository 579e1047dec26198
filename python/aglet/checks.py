"""Checks of arguments, for every family: whole numbers, strings, flags, lists. Errors are whole sentences."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from aglet import regular
from aglet.errors import MemoryLimitError, MissingKeyError, ParameterError, RangeError

__all__ = [
    "callback",
    "choice",
    "common_shape",
    "conversion",
    "count",
    "each",
    "flag",
    "in_memory",
    "known",
    "literal",
    "need",
    "one_of",
    "operand",
    "optional_count",
    "path",
    "real",
    "rearranged",
    "step",
    "string",
    "whole",
]

_T = TypeVar("_T")
_MOST_LITERAL = 2**20
"""Bytes of a parameter set."""


@contextmanager
def in_memory(sentence: str) -> Iterator[None]:
    """Turn a MemoryError of Python or numpy into a `MemoryLimitError` with this sentence."""
    try:
        yield
    except MemoryError:
        raise MemoryLimitError(sentence) from None


def need(value: Any, kind: type[_T], maker: str) -> _T:
    """Return `value` if it is of `kind`. Else raise an error that names the call `maker`, as "engine.create_keys()".

    Raises
    ------
    MissingKeyError
        If the value is None.
    TypeError
        If the value is of another type.
    """
    if isinstance(value, kind):
        return value
    article = "An" if kind.__name__[0] in "AEIOU" else "A"
    if value is None:
        raise MissingKeyError(f"{article} {kind.__name__} is needed here; make one with {maker}.")
    raise TypeError(f"{article} {kind.__name__} is needed here, not {type(value).__name__}; make one with {maker}.")


def operand(kind: type[_T], maker: str) -> Callable[[Any], _T]:
    """The function that returns an argument of `kind`, and raises the errors of `need` for others."""
    return lambda value: need(value, kind, maker)


def one_of(**named: Any) -> Any:
    """Return the argument that was given, of several names for one argument; None if none was given.

    Raises
    ------
    TypeError
        If more than one was given.
    """
    given = [value for value in named.values() if value is not None]
    if len(given) > 1:
        raise TypeError(f"{' and '.join(named)} are names of the same argument; give one of them.")
    return given[0] if given else None


def known(options: Mapping[str, Any], kind: Any) -> None:
    """Check that options by name are of those that `kind` has, a TypedDict without required keys.

    Raises
    ------
    TypeError
        If there is another one.
    """
    for name in options:
        if name not in kind.__optional_keys__:
            names = ", ".join(sorted(kind.__optional_keys__))
            raise TypeError(f"There is no argument {name} here; those by name are {names}.")


def whole(name: str, value: Any) -> int:
    """Convert a whole number of Python or numpy to `int`.

    Raises
    ------
    TypeError
        If it is a boolean, text, or not a whole number.
    """
    # A span of time is a signed integer to numpy, in units that nobody sees.
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}.")
    return int(value)


def count(name: str, value: Any, least: int = 0) -> int:
    """Check a whole number as `whole` does, and that it is at least `least`.

    Raises
    ------
    ParameterError
        If it is below `least`, or has more than 62 bits.
    """
    found = whole(name, value)
    if not least <= found < 2**62:
        raise ParameterError(f"{name}={value} is out of range; give {least} or more, below 2^62.")
    return found


def optional_count(name: str, value: Any, least: int = 0) -> int | None:
    """Check a number as `count` does. None stays None."""
    return None if value is None else count(name, value, least)


def step(delta: Any) -> int:
    """Convert a rotation step to `int`.

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
    """Convert a real number of Python or numpy to `float`. It may be infinite or NaN.

    Raises
    ------
    TypeError
        If it is a boolean, text, complex, or not a number.
    """
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is a real number, not {type(value).__name__}.")
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def string(name: str, value: Any) -> str:
    """Check a string, such as the size of a key.

    Raises
    ------
    TypeError
        If it is not text, or text that cannot be encoded.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is a string, not {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise TypeError(
            f"{name} is {value!a}, which contains half a character (a lone surrogate); write it again."
        ) from error
    return value


def choice(name: str, value: Any, known: Iterable[str]) -> str:
    """Check one of several names.

    Raises
    ------
    ParameterError
        If it is another one.
    """
    if string(name, value) not in known:
        raise ParameterError(f'There is no {name} "{value}"; choose one of {", ".join(known)}.')
    return str(value)


def path(name: str, value: Any) -> str:
    """Convert the path of a file or folder to text.

    Raises
    ------
    TypeError
        If it is not a path.
    ParameterError
        If it is empty.
    """
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"{name} must be a path, as text or pathlib.Path, not {type(value).__name__}.")
    found = string(name, os.fsdecode(value))
    if not found:
        raise ParameterError(f'{name} is empty; give a path, or "." for the folder of this process.')
    return found


def conversion(kind: str) -> str:
    """How to make numbers of elements of this kind of dtype of numpy, to end a sentence."""
    dates = {"M": "datetime64", "m": "timedelta64"}.get(kind)
    if dates:
        return f'take days, with numpy.asarray(x, dtype="{dates}[D]").astype(numpy.int32)'
    if kind in "USO":
        return (
            "take codes, with numpy.unique(x, return_inverse=True)[1], or numpy.frombuffer(text, numpy.uint8) for its "
            "bytes, and replace what is missing"
        )
    return "convert it first, for example with numpy.rint(x).astype(numpy.int16)"


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that numpy broadcasts these shapes to.

    Raises
    ------
    RangeError
        If they cannot be broadcast.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        named = " and ".join(map(str, shapes))
        raise RangeError(
            f"The shapes {named} cannot be broadcast together; give shapes that numpy broadcasts."
        ) from error


def shape(value: Any) -> tuple[int, ...]:
    """Check a shape: one length, or a list of lengths.

    Raises
    ------
    TypeError
        If a length is not a whole number.
    ParameterError
        If a length is below 0.
    """
    lengths = (value,) if isinstance(value, numbers.Integral) else each("A shape", value)
    return tuple(count("A length", one) for one in lengths)


class _NoSuchPlaceError(RangeError, IndexError):
    """An index out of range. Programs can catch it as an `IndexError` too."""


def rearranged(what: str, shape: tuple[int, ...], take: Callable[[], _T]) -> _T:
    """Let numpy rearrange the places of an array of this shape: by an index, a new shape, an order of axes.

    Raises
    ------
    RangeError
        If numpy refuses the values of the arguments. For an index it is an `IndexError` as well.
    TypeError
        If numpy refuses the types of the arguments.
    """
    try:
        return take()
    except TypeError as error:
        raise TypeError(f"This is not a valid {what} for an array of shape {shape}: {_sentence(error)}") from error
    except IndexError as error:
        raise _NoSuchPlaceError(f"This {what} does not fit an array of shape {shape}: {_sentence(error)}") from error
    except (ValueError, OverflowError) as error:
        if isinstance(error, RangeError):
            raise
        raise RangeError(f"This {what} does not fit an array of shape {shape}: {_sentence(error)}") from error


def _sentence(error: Exception) -> str:
    """The first line of numpy's message, with a full stop."""
    return str(error).split("\n")[0].rstrip(".") + "."


def flag(name: str, value: Any) -> bool:
    """Check a boolean of Python or numpy.

    Raises
    ------
    TypeError
        If it is anything else, also 0 or 1.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}.")
    return bool(value)


def literal(parameters: str | os.PathLike[str] | None) -> str | None:
    """The text of the user's own parameter set: given as it is, or read from a file.

    Raises
    ------
    ParameterError
        If the file cannot be read as text.
    """
    if parameters is None or (isinstance(parameters, str) and "\n" in parameters):
        return parameters
    if not isinstance(parameters, str | os.PathLike):
        raise TypeError(f"parameters must be the path or the text of a TOML file, not {type(parameters).__name__}.")
    try:
        return regular.contents(parameters, _MOST_LITERAL).decode("utf-8")
    except (OSError, ValueError) as error:
        raise ParameterError(f"The parameters cannot be read: {error}. Give the path of a TOML file.") from error


def each(name: str, values: Iterable[_T]) -> list[_T]:
    """Convert an iterable to a list.

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
    """Check a progress callback. None becomes a function that does nothing.

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
