"""Runners of groups: threads of this process, or another runner such as a cluster."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from aglet.batch.results import Group, Outcome, Task
from aglet.batch.worker import Recipe, Worker
from aglet.errors import AgletError

__all__ = ["AHEAD", "Finished", "Local", "Lost", "Runner"]

AHEAD = 2
"""Groups of a worker beyond those that are computed: one is read, one is written."""


@dataclass(frozen=True)
class Lost:
    """A group without outcomes, for a reason that is not known to be its ciphertexts."""

    why: str


Finished = list[tuple[Group, list[Outcome] | Lost]]


class Runner(Protocol):
    """Takes groups, and returns their outcomes."""

    @property
    def room(self) -> int:
        """The number of groups that it can take now."""

    @property
    def busy(self) -> int:
        """The number of groups that it has not returned yet."""

    def submit(self, group: Group, task: Task) -> None:
        """Take a group. There must be room."""

    def finished(self) -> Finished:
        """Return what is done, after a short wait at most. Errors that a retry does not help with are raised."""

    def stop(self, task: Task) -> None:
        """Start no more groups of this batch. Groups that are being computed are finished and written."""

    def close(self) -> None:
        """Stop the workers."""


class Local:
    """Threads of this process."""

    _WAIT_S = 0.5

    def __init__(self, recipe: Recipe, threads: int) -> None:
        self._worker = Worker(recipe, threads)
        self._most = recipe.streams + AHEAD
        self._threads = ThreadPoolExecutor(self._most, thread_name_prefix="aglet-batch")
        self._flying: dict[Future[list[Outcome]], Group] = {}

    @property
    def room(self) -> int:
        return self._most - len(self._flying)

    @property
    def busy(self) -> int:
        return len(self._flying)

    def submit(self, group: Group, task: Task) -> None:
        self._flying[self._threads.submit(self._worker.run, group, task)] = group

    def finished(self) -> Finished:
        done, _ = wait(self._flying, self._WAIT_S, FIRST_COMPLETED)
        found: Finished = []
        for future in done:
            try:
                found.append((self._flying[future], future.result()))
            except AgletError as error:
                found.append((self._flying[future], Lost(str(error))))
        for future in done:
            del self._flying[future]
        return found

    def stop(self, task: Task) -> None:
        self._worker.stop(task)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
