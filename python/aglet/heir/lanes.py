"""Numbers of all turns of a loop at once. What is not exact in this form is left to the loop that goes turn by turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.heir import syntax
from aglet.heir.evaluate import Evaluator
from aglet.heir.scalars import CODES, INTEGERS, Scalar, common
from aglet.heir.values import Vector

__all__ = ["Lanes", "Other", "fitted"]

Numbers = tuple[str, NDArray[Any]]
"""A type, and a number for each turn or one for all: integers as int64, below 2^31, and floats in their own type."""

_MOST = 2**31
_COMPARE = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
_COMPUTE = {"+": np.add, "-": np.subtract, "*": np.multiply}


class Other(Exception):  # noqa: N818 - it is no error
    """The loop is to run turn by turn."""


def fitted(kind: str, numbers: Numbers) -> NDArray[Any]:
    """The numbers in the type of another kind, as arrays of it hold them.

    Raises
    ------
    Other
        If one does not fit, or floats would become integers.
    """
    given, values = numbers
    if kind in INTEGERS:
        least, most = INTEGERS[kind]
        if given not in INTEGERS or (values.size and not least <= values.min() <= values.max() <= most):
            raise Other
        return values.astype(CODES[kind])
    with np.errstate(over="ignore"):
        made = values.astype(CODES[kind])
    if not np.isfinite(made).all():
        raise Other
    return made


def _kept(kind: str, values: NDArray[Any]) -> Numbers:
    """Integers as int64, if they are small."""
    if kind not in INTEGERS:
        return kind, values
    if values.size and not -_MOST < int(values.min()) <= int(values.max()) < _MOST:
        raise Other
    return kind, values.astype(np.int64)


class Lanes:
    """The variables of a loop in some of its turns.

    Parameters
    ----------
    target
        The vector that the loop writes. It is not read.
    count
        The number of turns.
    """

    def __init__(self, evaluator: Evaluator, target: Vector, count: int) -> None:
        self._evaluator, self._target, self._count = evaluator, target, count
        self._own: dict[str, Numbers] = {}

    def declare(self, name: str, kind: str, numbers: Numbers) -> None:
        """Add a variable of a type. One that hides another is left to the loop that goes turn by turn."""
        if name in self._own:
            raise Other
        self._own[name] = _kept(kind, fitted(kind, numbers))

    def where(self, test: Numbers) -> Lanes:
        """The turns in which a test is true."""
        mask = np.broadcast_to(test[1] != 0, self._count)
        made = Lanes(self._evaluator, self._target, int(mask.sum()))
        made._own = {
            name: (kind, values[mask] if values.ndim else values) for name, (kind, values) in self._own.items()
        }
        return made

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """A number for each turn."""
        return np.broadcast_to(values, self._count)

    def places(self, node: syntax.Expression, length: int) -> NDArray[Any]:
        """Indices of a vector of this length, one for each turn."""
        kind, values = self.value(node)
        inside = kind in INTEGERS and (not values.size or 0 <= values.min() <= values.max() < length)
        if not inside:
            raise Other
        return self.spread(values)

    def value(self, node: syntax.Expression) -> Numbers:
        """The value of an expression in all turns.

        Raises
        ------
        Other
            If it is to be computed turn by turn.
        """
        if isinstance(node, syntax.Name) and node.text in self._own:
            return self._own[node.text]
        if isinstance(node, syntax.Binary):
            return self._binary(node)
        if isinstance(node, syntax.Index):
            return self._element(node)
        if isinstance(node, syntax.Cast) and node.type.name in CODES and node.type.name != "bool":
            return _kept(node.type.name, fitted(node.type.name, self.value(node.operand)))
        if isinstance(node, syntax.Literal | syntax.Name) or _is_size(node):
            return self._same(node)
        raise Other

    def _same(self, node: syntax.Expression) -> Numbers:
        """A number that is the same in all turns."""
        value = self._evaluator.value(node)
        if not isinstance(value, Scalar):
            raise Other
        return _kept(value.kind, np.array(value.value, dtype=None if value.kind in INTEGERS else CODES[value.kind]))

    def _element(self, node: syntax.Index) -> Numbers:
        found = self._evaluator.scopes.find(node.base.text) if isinstance(node.base, syntax.Name) else None
        vector = None if found is None else found[1].get()
        if not isinstance(vector, Vector) or not vector.is_numeric or vector is self._target or not len(vector):
            raise Other
        items = np.frombuffer(vector.items, dtype=vector.items.typecode)
        return _kept(vector.of.name, items[self.places(node.index, len(vector))])

    def _binary(self, node: syntax.Binary) -> Numbers:
        (left_kind, left), (right_kind, right) = self.value(node.left), self.value(node.right)
        if node.sign in ("&&", "||"):
            both = np.logical_and if node.sign == "&&" else np.logical_or
            return "bool", both(left, right).astype(np.int64)
        kind = common(left_kind, right_kind)
        left, right = fitted(kind, (left_kind, left)), fitted(kind, (right_kind, right))
        if node.sign in _COMPARE:
            return "bool", _COMPARE[node.sign](left, right).astype(np.int64)
        if kind not in INTEGERS:
            return self._floats(kind, node.sign, left, right)
        return self._whole(kind, node.sign, left.astype(np.int64), right.astype(np.int64))

    def _floats(self, kind: str, sign: str, left: NDArray[Any], right: NDArray[Any]) -> Numbers:
        compute = {**_COMPUTE, "/": np.divide}.get(sign)
        if compute is None:
            raise Other
        with np.errstate(all="ignore"):
            return kind, fitted(kind, (kind, np.asarray(compute(left, right))))

    def _whole(self, kind: str, sign: str, left: NDArray[Any], right: NDArray[Any]) -> Numbers:
        """Quotients and remainders only of what is not negative, where all conventions agree."""
        if sign in _COMPUTE:
            made = np.asarray(_COMPUTE[sign](left, right))
        elif sign in ("/", "%") and (left >= 0).all() and (right > 0).all():
            made = np.asarray(left // right if sign == "/" else left % right)
        else:
            raise Other
        return _kept(kind, fitted(kind, (kind, made)))


def _is_size(node: syntax.Expression) -> bool:
    return isinstance(node, syntax.Call) and node.name == "size" and isinstance(node.base, syntax.Name)
