"""`CompressedIntegers`: encrypted integers for sending, four bits to a ciphertext, packed and rounded.

Two digits of two bits, or four booleans, become one message on the whole torus, `4 high + low` at sixteenths, which
takes no bootstrap. What is packed of them decrypts to the same numbers and computes no more.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet.arrays.digits import dtypes
from aglet.arrays.digits.stored import ENTRIES
from aglet.arrays.digits.sums import Digit
from aglet.arrays.folders import DAMAGE, begin, finish, head_of, plain_kept, plain_of, plain_rows, unchanged
from aglet.errors import KeyMismatchError, RangeError, SerializationError
from aglet.fhew.ciphertext import FhewCiphertext

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers
    from aglet.arrays.digits.session import DigitSession

__all__ = ["HEAD", "CompressedIntegers", "compress", "holds_compressed", "load", "opened", "save"]

HEAD = "compressed.json"
_CELLS, _CLEAR = "nibbles.ciphertext", "clear.npy"
_BITS = 4


class CompressedIntegers:
    """Encrypted booleans or whole numbers for sending. `session.compress` makes one, `session.decrypt` opens it."""

    __slots__ = ("_cells", "_clear", "dtype", "encrypted", "session", "shape")

    def __init__(
        self,
        session: DigitSession,
        cells: Any,
        clear: NDArray[np.int64],
        encrypted: Sequence[bool],
        dtype: np.dtype[Any],
    ) -> None:
        self.session, self.dtype, self.encrypted = session, dtype, tuple(encrypted)
        self.shape: tuple[int, ...] = clear.shape[1:]
        self._cells, self._clear = cells, clear

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        count = 0 if self._cells is None else self._cells.size
        return f"<CompressedIntegers {self.shape}: {self.dtype}, {count} ciphertexts of four bits, for sending>"


def _digits_together(dtype: np.dtype[Any]) -> int:
    """The digits that a ciphertext has: two of two bits, four booleans."""
    return _BITS if dtype.kind == "b" else 2


def _views(digits: Sequence[Any], dtype: np.dtype[Any]) -> Any:
    """All digits of all elements on one axis, so many to a message. The last one repeats a digit where it has room."""
    flat, together = np.concatenate([cells.reshape(-1) for cells in digits]), _digits_together(dtype)
    count = -(-len(flat) // together)
    places = np.minimum(np.arange(count * together), len(flat) - 1).reshape(count, together)
    view = flat[places[:, 0]]
    for at in range(1, together):
        view = view + flat[places[:, at]] * 2 ** (at * _BITS // together)
    return view


def compress(session: DigitSession, array: EncryptedIntegers) -> CompressedIntegers:
    """What `DigitSession.compress` does."""
    digits = [digit for digit in array.digits if isinstance(digit, Digit)]
    clear = [digit for digit in array.digits if not isinstance(digit, Digit)]

    def packed() -> Any:
        return session.machine.compress(_views([digit.cells for digit in digits], array.dtype))

    cells = None
    if digits and array.size:
        try:
            cells = packed()
        except RangeError:
            session.machine.refresh(digits)
            cells = packed()
    there = np.stack(clear) if clear else np.zeros((0, *array.shape), dtype=np.int64)
    return CompressedIntegers(session, cells, there, [isinstance(one, Digit) for one in array.digits], array.dtype)


def opened(array: CompressedIntegers) -> NDArray[Any]:
    """The values, decrypted."""
    digits = {True: iter(_decrypted(array)), False: iter(array._clear)}
    return dtypes.join([next(digits[one]) for one in array.encrypted], array.dtype)


def _decrypted(array: CompressedIntegers) -> NDArray[np.int64]:
    """The digits that are encrypted."""
    shape, together = (sum(array.encrypted), *array.shape), _digits_together(array.dtype)
    if array._cells is None:
        return np.zeros(shape, dtype=np.int64)
    messages, width = np.asarray(array.session.machine.decrypt(array._cells)), _BITS // together
    digits = np.stack([messages >> (width * at) & (2**width - 1) for at in range(together)], axis=1)
    return digits.reshape(-1)[: math.prod(shape)].reshape(shape)


def holds_compressed(place: Path) -> bool:
    """Whether a folder says that it holds compressed integers."""
    return (place / HEAD).is_file()


def save(array: CompressedIntegers, place: Path, name: str = HEAD, **more: Any) -> None:
    """Write an array, as `DigitSession.save` says, with more in a head of another name."""
    begin(place)
    if array._cells is not None:
        array.session.engine.write(array._cells, place / _CELLS)
    np.save(place / _CLEAR, plain_kept(array._clear, beside=array._cells is not None))
    head = {"version": 1, "dtype": array.dtype.name, "shape": list(array.shape), "encrypted": list(array.encrypted)}
    finish(place, name, {**head, **more}, _files(array._cells is not None))


def _files(encrypted: bool) -> list[str]:
    return [_CELLS, _CLEAR] if encrypted else [_CLEAR]


def load(session: DigitSession, place: Path, name: str = HEAD, more: Collection[str] = ()) -> CompressedIntegers:
    """Read an array, as `DigitSession.load` says. What more its head has is what the caller reads."""
    damaged = SerializationError(f"{str(place)!a} holds no integers that DigitSession.save wrote, or damaged ones.")
    try:
        head = head_of(place, name, {*ENTRIES, *more})
        clear = plain_of(place / _CLEAR)
        dtype, shape = dtypes.known(head["dtype"]), tuple(int(n) for n in head["shape"])
        encrypted = [bool(one) for one in head["encrypted"]]
        high, digits = dtypes.high(dtype), sum(encrypted) * math.prod(shape)
        whole = head["version"] == 1 and unchanged(place, head, _files(digits > 0))
    except DAMAGE as error:
        raise damaged from error
    clear = plain_rows(clear, (len(encrypted) - sum(encrypted), *shape), beside=digits > 0)
    fits = whole and len(encrypted) == dtypes.width(dtype) and clear is not None
    if not fits or ((clear < 0) | (clear > high)).any():
        raise damaged
    cells: Any = session.engine.read(place / _CELLS) if digits else None
    size = (-(-digits // _digits_together(dtype)),)
    if digits and (not isinstance(cells, FhewCiphertext) or cells.shape != size or cells.form != "full"):
        raise damaged
    if digits and session.keys._fhew_ids() != {cells.key_id}:
        raise KeyMismatchError(
            "This array is encrypted under another secret key; open a session with the keys of that one."
        )
    return CompressedIntegers(session, cells, clear, encrypted, dtype)
