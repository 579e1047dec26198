"""Whole numbers from slots of integers to digits of FHEW and back, by the switch between both.

Down: a table gives each digit of two bits in slots, and slots become messages of FHEW, without a bootstrap of it. Up:
digits become slots exactly, several side by side in one conversion, and a weighted sum makes numbers of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import casts
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.sums import AnyDigit, Digit
from aglet.arrays.slots import longs
from aglet.arrays.slots.lifting import brought_down
from aglet.arrays.slots.places import laid
from aglet.arrays.slots.values import DIGIT, Numbers
from aglet.errors import MissingKeyError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession

__all__ = ["to_digits", "to_slots"]

_MAKES = (
    "make them with SchemeSwitch(engine, fhew_engine).create_keys(integers=integer_engine), or of integers alone with "
    "SchemeSwitch(integer_engine, fhew_engine).create_keys()."
)


def to_digits(x: EncryptedSlots) -> EncryptedIntegers:
    """Numbers in slots as digits: a table and a conversion for each two bits that they may have.

    Raises
    ------
    MissingKeyError
        If the keys have no FHEW for messages of 4 bits, or no switch.
    RangeError
        If the numbers may have more values than a table of slots has.
    LevelError
        If there is no level left, and no bootstrap.
    """
    from aglet.arrays.digits.array import EncryptedIntegers

    session = x.session.digits
    if session is None:
        raise MissingKeyError(f"Digits need keys of FHEW for messages of 4 bits beside these; {_MAKES}")
    if not x.size:
        none: EncryptedIntegers = session.clear(np.zeros(x.shape, x.dtype))
        return none
    x = x.split().still()
    if longs.is_long(x):
        planes = [longs.bits_of(x, 2 * at, 2) for at in range(dtypes.width(x.dtype))]
        digits: list[AnyDigit] = [
            np.broadcast_to(one.bound[0], x.shape)
            if one.bound[0] == one.bound[1]
            else Digit(brought_down(one), *one.bound)
            for one in planes
        ]
        return EncryptedIntegers(session, digits, x.dtype, x.shape, x.bound)
    values = x.values() if x.dtype.kind != "b" else (x.values() != 0).astype(np.int64)
    found: list[AnyDigit] = []
    for at in range(dtypes.width(x.dtype)):
        # Negative numbers are those of two's complement, as digits have them.
        part = values >> 2 * at & dtypes.high(x.dtype)
        if (part == part[0]).all():
            found.append(np.broadcast_to(part[0], x.shape))
            continue
        same = next((one for one, other in _made(found, values) if np.array_equal(other, part)), None)
        cells = same or Digit(brought_down(x.replaced(x.numbers, part, x.dtype)), int(part.min()), int(part.max()))
        found.append(cells)
    return EncryptedIntegers(session, found, x.dtype, x.shape, x.bound)


def _made(found: list[AnyDigit], values: Any) -> Any:
    """The digits that are made, each with its table: those of a sign are all alike."""
    return ((one, values >> 2 * at & 3) for at, one in enumerate(found) if isinstance(one, Digit))


def to_slots(x: EncryptedIntegers) -> EncryptedSlots:
    """Digits as numbers in slots: one conversion for as many digits as fit a row together.

    Numbers of 8 and of 16 bits lie in two and in four slots each, as encrypted ones do.

    Raises
    ------
    MissingKeyError
        If the keys have no integers, or no switch.
    RangeError
        If the numbers may not fit the modulus, or noise makes a wrong digit too probable.
    """
    session = x.session.integers
    if session is None:
        raise MissingKeyError(f"Slots need keys of an IntegerEngine beside these; {_MAKES}")
    if not x.size:
        none: EncryptedSlots = session.public(np.zeros(x.shape), x.dtype)
        return none
    low, high = casts.span(x)
    if x.dtype.itemsize != 4 or session.fits(low, high):
        session.check_range(low, high)
    planes = [(at, digit) for at, digit in enumerate(x.digits) if isinstance(digit, Digit)]
    # What is known of the digits in the clear, with the sign of the highest one.
    known: Any = np.zeros((), dtype=np.int64)
    for at, digit in enumerate(x.digits):
        if not isinstance(digit, Digit):
            known = known + _signed(x, at, digit) * _weight(session, at)
    if not planes:
        public: EncryptedSlots = session.public(np.broadcast_to(known, x.shape), x.dtype)
        return public
    raised = _raised(session, [digit for _, digit in planes], x.shape)
    for number, (at, _) in enumerate(planes):
        if _has_sign(x, at):
            raised[number] = raised[number].replaced(raised[number].numbers, _signed(x, at, np.arange(4)), np.int64)
    signed = _has_sign(x, planes[-1][0])
    if [at for at, _ in planes] in _WHOLE and not known.any() and (not signed or len(planes) == 4 * x.dtype.itemsize):
        # Digits of four bits, the highest one from 0 on.
        parts = [_summed(session, raised[at : at + 2], (0, 1)) for at in range(0, len(planes), 2)]
        first, last = parts[0], len(parts) - 1
        digits = [one.at(first.index, first.numbers.shape[1]).numbers.digits[0] for one in parts]
        over = DIGIT // 2 if signed else 0
        digits[last] = [session.engine.add(chunk, over) if over else chunk for chunk in digits[last]]
        return first.replaced(Numbers(tuple(digits), -over * DIGIT**last, low, high).trimmed(), None, x.dtype)
    session.check_range(low, high)
    found = _summed(session, raised, [at for at, _ in planes])
    chunks = found.numbers.digits[0]
    if known.any():
        rows = laid(found, np.broadcast_to(known, x.shape) if known.ndim else known)
        chunks = [session.engine.add(chunk, row) for chunk, row in zip(chunks, rows, strict=True)]
    return found.replaced(Numbers((chunks,), 0, low, high), None, x.dtype)


_WHOLE = [list(range(4 * size)) for size in (1, 2, 4)]
"""The encrypted digits of two bits of numbers of 8, 16 and 32 bits."""


def _has_sign(x: EncryptedIntegers, at: int) -> bool:
    return x.dtype.kind == "i" and at == len(x.digits) - 1


def _signed(x: EncryptedIntegers, at: int, digit: Any) -> Any:
    """A digit, which counts from -2 on where it holds the sign."""
    return np.where(digit >= 2, digit - 4, digit) if _has_sign(x, at) else digit


def _weight(session: SlotSession, at: int) -> int:
    """The value of a digit modulo t, nearest to 0."""
    t = session.engine.plaintext_modulus
    return int((pow(4, at, t) + t // 2) % t - t // 2)


def _raised(session: SlotSession, digits: list[Digit], shape: tuple[int, ...]) -> list[EncryptedSlots]:
    """Digits as arrays in slots, side by side in as few ciphertexts as they fit into."""
    from aglet.arrays.slots.array import EncryptedSlots

    size, slots = max(int(np.prod(shape, dtype=np.int64)), 1), session.slots
    each, rows = max(1, slots // size), -(-size // slots)
    bits = max(digit.high for digit in digits).bit_length()
    chunks: list[Any] = []
    for first in range(0, len(digits), each):
        cells: Any = np.concatenate([digit.cells.reshape(-1) for digit in digits[first : first + each]])
        chunks += [session.up(cells[at : at + slots], bits) for at in range(0, len(cells), slots)]
    found = []
    for at, digit in enumerate(digits):
        taken = chunks[at // each * rows : (at // each + 1) * rows]
        index = (at % each * size + np.arange(size)).reshape(shape)
        found.append(EncryptedSlots(session, Numbers((taken,), 0, 0, digit.high), None, np.dtype(np.int64), index))
    return found


def _summed(session: SlotSession, planes: list[EncryptedSlots], places: Any) -> EncryptedSlots:
    """The sum of digits with their values modulo t, in the places of the first."""
    first, rows, weights = planes[0], [], [_weight(session, at) for at in places]
    for plane in planes:
        plane.forced()
        rows.append(plane.at(first.index, first.numbers.shape[1]).numbers.digits[0])
    total = [session.engine.weighted_sum(column, weights) for column in zip(*rows, strict=True)]
    return first.replaced(Numbers((total,), 0, 0, DIGIT - 1), None, first.dtype)
