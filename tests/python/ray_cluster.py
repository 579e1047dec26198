"""A Ray cluster on this machine and the work of a batch, for the tests of the long part and those by hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster

from aglet import Engine, KeySet
from aglet.batch import Pool
from aglet.batch.places import Place

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
