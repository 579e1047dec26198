"""Encrypted integers in folders: a file of encrypted digits, one of digits in the clear, and a head, written last."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays.digits import dtypes
from aglet.arrays.digits.sums import AnyDigit, Digit
from aglet.arrays.folders import DAMAGE, begin, finish, head_of, plain_kept, plain_of, plain_rows, unchanged
from aglet.errors import KeyMismatchError, SerializationError
from aglet.fhew.ciphertext import FhewCiphertext

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers
    from aglet.arrays.digits.session import DigitSession

__all__ = ["ENTRIES", "HEAD", "holds_digits", "load", "save"]

HEAD, _CELLS, _CLEAR = "integers.json", "digits.ciphertext", "clear.npy"
ENTRIES = ("version", "dtype", "shape", "encrypted")
"""Of a head."""


def holds_digits(place: Path) -> bool:
    """Whether a folder says that it holds digits."""
    return (place / HEAD).is_file()


def save(array: EncryptedIntegers, place: Path, name: str = HEAD, **more: Any) -> None:
    """Write an array, as `DigitSession.save` says, with more in a head of another name."""
    begin(place)
    cells: list[Any] = [digit.cells for digit in array.digits if isinstance(digit, Digit)]
    if cells:
        array.session.engine.write(np.stack(cells), place / _CELLS)
    clear = [digit for digit in array.digits if not isinstance(digit, Digit)]
    rows = np.stack(clear) if clear else np.zeros((0, *array.shape), dtype=np.int64)
    np.save(place / _CLEAR, plain_kept(rows, beside=bool(cells)))
    encrypted = [isinstance(digit, Digit) for digit in array.digits]
    head = {"version": 1, "dtype": array.dtype.name, "shape": list(array.shape), "encrypted": encrypted}
    finish(place, name, {**head, **more}, _files(len(cells)))


def _files(count: int) -> list[str]:
    """The files of an array with so many encrypted digits."""
    return [_CELLS, _CLEAR] if count else [_CLEAR]


def load(session: DigitSession, place: Path, name: str = HEAD, more: Collection[str] = ()) -> EncryptedIntegers:
    """Read an array, as `DigitSession.load` says. What more its head has is what the caller reads."""
    from aglet.arrays.digits.array import EncryptedIntegers

    damaged = SerializationError(f"{str(place)!a} holds no integers that DigitSession.save wrote, or damaged ones.")
    try:
        head = head_of(place, name, {*ENTRIES, *more})
        clear = plain_of(place / _CLEAR)
        dtype, shape = dtypes.known(head["dtype"]), tuple(int(n) for n in head["shape"])
        encrypted = [bool(one) for one in head["encrypted"]]
        count, high = sum(encrypted), dtypes.high(dtype)
        whole = head["version"] == 1 and unchanged(place, head, _files(count))
    except DAMAGE as error:
        raise damaged from error
    clear = plain_rows(clear, (len(encrypted) - count, *shape), beside=count > 0)
    fits = whole and len(encrypted) == dtypes.width(dtype) and clear is not None
    if not fits or ((clear < 0) | (clear > high)).any():
        raise damaged
    cells: Any = session.engine.read(place / _CELLS) if count else ()
    if count and (not isinstance(cells, FhewCiphertext) or cells.shape != (count, *shape) or cells.form != "padded"):
        raise damaged
    if count and session.keys._fhew_ids() != {cells.key_id}:
        raise KeyMismatchError(
            "This array is encrypted under another secret key; open a session with the keys of that one."
        )
    both = [iter(clear), iter(cells)]
    # What a file says of ranges is not trusted: a digit has the range of its dtype.
    digits: list[AnyDigit] = [Digit(next(both[1]), 0, high) if one else next(both[0]) for one in encrypted]
    return EncryptedIntegers(session, digits, dtype, shape)
