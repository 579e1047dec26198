"""Arrays in folders: one file for each ciphertext, one for the index, and a head that is written last."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet._core import Ciphertext
from aglet.arrays.array import EncryptedArray
from aglet.arrays.interval import Interval
from aglet.errors import KeyMismatchError, SerializationError

if TYPE_CHECKING:
    from aglet.arrays.session import Session

__all__ = ["load", "save"]

_HEAD = "array.json"


def save(array: EncryptedArray, place: Path) -> None:
    """Write an array, as `Session.save` says."""
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):
        raise FileExistsError(f"{str(place)!a} is not empty; save each array to its own folder.")
    for i, chunk in enumerate(array.chunks):
        array.session.engine.write(chunk, place / f"{i}.ciphertext")
    np.save(place / "index.npy", array.index)
    filler = None if array.filler is None else [complex(array.filler).real, complex(array.filler).imag]
    interval = [array.interval.low, array.interval.high]
    head = {
        "version": 1, "chunks": len(array.chunks), "interval": interval, "filler": filler, "period": array.period,
    }  # fmt: skip
    # Last: a folder without it is no array.
    (place / _HEAD).write_text(json.dumps(head) + "\n", encoding="utf-8")


def load(session: Session, place: Path) -> EncryptedArray:
    """Read an array, as `Session.load` says."""
    damaged = SerializationError(f"{str(place)!a} holds no array that Session.save wrote, or a damaged one.")
    try:
        head = json.loads((place / _HEAD).read_text(encoding="utf-8"))
        index = np.load(place / "index.npy", allow_pickle=False)
        low, high = (float(end) for end in head["interval"])
        count, period, filler = int(head["chunks"]), head["period"], head["filler"]
        known = None if filler is None else complex(*filler)
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged from error
    fits = index.dtype == np.int64 and index.size and index.min() >= 0 and index.max() < count * session.slots
    divides = period is None or (type(period) is int and period > 0 and session.slots % period == 0)
    if not fits or not divides or not low <= high or not math.isfinite(high - low):
        raise damaged
    chunks: list[Any] = [session.engine.read(place / f"{i}.ciphertext") for i in range(count)]
    if not all(isinstance(chunk, Ciphertext) for chunk in chunks):
        raise damaged
    if any(chunk.key_id != session.keys.key_id for chunk in chunks):
        raise KeyMismatchError(
            "This array is encrypted under another secret key; open a session with the keys of that one."
        )
    value = known.real if known is not None and not known.imag else known
    return EncryptedArray(session, chunks, index, Interval(low, high), value, period)
