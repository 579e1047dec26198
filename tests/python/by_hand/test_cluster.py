"""Batches on a Ray cluster that cannot run them: an error within seconds or minutes, never an endless wait.

One of these waits once never ended on a machine of the checks, and its cause was not found: so they are run by hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from aglet import ParameterError
from aglet.batch import Pool
from aglet.errors import DeviceError
from ray_cluster import cluster, work

__all__ = ["cluster", "work"]

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


@pytest.mark.filterwarnings("ignore:The worker on")
def test_cores_that_are_taken(cluster: Cluster, work: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A node whose cores another program holds: a warning, then an error, and no endless wait."""
    ray.init(address=cluster.address, log_to_driver=False)

    class Taken:
        """Holds a core. It is here, as workers cannot import this module."""

        def ready(self) -> bool:
            return True

    holder: Any = ray.remote(num_cpus=1)(Taken)
    taken = [holder.remote() for _ in cluster.worker_nodes]
    ray.get([one.ready.remote() for one in taken])
    monkeypatch.setattr("aglet.batch.cluster._LATE_S", 1.0)
    monkeypatch.setattr("aglet.batch.cluster._OPENING_S", 5.0)
    with (
        Pool(work["folder"] / "keys", address=cluster.address, allow_insecure=True) as pool,
        pytest.warns(RuntimeWarning, match="has not started for 1 s"),
        pytest.raises(DeviceError, match="Free the cores of that node"),
    ):
        pool.run(work["folder"] / "in", work["folder"] / "taken")
    ray.shutdown()
