"""Evaluates expressions of a running program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglet._core import PublicKey, SecretKey
from aglet.errors import ParameterError, RangeError, SerializationError
from aglet.heir import calls, syntax
from aglet.heir.context import Context, KeyPair
from aglet.heir.scalars import CODES, Scalar, binary, convert, truth
from aglet.heir.settings import Settings
from aglet.heir.standard import CHANGES, FUNCTIONS, METHODS
from aglet.heir.syntax import Expression, Type
from aglet.heir.values import (
    Budget,
    Complex,
    Constant,
    Digits,
    Element,
    Encrypted,
    Iterator,
    Packed,
    Place,
    Plain,
    Record,
    Vector,
    alike,
)

__all__ = ["Evaluator", "Scopes", "typed"]

_CONSTANTS = frozenset(
    ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "FHE", "HYBRID", "BV", "EXTENDED", "STANDARD", "FIXEDMANUAL")
) | {"lbcrypto::HEStd_NotSet", "HEStd_NotSet"}  # fmt: skip
_SHARED = (Context, Encrypted, Plain, Digits, KeyPair, Packed, Record, Scalar, Complex, Settings)
"""Values that assignment shares or that never change. Vectors are copied."""


class Scopes:
    """The variables of a function, block by block."""

    def __init__(self) -> None:
        self.blocks: list[dict[str, tuple[Type, Place]]] = [{}]

    def declare(self, of: Type, name: str, place: Place) -> None:
        """Add a variable to the innermost block."""
        if name in self.blocks[-1]:
            raise SerializationError(f"The name {name[:60]!a} is declared twice; compile the program again.")
        self.blocks[-1][name] = of, place

    def find(self, name: str) -> tuple[Type, Place] | None:
        """The type and the place of a variable, from the innermost block that has it."""
        for block in reversed(self.blocks):
            if name in block:
                return block[name]
        return None


class Evaluator:
    """Evaluates expressions in the scopes of one call. `invoke` calls a function of the program."""

    def __init__(self, budget: Budget, invoke: Callable[[str, list[Any]], Any]) -> None:
        self.scopes = Scopes()
        self.budget = budget
        self._invoke = invoke

    def value(self, node: Expression) -> Any:
        """The value of an expression.

        Raises
        ------
        AgletError
            If it has none, or Aglet does not compute it.
        """
        return _VALUES[type(node)](self, node)

    def scalar(self, node: Expression) -> Scalar:
        """The value of an expression that must be a number."""
        found = self.value(node)
        if not isinstance(found, Scalar):
            raise ParameterError("A number is needed here; check the types of the program.")
        return found

    def index(self, node: Expression) -> int:
        """The value of an expression that must be a whole number."""
        return calls.integer(self.scalar(node), "An index")

    def vector(self, node: Expression) -> Vector:
        """The value of an expression that must be a vector."""
        found = self.value(node)
        if not isinstance(found, Vector):
            raise ParameterError("A vector is needed here; check the types of the program.")
        return found

    def place(self, node: Expression) -> tuple[Type, Place] | None:
        """The type and the place of an expression that names one; None for all others."""
        if isinstance(node, syntax.Name):
            return self.scopes.find(node.text)
        if isinstance(node, syntax.Index):
            base = self.value(node.base)
            if isinstance(base, Vector):
                held = self.place(node.base)
                is_const = held is not None and held[0].is_const
                element = Element(base, self.index(node.index))
                return Type(base.of.name, base.of.element, is_const), element
        return None

    def changeable(self, node: Expression) -> tuple[Type, Place]:
        """The type and the place of an expression that may be changed."""
        found = self.place(node)
        if found is None:
            raise SerializationError("Only variables and elements can be changed; compile the program again.")
        if found[0].is_const:
            raise SerializationError("A constant cannot be changed; compile the program again.")
        return found

    # By kinds of expressions

    def _name(self, node: syntax.Name) -> Any:
        found = self.scopes.find(node.text)
        if found is None:
            if node.text in _CONSTANTS:
                return Constant(node.text)
            raise SerializationError(f"The name {node.text[:60]!a} is not declared; compile the program again.")
        value = found[1].get()
        if value is None:
            raise ParameterError(f"{node.text[:60]!a} has no value yet; assign it first.")
        return value

    def _unary(self, node: syntax.Unary) -> Any:
        if node.sign == "&":
            return self.changeable(node.operand)[1]
        number = self.scalar(node.operand)
        if node.sign == "!":
            return Scalar("bool", int(not truth(number)))
        return binary("-", Scalar("int", 0), number) if number.value else number

    def _binary(self, node: syntax.Binary) -> Any:
        if node.sign in ("&&", "||"):
            left = truth(self.scalar(node.left))
            decided = left if node.sign == "||" else not left
            return Scalar("bool", int(left if decided else truth(self.scalar(node.right))))
        left_value = self.value(node.left)
        if isinstance(left_value, Iterator) and node.sign == "+":
            return Iterator(left_value.of, left_value.position + self.index(node.right))
        if not isinstance(left_value, Scalar):
            raise ParameterError(f"The sign {node.sign} is for numbers here; check the types of the program.")
        return binary(node.sign, left_value, self.scalar(node.right))

    def _conditional(self, node: syntax.Conditional) -> Any:
        return self.value(node.yes if truth(self.scalar(node.test)) else node.no)

    def _index(self, node: syntax.Index) -> Any:
        base = self.value(node.base)
        if isinstance(base, Packed):
            at = self.index(node.index)
            if not 0 <= at < base.values.size:
                raise RangeError(f"Index {at} is outside a plaintext of {base.values.size} values; check the program.")
            return Complex(float(base.values[at]))
        if not isinstance(base, Vector):
            raise ParameterError("Only vectors have elements; check the types of the program.")
        found = base.get(self.index(node.index))
        if found is None:
            raise ParameterError("This element of the vector has no value yet; assign it first.")
        return found

    def _field(self, node: syntax.Field) -> Any:
        base = self.value(node.base)
        if not isinstance(base, Record) or node.name not in base.fields:
            raise ParameterError(f"There is no field {node.name[:60]!a} here; compile the program again.")
        return base.fields[node.name]

    def _cast(self, node: syntax.Cast) -> Any:
        if node.type.name not in CODES:
            raise ParameterError(f"static_cast to {node.type} is not for numbers; compile the program again.")
        return convert(node.type.name, self.scalar(node.operand))

    def _braces(self, node: syntax.Braces) -> Any:
        items = [self.value(item) for item in node.items]
        if node.type is None:
            return items
        return self.filled(node.type, items)

    def _call(self, node: syntax.Call) -> Any:
        if node.base is None:
            return self._free(node.name, node.arguments)
        base = self.value(node.base)
        if isinstance(base, Context):
            self._check_in_place(node)
            return calls.call(base, node.name, tuple(self.value(one) for one in node.arguments))
        if isinstance(base, Settings):
            return base.set(node.name, [self.value(one) for one in node.arguments])
        method = METHODS.get((type(base), node.name))
        if method is None:
            raise ParameterError(f"Aglet has no call {node.name[:60]!a} of this value; compile the program again.")
        if isinstance(base, Vector) and node.name in CHANGES:
            self.changeable(node.base)
        return method(base, [self.value(one) for one in node.arguments])

    def _check_in_place(self, node: syntax.Call) -> None:
        if node.name.endswith("InPlace") and node.arguments:
            self.changeable(node.arguments[0])

    def _free(self, name: str, nodes: tuple[Expression, ...]) -> Any:
        values = [self.value(node) for node in nodes]
        if name not in FUNCTIONS:
            return self._invoke(name, values)
        return FUNCTIONS[name](values)

    # Values of a type

    def filled(self, of: Type, items: list[Any]) -> Vector:
        """A vector of the items in braces."""
        if of.element is None:
            raise ParameterError(f"Braces make vectors, not {of}; compile the program again.")
        made = Vector(of.element, self.budget)
        made.extend([made.raw(self.fitting(of.element, item)) for item in items])
        return made

    def fitting(self, of: Type, value: Any) -> Any:
        """The value that a variable of a type holds when it is given `value`. Vectors are copied.

        Raises
        ------
        ParameterError
            If the value is of another type.
        """
        if of.name in CODES:
            if isinstance(value, Scalar):
                return convert(of.name, value)
        elif of.name == "std::vector":
            if isinstance(value, list):
                return self.filled(of, value)
            if isinstance(value, Vector) and of.element is not None and alike(value.of, of.element):
                return value.copy()
        elif of.name == "auto":
            if isinstance(value, Vector):
                return value.copy()
            if isinstance(value, _SHARED):
                return value
        elif isinstance(value, _KINDS.get(of.name, Record)):
            return value
        raise ParameterError(f"A value of another type than {of} is given here; check the types of the program.")


def typed(value: Any) -> Type:
    """The type of a value, as `auto` finds it; `auto` itself for values that are never assigned again."""
    if isinstance(value, Scalar):
        return Type(value.kind)
    if isinstance(value, Vector):
        return Type("std::vector", value.of)
    return Type(next((name for name, kind in _KINDS.items() if isinstance(value, kind)), "auto"))


_KINDS: dict[str, Any] = {
    "CiphertextT": Encrypted,
    "Plaintext": Plain,
    "CryptoContextT": Context,
    "CCParamsT": Settings,
    "PublicKeyT": PublicKey,
    "PrivateKeyT": SecretKey,
}
_VALUES: dict[type, Callable[[Evaluator, Any], Any]] = {
    syntax.Literal: lambda evaluator, node: node.value,
    syntax.Name: Evaluator._name,
    syntax.Unary: Evaluator._unary,
    syntax.Binary: Evaluator._binary,
    syntax.Conditional: Evaluator._conditional,
    syntax.Index: Evaluator._index,
    syntax.Field: Evaluator._field,
    syntax.Call: Evaluator._call,
    syntax.Cast: Evaluator._cast,
    syntax.Braces: Evaluator._braces,
    syntax.Null: lambda evaluator, node: None,
    syntax.RealPart: lambda evaluator, node: node,
}
