"""Arrays in folders: some files, and a head that is written last and has their sums."""

from __future__ import annotations

import json
import tokenize
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from aglet import checks, regular
from aglet.errors import KeyMismatchError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DAMAGE", "InFolders", "begin", "finish", "head_of", "plain_of", "unchanged"]

DAMAGE = (
    *(FileNotFoundError, NotADirectoryError, IsADirectoryError, EOFError),
    *(ValueError, KeyError, TypeError, OverflowError, RecursionError, MemoryError),
)
"""What reading of damaged files raises."""

_OWN = "head_sha256"
"""Where a head has the sum of itself: a filler or a period that changed would give wrong sums."""
_MOST_HEAD = 2**28
"""Bytes of a head: those of a million ciphertexts have fewer."""

Array = TypeVar("Array")


class InFolders(Generic[Array]):
    """Mixed into sessions: arrays are theirs, and are written to folders and read again."""

    _arrays: type[Any]
    """The class of its arrays."""
    _stored: Any
    """The module whose `save` and `load` do it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing. Keys and arrays are freed when they are no longer referenced."""

    def same(self, array: Array) -> None:
        """Refuse what is no array of this session.

        Raises
        ------
        TypeError
            If it is something else.
        KeyMismatchError
            If the array belongs to another session.
        """
        if not isinstance(array, self._arrays):
            raise TypeError(
                f"This is a {type(array).__name__}, and {self._arrays.__name__} are needed; encrypt it with "
                "session.encrypt."
            )
        self._own(array)

    def _own(self, array: Any) -> None:
        if array.session is not self:
            raise KeyMismatchError(
                "This array belongs to another session; use one session, or save it and load it in this one."
            )

    def save(self, array: Array, folder: Any) -> None:
        """Write an array to an empty folder: its ciphertexts, and what makes an array of them.

        Raises
        ------
        FileExistsError
            If the folder is not empty.
        OSError
            If the system refuses the write.
        """
        self._writer(array).save(array, Path(checks.path("folder", folder)))

    def load(self, folder: Any) -> Array:
        """Read an array that `save` wrote. The session needs the same parameters and keys of the same secret key.

        Raises
        ------
        SerializationError
            If the folder holds no array, or a damaged one.
        KeyMismatchError
            If the array has another secret key or other parameters.
        """
        place = Path(checks.path("folder", folder))
        session, reader = self._reader(place)
        found: Array = reader.load(session, place)
        return found

    def _writer(self, array: Any) -> Any:
        """The module that writes an array, which is of this session."""
        self.same(array)
        return self._stored

    def _reader(self, place: Path) -> tuple[Any, Any]:
        """The session of the array in a folder, and the module that reads it."""
        return self, self._stored


def begin(place: Path) -> None:
    """Make an empty folder.

    Raises
    ------
    FileExistsError
        If it is not empty.
    """
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):
        raise FileExistsError(f"{str(place)!a} is not empty; save each array to its own folder.")


def finish(place: Path, name: str, head: Mapping[str, Any], files: Sequence[str]) -> None:
    """Write the head, with the sums of the files. A folder without it is no array."""
    # A ciphertext of another array, or another place, has nothing of its own that shows it.
    sums = [regular.sha256(place / file) for file in files]
    whole = {**head, "sha256": sums}
    (place / name).write_text(json.dumps({**whole, _OWN: regular.sum_of(whole)}) + "\n", encoding="utf-8")


def head_of(place: Path, name: str, known: Collection[str]) -> Any:
    """The head, with entries of these names. What it says is not trusted; one of `DAMAGE` is raised if there is none.

    A head of an earlier version has no sum of its own, and other entries have never been: one that is there is the
    sum with another name, or gives numbers a meaning that the reader does not know.
    """
    head = json.loads(regular.contents(place / name, _MOST_HEAD))
    if not isinstance(head, dict) or not {"sha256", _OWN, *known}.issuperset(head):
        raise ValueError("the head is none of these")
    if _OWN in head and head.pop(_OWN) != regular.sum_of(head):
        raise ValueError("the head was changed")
    return head


def plain_kept(rows: Any, *, beside: bool) -> Any:
    """Digits in the clear as a file holds them: a byte each. `beside` ciphertexts rows of one number hold it once."""
    small = np.asarray(rows).astype(np.uint8)
    first = small[(slice(None), *[slice(0, 1)] * (small.ndim - 1))]
    return first if beside and small.size and (small == first).all() else small


def plain_rows(kept: Any, shape: tuple[int, ...], *, beside: bool) -> Any:
    """What `plain_kept` made of rows of this shape, or None of others.

    The number of ciphertexts shows that of the elements; without them a small file would stand for any number.
    """
    once = (*shape[:1], *[1] * (len(shape) - 1))
    if kept.dtype not in (np.uint8, np.int64) or (kept.shape != shape and not (beside and kept.shape == once)):
        return None
    return np.broadcast_to(kept.astype(np.int64), shape)


def plain_of(path: Path) -> Any:
    """The numbers in the clear of a file that `numpy.save` wrote; one of `DAMAGE` is raised for any other."""
    with regular.opened(path) as file:
        try:
            return np.lib.format.read_array(file, allow_pickle=False)
        except (SyntaxError, tokenize.TokenError) as error:
            # numpy reads the header as a literal of Python.
            raise ValueError("the header was changed") from error


def unchanged(place: Path, head: Any, files: Sequence[str]) -> bool:
    """Whether the files are those that were written with the head; without sums, as once, this is not known."""
    return head.get("sha256") in (None, [regular.sha256(place / file) for file in files])
