"""The part of a batch that computes: one for a process, with keys expanded once, for as many threads as call it."""

from __future__ import annotations

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
from aglet.errors import MemoryLimitError, SerializationError
from aglet.progress import silent

__all__ = ["Recipe", "Worker"]


@dataclass(frozen=True)
class Recipe:
    """What a worker is made of: small, and the same for all."""

    keys: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    streams: int = 1
    allow_insecure: bool = False


class Worker:
    """Keys and an engine; `run` may be called from more threads than `streams`.

    While so many compute, others read what comes next and write what is done.
    """

    def __init__(self, recipe: Recipe, threads: int, node: str | None = None) -> None:
        self.method: Method = method_of(recipe.method, recipe.options)
        self.node = node or platform.node()
        self._options = recipe.options
        self._opened = open_keys(recipe.keys, threads, recipe.allow_insecure)
        if not isinstance(self._opened.engine, self.method.family):
            raise SerializationError(
                f"The keys in {recipe.keys!a} are of {type(self._opened.engine).__name__}, and the method "
                f"{recipe.method} is one of {self.method.family.__name__}; name another folder or another method."
            )
        refuse_too_little(self._opened, recipe.streams)
        self._turn = threading.BoundedSemaphore(recipe.streams)
        self._stopped = 0

    def stop(self, task: Task) -> None:
        """Begin with no more groups of this batch; what computes is finished and written."""
        self._stopped = max(self._stopped, task.number)

    def run(self, group: Group, task: Task) -> list[Outcome]:
        """Read, compute and write; what goes wrong with one ciphertext is said in its outcome, and the rest is done.

        After `stop` the list is empty.

        Raises
        ------
        MemoryLimitError
            If there is no memory for the group now.
        """
        outcomes: dict[str, Outcome] = {}
        given: dict[str, Any] = {}
        for i, name in enumerate(group.names):
            outcomes[name] = Outcome(name, self.node, 0.0, tries=group.tries)
            try:
                stamp = task.source.stamp(name) if task.source else ""
                given[name] = self._read(group, i, task)
                outcomes[name] = replace(outcomes[name], stamp=stamp)
            except Exception as error:
                outcomes[name] = replace(outcomes[name], error=_sentence(error))
        with self._turn:
            if task.number <= self._stopped:
                return []
            start = time.perf_counter()
            made = dict(zip(given, self._computed(list(given.values())), strict=True))
            seconds = (time.perf_counter() - start) / max(1, len(given))
        for name, result in made.items():
            outcomes[name] = self._written(replace(outcomes[name], seconds=seconds), result, task)
        return [outcomes[name] for name in group.names]

    def _read(self, group: Group, i: int, task: Task) -> Any:
        if group.given is not None:
            found = group.given[i]
        else:
            assert task.source is not None, "a group without ciphertexts comes from a place"
            found = self._opened.engine.deserialize(task.source.read(group.names[i]), progress=silent)
        if not isinstance(found, self.method.takes):
            raise SerializationError(
                f"This is a {type(found).__name__}, and the method {self.method.name} takes a "
                f"{self.method.takes.__name__}."
            )
        return found

    def _computed(self, given: Sequence[Any]) -> list[Any]:
        """Results, or the error in place of one: of several that fail together, halves are tried on their own."""
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
            return replace(outcome, error=_sentence(result))
        if task.target is None:
            return replace(outcome, result=result)
        try:
            data = self._opened.engine.serialize(result, progress=silent)
            task.target.write(outcome.name, data)
        except Exception as error:
            return replace(outcome, error=_sentence(error))
        return replace(outcome, checksum=checksum(data))


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__
