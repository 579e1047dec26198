"""What an emitted program uses of the standard library: methods of its values, and functions of vectors and numbers."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from typing import Any

from aglet.errors import ParameterError, RangeError
from aglet.heir.calls import integer
from aglet.heir.scalars import Scalar, convert
from aglet.heir.syntax import RealPart
from aglet.heir.values import Complex, Encrypted, Iterator, Packed, Plain, Vector, alike

__all__ = ["CHANGES", "FUNCTIONS", "METHODS"]


def _set_length(plain: Plain, arguments: list[Any]) -> None:
    (given,) = _exactly(arguments, 1)
    length = integer(given, "The length")
    if not 0 < length <= plain.values.size:
        raise RangeError(f"The length {length} is not between 1 and the {plain.values.size} values; check the program.")
    plain.values = plain.values[:length]


def _insert(vector: Vector, arguments: list[Any]) -> None:
    """Elements of another vector, at the end of this one."""
    end, first, last = _exactly(arguments, 3)
    if not isinstance(end, Iterator) or end.of is not vector or end.position != len(vector):
        raise ParameterError("insert appends at the end() of its own vector; compile the program again.")
    vector.extend(_source(vector, first, last))


def _source(vector: Vector, first: Any, last: Any) -> Any:
    """The elements between two iterators, as `vector` holds them."""
    if not isinstance(first, Iterator) or not isinstance(last, Iterator) or not isinstance(first.of, Vector):
        raise ParameterError("A range has begin() and end() of one vector; compile the program again.")
    found = first.of.items[first.until(last)]
    if alike(first.of.of, vector.of):
        return found
    return [vector.raw(Scalar(first.of.of.name, item) if first.of.is_numeric else item) for item in found]


def _copy(values: list[Any]) -> None:
    first, last, to = _exactly(values, 3)
    if not isinstance(to, Iterator) or not isinstance(to.of, Vector):
        raise ParameterError("std::copy needs a vector to write to; compile the program again.")
    found = _source(to.of, first, last)
    into = to.until(Iterator(to.of, to.position + len(found)))
    to.of.items[into] = array(to.of.items.typecode, found) if to.of.is_numeric else found


def _transform(values: list[Any]) -> None:
    """The real parts of decrypted values, into a vector of numbers."""
    first, last, to, function = _exactly(values, 4)
    parts = isinstance(first, Iterator) and isinstance(last, Iterator) and isinstance(first.of, Packed)
    if not parts or not isinstance(to, Iterator) or not isinstance(to.of, Vector):
        raise ParameterError("std::transform takes real parts of a decrypted plaintext; compile the program again.")
    if not isinstance(function, RealPart):
        raise ParameterError("std::transform takes real parts only; compile the program again.")
    found = first.of.values[first.until(last)]
    to.until(Iterator(to.of, to.position + found.size))
    for offset, value in enumerate(found.tolist()):
        to.of.set(to.position + offset, Scalar("double", value))


def _exactly(values: list[Any], count: int) -> list[Any]:
    if len(values) != count:
        raise ParameterError(f"This call takes {count} arguments, not {len(values)}; compile the program again.")
    return values


def _bounds(values: list[Any], pick: Callable[..., Any]) -> Scalar:
    left, right = _exactly(values, 2)
    if not isinstance(left, Scalar) or not isinstance(right, Scalar) or left.kind != right.kind:
        raise ParameterError("std::max and std::min take two numbers of one type; convert them with static_cast.")
    return Scalar(left.kind, pick(left.value, right.value))


def _root(values: list[Any]) -> Scalar:
    (number,) = _exactly(values, 1)
    if not isinstance(number, Scalar) or number.value < 0:
        raise RangeError("std::sqrt takes a number of at least 0; check the program.")
    return convert("float" if number.kind == "float" else "double", Scalar("double", math.sqrt(number.value)))


def _edge(values: list[Any], at_end: bool) -> Iterator:
    (of,) = _exactly(values, 1)
    if isinstance(of, Packed):
        return Iterator(of, of.values.size if at_end else 0)
    if not isinstance(of, Vector):
        raise ParameterError("begin and end are of vectors; check the types of the program.")
    return Iterator(of, len(of) if at_end else 0)


def _push(vector: Vector, arguments: list[Any]) -> None:
    (value,) = _exactly(arguments, 1)
    vector.extend([vector.raw(value)])


def _clear(vector: Vector, arguments: list[Any]) -> None:
    _exactly(arguments, 0)
    del vector.items[:]


CHANGES = ("push_back", "clear", "reserve", "insert")
METHODS: dict[tuple[type, str], Callable[[Any, list[Any]], Any]] = {
    (Vector, "begin"): lambda of, arguments: _edge([of, *arguments], False),
    (Vector, "end"): lambda of, arguments: _edge([of, *arguments], True),
    (Vector, "size"): lambda of, arguments: Scalar("size_t", len(of)),
    (Vector, "push_back"): _push,
    (Vector, "clear"): _clear,
    (Vector, "reserve"): lambda of, arguments: None,
    (Vector, "insert"): _insert,
    (Packed, "size"): lambda of, arguments: Scalar("size_t", of.values.size),
    (Plain, "SetLength"): _set_length,
    (Plain, "GetCKKSPackedValue"): lambda of, arguments: Packed(of.values),
    (Complex, "real"): lambda of, arguments: Scalar("double", of.real),
    (Encrypted, "Clone"): lambda of, arguments: Encrypted(of.value),
}
FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "std::copy": _copy,
    "std::transform": _transform,
    "std::max": lambda values: _bounds(values, max),
    "std::min": lambda values: _bounds(values, min),
    "std::sqrt": _root,
    "std::begin": lambda values: _edge(values, False),
    "std::end": lambda values: _edge(values, True),
}
