"""Files in folders from outside: a device or a pipe may stand where a file should, and neither ever ends."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from typing import Any, BinaryIO

__all__ = ["NoFileError", "contents", "opened", "sha256", "sum_of"]

_BLOCK = 2**20


class NoFileError(PermissionError, ValueError):
    """What stands at a path is no file, or a longer one than it can be."""


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading. Anything else is refused without waiting for it.

    Raises
    ------
    NoFileError
        If it is no file.
    OSError
        If it cannot be opened.
    """
    # A FIFO without a writer opens at once this way.
    held = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    file = os.fdopen(held, "rb") if stat.S_ISREG(os.fstat(held).st_mode) else None
    if file is None:
        os.close(held)
        raise NoFileError(errno.EPERM, "This is no file.", os.fspath(path))
    return file


def contents(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file of at most `most` bytes. Errors are those of `opened`, and one if it is longer."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise NoFileError(errno.EFBIG, f"This file has more than {most} bytes.", os.fspath(path))
        return file.read(most)


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, which is never in memory as a whole. Errors are those of `opened`."""
    found = hashlib.sha256()
    with opened(path) as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def sum_of(said: Any) -> str:
    """The SHA-256 of what JSON says, in whatever order and with whatever spaces it is written."""
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
