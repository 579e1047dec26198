"""Arrays in folders: some files, and a head that is written last and has their sums."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from aglet import checks

__all__ = ["DAMAGE", "InFolders", "begin", "finish", "head_of", "unchanged"]

DAMAGE = (
    *(FileNotFoundError, NotADirectoryError, IsADirectoryError, EOFError),
    *(ValueError, KeyError, TypeError, OverflowError, RecursionError, MemoryError),
)
"""What reading of damaged files raises."""

Array = TypeVar("Array")


class InFolders(ABC, Generic[Array]):
    """Mixed into sessions: arrays are written to folders and read again."""

    _stored: Any
    """The module whose `save` and `load` do it."""

    @abstractmethod
    def same(self, array: Array) -> None:
        """Refuse an array of another session."""

    def save(self, array: Array, folder: Any) -> None:
        """Write an array to an empty folder: its ciphertexts, and what makes an array of them.

        Raises
        ------
        FileExistsError
            If the folder is not empty.
        OSError
            If the system refuses the write.
        """
        self.same(array)
        self._stored.save(array, Path(checks.path("folder", folder)))

    def load(self, folder: Any) -> Array:
        """Read an array that `save` wrote. The session needs the same parameters and keys of the same secret key.

        Raises
        ------
        SerializationError
            If the folder holds no array, or a damaged one.
        KeyMismatchError
            If the array has another secret key or other parameters.
        """
        found: Array = self._stored.load(self, Path(checks.path("folder", folder)))
        return found


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
    sums = [_digest(place / file) for file in files]
    (place / name).write_text(json.dumps({**head, "sha256": sums}) + "\n", encoding="utf-8")


def head_of(place: Path, name: str) -> Any:
    """The head. What it says is not trusted, and one of `DAMAGE` is raised if there is none."""
    return json.loads((place / name).read_text(encoding="utf-8"))


def unchanged(place: Path, head: Any, files: Sequence[str]) -> bool:
    """Whether the files are those that were written with the head; without sums, as once, this is not known."""
    return head.get("sha256") in (None, [_digest(place / file) for file in files])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
