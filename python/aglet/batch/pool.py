"""`Pool`: one operation on many ciphertexts, from one place to another or as a stream."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aglet import checks
from aglet.batch.clock import Clock
from aglet.batch.folders import alone
from aglet.batch.halts import HaltError, Watch
from aglet.batch.keys import read_index
from aglet.batch.ledger import Ledger
from aglet.batch.methods import method_of
from aglet.batch.places import Place
from aglet.batch.results import Failure, Group, Outcome, Report, Task, ignored_sentence
from aglet.batch.runners import Local, Runner
from aglet.batch.schedule import Schedule
from aglet.batch.targets import refuse_unfit
from aglet.batch.worker import Recipe
from aglet.errors import AgletError, ParameterError
from aglet.progress import ProgressCallback, progress_bar, silent

__all__ = ["BatchError", "Pool"]


_WORKERS = {"streams": 1, "actors_per_node": 1, "retries": 3}
"""Further arguments by name, with their defaults."""


class BatchError(AgletError):
    """Some ciphertexts of a batch failed. The results of all others were returned before."""

    def __init__(self, failures: tuple[Failure, ...]) -> None:
        self.failures = failures
        first = failures[0]
        super().__init__(f"{len(failures)} of the ciphertexts failed; the first is {first.name!a}: {first.error}")


class Pool:
    """Workers with keys and a method. Use a pool in a `with` block, for one batch or several.

    Parameters
    ----------
    keys
        The folder or fsspec url from `KeySet.save`. On a cluster every node reads it. Secret keys are never read.
    method
        The operation; `methods()` lists them: "regular" and the other bootstraps, "integer", gates, tables.
    address
        None for this process, else the address of a Ray cluster: "auto" or "ray://host:port".
    threads
        The threads of a worker in this process; 0 means all cores. On a cluster, the share of the cores that Ray has
        there.
    allow_insecure
        Accept keys of parameter sets below 128 bits. For tests only.
    mode
        "parallel" if not given: the cores. With "gpu" a worker computes on a card, up to 16 bootstraps at once; a
        cluster starts one for each card that Ray has on a node (`num_gpus=1`), which shares its cores.
    streams
        The groups of ciphertexts that a worker computes at the same time; 1 if not given. With two, the second uses the
        cores that the first leaves idle, and takes the memory of another bootstrap.
    actors_per_node
        The workers on each node of a cluster; 1 if not given, which is best unless a node has several memory domains
        (NUMA). Cards have one each.
    retries
        How often a group is given to another worker after one is lost, and how often a place that refuses is retried;
        3 if not given.
    options
        The options of the method: `bound=`, `real=`, `target_level=`, `iterations=`; `table=`.

    Raises
    ------
    ParameterError
        If there is no such method or mode, it does not take an option, or Ray is not installed.
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
        threads: int = 0,
        allow_insecure: bool = False,
        **options: Any,
    ) -> None:
        numbers = {name: checks.count(name, options.pop(name, default), 1) for name, default in _WORKERS.items()}
        mode = _mode(options.pop("mode", "parallel"), numbers["actors_per_node"])
        given = {name: value for name, value in options.items() if value is not None}
        self._method = method_of(checks.string("method", method), given)
        place = Place(keys)
        self._retries, self._actors = numbers["retries"], numbers["actors_per_node"]
        url = place.local or place.url
        insecure = checks.flag("allow_insecure", allow_insecure)
        self._recipe = Recipe(url, method, given, numbers["streams"], insecure, mode)
        self._together = self._method.together_on(mode)
        index = read_index(place)
        named = {"method": method, "options": given, "key_id": index.get("key_id", index.get("fhew_key_id"))}
        self._job = hashlib.sha256(json.dumps(named, sort_keys=True, default=_plain).encode()).hexdigest()[:16]
        self._address, self._threads = address, checks.count("threads", threads)
        self._runner: Runner | None = None
        self._schedule: Schedule | None = None
        self._numbers = itertools.count(1)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the workers and free the keys."""
        if self._runner is not None:
            self._runner.close()
            self._runner = self._schedule = None

    def _started(self) -> Runner:
        if self._runner is None:
            if self._address in (None, "local"):
                self._runner = Local(self._recipe, self._threads)
            else:
                from aglet.batch.cluster import Cluster

                self._runner = Cluster(self._recipe, str(self._address), self._actors)
        return self._runner

    def _outcomes(self, groups: Iterator[Group], task: Task, ordered: bool) -> Iterator[Outcome]:
        if self._schedule is None:
            self._schedule = Schedule(self._started(), self._together, self._method.unit, self._retries)
        return self._schedule.outcomes(groups, task, ordered)

    def _rest(self, task: Task) -> list[Outcome]:
        """Finish the groups that are being computed, and start no others of this batch."""
        return [] if self._schedule is None else list(self._schedule.rest(task))

    def run(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Report:
        """Process every ciphertext below one folder or url. Results get the same names below another.

        Results are written whole, and `_manifest.jsonl` in the target lists their checksums. A batch that was stopped
        continues where it ended: results whose checksums fit are kept. Ciphertexts that fail are listed in
        `_failed.jsonl`, and the others are done. Names that begin with `_` or `.` are left out, and the report lists
        them. After Ctrl-C the groups that are being computed are finished and written first; a second Ctrl-C drops
        them.

        Parameters
        ----------
        overwrite
            Make all results again, also those that exist.
        progress
            Called as `progress(done, total, what)`; `what` has the speed and the time that is left.

        Raises
        ------
        ParameterError
            If the target is the source or below it, if a result cannot have its name there, if another batch is writing
            there, or if it holds results of another method or other keys.
        MissingKeyError, KeyMismatchError
            If these keys fit none of the first ciphertexts.
        SerializationError
            If the manifest there was not written by a batch.
        OSError
            If one of the places cannot be reached, or nothing can be written any more. The results so far are kept.
        """
        begin, end = Place(source, self._retries), Place(target, self._retries)
        overwrite = checks.flag("overwrite", overwrite)
        listing = begin.listing()
        refuse_unfit(begin, end, listing, Place(self._recipe.keys))
        with alone(end.local):
            ledger = Ledger(begin, end, self._job, overwrite)
            for name, why in listing.refused.items():
                ledger.refuse(name, why)
            todo = ledger.left(_chunks(listing.names, self._method.unit))
            if todo:
                ledger.begin(name for unit in todo for name in unit)
            self._work(todo, Task(next(self._numbers), begin, end), ledger, progress)
        return ledger.report(listing.ignored)

    def _work(
        self, todo: Sequence[tuple[str, ...]], task: Task, ledger: Ledger, progress: ProgressCallback | None
    ) -> None:
        """Do the work, and note its end in any case."""
        watch = Watch()
        with progress_bar(progress) as report:
            clock = Clock(sum(map(len, todo)), self._method.name, report or silent)
            try:
                for outcome in self._outcomes(self._grouped(todo), task, False) if todo else ():
                    ledger.add(outcome)
                    clock.tick()
                    watch.look(outcome)
            except (KeyboardInterrupt, HaltError) as stop:
                for outcome in self._rest(task):
                    ledger.add(outcome)
                if isinstance(stop, HaltError):
                    raise stop.error from None
                raise
            finally:
                ledger.close()

    def stream(
        self, source: Any, *, ordered: bool = True, progress: ProgressCallback | None = None
    ) -> Iterator[tuple[str, Any]]:
        """Yield names and results while others are computed. Only a few are held in memory.

        Parameters
        ----------
        source
            A folder or url; a mapping of names to ciphertexts; or an iterable of (name, ciphertext), which is read as
            fast as results are taken.
        ordered
            Whether results come in the order of the source. Otherwise each comes when it is ready.

        Raises
        ------
        BatchError
            After the last result, if ciphertexts failed. Its `failures` lists them.
        """
        task, groups, total, failures = self._opened_source(source)
        clock, watch = Clock(total, self._method.name, progress or silent), Watch()
        try:
            for outcome in self._outcomes(groups, task, checks.flag("ordered", ordered)):
                clock.tick()
                if outcome.error is None:
                    yield outcome.name, outcome.result
                else:
                    failures.append(Failure(outcome.name, outcome.error, outcome.node, outcome.tries))
                watch.look(outcome)
        except HaltError:
            # The last failure says why.
            pass
        finally:
            # The consumer may have had enough, or it was Ctrl-C.
            self._rest(task)
        if failures:
            raise BatchError(tuple(failures))

    def _opened_source(self, source: Any) -> tuple[Task, Iterator[Group], int, list[Failure]]:
        """The common task, the groups, their number (0 if unknown), and the entries that are not ciphertexts."""
        number = next(self._numbers)
        if isinstance(source, str | os.PathLike):
            place = Place(source, self._retries)
            found = place.listing()
            if found.ignored:
                warnings.warn(ignored_sentence(found.ignored), stacklevel=3)
            groups = self._grouped(_chunks(found.names, self._method.unit))
            refused = [Failure(name, why, "", 0) for name, why in found.refused.items()]
            return Task(number, place, None), groups, len(found.names), refused
        pairs = source.items() if isinstance(source, Mapping) else source
        if not isinstance(pairs, Iterable):
            raise _no_source(source)
        total = len(source) if hasattr(source, "__len__") else 0
        return Task(number, None, None), self._grouped_pairs(pairs), total, []

    def _grouped(self, units: Iterable[tuple[str, ...]]) -> Iterator[Group]:
        first = 0
        for some in _chunks(units, self._together // self._method.unit):
            names = tuple(name for unit in some for name in unit)
            yield Group(first, names)
            first += len(names)

    def _grouped_pairs(self, pairs: Iterable[tuple[str, Any]]) -> Iterator[Group]:
        first = 0
        for some in _chunks(map(_pair, pairs), self._together):
            names = tuple(str(name) for name, _ in some)
            yield Group(first, names, tuple(one for _, one in some))
            first += len(names)


def _mode(given: Any, actors: int) -> str:
    """The mode of the engines of workers."""
    mode = checks.string("mode", given)
    if mode not in ("parallel", "gpu"):
        raise ParameterError(f'A batch has no mode "{mode}"; use "parallel" for the cores or "gpu" for cards.')
    if mode == "gpu" and actors != 1:
        raise ParameterError('With mode="gpu" each card has one worker; leave actors_per_node out.')
    return mode


def _pair(given: Any) -> tuple[Any, Any]:
    """A name and a ciphertext."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise _no_source(given)
    return given[0], given[1]


def _no_source(given: Any) -> TypeError:
    return TypeError(
        f"A stream takes a folder, a mapping of names to ciphertexts, or pairs of both, not {type(given).__name__} "
        "in their place; for a list write enumerate(ciphertexts)."
    )


def _chunks(some: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    rest = iter(some)
    while part := tuple(itertools.islice(rest, size)):
        yield part


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else repr(value)
