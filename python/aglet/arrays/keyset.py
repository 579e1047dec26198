"""`KeySet`: the keys of one secret in one place, forecast before they are made, and kept as a folder."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aglet import checks
from aglet._core import (
    BootstrapKey,
    BridgeKey,
    ConjugationKey,
    LookupKey,
    LweSecretKey,
    MatrixMultiplicationKey,
    PackingKey,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
)
from aglet.arrays.keyfolder import INDEX, SECRETS, VERSION, read_index, shown, write_index
from aglet.errors import KeyMismatchError, MissingKeyError, ParameterError, SerializationError
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from aglet.bridge.keys import BridgeKeys
    from aglet.ckks.engine import Engine
    from aglet.lookup.engine import LookupEngine

__all__ = ["KeySet"]

_LOOKUPS = ("lwe_secret", "lookup", "packing")
"""The keys of a look-up engine."""
_OF_LOOKUPS = ("lookup_preset", "lookup_key_id")
"""What an index says of them."""
_BRIDGE_ARGUMENTS = ("bridge", "bootstrap", "lookup", "relinearization", "conjugation", "packing")
"""In the order of `BridgeKeys`."""
_TYPES = {
    "secret": SecretKey,
    "public": PublicKey,
    "relinearization": RelinearizationKey,
    "conjugation": ConjugationKey,
    "rotation": RotationKey,
    "matrix": MatrixMultiplicationKey,
    "bootstrap": BootstrapKey,
    "bridge": BridgeKey,
    "lwe_secret": LweSecretKey,
    "lookup": LookupKey,
    "packing": PackingKey,
}


@dataclass(frozen=True, repr=False)
class KeySet:
    """Keys of one secret; those that were not made are None. It is pickled without secret keys only.

    `engine.create_keys()` makes one, `keys.save(folder)` keeps it, `KeySet.load(folder)` reads it. One that was made
    with `create_keys(bridge=...)` holds the keys of a bridge and of its look-up engine as well.
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
    lookup_engine: LookupEngine | None = None
    """The look-up engine that a bridge leads to."""
    bridge: BridgeKey | None = None
    lwe_secret: LweSecretKey | None = None
    """The secret key of look-ups."""
    lookup: LookupKey | None = None
    packing: PackingKey | None = None

    def __post_init__(self) -> None:
        from aglet.ckks.engine import Engine
        from aglet.lookup.engine import LookupEngine

        for name, engine, kind in (
            ("engine", self.engine, Engine),
            ("lookup_engine", self.lookup_engine, LookupEngine),
        ):
            if not isinstance(engine, kind) and (engine is not None or kind is Engine):
                raise TypeError(f"{name} is an engine, {kind.__name__}, not {type(engine).__name__}.")
        keys = self._keys()
        for name, key in keys.items():
            if not isinstance(key, _TYPES[name]):
                raise TypeError(f"{name} is a {_TYPES[name].__name__}, not {type(key).__name__}.")
        ids = {key.key_id for name, key in keys.items() if name not in _LOOKUPS}
        if len(ids) > 1 or len(self._lookup_ids()) > 1:
            raise KeyMismatchError("These keys belong to different secret keys; take those of one.")
        if self.lookup_engine is None and any(name in keys for name in (*_LOOKUPS, "bridge")):
            raise ParameterError("Keys of look-ups and of a bridge go with their engine; pass lookup_engine= too.")

    @property
    def key_id(self) -> str:
        """Short id of the secret key."""
        for name, key in self._keys().items():
            if name not in _LOOKUPS:
                return str(key.key_id)
        raise MissingKeyError("This set holds no key of slots; make some with engine.create_keys().")

    def _lookup_ids(self) -> set[str]:
        """Short ids of the secret key of look-ups, as all keys of it say them."""
        found = {key.key_id for name, key in self._keys().items() if name in _LOOKUPS}
        return found if self.bridge is None else found | {self.bridge.lookup_key_id}

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

    @property
    def bridge_keys(self) -> BridgeKeys:
        """What the methods of a `Bridge` take as `keys`.

        Raises
        ------
        MissingKeyError
            If the set holds no keys of a bridge, or one of the others that both directions take is not there.
        """
        from aglet.bridge.keys import BridgeKeys

        found = [getattr(self, name) for name in _BRIDGE_ARGUMENTS]
        missing = [name for name in _BRIDGE_ARGUMENTS[:-1] if getattr(self, name) is None]
        if missing:
            raise MissingKeyError(
                f"A bridge needs a {missing[0]} key, and this set has none; make them with "
                "engine.create_keys(bridge=Bridge(engine, lookup_engine))."
            )
        return BridgeKeys(*found)

    def evaluation(self) -> KeySet:
        """The same without secret keys: what a server needs."""
        return dataclasses.replace(self, secret=None, lwe_secret=None)

    def __getstate__(self) -> dict[str, Any]:
        if self.secret is not None or self.lwe_secret is not None:
            raise TypeError("This set holds a secret key, which is not pickled; pickle keys.evaluation().")
        return dict(self.__dict__)

    def _home(self, name: str) -> Any:
        """The engine or bridge that writes and reads the key of this name."""
        from aglet.bridge.bridge import Bridge

        lookups = self.lookup_engine
        if lookups is None or name not in (*_LOOKUPS, "bridge"):
            return self.engine
        return Bridge(self.engine, lookups) if name == "bridge" else lookups

    def save(self, folder: str | os.PathLike[str], *, progress: ProgressCallback | None = None) -> None:
        """Write every key to a file of its own in a folder, which is made if it is not there, and then the index.

        Only the owner may read the files of secret keys (mode 0600): secret.key, and lwe_secret.key of look-ups. A
        folder that holds keys of another secret is refused; keys of the same are written again.

        Raises
        ------
        KeyMismatchError
            If the folder holds keys of another secret.
        OSError
            If the system refuses.
        """
        place = Path(checks.path("folder", folder))
        place.mkdir(parents=True, exist_ok=True)
        there = _index(place) if (place / INDEX).exists() else {}
        if "key_id" in there and there["key_id"] != self.key_id:
            raise KeyMismatchError(
                f"{shown(place)} holds keys of another secret ({there['key_id']}); save these in another folder."
            )
        lookups = self._of_lookups() or {name: there[name] for name in _OF_LOOKUPS if name in there}
        if there.get("lookup_key_id", lookups.get("lookup_key_id")) != lookups.get("lookup_key_id"):
            raise KeyMismatchError(
                f"{shown(place)} holds keys of another secret of look-ups ({there['lookup_key_id']}); save these in "
                "another folder."
            )
        for name, key in self._keys().items():
            self._home(name).write(key, place / f"{name}.key", progress=progress)
        # Files that no index names were left by a call that did not end, or are none of ours.
        kept = set(there.get("keys", ())) | set(self._keys())
        index = {
            "version": VERSION,
            "key_id": self.key_id,
            "preset": self.engine.preset,
            "slot_count": self.engine.slot_count,
            **lookups,
            "keys": sorted(kept),
        }
        write_index(place, index)

    def _of_lookups(self) -> dict[str, str]:
        """What an index says of the keys of look-ups; empty without one."""
        found = self._lookup_ids()
        if self.lookup_engine is None or not found:
            return {}
        return dict(zip(_OF_LOOKUPS, (self.lookup_engine.preset, found.pop()), strict=True))

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        engine: Engine | None = None,
        *,
        secret: bool = False,
        lookup_engine: LookupEngine | None = None,
        progress: ProgressCallback | None = None,
    ) -> KeySet:
        """Read the keys of a folder, secret keys only if asked.

        Parameters
        ----------
        engine
            The engine that will use them; without it, one on all cores with the preset that the folder names.
        secret
            Whether to read the secret keys as well.
        lookup_engine
            The look-up engine that will use the keys of a bridge; without it one with the preset that the folder names
            and the threads of `engine`.

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
        from aglet.lookup.engine import LookupEngine

        place = Path(checks.path("folder", folder))
        index = _index(place)
        if engine is None:
            engine = Engine(preset=index["preset"], slot_count=index["slot_count"], mode="parallel")
        if lookup_engine is None and "lookup_preset" in index:
            lookup_engine = LookupEngine(preset=index["lookup_preset"], thread_count=engine.thread_count)
        if checks.flag("secret", secret) and "secret" not in index["keys"]:
            raise MissingKeyError(f"{shown(place)} has no secret key; copy secret.key into it, or load without it.")
        home = cls(engine, lookup_engine=lookup_engine)
        wanted = [name for name in index["keys"] if secret or name not in SECRETS]
        read = {name: home._home(name).read(place / f"{name}.key", progress=progress) for name in wanted}
        for name, key in read.items():
            if not isinstance(key, _TYPES[name]):
                raise SerializationError(f"{shown(place / f'{name}.key')} is no {name} key; save the keys again.")
        found = dataclasses.replace(home, **read)
        strange = found._lookup_ids() - {index.get("lookup_key_id")}
        if found.key_id != index["key_id"] or strange:
            raise SerializationError(f"The files in {shown(place)} are not those of its index; save the keys again.")
        return found


def _names() -> list[str]:
    others = ("engine", "seconds", "lookup_engine")
    return [field.name for field in dataclasses.fields(KeySet) if field.name not in others]


def _index(place: Path) -> dict[str, Any]:
    return read_index(place, _names(), (*_LOOKUPS, "bridge"))
