"""A folder of keys: a file for each, and the index that makes it one."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from aglet.errors import SerializationError

__all__ = ["INDEX", "SECRETS", "VERSION", "read_index", "shown", "write_index"]

INDEX = "keys.json"
"""The file that makes a folder one of keys."""
SECRETS = ("secret", "lwe_secret")
"""The names of keys that decrypt."""
VERSION = 1
_SHAPES = {"version": int, "key_id": str, "preset": str, "slot_count": int, "keys": list}
_OF_LOOKUPS = {"lookup_preset": str, "lookup_key_id": str}
"""Beside keys of look-ups only."""


def write_index(place: Path, index: Mapping[str, Any]) -> None:
    """Write the file that makes a folder one of keys, whole or not at all."""
    draft = place / f".{INDEX}.{os.getpid()}"
    draft.write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    draft.replace(place / INDEX)


def shown(place: Path) -> str:
    """A path in an error, escaped."""
    return ascii(str(place))


def read_index(place: Path, names: Collection[str], of_lookups: Collection[str]) -> dict[str, Any]:
    """The index of a folder, checked: bytes from outside. `of_lookups` are the names that need a look-up engine.

    Raises
    ------
    SerializationError
        If there is none, or it is damaged, names other keys, or was written by another version.
    """
    refusal = SerializationError(f"{shown(place)} holds no keys that KeySet.save wrote; name the folder with {INDEX}.")
    try:
        found = json.loads((place / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise refusal from None
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"{shown(place / INDEX)} is damaged; save the keys again.") from error
    if not isinstance(found, dict) or any(type(found.get(name)) is not kind for name, kind in _SHAPES.items()):
        raise refusal
    if found["version"] != VERSION:
        raise SerializationError(f"{shown(place)} was written by another version of Aglet; update Aglet.")
    if any(name not in names for name in found["keys"]):
        raise refusal
    wanted = _OF_LOOKUPS if any(name in of_lookups for name in found["keys"]) else {}
    if any(type(found.get(name)) is not kind for name, kind in wanted.items()):
        raise refusal
    return found
