"""Encrypted arrays in folders: files that are lost, changed or exchanged, and folders of earlier versions."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Engine, KeySet, Session
from aglet.errors import ParameterError, SerializationError


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
    _said(folder, chunks=count)


def _said(folder: Path, **other: Any) -> None:
    """Change a head whose own sum is not known, as in folders of earlier versions."""
    head = folder / "array.json"
    said = json.loads(head.read_text())
    del said["head_sha256"]
    head.write_text(json.dumps(said | other))


def _header(folder: Path, old: bytes, new: bytes) -> None:
    index = folder / "index.npy"
    index.write_bytes(index.read_bytes().replace(old, new, 1))


def _archive(file: Path) -> None:
    with file.open("wb") as opened:
        np.savez(opened, x=np.arange(3))


def _a_digit(folder: Path) -> None:
    head = folder / "array.json"
    head.write_text(head.read_text().replace('"filler": [0.0', '"filler": [4.0'))


@pytest.mark.parametrize(
    "damage",
    [
        _swap,
        lambda folder: (folder / "1.ciphertext").unlink(),
        lambda folder: (folder / "index.npy").write_bytes(b""),
        lambda folder: _counted(folder, 10**18),
        lambda folder: _counted(folder, math.inf),
        lambda folder: _counted(folder, 0),
        # What numpy and the tokenizer of Python raise for these is none of ours.
        lambda folder: _header(folder, b"}", b"{"),
        lambda folder: _header(folder, b"'", b'"'),
        lambda folder: _header(folder, b"(1000", b"(9**9"),
        lambda folder: (folder / "index.npy").write_bytes(b"PK\x03\x04"),
        lambda folder: _archive(folder / "index.npy"),
        _a_digit,
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
    _said(tmp_path / "x", sha256=None)
    assert np.abs(session.decrypt(session.load(tmp_path / "x")) - [0.5, -0.5]).max() < 2.0**-16


PLACES = ["array.json", "0.ciphertext", "index.npy"]


@pytest.mark.parametrize("name", PLACES)
def test_pipes_and_devices_are_refused_at_once(session: Session, tmp_path: Path, name: str) -> None:
    """Whoever reads them waits, or reads without end."""
    session.save(session.encrypt([0.5]), tmp_path / "x")
    place = tmp_path / "x" / name
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(SerializationError):
        session.load(tmp_path / "x")
    place.unlink()
    place.symlink_to("/dev/zero")
    with pytest.raises(SerializationError):
        session.load(tmp_path / "x")


def test_a_head_that_no_memory_holds_is_refused(session: Session, keys: KeySet, tmp_path: Path) -> None:
    session.save(session.encrypt([0.5]), tmp_path / "x")
    os.truncate(tmp_path / "x" / "array.json", 2**40)
    with pytest.raises(SerializationError):
        session.load(tmp_path / "x")
    keys.evaluation().save(tmp_path / "keys")
    os.truncate(tmp_path / "keys" / "keys.json", 2**40)
    with pytest.raises(SerializationError):
        KeySet.load(tmp_path / "keys")
    (tmp_path / "keys" / "keys.json").unlink()
    os.mkfifo(tmp_path / "keys" / "keys.json")
    with pytest.raises(SerializationError):
        KeySet.load(tmp_path / "keys")
    with pytest.raises(ParameterError, match="cannot be read"):
        Engine(parameters=str(tmp_path / "keys" / "keys.json"), allow_insecure=True)
