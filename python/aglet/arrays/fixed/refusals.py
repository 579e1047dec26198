"""What numbers of a fixed format do not have, of Python and numpy: sentences that name what serves in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aglet.arrays.fixed.formats import fixed

__all__ = ["attribute", "function"]

_PRODUCTS = "write (x * y).sum(axis=-1), whose products are each rounded down"
_FLOATS = "x.astype(numpy.float64) has it, where the keys have CKKS"
_CHANGE = "arrays never change, so write numpy.where(mask, y, x)"
_INSTEAD = {
    **dict.fromkeys(
        ("floor_divide", "remainder", "divmod", "mod", "fmod"),
        "x >> k divides by 2^k and rounds down, and x.words() has it of the whole numbers beneath",
    ),
    "divide": "divide by one power of two in the clear, or write x * {dtype}.round(1 / y) for numbers in the clear",
    "reciprocal": _FLOATS,
    **dict.fromkeys(("power", "float_power"), "write x * x, which is rounded down"),
    **dict.fromkeys(("matmul", "dot", "inner", "vdot", "vecdot", "matvec", "vecmat", "einsum", "tensordot"), _PRODUCTS),
    "outer": "write x[:, None] * y",
    **dict.fromkeys(
        ("prod", "cumprod"), "write x[0] * x[1], as products are rounded down and the order of several matters"
    ),
    **dict.fromkeys(("mean", "average"), "write x.sum() / n for a power of two n, or x.astype(numpy.float64).mean()"),
    **dict.fromkeys(("var", "std", "cov", "corrcoef", "trapezoid", "interp", "sqrt", "exp", "log"), _FLOATS),
    **dict.fromkeys(("median", "quantile", "percentile"), "numpy.sort(x)[k] is an order statistic"),
    "diff": "write x[1:] - x[:-1]",
    "ptp": "write x.max() - x.min()",
    **dict.fromkeys(
        ("round", "around", "rint", "floor", "ceil", "trunc", "fix"),
        'x.astype(fixed({bits}, 0), casting="unsafe") rounds down',
    ),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "logical_not"), "write x != 0 for booleans"),
    **dict.fromkeys(("array_equal", "array_equiv"), "write (x == y).all()"),
    **dict.fromkeys(("isclose", "allclose"), "write abs(x - y) <= e, in a format that has all differences"),
    "isin": "write x == y for each",
    "select": "write numpy.where(condition, x, y)",
    "square": "write x * x",
    **dict.fromkeys(("put", "putmask", "place", "copyto", "fill_diagonal", "fill"), _CHANGE),
    "item": "use x[i], an encrypted number, and session.decrypt(x[i]) for its value",
    "tolist": "use session.decrypt(x).tolist()",
    "view": "use x.words()",
    **dict.fromkeys(("real", "conj", "conjugate"), "numbers of a fixed format are real"),
    "to": "they are digits; x.words().to('slots') are the whole numbers beneath in slots",
    "bound": "x.words().bound is that of the whole numbers beneath",
}


def _instead(name: str, dtype: fixed) -> str | None:
    found = _INSTEAD.get(name)
    return None if found is None else found.replace("{dtype}", repr(dtype)).replace("{bits}", str(dtype.bits))


def _words(dtype: fixed) -> str:
    return f"x.words() are the whole numbers beneath, 2^{dtype.fraction} times as large"


def function(name: str, dtype: fixed) -> str:
    """The refusal of a function of numpy."""
    start = f"numpy.{name} is not supported on numbers of {dtype}, and Aglet does not decrypt them for it"
    return f"{start}; {_instead(name, dtype) or f'{_words(dtype)}, and {dtype}.of(w) is the way back'}."


def attribute(name: str, dtype: fixed) -> str:
    """The refusal of an attribute."""
    return f"Numbers of {dtype} have no {name}; {_instead(name, dtype) or _words(dtype)}."
