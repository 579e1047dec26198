"""The folder of keys of a batch: what `KeySet.save` wrote, or `save_keys` for the other engines. Never the secret."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aglet._core import IntegerSecretKey, LweSecretKey, SecretKey
from aglet.arrays.keyfolder import INDEX, SECRETS, write_index
from aglet.arrays.keyset import KeySet
from aglet.batch.places import Place, checksum
from aglet.ckks.engine import Engine
from aglet.errors import KeyMismatchError, MissingKeyError, SerializationError
from aglet.integer.engine import IntegerEngine
from aglet.lookup.engine import LookupEngine
from aglet.progress import silent

__all__ = ["Opened", "open_keys", "read_index", "save_keys"]

_VERSION = 1
_ENGINES: dict[str, Any] = {"integer": IntegerEngine, "lookup": LookupEngine}
_NAME = re.compile(r"[a-z_]{1,40}")


@dataclass(frozen=True)
class Opened:
    """An engine and the keys that a batch computes with."""

    engine: Any
    keys: Any
    """A `KeySet`, or keys by name."""

    def key(self, name: str, method: str) -> Any:
        """The key of that name, or a sentence."""
        found = self.keys.get(name) if isinstance(self.keys, dict) else getattr(self.keys, name, None)
        if found is None:
            raise MissingKeyError(
                f"{method} needs a {name} key, and this folder has none; make it and save the keys again."
            )
        return found


def save_keys(folder: str | os.PathLike[str], engine: IntegerEngine | LookupEngine, *keys: Any) -> None:
    """Write keys of an `IntegerEngine` or a `LookupEngine` to a folder, as `KeySet.save` does those of an `Engine`.

    Raises
    ------
    TypeError
        If one of them is a secret key, which a batch does not take, or the engine is another.
    KeyMismatchError
        If they are of different secrets.
    """
    family = next((name for name, kind in _ENGINES.items() if isinstance(engine, kind)), None)
    if family is None:
        raise TypeError(f"Keys of {type(engine).__name__} are saved with engine.create_keys().save(folder).")
    if any(isinstance(key, SecretKey | IntegerSecretKey | LweSecretKey) for key in keys):
        raise TypeError("A batch takes no secret key: it cannot decrypt; write the secret with engine.write.")
    if len({key.key_id for key in keys}) != 1:
        raise KeyMismatchError("These keys belong to different secret keys, or are none; give those of one.")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    named = {_key_name(key): key for key in keys}
    for name, key in named.items():
        engine.write(key, place / f"{name}.key")
    words = {**engine._words, "thread_count": None}
    head = {"version": _VERSION, "family": family, "engine": words, "key_id": keys[0].key_id, "keys": sorted(named)}
    write_index(place, head)


def _key_name(key: Any) -> str:
    words = re.findall(r"[A-Z][a-z]+", type(key).__name__.removeprefix("Integer").removesuffix("Key"))
    return "_".join(words).lower()


def read_index(place: Place) -> dict[str, Any]:
    """The index of a folder of keys.

    Raises
    ------
    SerializationError
        If there is none, or it is no index.
    """
    data = place.read_if_there(INDEX)
    if data is None:
        raise SerializationError(
            f"{place.url!a} holds no keys; name the folder with {INDEX}, which keys.save(folder) writes."
        )
    try:
        found = json.loads(data)
        names = [str(name) for name in found["keys"]]
        fine = all(_NAME.fullmatch(name) for name in names) and isinstance(found["key_id"], str)
    except (ValueError, TypeError, KeyError, RecursionError):
        fine = False
    if not fine:
        raise SerializationError(f"{place.url!a} has a damaged {INDEX}; save the keys again.")
    return dict(found)


def open_keys(url: str, threads: int, allow_insecure: bool) -> Opened:
    """Read all keys of a folder but the secret, and make the engine that they belong to.

    Raises
    ------
    SerializationError, KeyMismatchError, MemoryLimitError, InsecureParametersError
        As `KeySet.load` and the engines.
    """
    place = Place(url)
    index = read_index(place)
    folder = Path(place.local) if place.local is not None else _fetched(place, index)
    if "family" not in index:
        engine = Engine(
            preset=index.get("preset"),
            slot_count=index.get("slot_count"),
            mode="parallel",
            thread_count=threads,
            allow_insecure=allow_insecure,
        )
        return Opened(engine, KeySet.load(folder, engine, progress=silent))
    if index["family"] not in _ENGINES or index.get("version") != _VERSION or not isinstance(index.get("engine"), dict):
        raise SerializationError(f"{url!a} was written by another version of Aglet, or not by it; save the keys again.")
    words = {**index["engine"], "thread_count": threads}
    if words.get("allow_insecure"):
        words["allow_insecure"] = allow_insecure
    try:
        other = _ENGINES[index["family"]](**words)
    except TypeError as error:
        raise SerializationError(f"{url!a} has a damaged {INDEX}; save the keys again.") from error
    read = {name: other.read(folder / f"{name}.key", progress=silent) for name in index["keys"]}
    if any(key.key_id != index["key_id"] for key in read.values()):
        raise SerializationError(f"The files in {url!a} are not those of its index; save the keys again.")
    return Opened(other, read)


def _fetched(place: Place, index: dict[str, Any]) -> Path:
    """A copy on this machine, made once for each set of keys."""
    data = place.read(INDEX)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aglet"
    cache.mkdir(parents=True, exist_ok=True)
    kept = cache / f"keys-{checksum(data)[:16]}"
    if kept.is_dir():
        return kept
    draft = Path(tempfile.mkdtemp(prefix=".keys-", dir=cache))
    try:
        for key in index["keys"]:
            if key not in SECRETS:
                (draft / f"{key}.key").write_bytes(place.read(f"{key}.key"))
        (draft / INDEX).write_bytes(data)
        draft.rename(kept)
    except OSError:
        # Another process of this node was faster, or there is no room.
        shutil.rmtree(draft, ignore_errors=True)
        if not kept.is_dir():
            raise
    return kept
