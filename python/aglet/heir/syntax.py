"""The parts of a parsed program: types, expressions, statements, functions. Nothing here runs."""

from __future__ import annotations

from dataclasses import dataclass

from aglet.heir.scalars import Scalar

__all__ = [
    "Assert",
    "Assign",
    "Binary",
    "Block",
    "Braces",
    "Branch",
    "Call",
    "Cast",
    "Conditional",
    "Declare",
    "Evaluate",
    "Expression",
    "Field",
    "Function",
    "Index",
    "Literal",
    "Loop",
    "Name",
    "Null",
    "Parameter",
    "RealPart",
    "Return",
    "Statement",
    "Struct",
    "Type",
    "Unary",
]


@dataclass(frozen=True, slots=True)
class Type:
    """A type. Vectors have the name "std::vector" and the type of their elements."""

    name: str
    element: Type | None = None
    is_const: bool = False
    is_reference: bool = False

    def __str__(self) -> str:
        inner = "" if self.element is None else f"<{self.element}>"
        return f"{'const ' * self.is_const}{self.name}{inner}{'&' * self.is_reference}"


# Expressions


@dataclass(frozen=True, slots=True)
class Literal:
    """A number."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, or a constant of OpenFHE."""

    text: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `!x`, or `&x`."""

    sign: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """`x + y` and the like."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? yes : no`."""

    test: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Index:
    """`base[index]`."""

    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Field:
    """`base.name`, a field of a struct."""

    base: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """`name(...)`, `base.name(...)` or `base->name(...)`."""

    name: str
    base: Expression | None
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """`static_cast<type>(operand)`."""

    type: Type
    operand: Expression


@dataclass(frozen=True, slots=True)
class Braces:
    """`{x, y}`, or `type{x, y}`."""

    items: tuple[Expression, ...]
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """`nullptr`."""


@dataclass(frozen=True, slots=True)
class RealPart:
    """The function of one complex number that the emitter writes: its real part."""


Expression = Literal | Name | Unary | Binary | Conditional | Index | Field | Call | Cast | Braces | Null | RealPart

# Statements


@dataclass(frozen=True, slots=True)
class Declare:
    """`type name = value;`, `type name(arguments);` or `type name;`."""

    line: int
    type: Type
    name: str
    value: Expression | None
    arguments: tuple[Expression, ...] | None


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value;` or `target += value;`."""

    line: int
    target: Expression
    sign: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A call for what it does."""

    line: int
    call: Call


@dataclass(frozen=True, slots=True)
class Assert:
    """`assert(test && "sentence");`."""

    line: int
    test: Expression


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (type name = start; name < end; name += step)`."""

    line: int
    type: Type
    name: str
    start: Expression
    end: Expression
    step: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class Branch:
    """`if (test) {...} else {...}`."""

    line: int
    test: Expression
    yes: Block
    no: Block


@dataclass(frozen=True, slots=True)
class Return:
    """`return value;`."""

    line: int
    value: Expression | None


Statement = Declare | Assign | Evaluate | Assert | Loop | Branch | Return
Block = tuple[Statement, ...]

# Declarations


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function. One that is only declared has no body."""

    line: int
    result: Type
    name: str
    parameters: tuple[Parameter, ...]
    body: Block | None

    def __str__(self) -> str:
        return f"{self.result} {self.name}({', '.join(f'{one.type} {one.name}' for one in self.parameters)})"


@dataclass(frozen=True, slots=True)
class Struct:
    """The results of a function that has several."""

    name: str
    fields: tuple[Parameter, ...]
