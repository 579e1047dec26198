"""Runs a function of a program, statement by statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from aglet.errors import ParameterError, RangeError, SerializationError
from aglet.heir import loops, syntax
from aglet.heir.context import Context
from aglet.heir.evaluate import Evaluator, typed
from aglet.heir.hoisting import fast_rotations
from aglet.heir.parser import Module
from aglet.heir.scalars import CODES, INTEGERS, Scalar, binary, convert, truth
from aglet.heir.settings import Settings
from aglet.heir.syntax import Declare, Function, Type
from aglet.heir.values import Budget, Digits, Iterator, Place, Record, Variable, Vector

__all__ = ["Machine"]

_MOST_CALLS = 4
"""Calls inside one another. The emitter writes two."""
_FUNCTION_OF_CONTEXTS = "GenCryptoContext"


class _Returned(Exception):  # noqa: N818 - it is no error
    def __init__(self, value: Any) -> None:
        self.value = value


class Machine:
    """Runs functions of a parsed program.

    Parameters
    ----------
    module
        The program.
    engine, bound
        What `GenCryptoContext` uses; see `Context`.
    """

    def __init__(self, module: Module, engine: Any, bound: float) -> None:
        self._module = module
        self._engine, self._bound = engine, bound
        self._budget = Budget()
        self._depth = 0
        self._at: Evaluator
        self._steps: dict[str, set[int]] = {}
        self.line = 0
        """The line of the statement that ran last: where an error is from."""

    def run(self, function: Function, values: list[Any]) -> Any:
        """Call a function with values as variables hold them."""
        if function.body is None:
            raise ParameterError(f"The function {function.name!a} is declared only; compile without debug helpers.")
        if self._depth == _MOST_CALLS:
            raise ParameterError(f"More than {_MOST_CALLS} functions call one another; compile without recursion.")
        if len(values) != len(function.parameters):
            raise ParameterError(
                f"{function.name!a} takes {len(function.parameters)} arguments, not {len(values)}: {function}."
            )
        outer, line, steps = getattr(self, "_at", None), self.line, self._steps
        self._at, self._depth = Evaluator(self._budget, self._invoke), self._depth + 1
        self._steps = fast_rotations(function.body)
        try:
            for parameter, value in zip(function.parameters, values, strict=True):
                self._bind(parameter, value)
            self._block(function.body)
            found = None
        except _Returned as returned:
            found = self._result(function, returned.value)
        finally:
            self._depth -= 1
            if outer is not None:
                self._at = outer
        if found is None and function.result.name != "void":
            raise ParameterError(f"The function {function.name!a} ends without a result; compile the program again.")
        self.line, self._steps = line, steps
        return found

    def _bind(self, parameter: syntax.Parameter, value: Any) -> None:
        of = parameter.type
        held = self._at.fitting(of, value)
        if of.is_reference and isinstance(value, Vector):
            held = value
        self._at.scopes.declare(of, parameter.name, Variable(of, held))

    def _result(self, function: Function, value: Any) -> Any:
        struct = self._module.structs.get(function.result.name)
        if struct is None:
            return None if value is None else self._at.fitting(function.result, value)
        if not isinstance(value, list) or len(value) != len(struct.fields):
            raise ParameterError(f"{function.name!a} returns {len(struct.fields)} values; compile the program again.")
        pairs = zip(struct.fields, value, strict=True)
        return Record({field.name: self._at.fitting(field.type, one) for field, one in pairs})

    def _invoke(self, name: str, values: list[Any]) -> Any:
        if name == _FUNCTION_OF_CONTEXTS:
            if len(values) != 1 or not isinstance(values[0], Settings):
                raise ParameterError("GenCryptoContext takes the parameters; compile the program again.")
            return Context(values[0], self._engine, self._bound)
        if name not in self._module.functions:
            raise ParameterError(f"The program has no function {name[:60]!a}; compile it with all of its parts.")
        return self.run(self._module.functions[name], values)

    # Statements

    def _block(self, block: syntax.Block) -> None:
        self._at.scopes.blocks.append({})
        try:
            for statement in block:
                self._budget.step()
                self.line = statement.line
                _RUN[type(statement)](self, statement)
        finally:
            self._at.scopes.blocks.pop()

    def _declare(self, statement: Declare) -> None:
        of = statement.type
        if of.is_reference:
            return self._refer(statement)
        if statement.arguments is not None:
            value = self._made(of, statement.arguments)
        elif statement.value is not None:
            value = self._at.fitting(of, self._at.value(statement.value))
        else:
            value = self._empty(of)
        if of.name == "auto":
            of = replace(typed(value), is_const=of.is_const)
        self._at.scopes.declare(of, statement.name, self._hoisted(statement.name, Variable(of, value)))
        return None

    def _refer(self, statement: Declare) -> None:
        """A reference: to a place if the value has one."""
        if statement.value is None:
            raise SerializationError("A reference needs a value; compile the program again.")
        found = self._at.place(statement.value)
        place: Place
        if found is None:
            value = self._at.fitting(Type("auto"), self._at.value(statement.value))
            place = self._hoisted(statement.name, Variable(statement.type, value))
        elif found[0].is_const and not statement.type.is_const:
            raise SerializationError("A constant cannot be referred to without const; compile the program again.")
        else:
            self._at.value(statement.value)
            place = found[1]
        self._at.scopes.declare(statement.type, statement.name, place)

    def _hoisted(self, name: str, variable: Variable) -> Variable:
        """Give digits the steps by which the function rotates with them, so that these share their work."""
        if isinstance(variable.value, Digits):
            variable.value.steps.update(self._steps.get(name, ()))
        return variable

    def _empty(self, of: Type) -> Any:
        if of.element is not None:
            return Vector(of.element, self._budget)
        return Settings() if of.name == "CCParamsT" else None

    def _made(self, of: Type, nodes: tuple[syntax.Expression, ...]) -> Vector:
        """A vector by one of its constructors: a length, a length and a value, another vector, or a range of one."""
        values = [self._at.value(node) for node in nodes]
        if of.element is None or not 1 <= len(values) <= 2:
            raise ParameterError("Only vectors are made of arguments, of one or two; compile the program again.")
        if isinstance(values[0], Scalar):
            count = int(values[0].value) if values[0].kind in INTEGERS else -1
            value = values[1] if len(values) == 2 else Scalar("int", 0) if of.element.name in CODES else None
            raw = None if value is None else Vector(of.element, self._budget).raw(self._at.fitting(of.element, value))
            return Vector.filled(of.element, self._budget, count, raw)
        if len(values) == 1:
            made: Vector = self._at.fitting(of, values[0])
            return made
        first, last = values
        if not isinstance(first, Iterator) or not isinstance(last, Iterator) or not isinstance(first.of, Vector):
            raise ParameterError("A vector is copied from begin() to end() of one vector; compile the program again.")
        source, made = first.of, Vector(of.element, self._budget)
        items = source.items[first.until(last)]
        made.extend([made.raw(Scalar(source.of.name, item) if source.is_numeric else item) for item in items])
        return made

    def _assign(self, statement: syntax.Assign) -> None:
        value = self._at.value(statement.value)
        of, place = self._at.changeable(statement.target)
        if statement.sign == "+=":
            before = place.get()
            if not isinstance(before, Scalar) or not isinstance(value, Scalar):
                raise ParameterError("Only numbers are added with +=; compile the program again.")
            value = binary("+", before, value)
        found, before = self._at.fitting(of, value), place.get()
        if isinstance(before, Vector) and isinstance(found, Vector):
            before.items = found.items  # others may refer to it
        else:
            place.set(found)

    def _loop(self, loop: syntax.Loop) -> None:
        start, end, step = (self._at.scalar(node) for node in (loop.start, loop.end, loop.step))
        if any(number.kind not in INTEGERS for number in (start, end, step)) or step.value < 1:
            raise RangeError("A loop counts whole numbers up, by 1 or more; compile the program again.")
        of = Type(start.kind if loop.type.name == "auto" else loop.type.name)
        if loops.run(self._at, loop, of.name, (int(start.value), int(end.value), int(step.value))):
            return
        counter = Variable(of, convert(of.name, start))
        while binary("<", counter.value, end).value:
            self._budget.step()
            self._at.scopes.blocks.append({loop.name: (Type(of.name, None, True), counter)})
            try:
                self._block(loop.body)
            finally:
                self._at.scopes.blocks.pop()
            counter = Variable(of, convert(of.name, binary("+", counter.value, self._at.scalar(loop.step))))
            end = self._at.scalar(loop.end)

    def _branch(self, branch: syntax.Branch) -> None:
        self._block(branch.yes if truth(self._at.scalar(branch.test)) else branch.no)

    def _assert(self, statement: syntax.Assert) -> None:
        if not truth(self._at.scalar(statement.test)):
            raise ParameterError("The program asserts what does not hold; check its arguments.")

    def _return(self, statement: syntax.Return) -> None:
        raise _Returned(None if statement.value is None else self._at.value(statement.value))

    def _evaluate(self, statement: syntax.Evaluate) -> None:
        self._at.value(statement.call)


_RUN: dict[type, Callable[[Machine, Any], None]] = {
    syntax.Declare: Machine._declare,
    syntax.Assign: Machine._assign,
    syntax.Loop: Machine._loop,
    syntax.Branch: Machine._branch,
    syntax.Assert: Machine._assert,
    syntax.Return: Machine._return,
    syntax.Evaluate: Machine._evaluate,
}
