"""Where batches read and write: nothing is overwritten, hidden, waited for or dropped; what stops one is said."""

from __future__ import annotations

import errno
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from typer.testing import CliRunner

from aglet import (
    DeviceError,
    Engine,
    KeyMismatchError,
    KeySet,
    MissingKeyError,
    ParameterError,
    SecretKey,
    SerializationError,
    checks,
)
from aglet.batch import BatchError, Pool, cluster, folders, targets
from aglet.batch.ledger import FAILED, MANIFEST
from aglet.batch.places import Place
from aglet.batch.worker import Worker
from aglet.cli import app

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and FIFOs are those of Unix")

COUNT = 9
MESSAGES = np.random.default_rng(5).uniform(-1, 1, (COUNT, 512))


@pytest.fixture(scope="module")
def keys(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[KeySet, Path]:
    folder = tmp_path_factory.mktemp("keys")
    made = engine.create_keys()
    made.save(folder)
    return made, folder


@pytest.fixture(scope="module")
def data(engine: Engine, keys: tuple[KeySet, Path]) -> list[bytes]:
    return [engine.serialize(engine.encrypt(message, keys[0].public, level=0)) for message in MESSAGES]


@pytest.fixture(scope="module")
def pool(keys: tuple[KeySet, Path]) -> Iterator[Pool]:
    """A gate would be as good: what is slow here are the bootstraps, which is why most tests take few files."""
    with Pool(keys[1], allow_insecure=True) as made:
        yield made


def filled(folder: Path, data: list[bytes], count: int = 2) -> Path:
    (folder / "below").mkdir(parents=True)
    for i in range(count):
        (folder / (f"below/{i}.ct" if i == 1 else f"{i}.ct")).write_bytes(data[i])
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def number_of(engine: Engine, keys: KeySet, ciphertext: Any) -> int:
    """Which of the messages a result is."""
    found = engine.decrypt(ciphertext, checks.need(keys.secret, SecretKey, "create_keys"))
    return int(np.abs(MESSAGES - found).max(axis=1).argmin())


def test_names_that_repeat_in_a_stream(
    engine: Engine, keys: tuple[KeySet, Path], data: list[bytes], pool: Pool
) -> None:
    """Results belong to their place, whatever the names are."""
    given = [engine.deserialize_ciphertext(one) for one in data]
    random = np.random.default_rng(1)
    for ordered in (True, False):
        names = [str(random.integers(3)) for _ in given]
        found = list(pool.stream(zip(names, given, strict=True), ordered=ordered))
        assert len(found) == COUNT
        order = [number_of(engine, keys[0], one) for _, one in found]
        assert order == list(range(COUNT)) if ordered else sorted(order) == list(range(COUNT))
        assert [name for name, _ in found] == [names[i] for i in order]


def test_what_is_no_stream_and_no_place(engine: Engine, keys: tuple[KeySet, Path], tmp_path: Path, pool: Pool) -> None:
    """A list without names; an empty name, as an unset variable of a shell leaves, is not the folder of the process."""
    message = engine.encrypt(MESSAGES[0], keys[0].public, level=0)
    for given in ([message], [("a", message, 1)]):
        with pytest.raises(TypeError, match="enumerate"):
            list(pool.stream(given))
    for source, target in ((tmp_path, ""), ("", tmp_path)):
        with pytest.raises(ParameterError, match="empty"):
            pool.run(source, target)


def test_streams_side_by_side(engine: Engine, keys: tuple[KeySet, Path], data: list[bytes], pool: Pool) -> None:
    """Two streams of one pool, in turn and one in the other: each gets its own results, all of them."""
    given = [engine.deserialize_ciphertext(one) for one in data]
    first = ((f"a{i}", given[i]) for i in range(COUNT))
    second = ((f"b{i}", given[i]) for i in range(4, 8))
    one, two = pool.stream(first), pool.stream(second, ordered=False)
    found = {"a": [], "b": []}  # type: ignore[var-annotated]
    for pair in itertools.zip_longest(one, two):
        for name, result in filter(None, pair):
            found[name[0]].append(int(name[1:]))
            assert number_of(engine, keys[0], result) == int(name[1:])
    assert found["a"] == list(range(COUNT))
    assert sorted(found["b"]) == [4, 5, 6, 7]
    inner = pool.stream((str(i), given[i]) for i in range(3))
    outer = pool.stream((name, given[int(name)]) for name, _ in inner)
    assert [(name, number_of(engine, keys[0], one)) for name, one in outer] == [("0", 0), ("1", 1), ("2", 2)]


def test_results_never_go_where_ciphertexts_are(
    data: list[bytes], tmp_path: Path, pool: Pool, monkeypatch: Any
) -> None:
    source = filled(tmp_path / "in", data)
    (tmp_path / "link").symlink_to(source)
    (tmp_path / "chain").symlink_to(tmp_path / "link")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "down").symlink_to(source / "below")
    (source / "out").symlink_to(tmp_path / "results")
    (tmp_path / "results").mkdir()
    before = contents(source)
    monkeypatch.chdir(tmp_path / "elsewhere")
    targets = [source, source / "new" / "deep", tmp_path / "link", tmp_path / "chain" / "new", source / "below"]
    targets += [tmp_path / "elsewhere" / "down", tmp_path / "elsewhere" / "down" / "x", tmp_path / "results"]
    for target in [
        *map(str, targets),
        "../in",
        "../elsewhere/../in/x",
        "down",
        f"file://{source}",
        f"local://{source}/x",
    ]:
        with pytest.raises(ParameterError, match="outside of the source"):
            pool.run(source, target)
    with pytest.raises(ParameterError, match="outside of the source"):
        pool.run(f"simplecache::file://{source}", source)
    for given in (tmp_path / "link", "../in"):
        with pytest.raises(ParameterError, match="outside of the source"):
            pool.run(given, source / "x")
    assert contents(source) == before
    assert sorted(path.name for path in source.iterdir()) == ["0.ct", "below", "out"]


def test_results_never_overwrite_ciphertexts_or_keys(
    data: list[bytes], keys: tuple[KeySet, Path], tmp_path: Path, pool: Pool
) -> None:
    """Where folders of both meet below: names nested in themselves, links of folders and files; and the keys."""
    nested = filled(tmp_path / "in", data)
    filled(nested / "in", data)
    below = filled(tmp_path / "source", data)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "below").symlink_to(below / "below")
    linked = tmp_path / "linked"
    linked.mkdir()
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.ct").write_bytes(data[0])
    (linked / "x.ct").symlink_to(tmp_path / "real" / "x.ct")
    named = tmp_path / "named"
    named.mkdir()
    (named / "public.key").write_bytes(data[0])
    before = contents(tmp_path)
    for source, target in (
        (nested, tmp_path),
        (below, tmp_path / "out"),
        (linked, tmp_path / "real"),
        (named, keys[1]),
    ):
        with pytest.raises(ParameterError, match="would overwrite"):
            pool.run(source, target)
    assert contents(tmp_path) == before
    # Links and hard links among results are replaced, and what they lead to stays.
    other = tmp_path / "other"
    other.mkdir()
    (other / "0.ct").symlink_to(below / "0.ct")
    (other / "below").mkdir()
    (other / "below" / "1.ct").hardlink_to(below / "below" / "1.ct")
    assert pool.run(below, other).done == 2
    assert before.items() <= contents(tmp_path).items()


def test_what_is_no_file_is_said_and_not_waited_for(data: list[bytes], tmp_path: Path, pool: Pool) -> None:
    source = filled(tmp_path / "in", data)
    os.mkfifo(source / "fifo")
    (source / "below" / "to-fifo").symlink_to(source / "fifo")
    (source / "nothing").symlink_to(source / "gone")
    (source / "loop").symlink_to(source)
    (source / "null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(source)
        server.bind("socket")
    os.chdir(Path(__file__).parent)
    reasons = {
        "fifo": "a FIFO",
        "below/to-fifo": "a FIFO",
        "nothing": "does not exist",
        "loop/": "a folder that contains it",
    }
    reasons |= {"null": "a device", "socket": "a socket"}
    report = pool.run(source, tmp_path / "out")
    assert report.done == 2
    assert {failure.name for failure in report.failures} == set(reasons)
    for failure in report.failures:
        assert reasons[failure.name] in failure.error
    assert len((tmp_path / "out" / FAILED).read_text().splitlines()) == len(reasons)
    assert pool.run(source, tmp_path / "out").skipped == 2
    with pytest.raises(BatchError, match="6 of the"):
        list(pool.stream(source))
    # One that comes while the batch runs.
    (tmp_path / "late").mkdir()
    os.mkfifo(tmp_path / "late" / "x")
    with pytest.raises(PermissionError, match="a FIFO"):
        Place(tmp_path / "late").read("x")


def test_a_place_of_a_result_that_is_taken(data: list[bytes], tmp_path: Path, pool: Pool) -> None:
    """Before anything is computed."""
    source = filled(tmp_path / "in", data)
    for name, make in (
        ("0.ct", lambda path: path.mkdir()),
        ("0.ct", os.mkfifo),
        ("below", lambda path: path.write_text("mine")),
        ("below", lambda path: path.symlink_to(tmp_path / "gone")),
        (MANIFEST, lambda path: path.mkdir()),
        (FAILED, os.mkfifo),
    ):
        out = tmp_path / f"out-{time.monotonic_ns()}"
        out.mkdir()
        make(out / name)
        before = sorted(out.iterdir())
        with pytest.raises(ParameterError, match="give another folder"):
            pool.run(source, out)
        assert sorted(out.iterdir()) == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ParameterError, match="is not a folder"):
        pool.run(source, tmp_path / "file")
    with pytest.raises(FileNotFoundError, match="not a folder"):
        pool.run(tmp_path / "file", tmp_path / "out")
    assert (tmp_path / "file").read_text() == "mine"


def test_long_names(data: list[bytes], tmp_path: Path, pool: Pool, monkeypatch: Any) -> None:
    source = tmp_path / "in"
    source.mkdir()
    names = ["a" * 240, "b" * 255, "ö" * 127]
    for name, one in zip(names, data, strict=False):
        (source / name).write_bytes(one)
    report = pool.run(source, tmp_path / "out")
    assert (report.done, report.failures) == (3, ())
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*names, MANIFEST}
    store = fsspec.filesystem("memory")
    try:
        store.pipe_file("/names/" + "c" * 300, data[0])
        with pytest.raises(ParameterError, match="255 bytes"):
            pool.run("memory://names", tmp_path / "out")
        store.rm("/names", recursive=True)
        store.pipe_file("/names/a", data[0])
        with pytest.raises(ParameterError, match="among the ciphertexts"):
            pool.run("memory://names", "memory://names/out")
    finally:
        store.rm("/names", recursive=True)
    with pytest.raises(ParameterError, match="a folder cannot"):
        targets._refuse_folders_of_names(["a", "a/b"])
    monkeypatch.setattr("aglet.batch.targets._Folder._ignores_case", lambda _: True)
    (source / ("A" * 240)).write_bytes(data[0])
    with pytest.raises(ParameterError, match="are the same name"):
        pool.run(source, tmp_path / "out")


def test_what_is_left_out_is_said(data: list[bytes], keys: tuple[KeySet, Path], tmp_path: Path, pool: Pool) -> None:
    source = filled(tmp_path / "in", data)
    for name in ("_mine.ct", ".hidden.ct", "below/_too.ct"):
        (source / name).write_bytes(data[2])
    (source / ".git").mkdir()
    (source / ".git" / "index").write_text("")
    report = pool.run(source, tmp_path / "out")
    assert report.ignored == (".git/", ".hidden.ct", "_mine.ct", "below/_too.ct")
    command = ["batch", "bootstrap", str(source), str(tmp_path / "out"), "--keys", str(keys[1]), "--allow-insecure"]
    assert "4 entries, the first '.git/', left out" in CliRunner().invoke(app, command).stdout
    assert json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)["ignored"] == list(report.ignored)
    with pytest.warns(UserWarning, match="4 entries"):
        assert len(list(pool.stream(source))) == 2
    # Its own lists are none: results are the source of the next batch.
    assert pool.run(tmp_path / "out", tmp_path / "again").ignored == ()


def test_a_manifest_of_somebody_else(data: list[bytes], tmp_path: Path, pool: Pool) -> None:
    source, out = filled(tmp_path / "in", data), tmp_path / "out"
    out.mkdir()
    (out / MANIFEST).write_text("[" * 200_000)
    with pytest.raises(SerializationError, match="not written by a batch"):
        pool.run(source, out)
    for text in (b"{", b'"name"', b"[1]", b"{}", b"\xff", b"5"):
        (out / MANIFEST).write_bytes(text + b"\n")
        assert pool.run(source, out).done == 2
    (out / MANIFEST).write_text('{"name": {"name": 1}}')
    with pytest.raises(ParameterError, match="overwrite"):
        pool.run(source, out)
    assert pool.run(source, out, overwrite=True).done == 2


class Full:
    """A disk that is full after some results."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
        self._put, self.left, self.tried = Place._put, after, 0
        monkeypatch.setattr(Place, "_put", self.put())

    def put(self) -> Any:
        def put(place: Place, path: str, data: bytes) -> None:
            self.tried += path.endswith(".ct")
            self.left -= path.endswith(".ct")
            if self.left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            self._put(place, path, data)

        return put


def test_a_full_disk_stops_a_batch_and_loses_nothing(
    data: list[bytes], tmp_path: Path, keys: Any, monkeypatch: Any
) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for i in range(24):
        (source / f"{i:02}.ct").write_bytes(data[i % COUNT])
    with monkeypatch.context() as patch, Pool(keys[1], allow_insecure=True, threads=1) as pool:
        full = Full(patch, 5)
        # The manifest is due at once, and cannot be written either.
        patch.setattr("aglet.batch.ledger._OFTEN_S", 0.0)
        with pytest.raises(OSError, match=r"No space left on device.*The results so far are kept"):
            pool.run(source, out)
        assert full.tried < 24, "what nobody could write was not computed"
    made = {path.name for path in out.glob("*.ct")}
    assert len(made) == 5
    assert {json.loads(line)["name"] for line in (out / MANIFEST).read_text().splitlines()} == made
    assert not list(out.glob(".*"))
    with Pool(keys[1], allow_insecure=True) as pool:
        report = pool.run(source, out)
    assert (report.done, report.skipped) == (19, 5)
    assert not (out / FAILED).exists()


def test_a_place_that_cannot_be_written(data: list[bytes], tmp_path: Path, pool: Pool, monkeypatch: Any) -> None:
    """Before the work, and in its middle after three in a row."""
    source = filled(tmp_path / "in", data, 8)
    with monkeypatch.context() as patch:
        patch.setattr(folders, "_draft", lambda _: str(tmp_path / "gone" / "draft"))
        patch.setattr(Worker, "run", None)
        with pytest.raises(FileNotFoundError):
            pool.run(source, tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(Place, "_put", lambda *_: (_ for _ in ()).throw(PermissionError(errno.EACCES, "denied")))
        with pytest.raises(OSError, match=r"cannot be written.*denied"):
            pool.run(source, tmp_path / "out")
    assert pool.run(source, tmp_path / "out").done == 8


def test_a_spare_of_a_disk_that_is_full(tmp_path: Path) -> None:
    spare = folders.Spare(str(tmp_path), 100)
    (drafted,) = tmp_path.iterdir()
    assert drafted.stat().st_size == 100
    spare.put(str(tmp_path / "x"), b"short")
    assert (tmp_path / "x").read_bytes() == b"short"
    spare.free()
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_wrong_keys_stop_a_batch(engine: Engine, data: list[bytes], tmp_path: Path, monkeypatch: Any) -> None:
    """After the first ciphertexts; one stranger among those of the right keys is a failure of its own."""
    source = tmp_path / "in"
    source.mkdir()
    for i in range(60):
        (source / f"{i:02}.ct").write_bytes(data[i % COUNT])
    own = engine.create_keys()
    own.save(tmp_path / "keys")
    looked: list[str] = []
    read = Worker._read

    def counted(self: Worker, group: Any, i: int, task: Any) -> Any:
        looked.append(group.names[i])
        return read(self, group, i, task)

    monkeypatch.setattr(Worker, "_read", counted)
    with Pool(tmp_path / "keys", allow_insecure=True) as pool:
        with pytest.raises(KeyMismatchError, match=r"None of the first 4 .* secret key"):
            pool.run(source, tmp_path / "out")
        assert len(looked) < 30
        assert len((tmp_path / "out" / FAILED).read_text().splitlines()) < 30
        with pytest.raises(BatchError, match="4 of the"):
            list(pool.stream(source))
        engine.write(engine.encrypt(MESSAGES[0], own.public, level=0), tmp_path / "in" / "03.ct")
        for i in range(5, 60):
            (source / f"{i:02}.ct").unlink()
        report = pool.run(source, tmp_path / "out")
        assert (report.done, len(report.failures)) == (1, 4)
    KeySet(engine, public=own.public).save(tmp_path / "bare")
    looked.clear()
    with Pool(tmp_path / "bare", allow_insecure=True) as pool, pytest.raises(MissingKeyError, match="batch stopped"):
        pool.run(source, tmp_path / "none")
    with Pool(tmp_path / "keys", allow_insecure=True, bound=-1.0) as pool, pytest.raises((ParameterError, BatchError)):
        list(pool.stream(source))


def test_a_cluster_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said soon, ended later, and at once after that; answers and errors come as they are."""
    monkeypatch.setattr(cluster, "_WORRY_S", 0.1)
    monkeypatch.setattr(cluster, "_SILENCE_S", 0.3)
    line, never = cluster._Line("10.0.0.1:6379"), threading.Event()
    assert line.ask(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        line.ask(lambda: 1 // 0)
    with (
        pytest.warns(RuntimeWarning, match="has not answered for"),
        pytest.raises(DeviceError, match="run the batch again to continue"),
    ):
        line.ask(never.wait)
    with pytest.raises(DeviceError, match="start it again"):
        line.ask(lambda: 5)
    never.set()


def test_one_batch_at_a_time(data: list[bytes], tmp_path: Path, pool: Pool, keys: Any, monkeypatch: Any) -> None:
    source, out = filled(tmp_path / "in", data), tmp_path / "out"
    out.mkdir()
    (out / f".aglet-draft-{'0' * 16}").write_text("of a batch that was killed")
    (out / ".aglet-draft-mine").write_text("")
    begun, go_on = threading.Event(), threading.Event()
    run = Worker.run

    def slow(self: Worker, group: Any, task: Any) -> Any:
        begun.set()
        go_on.wait(60)
        return run(self, group, task)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "run", slow)
        reports: list[Any] = []
        first = threading.Thread(target=lambda: reports.append(pool.run(source, out)))
        first.start()
        assert begun.wait(60)
        try:
            with (
                Pool(keys[1], allow_insecure=True) as other,
                pytest.raises(ParameterError, match="Another batch is writing"),
            ):
                other.run(source, out)
        finally:
            go_on.set()
            first.join()
    assert reports[0].done == 2
    assert sorted(path.name for path in out.glob(".*")) == [".aglet-draft-mine"]


def test_a_batch_that_is_killed_goes_on(data: list[bytes], tmp_path: Path, pool: Pool, keys: Any) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for i in range(40):
        (source / f"{i:02}.ct").write_bytes(data[i % COUNT])
    code = (
        "from aglet.batch import Pool\n"
        f"Pool({str(keys[1])!r}, allow_insecure=True, threads=1).run({str(source)!r}, {str(out)!r})\n"
    )
    child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code])
    while child.poll() is None and len(list(out.glob("*.ct"))) < 6:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    report = pool.run(source, out)
    assert report.done + report.skipped == 40
    assert report.failures == ()
    expected = {f"{i:02}.ct" for i in range(40)} | {MANIFEST}
    assert {path.name for path in out.iterdir()} == expected
    assert (out / "09.ct").read_bytes() == (out / "00.ct").read_bytes()


def test_nothing_and_what_changes_meanwhile(data: list[bytes], tmp_path: Path, pool: Pool, monkeypatch: Any) -> None:
    (tmp_path / "empty").mkdir()
    report = pool.run(tmp_path / "empty", tmp_path / "none")
    assert (report.done, report.skipped, report.failures) == (0, 0, ())
    source, out = filled(tmp_path / "in", data), tmp_path / "out"
    read = Worker._read

    def changed(self: Worker, group: Any, i: int, task: Any) -> Any:
        found = read(self, group, i, task)
        if group.names[i] == "0.ct":
            (source / "0.ct").write_bytes(data[3])
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_read", changed)
        assert pool.run(source, out).done == 2
    before = (out / "0.ct").read_bytes()
    report = pool.run(source, out)
    assert (report.done, report.skipped) == (1, 1)
    assert (out / "0.ct").read_bytes() != before
    # Nothing to do, and nothing is written: the folder may be read-only by now.
    monkeypatch.setattr(Place, "_put", None)
    assert pool.run(source, out).skipped == 2


def test_a_folder_that_cannot_be_read(data: list[bytes], tmp_path: Path, pool: Pool, monkeypatch: Any) -> None:
    """Here by hand: the system refuses root nothing."""
    source, scan = filled(tmp_path / "in", data), os.scandir

    def refused(path: Any) -> Any:
        if str(path).endswith("below"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scan(path)

    monkeypatch.setattr(folders.os, "scandir", refused)
    report = pool.run(source, tmp_path / "out")
    assert report.done == 1
    assert [failure.name for failure in report.failures] == ["below/"]
