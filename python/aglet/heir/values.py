"""What variables of a running program hold, and where they hold it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aglet._core import Ciphertext
from aglet.errors import MemoryLimitError, ParameterError, RangeError
from aglet.heir.scalars import CODES, Scalar, convert
from aglet.heir.syntax import Type

__all__ = [
    "Budget",
    "Complex",
    "Constant",
    "Digits",
    "Element",
    "Encrypted",
    "Iterator",
    "Packed",
    "Place",
    "Plain",
    "Record",
    "Variable",
    "Vector",
    "alike",
]


@dataclass(eq=False)
class Encrypted:
    """A ciphertext of the program. Names share it, as pointers do, and calls in place change it for all of them."""

    value: Ciphertext


@dataclass(eq=False)
class Plain:
    """A plaintext of the program: its values, encoded at the level of each ciphertext that it meets."""

    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Digits:
    """What rotations of one ciphertext share, and the ciphertext that it belongs to."""

    of: Ciphertext
    steps: set[int] = field(default_factory=set)
    """Steps that are known before they are asked for."""
    rotated: dict[int, Ciphertext] = field(default_factory=dict)


@dataclass(frozen=True)
class Constant:
    """A constant of OpenFHE, such as a feature or a security level."""

    name: str


@dataclass(frozen=True)
class Complex:
    """A complex number whose imaginary part nobody reads."""

    real: float


@dataclass(frozen=True, eq=False)
class Packed:
    """The values of a decrypted plaintext."""

    values: NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """The results of a function that has several."""

    fields: dict[str, Any]


class Budget:
    """Bounds the work and the memory of one call: untrusted programs have no other end."""

    STEPS = 2**24
    ELEMENTS = 2**27

    def __init__(self) -> None:
        self._steps = self._elements = 0

    def step(self, count: int = 1) -> None:
        """Count statements.

        Raises
        ------
        MemoryLimitError
            If there were too many.
        """
        self._steps += count
        if self._steps > self.STEPS:
            raise MemoryLimitError(
                f"The program ran more than {self.STEPS} statements; compile it with fewer or shorter loops."
            )

    def elements(self, count: int) -> None:
        """Count numbers that vectors take.

        Raises
        ------
        MemoryLimitError
            If there were too many.
        """
        self._elements += count
        if self._elements > self.ELEMENTS:
            raise MemoryLimitError(
                f"The vectors of the program took more than {self.ELEMENTS} numbers; give its weights as arguments."
            )


class Vector:
    """A vector: numbers of one type in an array, or other values in a list. Pointers that are not set are None."""

    def __init__(self, of: Type, budget: Budget, items: Iterable[Any] = ()) -> None:
        self.of = of
        self.budget = budget
        code = CODES.get(of.name)
        self.items: Any = [] if code is None else array(code)
        self.extend(items)

    @classmethod
    def filled(cls, of: Type, budget: Budget, count: int, value: Any) -> Vector:
        """A vector of `count` times one value, given as a vector holds it."""
        if not 0 <= count <= budget.ELEMENTS:
            raise RangeError(f"A vector of {count} elements is too long; {budget.ELEMENTS} are the most.")
        budget.elements(count)
        made = cls(of, budget)
        made.items = made.items + type(made.items)(*((made.items.typecode,) if made.is_numeric else ()), [value])
        made.items *= count
        return made

    @property
    def is_numeric(self) -> bool:
        """Whether the elements are numbers."""
        return isinstance(self.items, array)

    def __len__(self) -> int:
        return len(self.items)

    def copy(self) -> Vector:
        """Another vector of the same elements."""
        return Vector(self.of, self.budget, self.items)

    def extend(self, items: Iterable[Any]) -> None:
        """Append elements as a vector of this type holds them."""
        before = len(self.items)
        self.items.extend(items)
        self.budget.elements(len(self.items) - before)

    def raw(self, value: Any) -> Any:
        """The element that a value becomes."""
        if isinstance(value, Scalar) != self.is_numeric:
            raise ParameterError(f"A vector of {self.of} cannot hold this value; give one of its type.")
        return convert(self.of.name, value).value if self.is_numeric else value

    def get(self, index: int) -> Any:
        """An element.

        Raises
        ------
        RangeError
            If there is none with this index.
        """
        item = self.items[self._inside(index)]
        return Scalar(self.of.name, item) if self.is_numeric else item

    def set(self, index: int, value: Any) -> None:
        """Change an element. Errors as in `get`."""
        self.items[self._inside(index)] = self.raw(value)

    def _inside(self, index: int) -> int:
        if not 0 <= index < len(self.items):
            raise RangeError(f"Index {index} is outside a vector of {len(self.items)} elements; check the program.")
        return index

    def numbers(self) -> NDArray[np.float64]:
        """A copy of the numbers as doubles."""
        if not self.is_numeric:
            raise ParameterError(f"A vector of {self.of} has no numbers; give a vector of numbers.")
        return np.array(self.items, dtype=np.float64)


def alike(first: Type, second: Type) -> bool:
    """Whether two types are the same, but for const and &."""
    if first.name != second.name:
        return False
    return first.element is second.element or (
        first.element is not None and second.element is not None and alike(first.element, second.element)
    )


@dataclass(frozen=True)
class Iterator:
    """A place in a vector, or in the values of a plaintext."""

    of: Vector | Packed
    position: int

    def until(self, end: Iterator) -> slice:
        """The elements from here to `end`.

        Raises
        ------
        RangeError
            If this is no range of one vector.
        """
        length = len(self.of) if isinstance(self.of, Vector) else self.of.values.size
        if end.of is not self.of or not 0 <= self.position <= end.position <= length:
            raise RangeError(f"This range is not inside its vector of {length} elements; check the program.")
        return slice(self.position, end.position)


class Place(Protocol):
    """Where a value is held."""

    def get(self) -> Any:
        """The value."""

    def set(self, value: Any) -> None:
        """Change the value."""


@dataclass
class Variable:
    """A variable with its type. It has no value until it is assigned."""

    of: Type
    value: Any

    def get(self) -> Any:
        """The value."""
        return self.value

    def set(self, value: Any) -> None:
        """Change the value to one of the same type."""
        self.value = convert(self.of.name, value) if self.of.name in CODES else value


@dataclass(frozen=True)
class Element:
    """An element of a vector, by reference."""

    vector: Vector
    index: int

    def get(self) -> Any:
        """The value."""
        return self.vector.get(self.index)

    def set(self, value: Any) -> None:
        """Change the value."""
        self.vector.set(self.index, value)
