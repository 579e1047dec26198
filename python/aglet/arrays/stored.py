"""Arrays in folders: one file for each ciphertext, one for the index, and a head that is written last."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet._core import Ciphertext
from aglet.arrays.array import EncryptedArray
from aglet.arrays.folders import DAMAGE, begin, finish, head_of, plain_of, unchanged
from aglet.arrays.interval import Interval
from aglet.errors import KeyMismatchError, SerializationError

if TYPE_CHECKING:
    from aglet.arrays.session import Session

__all__ = ["load", "save"]

_HEAD = "array.json"


def save(array: EncryptedArray, place: Path) -> None:
    """Write an array, as `Session.save` says."""
    begin(place)
    array = array.still()
    names = _names(len(array.chunks))
    array.session.engine._fetch(array.chunks)
    for chunk, name in zip(array.chunks, names, strict=False):
        array.session.engine.write(chunk, place / name)
    np.save(place / names[-1], array.index)
    filler = None if array.filler is None else [complex(array.filler).real, complex(array.filler).imag]
    interval = [array.interval.low, array.interval.high]
    head = {
        "version": 1, "chunks": len(array.chunks), "interval": interval, "filler": filler, "period": array.period,
    }  # fmt: skip
    finish(place, _HEAD, head, names)


def load(session: Session, place: Path) -> EncryptedArray:
    """Read an array, as `Session.load` says."""
    damaged = SerializationError(f"{str(place)!a} holds no array that Session.save wrote, or a damaged one.")
    try:
        # Ciphertexts, the index and the head.
        files = sum(1 for _ in place.iterdir())
        head = head_of(place, _HEAD, ("version", "chunks", "interval", "filler", "period"))
        index = plain_of(place / "index.npy")
        low, high = (float(end) for end in head["interval"])
        count, period, filler = int(head["chunks"]), head["period"], head["filler"]
        known, names = None if filler is None else complex(*filler), _names(min(count, files))
        whole = 0 < count < files and unchanged(place, head, names)
    except DAMAGE as error:
        raise damaged from error
    fits = index.dtype == np.int64 and index.size and index.min() >= 0 and index.max() < count * session.slots
    divides = period is None or (type(period) is int and period > 0 and session.slots % period == 0)
    if not whole or not fits or not divides or not low <= high or not math.isfinite(high - low):
        raise damaged
    chunks: list[Any] = [session.engine.read(place / name) for name in names[:-1]]
    if not all(isinstance(chunk, Ciphertext) for chunk in chunks):
        raise damaged
    if any(chunk.key_id != session.keys.key_id for chunk in chunks):
        raise KeyMismatchError(
            "This array is encrypted under another secret key; open a session with the keys of that one."
        )
    value = known.real if known is not None and not known.imag else known
    return EncryptedArray(session, chunks, index, Interval(low, high), value, period)


def _names(count: int) -> list[str]:
    """The files of the ciphertexts, and of the index."""
    return [*(f"{i}.ciphertext" for i in range(count)), "index.npy"]
