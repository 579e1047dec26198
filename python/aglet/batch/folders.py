"""Folders of this machine: only regular files are read, results are written whole, and one batch writes at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from aglet import regular
from aglet.errors import ParameterError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["OWN", "Identity", "Listing", "Spare", "alone", "hidden", "identity", "listed", "put", "read"]

OWN = ("_manifest.jsonl", "_failed.jsonl")
"""The files that a batch writes itself. The results of one batch are often the source of the next."""
_DRAFT = re.compile(r"\.aglet-draft-[0-9a-f]{16}")
_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

Identity = tuple[int, int]
"""Device and number of a folder. They are the same for every path, link or mount that leads to it."""


@dataclass
class Listing:
    """The files in a place and below it."""

    names: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Entries that cannot be read as files, with the reason."""
    ignored: list[str] = field(default_factory=list)
    """Entries whose names begin with `_` or `.`. Names of folders end with a slash."""
    folders: set[Identity] = field(default_factory=set)
    """For a folder of this machine: all folders below it."""
    entries: set[tuple[Identity, str]] = field(default_factory=set)
    """For a folder of this machine: the real folder and name of each file, with links followed."""


def identity(path: str) -> Identity:
    """The identity of a folder, with links followed."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _real_entry(path: str) -> tuple[Identity, str]:
    """The real folder and name of a file, with links followed."""
    folder, name = os.path.split(os.path.realpath(path))
    return identity(folder), name


def hidden(name: str) -> bool:
    """Whether a batch leaves this name out."""
    return name[:1] in ("", "_", ".")


def listed(root: str) -> Listing:
    """List all files in a folder and below, with links followed. What is not a file is reported and never opened.

    Raises
    ------
    OSError
        If the folder does not exist or cannot be read.
    """
    made = Listing()
    waiting: list[tuple[str, str, frozenset[Identity]]] = [(root, "", frozenset())]
    while waiting:
        folder, below, above = waiting.pop()
        try:
            own = identity(folder)
            with os.scandir(folder) as found:
                inside = [(entry.name, entry.is_symlink()) for entry in found]
        except OSError as error:
            if not below:
                raise
            made.refused[below] = f"This folder cannot be read: {error.strerror or error}."
            continue
        if own in above:
            made.refused[below] = "This is a link to a folder that contains it; remove the link."
            continue
        made.folders.add(own)
        for name, link in inside:
            path, full = os.path.join(folder, name), f"{below}{name}"
            if _is_folder(path):
                if hidden(name):
                    made.ignored.append(f"{full}/")
                else:
                    waiting.append((path, f"{full}/", above | {own}))
            elif hidden(name):
                if not (full in OWN or _DRAFT.fullmatch(name)):
                    made.ignored.append(full)
            elif (why := _no_file(path)) is not None:
                made.refused[full] = why
            else:
                made.names.append(full)
                made.entries.add(_real_entry(path) if link else (own, name))
    made.names.sort()
    made.ignored.sort()
    return made


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        return False


def _no_file(path: str) -> str | None:
    """The reason why an entry is not a file; None if it is one."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "This is a link to a file that does not exist."
    except OSError as error:
        return f"This cannot be reached: {error.strerror or error}."
    if stat.S_ISREG(mode):
        return None
    kind = next((words for test, words in _KINDS if test(mode)), "something else")
    return f"It is {kind} and not a file; remove it."


def read(path: str) -> bytes:
    """Read a file. Anything else is refused without waiting for it.

    Raises
    ------
    OSError
        If it is not a file, or cannot be read.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    os.stat(path)
    if (why := _no_file(path)) is not None:
        raise PermissionError(errno.EPERM, why, path)
    # It may be another now.
    with regular.opened(path) as file:
        return file.read()


def put(path: str, data: bytes) -> None:
    """Write a file whole or not at all. The old file stays until then, and a link is replaced."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    # Not the name of the file: that may be as long as the system allows.
    draft = _draft(folder)
    try:
        with open(draft, "xb") as file:
            file.write(data)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _draft(folder: str) -> str:
    return os.path.join(folder, f".aglet-draft-{secrets.token_hex(8)}")


class Spare:
    """Space in a folder that is reserved before the work, so that the final lists fit even if the disk becomes full."""

    def __init__(self, folder: str, size: int) -> None:
        self._path = _draft(folder)
        with open(self._path, "xb") as file:
            # Not zeros, which some file systems do not store.
            file.write(b"\n" * size)
            file.flush()
            os.fsync(file.fileno())

    def put(self, path: str, data: bytes) -> None:
        """Write a file into the reserved space, whole or not at all."""
        with open(self._path, "r+b") as file:
            file.write(data)
            file.truncate()
        os.replace(self._path, path)

    def free(self) -> None:
        """Free the reserved space."""
        with contextlib.suppress(OSError):
            os.unlink(self._path)


@contextlib.contextmanager
def alone(folder: str | None) -> Iterator[None]:
    """Lock a folder against other batches (None: a store, which has no locks). Drafts of a killed batch are removed.

    Raises
    ------
    ParameterError
        If another batch is writing there.
    """
    if fcntl is None or folder is None:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ParameterError(
                f"Another batch is writing to {folder!a}; wait until it ends, or give another folder."
            ) from error
        except OSError:
            # A file system without locks.
            yield
            return
        for place, _, names in os.walk(folder):
            for name in filter(_DRAFT.fullmatch, names):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(place, name))
        yield
    finally:
        os.close(held)
