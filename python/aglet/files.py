"""The methods of engines for files and bytes: `write`, `read`, `serialize`, `deserialize`; and pickles.

`Engine` also has four methods for each type, as in its documented interface: `engine.write_ciphertext`,
`engine.read_ciphertext`, `engine.serialize_ciphertext`, `engine.deserialize_ciphertext`, and the same for every key and
for plaintexts. ARCHITECTURE.md, section "Files", describes the format.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, cast

from aglet import _core, checks
from aglet._core import (
    BootstrapKey,
    Ciphertext,
    ConjugationKey,
    FixedRotationKey,
    MatrixMultiplicationKey,
    Plaintext,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
)
from aglet.ckks.light import LightPlaintext
from aglet.errors import SerializationError
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["Files", "Stores", "methods", "restore"]

PathLike = str | os.PathLike[str]
Data = bytes | bytearray | memoryview

_STORED: set[type] = set()
"""What files of `Engine` hold: every type that `methods` was asked for."""

_T = TypeVar("_T")
_In = TypeVar("_In", contravariant=True)
_Out = TypeVar("_Out", covariant=True)


class _Write(Protocol[_In]):
    def __call__(self, value: _In, path: PathLike, *, progress: ProgressCallback | None = None) -> None:
        """Write it to a file. If the write is interrupted, the old file stays."""


class _Read(Protocol[_Out]):
    def __call__(self, path: PathLike, *, progress: ProgressCallback | None = None) -> _Out:
        """Read it from a file that `write` made. The engine must have the same options."""


class _Serialize(Protocol[_In]):
    def __call__(self, value: _In, *, progress: ProgressCallback | None = None) -> bytes:
        """Return it as bytes, the same as in its file."""


class _Deserialize(Protocol[_Out]):
    def __call__(self, data: Data, *, progress: ProgressCallback | None = None) -> _Out:
        """Read it from bytes that `serialize` made. The engine must have the same options."""


class _Method(Protocol[_Out]):
    """The type of a method for type checkers: bound, it is an `_Out`."""

    def __get__(self, engine: Any, owner: Any = None) -> _Out: ...


_Four = tuple[_Method[_Write[_T]], _Method[_Read[_T]], _Method[_Serialize[_T]], _Method[_Deserialize[_T]]]

_RAISES = """
        Parameters
        ----------
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work is cancelled. If not given, a
            terminal shows a progress bar for long work.

        Raises
        ------
"""
_READING = """        SerializationError
            If the data is damaged, cut short, of another type or of another version.
        KeyMismatchError
            If it was made with other parameters or another number of slots than this engine has.
        MemoryLimitError
            If the machine has less free memory than it needs.
"""
_WRITING = """        KeyMismatchError
            If it does not belong to this engine.
        TypeError
            If it is something else.
"""
_SYSTEM = """        OSError
            If the system refuses, for example with FileNotFoundError or PermissionError.
"""


def methods(kind: type[_T], maker: str, note: str = "", name: str = "") -> _Four[_T]:
    """Make the methods write, read, serialize and deserialize for one type.

    `maker` is the call that makes a value, `note` a paragraph for the docstrings, and `name` a name other than that of
    the class.
    """
    _STORED.add(kind)
    words = name or _words(kind)
    note = note and f"\n        {note}\n"

    def write(self: Stores, value: Any, path: PathLike, *, progress: ProgressCallback | None = None) -> None:
        self.write(_own(value, kind, maker, words), path, progress=progress)

    def read(self: Stores, path: PathLike, *, progress: ProgressCallback | None = None) -> Any:
        path = checks.path("path", path)
        _same_kind(path, kind, words)
        with progress_bar(progress) as report:
            return self._restored(self._core.read(self._class(words), path, report))

    def serialize(self: Stores, value: Any, *, progress: ProgressCallback | None = None) -> bytes:
        return self.serialize(_own(value, kind, maker, words), progress=progress)

    def deserialize(self: Stores, data: Data, *, progress: ProgressCallback | None = None) -> Any:
        found = _bytes(data, words)
        _same_kind(found, kind, words)
        with progress_bar(progress) as report:
            return self._restored(self._core.deserialize(self._class(words), found, report))

    write.__doc__ = (
        f"Write a {words} to a file. If the write is interrupted, the old file "
        f"stays.\n{note}{_RAISES}{_WRITING}{_SYSTEM}"
    )
    read.__doc__ = f"Read a {words} from a file that `write` made.\n{note}{_RAISES}{_READING}{_SYSTEM}"
    serialize.__doc__ = f"Return a {words} as bytes, the same as in its file.\n{note}{_RAISES}{_WRITING}"
    deserialize.__doc__ = f"Read a {words} from bytes that `serialize` made.\n{note}{_RAISES}{_READING}"
    write.__annotations__["value"] = serialize.__annotations__["value"] = kind
    read.__annotations__["return"] = deserialize.__annotations__["return"] = kind
    for function in (write, read, serialize, deserialize):
        function.__name__ = f"{function.__name__}_{words.replace(' ', '_')}"
        function.__qualname__ = f"Stores.{function.__name__}"
    return cast("_Four[_T]", (write, read, serialize, deserialize))


def _words(kind: type) -> str:
    """The name of a class in words: "secret key"."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in kind.__name__)[1:]


def _bytes(data: Any, words: str) -> bytes:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"A {words} can only be read from bytes, not from {type(data).__name__}.")
    return bytes(data)


def _own(value: Any, kind: type[_T], maker: str, words: str) -> _T:
    """Check that a value is of the kind with this name. Bootstrap keys of one class have several names."""
    found = checks.need(value, kind, maker)
    if isinstance(found, BootstrapKey) and (own := found.kind) != _shared(words):
        method = own.replace(" ", "_")
        raise TypeError(f"This is a {own}, not a {words}; call write_{method} or serialize_{method}.")
    return found


def _same_kind(source: str | bytes, kind: type, words: str) -> None:
    """Check the kind of a bootstrap key by the header of its file, before gigabytes of it are read."""
    if kind is BootstrapKey and (own := _core.stored_name(source)).endswith("bootstrap key") and own != _shared(words):
        method = own.replace(" ", "_")
        raise SerializationError(f"This is a {own}, not a {words}; call read_{method} or deserialize_{method}.")


def _shared(words: str) -> str:
    """The kind of a key with this name. A merge bootstrap uses the key of the regular one."""
    return "bootstrap key" if words == "merge bootstrap key" else words


class Stores:
    """Mixed into engines. What one engine wrote can be read by every engine with the same options."""

    _core: Any

    def write(self, value: Any, path: PathLike, *, progress: ProgressCallback | None = None) -> None:
        """Write a key, plaintext or ciphertext to a file.

        If the write is interrupted, the old file stays. A light plaintext is written as a plaintext. The file of a
        secret key can be read by its owner only.

        Raises
        ------
        KeyMismatchError
            If it does not belong to this engine.
        TypeError
            If it is something else.
        OSError
            If the system refuses, for example with FileNotFoundError or PermissionError.
        """
        with progress_bar(progress) as report:
            self._core.write(self._storable(value), checks.path("path", path), report)

    def read(self, path: PathLike, *, progress: ProgressCallback | None = None) -> Any:
        """Read any file that `write` made.

        Raises
        ------
        SerializationError
            If the data is damaged, cut short or of another version.
        KeyMismatchError
            If it was made with other parameters or another number of slots than this engine has.
        MemoryLimitError
            If the machine has less free memory than it needs.
        OSError
            If the system refuses, for example with FileNotFoundError or PermissionError.
        """
        path = checks.path("path", path)
        with progress_bar(progress) as report:
            return self._restored(self._core.read(self._class(_core.stored_name(path)), path, report))

    def serialize(self, value: Any, *, progress: ProgressCallback | None = None) -> bytes:
        """Return the bytes that `write` would write. Errors as in `write`."""
        with progress_bar(progress) as report:
            return bytes(self._core.serialize(self._storable(value), report))

    def deserialize(self, data: Data, *, progress: ProgressCallback | None = None) -> Any:
        """Read any bytes that `serialize` made. Errors as in `read`."""
        found = _bytes(data, "key, plaintext or ciphertext")
        with progress_bar(progress) as report:
            return self._restored(self._core.deserialize(self._class(_core.stored_name(found)), found, report))

    def _storable(self, value: Any) -> Any:
        """The value that the compiled module writes."""
        return value

    def _restored(self, found: Any) -> Any:
        """The value for users from the one that the compiled module has read."""
        return found

    def _fetch(self, ciphertexts: Sequence[Any]) -> None:
        """Have ciphertexts that a card made on this machine: together, as a wait for each costs more than its words."""
        self._core.fetch(ciphertexts)

    def _class(self, words: str) -> str:
        """The name of the compiled class, from its name in words."""
        return words.title().replace(" ", "")


class Files(Stores):
    """Mixed into `Engine`."""

    _core: _core.Engine

    def _class(self, words: str) -> str:
        kinds = words.endswith("bootstrap key") and not words.startswith("fhew")
        return "BootstrapKey" if kinds else super()._class(words)

    def _storable(self: Any, value: Any) -> Any:
        if isinstance(value, LightPlaintext):
            return self.encode(value.values)
        if type(value) not in _STORED:
            raise TypeError(
                f"Only keys, plaintexts and ciphertexts can be written, not {type(value).__name__}; write arrays "
                "with numpy.save."
            )
        return value

    write_secret_key, read_secret_key, serialize_secret_key, deserialize_secret_key = methods(
        SecretKey,
        "engine.create_secret_key()",
        "Whoever has this file can decrypt. Only its owner may read it (mode 0600).",
    )
    write_public_key, read_public_key, serialize_public_key, deserialize_public_key = methods(
        PublicKey, "engine.create_public_key(secret_key)"
    )
    (
        write_relinearization_key,
        read_relinearization_key,
        serialize_relinearization_key,
        deserialize_relinearization_key,
    ) = methods(RelinearizationKey, "engine.create_relinearization_key(secret_key)")
    write_conjugation_key, read_conjugation_key, serialize_conjugation_key, deserialize_conjugation_key = methods(
        ConjugationKey, "engine.create_conjugation_key(secret_key)"
    )
    write_rotation_key, read_rotation_key, serialize_rotation_key, deserialize_rotation_key = methods(
        RotationKey, "engine.create_rotation_key(secret_key)"
    )
    (
        write_fixed_rotation_key,
        read_fixed_rotation_key,
        serialize_fixed_rotation_key,
        deserialize_fixed_rotation_key,
    ) = methods(FixedRotationKey, "engine.create_fixed_rotation_key(secret_key, delta)")
    write_bootstrap_key, read_bootstrap_key, serialize_bootstrap_key, deserialize_bootstrap_key = methods(
        BootstrapKey,
        "engine.create_bootstrap_key(secret_key)",
        "The file takes less than half of the key's memory. The first bootstrap encodes the linear maps.",
    )
    (
        write_matrix_multiplication_key,
        read_matrix_multiplication_key,
        serialize_matrix_multiplication_key,
        deserialize_matrix_multiplication_key,
    ) = methods(MatrixMultiplicationKey, "engine.create_matrix_multiplication_key(secret_key)")
    (
        write_small_bootstrap_key,
        read_small_bootstrap_key,
        serialize_small_bootstrap_key,
        deserialize_small_bootstrap_key,
    ) = methods(BootstrapKey, "engine.create_small_bootstrap_key(secret_key)", name="small bootstrap key")
    (
        write_lossy_bootstrap_key,
        read_lossy_bootstrap_key,
        serialize_lossy_bootstrap_key,
        deserialize_lossy_bootstrap_key,
    ) = methods(BootstrapKey, "engine.create_lossy_bootstrap_key(secret_key)", name="lossy bootstrap key")
    (
        write_merge_bootstrap_key,
        read_merge_bootstrap_key,
        serialize_merge_bootstrap_key,
        deserialize_merge_bootstrap_key,
    ) = methods(BootstrapKey, "engine.create_merge_bootstrap_key(secret_key)", name="merge bootstrap key")
    write_plaintext, read_plaintext, serialize_plaintext, deserialize_plaintext = methods(
        Plaintext, "engine.encode(message)", "The file contains the message, readable for everybody."
    )
    write_ciphertext, read_ciphertext, serialize_ciphertext, deserialize_ciphertext = methods(
        Ciphertext,
        "engine.encrypt(message, key)",
        "The file does not contain the largest value of a fresh message, so a bootstrap cannot compare it with "
        "its bound.",
    )


def restore(data: Data) -> Any:
    """Read a pickle of a key, plaintext or ciphertext.

    No engine is needed. The result works with every engine that has the same parameters and slots.

    Raises
    ------
    SerializationError
        If the data is damaged, of another version, or a secret key, which only an engine may read.
    """
    return _core.restore(bytes(data))
