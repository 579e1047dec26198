"""A folder of keys: a file for each key, and an index that names the keys and their engines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aglet import regular
from aglet.errors import InsecureParametersError, ParameterError, RangeError, SerializationError
from aglet.keys.kinds import BETWEEN, FHEW, KINDS

__all__ = ["INDEX", "engine_of", "index_of", "read_index", "said_of", "shown", "write_index"]

INDEX = "keys.json"
"""The file that makes a folder one of keys."""
_VERSION = 1
_MOST = 2**24
"""Bytes of an index, with a set of the user's own."""
_SHAPES = {"version": int, "keys": list}
_SAID: dict[str, dict[str, type]] = {
    "ckks": {"key_id": str, "preset": str, "slot_count": int},
    "integer": {"key_id": str, "preset": str, "scheme": str, "plaintext_modulus": int, "packing": str, "signed": bool},
    "fhew": {"fhew_key_id": str, "fhew_preset": str},
}
"""What an index says of the keys of a family and of their engine."""
_MORE = {"family": str, "max_level": int, "parameters": str, "fhew_parameters": str}
"""What it may say: another family than "ckks" of slots, what an engine was made by in place of a preset."""
_OWN = "index_sha256"
"""Where it has the sum of itself: with a letter changed it would name another engine that takes the same keys."""
_NAMES = {_OWN, *_SHAPES, *_MORE, *(name for family in _SAID.values() for name in family)}


def said_of(engine: Any) -> dict[str, Any]:
    """The entries of the index for an engine."""
    family = engine._family
    if family == "fhew":
        own = engine._arguments["parameters"]
        return {"fhew_preset": engine.preset, **({} if own is None else {"fhew_parameters": own})}
    words = {name: getattr(engine, name) for name in _SAID[family] if name != "key_id"}
    if family == "integer":
        own = engine._arguments["parameters"]
        return {"family": family, **words, **({} if own is None else {"parameters": own})}
    # The preset of an engine that was made by its levels has more of them, and other keys.
    return {**words, **({"max_level": engine.max_level} if engine._by_levels else {})}


def engine_of(index: Mapping[str, Any], part: str, place: Path, threads: int = 0, **words: Any) -> Any:
    """The engine that an index names: of slots (part "key_id") or of FHEW ("fhew_key_id"). None if it names none.

    It computes on the processor with so many threads, unless a `mode` says otherwise.

    Raises
    ------
    InsecureParametersError
        If its set is below 128 bits, unless `allow_insecure=True` is given.
    SerializationError
        If there is no such engine.
    """
    if part not in index:
        return None
    try:
        made = _made(index, "fhew" if part == "fhew_key_id" else _family(index), {"thread_count": threads, **words})
    except InsecureParametersError:
        raise
    except (ParameterError, RangeError, TypeError) as error:
        as_what = " as fhew_engine=" if part == "fhew_key_id" else ""
        raise SerializationError(
            f"{shown(place / INDEX)} names no engine that there is; save the keys again, or pass the engine that they "
            f"were made with{as_what}. {error}"
        ) from error
    return made


def _made(index: Mapping[str, Any], family: str, words: dict[str, Any]) -> Any:
    from aglet.ckks.engine import Engine
    from aglet.fhew.engine import FhewEngine
    from aglet.integer.engine import IntegerEngine

    if family == "integer":
        own = index.get("parameters")
        # A set of the user's own has its modulus too.
        left_out = {"key_id"} if own is None else {"key_id", "preset", "plaintext_modulus"}
        said = {name: index[name] for name in _SAID[family] if name not in left_out}
        return IntegerEngine(**said, parameters=own, **words)
    if family == "fhew":
        own = index.get("fhew_parameters")
        return FhewEngine(preset=index["fhew_preset"] if own is None else None, parameters=own, **words)
    levels = index.get("max_level")
    made = Engine(
        max_level=levels,
        preset=index["preset"] if levels is None else None,
        slot_count=index["slot_count"],
        **{"mode": "parallel", **words},
    )
    if made.preset != index["preset"]:
        raise ParameterError(f'The preset is {index["preset"]!a}, and max_level={levels} goes with "{made.preset}".')
    return made


def write_index(place: Path, there: Mapping[str, Any], said: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Write the index of a folder of keys, whole or not at all.

    Entries of an engine that `said` does not have stay as they were.
    """
    part = {True: "fhew_key_id", False: "key_id"}
    kept = {name: one for name, one in there.items() if part[name.startswith("fhew_")] not in said}
    index = {**kept, **said, "version": _VERSION, "keys": sorted({*there.get("keys", ()), *keys})}
    draft = place / f".{INDEX}.{os.getpid()}"
    draft.write_text(json.dumps({**index, _OWN: regular.sum_of(index)}, indent=1) + "\n", encoding="utf-8")
    draft.replace(place / INDEX)


def shown(place: Path) -> str:
    """A path in an error, escaped."""
    return ascii(str(place))


def read_index(place: Path) -> dict[str, Any]:
    """The index of a folder, checked.

    Raises
    ------
    SerializationError
        If there is none, or it is damaged, names other keys, or was written by another version.
    """
    try:
        data = regular.contents(place / INDEX, _MOST)
    except FileNotFoundError:
        data = None
    except regular.NoFileError as error:
        raise SerializationError(f"{shown(place)} has a damaged {INDEX}; save the keys again.") from error
    return index_of(data, shown(place))


def index_of(data: bytes | None, place: str) -> dict[str, Any]:
    """An index, None where there is none: bytes from outside. Errors name `place`."""
    refusal = SerializationError(f"{place} holds no keys that KeySet.save wrote; name the folder with {INDEX}.")
    if data is None:
        raise refusal
    try:
        found = json.loads(data)
        # Indices of earlier versions have no sum of their own.
        own = found.pop(_OWN, None) if isinstance(found, dict) else None
        if own is not None and own != regular.sum_of(found):
            raise ValueError("the index was changed")
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"{place} has a damaged {INDEX}; save the keys again.") from error
    if not isinstance(found, dict) or not _says(found, _SHAPES):
        raise refusal
    if found["version"] != _VERSION:
        raise SerializationError(f"{place} was written by another version of Aglet; update Aglet.")
    keys = found["keys"]
    known = bool(keys) and all(type(name) is str and name in KINDS for name in keys)
    if not known or _family(found) not in ("ckks", "integer"):
        raise refusal
    wanted = {name: kind for name, kind in _MORE.items() if name in found}
    if "key_id" in found or any(name not in FHEW for name in keys):
        wanted |= _SAID[_family(found)]
    if "fhew_key_id" in found or any(name in FHEW or name == BETWEEN for name in keys):
        wanted |= _SAID["fhew"]
    if not _says(found, wanted) or not _NAMES.issuperset(found):
        raise refusal
    return found


def _says(found: Mapping[str, Any], shapes: Mapping[str, type]) -> bool:
    return all(type(found.get(name)) is kind for name, kind in shapes.items())


def _family(index: Mapping[str, Any]) -> Any:
    """Of slots."""
    return index.get("family", "ckks")
