"""numpy's functions on numbers in slots: tables of one array, and those of two (sums and products: `arithmetic.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.slots import later, longs, wide
from aglet.arrays.slots.arithmetic import added, combined, multiplied, signed
from aglet.arrays.slots.bits import bitwise
from aglet.arrays.slots.division import by_number, divisor
from aglet.arrays.slots.flags import by_flag
from aglet.arrays.slots.orders import FULL, by_digits, has_digits
from aglet.arrays.slots.places import aligned, clear, ends_of, is_slots, laid, one_session
from aglet.arrays.slots.quotients import Quotient
from aglet.arrays.slots.shifts import shifted
from aglet.arrays.slots.tables import looked_up
from aglet.arrays.slots.values import MOST_DIGITS, MOST_PLACES, Numbers, room
from aglet.arrays.slots.wide import is_wide

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["apply", "cast", "in_digits", "refusal", "where"]

_BOOL = np.dtype(bool)
_ORDERS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
_SHIFTS = (np.left_shift, np.right_shift)
_TRUTHS = (np.logical_and, np.logical_or, np.logical_xor)
_LOGIC = (*_TRUTHS, *_BITWISE)
_OF_BOOLEANS = {np.add: "or", np.multiply: "and"}


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
    one_session(*arrays)
    if ufunc is np.true_divide:
        return ufunc(*(one.astype(np.float64) if is_slots(one) else one for one in inputs))
    if ufunc is np.divmod:
        return _divmod(inputs)
    if ufunc.nout != 1 or ufunc.signature is not None:
        raise TypeError(refusal(ufunc.__name__))
    # Whether a number of Python is 0 is known of any.
    inputs = [bool(one) if type(one) is int and ufunc in _TRUTHS else _operand(one) for one in inputs]
    as_now = [_as_now(one) for one in inputs]
    if _alike(as_now) and not any(np.ndim(one) for one in inputs if not is_slots(one)):
        return _of_one(ufunc, as_now)
    if len(inputs) != 2:
        raise TypeError(refusal(ufunc.__name__))
    return _pair(ufunc, inputs[0], inputs[1])


def _divmod(inputs: Sequence[Any]) -> tuple[Any, Any]:
    """Quotients and remainders, by one table where there are two arrays."""
    as_now = [_as_now(_operand(one)) for one in inputs]
    if len(inputs) == 2 and (all(map(is_slots, inputs)) or any(np.ndim(one) for one in inputs if not is_slots(one))):
        x, y = as_now
        if not _alike(as_now) or not (is_slots(x) and is_slots(y)):
            dtype = np.divmod(*(np.ones((), one.dtype) if is_slots(one) else np.ones_like(one) for one in (x, y)))[
                0
            ].dtype
            found = _quotients(*aligned(x, y), dtype, whole=True, rest=True)
            return found[0], found[1]
    elif len(inputs) == 2 and is_slots(as_now[0]) and as_now[0].numbers.places > MOST_PLACES:
        x, y = as_now[0].split(), as_now[1]
        x.forced()
        by = divisor(np.divmod, x, y)
        if by is not None:
            # One division has both.
            return by_number(x, by, _dtype_of(np.floor_divide, as_now), whole=True, rest=True)
    return apply(np.floor_divide, inputs), apply(np.remainder, inputs)


def _quotients(x: Any, y: Any, dtype: np.dtype[Any], *, whole: bool, rest: bool) -> list[Any]:
    """`x // y` and `x % y` of two operands in the same places, those that are asked for."""
    quotient, one = Quotient(x, y), x if is_slots(x) else y
    if not quotient.exists:
        raise TypeError(
            "Slots divide numbers up to 255, or from -128 to 128, by numbers of up to 8,192 values; others would take "
            "about a hundred bootstraps. Declare a smaller range with x.assume(bound=(low, high)), or compute in "
            'digits, x.to("digits").'
        )
    return [
        None if found is None else one.replaced(found, None, dtype)
        for found in quotient.read(dtype, whole=whole, rest=rest)
    ]


def _operand(value: Any) -> Any:
    """An encrypted array, or numbers in the clear. A number of Python stays one, as it takes the dtype of others."""
    return value if is_slots(value) or type(value) in (int, bool) else clear(value)


def _as_now(value: Any) -> Any:
    """An operand that no other thread changes."""
    return value.still() if is_slots(value) else value


def _alike(operands: Sequence[Any]) -> bool:
    """Whether all arrays among operands are made of the same encrypted numbers, element by element."""
    first, *arrays = (one for one in operands if is_slots(one))
    return all(one.numbers.same(first.numbers) and np.array_equal(one.index, first.index) for one in arrays)


def refusal(name: str) -> str:
    """What is said of a function that these arrays do not have."""
    return (
        f"numpy.{name} is not supported on these encrypted slots; supported are every function of one array with "
        "numbers, and + - * // % << >> & | ^ @ comparisons minimum maximum where, logic of booleans, of two. For more, "
        'x.to("digits").'
    )


def _of_one(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A function of one array: a table, or what digits make of more values than a table has."""
    x = next(one for one in inputs if is_slots(one))
    if longs.is_long(x):
        return _of_long(ufunc, inputs, x)
    found = _on_values(ufunc, inputs)
    table, of_digits = signed(found), len(x.numbers.digits) > MOST_DIGITS
    if of_digits and np.array_equal(table, x.numbers.values()):
        return x.replaced(x.numbers, None, found.dtype)
    if (split := x.ready_for(table)) is not x:
        return apply(ufunc, [split if is_slots(one) else one for one in inputs])
    if not of_digits or x.numbers.has_table(table):
        return x.replaced(x.numbers, table, found.dtype)
    if ufunc in _LOGIC and all(is_slots(one) and one.dtype == _BOOL for one in inputs):
        return _pair(ufunc, *inputs)
    if ufunc in (np.logical_not, *_TRUTHS):
        return _of_truths(ufunc, inputs)
    if ufunc is np.sign:
        return _sign(x)
    pair = longs.as_pair(ufunc, inputs)
    if ufunc in (np.floor_divide, np.remainder) and x.table is not None:
        x.forced()
        return apply(ufunc, inputs)
    by = divisor(ufunc, *inputs) if pair is None and len(inputs) == 2 else None
    if by is not None:
        return _by_number(ufunc, x, by, found.dtype)
    if pair is not None:
        return _pair(*pair)
    return where(x < 0, -x, x) if ufunc is np.absolute else x.replaced(x.numbers, table, found.dtype)


def _of_truths(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A function of what is true of numbers that have no table."""
    return apply(ufunc, [cast(one, _BOOL) if is_slots(one) else np.asarray(one, dtype=bool) for one in inputs])


def _sign(x: Any) -> EncryptedSlots:
    """The signs of numbers that have no table."""
    small = np.dtype(np.int8)
    found: EncryptedSlots = cast(x > 0, small) - cast(x < 0, small) if x.bound[0] < 0 else x != 0
    return cast(found, x.dtype)


def _of_long(ufunc: np.ufunc, inputs: Sequence[Any], x: Any) -> Any:
    """A function of one array of numbers that have no list of all values."""
    found = longs.answer(ufunc, inputs)
    if found is not None or ufunc is np.positive:
        return x if found is None else found
    pair = longs.as_pair(ufunc, inputs)
    if pair is not None:
        return _pair(*pair)
    by = divisor(ufunc, *inputs) if len(inputs) == 2 else None
    if by is not None:
        return _by_number(ufunc, x, by, _dtype_of(ufunc, inputs))
    if ufunc in (np.logical_not, *_LOGIC):
        return _of_truths(ufunc, inputs)
    if ufunc is np.sign:
        return _sign(x)
    # The list of all values says why not.
    return where(x < 0, -x, x) if ufunc is np.absolute else x.numbers.values()


def _dtype_of(ufunc: np.ufunc, inputs: Sequence[Any]) -> np.dtype[Any]:
    """What numpy gives of an array and a number in the clear, also of 0."""
    with np.errstate(all="ignore"):
        found = ufunc(*(np.ones((), one.dtype) if is_slots(one) else one for one in inputs))
    return np.asarray(found).dtype


def _by_number(ufunc: np.ufunc, x: Any, by: int, dtype: np.dtype[Any]) -> Any:
    whole = ufunc is np.floor_divide
    return by_number(x, by, dtype, whole=whole, rest=not whole)[0 if whole else 1]


def _on_values(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A function of one array, as numpy computes it on every value that it may have."""
    given = [one.values().astype(one.dtype) if is_slots(one) else one for one in inputs]
    with np.errstate(all="ignore"):
        found = np.asarray(ufunc(*given))
    if found.dtype.kind not in "biu":
        raise TypeError(f"numpy.{ufunc.__name__} gives {found.dtype}, which slots do not hold; cast to float64 first.")
    return found


def cast(x: EncryptedSlots, dtype: np.dtype[Any]) -> EncryptedSlots:
    """The values in another dtype, wrapped around where they do not fit."""
    if dtype == x.dtype:
        return x
    x = x.still()
    if longs.is_long(x):
        return longs.cast(x, dtype)
    if dtype.kind == "b" and len(x.numbers.digits) > MOST_DIGITS and (x.bound[0] <= 0 <= x.bound[1]):
        flags: EncryptedSlots = x != 0
        return flags
    found = signed(x.values().astype(x.dtype).astype(dtype))
    if (split := x.ready_for(found)) is not x:
        return cast(split, dtype)
    same = dtype.kind != "b" and (found == x.values()).all()
    made = x.replaced(x.numbers, x.table if same else found, dtype)
    made._counted = x._counted if same else None
    return made


# Of two arrays, one of which may be in the clear


def _pair(ufunc: np.ufunc, x: Any, y: Any) -> Any:
    x, y = aligned(*(in_digits(one) for one in (x, y)))
    # numpy says what the result is, and refuses what it refuses.
    wanted = ufunc(*(np.ones((), one.dtype) if is_slots(one) else np.asarray(one)[..., None][:0] for one in (x, y)))
    one = x if is_slots(x) else y
    dtype = np.result_type(*(each.dtype if is_slots(each) else each for each in (x, y)))
    if ufunc in _TRUTHS and dtype.kind != "b":
        return _of_truths(ufunc, (x, y))
    chosen = None if ufunc in _ORDERS else by_flag(ufunc, x, y, np.asarray(wanted).dtype)
    if chosen is not None:
        return chosen
    if ufunc in (*_ORDERS, np.minimum, np.maximum) and not _has_difference(x, y):
        x, y = wide.widened(x, y)
    if ufunc in _ORDERS:
        decided = (wide.compared if is_wide(x) or is_wide(y) else by_digits)(ufunc, x, y)
        if decided is not None:
            return one.replaced(*decided, _BOOL)
        found = combined(x, y, -1)
        return one.replaced(found, ufunc(found.values(), 0), _BOOL)
    if dtype.kind not in "biu":
        raise TypeError(f"numpy computes with {dtype} on these numbers, which slots do not hold; call astype first.")
    if ufunc in (np.minimum, np.maximum):
        return _extreme(ufunc, x, y, dtype)
    if ufunc in (*_LOGIC, *_OF_BOOLEANS) and dtype.kind == "b":
        found = combined(x, y, 1)
        values = found.values()
        both = {"and": values == 2, "or": values > 0, "xor": values == 1}
        return one.replaced(found, both[_OF_BOOLEANS.get(ufunc) or ufunc.__name__.split("_")[1]], _BOOL)
    if ufunc in (np.add, np.subtract) and dtype.kind != "b":
        return added(x, y, 1 if ufunc is np.add else -1, np.asarray(wanted).dtype)
    if ufunc is np.multiply:
        return multiplied(x, y, np.asarray(wanted).dtype)
    if ufunc in (*_BITWISE, *_SHIFTS):
        x, y = (one.split() if is_slots(one) else one for one in (x, y))
    if ufunc in _BITWISE:
        return bitwise(ufunc, x, y, np.asarray(wanted).dtype)
    if ufunc in (np.floor_divide, np.remainder):
        wanted_dtype, whole = np.asarray(wanted).dtype, ufunc is np.floor_divide
        return _quotients(x, y, wanted_dtype, whole=whole, rest=not whole)[0 if whole else 1]
    if ufunc in _SHIFTS:
        return _shifted(ufunc, x, y, np.asarray(wanted).dtype)
    raise TypeError(refusal(ufunc.__name__))


def _shifted(ufunc: np.ufunc, x: Any, y: Any, dtype: np.dtype[Any]) -> EncryptedSlots:
    """A shift of two operands in the same places."""
    found = shifted(ufunc, x, y, dtype)
    if found is None:
        raise TypeError(
            f"numpy.{ufunc.__name__} gives {dtype} here, and slots shift numbers of up to 32 bits by such; cast one of "
            "both, so that numpy gives 32 bits, declare a smaller range with x.assume(bound=(low, high)), or compute "
            'in digits, x.to("digits").'
        )
    one: EncryptedSlots = x if is_slots(x) else y
    return one.replaced(found, None, dtype)


def _has_difference(x: Any, y: Any) -> bool:
    """Whether the difference of two operands fits the modulus, and a table."""
    (low, high), (least, most) = ends_of(x), ends_of(y)
    session = (x if is_slots(x) else y).session
    return high - low + most - least < MOST_PLACES and bool(session.fits(low - most, high - least))


def in_digits(value: Any) -> Any:
    """An operand, with its table looked up if it is of numbers in more digits than a table has, or makes such."""
    if is_slots(value) and (len(value.numbers.digits) > MOST_DIGITS or not value.session.fits(*value.bound)):
        value.forced()
    return value


def _extreme(ufunc: np.ufunc, x: Any, y: Any, dtype: np.dtype[Any]) -> EncryptedSlots:
    """The larger or the smaller one: with `d = x - y` it is `y + max(d, 0)` or `x - max(d, 0)`, which takes no product.

    Two digits are compared by themselves where no bootstrap follows, as their tables are short.
    """
    arrays = [one for one in (x, y) if is_slots(one)]
    session = arrays[0].session
    if not all(session.fits(*ends_of(one)) for one in (x, y)):
        x, y = wide.widened(x, y)
    if any(is_wide(one) for one in (x, y)):
        better: EncryptedSlots = where(apply(np.less if ufunc is np.minimum else np.greater, (x, y)), x, y)
        return better
    if all(has_digits(one) for one in arrays) and (
        session.bootstrap_level is None or min(one.level for one in arrays) > FULL
    ):
        chosen: EncryptedSlots = where(apply(np.less if ufunc is np.minimum else np.greater, (x, y)), x, y)
        return chosen
    apart = combined(x, y, -1)
    above = looked_up(session, apart, np.maximum(apart.values(), 0)).whole(session).digits[0]
    engine, sign, base = session.engine, -1 if ufunc is np.minimum else 1, x if ufunc is np.minimum else y
    # Of two sums at level 1 a bootstrap does not take the noise.
    rows = room(session, base.forced(), 2, 0).whole(session).digits[0] if is_slots(base) else laid(arrays[0], base)
    above = [engine.negate(chunk) for chunk in above] if sign == -1 else above
    made = [engine.add(chunk, row) for chunk, row in zip(above, rows, strict=True)]
    low, high = (int(ufunc(*ends)) for ends in zip(ends_of(x), ends_of(y), strict=True))
    found: EncryptedSlots = arrays[0].replaced(Numbers((made,), 0, low, high), None, dtype)
    return found


def where(condition: Any, x: Any, y: Any) -> Any:
    """As `numpy.where` of three arguments: `y + condition (x - y)`.

    Raises
    ------
    TypeError
        If the condition is no array of booleans.
    """
    condition, x, y = clear(condition) if not is_slots(condition) else condition, _operand(x), _operand(y)
    if condition.dtype != _BOOL:
        raise TypeError("A condition is an array of booleans; compare first, as in x != 0.")
    as_now = [_as_now(one) for one in (condition, x, y)]
    arrays = [one for one in as_now if is_slots(one)]
    dtype = np.result_type(*(one.dtype if is_slots(one) else one for one in (x, y)))
    alike = _alike(arrays) and not longs.is_long(arrays[0])
    if alike and not any(np.ndim(one) for one in (condition, x, y) if not is_slots(one)):
        given = [one.values().astype(one.dtype) if is_slots(one) else one for one in as_now]
        table = signed(np.where(*given).astype(dtype))
        if arrays[0].numbers.has_table(table):
            return arrays[0].replaced(arrays[0].numbers, table, dtype)
    low, high = (pick(ends_of(x)[at], ends_of(y)[at]) for at, pick in ((0, min), (1, max)))
    x, y = (in_digits(one) for one in (x, y))
    if not arrays[0].session.fits(low - high, high - low):
        x, y = wide.widened(x, y)
    if is_wide(x) or is_wide(y):
        chosen = _chosen(condition, x, y)
        if chosen is not None:
            like, digits, offset = chosen
            return like.replaced(Numbers(digits, offset, low, high).trimmed(), None, dtype)
    long = np.dtype(np.int64)
    ones = [cast(one, long) if is_slots(one) else np.asarray(one).astype(np.int64) for one in (x, y)]
    flag = cast(condition, long) if is_slots(condition) else condition.astype(np.int64)
    found: Any = ones[1] + flag * (ones[0] - ones[1])
    numbers = found.forced()
    made = Numbers(numbers.digits, numbers.offset, low, high)
    if len(numbers.digits) == 1 and high - low >= MOST_PLACES:
        made = later.chosen(condition, x, y, found.index, made)
    return found.replaced(made, None, dtype)


def _chosen(condition: Any, x: Any, y: Any) -> tuple[EncryptedSlots, Any, int] | None:
    """The digits of one array or of another, in the places of an array, and what they count from.

    None if one of both has not the digits of the other.
    """
    x, y = aligned(x, y)
    condition, like = aligned(condition, x if is_slots(x) else y)
    count = like.numbers.shape[1]
    x, y = (one.broadcast_to(like.shape).at(like.index, count) if is_slots(one) else one for one in (x, y))
    found = wide.both(x, y)
    if found is None:
        return None
    flag = condition.forced() if is_slots(condition) else laid(like, condition)
    return like, wide.chosen(like.session, flag, *found[:2]), found[2]
