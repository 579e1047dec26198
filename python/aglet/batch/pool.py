"""`Pool`: one operation on many ciphertexts; here its queue, order, second tries and progress."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from aglet import checks
from aglet.batch.keys import read_index
from aglet.batch.ledger import Ledger
from aglet.batch.methods import method_of
from aglet.batch.places import Place
from aglet.batch.results import Failure, Group, Outcome, Report, Task
from aglet.batch.runners import Local, Lost, Runner
from aglet.batch.worker import Recipe
from aglet.errors import AgletError, ParameterError
from aglet.progress import ProgressCallback, progress_bar, silent

__all__ = ["BatchError", "Pool"]

_WINDOW = 4
"""Groups for each that runs, which may wait for an earlier one where the order is kept."""


class BatchError(AgletError):
    """Some ciphertexts of a batch have no result; the others were given before."""

    def __init__(self, failures: tuple[Failure, ...]) -> None:
        self.failures = failures
        first = failures[0]
        super().__init__(f"{len(failures)} of the ciphertexts failed; the first, {first.name!a}: {first.error}")


class Pool:
    """Workers with keys and a method. Use it in a `with` block, for one batch or several.

    Parameters
    ----------
    keys
        The folder or fsspec url that `KeySet.save` or `save_keys` wrote; on a cluster every node reads it. The secret
        key is never opened.
    method
        What is done, see `methods()`: "regular" and the other bootstraps, "integer", gates, tables.
    address
        None for this process; else the address of a Ray cluster, "auto" or "ray://host:port".
    streams
        Groups of ciphertexts that compute at a time in a worker; two fill what one leaves of the cores, and take the
        memory of another bootstrap.
    actors_per_node
        Workers on each node of a cluster; one is best where a node has one kind of memory.
    threads
        Of a worker in this process; 0 means all cores. On a cluster, its share of the cores that Ray has there.
    retries
        How often a group goes to another worker when one is lost, and how often a place that refuses is asked.
    allow_insecure
        Accept keys of sets below 128 bits. For tests only.
    options
        Of the method: `bound=`, `real=`, `target_level=`, `iterations=`; `table=`.

    Raises
    ------
    ParameterError
        If there is no such method, it does not take an option, or Ray is not installed.
    SerializationError
        If the folder holds no keys.

    Examples
    --------
    >>> with batch.Pool("keys") as pool:                       # doctest: +SKIP
    ...     report = pool.run("s3://tired", "s3://fresh")
    """

    def __init__(
        self,
        keys: str | os.PathLike[str],
        *,
        method: str = "regular",
        address: str | None = None,
        streams: int = 1,
        actors_per_node: int = 1,
        threads: int = 0,
        retries: int = 3,
        allow_insecure: bool = False,
        **options: Any,
    ) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        self._method = method_of(checks.word("method", method), given)
        place = Place(keys)
        self._retries = checks.count("retries", retries, 1)
        url = place.local or place.url
        streams = checks.count("streams", streams, 1)
        self._recipe = Recipe(url, method, given, streams, checks.flag("allow_insecure", allow_insecure))
        named = {"method": method, "options": given, "key_id": read_index(place)["key_id"]}
        self._job = hashlib.sha256(json.dumps(named, sort_keys=True, default=_plain).encode()).hexdigest()[:16]
        self._address, self._threads = address, checks.count("threads", threads)
        self._actors = checks.count("actors_per_node", actors_per_node, 1)
        self._runner: Runner | None = None
        self._numbers = itertools.count(1)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the workers go; keys are freed."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _started(self) -> Runner:
        if self._runner is None:
            if self._address in (None, "local"):
                self._runner = Local(self._recipe, self._threads)
            else:
                from aglet.batch.cluster import Cluster

                self._runner = Cluster(self._recipe, str(self._address), self._actors)
        return self._runner

    def run(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Report:
        """Every ciphertext below one folder or url, with the results under the same names below another.

        Results are written whole, and `_manifest.jsonl` there has for each its checksum; a run that was stopped goes on
        where it ended, as results whose checksums fit are kept. What cannot be done is in `_failed.jsonl`, and the rest
        is done. After Ctrl-C groups that compute are finished and written first; a second one drops them.

        Parameters
        ----------
        overwrite
            Make all results again.
        progress
            Called as `progress(done, total, what)`; `what` tells the speed and when the end is near.

        Raises
        ------
        ParameterError
            If the target is the source or lies in it, or holds results of another method or other keys.
        OSError
            If one of them cannot be reached.
        """
        begin, end = Place(source, self._retries), Place(target, self._retries)
        if end.within(begin):
            raise ParameterError("The results would lie among the ciphertexts; give a folder outside of the source.")
        names = begin.names()
        task = Task(next(self._numbers), begin, end)
        ledger = Ledger(begin, end, self._job, checks.flag("overwrite", overwrite))
        todo = ledger.left(_chunks(names, self._method.unit))
        outcomes = self._outcomes(self._grouped(todo), task, False) if todo else ()
        with progress_bar(progress) as report:
            clock = _Clock(sum(map(len, todo)), self._method.name, report or silent)
            try:
                for outcome in outcomes:
                    ledger.add(outcome)
                    clock.tick()
            except KeyboardInterrupt:
                for outcome in self._rest(task):
                    ledger.add(outcome)
                raise
            finally:
                ledger.save()
        return ledger.report()

    def stream(
        self, source: Any, *, ordered: bool = True, progress: ProgressCallback | None = None
    ) -> Iterator[tuple[str, Any]]:
        """Names and results, one after the other, while others are made; only a few are held at a time.

        Parameters
        ----------
        source
            A folder or url; or a mapping of names to ciphertexts, or an iterable of pairs of both, which is read as
            fast as results are taken.
        ordered
            Whether results come in the order of the source, else as they are ready.

        Raises
        ------
        BatchError
            After the last result, if ciphertexts failed: its `failures` say which.
        """
        task, groups, total = self._opened_source(source)
        failures = []
        clock = _Clock(total, self._method.name, progress or silent)
        try:
            for outcome in self._outcomes(groups, task, checks.flag("ordered", ordered)):
                clock.tick()
                if outcome.error is not None:
                    failures.append(Failure(outcome.name, outcome.error, outcome.node, outcome.tries))
                else:
                    yield outcome.name, outcome.result
        finally:
            # The consumer may have had enough, or it was Ctrl-C.
            list(self._rest(task))
        if failures:
            raise BatchError(tuple(failures))

    def _opened_source(self, source: Any) -> tuple[Task, Iterator[Group], int]:
        number = next(self._numbers)
        if isinstance(source, str | os.PathLike):
            place = Place(source, self._retries)
            names = place.names()
            return Task(number, place, None), self._grouped(_chunks(names, self._method.unit)), len(names)
        pairs = source.items() if isinstance(source, Mapping) else source
        total = len(source) if hasattr(source, "__len__") else 0
        return Task(number, None, None), self._grouped_pairs(pairs), total

    def _grouped(self, units: Iterable[tuple[str, ...]]) -> Iterator[Group]:
        first = 0
        for some in _chunks(units, self._method.together // self._method.unit):
            names = tuple(name for unit in some for name in unit)
            yield Group(first, names)
            first += len(names)

    def _grouped_pairs(self, pairs: Iterable[tuple[str, Any]]) -> Iterator[Group]:
        first = 0
        for some in _chunks(pairs, self._method.together):
            names = tuple(str(name) for name, _ in some)
            yield Group(first, names, tuple(one for _, one in some))
            first += len(names)

    def _outcomes(self, groups: Iterator[Group], task: Task, ordered: bool) -> Iterator[Outcome]:
        runner = self._started()
        again: deque[Group] = deque()
        held: dict[int, Outcome] = {}
        following, more = 0, True
        while more or again or runner.busy:
            most = _WINDOW * self._method.together * max(1, runner.room + runner.busy)
            while runner.room > 0 and (again or (more and len(held) < most)):
                group = again.popleft() if again else next(groups, None)
                if group is None:
                    more = False
                    break
                runner.submit(group, task)
            for group, found in runner.finished():
                if isinstance(found, Lost):
                    found = self._second_try(group, found, again)
                for outcome in found:
                    if ordered:
                        held[group.first + group.names.index(outcome.name)] = outcome
                    else:
                        yield outcome
            while following in held:
                yield held.pop(following)
                following += 1

    def _second_try(self, group: Group, lost: Lost, again: deque[Group]) -> list[Outcome]:
        """Back to the queue, in parts, so that one that breaks workers takes no other with it; or the end."""
        if group.tries > self._retries:
            return [Outcome(name, "", 0.0, error=lost.why, tries=group.tries) for name in group.names]
        for start in range(0, len(group.names), self._method.unit):
            part = slice(start, start + self._method.unit)
            given = group.given and group.given[part]
            first, tries = group.first + start, group.tries + 1
            again.append(replace(group, first=first, names=group.names[part], given=given, tries=tries))
        return []

    def _rest(self, task: Task) -> Iterator[Outcome]:
        """What computes is finished; nothing else begins."""
        if self._runner is None:
            return
        self._runner.stop(task)
        while self._runner.busy:
            for _, found in self._runner.finished():
                yield from [] if isinstance(found, Lost) else found


class _Clock:
    """Tells how far a batch is, how fast, and when it will end."""

    def __init__(self, total: int, method: str, report: ProgressCallback) -> None:
        self._total, self._method, self._report = total, method, report
        self._start, self._done = time.monotonic(), 0

    def tick(self) -> None:
        self._done += 1
        each = (time.monotonic() - self._start) / self._done
        left = max(0, self._total - self._done) * each
        end = f", {_duration(left)} left" if self._total else ""
        self._report(self._done, self._total, f"{self._method}: {each:.3g} s each{end}")


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _chunks(some: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    rest = iter(some)
    while part := tuple(itertools.islice(rest, size)):
        yield part


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else repr(value)
