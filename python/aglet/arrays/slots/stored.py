"""Whole numbers in slots in folders: one file for each ciphertext, and a head that is written last."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet._core import IntegerCiphertext
from aglet.arrays import layout
from aglet.arrays.digits import dtypes
from aglet.arrays.folders import DAMAGE, begin, finish, head_of, unchanged
from aglet.arrays.slots.residues import zmod
from aglet.arrays.slots.values import Numbers
from aglet.errors import KeyMismatchError, SerializationError

if TYPE_CHECKING:
    from aglet.arrays.slots.array import EncryptedSlots
    from aglet.arrays.slots.session import SlotSession

__all__ = ["holds_slots", "load", "save"]

_MOST_DIGITS = 16
"""Of numbers of 64 bits."""
_HEAD = "slots.json"
_MOST = 2**40
"""Places that an array without elements may have but for its axis of length 0."""


def holds_slots(place: Path) -> bool:
    """Whether a folder says that it holds numbers in slots."""
    return (place / _HEAD).is_file()


def save(array: EncryptedSlots, place: Path) -> None:
    """Write an array, after its table was looked up, as `SlotSession.save` says."""
    begin(place)
    if not np.array_equal(array.index, layout.in_a_row(array.shape)) or array.everywhere:
        array = array.compact()
    numbers = array.forced()
    chunks = [chunk for digit in numbers.digits for chunk in digit]
    names = _names(len(chunks))
    array.session.engine._fetch(chunks)
    for chunk, name in zip(chunks, names, strict=True):
        array.session.engine.write(chunk, place / name)
    # Version 1 had all elements in consecutive slots, as most arrays still have.
    straight = np.array_equal(array.index, layout.in_a_row(array.shape))
    head = {
        "version": 1 if straight else 2, "dtype": array.dtype.name, "shape": list(array.shape),
        "digits": len(numbers.digits), "numbers": [numbers.offset, numbers.low, numbers.high],
    }  # fmt: skip
    finish(place, _HEAD, {**head, "modulus": array.modulus} if hasattr(array, "modulus") else head, names)


def load(session: SlotSession, place: Path) -> EncryptedSlots:
    """Read an array, as `SlotSession.load` says."""
    from aglet.arrays.slots.array import EncryptedSlots

    damaged = SerializationError(f"{str(place)!a} holds no numbers in slots that a session wrote, or damaged ones.")
    t = session.engine.plaintext_modulus
    try:
        files = sum(1 for _ in place.iterdir())
        head = head_of(place, _HEAD, ("version", "dtype", "shape", "digits", "numbers", "modulus"))
        dtype, shape = dtypes.known(head["dtype"]), tuple(int(n) for n in head["shape"])
        digits, (offset, low, high) = int(head["digits"]), (int(end) for end in head["numbers"])
        # Without an element there is one ciphertext.
        rows = max(1, -(-math.prod(shape) // session.slots))
        version, straight = head["version"], head["version"] == 1
        # A forged shape is refused before places are counted.
        least_fits = 0 < rows < files and min(shape, default=1) >= 0
        rows = rows if straight or not least_fits else session.laid_out(shape)[1]
        least, most = dtypes.span(dtype)
        fits = 0 < digits <= _MOST_DIGITS and 0 < rows * digits < files and min(shape, default=1) >= 0
        # Of a shape without elements numpy counts the other axes.
        fits = fits and math.prod(n or 1 for n in shape) < _MOST if 0 in shape else fits
        within = least <= low <= high <= most and abs(offset) <= max(-least, most)
        names = _names(min(rows * digits, files))
        whole = version in (1, 2) and unchanged(place, head, names)
        fits = fits and head.get("modulus", t) == t
    except DAMAGE as error:
        raise damaged from error
    if not (fits and within and whole):
        raise damaged
    if digits == 1:
        session.check_range(low, high)
    chunks: list[Any] = [session.engine.read(place / name) for name in names]
    if not all(isinstance(chunk, IntegerCiphertext) for chunk in chunks):
        raise damaged
    if any(chunk.key_id != session.keys.key_id for chunk in chunks):
        raise KeyMismatchError(
            "This array is encrypted under another secret key; open a session with the keys of that one."
        )
    parts = tuple(chunks[at * rows : (at + 1) * rows] for at in range(digits))
    index = layout.in_a_row(shape) if straight else session.laid_out(shape)[0]
    found = EncryptedSlots(session, Numbers(parts, offset, low, high), None, dtype, index)
    return found if "modulus" not in head else found.astype(zmod(t))


def _names(count: int) -> list[str]:
    """The files of the ciphertexts."""
    return [f"{i}.ciphertext" for i in range(count)]
