"""Cosine similarity with a threshold: how records, query and payloads stand in slots, and how results are read.

A slot is a record, and a ciphertext has 16,384. Two coordinates are one complex number: ciphertext `d` of a chunk holds
in slot `i` the pair `(i + d) mod K` of record `i`, for K pairs. The query has pair `i mod K`, conjugated, in slot `i`.
So the score of a record is the real part of `sum_d records_d * turn(query, d)`: K products a chunk, and no mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aglet import Engine
from workloads.common import WorkloadError, needed, threads

__all__ = [
    "ALPHA",
    "COLUMNS",
    "DIMENSIONS",
    "LEVEL",
    "PAYLOADS",
    "REACH",
    "SIZES",
    "THRESHOLD",
    "engine",
    "fetched",
    "payload_slots",
    "query_slots",
    "read_payloads",
    "read_vectors",
    "record_slots",
]

SIZES = ("toy", "small", "medium", "large", "tiny")
"""The names of the harness, and one of ours for tests."""
DIMENSIONS = dict(zip(SIZES, (128, 128, 256, 512, 16), strict=True))
THRESHOLD, COLUMNS, PAYLOADS = 0.8, 7, 512
"""A match is above the threshold; its payload is 7 numbers from 0 to 511."""
LEVEL = 11
REACH = 1 + THRESHOLD
"""The largest distance of a score to the threshold."""
ALPHA = 5
"""A score is decided if it is at least 2^-5 * 1.8 = 0.056 from the threshold."""
_UNIT = 1e-5
"""How far the length of a vector may be from 1."""

Vectors = NDArray[np.float32]
Complex = NDArray[np.complex128]


def engine() -> Engine:
    """N = 2^15 and 11 levels, of 148 bits of security. Calls that run side by side share its threads."""
    return Engine(max_level=LEVEL, mode="parallel", thread_count=threads())


def read_vectors(path: Path, dimension: int) -> Vectors:
    """Read vectors of length 1, in single precision, one after the other.

    Raises
    ------
    WorkloadError
        If the file is missing, holds no whole number of vectors, or one that is not of length 1.
    """
    data = np.fromfile(needed(path, "the harness's generate_dataset and generate_query"), dtype=np.float32)
    if not data.size or data.size % dimension or path.stat().st_size != data.nbytes:
        raise WorkloadError(f"{path} is not a number of vectors of {dimension} single floats; make the data again.")
    found = data.reshape(-1, dimension)
    lengths = np.linalg.norm(found.astype(float), axis=1)
    if not (np.abs(lengths - 1) < _UNIT).all():
        raise WorkloadError(f"{path} has a vector whose length is not 1; divide each by its length.")
    return found


def read_payloads(path: Path, count: int) -> NDArray[np.int16]:
    """Read the payloads of `count` records, a row each.

    Raises
    ------
    WorkloadError
        If the file is missing, of another size, or has a number outside of 0 to 511.
    """
    data = np.fromfile(needed(path, "the harness's generate_dataset"), dtype=np.int16)
    if data.size != count * COLUMNS or path.stat().st_size != data.nbytes:
        raise WorkloadError(f"{path} is not {count} payloads of {COLUMNS} short integers; make the data again.")
    if data.min() < 0 or data.max() >= PAYLOADS:
        raise WorkloadError(f"{path} has a number outside of 0 to {PAYLOADS - 1}; scale the payloads to this range.")
    return data.reshape(count, COLUMNS)


def _pairs(vectors: Vectors) -> Complex:
    doubles = vectors.astype(float)
    return doubles[:, ::2] + 1j * doubles[:, 1::2]


def record_slots(records: Vectors, slots: int) -> Iterator[Complex]:
    """The slots of the ciphertexts of up to `slots` records, pair by pair."""
    pairs, place = _pairs(records), np.arange(len(records))
    for d in range(pairs.shape[1]):
        found = np.zeros(slots, dtype=np.complex128)
        found[: len(records)] = pairs[place, (place + d) % pairs.shape[1]]
        yield found


def query_slots(query: Vectors, slots: int) -> Complex:
    """The slots of the query, so that the sum with its conjugate is the score divided by 1.8."""
    pairs = _pairs(query)[0].conj() / (2 * REACH)
    return np.tile(pairs, slots // pairs.size)


def payload_slots(payloads: NDArray[np.int16], slots: int) -> Iterator[Complex]:
    """The slots of half the payloads, divided by 512: columns in pairs, the last beside a mark of 1."""
    columns = np.zeros((COLUMNS + 1, slots))
    columns[:COLUMNS, : len(payloads)] = payloads.T / PAYLOADS
    columns[COLUMNS, : len(payloads)] = 1
    for i in range(0, COLUMNS + 1, 2):
        yield (columns[i] + 1j * columns[i + 1]) / 2


def fetched(slots: Complex) -> NDArray[np.int16]:
    """The payloads of the matches, sorted, from the decrypted slots: a row for each pair of columns.

    Raises
    ------
    WorkloadError
        If the mark of a slot is neither 0 nor 1, because a score is too near to the threshold.
    """
    columns = np.array([part for row in slots for part in (row.real, row.imag)])
    marks, values = columns[COLUMNS], columns[:COLUMNS] * PAYLOADS
    if (np.abs(marks - np.round(marks)) > 0.001).any():
        near = 2.0**-ALPHA * REACH
        raise WorkloadError(
            f"A score is nearer than {near:.3f} to the threshold {THRESHOLD}; such a match is undecided."
        )
    rows = np.round(values[:, marks > 0.5]).astype(np.int16).T
    return rows[np.lexsort(rows.T[::-1])]
