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
_POWERS = "2 ** numpy.arange(bits, dtype=x.dtype)"
_OF_PEERS = {
    # Methods of encrypted integers in libraries that do not follow numpy.
    **dict.fromkeys(("if_then_else", "select", "cmux", "mux"), "use numpy.where(flag, x, y)"),
    **dict.fromkeys(
        ("eq", "ne", "lt", "le", "gt", "ge", "neg", "scalar_add", "scalar_sub", "scalar_mul"),
        "use operators, as in x == y and x + 1",
    ),
    **dict.fromkeys(
        ("rotate_left", "rotate_right"),
        "write (x << k) | (x >> (bits - k)) of an unsigned dtype, for the left, and the shifts swapped for the right",
    ),
    **dict.fromkeys(
        ("overflowing_add", "checked_add"), "s = x + y of an unsigned dtype wraps around, and s < x is its flag"
    ),
    **dict.fromkeys(
        ("overflowing_sub", "checked_sub"), "d = x - y of an unsigned dtype wraps around, and x < y is its flag"
    ),
    **dict.fromkeys(
        ("overflowing_mul", "checked_mul"), "multiply in a wider dtype, as x.astype(numpy.uint16) * y, and compare"
    ),
    **dict.fromkeys(("div_rem", "checked_div_rem"), "use divmod(x, y)"),
    **dict.fromkeys(("cast", "cast_into", "cast_from"), "use x.astype(dtype)"),
    "count_ones": "use numpy.bitwise_count(x)",
    "leading_zeros": f"of an unsigned dtype it is (x[..., None] < {_POWERS}).sum(axis=-1)",
    "trailing_zeros": f"of an unsigned dtype and x above 0 it is ((x & -x)[..., None] > {_POWERS}).sum(axis=-1)",
    "ilog2": f"of an unsigned dtype and x above 0 it is (x[..., None] >= {_POWERS}).sum(axis=-1) - 1",
    **dict.fromkeys(("is_even", "is_odd"), "write (x & 1) == 0 or == 1"),
    **dict.fromkeys(("apply_lookup_table", "match_value", "reverse_bits"), "use session.take(table, x)"),
    "decrypt": "use session.decrypt(x)",
    **dict.fromkeys(("serialize", "safe_serialize"), "use session.save(x, folder)"),
}
_OF_WHOLE = {
    **_OF_PEERS,
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
