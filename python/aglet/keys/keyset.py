"""`KeySet`: all keys of one secret key, which can be saved to a folder and loaded from it."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from aglet import checks
from aglet._core import (
    BootstrapKey,
    ConjugationKey,
    FhewBootstrapKey,
    FhewPublicKey,
    FhewSecretKey,
    IntegerBootstrapKey,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSchemeSwitchKey,
    IntegerSecretKey,
    MatrixMultiplicationKey,
    PackingKey,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SchemeSwitchKey,
    SecretKey,
)
from aglet.errors import KeyMismatchError, MissingKeyError, ParameterError, SerializationError
from aglet.keys.folder import INDEX, engine_of, read_index, said_of, shown, write_index
from aglet.keys.kinds import BETWEEN, FHEW, KINDS, PUBLIC, SECRETS
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from aglet.ckks.engine import Engine
    from aglet.fhew.engine import FhewEngine
    from aglet.integer.engine import IntegerEngine

__all__ = ["KeySet"]

_INTEGERS = "integers"
"""The folder of keys of slots of integers, in that of the others."""


@dataclass(frozen=True, repr=False)
class KeySet:
    """The keys of one secret key of CKKS or integers, of one secret key of FHEW, or of both. Missing keys are None.

    `create_keys()` of every engine makes a set, `keys.save(folder)` saves it, and `KeySet.load(folder)` loads it. A set
    with secret keys cannot be pickled.
    """

    engine: Engine | IntegerEngine | None = None
    """The engine of the keys of slots (CKKS or integers); None if there are keys of FHEW only."""
    secret: SecretKey | IntegerSecretKey | None = None
    public: PublicKey | IntegerPublicKey | None = None
    relinearization: RelinearizationKey | IntegerRelinearizationKey | None = None
    conjugation: ConjugationKey | None = None
    rotation: RotationKey | IntegerRotationKey | None = None
    matrix: MatrixMultiplicationKey | None = None
    bootstrap: BootstrapKey | IntegerBootstrapKey | None = None
    seconds: float | None = None
    """The time that `create_keys` took; None for keys that were loaded."""
    fhew_engine: FhewEngine | None = None
    """The FHEW engine of the keys below."""
    scheme_switch: SchemeSwitchKey | IntegerSchemeSwitchKey | None = None
    fhew_secret: FhewSecretKey | None = None
    """The secret key of FHEW."""
    fhew_bootstrap: FhewBootstrapKey | None = None
    packing: PackingKey | None = None
    fhew_public: FhewPublicKey | None = None
    """The compact public key of FHEW, with which senders encrypt booleans and whole numbers."""
    integers: KeySet | None = None
    """The keys of slots of integers, and of their switch to FHEW, beside keys of CKKS."""

    def __post_init__(self) -> None:
        if self.engine is None and self.fhew_engine is None:
            raise TypeError("Keys go with their engine; pass engine= or fhew_engine=.")
        for name, families, said in (
            ("engine", ("ckks", "integer"), "an Engine or an IntegerEngine"),
            ("fhew_engine", ("fhew",), "a FhewEngine"),
        ):
            engine = getattr(self, name)
            if engine is not None and getattr(type(engine), "_family", None) not in families:
                raise TypeError(f"{name} is {said}, not {type(engine).__name__}.")
        keys = self._keys()
        if self.engine is None and any(name not in FHEW for name in keys):
            raise ParameterError("Keys of slots go with their engine; pass engine= too.")
        if self.fhew_engine is None and any(name in FHEW or name == BETWEEN for name in keys):
            raise ParameterError("Keys of FHEW and of a switch go with their engine; pass fhew_engine= too.")
        for name in keys:
            self._need(name)
        ids = {key.key_id for name, key in keys.items() if name not in FHEW}
        if len(ids) > 1 or len(self._fhew_ids()) > 1:
            raise KeyMismatchError("These keys belong to different secret keys; take those of one secret key.")
        if self.integers is not None:
            self._check_integers(self.integers)

    def _check_integers(self, keys: KeySet) -> None:
        """Refuse keys that do not go beside these.

        Raises
        ------
        TypeError
            If they are no keys of slots of integers alone, or these are not of CKKS.
        KeyMismatchError
            If both sets are of different secret keys of FHEW.
        """
        said = "integers is a set of keys of an IntegerEngine, beside keys of an Engine"
        inner = checks.need(keys, KeySet, "IntegerEngine(use_bootstrap=True).create_keys()")
        if getattr(inner.engine, "_family", None) != "integer" or getattr(self.engine, "_family", None) != "ckks":
            raise TypeError(f"{said}; give each set on its own.")
        if inner.integers is not None or any(name in FHEW for name in inner._keys()):
            raise TypeError(f"{said}, without keys of FHEW, which are in the outer set.")
        if len(self._fhew_ids() | inner._fhew_ids()) > 1:
            raise KeyMismatchError("These switches lead to different secret keys of FHEW; make them for one.")

    def _need(self, name: str, family: str | None = None) -> Any:
        """The key of this name, of its engine or of an engine of this family.

        Raises
        ------
        MissingKeyError
            If there is none; the error names the call that makes it.
        TypeError
            If it is of another family.
        """
        slots: Any = self.engine
        kind, own = KINDS[name], "fhew" if name in FHEW else family or slots._family
        if own not in kind.types:
            raise TypeError(f"Engines of this family have no {name} key; leave it out.")
        return checks.need(getattr(self, name), kind.types[own], kind.maker)

    @property
    def key_id(self) -> str:
        """Short id of the secret key of slots."""
        for name, key in self._keys().items():
            if name not in FHEW:
                return str(key.key_id)
        raise MissingKeyError("This set holds no key of slots; make some with engine.create_keys().")

    def _fhew_ids(self) -> set[str]:
        """The ids of the secret key of FHEW that the keys state."""
        found = {key.key_id for name, key in self._keys().items() if name in FHEW}
        return found if self.scheme_switch is None else found | {self.scheme_switch.fhew_key_id}

    def _keys(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in KINDS if getattr(self, name) is not None}

    def __repr__(self) -> str:
        engines = " and ".join(one.preset for one in (self.engine, self.fhew_engine) if one is not None)
        more = "" if self.integers is None else f", and {self.integers!r}"
        return f"<KeySet of {engines}: {', '.join(self._keys()) or 'no key'}{more}>"

    @property
    def byte_count(self) -> int:
        """The memory of all keys in bytes."""
        more = 0 if self.integers is None else self.integers.byte_count
        return more + sum(int(key.byte_count) for key in self._keys().values())

    @property
    def bootstrap_arguments(self) -> tuple[Any, ...]:
        """The keys that a bootstrap of CKKS takes, in the order of its arguments.

        Raises
        ------
        MissingKeyError
            If one of them is missing.
        """
        small = isinstance(self.bootstrap, BootstrapKey) and self.bootstrap.size == "small"
        names = ("relinearization", "conjugation", *(("rotation",) if small else ()), "bootstrap")
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            why = f"A bootstrap needs a {missing[0].replace('_', ' ')} key, and this set has none"
            if missing == ["bootstrap"] and self.engine is not None and not getattr(self.engine, "can_bootstrap", True):
                raise MissingKeyError(
                    f"{why}, as its engine has no bootstrap of {self.engine.slot_count} slots; make the engine with "
                    "use_bootstrap=True, or with a slot_count= that its preset bootstraps."
                )
            raise MissingKeyError(f"{why}; see create_keys().")
        return tuple(self._need(name, "ckks") for name in names)

    @property
    def bootstrap_bytes(self) -> tuple[int, int]:
        """The bytes of the keys that a bootstrap reads, in memory and in files, which hold seeds for uniform halves."""
        read = self.bootstrap_arguments
        return sum(key.byte_count for key in read), sum(key.stored_bytes for key in read)

    def evaluation(self) -> KeySet:
        """The same set without secret keys, for a server."""
        none: dict[str, Any] = dict.fromkeys(SECRETS)
        inner = None if self.integers is None else self.integers.evaluation()
        return dataclasses.replace(self, **none, integers=inner)

    def encryption(self) -> KeySet:
        """The same set with public keys only, for a sender: 11 kB of FHEW, a ciphertext of slots.

        `Session(keys)` encrypts with it, and neither decrypts nor computes.

        Raises
        ------
        MissingKeyError
            If the set has no public key.
        """
        others: dict[str, Any] = {name: None for name in KINDS if name not in PUBLIC}
        if all(getattr(self, name) is None for name in PUBLIC):
            raise MissingKeyError("This set holds no public key; make one with engine.create_public_key(secret_key).")
        inner = None if self.integers is None or self.integers.public is None else self.integers.encryption()
        return dataclasses.replace(self, **others, integers=inner)

    def __getstate__(self) -> dict[str, Any]:
        if any(getattr(one, name, None) is not None for name in SECRETS for one in (self, self.integers)):
            raise TypeError("This set holds a secret key, which is not pickled; pickle keys.evaluation().")
        return dict(self.__dict__)

    def _home(self, name: str) -> Any:
        """The engine or switch that writes and reads the key of this name."""
        from aglet.scheme_switch.switch import SchemeSwitch

        slots, fhew = cast("tuple[Any, Any]", (self.engine, self.fhew_engine))
        return SchemeSwitch(slots, fhew) if name == BETWEEN else fhew if name in FHEW else slots

    def save(self, folder: str | os.PathLike[str], *, progress: ProgressCallback | None = None) -> None:
        """Write each key to a file of its own in a folder, and then the index. The folder is made if it does not exist.

        Only the owner may read the files of secret keys, secret.key and fhew_secret.key (mode 0600). Keys of slots of
        integers beside others have a folder in it, "integers". A folder with keys of another secret key is refused.
        Keys of the same secret key are written again.

        Raises
        ------
        KeyMismatchError
            If the folder holds keys of another secret key.
        OSError
            If the system refuses.
        """
        place = Path(checks.path("folder", folder))
        place.mkdir(parents=True, exist_ok=True)
        if self.integers is not None:
            self.integers.save(place / _INTEGERS, progress=progress)
        there = read_index(place) if (place / INDEX).exists() else {}
        said = self._said()
        for name, what in (("key_id", ""), ("fhew_key_id", " of FHEW")):
            if name in there and there[name] != said.get(name, there[name]):
                raise KeyMismatchError(
                    f"{shown(place)} holds keys of another secret{what} ({there[name]}); save these in another folder."
                )
        for name, key in self._keys().items():
            self._home(name).write(key, place / f"{name}.key", progress=progress)
        # Files that no index names were left by a call that did not end, or are none of ours.
        write_index(place, there, said, self._keys())

    def _said(self) -> dict[str, Any]:
        """The entries of the index for these keys."""
        said, fhew = {}, self._fhew_ids()
        if not fhew or any(name not in FHEW for name in self._keys()):
            said = {"key_id": self.key_id, **said_of(self.engine)}
        return {**said, "fhew_key_id": fhew.pop(), **said_of(self.fhew_engine)} if fhew else said

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        engine: Engine | IntegerEngine | None = None,
        *,
        secret: bool = False,
        fhew_engine: FhewEngine | None = None,
        integer_engine: IntegerEngine | None = None,
        progress: ProgressCallback | None = None,
        allow_insecure: bool = False,
    ) -> KeySet:
        """Load the keys of a folder, without secret keys unless `secret=True`.

        Parameters
        ----------
        engine
            The engine of slots that will use the keys. By default, an engine on all cores with the parameters that the
            folder names.
        secret
            Whether to load the secret keys too.
        fhew_engine
            The FHEW engine that will use the keys. By default, an engine with the preset that the folder names and the
            threads of `engine`.
        integer_engine
            As `engine`, for keys of slots of integers beside others.
        allow_insecure
            Whether engines that the folder names may have less than 128 bits of security, as toys for tests have.

        Raises
        ------
        InsecureParametersError
            If one has less, and `allow_insecure` was not given.
        SerializationError
            If the folder has no index that `save` wrote, a file is damaged, or the engine that the folder names cannot
            be made.
        MissingKeyError
            If `secret=True` and there is no secret key.
        KeyMismatchError
            If the keys belong to another engine than the given one.
        """
        place = Path(checks.path("folder", folder))
        index = read_index(place)
        words = {"allow_insecure": checks.flag("allow_insecure", allow_insecure)}
        if engine is None:
            engine = engine_of(index, "key_id", place, **words)
        if fhew_engine is None:
            fhew_engine = engine_of(index, "fhew_key_id", place, getattr(engine, "thread_count", 0), **words)
        home, own = cls(engine, fhew_engine=fhew_engine), "secret" if "key_id" in index else "fhew_secret"
        if checks.flag("secret", secret) and own not in index["keys"]:
            raise MissingKeyError(f"{shown(place)} has no secret key; copy {own}.key into it, or load without it.")
        wanted = [name for name in index["keys"] if secret or name not in SECRETS]
        # Secret keys are kept apart from folders, and a copy may have lost others.
        for name in wanted:
            if not (place / f"{name}.key").exists():
                what = "load without it" if name in SECRETS else "save the keys again"
                raise MissingKeyError(f"{shown(place)} has no {name}.key; copy that file into it, or {what}.")
        read = {name: home._home(name).read(place / f"{name}.key", progress=progress) for name in wanted}
        try:
            found = dataclasses.replace(home, **read)
        except TypeError as error:
            raise SerializationError(f"A file in {shown(place)} holds another key; save the keys again.") from error
        strange = found._fhew_ids() - {index.get("fhew_key_id")}
        if strange or any(key.key_id != index["key_id"] for name, key in read.items() if name not in FHEW):
            raise SerializationError(f"The files in {shown(place)} are not those of its index; save the keys again.")
        if not (place / _INTEGERS).is_dir():
            return found
        decrypts = "secret" in read_index(place / _INTEGERS)["keys"] and secret
        options: Any = {"secret": decrypts, "fhew_engine": found.fhew_engine, "progress": progress, **words}
        inner = cls.load(place / _INTEGERS, integer_engine, **options)
        try:
            return dataclasses.replace(found, integers=inner)
        except TypeError as error:
            raise SerializationError(f"The folders in {shown(place)} are of other keys; save them again.") from error
