"""The engine, the plans and the keys, and the score on ciphertexts, for the stages."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import Engine
from aglet.network.keys import NetworkKeys
from aglet.network.plan import NetworkPlan
from workloads.common import Place, read_all, read_one, threads, write_all
from workloads.face import model
from workloads.face.reference import State

__all__ = ["COUNTS", "SIZES", "compare", "engine", "error", "plans", "read_keys", "rotations", "write_keys"]

SIZES = ("single", "small", "medium", "large", "toy")
COUNTS = (1, 128, 256, 1_024, 1)
"""The pairs of each size. The harness has no `toy`, a small network without security for tests."""
_LEVELS = 4
"""The levels that a score takes: squares, the polynomial of lengths, their product, the product of all."""
_MAKER = "client_key_generation"


@functools.cache
def engine(size: str) -> Engine:
    """N = 2^16, 13 levels and a bootstrap, of 128 bits of security."""
    if size == "toy":
        return Engine(preset="toy", allow_insecure=True, thread_count=threads())
    return Engine(use_bootstrap=True, mode="parallel", thread_count=threads())


def plans(size: str, state: State | None = None) -> Iterator[NetworkPlan]:
    """The plans of the four networks, both pictures in one ciphertext: the same for clients and server.

    One at a time, as each keeps the diagonals of its layers. All have the same levels and rotations.
    """
    for network in model.networks(size, state):
        yield network.plan(engine(size), bootstrap="medium", batch=2, output_level=_LEVELS, few_keys=True)


def rotations(plan: NetworkPlan) -> list[tuple[int, int]]:
    """The rotations to the left that a network and a score need, each with its level."""
    level = plan.levels[1]
    across, within = [(1, level), (1, level - 2)], [(step, level - 1) for step in _sums(plan)]
    return sorted({*plan.rotations, *across, *within})


def _sums(plan: NetworkPlan) -> list[int]:
    """The rotations that add all numbers of an embedding, one after the other.

    Their places are all sums of some powers of two, and each power is one of them.
    """
    places = plan.packings[1].places.ravel()
    steps = [int(place) for place in places if place and place & (place - 1) == 0]
    sums = np.zeros(1, dtype=np.int64)
    for step in steps:
        sums = np.concatenate([sums, sums + step])
    assert np.array_equal(np.sort(places), np.sort(sums))
    return steps


def compare(plan: NetworkPlan, features: Sequence[Any], keys: NetworkKeys, score: model.Score) -> Any:
    """The score of both embeddings in a ciphertext, whose parts these are, in its first slot and without its factor.

    The second picture stands a slot to the right of the first.
    """
    on, relin, level = plan.engine, keys.relinearization, plan.levels[1]
    embedding = functools.reduce(on.add, features)
    across = on.rotate(embedding, keys.rotation(1, level))
    lengths, inner = (on.multiply(embedding, other, relin) for other in (embedding, across))
    for step in _sums(plan):
        key = keys.rotation(step, level - 1)
        lengths, inner = (on.add(x, on.rotate(x, key)) for x in (lengths, inner))
    norms = on.add(on.square(on.add(lengths, score.shift), relin), score.constant)
    norms = on.multiply(norms, on.rotate(norms, keys.rotation(1, level - 2)), relin)
    return on.multiply(norms, on.level_down(inner, norms.level), relin)


def error(size: str, bits: float, first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The error that scores of these embeddings hardly exceed, if the outputs of networks have so many bits."""
    return model.score_of(size).error(first, second, 2.0**-bits)


def write_keys(place: Place, keys: NetworkKeys) -> None:
    """Write the keys that the server gets."""
    made = (keys.rotations[one] for one in sorted(keys.rotations))
    write_all(engine(place.size), made, place.public_keys / "rotations.bin")
    for name in ("relinearization", "conjugation", "bootstrap"):
        engine(place.size).write(getattr(keys, name), place.public_keys / f"{name}.key")


def read_keys(place: Place, plan: NetworkPlan) -> NetworkKeys:
    """Read them."""
    on, turns = engine(place.size), rotations(plan)
    relinearization, conjugation, bootstrap = (
        read_one(on, place.public_keys / f"{name}.key", _MAKER)
        for name in ("relinearization", "conjugation", "bootstrap")
    )
    found = read_all(on, place.public_keys / "rotations.bin", len(turns), _MAKER)
    return NetworkKeys(relinearization, conjugation, bootstrap, dict(zip(turns, found, strict=True)))
