"""`KeySet`: the keys of one secret in one place, forecast before they are made, and kept as a folder."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from aglet import _core, checks
from aglet._core import (
    BootstrapKey,
    ConjugationKey,
    MatrixMultiplicationKey,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
)
from aglet.errors import KeyMismatchError, MemoryLimitError, MissingKeyError, ParameterError, SerializationError
from aglet.progress import ProgressCallback
from aglet.reports import gigabytes

if TYPE_CHECKING:
    from aglet.ckks.engine import Engine

__all__ = ["INDEX", "KeySet"]

INDEX = "keys.json"
"""The file that makes a folder one of keys."""
_VERSION = 1
_SIZES = ("large", "medium", "small")
_METHODS = ("regular", "lossy")


@dataclass(frozen=True, repr=False)
class KeySet:
    """Keys of one secret; those that were not made are None. It is pickled without the secret key only.

    `engine.create_keys()` makes one, `keys.save(folder)` keeps it, `KeySet.load(folder)` reads it.
    """

    engine: Engine
    """The engine that they were made by or read for."""
    secret: SecretKey | None = None
    public: PublicKey | None = None
    relinearization: RelinearizationKey | None = None
    conjugation: ConjugationKey | None = None
    rotation: RotationKey | None = None
    matrix: MatrixMultiplicationKey | None = None
    bootstrap: BootstrapKey | None = None
    seconds: float | None = None
    """That `create_keys` took; None of keys that were read."""

    def __post_init__(self) -> None:
        ids = {key.key_id for key in self._keys().values()}
        if len(ids) > 1:
            raise KeyMismatchError("These keys belong to different secret keys; take those of one.")

    @property
    def key_id(self) -> str:
        """Short id of the secret key."""
        for key in self._keys().values():
            return str(key.key_id)
        raise MissingKeyError("This set holds no key; make some with engine.create_keys().")

    def _keys(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _names() if getattr(self, name) is not None}

    def __repr__(self) -> str:
        names = list(self._keys())
        return f"<KeySet of {self.engine.preset}: {', '.join(names) if names else 'no key'}>"

    @property
    def byte_count(self) -> int:
        """Bytes of all keys in memory."""
        return sum(key.byte_count for key in self._keys().values())

    @property
    def bootstrap_arguments(self) -> tuple[Any, ...]:
        """The keys that a bootstrap reads, in the order in which its call takes them.

        Raises
        ------
        MissingKeyError
            If one of them is not there.
        """
        small = self.bootstrap is not None and self.bootstrap.size == "small"
        names = ("relinearization", "conjugation", *(("rotation",) if small else ()), "bootstrap")
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            raise MissingKeyError(f"A bootstrap needs a {missing[0]} key, and this set has none; see create_keys().")
        return tuple(getattr(self, name) for name in names)

    @property
    def bootstrap_bytes(self) -> tuple[int, int]:
        """Bytes of the keys that a bootstrap reads: in memory, and as files, with seeds for uniform halves."""
        read = self.bootstrap_arguments
        return sum(key.byte_count for key in read), sum(key.stored_bytes for key in read)

    def evaluation(self) -> KeySet:
        """The same without the secret key: what a server needs."""
        return dataclasses.replace(self, secret=None)

    def __getstate__(self) -> dict[str, Any]:
        if self.secret is not None:
            raise TypeError("This set holds the secret key, which is not pickled; pickle keys.evaluation().")
        return dict(self.__dict__)

    def save(self, folder: str | os.PathLike[str], *, progress: ProgressCallback | None = None) -> None:
        """Write every key to a file of its own in a folder, which is made if it is not there, and then the index.

        Only the owner may read the file of the secret key (mode 0600). A folder that holds keys of another secret is
        refused; keys of the same are written again.

        Raises
        ------
        KeyMismatchError
            If the folder holds keys of another secret.
        OSError
            If the system refuses.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        if (place / INDEX).exists() and (there := _index(place)["key_id"]) != self.key_id:
            raise KeyMismatchError(
                f"{_shown(place)} holds keys of another secret ({there}); save these in another folder."
            )
        for name, key in self._keys().items():
            self.engine.write(key, place / f"{name}.key", progress=progress)
        kept = {name for name in _names() if (place / f"{name}.key").exists()}
        index = {
            "version": _VERSION,
            "key_id": self.key_id,
            "preset": self.engine.preset,
            "slot_count": self.engine.slot_count,
            "keys": sorted(kept),
        }
        write_index(place, index)

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        engine: Engine | None = None,
        *,
        secret: bool = False,
        progress: ProgressCallback | None = None,
    ) -> KeySet:
        """Read the keys of a folder, the secret key only if asked.

        Parameters
        ----------
        engine
            The engine that will use them; without it, one on all cores with the preset that the folder names.
        secret
            Whether to read the secret key as well.

        Raises
        ------
        SerializationError
            If the folder has no index that `save` wrote, or a file of it is damaged.
        MissingKeyError
            If the secret key is asked for and is not there.
        KeyMismatchError
            If the keys fit another engine than the one given.
        """
        from aglet.ckks.engine import Engine

        place = Path(folder)
        index = _index(place)
        if engine is None:
            engine = Engine(preset=index["preset"], slot_count=index["slot_count"], mode="parallel")
        if checks.flag("secret", secret) and "secret" not in index["keys"]:
            raise MissingKeyError(f"{_shown(place)} has no secret key; copy secret.key into it, or load without it.")
        wanted = [name for name in index["keys"] if secret or name != "secret"]
        read = {name: engine.read(place / f"{name}.key", progress=progress) for name in wanted}
        types = {"secret": SecretKey, "public": PublicKey, "bootstrap": BootstrapKey}
        for name, key in read.items():
            kind = types.get(name)
            if kind is not None and not isinstance(key, kind):
                raise SerializationError(f"{_shown(place / f'{name}.key')} is no {name} key; save the keys again.")
        found = cls(engine, **read)
        if found.key_id != index["key_id"]:
            raise SerializationError(f"The files in {_shown(place)} are not those of its index; save the keys again.")
        return found


def _names() -> list[str]:
    return [field.name for field in dataclasses.fields(KeySet) if field.name not in ("engine", "seconds")]


def write_index(place: Path, index: Mapping[str, Any]) -> None:
    """Write the file that makes a folder one of keys, whole or not at all."""
    draft = place / f".{INDEX}.{os.getpid()}"
    draft.write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    draft.replace(place / INDEX)


def _shown(place: Path) -> str:
    return ascii(str(place))


def _index(place: Path) -> dict[str, Any]:
    """The index of a folder, checked: bytes from outside."""
    refusal = SerializationError(
        f"{_shown(place)} holds no keys that KeySet.save wrote; name the folder with keys.json."
    )
    try:
        found = json.loads((place / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise refusal from None
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"{_shown(place / INDEX)} is damaged; save the keys again.") from error
    shapes = {"version": int, "key_id": str, "preset": str, "slot_count": int, "keys": list}
    if not isinstance(found, dict) or any(type(found.get(name)) is not kind for name, kind in shapes.items()):
        raise refusal
    if found["version"] != _VERSION:
        raise SerializationError(f"{_shown(place)} was written by another version of Aglet; update Aglet.")
    if any(name not in _names() for name in found["keys"]):
        raise refusal
    return found


class MakesKeys:
    """Mixed into `Engine`."""

    def create_keys(
        self: Any,
        secret_key: SecretKey | None = None,
        *,
        bootstrap: str | None = "large",
        stage_count: int | None = None,
        method: str = "regular",
        rotation: bool = True,
        matrix: bool = False,
        progress: ProgressCallback | None = None,
    ) -> KeySet:
        """All keys that encrypted arrays need, in one set. What they take is forecast before the first is made.

        Parameters
        ----------
        secret_key
            The secret; a fresh one if not given.
        bootstrap
            Size of the bootstrap key, "large", "medium" or "small", which needs the rotation key; None makes none, and
            an engine that cannot bootstrap makes none either.
        stage_count, method
            Of the bootstrap key: "regular", which arrays are refreshed with, or "lossy", for signs and bits too.
        rotation
            Whether to make the rotation key, which sums, moves and products with matrices need.
        matrix
            Whether to make the matrix multiplication key, which is larger, and faster with dense matrices.

        Raises
        ------
        MemoryLimitError
            If the machine has less free memory than the keys and one bootstrap take; nothing was made then.
        """
        bootstraps = bootstrap is not None and self.can_bootstrap
        if bootstrap is not None and checks.word("bootstrap", bootstrap) not in _SIZES:
            raise ParameterError(f'bootstrap is "large", "medium", "small" or None, not {bootstrap!r}.')
        if checks.word("method", method) not in _METHODS:
            raise ParameterError(f'method is "regular" or "lossy", not {method!r}.')
        if not checks.flag("rotation", rotation) and bootstrap == "small" and bootstraps:
            raise ParameterError("A small bootstrap key goes with the rotation key; leave rotation=False out.")
        checks.flag("matrix", matrix)
        peak = self.keys_forecast(bootstrap if bootstraps else None, stage_count, method=method, rotation=rotation)
        free = _core.doctor()["memory_available_bytes"]
        if free is not None and peak > free:
            raise MemoryLimitError(
                f"These keys and a bootstrap take {gigabytes(peak)} and {gigabytes(free)} are free; take "
                'bootstrap="medium", rotation=False, or fewer slots.'
            )
        start = time.perf_counter()
        secret = self.create_secret_key() if secret_key is None else secret_key
        made = KeySet(
            self,
            secret,
            self.create_public_key(secret),
            self.create_relinearization_key(secret),
            self.create_conjugation_key(secret),
            self.create_rotation_key(secret, progress=progress) if rotation else None,
            self.create_matrix_multiplication_key(secret, progress=progress) if matrix else None,
            _bootstrap_key(self, secret, stage_count, str(bootstrap), method, progress) if bootstraps else None,
        )
        return dataclasses.replace(made, seconds=time.perf_counter() - start)

    @property
    def can_bootstrap(self: Any) -> bool:
        """Whether the parameters have a regular bootstrap."""
        try:
            self.estimate()
        except ParameterError:
            return False
        return True

    def keys_forecast(
        self: Any,
        bootstrap: str | None = "large",
        stage_count: int | None = None,
        *,
        method: str = "regular",
        rotation: bool = True,
    ) -> int:
        """Bytes that `create_keys` and one bootstrap take at their peak. No key is made."""
        peak = 0 if bootstrap is None else self.memory_report(stage_count, bootstrap, method).peak
        # The report of a small key counts the rotation key already.
        further = rotation and bootstrap != "small"
        return peak + (_core.rotation_key_bytes(self.preset, self.slot_count)[0] if further else 0)


def _bootstrap_key(
    engine: Any, secret: SecretKey, stage_count: int | None, size: str, method: str, progress: ProgressCallback | None
) -> BootstrapKey:
    if size == "small":
        return cast(BootstrapKey, engine.create_small_bootstrap_key(secret))
    make = engine.create_lossy_bootstrap_key if method == "lossy" else engine.create_bootstrap_key
    return cast(BootstrapKey, make(secret, stage_count, size, progress=progress))
