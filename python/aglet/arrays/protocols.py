"""numpy's functions and operators on encrypted arrays, and an error for each that is not supported."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import composed, products
from aglet.arrays import missing as refused
from aglet.arrays.functions import compare
from aglet.arrays.joins import is_encrypted
from aglet.arrays.options import by_method
from aglet.arrays.served import FUNCTIONS, OPERANDS, UFUNCS, VIEWS

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["function", "ufunc"]


def ufunc(called: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Apply a universal function of numpy. Results are new arrays, so `out=` and `where=` are refused."""
    if method != "__call__":
        return by_method(called, method, inputs, options)
    served = UFUNCS.get(called)
    if served is None or options:
        raise TypeError(_refusal(f"numpy.{called.__name__}", options))
    left = [_number(one) if isinstance(one, np.ndarray) and not one.ndim else one for one in inputs]
    if len(left) == 2 and isinstance(left[0], np.ndarray | np.generic):
        return _reflected(called, *left)
    return served(*left)


def _number(plain: Any) -> Any:
    """The number of an array without axes, but for one that is masked, which is refused later."""
    return plain if isinstance(plain, np.ma.MaskedArray) else plain.item()


def _reflected(called: Any, plain: Any, x: EncryptedArray) -> Any:
    """Apply an operator with numpy's array on the left, without numpy's own operator, which would ask again."""
    swapped: dict[Any, Callable[[], Any]] = {
        np.add: lambda: x + plain,
        np.multiply: lambda: x * plain,
        np.subtract: lambda: x.__rsub__(plain),
        np.true_divide: lambda: x.__rtruediv__(plain),
        np.matmul: lambda: products.rmatmul(plain, x),
        np.maximum: lambda: compare("maximum", x, plain),
        np.minimum: lambda: compare("minimum", x, plain),
        np.greater: lambda: x < plain,
        np.greater_equal: lambda: x < plain,
        np.less: lambda: x > plain,
        np.less_equal: lambda: x > plain,
    }
    if called not in swapped:
        raise TypeError(_refusal(f"numpy.{called.__name__}", {}))
    return swapped[called]()


def function(called: Any, given: Sequence[Any], options: dict[str, Any]) -> Any:
    """Apply another function of numpy with the arguments that are supported. Others are refused."""
    if called in VIEWS:
        return _viewed(called, given, options)
    if called not in FUNCTIONS and called in composed.SERVED:
        return composed.call(called, composed.SERVED[called], given, options)
    if called not in FUNCTIONS:
        raise TypeError(_refusal(f"numpy.{called.__name__}", {}))
    names, served = FUNCTIONS[called]
    arguments = _bound(called, names, given, options)
    taken = inspect.signature(served).parameters
    first, needed = next(iter(taken)), [one.name for one in taken.values() if one.default is one.empty]
    beyond = {name: value for name, value in arguments.items() if name not in taken}
    if beyond or any(name not in arguments for name in needed):
        raise TypeError(_refusal(f"numpy.{called.__name__}", beyond))
    if first == "a" and not any(is_encrypted(arguments.get(name)) for name in OPERANDS):
        raise TypeError(_refusal(f"numpy.{called.__name__}", {}))
    return served(**arguments)


def _bound(called: Any, names: str, given: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments by numpy's names, without those that have their default. An axis of None is kept."""
    order_of = names.split()
    if len(given) > len(order_of) or set(order_of[: len(given)]) & set(options):
        raise TypeError(_refusal(f"numpy.{called.__name__}", options))
    named = dict(zip(order_of, given, strict=False)) | options
    named = {name: named[name] for name in order_of if name in named} | named
    nothing = (None, np._NoValue)
    kept = ("axis", "a_min", "a_max")
    return {name: value for name, value in named.items() if name in kept or not any(value is one for one in nothing)}


def _viewed(called: Any, given: Sequence[Any], options: dict[str, Any]) -> EncryptedArray:
    """The elements that numpy chooses, found by applying the function to their places."""
    others = _bound(called, VIEWS[called], given, options)
    others.pop(VIEWS[called].split()[0], None)
    if not given or not is_encrypted(given[0]) or "out" in others or any(map(is_encrypted, others.values())):
        raise TypeError(_refusal(f"numpy.{called.__name__}", others))
    array: EncryptedArray = given[0]
    with checks.in_memory(f"The result of numpy.{called.__name__} does not fit in memory; work on the array in parts."):
        return array._view(
            checks.rearranged(
                f"call of numpy.{called.__name__}", array.shape, lambda: called(array.index, *given[1:], **options)
            )
        )


def missing(name: str) -> str:
    """The replacement of an attribute that numpy's arrays have and encrypted arrays do not."""
    served = (*FUNCTIONS, *VIEWS, *composed.SERVED)
    return refused.attribute(name, "Encrypted arrays", served, floats=True)


def _refusal(name: str, options: dict[str, Any]) -> str:
    if options:
        name += f" with {', '.join(options)}"
    return refused.function(name, "encrypted arrays", (*UFUNCS, *FUNCTIONS, *VIEWS, *composed.SERVED), floats=True)
