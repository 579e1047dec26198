"""Batches on a real Ray cluster of a head and two nodes on this machine, in the toy ring.

A worker is killed, a node is removed, a node comes late; the results have the bytes of a run without Ray.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster

from aglet import Engine, KeySet, ParameterError
from aglet.batch import Pool
from aglet.batch.places import Place
from aglet.errors import DeviceError

COUNT = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """The head has no core for us; all sockets are on 127.0.0.1, and nothing is told to anybody."""
    os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 100_000_000})
    for _ in range(2):
        add(made)
    yield made
    ray.shutdown()
    made.shutdown()


def add(cluster: Cluster) -> Any:
    return cluster.add_node(num_cpus=1, object_store_memory=100_000_000)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Keys, sixty tired ciphertexts, and what a run in this process makes of them."""
    folder = tmp_path_factory.mktemp("batch")
    engine = Engine(preset="toy", allow_insecure=True)
    keys: KeySet = engine.create_keys()
    keys.save(folder / "keys")
    (folder / "in").mkdir()
    random = np.random.default_rng(1)
    for i in range(COUNT):
        message = random.uniform(-1, 1, engine.slot_count)
        engine.write(engine.encrypt(message, keys.public, level=0), folder / "in" / f"{i:03}.ct")
    with Pool(folder / "keys", allow_insecure=True) as pool:
        assert pool.run(folder / "in", folder / "local").done == COUNT
    return {"folder": folder, "expected": contents(folder / "local")}


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in Place(folder).names()}


def run(cluster: Cluster, work: dict[str, Any], name: str, then: Callable[[Pool, Any], None]) -> Any:
    """A run that calls `then` once, with a worker that has groups; all results are those of a run without a cluster."""
    folder, done = work["folder"], []
    with Pool(folder / "keys", address=cluster.address, allow_insecure=True) as pool:

        def told(*_: Any) -> None:
            busy = [actor for actor in pool._started()._actors if actor.flying]  # type: ignore[attr-defined]
            if busy and not done:
                done.append(busy[0])
                then(pool, busy[0])

        report = pool.run(folder / "in", folder / name, progress=told)
    assert done
    assert report.failures == ()
    assert report.done == COUNT
    assert contents(folder / name) == work["expected"]
    lines = [json.loads(line) for line in (folder / name / "_manifest.jsonl").read_text().splitlines()]
    assert len(lines) == COUNT
    assert max(line["tries"] for line in lines) > 1, "groups of the lost worker went elsewhere"
    return report


def test_a_worker_is_killed(cluster: Cluster, work: dict[str, Any]) -> None:
    def kill(_: Pool, actor: Any) -> None:
        os.kill(ray.get(actor.handle.__ray_call__.remote(lambda _: os.getpid())), signal.SIGKILL)

    run(cluster, work, "killed", kill)


def test_a_node_is_removed_and_another_comes(cluster: Cluster, work: dict[str, Any]) -> None:
    """The late node does its part."""
    late = []

    def change(pool: Pool, actor: Any) -> None:
        cluster.remove_node(next(node for node in cluster.worker_nodes if node.node_id == actor.node))
        late.append(add(cluster).node_id)
        cluster.wait_for_nodes()
        runner: Any = pool._started()
        runner._look()
        ray.get([one.opening for one in runner._actors if one.node in late])

    report = run(cluster, work, "removed", change)
    assert late[0][:12] in report.by_node


def test_a_stream_in_order(cluster: Cluster, work: dict[str, Any]) -> None:
    folder = work["folder"]
    engine = Engine(preset="toy", allow_insecure=True)
    with Pool(folder / "keys", address=cluster.address, allow_insecure=True) as pool:
        found = list(pool.stream(folder / "in"))
    assert [name for name, _ in found] == sorted(work["expected"])
    assert {name: engine.serialize(one) for name, one in found} == work["expected"]


_HEADLESS = """
import os, signal, sys, time
from pathlib import Path
from ray.cluster_utils import Cluster
from aglet.batch import Pool

made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 100_000_000})
made.add_node(num_cpus=1, object_store_memory=100_000_000)
folder, gone = Path(sys.argv[1]), []

def told(*_):
    if not gone:
        gone.append(time.monotonic())
        for kind in ("gcs_server", "raylet"):
            os.kill(made.head_node.all_processes[kind][0].process.pid, signal.SIGKILL)

try:
    with Pool(folder / "keys", address=made.address, allow_insecure=True) as pool:
        pool.run(folder / "in", folder / "headless", progress=told)
except Exception as error:
    print(type(error).__name__, error)
print("seconds", time.monotonic() - gone[0])
made.shutdown()
os._exit(0)
"""


def test_a_head_node_that_is_gone(work: dict[str, Any]) -> None:
    """Said within seconds, ended within half a minute, and what was done by then is in the manifest."""
    folder = work["folder"]
    told = subprocess.run([sys.executable, "-c", _HEADLESS, str(folder)], capture_output=True, text=True, timeout=300)
    assert "has not answered for 5 s" in told.stderr
    assert "DeviceError The head node" in told.stdout, told.stderr[-2000:]
    assert float(told.stdout.split("seconds")[-1]) < 45
    done = {json.loads(line)["name"] for line in (folder / "headless" / "_manifest.jsonl").read_text().splitlines()}
    assert done
    assert {name: (folder / "headless" / name).read_bytes() for name in done}.items() <= work["expected"].items()


def test_workers_that_cannot_start(cluster: Cluster, work: dict[str, Any]) -> None:
    """Without `allow_insecure` no worker opens toy keys: the reason comes here."""
    folder = work["folder"]
    with Pool(folder / "keys", address=cluster.address) as pool, pytest.raises(DeviceError, match="128 bits"):
        pool.run(folder / "in", folder / "never")
    ray.shutdown()
    nobody = Pool(folder / "keys", address="127.0.0.1:1", allow_insecure=True)
    with nobody, pytest.raises(ParameterError, match="no Ray cluster"):
        nobody.run(folder / "in", folder / "never")
