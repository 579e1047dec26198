"""Casts from arrays of digits to arrays of floats, by scheme switching, and operands of both kinds together.

Digits become floats bit by bit: a conversion from FHEW takes messages 0 and 1. The planes of bits lie side by side in
as few ciphertexts as they fit into, and a weighted sum makes numbers of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.sums import AnyDigit, Digit, Sum
from aglet.arrays.interval import Interval
from aglet.errors import MissingKeyError
from aglet.shaped import Shaped

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray
    from aglet.arrays.digits.array import EncryptedIntegers
    from aglet.arrays.digits.machine import Machine
    from aglet.arrays.session import Session

__all__ = ["MOST_BITS", "floats", "is_whole", "lifted", "raised", "sharp", "to_floats", "to_inexact", "wraps_doubled"]

MOST_BITS = 16
"""Bits of whole numbers that become floats. A bit of value 2^k has 2^k times the error of one, about 2^-22 if sharp."""
_LOSSY_BITS = 24
"""The highest bits of those that do with casting "unsafe": more are no weights of a plaintext, nor values in the clear
of two less."""
_STEP = 2.0**20
"""The largest factor by which what lacks its lowest bits is multiplied at once."""
_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


def to_inexact(x: Any, wanted: np.dtype[Any], casting: str, floats: Callable[[], EncryptedArray]) -> EncryptedArray:
    """Whole numbers as floats or complex numbers of CKKS, made by `floats`.

    Raises
    ------
    TypeError
        If `casting` does not allow it, or CKKS has no such dtype.
    """
    how: Any = checks.choice("casting", casting, _CASTING)
    if wanted not in (np.float64, np.complex128):
        raise TypeError(f"Encrypted numbers of CKKS are float64 or complex128, not {wanted}; choose one.")
    if not np.can_cast(x.dtype, wanted, how):
        raise TypeError(f'{x.dtype} is not {wanted}; casting="safe", the default, allows it.')
    found = floats()
    return found if wanted == np.float64 else found + 0j


def lifted(*given: Any) -> tuple[Any, ...] | None:
    """Arguments with every array of digits as floats, if one of them holds floats, as numpy's dtypes demand.

    None if none does, or none is an array of digits.
    """
    leaves = list(_leaves(given))
    if not any(map(is_whole, leaves)) or not any(map(_is_float, leaves)):
        return None
    found: tuple[Any, ...] = floats(given)
    return found


def to_floats(x: EncryptedIntegers, casting: str = "safe") -> EncryptedArray:
    """Digits as floats: about one bootstrap for each bit of an element, and one of CKKS for all of them.

    With casting "unsafe", numbers of more than 24 bits keep their highest ones, 21 at least.

    Raises
    ------
    TypeError
        If the numbers may have more than 16 bits, and casting is not "unsafe".
    MissingKeyError
        If the keys have no CKKS, or no switch from FHEW to it.
    """
    session = _floats(x)
    low, high = span(x)
    used = _used(x, low, high)
    if casting == "unsafe":
        public = any(not isinstance(digit, Digit) for digit in x.digits[:used])
        lost = max(0, used - _LOSSY_BITS // 2 + public)
        planes, clear = _planes(x.session.machine, x.digits[lost:used], signed=low < 0)
    else:
        lost, (planes, clear) = 0, _planes(x.session.machine, x.digits[:used], signed=low < 0)
        bits = max((at for at, _ in planes), default=-1) + 1
        if bits > MOST_BITS:
            raise TypeError(
                f"{x.dtype} has {bits} bits here, of which floats of CKKS keep about 20 less the largest; declare a "
                'smaller range with x.assume(bound=...), or say astype(numpy.float64, casting="unsafe"), which keeps '
                "the highest ones."
            )
    if not planes:
        ends = (low // 4**lost, high // 4**lost)
        seen: EncryptedArray = session.encrypt(np.broadcast_to(clear, x.shape), bound=ends, dtype=np.float64)
        return _restored(seen, lost, low, high)
    weights = [_weight(at, signed=low < 0 and at == 2 * (used - lost) - 1) for at, _ in planes]
    found = raised(session, [digit for _, digit in planes], x.shape)
    found = found if weights == [1] else sharp(found)
    if len(weights) == 1:
        found = found[0] * weights[0]
    else:
        found = (found * np.reshape(weights, (len(weights), *[1] * x.ndim))).sum(axis=0)
        # Every slot is a sum of some of the planes, each once.
        whole = Interval(sum(w for w in weights if w < 0), sum(w for w in weights if w > 0))
        found = found.replaced(interval=whole, filler=None)
    return _restored(found + np.broadcast_to(clear, x.shape) if np.any(clear) else found, lost, low, high)


def _restored(x: EncryptedArray, lost: int, low: int, high: int) -> EncryptedArray:
    """Numbers without their lowest digits as those between two ends: in the middle of what they may have been."""
    factor, left = 4.0**lost, 4.0**lost
    while left > 1:
        step = min(left, _STEP)
        x, left = x * step, left / step
    x = x + (factor - 1) / 2 if lost else x
    ends = Interval(low - (factor - 1) / 2, high + (factor - 1) / 2)
    # A declared range without 0 is one to divide by: slots between elements get a number of it.
    return x.within(ends) if ends.low <= 0 <= ends.high else x.assume(bound=(ends.low, ends.high))


def _weight(at: int, *, signed: bool) -> float:
    """The value of a bit, which is negative for the highest one of a signed number."""
    return -(2.0**at) if signed else 2.0**at


def _used(x: EncryptedIntegers, low: int, high: int) -> int:
    """How many of the lowest digits hold all numbers between these ends; of negative ones with a sign."""
    return min(len(x.digits), max(1, -(-dtypes.bits(low, high) // 2)))


def span(x: EncryptedIntegers) -> tuple[int, int]:
    """The least and the largest value, as declared or by the digits."""
    if x.bound is not None:
        return x.bound
    if x.dtype.kind == "i":
        return dtypes.span(x.dtype)
    ends = [_ends(digit) for digit in x.digits]
    low, high = (sum(end[side] << 2 * at for at, end in enumerate(ends)) for side in (0, 1))
    return low, high


def wraps_doubled(x: Any) -> bool:
    """Whether a sum of two elements may leave their dtype, and wraps around as in numpy."""
    if not is_whole(x):
        return False
    (low, high), (least, most) = span(x), dtypes.span(x.dtype)
    return 2 * low < least or 2 * high > most


def _ends(digit: AnyDigit) -> tuple[int, int]:
    if isinstance(digit, Digit):
        return digit.low, digit.high
    return (int(digit.min()), int(digit.max())) if digit.size else (0, 0)


def _floats(x: EncryptedIntegers) -> Session:
    session = x.session.floats
    if session is None:
        raise MissingKeyError(
            "These keys have digits alone, and floats need keys of CKKS and of a switch; make them with "
            "SchemeSwitch(engine, fhew_engine).create_keys(), and give them to Session(keys)."
        )
    return session


def _planes(machine: Machine, digits: Sequence[AnyDigit], *, signed: bool) -> tuple[list[tuple[int, Digit]], Any]:
    """The encrypted bits with their places, and the value of all digits in the clear."""
    planes: list[tuple[int, Digit]] = []
    wide: list[tuple[int, Digit]] = []
    clear: Any = np.zeros((), dtype=np.float64)
    for at, digit in enumerate(digits):
        if not isinstance(digit, Digit):
            value = np.where(digit >= 2, digit - 4, digit) if signed and at == len(digits) - 1 else digit
            clear = clear + value * 4.0**at
        elif digit.high <= 1:
            planes.append((2 * at, digit))
        else:
            wide.append((2 * at, digit))
    if wide:
        both = machine.read([Sum.of((digit, 1)) for _, digit in wide], _first, _second)
        for step, row in enumerate(both):
            planes += [(at + step, bit) for (at, _), bit in zip(wide, row, strict=True)]  # type: ignore[misc]
    return sorted(planes, key=lambda plane: plane[0]), clear


def _first(digit: int) -> int:
    return digit & 1


def _second(digit: int) -> int:
    return digit >> 1


def raised(session: Session, planes: Sequence[Digit], shape: tuple[int, ...]) -> EncryptedArray:
    """Planes of bits as an array with a first axis for them.

    Planes begin a power of two apart, within a chunk or in chunks of their own. So a sum over them adds each plane once
    in every slot, also in those between elements.
    """
    from aglet.arrays.array import EncryptedArray

    size, slots = max(planes[0].cells.size, 1), session.slots
    apart = 1 << (size - 1).bit_length()
    each = max(1, slots // apart)
    chunks: list[Any] = []
    for first in range(0, len(planes), each):
        cells: Any = np.concatenate([_padded(plane.cells.reshape(-1), apart) for plane in planes[first : first + each]])
        chunks += [session.machine.from_bits(cells[at : at + slots]) for at in range(0, cells.size, slots)]
    starts = apart * np.arange(len(planes))
    index = starts.reshape(-1, *[1] * len(shape)) + np.arange(size).reshape(shape)
    return EncryptedArray(session, chunks, index, Interval(0.0, 1.0), 0.0)


def sharp(bits: EncryptedArray) -> EncryptedArray:
    """Bits nearer to 0 and 1, by 3 x^2 - 2 x^3: what is off by e is off by 3 e^2 then. Uses two levels.

    FHEW leaves up to 2^-14, which the highest of 16 bits makes a whole number of.
    """
    return (bits.square() * (3 - 2 * bits)).replaced(interval=Interval(0.0, 1.0), filler=0.0)


def _padded(cells: Any, size: int) -> Any:
    """Cells with zeros in the clear up to this number."""
    zero: Any = np.broadcast_to(cells[:1] * 0, (size - cells.size,))
    return np.concatenate([cells, zero]) if zero.size else cells


# Operands of both kinds


def is_whole(value: Any) -> bool:
    """Whether a value is an encrypted array of booleans or whole numbers."""
    from aglet.arrays.digits.array import EncryptedIntegers
    from aglet.arrays.slots.array import EncryptedSlots

    return isinstance(value, EncryptedIntegers | EncryptedSlots)


def _is_float(value: Any) -> bool:
    from aglet.arrays.array import EncryptedArray

    if isinstance(value, EncryptedArray | float | complex):
        return True
    if isinstance(value, Shaped):
        # A missing attribute takes a sentence to say so.
        return False
    # Columns and tables of pandas have this method, and dtypes of their own.
    value = np.asarray(value) if hasattr(value, "to_numpy") else value
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc"


def _leaves(given: Any) -> Any:
    """The values in nested lists."""
    for value in given.values() if isinstance(given, dict) else given:
        yield from _leaves(value) if isinstance(value, list | tuple | dict) else [value]


def floats(value: Any) -> Any:
    """Arguments with every array of digits as floats.

    Raises
    ------
    MissingKeyError
        If the keys have no CKKS, or no switch from FHEW to it.
    """
    if isinstance(value, list | tuple):
        return type(value)(floats(one) for one in value)
    if isinstance(value, dict):
        return {name: floats(one) for name, one in value.items()}
    return value.astype(np.float64) if is_whole(value) else value
