"""The folder of keys of a batch, which `KeySet.save` wrote. Secret keys in it are never read."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aglet.batch.places import Place, checksum
from aglet.errors import MissingKeyError
from aglet.keys.folder import INDEX, engine_of, index_of
from aglet.keys.keyset import KeySet
from aglet.keys.kinds import SECRETS
from aglet.progress import silent

__all__ = ["Opened", "open_keys", "read_index"]


@dataclass(frozen=True)
class Opened:
    """An engine and the keys that a batch uses."""

    engine: Any
    keys: KeySet

    def key(self, name: str, method: str) -> Any:
        """The key of that name, or an error."""
        found = getattr(self.keys, name)
        if found is None:
            raise MissingKeyError(
                f"{method} needs a {name} key, which this folder does not have; make it and save the keys again."
            )
        return found


def read_index(place: Place) -> dict[str, Any]:
    """Read the index of a folder of keys.

    Raises
    ------
    SerializationError
        If there is no index, or it is damaged.
    """
    return index_of(place.read_if_there(INDEX), ascii(place.url))


def open_keys(url: str, family: type, threads: int, allow_insecure: bool, mode: str = "parallel") -> Opened:
    """Read all keys of a folder, never a secret key, and make their engines of a mode: that of this class is used.

    Raises
    ------
    SerializationError, KeyMismatchError, MemoryLimitError, InsecureParametersError, DeviceError
        As in `KeySet.load` and the engines.
    """
    place = Place(url)
    index = read_index(place)
    folder = Path(place.local) if place.local is not None else _fetched(place, index)
    words = {"allow_insecure": allow_insecure, "mode": mode}
    parts = [engine_of(index, part, folder, threads, **words) for part in ("key_id", "fhew_key_id")]
    engines = sorted((one for one in parts if one is not None), key=lambda one: not isinstance(one, family))
    return Opened(engines[0], KeySet.load(folder, parts[0], fhew_engine=parts[1], progress=silent))


def _fetched(place: Place, index: dict[str, Any]) -> Path:
    """A local copy, made once for each set of keys."""
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
