"""Lists of ciphertexts on a card: how often they wait to come back, batches by workers with a card each, records."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aglet import Engine, IntegerEngine, ParameterError, Session
from aglet.batch import Pool
from aglet.batch.cluster import Cluster
from aglet.batch.worker import Recipe, Worker
from emulated_card import driver, library

__all__ = ["driver", "library"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator of cards is for Linux")

TOY: dict[str, Any] = {"preset": "toy", "allow_insecure": True}


def waits(driver: ctypes.CDLL, work: Callable[[], Any]) -> int:
    """How often some work waits for the card."""
    driver.fake_count.restype = ctypes.c_long
    before = driver.fake_count(b"waits")
    work()
    return int(driver.fake_count(b"waits") - before)


def test_a_list_of_results_waits_once_to_be_decrypted(driver: ctypes.CDLL) -> None:
    card, here = Engine(mode="gpu", **TOY), Engine(**TOY)
    secret = here.create_secret_key()
    relin = here.create_relinearization_key(secret)
    x = here.encrypt(np.linspace(-1, 1, here.slot_count), secret)

    def squares(engine: Engine) -> list[Any]:
        return [engine.multiply(x, engine.add(x, i), relin) for i in range(6)]

    wanted = here.decrypt_many(squares(here), secret)
    made = squares(card)
    assert waits(driver, lambda: [card.decrypt(one, secret) for one in made]) == 6
    found: list[Any] = []
    made = squares(card)
    assert waits(driver, lambda: found.append(card.decrypt_many(made, secret))) == 1
    assert np.array_equal(found[0], wanted)
    # What comes one by one, as from a generator, is not gathered.
    made = squares(card)
    assert waits(driver, lambda: card.decrypt_many(iter(made), secret)) == 6
    # One that is asked for comes at once.
    made = squares(card)
    assert waits(driver, lambda: card.to_cpu(made[0])) == 1
    assert waits(driver, lambda: card.serialize(made[0])) == 0
    with pytest.raises(TypeError):
        card.decrypt_many([x, 5], secret)  # type: ignore[list-item]


def test_arrays_wait_once_to_be_stored_or_decrypted(driver: ctypes.CDLL, tmp_path: Path) -> None:
    keys = Engine(**TOY, use_bootstrap=True).create_keys()
    session = Session(Engine(mode="gpu", use_bootstrap=True, **TOY), keys)
    data = np.linspace(-1, 1, 3 * session.engine.slot_count)
    x = session.encrypt(data)
    square, other = x * x, x * x
    assert waits(driver, lambda: np.testing.assert_allclose(session.decrypt(square), data**2, atol=1e-4)) == 1
    assert waits(driver, lambda: session.save(other, tmp_path / "square")) == 1
    np.testing.assert_array_equal(session.decrypt(session.load(tmp_path / "square")), session.decrypt(square))


def test_engines_of_one_card_and_of_none_use_each_others_ciphertexts(driver: ctypes.CDLL) -> None:
    first, second, here = Engine(mode="gpu", **TOY), Engine(mode="gpu", **TOY), Engine(**TOY)
    secret = here.create_secret_key()
    relin, rotation = here.create_relinearization_key(secret), here.create_fixed_rotation_key(secret, 1)
    x = here.encrypt(np.linspace(-1, 1, here.slot_count), secret)

    def program(a: Engine, b: Engine, c: Engine) -> bytes:
        y = b.multiply(a.rotate(x, rotation), x, relin)
        return a.serialize(a.add(c.rotate(y, rotation), y))

    wanted = program(here, here, here)
    for engines in ((first, second, here), (here, first, second), (second, here, first)):
        assert program(*engines) == wanted


def test_batches_on_a_card_have_the_bytes_of_the_processor(
    driver: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(use_bootstrap=True, **TOY)
    keys = engine.create_keys()
    keys.save(tmp_path / "keys")
    (tmp_path / "in").mkdir()
    for i in range(6):
        values = np.full(engine.slot_count, i / 8)
        engine.write(engine.encrypt(values, keys.public, level=0), tmp_path / "in" / f"{i}.ct")
    work: dict[str, Any] = {"allow_insecure": True}
    with Pool(tmp_path / "keys", **work) as pool:
        assert pool.run(tmp_path / "in", tmp_path / "here").done == 6
    with Pool(tmp_path / "keys", mode="gpu", **work) as pool:
        found: list[int] = []
        stored = Engine.serialize

        def serialize(engine: Engine, value: Any, **words: Any) -> bytes:
            made: list[bytes] = []
            found.append(waits(driver, lambda: made.append(stored(engine, value, **words))))
            return made[0]

        monkeypatch.setattr(Engine, "serialize", serialize)
        assert pool.run(tmp_path / "in", tmp_path / "card").done == 6
        # All came here together before.
        assert found == [0] * 6
    for i in range(6):
        assert (tmp_path / "card" / f"{i}.ct").read_bytes() == (tmp_path / "here" / f"{i}.ct").read_bytes()
    with pytest.raises(ParameterError, match='no mode "auto"'):
        Pool(tmp_path / "keys", mode="auto", **work)
    with pytest.raises(ParameterError, match="each card has one worker"):
        Pool(tmp_path / "keys", mode="gpu", actors_per_node=2, **work)
    command = [sys.executable, "-m", "aglet", "batch", "bootstrap", str(tmp_path / "in"), str(tmp_path / "command")]
    command += ["--keys", str(tmp_path / "keys"), "--mode", "gpu", "--allow-insecure", "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert (said["done"], said["failures"]) == (6, [])
    assert (tmp_path / "command" / "5.ct").read_bytes() == (tmp_path / "here" / "5.ct").read_bytes()


def test_lossy_bootstraps_of_a_batch_go_through_a_card_together(
    driver: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(use_bootstrap=True, **TOY)
    keys = engine.create_keys(method="lossy", rotation=False)
    keys.save(tmp_path / "keys")
    given = {f"{i}": engine.encrypt(np.full(engine.slot_count, i / 8), keys.public, level=4) for i in range(3)}
    arguments = (keys.relinearization, keys.conjugation, keys.bootstrap)
    with Pool(tmp_path / "keys", method="lossy", mode="gpu", allow_insecure=True) as pool:
        groups: list[int] = []
        computed = Worker._computed

        def count(worker: Worker, some: Sequence[Any]) -> list[Any]:
            groups.append(len(some))
            return computed(worker, some)

        monkeypatch.setattr(Worker, "_computed", count)
        found = dict(pool.stream(given))
    assert groups == [3]
    for name, one in given.items():
        assert engine.serialize(found[name]) == engine.serialize(engine.lossy_bootstrap(one, *arguments))


@pytest.mark.parametrize(
    ("mode", "resources", "wanted"),
    [
        ("gpu", {"CPU": 16.0, "GPU": 2.0}, [(8, 1), (8, 1)]),
        ("gpu", {"CPU": 1.0, "GPU": 4.0}, [(1, 1)]),
        ("gpu", {"CPU": 16.0}, []),
        ("parallel", {"CPU": 16.0, "GPU": 2.0}, [(16, None)]),
    ],
)
def test_a_cluster_starts_a_worker_for_each_card(
    monkeypatch: pytest.MonkeyPatch, mode: str, resources: dict[str, float], wanted: list[Any]
) -> None:
    """By a Ray that notes what it is asked for; the real one is asked in the long part."""
    asked: list[Any] = []

    def options(**words: Any) -> Any:
        asked.append((words["num_cpus"], words.get("num_gpus")))
        call = SimpleNamespace(remote=lambda *_: object())
        return SimpleNamespace(remote=lambda: SimpleNamespace(open=call))

    strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
    nodes = [{"Alive": True, "NodeID": "a" * 20, "Resources": resources}]
    ray = SimpleNamespace(
        init=lambda **_: None,
        nodes=lambda: nodes,
        remote=lambda **_: lambda _: SimpleNamespace(options=options),
        util=SimpleNamespace(scheduling_strategies=strategies),
    )
    monkeypatch.setattr("aglet.batch.cluster._ray", lambda: ray)
    Cluster(Recipe("keys", "regular", mode=mode), "auto", 1)
    assert asked == wanted


def test_a_card_is_measured_and_a_record_written(driver: ctypes.CDLL, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aglet.gpubench", "--preset", "toy", "--allow-insecure", "--repeat", "1"]
    for more, name in (([], "gpubench.jsonl"), (["--record", "own.jsonl"], "own.jsonl")):
        said = subprocess.run([*command, *more], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
        assert said.count("the same") == 3
        lines = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        assert [line["operation"] for line in lines] == ["rotate", "multiply", "bootstrap"]
        assert all(line["same_words"] and line["device"] == "fake card 0, F50" for line in lines)
    assert len(os.listdir(tmp_path)) == 2


def test_slots_of_integers_wait_once(driver: ctypes.CDLL) -> None:
    engine = IntegerEngine(mode="gpu", preset="toy-int16", allow_insecure=True)
    secret = engine.create_secret_key()
    relin = engine.create_relinearization_key(secret)
    x = engine.encrypt([1, 2, 3], secret)
    made = [engine.multiply(x, x, relin) for _ in range(4)]
    assert waits(driver, lambda: engine._fetch(made)) == 1
    assert waits(driver, lambda: [engine.decrypt(one, secret) for one in made]) == 0
