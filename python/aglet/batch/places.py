"""Places of ciphertexts: a folder, or any url that fsspec reads and writes."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import time
from collections.abc import Callable
from typing import Any, TypeVar

import fsspec
from fsspec.implementations.cached import CachingFileSystem

from aglet import checks
from aglet.batch import folders
from aglet.batch.folders import Listing
from aglet.errors import ParameterError

__all__ = ["Place", "checksum"]

_T = TypeVar("_T")
# What is put there appears whole; elsewhere a file is written under another name first.
_STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "oss", "memory"}
_PATIENCE_S = 0.2
_LASTING = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
"""Errors that a retry does not help with."""


def checksum(data: bytes) -> str:
    """The SHA-256 of some bytes, as `sha256sum` prints it."""
    return hashlib.sha256(data).hexdigest()


class Place:
    """A folder or url, and the files below it by their names.

    Raises
    ------
    ParameterError
        If it is empty, or nothing that is installed reads such urls.
    """

    def __init__(self, url: str | os.PathLike[str], tries: int = 3) -> None:
        self.url, self._tries = checks.path("A folder or url", url), tries
        try:
            self._fs, root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise ParameterError(
                f"{self.url!a} cannot be opened: {error}. Give a folder, or install the package that fsspec needs "
                "for such urls."
            ) from error
        while isinstance(self._fs, CachingFileSystem):
            # A copy of what is read would hide changes, and that two places are one.
            self._fs = self._fs.fs
        self.root = root.rstrip("/")
        self.whole = bool(
            _STORES & {self._fs.protocol} if isinstance(self._fs.protocol, str) else _STORES & {*self._fs.protocol}
        )

    @property
    def local(self) -> str | None:
        """The path, if it is a folder of this machine."""
        own = isinstance(self._fs, fsspec.implementations.local.LocalFileSystem)
        return (self.root or "/") if own else None

    def same_kind(self, other: Place) -> bool:
        """Whether equal paths in both places are the same file, as far as can be known."""
        return type(self._fs) is type(other._fs)

    def within(self, other: Place) -> bool:
        """Whether it is the other place or below it, by its name."""
        return self.same_kind(other) and f"{self.root}/".startswith(f"{other.root}/")

    def names(self) -> list[str]:
        """The names of the files in it and below, sorted. Names that begin with `_` or `.` are left out.

        Raises
        ------
        OSError
            If it does not exist or cannot be reached.
        """
        return self.listing().names

    def listing(self) -> Listing:
        """All entries in it and below: files, other entries, and names that begin with `_` or `.`.

        Raises
        ------
        OSError
            If it does not exist or cannot be reached.
        """
        return self._patiently(self._listed)

    def _listed(self) -> Listing:
        self._fs.invalidate_cache()
        if not self._fs.isdir(self.root or "/"):
            raise FileNotFoundError(f"{self.url!a} is not a folder that can be reached; check the name.")
        if self.local is not None:
            return folders.listed(self.local)
        made = Listing()
        for path in sorted(self._fs.find(self.root)):
            name = path[len(self.root) + 1 :]
            if not any(map(folders.hidden, name.split("/"))):
                made.names.append(name)
            elif name not in folders.OWN:
                made.ignored.append(name)
        return made

    def folder_paths(self) -> set[str]:
        """The paths of all folders below it; empty if it does not exist."""
        if not self._patiently(lambda: self._fs.isdir(self.root)):
            return set()
        found = self._patiently(lambda: self._fs.find(self.root, withdirs=True, detail=True))
        return {path for path, about in found.items() if about["type"] == "directory"}

    def read(self, name: str) -> bytes:
        """Read a file.

        Raises
        ------
        OSError
            If it cannot be read, after several tries if a retry may help.
        """
        path = f"{self.root}/{name}"
        if self.local is not None:
            return self._patiently(lambda: folders.read(path))
        return bytes(self._patiently(lambda: self._fs.cat_file(path)))

    def read_if_there(self, name: str) -> bytes | None:
        """Read a file; None if there is none."""
        try:
            return self.read(name)
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all.

        Raises
        ------
        OSError
            If it cannot be written, after several tries if a retry may help.
        """
        self._patiently(lambda: self._put(f"{self.root}/{name}", data))

    def _put(self, path: str, data: bytes) -> None:
        if self.local is not None:
            folders.put(path, data)
            return
        if self.whole:
            self._fs.pipe_file(path, data)
            return
        folder = path.rpartition("/")[0]
        draft = f"{folder}/.aglet-draft-{secrets.token_hex(8)}"
        self._fs.makedirs(folder, exist_ok=True)
        try:
            self._fs.pipe_file(draft, data)
            self._fs.mv(draft, path)
        except BaseException:
            if self._fs.exists(draft):
                self._fs.rm_file(draft)
            raise

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        if self._fs.exists(f"{self.root}/{name}"):
            self._fs.rm_file(f"{self.root}/{name}")

    def stamp(self, name: str) -> str:
        """A stamp that changes when the file does, without reading it: size and time, or the tag of a store."""
        return str(self._fs.ukey(f"{self.root}/{name}"))

    def _patiently(self, call: Callable[[], _T]) -> _T:
        """Retry after a while if the system refuses, because stores and networks fail now and then."""
        for done in range(1, self._tries + 1):
            try:
                return call()
            except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError):
                raise
            except OSError as error:
                if done == self._tries or error.errno in _LASTING:
                    raise
                time.sleep(_PATIENCE_S * 4**done)
        raise AssertionError("unreachable: the last try returns or raises")

    def __reduce__(self) -> Any:
        return Place, (self.url, self._tries)
