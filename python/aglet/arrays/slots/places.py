"""Places of numbers in slots: two operands in the same places, and numbers in the clear laid out in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes
from aglet.arrays.whole import WholeNumbers
from aglet.errors import KeyMismatchError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["aligned", "chunks_of", "clear", "ends_of", "is_slots", "laid", "one_session"]


def is_slots(value: Any) -> bool:
    """Whether a value is an encrypted array of this kind."""
    return isinstance(value, WholeNumbers) and value.representation == "slots"


def one_session(*arrays: Any) -> None:
    """Refuse arrays that cannot meet.

    Raises
    ------
    TypeError
        If some are whole numbers and some numbers modulo t.
    KeyMismatchError
        If they belong to two sessions.
    """
    first = arrays[0]
    for one in arrays[1:]:
        if one.session is first.session:
            continue
        if one.session.keys is first.session.keys and type(one) is not type(first):
            t = first.session.engine.plaintext_modulus
            raise TypeError(f"Whole numbers meet numbers modulo {t} after x.astype(zmod({t})).")
        raise KeyMismatchError("These arrays belong to two sessions; use one session.")


def clear(value: Any) -> Any:
    """Numbers in the clear as an array.

    Raises
    ------
    TypeError
        If they are neither booleans nor whole numbers, masked, or a matrix of numpy's class.
    """
    dtypes.refuse_matrix(value)
    array = dtypes.unmasked(value)
    if array.dtype.kind not in "biu":
        raise TypeError("Numbers in slots compute with booleans and whole numbers; convert the others first.")
    return array


def chunks_of(x: EncryptedSlots) -> list[Any]:
    """The ciphertexts of an array, with each number whole in its slot, modulo t if it lies beyond."""
    return x.forced().residues(x.session)


def ends_of(value: Any) -> tuple[int, int]:
    """The least and the largest value of an operand."""
    if is_slots(value):
        found: tuple[int, int] = value.bound
        return found
    numbers = np.asarray(value)
    return int(numbers.min()), int(numbers.max())


def laid(x: EncryptedSlots, plain: Any) -> list[Any]:
    """Numbers in the clear in the places of an array, for each ciphertext; one number stays one."""
    numbers, count = np.asarray(plain).astype(np.int64), x.numbers.shape[1]
    if numbers.size == 1:
        return [int(numbers.reshape(()))] * count
    return list(_scattered(x, numbers).reshape(count, -1))


def _scattered(x: EncryptedSlots, numbers: Any) -> Any:
    """Numbers in the slots of all ciphertexts of an array, where its elements lie, and zeros between."""
    flat = np.zeros(x.numbers.shape[1] * x.session.slots, dtype=np.int64)
    flat[x.index] = numbers
    return flat


def aligned(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands in their common shape, of which encrypted ones have their elements in the same places.

    The one that is dearer to move stays.
    """
    shape = checks.common_shape(*(one.shape if is_slots(one) else np.shape(one) for one in (x, y)))
    x, y = (one.broadcast_to(shape) if is_slots(one) else one for one in (x, y))
    if not (is_slots(x) and is_slots(y)):
        array, plain = (x, y) if is_slots(x) else (y, x)
        if np.size(plain) > 1 and not _holds(array, np.broadcast_to(plain, shape)):
            array = array.compact()
        return (array, y) if is_slots(x) else (x, array)
    if x.everywhere and y.everywhere:
        return x, y
    if x.everywhere or y.everywhere:
        return (x.at(y.index, y.numbers.shape[1]), y) if x.everywhere else (x, y.at(x.index, x.numbers.shape[1]))
    if x.numbers.shape[1] == y.numbers.shape[1] and np.array_equal(x.index, y.index):
        return x, y
    able = [one for one in (x, y) if np.unique(one.index).size == one.size]
    if not able:
        return x.compact(), y.compact()
    # A move takes a level, and digits move one by one. Steps to the left are the cheapest.
    row = x.session.row_slots

    def dear(one: EncryptedSlots) -> tuple[int, ...]:
        other = y if one is x else x
        left = int(other.index.flat[0] - one.index.flat[0]) % row
        return -len(one.numbers.digits), one.level, -one.numbers.shape[1], left.bit_count()

    stays = min(able, key=dear)
    count = stays.numbers.shape[1]
    return (stays, y.at(stays.index, count)) if stays is x else (x.at(stays.index, count), stays)


def _holds(x: EncryptedSlots, plain: Any) -> bool:
    """Whether each place of an array has one of these numbers."""
    return not x.everywhere and bool((_scattered(x, plain)[x.index] == plain).all())
