"""Runs the loops that the emitter writes around one assignment of numbers, all turns at once.

They repeat, copy, convert or combine vectors element by element, and take most of the turns of a program. All others,
and those that would raise an error, are left to the turn-by-turn loop, whose results are the same.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.errors import RangeError
from aglet.heir import syntax
from aglet.heir.evaluate import Evaluator
from aglet.heir.scalars import CODES, INTEGERS, Scalar
from aglet.heir.values import Vector

__all__ = ["run"]

_TURNS_A_STEP = 64
_FLOATS = ("float", "double")


def run(evaluator: Evaluator, loop: syntax.Loop, bounds: tuple[int, int, int]) -> bool:
    """Run the loop if it is of this kind; else return False, and nothing has changed.

    Raises
    ------
    RangeError
        If it repeats a vector in fewer slots than the vector has elements: the engine is too small for the program.
    """
    target = _target(evaluator, loop)
    turns = range(*bounds)
    if target is None or len(turns) > evaluator.budget.ELEMENTS:
        return False
    vector, value, appends = target
    found = _Turns(evaluator, loop.name, vector, np.arange(*bounds)).of(value)
    if found is None:
        return False
    kind, numbers = found
    if kind != vector.of.name and (vector.of.name not in _FLOATS or kind == "bool"):
        return False
    with np.errstate(over="ignore"):
        numbers = numbers.astype(CODES[vector.of.name])
    if not np.isfinite(numbers).all():
        return False
    evaluator.budget.step(1 + len(turns) // _TURNS_A_STEP)
    items = array(CODES[vector.of.name], numbers.tobytes())
    if appends:
        vector.extend(items)
        return True
    if turns.step != 1 or not 0 <= turns.start <= turns.stop <= len(vector):
        return False
    vector.items[turns.start : turns.stop] = items
    return True


def _target(evaluator: Evaluator, loop: syntax.Loop) -> tuple[Vector, syntax.Expression, bool] | None:
    """The vector that the only statement writes, the value, and whether it appends."""
    if len(loop.body) != 1:
        return None
    (statement,) = loop.body
    appends = isinstance(statement, syntax.Evaluate)
    if isinstance(statement, syntax.Evaluate) and statement.call.name == "push_back":
        name, values = statement.call.base, statement.call.arguments
    elif isinstance(statement, syntax.Assign) and isinstance(statement.target, syntax.Index) and statement.sign == "=":
        name, values = statement.target.base, (statement.value,)
        if statement.target.index != syntax.Name(loop.name):
            return None
    else:
        return None
    vector = _vector(evaluator, name)
    if vector is None or len(values) != 1:
        return None
    evaluator.changeable(name) if name is not None else None
    return vector, values[0], appends


def _vector(evaluator: Evaluator, node: syntax.Expression | None) -> Vector | None:
    """The vector of numbers that a name has, if it has one."""
    found = evaluator.scopes.find(node.text) if isinstance(node, syntax.Name) else None
    value = None if found is None else found[1].get()
    return value if isinstance(value, Vector) and value.is_numeric else None


class _Turns:
    """The values of an expression in all turns of a loop, with their type; None if it is of another kind."""

    def __init__(self, evaluator: Evaluator, counter: str, target: Vector, turns: NDArray[np.int64]) -> None:
        self._evaluator, self._counter, self._target, self._turns = evaluator, counter, target, turns

    def of(self, node: syntax.Expression) -> tuple[str, NDArray[Any]] | None:
        if isinstance(node, syntax.Index):
            return self._elements(node)
        if isinstance(node, syntax.Cast):
            inner = self.of(node.operand)
            if inner is None or inner[0] not in _FLOATS or node.type.name not in _FLOATS:
                return None
            with np.errstate(over="ignore"):
                return node.type.name, inner[1].astype(CODES[node.type.name])
        if isinstance(node, syntax.Binary) and node.sign in ("+", "-", "*", "/"):
            return self._combined(node)
        return None

    def _combined(self, node: syntax.Binary) -> tuple[str, NDArray[Any]] | None:
        left, right = self.of(node.left), self.of(node.right)
        if left is None or right is None or left[0] != right[0] or left[0] not in _FLOATS:
            return None
        compute = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[node.sign]
        with np.errstate(all="ignore"):
            return left[0], compute(left[1], right[1])

    def _elements(self, node: syntax.Index) -> tuple[str, NDArray[Any]] | None:
        source, indices = _vector(self._evaluator, node.base), self._indices(node)
        if source is None or source is self._target or indices is None:
            return None
        if indices.size and not 0 <= indices.min() <= indices.max() < len(source):
            return None
        return source.of.name, np.array(source.items)[indices]

    def _indices(self, node: syntax.Index) -> NDArray[np.int64] | None:
        counter = syntax.Name(self._counter)
        if node.index == counter:
            return self._turns
        if not isinstance(node.index, syntax.Binary) or (node.index.sign, node.index.left) != ("%", counter):
            return None
        period = self._period(node.index.right)
        if period is None or (self._turns.size and self._turns.min() < 0):
            return None
        if node.index.right == syntax.Call("size", node.base, ()) and self._turns.size < period:
            raise RangeError(
                f"The program repeats {period} values in the slots of a ciphertext, and the engine has "
                f"{self._turns.size}; give load an engine= with slot_count={period} or more."
            )
        return self._turns % period

    def _period(self, node: syntax.Expression) -> int | None:
        found = self._evaluator.value(node)
        if not isinstance(found, Scalar) or found.kind not in INTEGERS or not 0 < found.value < 2**31:
            return None
        return int(found.value)
