"""Choices between arrays by conditions: `numpy.where` and `numpy.select` of encrypted integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import casts
from aglet.arrays.digits import dtypes, operations
from aglet.arrays.digits.circuits.choice import where as chosen
from aglet.arrays.digits.operations import is_encrypted, operands
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = ["select", "where"]

_BOOL, _INT64 = np.dtype(bool), np.dtype(np.int64)


def where(condition: Any, x: Any, y: Any) -> EncryptedIntegers:
    """As `numpy.where` of three arguments. Conditions are booleans.

    Raises
    ------
    TypeError
        If the condition is no array of booleans.
    """
    condition = condition if is_encrypted(condition) else dtypes.unmasked(condition)
    if condition.dtype != _BOOL:
        raise TypeError("A condition is an array of booleans; compare first, as in x != 0.")
    first = next(one for one in (condition, x, y) if is_encrypted(one))
    pair = [one if is_encrypted(one) or type(one) in (int, bool) else operations._clear(one) for one in (x, y)]
    if not any(is_encrypted(one) for one in pair):
        dtype = np.result_type(*pair)
        pair[0] = first.session.clear(np.asarray(pair[0]).astype(dtype))
    one, other = operands(pair)
    flag, _ = operands([condition if is_encrypted(condition) else first.session.clear(condition), True])
    shape = np.broadcast_shapes(flag.shape, one.shape)
    flag, one, other = (each.broadcast_to(shape) for each in (flag, one, other))
    return one.with_digits(chosen(one.session.machine, flag.digits[0], one.digits, other.digits))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """As `numpy.select`, of digits or of slots: the choice of the first condition that holds."""
    if len(condlist) != len(choicelist) or not condlist:
        raise RangeError(
            f"{len(condlist)} conditions go with as many choices, not {len(choicelist)}; give one for each."
        )
    given = [
        one if casts.is_whole(one) or type(one) in (int, bool) else operations._clear(one)
        for one in (*choicelist, default)
    ]
    kinds = [one.dtype if type(one) not in (int, bool) else _BOOL for one in given if type(one) is not int]
    dtype = dtypes.common(*kinds) if kinds else _INT64
    # The dtype of all, as in numpy: two by two, numbers of Python beside one another would be of 64 bits.
    dtype = _INT64 if dtype == _BOOL and any(type(one) is int for one in given) else dtype
    *choices, found = (_as(one, dtype) for one in given)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        found = np.where(condition, choice, found)
    return found


def _as(choice: Any, dtype: np.dtype[Any]) -> Any:
    if casts.is_whole(choice):
        return choice.astype(dtype, casting="unsafe")
    return np.asarray(dtypes.fitting(int(choice), dtype) if isinstance(choice, int) else choice).astype(dtype)
