"""Runs the loops that the emitter writes around numbers in the clear, all turns at once.

They lay out, repeat, copy and combine vectors, and take most of the turns of a program. A loop is of this kind if it
declares numbers, perhaps under conditions, and writes one vector that it does not read. All others, and those that
would raise an error, are left to the loop that goes turn by turn; the results are the same.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.errors import RangeError
from aglet.heir import syntax
from aglet.heir.evaluate import Evaluator
from aglet.heir.lanes import Lanes, Other, fitted
from aglet.heir.scalars import CODES
from aglet.heir.values import Vector

__all__ = ["run"]

_MOST_TURNS = 2**20
_TURNS_A_STEP = 64


@dataclass(frozen=True)
class _Write:
    """Elements that are written, in the order of the turns; without places they are appended."""

    places: NDArray[Any] | None
    numbers: NDArray[Any]


def run(evaluator: Evaluator, loop: syntax.Loop, kind: str, bounds: tuple[int, int, int]) -> bool:
    """Run the loop if it is of this kind; else return False, and nothing has changed.

    Parameters
    ----------
    kind
        The type of the counter.
    bounds
        Its start, its end and its step.

    Raises
    ------
    RangeError
        If it repeats a vector in fewer slots than the vector has elements: the engine is too small for the program.
    """
    turns = range(*bounds)
    targets = _targets(loop.body)
    if targets is None or len(targets) != 1 or len(turns) > _MOST_TURNS:
        return False
    (name,) = targets
    vector = _vector(evaluator, name)
    if vector is None:
        return False
    evaluator.changeable(syntax.Name(name))
    _refuse_short(evaluator, loop, len(turns))
    try:
        lanes = Lanes(evaluator, vector, len(turns))
        lanes.declare(loop.name, kind, (kind, np.arange(*bounds)))
        write = _write(lanes, loop.body, vector)
    except Other:
        return False
    evaluator.budget.step(1 + len(turns) // _TURNS_A_STEP)
    if write is not None:
        items = array(vector.items.typecode, write.numbers.tobytes())
        if write.places is None:
            vector.extend(items)
        elif write.places.size:
            # Of several turns that write one place, the last one stays.
            np.frombuffer(vector.items, dtype=vector.items.typecode)[write.places] = write.numbers
    return True


def _targets(block: syntax.Block) -> list[str] | None:
    """The vectors that a block writes, once for each statement; None if it does something else."""
    found: list[str] = []
    for statement in block:
        if isinstance(statement, syntax.Declare):
            if statement.type.name not in CODES or statement.type.is_reference or statement.value is None:
                return None
        elif isinstance(statement, syntax.Branch) and not statement.no:
            inner = _targets(statement.yes)
            if inner is None:
                return None
            found += inner
        elif (
            isinstance(statement, syntax.Assign)
            and isinstance(statement.target, syntax.Index)
            and statement.sign == "="
        ):
            found += [statement.target.base.text] if isinstance(statement.target.base, syntax.Name) else ["", ""]
        elif isinstance(statement, syntax.Evaluate) and statement.call.name == "push_back":
            found += [statement.call.base.text] if isinstance(statement.call.base, syntax.Name) else ["", ""]
        else:
            return None
    return found


def _vector(evaluator: Evaluator, name: str) -> Vector | None:
    """The vector of numbers that a name has, if it has one."""
    found = evaluator.scopes.find(name)
    value = None if found is None else found[1].get()
    return value if isinstance(value, Vector) and value.is_numeric else None


def _write(lanes: Lanes, block: syntax.Block, vector: Vector) -> _Write | None:
    """What the block writes in all turns of the lanes.

    Raises
    ------
    Other
        If it is to run turn by turn.
    """
    made = None
    for statement in block:
        if isinstance(statement, syntax.Declare) and statement.value is not None:
            lanes.declare(statement.name, statement.type.name, lanes.value(statement.value))
        elif isinstance(statement, syntax.Branch):
            made = _write(lanes.where(lanes.value(statement.test)), statement.yes, vector) or made
        elif isinstance(statement, syntax.Assign) and isinstance(statement.target, syntax.Index):
            places = lanes.places(statement.target.index, len(vector))
            made = _Write(places, lanes.spread(fitted(vector.of.name, lanes.value(statement.value))))
        elif isinstance(statement, syntax.Evaluate):
            if len(statement.call.arguments) != 1:
                raise Other
            (value,) = statement.call.arguments
            made = _Write(None, lanes.spread(fitted(vector.of.name, lanes.value(value))))
    return made


def _refuse_short(evaluator: Evaluator, loop: syntax.Loop, turns: int) -> None:
    """A loop that appends `v[i % v.size()]` fills the slots: they must hold all of the vector."""
    (statement, *others) = loop.body
    if others or not isinstance(statement, syntax.Evaluate) or len(statement.call.arguments) != 1:
        return
    (value,) = statement.call.arguments
    if not isinstance(value, syntax.Index) or not isinstance(value.base, syntax.Name):
        return
    source = _vector(evaluator, value.base.text)
    repeats = syntax.Binary("%", syntax.Name(loop.name), syntax.Call("size", value.base, ()))
    if value.index == repeats and source is not None and turns < len(source):
        raise RangeError(
            f"The program repeats {len(source)} values in the slots of a ciphertext, and the engine has {turns}; give "
            f"load an engine= with slot_count={len(source)} or more."
        )
