"""Where groups run: in threads of this process, or wherever another runner takes them."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from aglet.batch.results import Group, Outcome, Task
from aglet.batch.worker import Recipe, Worker
from aglet.errors import AgletError

__all__ = ["AHEAD", "Finished", "Local", "Lost", "Runner"]

AHEAD = 2
"""Groups of a worker beyond those that compute: one is read, one is written."""


@dataclass(frozen=True)
class Lost:
    """A group without outcomes, through no fault of its ciphertexts as far as is known."""

    why: str


Finished = list[tuple[Group, list[Outcome] | Lost]]


class Runner(Protocol):
    """Takes groups, and gives back what became of them."""

    @property
    def room(self) -> int:
        """Groups that it takes now."""

    @property
    def busy(self) -> int:
        """Groups that it has not given back."""

    def submit(self, group: Group, task: Task) -> None:
        """Take a group; there must be room."""

    def finished(self) -> Finished:
        """What is done by now, after a short wait at most; errors that no other try mends are raised."""

    def stop(self, task: Task) -> None:
        """Begin with no more groups of this batch; what computes is finished and written."""

    def close(self) -> None:
        """Let the workers go."""


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
