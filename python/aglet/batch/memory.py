"""The memory of a worker: what it will take, and a refusal where there is less."""

from __future__ import annotations

from aglet import _core
from aglet.arrays.keyset import KeySet
from aglet.batch.keys import Opened
from aglet.batch.methods import methods
from aglet.errors import MemoryLimitError, MissingKeyError
from aglet.reports import gigabytes

__all__ = ["node_bytes", "refuse_too_little"]

_CIPHERTEXTS = 3
"""Groups of a worker: one computes, one is read, one is written."""
_WORKER = 200 << 20
"""What a worker takes beside an engine: the libraries of a cluster and what they keep. Measured."""


def node_bytes(keys: KeySet, *, streams: int = 1) -> int:
    """Bytes that a worker of a batch takes at its peak, with these keys and a bootstrap; groups get smaller below it.

    Raises
    ------
    MissingKeyError
        If there is no bootstrap key among them.
    """
    if keys.bootstrap is None:
        raise MissingKeyError('These keys have no bootstrap key; make one with engine.create_keys(bootstrap="large").')
    plan, together = _plan(keys), methods()["regular"].together
    # A ciphertext that waits is two polynomials of the level that a bootstrap leaves.
    waiting = int(16 * 2 ** plan["log_n"]) * (plan["output_level"] + 1) * together * (streams + _CIPHERTEXTS)
    further = sum(key.byte_count for key in (keys.rotation, keys.matrix) if key is not None)
    return _WORKER + plan["peak_bytes"] - _scratch(keys, 1) + further + streams * _scratch(keys, together) + waiting


def refuse_too_little(opened: Opened, streams: int) -> None:
    """Whether bootstraps one by one have room beside the keys that are read already.

    Raises
    ------
    MemoryLimitError
        If they have not.
    """
    keys = opened.keys
    free = _core.doctor()["memory_available_bytes"]
    if free is None or not isinstance(keys, KeySet) or keys.bootstrap is None:
        return
    needed = _plan(keys)["matrix_bytes"] + streams * _scratch(keys, 1)
    if needed > free:
        raise MemoryLimitError(
            f"A worker with these keys takes {gigabytes(needed)} beside them, and {gigabytes(free)} are free; take "
            'fewer streams or actors, keys of create_keys(bootstrap="medium"), or a node with more memory.'
        )


def _words(keys: KeySet) -> tuple[str, str, int | None, str, int]:
    key = keys.bootstrap
    assert key is not None, "asked for only with one"
    stages = None if key.size == "small" else key.stage_count
    return keys.engine.preset, key.method, stages, key.size, keys.engine.slot_count


def _plan(keys: KeySet) -> _core.Plan:
    return _core.plan(*_words(keys))


def _scratch(keys: KeySet, together: int) -> int:
    return _core.scratch_bytes(*_words(keys), together)
