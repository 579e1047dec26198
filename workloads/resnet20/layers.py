"""The engine, the plan and the keys of the network, for the stages."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from aglet import Engine
from aglet.network.keys import NetworkKeys
from aglet.network.plan import NetworkPlan
from workloads.common import Place, read_all, read_one, threads, write_all
from workloads.resnet20 import model

__all__ = ["SIZES", "engine", "read_keys", "the_plan", "write_keys"]

SIZES = ("single", "small")
_MAKER = "client_key_generation"


@functools.cache
def engine() -> Engine:
    """N = 2^16, 13 levels and a bootstrap, of 128 bits of security."""
    return Engine(use_bootstrap=True, mode="parallel", thread_count=threads())


def the_plan(weights: model.Weights) -> NetworkPlan:
    """The network with its bootstraps placed: the same for clients and server.

    A medium bootstrap key saves 1.2 GB of 6.2 and takes an eighth more time.
    """
    return model.network(weights).plan(engine(), bootstrap="medium")


def write_keys(place: Place, plan: NetworkPlan, keys: NetworkKeys) -> None:
    """Write the keys that the server gets."""
    made: Iterator[Any] = (keys.rotations[one] for one in sorted(plan.rotations))
    write_all(engine(), made, place.public_keys / "rotations.bin")
    for name in ("relinearization", "conjugation", "bootstrap"):
        engine().write(getattr(keys, name), place.public_keys / f"{name}.key")


def read_keys(place: Place, plan: NetworkPlan) -> NetworkKeys:
    """Read them."""
    relinearization, conjugation, bootstrap = (
        read_one(engine(), place.public_keys / f"{name}.key", _MAKER)
        for name in ("relinearization", "conjugation", "bootstrap")
    )
    turns = sorted(plan.rotations)
    rotations = read_all(engine(), place.public_keys / "rotations.bin", len(turns), _MAKER)
    return NetworkKeys(relinearization, conjugation, bootstrap, dict(zip(turns, rotations, strict=True)))
