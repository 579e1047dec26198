"""Batches in this process: order, damaged files, resume, Ctrl-C, refusing places, and every method."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from typer.testing import CliRunner

from aglet import (
    AgletError,
    Engine,
    FhewEngine,
    IntegerEngine,
    KeySet,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    SerializationError,
    _core,
)
from aglet.batch import BatchError, Pool, methods, node_bytes
from aglet.batch.ledger import FAILED, MANIFEST
from aglet.batch.places import Place
from aglet.batch.worker import Worker
from aglet.cli import app

COUNT = 11
MESSAGES = np.random.default_rng(3).uniform(-1, 1, (COUNT, 512))


@pytest.fixture(scope="module")
def keys(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[KeySet, str]:
    folder = tmp_path_factory.mktemp("keys")
    made = engine.create_keys()
    made.save(folder)
    return made, str(folder)


@pytest.fixture
def source(engine: Engine, keys: tuple[KeySet, str], tmp_path: Path) -> Path:
    """Eleven ciphertexts at level 0, two of them in a folder below."""
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    for i, message in enumerate(MESSAGES):
        name = f"below/{i:02}.ct" if i in (3, 4) else f"{i:02}.ct"
        engine.write(engine.encrypt(message, keys[0].public, level=0), folder / name)
    return folder


@pytest.fixture
def pool(keys: tuple[KeySet, str]) -> Iterator[Pool]:
    with Pool(keys[1], allow_insecure=True, threads=1) as made:
        yield made


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in Place(folder).names()}


def number(name: str) -> int:
    return int(Path(name).stem)


def test_a_folder(engine: Engine, keys: tuple[KeySet, str], source: Path, tmp_path: Path, pool: Pool) -> None:
    seen: list[tuple[int, int, str]] = []
    report = pool.run(source, tmp_path / "out", progress=lambda *now: seen.append(now))
    assert (report.done, report.skipped, report.failures) == (COUNT, 0, ())
    assert [now[:2] for now in seen] == [(i + 1, COUNT) for i in range(COUNT)]
    assert "s each" in seen[0][2]
    assert "left" in seen[0][2]
    made = results(tmp_path / "out")
    assert sorted(made) == Place(source).names()
    for name, data in made.items():
        ciphertext = engine.deserialize_ciphertext(data)
        assert ciphertext.level == 10
        # Bit for bit what a plain loop makes.
        given = engine.read_ciphertext(source / name)
        key = keys[0]
        assert data == engine.serialize(engine.bootstrap(given, key.relinearization, key.conjugation, key.bootstrap))
        assert np.abs(engine.decrypt(ciphertext, key.secret) - MESSAGES[number(name)]).max() < 1e-5
    manifest = lines(tmp_path / "out" / MANIFEST)
    sums = subprocess.run(["sha256sum", manifest[0]["name"]], cwd=tmp_path / "out", capture_output=True, text=True)
    assert sums.stdout.split()[0] == manifest[0]["sha256"]
    assert [line["name"] for line in manifest] == sorted(made)
    assert not (tmp_path / "out" / FAILED).exists()
    assert not list((tmp_path / "out").glob("**/.*"))


def test_a_damaged_file_is_listed_and_the_rest_done(source: Path, tmp_path: Path, pool: Pool) -> None:
    data = bytearray((source / "06.ct").read_bytes())
    data[len(data) // 2] ^= 1
    (source / "06.ct").write_bytes(data)
    (source / "notes.txt").write_text("not a ciphertext")
    report = pool.run(source, tmp_path / "out")
    assert report.done == COUNT - 1
    assert [failure.name for failure in report.failures] == ["06.ct", "notes.txt"]
    assert "damaged" in report.failures[0].error
    assert [line["name"] for line in lines(tmp_path / "out" / FAILED)] == ["06.ct", "notes.txt"]
    assert "06.ct" not in results(tmp_path / "out")
    # Mended, only that one is done, and the list of failures goes.
    (source / "notes.txt").unlink()
    data[len(data) // 2] ^= 1
    (source / "06.ct").write_bytes(data)
    again = pool.run(source, tmp_path / "out")
    assert (again.done, again.skipped, again.failures) == (1, COUNT - 1, ())
    assert not (tmp_path / "out" / FAILED).exists()


def test_what_the_engine_refuses_is_listed(
    engine: Engine, keys: tuple[KeySet, str], source: Path, tmp_path: Path, pool: Pool
) -> None:
    """A ciphertext of another secret in the middle of a group of four: the other three are done."""
    other = engine.create_secret_key()
    engine.write(engine.encrypt(MESSAGES[0], other, level=0), source / "02.ct")
    report = pool.run(source, tmp_path / "out")
    assert report.done == COUNT - 1
    assert [failure.name for failure in report.failures] == ["02.ct"]
    assert "secret key" in report.failures[0].error


def test_resume_skips_what_fits(source: Path, tmp_path: Path, pool: Pool, engine: Engine, keys: Any) -> None:
    out = tmp_path / "out"
    pool.run(source, out)
    before = results(out)
    (out / "01.ct").write_bytes(before["01.ct"][:-1])
    (out / "05.ct").unlink()
    engine.write(engine.encrypt(MESSAGES[0], keys[0].public, level=0), source / "07.ct")
    report = pool.run(source, out)
    assert (report.done, report.skipped) == (3, COUNT - 3)
    after = results(out)
    assert {name for name in before if before[name] != after[name]} == {"07.ct"}
    assert pool.run(source, out, overwrite=True).done == COUNT
    # A line of the manifest that is cut short: that one is made again.
    text = (out / MANIFEST).read_text()
    (out / MANIFEST).write_text(text[:-20])
    assert pool.run(source, out).done == 1
    with Pool(keys[1], allow_insecure=True, target_level=5) as other, pytest.raises(ParameterError, match="overwrite"):
        other.run(source, out)


def test_ordered_and_not(engine: Engine, keys: tuple[KeySet, str], source: Path, pool: Pool) -> None:
    names = Place(source).names()
    assert [name for name, _ in pool.stream(source)] == names
    assert sorted(name for name, _ in pool.stream(source, ordered=False)) == names
    pairs = {str(i): engine.encrypt(message, keys[0].public, level=0) for i, message in enumerate(MESSAGES)}
    for name, found in pool.stream(pairs):
        assert np.abs(engine.decrypt(found, keys[0].secret) - MESSAGES[int(name)]).max() < 1e-5


def test_a_stream_reads_no_more_than_it_needs(engine: Engine, keys: tuple[KeySet, str], pool: Pool) -> None:
    one = engine.encrypt(MESSAGES[0], keys[0].public, level=0)
    taken = 0

    def endless() -> Iterator[tuple[str, Any]]:
        nonlocal taken
        while True:
            taken += 1
            yield str(taken), one

    stream = pool.stream(endless())
    for expected in range(1, 6):
        assert next(stream)[0] == str(expected)
    assert taken <= 5 + 4 * 4 * 4
    stream.close()


def test_a_stream_tells_failures_at_its_end(engine: Engine, keys: tuple[KeySet, str], pool: Pool) -> None:
    good = engine.encrypt(MESSAGES[0], keys[0].public, level=0)
    bad = engine.encrypt(MESSAGES[0], engine.create_secret_key(), level=0)
    stream = pool.stream({"a": good, "b": bad, "c": good})
    assert [next(stream)[0], next(stream)[0]] == ["a", "c"]
    with pytest.raises(BatchError, match="1 of the") as caught:
        next(stream)
    assert caught.value.failures[0].name == "b"


def test_order_with_slow_first_groups(source: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Worker.run

    def slow(self: Worker, group: Any, task: Any) -> Any:
        time.sleep(0.3 if group.first == 0 else 0)
        return run(self, group, task)

    monkeypatch.setattr(Worker, "run", slow)
    assert [name for name, _ in pool.stream(source)] == Place(source).names()


def test_a_group_that_breaks_workers_is_cut(source: Path, tmp_path: Path, pool: Pool, monkeypatch: Any) -> None:
    run = Worker.run

    def breaks(self: Worker, group: Any, task: Any) -> Any:
        if "02.ct" in group.names:
            raise AgletError("The worker ran out of memory.")
        return run(self, group, task)

    monkeypatch.setattr(Worker, "run", breaks)
    report = pool.run(source, tmp_path / "out")
    assert report.done == COUNT - 1
    assert [(failure.name, failure.tries) for failure in report.failures] == [("02.ct", 4)]
    assert "memory" in report.failures[0].error


def test_a_place_that_refuses_is_asked_again(source: Path, tmp_path: Path, pool: Pool, monkeypatch: Any) -> None:
    put, failed = Place._put, []

    def moody(self: Place, path: str, data: bytes) -> None:
        if path.endswith(".ct") and len(failed) < 2:
            failed.append(path)
            raise OSError("Connection reset by peer")
        put(self, path, data)

    monkeypatch.setattr(Place, "_put", moody)
    assert pool.run(source, tmp_path / "out").done == COUNT
    assert len(failed) == 2


def test_places_that_cannot_be(keys: tuple[KeySet, str], source: Path, tmp_path: Path, pool: Pool) -> None:
    with pytest.raises(FileNotFoundError, match="not a folder"):
        pool.run(tmp_path / "nowhere", tmp_path / "out")
    for inside in (source, source / "below"):
        with pytest.raises(ParameterError, match="outside"):
            pool.run(source, inside)
    with pytest.raises(ParameterError, match="fsspec"):
        pool.run("nothing://bucket/in", tmp_path / "out")
    with pytest.raises(SerializationError, match=r"keys\.json"):
        Pool(source)
    with pytest.raises(ParameterError, match="no method"):
        Pool(keys[1], method="twice")
    with pytest.raises(ParameterError, match="does not take table"):
        Pool(keys[1], table=[1])


def test_urls(source: Path, tmp_path: Path, keys: tuple[KeySet, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, ciphertexts and results in a store; keys are copied here once, and without the secret."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = fsspec.filesystem("memory")
    store.put(keys[1], "/bucket/keys", recursive=True)
    store.put(f"{source}/", "/bucket/in/", recursive=True)
    try:
        for _ in range(2):
            with Pool("memory://bucket/keys", allow_insecure=True) as pool:
                report = pool.run("memory://bucket/in", "memory://bucket/out")
        assert (report.done, report.skipped) == (0, COUNT)
        with Pool(keys[1], allow_insecure=True) as local:
            local.run(source, tmp_path / "out")
        assert {n: store.cat(f"/bucket/out/{n}") for n in results(tmp_path / "out")} == results(tmp_path / "out")
        (cached,) = (tmp_path / "cache" / "aglet").iterdir()
        assert not (cached / "secret.key").exists()
    finally:
        store.rm("/bucket", recursive=True)


def test_ctrl_c_loses_nothing_that_is_finished(
    source: Path, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while the second group computes: that one is finished, noted, and not done again."""
    run, begun = Worker._computed, threading.Event()

    def slow(self: Worker, given: Any) -> Any:
        if begun.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            while not self._stopped:
                time.sleep(0.01)
        begun.set()
        return run(self, given)

    monkeypatch.setattr(Worker, "_computed", slow)
    with pytest.raises(KeyboardInterrupt):
        pool.run(source, tmp_path / "out")
    monkeypatch.undo()
    made = results(tmp_path / "out")
    assert len(made) in (7, 8), "two groups, of four or of the three that are left"
    assert {line["name"] for line in lines(tmp_path / "out" / MANIFEST)} == set(made)
    report = pool.run(source, tmp_path / "out")
    assert (report.done, report.skipped) == (COUNT - len(made), len(made))


def all_of(engine: Engine, keys: KeySet, method: str) -> list[Any]:
    """What a plain loop makes of the files, with a method of CKKS."""
    given = (keys.relinearization, keys.conjugation, keys.bootstrap)
    inputs = [engine.encrypt(message, keys.public, level=4) for message in np.sign(MESSAGES[:5])]
    calls: dict[str, Callable[[Any], Any]] = {
        "lossy": lambda x: engine.lossy_bootstrap(x, *given),
        "sign": lambda x: engine.sign_bootstrap(x, *given),
        "bits": lambda x: engine.sign_bootstrap(x, *given, bits=True),
    }
    if method in calls:
        return [(one, calls[method](one)) for one in inputs]
    merge, alone = (
        (engine.merge_bootstrap, engine.bootstrap)
        if method == "merge"
        else (engine.lossy_merge_bootstrap, engine.lossy_bootstrap)
    )
    made = [*merge(*inputs[:2], *given), *merge(*inputs[2:4], *given), alone(inputs[4], *given)]
    return list(zip(inputs, made, strict=True))


@pytest.mark.parametrize("method", ["lossy", "sign", "bits", "merge", "lossy-merge"])
def test_methods_of_ckks(engine: Engine, keys: tuple[KeySet, str], tmp_path: Path, method: str) -> None:
    own = keys[0]
    if method != "merge":
        own = engine.create_keys(own.secret, method="lossy", rotation=False)
    own.save(tmp_path / "keys")
    expected = all_of(engine, own, method)
    with Pool(tmp_path / "keys", method=method, allow_insecure=True) as pool:
        found = dict(pool.stream((str(i), given) for i, (given, _) in enumerate(expected)))
    for i, (_, result) in enumerate(expected):
        assert engine.serialize(found[str(i)]) == engine.serialize(result)


def test_gates_and_tables(tmp_path: Path) -> None:
    engine = FhewEngine(bits=2)
    secret = engine.create_secret_key()
    engine.create_keys(secret).save(tmp_path / "keys")
    (tmp_path / "in").mkdir()
    numbers = np.arange(4)
    engine.write(engine.encrypt(numbers, secret), tmp_path / "in" / "x")
    with Pool(tmp_path / "keys", method="lookup", table=np.array([1, 3, 2, 0])) as pool:
        assert pool.run(tmp_path / "in", tmp_path / "out").done == 1
    assert engine.decrypt(engine.read(tmp_path / "out" / "x"), secret).tolist() == [1, 3, 2, 0]

    gates = FhewEngine()
    bits_secret = gates.create_secret_key()
    gates.create_keys(bits_secret).evaluation().save(tmp_path / "gates")
    pair = gates.encrypt([[0, 0, 1, 1], [0, 1, 0, 1]], bits_secret)
    for method, expected in (("nand", [1, 1, 1, 0]), ("xor", [0, 1, 1, 0])):
        with Pool(tmp_path / "gates", method=method) as pool:
            ((_, found),) = pool.stream({"x": pair})
        assert gates.decrypt(found, bits_secret).tolist() == expected
    with Pool(tmp_path / "gates", method="mux") as pool, pytest.raises(BatchError, match="3 inputs"):
        list(pool.stream({"x": pair}))


def test_keys_that_do_not_fit(engine: Engine, keys: tuple[KeySet, str], source: Path, tmp_path: Path) -> None:
    with (
        Pool(keys[1], method="integer", allow_insecure=True) as pool,
        pytest.raises(SerializationError, match="Integer"),
    ):
        pool.run(source, tmp_path / "out")
    bare = KeySet(engine, public=keys[0].public)
    bare.save(tmp_path / "bare")
    with (
        Pool(tmp_path / "bare", allow_insecure=True) as pool,
        pytest.raises(MissingKeyError, match="needs a relinearization key"),
    ):
        pool.run(source, tmp_path / "out")
    integers = IntegerEngine(preset="int-levels-13")
    integers.create_keys(rotation=False).save(tmp_path / "integers")
    with Pool(tmp_path / "integers", method="integer") as pool, pytest.raises(BatchError, match="bootstrap key"):
        list(pool.stream({"x": integers.encrypt([1], integers.create_secret_key())}))
    assert "lookup2" in methods()
    assert issubclass(MissingKeyError, AgletError)


def test_the_command(keys: tuple[KeySet, str], source: Path, tmp_path: Path) -> None:
    (source / "05.ct").write_bytes(b"nothing")
    command = ["batch", "bootstrap", str(source), str(tmp_path / "out"), "--keys", keys[1]]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 1
    done = CliRunner().invoke(app, [*command, "--allow-insecure", "--json"])
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert (report["done"], report["skipped"]) == (COUNT - 1, 0)
    assert report["failures"][0]["name"] == "05.ct"
    (source / "05.ct").unlink()
    again = CliRunner().invoke(app, [*command, "--allow-insecure"])
    assert again.exit_code == 0
    assert f"{COUNT - 1} had a result already" in again.stdout
    nowhere = CliRunner().invoke(app, ["batch", "bootstrap", "/nowhere", str(tmp_path / "out"), "--keys", keys[1]])
    assert nowhere.exit_code == 1


def test_without_ray_an_address_is_refused(keys: tuple[KeySet, str], source: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "from aglet.batch import Pool\n"
        f"Pool({keys[1]!r}, address='auto', allow_insecure=True).run({str(source)!r}, {str(tmp_path / 'out')!r})\n"
    )
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert 'pip install "ray>=2.40"' in ended.stderr


def test_a_worker_without_memory(
    engine: Engine, keys: tuple[KeySet, str], source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is computed, with what would help; nothing is left behind."""
    machine = _core.doctor()
    needed = node_bytes(keys[0])
    assert node_bytes(keys[0], streams=2) > needed > keys[0].bootstrap.byte_count
    monkeypatch.setattr(_core, "doctor", lambda: {**machine, "memory_available_bytes": 100_000})
    with Pool(keys[1], allow_insecure=True) as short, pytest.raises(MemoryLimitError, match="fewer streams"):
        short.run(source, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.ct"))
    # Where nobody knows, it is tried.
    monkeypatch.setattr(_core, "doctor", lambda: {**machine, "memory_available_bytes": None})
    with Pool(keys[1], allow_insecure=True) as tried:
        assert tried.run(source, tmp_path / "out").done == COUNT
    with pytest.raises(MissingKeyError, match="create_keys"):
        node_bytes(replace(keys[0], bootstrap=None))
