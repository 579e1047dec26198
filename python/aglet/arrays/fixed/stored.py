"""Numbers of a fixed format in folders: their words, and a head that also names the bits of the fraction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from aglet.arrays.digits import sent as words_sent
from aglet.arrays.digits import stored as words
from aglet.arrays.fixed.array import EncryptedFixed
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.fixed.sent import CompressedFixed
from aglet.arrays.folders import DAMAGE, head_of
from aglet.errors import SerializationError

if TYPE_CHECKING:
    from aglet.arrays.digits.session import DigitSession

__all__ = ["holds_fixed", "load", "save"]

_HEAD, _SENT = "fixed.json", "compressed-fixed.json"


def holds_fixed(place: Path) -> bool:
    """Whether a folder says that it holds numbers of a fixed format."""
    return (place / _HEAD).is_file() or (place / _SENT).is_file()


def save(array: EncryptedFixed | CompressedFixed, place: Path) -> None:
    """Write an array, as `DigitSession.save` says."""
    if isinstance(array, CompressedFixed):
        words_sent.save(array.words(), place, _SENT, fraction=array.dtype.fraction)
    else:
        words.save(array.words(), place, _HEAD, fraction=array.dtype.fraction)


def load(session: DigitSession, place: Path) -> EncryptedFixed | CompressedFixed:
    """Read an array, as `DigitSession.load` says."""
    compressed = not (place / _HEAD).is_file()
    name = _SENT if compressed else _HEAD
    reader: Any = words_sent if compressed else words
    found = reader.load(session, place, name, ["fraction"])
    try:
        dtype = fixed(
            8 * found.dtype.itemsize,
            head_of(place, name, {*words.ENTRIES, "fraction"})["fraction"],
            found.dtype.kind == "i",
        )
        if found.dtype != dtype.word:
            raise ValueError("the words are of another dtype")
    except DAMAGE as error:
        raise SerializationError(
            f"{str(place)!a} holds no numbers that DigitSession.save wrote, or damaged ones."
        ) from error
    return CompressedFixed(found, dtype) if compressed else EncryptedFixed(found, dtype)
