"""Where the elements of a new array stand: in consecutive slots of one chunk, or in blocks of several."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

__all__ = ["chunk_count", "in_a_row", "spread"]


# Arrays of one shape share one index, so that operations see at once that their elements stand in the same places.
@functools.lru_cache(maxsize=2)
def in_a_row(shape: tuple[int, ...]) -> Any:
    """The places of elements in consecutive slots from the first one on."""
    index = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    index.setflags(write=False)
    return index


@functools.lru_cache(maxsize=2)
def _blocks(shape: tuple[int, ...], slots: int) -> tuple[int, int, int, int, int]:
    """The split axis, the numbers below it, rows per chunk, chunks per run, and runs: see `spread`."""
    split = len(shape) - 1
    while split > 0 and math.prod(shape[split:]) <= slots:
        split -= 1
    block = math.prod(shape[split + 1 :])
    rows = max(1, slots // block)
    return split, block, rows, -(-shape[split] // rows), math.prod(shape[:split])


def chunk_count(shape: tuple[int, ...], slots: int) -> int:
    """How many chunks `spread` takes."""
    *_, runs, lead = _blocks(shape, slots)
    return lead * runs


def spread(shape: tuple[int, ...], slots: int) -> tuple[Any, int]:
    """The places of the elements, and the number of chunks. Those in consecutive slots are `in_a_row`.

    A block is made of as many of the last axes as fit a chunk. A chunk holds whole blocks of the axis before. Every
    element of the axes before that begins a new chunk.
    """
    split, block, rows, runs, lead = _blocks(shape, slots)
    if lead == 1 and (runs == 1 or rows * block == slots):
        return in_a_row(shape), lead * runs
    row = np.arange(shape[split], dtype=np.int64)
    start = (row // rows) * slots + (row % rows) * block
    grid = (
        np.arange(lead, dtype=np.int64)[:, None, None] * (runs * slots)
        + start[None, :, None]
        + np.arange(block, dtype=np.int64)[None, None, :]
    )
    index = grid.reshape(shape)
    index.setflags(write=False)
    return index, lead * runs
