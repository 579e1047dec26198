"""Sums and products of numbers in slots along axes, running sums, trees, and products of matrices.

A sum adds whole ciphertexts, then slots within a row by doubling; beyond the modulus it is a tree of sums of digits. A
running sum lays elements out with zeros between, so that the sum of so many slots is one of a beginning.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import options
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.rows import axis_first
from aglet.arrays.slots import moves, ordering, wide
from aglet.arrays.slots.operations import cast
from aglet.arrays.slots.places import aligned, clear, is_slots
from aglet.arrays.slots.values import MOST_PLACES, WIDE_DIGITS, Numbers, room
from aglet.arrays.sums import axes_of, runs_of
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession

__all__ = ["cumsum", "dot", "every", "kept", "least", "matmul", "most", "product", "some", "total"]

_BOOL = np.dtype(bool)
_WORDS = tuple(np.dtype(name) for name in ("uint16", "int16", "uint32", "int32"))
_MOST_RUNS = 8
"""Of more stretches, the elements are moved together before they are added."""


def _wide(dtype: np.dtype[Any], wanted: Any) -> np.dtype[Any]:
    """The dtype that numpy sums in.

    Raises
    ------
    TypeError
        If booleans are wanted.
    """
    if wanted is None:
        least: Any = np.uint64 if dtype.kind == "u" else np.int64
        return np.result_type(dtype, least)
    if dtypes.of_numpy(wanted).kind == "b":
        raise TypeError("A sum of booleans as booleans is x.any(); call it, or leave dtype out.")
    return dtypes.known(wanted)


def _times(bound: tuple[int, int], count: int) -> tuple[int, int]:
    return count * bound[0], count * bound[1]


def total(x: EncryptedSlots, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> EncryptedSlots:
    """The sum over these axes (None: all). They stay with length 1 if asked.

    Sums beyond the modulus that 32 bits hold are made by a tree of sums of digits, which takes a minute or two in the
    real ring: `Session.plan` says how long, and how much shorter in digits of FHEW.

    Raises
    ------
    RangeError
        If the sum fits neither, or an axis does not exist.
    """
    # A number has, for reductions of numpy, one axis.
    axes = set() if not x.ndim and axis in (0, -1) else axes_of(axis, x.ndim)
    wanted = _wide(x.dtype, dtype)
    terms = cast(x, wanted)
    count = math.prod(x.shape[one] for one in axes)
    ends = _times(terms.bound, count)
    if _in_digits(x.session, ends, wanted):
        if not _has(wanted, ends):
            # Each sum of two wraps around, as all of them do.
            return _tree(terms, axis, keepdims, operator.add)
        return _bounded(_tree(terms, axis, keepdims, _with_carries(terms.bound, ends)), ends)
    x.session.check_range(*ends)
    if len(axes) == x.ndim:
        found = _of_all(terms)
    else:
        found = terms
        for done, one in enumerate(sorted(axes)):
            found = _along(found, one - done)
    low, high = dtypes.span(wanted)
    if not low <= found.bound[0] <= found.bound[1] <= high:
        found = cast(cast(found, np.dtype(np.int64)), wanted)
    if keepdims:
        shape = tuple(1 if at in axes else length for at, length in enumerate(x.shape))
        found = found.reshape(shape)
    if found is not x and terms.bound == x.bound:
        found._counted = x, {"axis": tuple(axes), "keepdims": keepdims}, ()
    return found


def _in_digits(session: SlotSession, ends: tuple[int, int], dtype: np.dtype[Any]) -> bool:
    """Whether sums are beyond the modulus, and 32 bits hold them: pairs are added by digits then, which carry."""
    held = dtypes.held(dtype, ends) if _has(dtype, ends) else dtype
    return not session.fits(*ends) and held.itemsize == 4 and session.bootstrap_level is not None


def _with_carries(each: tuple[int, int], ends: tuple[int, int]) -> Callable[[Any, Any], Any]:
    """The sum of two sums of such elements, in digits from where one slot would have no table for what it holds."""
    least, most = min(each[0], ends[0]), max(each[1], ends[1])

    def joined(x: Any, y: Any) -> Any:
        # Where their number is odd, sums of more elements stand beside those of fewer.
        low, high = max(least, x.bound[0] + y.bound[0]), min(most, x.bound[1] + y.bound[1])
        if high - low < MOST_PLACES:
            return x + y
        x, y = aligned(x, y)
        words = _WORDS if max(len(one.numbers.digits) for one in (x, y)) <= WIDE_DIGITS else _WORDS[2:]
        both = min(low, x.bound[0], y.bound[0]), max(high, x.bound[1], y.bound[1])
        word = next(one for one in words if _has(one, both))
        x, y = wide.widened(x, y, word)
        # Numbers in one slot that have no table have no digits: their sum is refused, with its reason.
        made = wide.added(x, y, 1, word, (low, high)) if wide.is_wide(x) or wide.is_wide(y) else None
        return x + y if made is None else x.replaced(made, None, x.dtype)

    return joined


def _has(dtype: np.dtype[Any], ends: tuple[int, int]) -> bool:
    low, high = dtypes.span(dtype)
    return low <= ends[0] and ends[1] <= high


def _bounded(x: EncryptedSlots, ends: tuple[int, int]) -> EncryptedSlots:
    """The same numbers, of which the least and the largest are known."""
    numbers = x.forced()
    low, high = max(ends[0], numbers.low), min(ends[1], numbers.high)
    return x.replaced(Numbers(numbers.digits, numbers.offset, low, high).trimmed(), None, x.dtype)


def _of_all(x: EncryptedSlots) -> EncryptedSlots:
    """The sum of all elements, in every slot."""
    session, ends = x.session, _times(x.bound, x.size)
    if x.everywhere:
        numbers = x.forced().scaled(session, x.size, 0)
        return x.__class__(session, numbers, None, x.dtype, np.zeros((), dtype=np.int64), everywhere=True)
    key, engine = session.rotation(), session.engine
    # Elements of one place count as often as they are; beyond the elements there may be anything.
    often = np.bincount(x.index.ravel(), minlength=x.numbers.shape[1] * session.slots)
    rows = often.reshape(-1, session.slots)
    masked = bool((often != 1).any())
    numbers = room(session, x.forced(), 2, int(masked)).whole(session)
    [chunks] = numbers.digits
    whole = Numbers(([engine.weighted_sum(chunks, rows) if masked else _added(engine, chunks)],), 0, *ends)
    # A bootstrap of the sum takes no noise of masks. One of the terms is dearer, so it waits for who needs it.
    whole = whole.quieter(session) if masked and whole.level > 2 else whole
    numbers = Numbers(([engine.sum_slots(whole.digits[0][0], key)],), 0, *ends).quieter(session)
    return x.__class__(session, numbers, None, x.dtype, np.zeros((), dtype=np.int64), everywhere=True)


def _added(engine: Any, chunks: list[Any]) -> Any:
    found = chunks[0]
    for chunk in chunks[1:]:
        found = engine.add(found, chunk)
    return found


def _along(x: EncryptedSlots, axis: int) -> Any:
    """The sum over one axis of several."""
    session, length = x.session, x.shape[axis]
    if x.everywhere:
        numbers = x.forced().scaled(session, length, 0)
        index = np.take(x.index, 0, axis)
        return x.__class__(session, numbers, None, x.dtype, index, everywhere=True)
    x = x.replaced(room(session, x.forced(), 2, 0).whole(session), None, x.dtype)
    groups = _groups(x, axis)
    if len(groups) > _MOST_RUNS:
        groups = _groups(x.compact(), axis)
    found: Any = None
    for (run, step, *_), parts in groups.items():
        columns = zip(*(part.numbers.digits[0] for part in parts), strict=True)
        chunks = [moves.window(session, _added(session.engine, list(column)), run, abs(step)) for column in columns]
        numbers = Numbers((chunks,), 0, *_times(x.bound, run * len(parts))).quieter(session)
        # A window ends at the element that lies first.
        index = parts[0].index[0 if step >= 0 else -1]
        part = x.__class__(session, numbers, None, x.dtype, index)
        found = part if found is None else found + part
    return found


def _groups(x: EncryptedSlots, axis: int) -> dict[Any, list[EncryptedSlots]]:
    """Stretches along an axis that advance by one step within a row; those in the same slots are in one group."""
    across = x.moved(lambda index: np.moveaxis(index, axis, 0))
    groups: dict[Any, list[EncryptedSlots]] = defaultdict(list)
    for start, length, step in runs_of(across.index, x.session.row_slots):
        run = across[start : start + length]
        groups[length, step, run.index.tobytes(), run.numbers.shape[1]].append(run)
    return groups


# Running sums


def cumsum(x: EncryptedSlots, axis: Any = None, dtype: Any = None) -> EncryptedSlots:
    """As `numpy.cumsum`.

    Raises
    ------
    RangeError
        If a sum may not fit the modulus, or the axis does not exist.
    """
    flat = options.one_axis(axis) is None or not x.ndim
    across = x.reshape(-1) if flat else x
    [at] = axes_of(0 if flat else axis, across.ndim)
    wide = _wide(x.dtype, dtype)
    terms = cast(across, wide)
    length = across.shape[at]
    low, high = terms.bound
    ends = min(low, length * low), max(high, length * high)
    x.session.check_range(*ends)
    inner, outer = dtypes.span(wide)
    if ends[0] < inner or ends[1] > outer:
        raise RangeError(f"Running sums from {ends[0]} to {ends[1]} may not fit {wide}; give a wider dtype=.")
    last = terms.moved(lambda index: np.moveaxis(index, at, -1))
    most, before, done = x.session.row_slots // 2, None, list[Any]()
    for start in range(0, length, most):
        part = _running(last[..., start : start + most])
        done.append(part if before is None else part + before)
        # Ends of whole blocks lie in the same slots, so one sum of them moves for each block.
        end = part[..., -1:]
        before = end if before is None else before + end
    joint: Any = done[0] if len(done) == 1 else np.concatenate(done, axis=-1)
    found = joint.moved(lambda index: np.moveaxis(index, -1, at))
    numbers = found.forced()
    made: EncryptedSlots = found.replaced(Numbers(numbers.digits, numbers.offset, *ends), None, wide)
    return made


def _running(x: EncryptedSlots) -> EncryptedSlots:
    """Running sums along the last axis, which takes less than half a row with the zeros before it."""
    session, length = x.session, x.shape[-1]
    apart, row = 2 * length - 1, session.row_slots
    each = row // apart
    group = np.arange(x.size // length)
    first = group // each * row + group % each * apart
    begin = (first[:, None] + np.arange(length)).reshape(x.shape)
    # Elements come after zeros, and the window that begins so much before one ends at it.
    spaced = x.at(begin + length - 1, alone=True)
    chunks = [moves.window(session, chunk, length, 1) for chunk in spaced.numbers.digits[0]]
    low, high = x.bound
    numbers = Numbers((chunks,), 0, min(low, length * low), max(high, length * high)).quieter(session)
    return x.__class__(session, numbers, None, x.dtype, begin)


# Trees


def _tree(x: EncryptedSlots, axis: Any, keepdims: bool, join: Any) -> EncryptedSlots:
    return kept(ordering.tournament(axis_first(x, axis), join), x, axis, keepdims)


def kept(made: EncryptedSlots, x: EncryptedSlots, axis: Any, keepdims: bool) -> EncryptedSlots:
    """The result of a reduction, with axes of length 1 if they are kept."""
    if not keepdims:
        return made
    axes = axes_of(axis, x.ndim) if x.ndim else set()
    return made.reshape(tuple(1 if at in axes else length for at, length in enumerate(x.shape)))


def product(x: EncryptedSlots, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.prod`.

    Raises
    ------
    RangeError
        If the product may not fit the modulus.
    """
    return _tree(cast(x, _wide(x.dtype, dtype)), axis, keepdims, np.multiply)


def least(x: EncryptedSlots, axis: Any = None, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.min`."""
    return _tree(x, axis, keepdims, np.logical_and if x.dtype == _BOOL else np.minimum)


def most(x: EncryptedSlots, axis: Any = None, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.max`."""
    return _tree(x, axis, keepdims, np.logical_or if x.dtype == _BOOL else np.maximum)


def some(x: EncryptedSlots, axis: Any = None, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.any`."""
    found: EncryptedSlots = total(cast(x, _BOOL), axis, None, keepdims) != 0
    return found


def every(x: EncryptedSlots, axis: Any = None, keepdims: bool = False) -> EncryptedSlots:
    """As `numpy.all`."""
    counted = total(cast(x, _BOOL), axis, None, keepdims)
    found: EncryptedSlots = counted == x.size // counted.size
    return found


# Products of matrices


def dot(x: Any, y: Any) -> Any:
    """As `numpy.dot`, of which the second operand has one or two axes.

    Raises
    ------
    RangeError
        If the shapes have no product, or a sum may not fit the modulus.
    """
    # numpy makes arrays of Python's numbers, with a dtype.
    x, y = (one if is_slots(one) else clear(one) for one in (x, y))
    if not x.ndim or not y.ndim:
        return x * y
    if y.ndim > 2:
        raise RangeError(f"dot takes one or two axes of the second array, not {y.ndim}; call numpy.matmul for stacks.")
    return matmul(x, y)


def matmul(x: Any, y: Any) -> Any:
    """As `numpy.matmul`: products with a matrix in the clear take sums alone, and two encrypted ones meet in a table.

    Raises
    ------
    RangeError
        If the shapes have no product, or a sum may not fit the modulus.
    """
    shapes = np.shape(x), np.shape(y)
    if not all(shapes) or shapes[0][-1] != shapes[1][max(0, len(shapes[1]) - 2)]:
        raise RangeError(
            f"These shapes have no product: {shapes[0]} and {shapes[1]}; give vectors or matrices that fit."
        )
    if isinstance(y, np.ndarray) and y.ndim == 2:
        columns = [_summed(x * y[:, at]) for at in range(y.shape[1])]
        return np.stack(columns, axis=-1)
    if isinstance(x, np.ndarray) and x.ndim == 2 and np.ndim(y) <= 2:
        return np.stack([_summed(row * y.T) for row in x], axis=0)
    if len(shapes[1]) == 1:
        return _summed(x * y)
    one_row = len(shapes[0]) == 1
    left = (x[None] if one_row else x)[..., :, None, :]
    found = _summed(left * np.swapaxes(y, -1, -2)[..., None, :, :])
    return found[..., 0, :] if one_row else found


def _summed(products: Any) -> Any:
    """The sums along the last axis, in the dtype of the terms."""
    if products.dtype == _BOOL:
        return some(products, -1)
    return total(products, -1, products.dtype)
