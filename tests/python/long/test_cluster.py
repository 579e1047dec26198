"""Batches on a real Ray cluster of a head and two nodes on this machine, in the toy ring.

A worker is killed, a node is removed, a node comes late; the results have the bytes of a run without Ray. What happens
when nothing can run at all, and Ray waits, is tested by hand (tests/python/by_hand/test_cluster.py).
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from aglet import Engine
from aglet.batch import Pool
from emulated_card import compiled
from ray_cluster import COUNT, add, cluster, contents, work

__all__ = ["cluster", "work"]


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


def test_each_card_of_a_node_has_a_worker(
    cluster: Cluster, work: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By emulated cards: Ray is told that a node has two."""
    monkeypatch.setenv("AGLET_CUDA_DRIVER", str(compiled(tmp_path)))
    node = cluster.add_node(num_cpus=2, num_gpus=2, object_store_memory=100_000_000)
    folder = work["folder"]
    try:
        with Pool(folder / "keys", address=cluster.address, mode="gpu", allow_insecure=True) as pool:
            report = pool.run(folder / "in", folder / "cards")
            actors = pool._started()._actors  # type: ignore[attr-defined]
            assert [actor.node for actor in actors] == [node.node_id] * 2
    finally:
        cluster.remove_node(node)
    assert (report.done, report.failures) == (COUNT, ())
    assert contents(folder / "cards") == work["expected"]
