"""Encrypted arrays in folders: files that are lost, changed or exchanged, and folders of earlier versions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Engine, KeySet, Session
from aglet.errors import SerializationError


@pytest.fixture(scope="module")
def keys(engine: Engine) -> KeySet:
    return engine.create_keys()


@pytest.fixture(scope="module")
def session(engine: Engine, keys: KeySet) -> Session:
    return Session(engine, keys)


def test_an_index_beyond_the_chunks_is_refused(session: Session, tmp_path: Path) -> None:
    session.save(session.encrypt([0.5]), tmp_path / "x")
    np.save(tmp_path / "x" / "index.npy", np.array([512]))
    with pytest.raises(SerializationError):
        session.load(tmp_path / "x")


def _swap(folder: Path) -> None:
    first, second = (folder / f"{i}.ciphertext" for i in range(2))
    first.write_bytes(second.read_bytes())


def _counted(folder: Path, count: Any) -> None:
    head = folder / "array.json"
    head.write_text(json.dumps(json.loads(head.read_text()) | {"chunks": count}))


@pytest.mark.parametrize(
    "damage",
    [
        _swap,
        lambda folder: (folder / "1.ciphertext").unlink(),
        lambda folder: (folder / "index.npy").write_bytes(b""),
        lambda folder: _counted(folder, 10**18),
        lambda folder: _counted(folder, math.inf),
        lambda folder: _counted(folder, 0),
        lambda folder: (folder / "1.ciphertext").write_bytes((folder / "1.ciphertext").read_bytes()[:-1]),
    ],
)
def test_an_array_with_files_lost_or_changed_is_refused(session: Session, tmp_path: Path, damage: Any) -> None:
    values = np.linspace(-1, 1, 1000)
    session.save(session.encrypt(values), tmp_path / "x")
    assert np.abs(session.decrypt(session.load(tmp_path / "x")) - values).max() < 2.0**-16
    damage(tmp_path / "x")
    with pytest.raises(SerializationError, match="or a damaged one"):
        session.load(tmp_path / "x")
    with pytest.raises(SerializationError, match="or a damaged one"):
        session.load(tmp_path / "x" / "array.json")


def test_a_folder_of_an_array_without_checksums(session: Session, tmp_path: Path) -> None:
    session.save(session.encrypt([0.5, -0.5]), tmp_path / "x")
    head = tmp_path / "x" / "array.json"
    head.write_text(
        json.dumps({name: value for name, value in json.loads(head.read_text()).items() if name != "sha256"})
    )
    assert np.abs(session.decrypt(session.load(tmp_path / "x")) - [0.5, -0.5]).max() < 2.0**-16
