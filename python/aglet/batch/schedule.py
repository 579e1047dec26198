"""The order of groups and outcomes, and retries. Several batches may share the workers."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from aglet.batch.results import Group, Outcome, Task
from aglet.batch.runners import Lost, Runner

__all__ = ["Schedule"]

_WINDOW = 4
"""Groups for each that is running. They may wait for an earlier one if the order is kept."""


class Schedule:
    """Gives groups to a runner, and to each batch its own outcomes.

    Parameters
    ----------
    together
        The ciphertexts of a group.
    unit
        The number of ciphertexts that depend on each other.
    retries
        How often a lost group is tried again.
    """

    def __init__(self, runner: Runner, together: int, unit: int, retries: int) -> None:
        self._runner, self._together, self._unit, self._retries = runner, together, unit, retries
        # By task: what came back and was not taken yet, and how many groups are out.
        self._back: dict[int, deque[tuple[Group, list[Outcome] | Lost]]] = {}
        self._out: dict[int, int] = {}
        self._left: dict[int, deque[Outcome]] = {}
        self._lock = threading.RLock()

    def outcomes(self, groups: Iterator[Group], task: Task, ordered: bool) -> Iterator[Outcome]:
        """Yield the outcomes of a batch when they are ready, or in order.

        `rest` returns those that nobody took.
        """
        number = task.number
        self._back[number], self._out[number], self._left[number] = deque(), 0, deque()
        again: deque[Group] = deque()
        held: dict[int, Outcome] = {}
        following, more = 0, True
        while more or again or self._out[number] > 0:
            more = self._submit(groups, again, task, len(held), more)
            for group, found in self._finished(number):
                self._left[number].extend(self._tried(group, found, again))
            if ordered:
                held |= {outcome.at: outcome for outcome in self._taken(number)}
                while following in held:
                    yield held.pop(following)
                    following += 1
            else:
                yield from self._taken(number)

    def _submit(self, groups: Iterator[Group], again: deque[Group], task: Task, held: int, more: bool) -> bool:
        """Give groups to the workers; returns whether there may be more."""
        with self._lock:
            most = _WINDOW * self._together * max(1, self._runner.room + self._runner.busy)
            while self._runner.room > 0 and (again or (more and held < most)):
                group = again.popleft() if again else next(groups, None)
                if group is None:
                    return False
                self._runner.submit(replace(group, task=task.number), task)
                self._out[task.number] += 1
        return more

    def _finished(self, number: int) -> list[tuple[Group, list[Outcome] | Lost]]:
        """The groups of this batch that came back. Those of another batch wait for it."""
        with self._lock:
            # Also where another batch has taken all the room: it may be asked for nothing for long.
            if not self._back[number] and (self._out[number] or self._runner.room <= 0):
                for group, found in self._runner.finished():
                    self._back[group.task].append((group, found))
            own = list(self._back[number])
            self._back[number].clear()
            self._out[number] -= len(own)
        return own

    def _tried(self, group: Group, found: list[Outcome] | Lost, again: deque[Group]) -> list[Outcome]:
        """The outcomes of a group. A lost group is tried again in parts.

        So a ciphertext that breaks workers takes no other along.
        """
        if not isinstance(found, Lost):
            # Results first: failures before the first of them make a batch stop.
            return sorted(found, key=lambda outcome: outcome.error is not None)
        if group.tries > self._retries:
            each = enumerate(group.names, group.first)
            return [Outcome(name, at, "", 0.0, error=found.why, tries=group.tries) for at, name in each]
        for start in range(0, len(group.names), self._unit):
            part = slice(start, start + self._unit)
            given = group.given and group.given[part]
            first, tries = group.first + start, group.tries + 1
            again.append(replace(group, first=first, names=group.names[part], given=given, tries=tries))
        return []

    def _taken(self, number: int) -> Iterator[Outcome]:
        left = self._left[number]
        while left:
            yield left.popleft()

    def rest(self, task: Task) -> Iterator[Outcome]:
        """Finish what is being computed, start nothing else, and return the outcomes that nobody took."""
        number = task.number
        if number not in self._out:
            return
        self._runner.stop(task)
        while self._out[number] > 0:
            for _, found in self._finished(number):
                self._left[number].extend([] if isinstance(found, Lost) else found)
        left = self._left.pop(number)
        del self._out[number], self._back[number]
        yield from left
