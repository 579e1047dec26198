"""The computing part of a batch: one worker per process, with keys expanded once, for many threads."""

from __future__ import annotations

import errno
import platform
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aglet.batch.keys import open_keys
from aglet.batch.memory import refuse_too_little
from aglet.batch.methods import Method, method_of
from aglet.batch.places import checksum
from aglet.batch.results import Group, Outcome, Task
from aglet.errors import KeyMismatchError, MemoryLimitError, MissingKeyError, ParameterError, SerializationError
from aglet.progress import silent

__all__ = ["Recipe", "Worker"]

_FAULTS = ((MissingKeyError, "missing"), (KeyMismatchError, "stranger"), (ParameterError, "options"))
"""Errors that other ciphertexts will have too, if the keys or options do not fit."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
_OF_A_NAME = {errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.EINVAL, errno.EILSEQ, errno.ELOOP}
"""Reasons why one result cannot be written while others can."""


@dataclass(frozen=True)
class Recipe:
    """What a worker is made from. It is small and the same for all."""

    keys: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    streams: int = 1
    allow_insecure: bool = False
    mode: str = "parallel"


class Worker:
    """Keys and an engine. More threads than `streams` may call `run`.

    While this many compute, other threads read the next groups and write the finished ones.
    """

    def __init__(self, recipe: Recipe, threads: int, node: str | None = None) -> None:
        self.method: Method = method_of(recipe.method, recipe.options)
        self.node = node or platform.node()
        self._options = recipe.options
        self._opened = open_keys(recipe.keys, self.method.family, threads, recipe.allow_insecure, recipe.mode)
        if not isinstance(self._opened.engine, self.method.family):
            raise SerializationError(
                f"The keys in {recipe.keys!a} are for {type(self._opened.engine).__name__}, and the method "
                f"{recipe.method} needs {self.method.family.__name__}; give another folder or another method."
            )
        refuse_too_little(self._opened, recipe.streams)
        self._turn = threading.BoundedSemaphore(recipe.streams)
        self._stopped: set[int] = set()

    def stop(self, task: Task) -> None:
        """Start no more groups of this batch. Groups that are being computed are finished and written."""
        self._stopped.add(task.number)

    def run(self, group: Group, task: Task) -> list[Outcome]:
        """Read, compute and write. The error of one ciphertext goes into its outcome, and the others are done.

        After `stop` the list is empty.

        Raises
        ------
        MemoryLimitError
            If there is no memory for the group now.
        """
        outcomes: list[Outcome] = []
        given: dict[int, Any] = {}
        for i, name in enumerate(group.names):
            outcomes.append(Outcome(name, group.first + i, self.node, 0.0, tries=group.tries))
            try:
                stamp = task.source.stamp(name) if task.source else ""
                given[i] = self._read(group, i, task)
                outcomes[i] = replace(outcomes[i], stamp=stamp)
            except Exception as error:
                outcomes[i] = _failed(outcomes[i], error)
        with self._turn:
            if task.number in self._stopped:
                return []
            start = time.perf_counter()
            made = dict(zip(given, self._computed(list(given.values())), strict=True))
            # What a card made comes here together, before the next group is asked of it.
            self._opened.engine._fetch([one for one in made.values() if isinstance(one, self.method.takes)])
            seconds = (time.perf_counter() - start) / max(1, len(given))
        for i, result in made.items():
            outcomes[i] = self._written(replace(outcomes[i], seconds=seconds), result, task)
        return outcomes

    def _read(self, group: Group, i: int, task: Task) -> Any:
        if group.given is not None:
            found = group.given[i]
        else:
            assert task.source is not None, "a group without ciphertexts comes from a place"
            found = self._opened.engine.deserialize(task.source.read(group.names[i]), progress=silent)
        if not isinstance(found, self.method.takes):
            raise SerializationError(
                f"This is a {type(found).__name__}, and the method {self.method.name} needs a "
                f"{self.method.takes.__name__}."
            )
        return found

    def _computed(self, given: Sequence[Any]) -> list[Any]:
        """The results, or an error in place of one. If several fail together, each half is tried alone."""
        if not given:
            return []
        try:
            return self.method.call(self._opened, given, self._options)
        except MemoryLimitError:
            raise
        except Exception as error:
            if len(given) == 1:
                return [error]
        middle = (len(given) + 1) // 2
        return self._computed(given[:middle]) + self._computed(given[middle:])

    def _written(self, outcome: Outcome, result: Any, task: Task) -> Outcome:
        if isinstance(result, Exception):
            return _failed(outcome, result)
        if task.target is None:
            return replace(outcome, result=result)
        try:
            data = self._opened.engine.serialize(result, progress=silent)
        except Exception as error:
            return _failed(outcome, error)
        try:
            task.target.write(outcome.name, data)
        except Exception as error:
            number = error.errno if isinstance(error, OSError) else None
            fault = "" if number in _OF_A_NAME else "full" if number in _FULL else "unwritten"
            return replace(outcome, error=_sentence(error), fault=fault)
        return replace(outcome, checksum=checksum(data))


def _failed(outcome: Outcome, error: Exception) -> Outcome:
    fault = next((word for kind, word in _FAULTS if isinstance(error, kind)), "")
    return replace(outcome, error=_sentence(error), fault=fault)


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__
