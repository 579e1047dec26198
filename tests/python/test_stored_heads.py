"""Heads of folders of every kind: a sum with another name, or an entry that no reader knows, is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import fixed, zmod
from aglet.errors import SerializationError
from digit_sets import session
from fuzz.sizes import few_slots

X = np.array([3, 200, 17], dtype=np.uint8)
MADE: dict[str, Callable[[Any], Any]] = {
    "array.json": lambda own: own.encrypt([0.5, -0.5]),
    "integers.json": lambda own: own.encrypt(X),
    "compressed.json": lambda own: own.compress(own.encrypt(X)),
    "fixed.json": lambda own: own.encrypt([0.5, -2], dtype=fixed(8, 4)),
    "compressed-fixed.json": lambda own: own.compress(own.encrypt([0.5, -2], dtype=fixed(8, 4))),
    "slots.json": lambda own: own.encrypt(X, representation="slots"),
}


def _session(name: str) -> Any:
    """Whose keys pack, of digits alone; or of all families."""
    return few_slots() if name in ("array.json", "slots.json", "modulo t") else session()


def _entries(place: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    entries = json.loads(place.read_text())
    change(entries)
    place.write_text(json.dumps(entries))


@pytest.mark.parametrize("name", [*MADE, "modulo t"])
def test_a_sum_with_another_name_is_refused(name: str, tmp_path: Path) -> None:
    own, place = _session(name), tmp_path / "x"
    head = place / (name if name in MADE else "slots.json")
    own.save(MADE[name](own) if name in MADE else own.encrypt(X, dtype=zmod(65537), representation="slots"), place)
    own.load(place)
    written = head.read_text()
    assert "head_sha256" in written
    changes: list[Callable[[dict[str, Any]], Any]] = [
        *(
            lambda said, other=other: said.update({other: said.pop("head_sha256")})
            for other in ("head_sha257", "Head_sha256", "fraction", "modulus", "x", "")
        ),
        lambda said: said.update(head_sha256=None),
        lambda said: said.update(more=1),
        lambda said: said.update(sha257=said.pop("sha256")),
        lambda said: (said.pop("head_sha256"), said.update(sha257=said.pop("sha256"))),
    ]
    for change in changes:
        _entries(head, change)
        with pytest.raises(SerializationError, match="damaged"):
            own.load(place)
        head.write_text(written)
    # Folders of earlier versions have none.
    _entries(head, lambda said: said.pop("head_sha256"))
    own.load(place)


@pytest.mark.parametrize("name", MADE)
def test_a_flipped_bit_in_a_head_is_refused(name: str, tmp_path: Path) -> None:
    own, place, random = _session(name), tmp_path / "x", np.random.default_rng(36)
    own.save(MADE[name](own), place)
    written = (place / name).read_bytes()
    first = written.index(b"head_sha256")
    for at in [*range(first - 1, first + 13), *random.integers(0, len(written) - 1, 20)]:
        changed = bytearray(written)
        changed[at] ^= 1 << int(random.integers(0, 7))
        (place / name).write_bytes(changed)
        with pytest.raises(SerializationError, match="damaged"):
            own.load(place)
