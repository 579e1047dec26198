"""What encrypted arrays do not have, of numpy: sentences that name what serves in its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["attribute", "function"]

_MASK = "take the mask itself, or numpy.where(mask, x, 0), as how many there are depends on the values"
_CHANGE = "arrays never change, so write numpy.where(mask, y, x)"
_INSTEAD = {
    "unique": "numpy.bincount(x, minlength=n) counts each value, and numpy.isin(x, values) is a mask",
    **dict.fromkeys(("nonzero", "argwhere", "flatnonzero"), _MASK),
    **dict.fromkeys(("put", "putmask", "place", "copyto", "fill_diagonal", "fill"), _CHANGE),
    **dict.fromkeys(("intersect1d", "setdiff1d", "union1d"), "numpy.isin(x, values) is a mask"),
    **dict.fromkeys(
        ("quantile", "percentile"), "numpy.sort(x)[k] is an order statistic, and numpy.median(x) the middle"
    ),
    "partition": "use numpy.sort(x)",
    "argpartition": "use numpy.argsort(x)",
    "choose": "use session.take(table, x) of numbers in the clear, or numpy.select([x == 0], [y], z)",
    "vecdot": "use (x * y).sum(axis=-1)",
    "matvec": "use (x * y[..., None, :]).sum(axis=-1)",
    "put_along_axis": _CHANGE,
    "lexsort": "use numpy.argsort(x * n + y), for keys y below n",
    "piecewise": "use numpy.select([mask], [x], y)",
    "corrcoef": "numpy.cov(x, y) and x.std(bound=...) are its parts",
    "insert": "use numpy.concatenate([x[:i], y, x[i:]])",
    "item": "use x[i], an encrypted number, and session.decrypt(x[i]) for its value",
    "tolist": "use session.decrypt(x).tolist()",
    "view": "use x.astype(dtype, casting='unsafe')",
}
_OF_WHOLE = {
    **dict.fromkeys(("array_equal", "array_equiv", "allclose"), "use (x == y).all()"),
    "isclose": "use x == y",
    "interp": "use session.take(table, x)",
    "rint": "whole numbers are what it gives",
}
_OF_FLOATS = {
    **dict.fromkeys(("round", "around", "rint", "floor", "ceil", "trunc", "fix"), "x.astype(numpy.int16) rounds"),
    **dict.fromkeys(("any", "all", "count_nonzero"), "comparisons give 0 and 1, so (x > 0).sum() counts"),
    **dict.fromkeys(
        ("equal", "not_equal", "array_equal", "array_equiv", "allclose", "isclose", "isin"),
        "floats have noise, so look at (x - y) ** 2, or compare whole numbers, as in x.astype(numpy.int16) == 3",
    ),
    "interp": "use session.function(x, f)",
    **dict.fromkeys(
        ("logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "invert"),
        "conditions are the numbers 0 and 1, so write a * b for and, a + b - a * b for or, 1 - a for not",
    ),
    **dict.fromkeys(
        ("floor_divide", "remainder", "divmod", "mod", "fmod", "searchsorted", "digitize", "histogram", "bincount"),
        "x.astype(numpy.int16) makes whole numbers, which have it",
    ),
}


def _instead(name: str, floats: bool) -> str | None:
    own = _OF_FLOATS if floats else _OF_WHOLE
    return own.get(name) or _INSTEAD.get(name)


def function(name: str, what: str, served: Iterable[Any], *, floats: bool = False, digits: bool = False) -> str:
    """The refusal of a function of numpy.

    Parameters
    ----------
    name
        As "numpy.unique".
    what
        The arrays that do not have it, as "encrypted slots".
    served
        The functions that they have.
    digits
        Whether digits have it, and these are slots.
    """
    short, start = name.split(".")[1], f"{name} is not supported on {what}, and Aglet does not decrypt them for it"
    instead = 'call x.to("digits"), which have it' if digits else _instead(short, floats)
    if instead:
        return f"{start}; {instead}."
    more = ", and session.function for any smooth function" if floats else ""
    return f"{start}; supported are {', '.join(sorted({one.__name__ for one in served}))}{more}."


def attribute(name: str, what: str, served: Iterable[Any], *, floats: bool = False, digits: bool = False) -> str:
    """The refusal of an attribute, with what numpy's arrays have in mind; arguments are those of `function`."""
    instead = _instead(name, floats)
    if digits:
        instead = f'call x.to("digits").{name}'
    elif instead is None and any(one.__name__ == name for one in served):
        instead = f"use numpy.{name}(x, ...)"
    elif instead is None and hasattr(np.ndarray, name) and not name.startswith("_"):
        instead = "docs/arrays.md lists what is supported, and session.decrypt(x) returns a numpy array"
    return f"{what} have no {name}{f'; {instead}' if instead else ''}."
