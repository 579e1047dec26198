"""Casts from numbers in slots of integers to floats of CKKS, by both scheme switches: slots, FHEW, slots.

A bit of a slot goes down as a message with so little noise that it goes up again without a bootstrap of FHEW. A number
of several bits takes a table for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import casts
from aglet.arrays.digits import dtypes
from aglet.arrays.digits.sums import Digit
from aglet.arrays.interval import Interval
from aglet.errors import MissingKeyError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["highest", "loses", "to_floats"]


def to_floats(x: EncryptedSlots) -> EncryptedArray:
    """Numbers of up to 16 bits as floats, as `EncryptedSlots.astype` says.

    Raises
    ------
    TypeError
        If the numbers have more bits.
    MissingKeyError
        If the keys have no CKKS, or no switches.
    """
    floats = x.session.floats
    if floats is None:
        raise MissingKeyError(
            "These keys have slots of integers alone, and floats need keys of CKKS and of both switches; make them "
            "with SchemeSwitch(engine, fhew_engine).create_keys(integers=integer_engine), for Session(keys)."
        )
    x = x.still()
    low, high = x.bound
    bits = (high - low).bit_length()
    if not bits:
        public: EncryptedArray = floats.encrypt(np.full(x.shape, float(low)), bound=max(abs(low), 1), dtype=np.float64)
        return public
    if x._counted is not None:
        # A sum of many has many bits, and its terms few.
        terms, options, views = x._counted
        found: EncryptedArray = terms.astype(np.float64).sum(**options)
        for move in views:
            found = found.reshape(-1)[move(np.arange(found.size).reshape(found.shape))]
        return found.assume(bound=x.bound)
    if bits > casts.MOST_BITS:
        raise TypeError(
            f"Numbers from {low} to {high} have {bits} bits, of which floats of CKKS keep about 20 less the largest; "
            "declare a smaller range with x.assume(bound=...), or say astype(numpy.float64, "
            'casting="unsafe"), which keeps the highest ones.'
        )
    x = x.split().still()
    above = x.values() - low
    planes = [_plane(x.replaced(x.numbers, above >> at & 1, bool)) for at in range(bits)]
    raised = casts.raised(floats, planes, x.shape)
    weights = 2.0 ** np.arange(bits)
    if bits == 1:
        whole = raised[0]
    else:
        whole = (casts.sharp(raised) * weights.reshape(-1, *[1] * x.ndim)).sum(axis=0)
        whole = whole.replaced(interval=Interval(0.0, 2.0**bits - 1), filler=None)
    return (whole + low if low else whole).within(Interval(low, high))


def loses(x: EncryptedSlots) -> bool:
    """Whether numbers have more bits than floats keep."""
    return x._counted is None and (x.bound[1] - x.bound[0]).bit_length() > casts.MOST_BITS


def highest(x: EncryptedSlots) -> EncryptedArray:
    """Numbers of more than 16 bits as floats, by their 16 highest bits: in the middle of what they may have been.

    Errors are those of `to_floats`.
    """
    low, high = x.bound
    lost = dtypes.bits(low, high) - casts.MOST_BITS
    above = (x >> np.asarray(lost, dtype=x.dtype)).astype("int16" if low < 0 else "uint16", casting="unsafe")
    return to_floats(above) * 2.0**lost + (2.0**lost - 1) / 2


def _plane(flags: EncryptedSlots) -> Digit:
    """Booleans as messages of FHEW."""
    return Digit(brought_down(flags), 0, 1)


def brought_down(x: EncryptedSlots) -> Any:
    """The elements as messages of FHEW, which have few bits."""
    session, chunks = x.session, x.with_levels(1).whole(x.session).digits[0]
    wanted, which = np.unique(x.index, return_inverse=True)
    ends = np.searchsorted(wanted, session.slots * np.arange(len(chunks) + 1))
    cells = [
        session.down(chunk, wanted[start:end] % session.slots)
        for chunk, start, end in zip(chunks, ends, ends[1:], strict=False)
        if end > start
    ]
    whole: Any = np.concatenate(cells) if len(cells) > 1 else cells[0]
    return whole[which.reshape(-1)].reshape(x.shape)
