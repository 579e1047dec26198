"""numpy's functions on numbers in slots: tables of one array, arithmetic of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import arguments
from aglet.arrays.digits import dtypes
from aglet.arrays.slots.orders import by_digits
from aglet.arrays.slots.values import Numbers
from aglet.errors import KeyMismatchError, RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["apply", "call", "called", "cast", "is_slots", "total"]

_BOOL = np.dtype(bool)
_ORDERS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
_LOGIC = (np.logical_and, np.logical_or, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor)


_OF_BOOLEANS = {np.add: "or", np.multiply: "and"}


def is_slots(value: Any) -> bool:
    """Whether a value is an encrypted array of this kind."""
    from aglet.arrays.slots.array import EncryptedSlots

    return isinstance(value, EncryptedSlots)


def apply(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A universal function of arrays in slots and numbers in the clear.

    Raises
    ------
    TypeError
        If it is not supported, or gives no whole numbers.
    KeyMismatchError
        If two arrays belong to two sessions.
    """
    arrays = [one for one in inputs if is_slots(one)]
    if any(one.session is not arrays[0].session for one in arrays):
        raise KeyMismatchError("These arrays belong to two sessions; use one session.")
    if ufunc is np.true_divide:
        return ufunc(*(one.astype(np.float64) if is_slots(one) else one for one in inputs))
    if ufunc.nout != 1 or ufunc is np.matmul:
        raise TypeError(_refusal(ufunc.__name__))
    clear = [np.asarray(one) for one in inputs if not is_slots(one)]
    if any(one.dtype.kind not in "biu" for one in clear):
        raise TypeError("Numbers in slots compute with booleans and whole numbers; convert the others first.")
    if _alike(arrays) and not any(one.ndim for one in clear):
        return _table(ufunc, inputs)
    if len(inputs) != 2:
        raise TypeError(_refusal(ufunc.__name__))
    return _pair(ufunc, inputs[0], inputs[1])


def called(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A universal function as numpy calls it.

    Raises
    ------
    TypeError
        If it is called by a method, or with options.
    """
    if method != "__call__" or options:
        raise TypeError(
            f"numpy.{ufunc.__name__} with options or a method is not supported on encrypted slots; leave them out, or "
            "call x.sum()."
        )
    return apply(ufunc, inputs)


def _alike(arrays: Sequence[EncryptedSlots]) -> bool:
    """Whether arrays are made of the same encrypted numbers, element by element."""
    first = arrays[0]
    return all(one.numbers is first.numbers and one.shape == first.shape for one in arrays)


def _refusal(name: str) -> str:
    return (
        f"numpy.{name} is not supported on these encrypted slots; supported are every function of one array with "
        "numbers, and + - * comparisons minimum maximum where sum, logic of booleans, of two. Encrypt digits for more."
    )


def _table(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A function of one array, as numpy computes it on every value that it may have."""
    x = next(one for one in inputs if is_slots(one))
    given = [one.values().astype(one.dtype) if is_slots(one) else one for one in inputs]
    with np.errstate(all="ignore"):
        found = np.asarray(ufunc(*given))
    if found.dtype.kind not in "biu":
        raise TypeError(f"numpy.{ufunc.__name__} gives {found.dtype}, which slots do not hold; cast to float64 first.")
    return x.replaced(x.numbers, _signed(found), found.dtype)


def _signed(found: Any) -> Any:
    """Entries as int64.

    Raises
    ------
    RangeError
        If one is too large.
    """
    if found.dtype.kind == "u" and found.size and int(found.max()) >= 2**63:
        raise RangeError("Numbers of 64 bits that wrap around do not fit slots; call astype with a signed dtype first.")
    return found.astype(np.int64)


def cast(x: EncryptedSlots, dtype: np.dtype[Any]) -> EncryptedSlots:
    """The values in another dtype, wrapped around where they do not fit."""
    if dtype == x.dtype:
        return x
    found = x.values().astype(x.dtype).astype(dtype)
    same = dtype.kind != "b" and (found.astype(np.int64) == x.values()).all()
    made = x.replaced(x.numbers, x.table if same else _signed(found), dtype)
    made._counted = x._counted if same else None
    return made


# Of two arrays, one of which may be in the clear


def _pair(ufunc: np.ufunc, x: Any, y: Any) -> Any:
    session = next(one.session for one in (x, y) if is_slots(one))
    shape = checks.common_shape(*(np.shape(one) if not is_slots(one) else one.shape for one in (x, y)))
    if any(is_slots(one) and one.shape != shape for one in (x, y)):
        raise TypeError("Elements in slots do not move, so encrypted arrays of two shapes do not meet; encrypt digits.")
    # numpy says what the result is, and refuses what it refuses.
    wanted = ufunc(*(np.ones((), one.dtype) if is_slots(one) else np.asarray(one)[..., None][:0] for one in (x, y)))
    one = x if is_slots(x) else y
    dtype = np.result_type(*(each.dtype if is_slots(each) else each for each in (x, y)))
    if ufunc in _ORDERS:
        decided = by_digits(ufunc, x, y, _rows)
        if decided is not None:
            return one.replaced(*decided, _BOOL)
        values, found = _combined(session, x, y, -1)
        with np.errstate(all="ignore"):
            return one.replaced(found, ufunc(values, 0), _BOOL)
    if ufunc in (np.minimum, np.maximum):
        return where(apply(np.less if ufunc is np.minimum else np.greater, (x, y)), x, y)
    if ufunc in (*_LOGIC, *_OF_BOOLEANS) and dtype.kind == "b":
        values, found = _combined(session, x, y, 1)
        both = {"and": values == 2, "or": values > 0, "xor": values == 1}
        return one.replaced(found, both[_OF_BOOLEANS.get(ufunc) or ufunc.__name__.split("_")[1]], _BOOL)
    if ufunc in (np.add, np.subtract) and dtype.kind != "b":
        values, found = _combined(session, x, y, 1 if ufunc is np.add else -1)
        return _wrapped(one, found, values, np.asarray(wanted).dtype)
    if ufunc is np.multiply:
        return _product(x, y, np.asarray(wanted).dtype)
    raise TypeError(_refusal(ufunc.__name__))


def _wrapped(like: EncryptedSlots, found: Numbers, values: Any, dtype: np.dtype[Any]) -> EncryptedSlots:
    """Numbers as a dtype, around which they wrap."""
    low, high = dtypes.span(dtype)
    fits = low <= found.low and found.high <= high
    return like.replaced(found, None if fits else values.astype(dtype), dtype)


def _ends(value: Any) -> tuple[int, int]:
    if is_slots(value):
        found: tuple[int, int] = value.bound
        return found
    clear = np.asarray(value)
    return int(clear.min()), int(clear.max())


def _combined(session: Any, x: Any, y: Any, sign: int) -> tuple[Any, Numbers]:
    """`x + sign y`, and all values that it may have."""
    (low, high), other = _ends(x), sorted(sign * end for end in _ends(y))
    low, high = low + other[0], high + other[1]
    session.check_range(low, high)
    engine = session.engine
    if is_slots(x) and is_slots(y):
        call: Callable[[Any, Any], Any] = engine.add if sign == 1 else engine.subtract
        pairs = zip(_chunks(x), _chunks(y), strict=True)
        return np.arange(low, high + 1), Numbers(([call(a, b) for a, b in pairs],), 0, low, high)
    encrypted, plain = (x, y) if is_slots(x) else (y, x)
    rows = _rows(session, plain, encrypted.shape)
    chunks = _chunks(encrypted)
    if encrypted is y and sign == -1:
        chunks = [engine.negate(chunk) for chunk in chunks]
    weight = sign if encrypted is x else 1
    made = [engine.add(chunk, weight * row) for chunk, row in zip(chunks, rows, strict=True)]
    return np.arange(low, high + 1), Numbers((made,), 0, low, high)


def _chunks(x: EncryptedSlots) -> list[Any]:
    return x.forced().whole(x.session).digits[0]


def _rows(session: Any, plain: Any, shape: tuple[int, ...]) -> list[Any]:
    """Numbers in the clear, for each ciphertext."""
    flat = np.broadcast_to(np.asarray(plain), shape).astype(np.int64).reshape(-1)
    return [flat[at : at + session.slots] for at in range(0, flat.size, session.slots)]


def _product(x: Any, y: Any, dtype: np.dtype[Any]) -> EncryptedSlots:
    ends = [a * b for a in _ends(x) for b in _ends(y)]
    low, high = min(ends), max(ends)
    one = x if is_slots(x) else y
    session = one.session
    session.check_range(low, high)
    engine = session.engine
    if is_slots(x) and is_slots(y):
        key = session.relinearization("A product of two arrays")
        # One more level is for a cast or a bootstrap.
        first, second = (each.with_levels(2).whole(session).digits[0] for each in (x, y))
        chunks = [engine.multiply(a, b, key) for a, b in zip(first, second, strict=True)]
    else:
        chunks = [
            engine.multiply(chunk, row)
            for chunk, row in zip(_chunks(one), _rows(session, y if one is x else x, one.shape), strict=True)
        ]
    # Slots without an element hold zeros after a product with numbers in the clear, so that 0 is a value too.
    values = np.arange(low, high + 1)
    return _wrapped(one, Numbers((chunks,), 0, low, high), values, dtype)


def where(condition: Any, x: Any, y: Any) -> Any:
    """As `numpy.where` of three arguments: `y + condition (x - y)`.

    Raises
    ------
    TypeError
        If the condition is no array of booleans.
    """
    clear = not is_slots(condition)
    if (np.asarray(condition) if clear else condition).dtype != _BOOL:
        raise TypeError("A condition is an array of booleans; compare first, as in x != 0.")
    arrays = [one for one in (condition, x, y) if is_slots(one)]
    dtype = np.result_type(*(one.dtype if is_slots(one) else one for one in (x, y)))
    if _alike(arrays) and not any(np.ndim(one) for one in (condition, x, y) if not is_slots(one)):
        given = [one.values().astype(one.dtype) if is_slots(one) else one for one in (condition, x, y)]
        return arrays[0].replaced(arrays[0].numbers, _signed(np.where(*given).astype(dtype)), dtype)
    low, high = (pick(_ends(x)[at], _ends(y)[at]) for at, pick in ((0, min), (1, max)))
    wide = np.dtype(np.int64)
    ones = [cast(one, wide) if is_slots(one) else np.asarray(one).astype(np.int64) for one in (x, y)]
    flag = np.asarray(condition).astype(np.int64) if clear else cast(condition, wide)
    found: Any = ones[1] + flag * (ones[0] - ones[1])
    numbers = found.forced()
    made: Any = found.replaced(Numbers(numbers.digits, numbers.offset, low, high), None, dtype)
    return made


def total(x: EncryptedSlots, axis: Any = None) -> EncryptedSlots:
    """The sum of all elements, in every slot."""
    if axis is not None:
        raise TypeError("Elements in slots do not move, so a sum is one of all elements; leave axis out.")
    session = x.session
    low, high = x.bound
    ends = x.size * low, x.size * high
    session.check_range(*ends)
    key, engine = session.rotation(), session.engine
    # Beyond the elements there may be anything.
    rows = _rows(session, 1, x.shape)
    chunks = [
        chunk if row.size == session.slots else engine.multiply(chunk, row)
        for chunk, row in zip(_chunks(x), rows, strict=True)
    ]
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = engine.add(whole, chunk)
    dtype = np.result_type(x.dtype, np.uint64 if x.dtype.kind == "u" else np.int64)
    numbers = Numbers(([engine.sum_slots(whole, key)],), 0, *ends)
    made = x.__class__(session, numbers, None, dtype, ())
    made._counted = x
    return made


# Other functions

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: where, np.sum: total, np.shape: lambda a: a.shape, np.size: lambda a: a.size, np.ndim: lambda a: a.ndim,
    np.reshape: lambda a, shape: a.reshape(shape), np.ravel: lambda a: a.ravel(),
    np.mean: lambda a, axis=None: a.mean(axis),
    np.clip: lambda a, a_min=None, a_max=None: apply(np.minimum, (apply(np.maximum, (a, a_min)), a_max)),
}  # fmt: skip


def call(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of numpy that is no universal one.

    Raises
    ------
    TypeError
        If it is not supported.
    """
    if function not in _FUNCTIONS:
        names = ", ".join(sorted(one.__name__ for one in _FUNCTIONS))
        raise TypeError(
            f"numpy.{function.__name__} is not supported on encrypted slots; supported are {names}. Encrypt digits for "
            "others."
        )
    served = _FUNCTIONS[function]
    return served(*args, **arguments.taken(function.__name__, served, args, kwargs))
