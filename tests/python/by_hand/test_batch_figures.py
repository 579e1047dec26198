"""Batches at the real size beside plain programs in the same minutes, and the memory of a worker."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster

from aglet import Engine, _core
from aglet.batch import Pool, node_bytes
from aglet.batch.runners import AHEAD

COUNT = 16
ROUNDS = 2
"""The best one counts."""
PLAIN = """
import os
import sys

from aglet import Engine, KeySet

keys, cores, *names = sys.argv[1:]
os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
engine = Engine(preset="regular", mode="parallel", thread_count=len(cores.split(",")))
made = KeySet.load(keys, engine)


def refresh(some):
    read = [engine.read(name) for name in some]
    for name, one in zip(some, engine.bootstrap_many(read, *made.bootstrap_arguments)):
        engine.write(one, name + ".fresh")


refresh(names[:4])
print("ready", flush=True)
while input():
    for i in range(0, len(names), 4):
        refresh(names[i : i + 4])
    print("done", flush=True)
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Keys, ciphertexts, and what a worker is forecast to take."""
    folder = tmp_path_factory.mktemp("figures")
    engine = Engine(use_bootstrap=True, mode="parallel")
    keys = engine.create_keys(bootstrap="medium", rotation=False)
    keys.save(folder / "keys")
    for name, count in (("few", 8), ("in", COUNT)):
        (folder / name).mkdir()
        for i in range(count):
            message = np.random.default_rng(i).uniform(-1, 1, engine.slot_count)
            engine.write(engine.encrypt(message, keys.public, level=0), folder / name / f"{i:02}.ct")
    return folder, node_bytes(keys)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    # Ray gives workers the niceness 15 otherwise, with which they wait for whatever else the machine does.
    quiet = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    os.environ |= quiet
    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "object_store_memory": 100_000_000, "include_dashboard": False},
    )
    yield made
    ray.shutdown()
    made.shutdown()


def told(running: list[subprocess.Popen[str]], line: str) -> None:
    for one in running:
        assert one.stdin is not None
        one.stdin.write(line)
        one.stdin.flush()


def plain(folder: Path, cores: list[str]) -> float:
    """Ciphertexts a second of warm programs that run at once, one for each set of cores."""
    names = sorted(str(path) for path in (folder / "in").glob("*.ct"))
    running = []
    for i, some in enumerate(cores):
        arguments = [sys.executable, "-c", PLAIN, str(folder / "keys"), some, *names[i :: len(cores)]]
        running.append(subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for one in running:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    best = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        told(running, "go\n")
        for one in running:
            assert one.stdout is not None
            assert one.stdout.readline() == "done\n"
        best = min(best, time.perf_counter() - start)
    told(running, "\n")
    for one in running:
        assert one.wait() == 0
    for path in (folder / "in").glob("*.fresh"):
        path.unlink()
    return COUNT / best


def batch(folder: Path, cluster: Cluster, actors: int) -> tuple[float, list[int]]:
    """Ciphertexts a second on so many warm actors that share two cores, and the peaks of their memory."""
    with Pool(folder / "keys", address=cluster.address, actors_per_node=actors) as pool:
        # The first actor with keys would take all of the first groups, and the others would be measured as they encode
        # maps and map memory.
        workers: Any = pool._started()
        while workers.room < actors * (1 + AHEAD):
            workers.finished()
        niceness = [one.handle.__ray_call__.remote(lambda _: os.nice(0)) for one in workers._actors]
        assert ray.get(niceness) == [os.nice(0)] * actors
        pool.run(folder / "few", folder / f"few{actors}", overwrite=True)
        best = math.inf
        for _ in range(ROUNDS):
            start = time.perf_counter()
            report = pool.run(folder / "in", folder / f"out{actors}", overwrite=True)
            best = min(best, time.perf_counter() - start)
            assert (report.done, report.failures) == (COUNT, ())
        peaks = [one.handle.__ray_call__.remote(lambda _: _core.peak_rss_bytes()) for one in workers._actors]
        return COUNT / best, ray.get(peaks)


def test_an_actor_and_a_plain_loop(work: tuple[Path, int], cluster: Cluster) -> None:
    folder, forecast = work
    loop = plain(folder, ["0,1"])
    actor, peaks = batch(folder, cluster, 1)
    print(f"one actor {actor:.3f}/s, a plain loop {loop:.3f}/s: {actor / loop:.3f}")
    print(f"peak {peaks[0] / 1e9:.3f} GB, forecast {forecast / 1e9:.3f} GB: {peaks[0] / forecast:.3f}")
    assert actor / loop >= 0.97
    assert peaks[0] <= 1.05 * forecast


def test_two_actors_and_two_pinned_programs(work: tuple[Path, int], cluster: Cluster) -> None:
    folder, _ = work
    pinned = plain(folder, ["0", "1"])
    actors, _ = batch(folder, cluster, 2)
    print(f"two actors of one thread {actors:.3f}/s, two pinned programs {pinned:.3f}/s: {actors / pinned:.3f}")
    assert actors / pinned >= 0.95
