"""Functions of large plain arrays, a block at a time: what each coefficient reads again stays in the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["in_blocks"]

_BLOCK = 1 << 14


def in_blocks(function: Callable[[Any], Any], x: Any) -> Any:
    """A function of each element alone, with the bits that one call would give."""
    plain = np.asarray(x)
    if plain.size <= _BLOCK:
        return function(plain)
    flat = plain.reshape(-1)
    blocks = [function(flat[at : at + _BLOCK]) for at in range(0, flat.size, _BLOCK)]
    return np.concatenate(blocks).reshape(plain.shape)
