"""The memory of a worker: the forecast, and an error if the machine has less."""

from __future__ import annotations

from aglet import _core
from aglet._core import BootstrapKey
from aglet.batch.keys import Opened
from aglet.batch.methods import methods
from aglet.errors import MemoryLimitError, MissingKeyError
from aglet.keys.keyset import KeySet
from aglet.reports import gigabytes

__all__ = ["node_bytes", "refuse_too_little"]

_CIPHERTEXTS = 3
"""Groups in the memory of a worker: one is computed, one is read, one is written."""
_WORKER = 200 << 20
"""The memory of a worker beside its engine: the libraries of a cluster and their buffers. It was measured."""


def node_bytes(keys: KeySet, *, streams: int = 1) -> int:
    """The bytes that a worker needs at its peak, with these keys and a bootstrap. With less memory, groups get smaller.

    Raises
    ------
    MissingKeyError
        If these keys do not include a bootstrap key.
    """
    if not isinstance(keys.bootstrap, BootstrapKey):
        raise MissingKeyError(
            'These keys do not include a bootstrap key; make one with engine.create_keys(bootstrap="large").'
        )
    plan, together = _plan(keys), methods()["regular"].together
    # A ciphertext that waits is two polynomials of the level that a bootstrap leaves.
    waiting = int(16 * 2 ** plan["log_n"]) * (plan["output_level"] + 1) * together * (streams + _CIPHERTEXTS)
    further = sum(key.byte_count for key in (keys.rotation, keys.matrix) if key is not None)
    return _WORKER + plan["peak_bytes"] - _scratch(keys, 1) + further + streams * _scratch(keys, together) + waiting


def refuse_too_little(opened: Opened, streams: int) -> None:
    """Check that single bootstraps fit in memory beside the keys that are read already.

    Raises
    ------
    MemoryLimitError
        If they do not fit.
    """
    keys = opened.keys
    free = _core.doctor()["memory_available_bytes"]
    if free is None or not isinstance(keys.bootstrap, BootstrapKey):
        return
    needed = _plan(keys)["matrix_bytes"] + streams * _scratch(keys, 1)
    if needed > free:
        raise MemoryLimitError(
            f"A worker needs {gigabytes(needed)} beside its keys, and {gigabytes(free)} are free; use fewer streams "
            'or actors, keys of create_keys(bootstrap="medium"), or a node with more memory.'
        )


def _words(keys: KeySet) -> tuple[str, str, int | None, str, int]:
    engine, key = keys.engine, keys.bootstrap
    assert isinstance(key, BootstrapKey), "asked for only with one"
    assert engine is not None, "a key has one"
    stages = None if key.size == "small" else key.stage_count
    return engine.preset, key.method, stages, key.size, engine.slot_count


def _plan(keys: KeySet) -> _core.Plan:
    return _core.plan(*_words(keys))


def _scratch(keys: KeySet, together: int) -> int:
    return _core.scratch_bytes(*_words(keys), together)
