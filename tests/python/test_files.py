"""Files, bytes and pickles of every type: they come back in another engine; damaged and foreign data are refused.

`stored.py` lists the types, a line for each. test_ckks_files.py and test_fhew_files.py test what one family alone has,
test_disk.py what the system does to files.
"""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aglet.errors import KeyMismatchError, MissingKeyError, SerializationError
from aglet.files import restore
from stored import FAMILIES, STORED, Family, put
from support import assert_near

SECRETS = [pair for pair in STORED if pair[1].endswith("secret_key")]
OPEN = [pair for pair in STORED if pair not in SECRETS]
KEYS = [pair for pair in OPEN if pair[1].endswith("key")]
KEYED = [(family, name) for family, name in STORED if FAMILIES[family].lines[name].keyed]


@dataclass(frozen=True)
class Case:
    """A type, and one thing of it."""

    family: Family
    name: str

    @property
    def secret(self) -> bool:
        return self.name.endswith("secret_key")

    @property
    def thing(self) -> Any:
        return getattr(self.family.made(), self.name)

    @property
    def data(self) -> bytes:
        return self.family.written(self.name)

    def check(self, engine: Any, thing: Any) -> None:
        """It works beside everything else that was made with it."""
        found = self.family.found(engine, put(self.family.made(), self.name, thing), self.name)
        assert_near(found, np.asarray(self.family.lines[self.name].expected, complex))


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    family, name = request.param
    return Case(FAMILIES[family], name)


def every(pairs: list[tuple[str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", pairs, indirect=True, ids=[f"{family}-{name}" for family, name in pairs])


def said_of(thing: Any) -> dict[str, Any]:
    """What a thing says of itself: number of stages, step of a rotation, size, secret key."""
    found = {name: getattr(thing, name) for name in dir(thing) if not name.startswith("_")}
    return {name: value for name, value in found.items() if isinstance(value, str | int | float | tuple)}


@contextmanager
def progress(verb: str, data: bytes) -> Iterator[Callable[..., None]]:
    """What calls this callback tells what it does, and how far it is."""
    seen: list[tuple[int, int, str]] = []
    yield lambda *step: seen.append(step)
    assert all(0 <= done <= total and what.startswith(f"{verb} the ") for done, total, what in seen)
    assert seen[-1][0] == seen[-1][1] if seen else len(data) < 2**22


@every(STORED)
def test_what_is_written_works_in_another_engine(case: Case, tmp_path: Path) -> None:
    engine, other, path = case.family.engine(), case.family.engine(1), tmp_path / "thing"
    with progress("writing", case.data) as tell:
        engine.write(case.thing, path, progress=tell)
    assert path.read_bytes() == case.data
    with progress("reading", case.data) as tell:
        of_file = other.read(str(path), progress=tell)
    with progress("reading", case.data) as tell:
        of_bytes = other.deserialize(memoryview(case.data), progress=tell)
    for back in (of_file, of_bytes):
        assert type(back) is type(case.thing)
        assert said_of(back) == said_of(case.thing)
    with progress("writing", case.data) as tell:
        assert other.serialize(of_file, progress=tell) == case.data
    case.check(other, of_bytes)


@every(KEYS)
def test_the_size_of_a_file_is_forecast(case: Case) -> None:
    size = len(case.data)
    assert 2 * size < case.thing.byte_count
    # A public key has no forecast.
    if not case.name.endswith("public_key"):
        assert abs(size - case.thing.stored_bytes) < 0.04 * size


@every(OPEN)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(case: Case, protocol: int) -> None:
    pickled = pickle.dumps(case.thing, protocol)
    # Older protocols write bytes as text.
    assert (case.data in pickled) == (protocol > 2)
    back = pickle.loads(pickled)
    assert type(back) is type(case.thing)
    if protocol == 2:
        assert case.family.engine().serialize(back) == case.data
    if protocol == 5:
        buffers: list[pickle.PickleBuffer] = []
        small = pickle.dumps(case.thing, protocol, buffer_callback=buffers.append)
        assert len(small) < 300
        assert [buffer.raw() for buffer in buffers] == [case.data]
        case.check(case.family.engine(1), pickle.loads(small, buffers=buffers))


@every(OPEN)
def test_copies(case: Case) -> None:
    for copied in (copy.copy(case.thing), copy.deepcopy([case.thing])[0]):
        assert case.family.engine().serialize(copied) == case.data
        # What out= does to a ciphertext of CKKS does nothing to its copy. Everything else never changes, and is shared.
        assert (copied is case.thing) == (case.family is not FAMILIES["ckks"] or case.name != "ciphertext")


@every(SECRETS)
def test_a_secret_key_is_neither_pickled_nor_copied(case: Case) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match=r"neither pickled nor copied.*write it with engine\.write"):
            pickle.dumps(case.thing, protocol)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither pickled nor copied"):
            copied(case.thing)
    with pytest.raises(SerializationError, match="engine"):
        restore(case.data)


@every(STORED)
def test_damaged_and_cut_data_are_refused(case: Case, tmp_path: Path) -> None:
    engine, good, path = case.family.engine(), case.data, tmp_path / "thing"
    near, far = (11, 100) if len(good) < 2**12 else (17, 20) if len(good) < 2**19 else (37, 6)
    for at in [*range(0, 256, near), *range(256, len(good), max(11, len(good) // far))]:
        bad = bytearray(good)
        bad[at] ^= 4
        for data in (bad, good[:at]):
            with pytest.raises(SerializationError):
                engine.deserialize(data)
    for at in (9, 100, 300, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:at] + bytes([good[at] ^ 16]) + good[at + 1 :])
        with pytest.raises(SerializationError):
            engine.read(path)
    path.write_bytes(good[:-1])
    for read, source in ((engine.read, path), (engine.deserialize, good[:-1])):
        with pytest.raises(SerializationError, match="cut short"):
            read(source)
    with pytest.raises(SerializationError, match="do not belong"):
        engine.deserialize(good + b"\0")
    with pytest.raises(SerializationError, match="version 2"):
        engine.deserialize(good[:8] + b"\2" + good[9:])
    if not case.secret:
        with pytest.raises(SerializationError):
            restore(good[:-1])


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutations_are_refused(data: st.DataObject) -> None:
    family, name = data.draw(st.sampled_from(STORED))
    engine, good = FAMILIES[family].engine(), FAMILIES[family].written(name)
    bad = bytearray(good)
    end = data.draw(st.sampled_from([256, 1024, len(good)]))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, min(end, len(bad)) - 1))
        change = data.draw(st.sampled_from(["flip", "cut", "insert", "drop", "fill"]))
        if change == "flip":
            bad[at] ^= 1 << data.draw(st.integers(0, 7))
        elif change == "cut":
            del bad[max(at, 1) :]
        elif change == "insert":
            bad[at:at] = data.draw(st.binary(min_size=1, max_size=40))
        elif change == "drop":
            del bad[at : min(at + 33, len(bad) - 1)]
        else:
            bad[at : at + 64] = bytes(len(bad[at : at + 64]))
    if bytes(bad) != good:
        with pytest.raises(SerializationError):
            getattr(engine, f"deserialize_{name}", engine.deserialize)(bad)


@settings(max_examples=100, deadline=None)
@given(noise=st.binary(max_size=600), start=st.sampled_from([0, 8, 10, 12, 100]), family=st.sampled_from([*FAMILIES]))
def test_noise_is_refused(noise: bytes, start: int, family: str) -> None:
    name = [*FAMILIES[family].lines][-1]
    data = FAMILIES[family].written(name)[:start] + noise
    for read in (FAMILIES[family].engine().deserialize, restore):
        with pytest.raises(SerializationError):
            read(data)


@every(STORED)
def test_other_parameters_are_named(case: Case, tmp_path: Path) -> None:
    other, path = case.family.other(), tmp_path / "thing"
    path.write_bytes(case.data)
    for read in (lambda: other.deserialize(case.data), lambda: other.read(path)):
        with pytest.raises(KeyMismatchError, match=case.family.fits):
            read()
    for write in (lambda: other.serialize(case.thing), lambda: other.write(case.thing, tmp_path / "new")):
        with pytest.raises(KeyMismatchError, match="same options"):
            write()
    assert [entry.name for entry in tmp_path.iterdir()] == ["thing"]


@every(STORED)
def test_other_families_refuse_it(case: Case, tmp_path: Path) -> None:
    for family in FAMILIES.values():
        if family is not case.family:
            with pytest.raises(SerializationError, match=r"family|read it with read"):
                family.engine().deserialize(case.data)
            with pytest.raises(TypeError, match=r"(are|be) (stored|written), not|create_switch_key"):
                family.engine().write(case.thing, tmp_path / "thing")
    assert not list(tmp_path.iterdir())


@every(KEYED)
def test_a_file_says_of_which_secret_it_is(case: Case) -> None:
    engine = case.family.engine()
    foreign = engine.deserialize(engine.serialize(getattr(case.family.made(1), case.name)))
    with pytest.raises(KeyMismatchError, match="one secret key"):
        case.check(engine, foreign)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_no_such_thing_is_refused(family: str, tmp_path: Path) -> None:
    engine, path = FAMILIES[family].engine(), tmp_path / "thing"
    for wrong in (np.ones(3), [1], None, "text", 3):
        for write in (lambda wrong=wrong: engine.write(wrong, path), lambda wrong=wrong: engine.serialize(wrong)):
            with pytest.raises((TypeError, MissingKeyError), match=r"(are|be) (stored|written), not|create_switch_key"):
                write()
    path.write_text("something else")
    with pytest.raises(SerializationError, match="not data of Aglet"):
        engine.read(path)
    for nowhere in (tmp_path / "none", tmp_path / "no" / "folder"):
        with pytest.raises(FileNotFoundError) as caught:
            engine.read(nowhere)
        assert caught.value.filename == str(nowhere)
    with pytest.raises(TypeError, match="read from bytes, not from str"):
        engine.deserialize("text")


@every(STORED)
@pytest.mark.skipif(os.name != "posix", reason="permissions are those of Unix")
def test_only_owners_read_secret_keys(case: Case, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        case.family.engine().write(case.thing, tmp_path / "thing")
        assert (tmp_path / "thing").stat().st_mode & 0o777 == (0o600 if case.secret else 0o666)
    finally:
        os.umask(before)


class EnoughError(Exception):
    """What stops a write."""


@every(STORED)
def test_a_write_that_is_stopped_leaves_no_half(case: Case, tmp_path: Path) -> None:
    engine, path = case.family.engine(), tmp_path / "thing"
    path.write_bytes(b"the old one")

    def stop(*_: object) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        engine.write(case.thing, path, progress=stop)
    # Work that is over before anybody looks is done; what lies there is whole either way.
    assert path.read_bytes() in (b"the old one", case.data)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thing"]
