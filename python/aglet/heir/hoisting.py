"""Finds which fast rotations of a function share their digits, before it runs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from aglet.heir import syntax
from aglet.heir.syntax import Block

__all__ = ["fast_rotations"]


def fast_rotations(block: Block) -> dict[str, set[int]]:
    """The steps that are written as numbers, by the name of their digits."""
    found: dict[str, set[int]] = {}
    waiting: list[Any] = list(block)
    while waiting:
        node = waiting.pop()
        if isinstance(node, syntax.Call) and node.name == "EvalFastRotation" and len(node.arguments) == 4:
            step, digits = _step(node.arguments[1]), node.arguments[3]
            if step is not None and isinstance(digits, syntax.Name):
                found.setdefault(digits.text, set()).add(step)
        elif isinstance(node, tuple):
            waiting.extend(node)
        elif isinstance(node, _PARTS):
            waiting.extend(getattr(node, one.name) for one in fields(node))
    return found


_PARTS = (syntax.Declare, syntax.Assign, syntax.Loop, syntax.Branch, syntax.Return)
"""Statements in which rotations stand. Their values are calls; lists of constants are not looked through."""


def _step(node: syntax.Expression) -> int | None:
    if isinstance(node, syntax.Unary) and node.sign == "-":
        inner = _step(node.operand)
        return None if inner is None else -inner
    return int(node.value.value) if isinstance(node, syntax.Literal) and isinstance(node.value.value, int) else None
