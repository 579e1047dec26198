"""The stand-in's half of the search: data of the harness's shape, its calls, and the check."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workloads.common import Place, WorkloadError, save_binary
from workloads.similarity import search

SIZES = search.SIZES
COUNTS = dict(zip(SIZES, (1_000, 50_000, 1_000_000, 20_000_000, 300), strict=True))
_NOISE = 0.3
_PER_CENTRE = 32
"""Records for each centre; half of them are near one."""


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths: NDArray[np.float64] = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / lengths).astype(np.float32)


def _near(centres: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Vectors at a fixed distance of their centres, in orthogonal directions: their cosines are at least 0.83."""
    away = rng.standard_normal(centres.shape)
    away -= (away * centres).sum(axis=-1, keepdims=True) * centres
    lengths: NDArray[np.float64] = np.linalg.norm(away, axis=-1, keepdims=True)
    return centres + _NOISE * away / lengths


def parameters(_: str) -> dict[str, object]:
    """The parameter set that the stages use."""
    made = search.engine()
    return {"preset": made.preset, "slot_count": made.slot_count, "security_bits": made.security_report().security_bits}


def make_data(place: Place, seed: int) -> None:
    """Records on the sphere, half of them near centres, and payloads."""
    rng, count = np.random.default_rng(seed), COUNTS[place.size]
    dimension = search.DIMENSIONS[place.size]
    centres = rng.standard_normal((max(1, count // _PER_CENTRE), dimension))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    records = rng.standard_normal((count, dimension))
    near = np.flatnonzero(rng.integers(0, 2, count))
    records[near] = _near(centres[rng.integers(0, len(centres), near.size)], rng)
    save_binary(place.data / "centers.bin", centres.astype(np.float32))
    save_binary(place.data / "db.bin", _unit(records))
    save_binary(place.data / "payloads.bin", rng.integers(0, search.PAYLOADS, (count, search.COLUMNS), dtype=np.int16))


def make_input(place: Place, seed: int) -> None:
    """A query near a centre, or anywhere for one seed in four. No score may be undecided."""
    dimension = search.DIMENSIONS[place.size]
    centres = np.fromfile(place.data / "centers.bin", np.float32).reshape(-1, dimension).astype(float)
    records = search.read_vectors(place.data / "db.bin", dimension)
    for attempt in range(1_000):
        rng = np.random.default_rng([seed, attempt])
        query = rng.standard_normal(dimension)
        if seed % 4:
            query = _near(centres[rng.integers(0, len(centres))], rng)
        save_binary(place.data / "query.bin", _unit(query))
        scores = records @ search.read_vectors(place.data / "query.bin", dimension)[0]
        if np.abs(scores - search.THRESHOLD).min() > 0.06:
            return
    raise WorkloadError("Every query has a score near the threshold; take another seed.")


def _stages(place: Place, names: list[str]) -> list[list[str]]:
    options = ["--count_only"] * place.count_only
    return [[name, str(SIZES.index(place.size)), *options, "--seed", "1", "--seed", "2"] for name in names]


def once(place: Place) -> list[list[str]]:
    """The stages before the runs, with their arguments."""
    names = ["client_preprocess_dataset", "client_key_generation", "client_encode_encrypt_db"]
    return _stages(place, [*names, "server_preprocess_dataset"])


def each_run(place: Place) -> list[list[str]]:
    """The stages of a run."""
    names = ["client_preprocess_query", "client_encode_encrypt_query", "server_encrypted_compute"]
    return _stages(place, [*names, "client_decrypt_decode", "client_postprocess"])


def check(place: Place) -> dict[str, object]:
    """The count, or every payload, against the search in the clear.

    Raises
    ------
    WorkloadError
        If they differ.
    """
    dimension = search.DIMENSIONS[place.size]
    records = search.read_vectors(place.data / "db.bin", dimension)
    scores = records @ search.read_vectors(place.data / "query.bin", dimension)[0]
    matches = scores > search.THRESHOLD
    if place.count_only:
        counted = np.fromfile(place.io / "results.bin", np.int64)
        if counted.tolist() != [matches.sum()]:
            raise WorkloadError(f"The count is {counted.tolist()}, and {matches.sum()} in the clear.")
    else:
        rows = search.read_payloads(place.data / "payloads.bin", len(records))[matches]
        found = np.fromfile(place.io / "results.bin", np.int16).reshape(-1, search.COLUMNS)
        if not np.array_equal(found, rows[np.lexsort(rows.T[::-1])]):
            raise WorkloadError("The payloads differ from those in the clear.")
    nearest = float(np.abs(scores - search.THRESHOLD).min())
    # Exact: as many bits as a payload has, or the largest count.
    bits = float(np.log2(len(records) if place.count_only else search.PAYLOADS))
    return {"records": len(records), "matches": int(matches.sum()), "nearest": round(nearest, 3), "bits": bits}
