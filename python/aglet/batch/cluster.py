"""Workers on the nodes of a Ray cluster, one process per node. Nodes may come and go."""

from __future__ import annotations

import functools
import queue
import socket
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from aglet.batch.results import Group, Outcome, Task
from aglet.batch.runners import AHEAD, Finished, Lost
from aglet.batch.worker import Recipe, Worker
from aglet.errors import AgletError, DeviceError, ParameterError

__all__ = ["Cluster"]

_T = TypeVar("_T")

_CONNECT_S = 5.0
_WAIT_S = 0.5
_LOOK_S = 1.0
"""Seconds between two looks at the list of nodes."""
_PATIENCE_S = 60.0
"""Seconds that a cluster may be without a worker."""
_TRIES = 3
"""Attempts to start a worker on a node."""
_LATE_S, _OPENING_S = 30.0, 600.0
"""Seconds that a worker may take to start and read the keys until a warning, and until it is given up."""
_WORRY_S, _SILENCE_S = 5.0, 25.0
"""Seconds without an answer of the head node until a warning, and until the batch ends. Ray itself says nothing for a
minute, and then ends the process.
"""


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ParameterError(
            'A cluster needs Ray, which is not installed; run pip install "ray>=2.40", or leave the address out.'
        ) from error
    return ray


def _answers(address: str) -> None:
    """Whether a server answers at this address. Ray itself would try for minutes, and then end the process."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), _CONNECT_S).close()


class _Started:
    """The Ray actor: a worker that starts without keys, so that an error in them comes back as a sentence."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def open(self, recipe: Recipe, threads: int, node: str) -> None:
        self._worker = Worker(recipe, threads, node)

    def run(self, group: Group, task: Task) -> list[Outcome] | Lost:
        assert self._worker is not None, "open comes first"
        try:
            return self._worker.run(group, task)
        except AgletError as error:
            return Lost(str(error))

    def stop(self, task: Task) -> None:
        assert self._worker is not None, "open comes first"
        self._worker.stop(task)


@dataclass
class _Actor:
    handle: Any
    node: str
    opening: Any
    """The call that reads the keys; None after it has finished."""
    since: float = field(default_factory=time.monotonic)
    warned: bool = False
    flying: dict[Any, Group] = field(default_factory=dict)

    def calls(self) -> list[Any]:
        return [*self.flying, *([self.opening] if self.opening is not None else [])]


class _Line:
    """Runs calls of Ray one after the other on a thread of their own, so that a call that never returns is noticed."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._asked: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self.dead = False
        # A daemon: nobody waits at the end for what will not return.
        threading.Thread(target=self._serve, name="aglet-ray", daemon=True).start()

    def _serve(self) -> None:
        while True:
            call, future = self._asked.get()
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

    def ask(self, call: Callable[[], _T]) -> _T:
        """The result of a call.

        Raises
        ------
        DeviceError
            If the cluster does not answer for too long.
        """
        if self.dead:
            raise DeviceError(f"The head node of the cluster at {self._address} does not answer; start it again.")
        future: Future[Any] = Future()
        self._asked.put((call, future))
        for patience in (_WORRY_S, _SILENCE_S - _WORRY_S):
            done, _ = wait([future], patience)
            if done:
                return cast(_T, future.result())
            if patience == _WORRY_S:
                warnings.warn(
                    f"The head node of the cluster at {self._address} has not answered for {_WORRY_S:.0f} s; if it "
                    f"does not answer, the batch ends in {_SILENCE_S - _WORRY_S:.0f} s.",
                    RuntimeWarning,
                    stacklevel=4,
                )
        self.dead = True
        raise DeviceError(
            f"The head node of the cluster at {self._address} has not answered for {_SILENCE_S:.0f} s. The results so "
            "far are kept; start the cluster again and run the batch again to continue."
        )


class Cluster:
    """The nodes of a Ray cluster, each with the given number of workers, which share its cores."""

    def __init__(self, recipe: Recipe, address: str, actors_per_node: int) -> None:
        self._ray, self._line = _ray(), _Line(address)
        try:
            _answers(address)
            start = functools.partial(self._ray.init, address=address, ignore_reinit_error=True)
            self._line.ask(functools.partial(start, log_to_driver=False, logging_level="error"))
        except (OSError, ValueError) as error:
            raise ParameterError(
                f"There is no Ray cluster at {address!a}: {error}. Start one with ray start --head, and give its "
                "address."
            ) from error
        self._recipe, self._per_node = recipe, actors_per_node
        self._actors: list[_Actor] = []
        self._refused: dict[str, list[str]] = {}
        self._looked, self._seen = 0.0, time.monotonic()
        self._remote = self._ray.remote(max_restarts=0, max_task_retries=0)(_Started)
        self._back: Finished = []
        self._line.ask(self._look)

    @property
    def room(self) -> int:
        """The number of groups that workers with keys can take now."""
        most = self._recipe.streams + AHEAD
        return sum(most - len(actor.flying) for actor in self._actors if actor.opening is None)

    @property
    def busy(self) -> int:
        """The number of groups that are being computed, or were lost and not yet returned."""
        return sum(len(actor.flying) for actor in self._actors) + len(self._back)

    def submit(self, group: Group, task: Task) -> None:
        """Give a group to the worker with the fewest groups."""
        actor = min((one for one in self._actors if one.opening is None), key=lambda one: len(one.flying))

        def fly() -> None:
            actor.flying[actor.handle.run.remote(group, task)] = group

        self._line.ask(fly)

    def finished(self) -> Finished:
        """Return the groups that are done or lost, after checking for nodes and workers that came or went.

        Raises
        ------
        DeviceError
            If no worker could start, none was left for a minute, or the head node does not answer.
        """
        self._line.ask(self._wait)
        found, self._back = self._back, []
        return found

    def _wait(self) -> None:
        """Wait for calls to end. Nothing is lost if Ctrl-C comes meanwhile."""
        if time.monotonic() - self._looked > _LOOK_S:
            self._look()
        calls = {call: actor for actor in self._actors for call in actor.calls()}
        if calls:
            self._ray.wait(list(calls), num_returns=1, timeout=_WAIT_S)
            for call in self._ray.wait(list(calls), num_returns=len(calls), timeout=0)[0]:
                self._take(calls[call], call)
        else:
            time.sleep(_WAIT_S)

    def _take(self, actor: _Actor, call: Any) -> None:
        """Take the result of a call that ended."""
        if actor not in self._actors:
            return
        try:
            result = self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            self._ended(actor, str(getattr(error, "cause", error)), call is actor.opening)
        except self._ray.exceptions.RayError as error:
            self._ended(
                actor, f"The worker on {actor.node} was lost: {str(error).splitlines()[0]}", call is actor.opening
            )
        else:
            if call is actor.opening:
                actor.opening = None
            else:
                self._back.append((actor.flying.pop(call), result))

    def _ended(self, actor: _Actor, why: str, opening: bool) -> None:
        """Handle the end of a worker: its groups go back, and another worker starts in its place."""
        self._actors.remove(actor)
        self._back += [(group, Lost(why)) for group in actor.flying.values()]
        self._ray.kill(actor.handle, no_restart=True)
        if opening:
            self._refused.setdefault(actor.node, []).append(why)

    def _look(self) -> None:
        """Start workers on nodes that have none, and raise an error if that is hopeless."""
        self._looked = time.monotonic()
        for actor in [one for one in self._actors if one.opening is not None]:
            self._check_start(actor)
        alive = [node for node in self._ray.nodes() if node["Alive"] and self._workers(node["Resources"])]
        for node in alive:
            name, workers = str(node["NodeID"]), self._workers(node["Resources"])
            here = sum(actor.node == name for actor in self._actors)
            if len(self._refused.get(name, ())) < _TRIES:
                for _ in range(workers - here):
                    self._start(name, int(node["Resources"]["CPU"]) // workers)
        if self._actors:
            self._seen = time.monotonic()
            return
        reasons = {why for some in self._refused.values() for why in some if why}
        if reasons and all(len(self._refused.get(str(node["NodeID"]), ())) >= _TRIES for node in alive):
            raise DeviceError(f"No worker of the cluster could start: {'; '.join(sorted(reasons))}")
        if time.monotonic() - self._seen > _PATIENCE_S:
            raise DeviceError(
                f"The cluster has had no worker for a minute; add a node with free {self._wanted}, and run the batch "
                "again to continue."
            )

    def _workers(self, resources: Mapping[str, float]) -> int:
        """How many workers a node with these resources has: each has a core or more, and its card."""
        cores = int(resources.get("CPU", 0))
        if self._recipe.mode == "gpu":
            return min(int(resources.get("GPU", 0)), cores)
        return self._per_node if cores >= self._per_node else 0

    @property
    def _wanted(self) -> str:
        return "cards and cores" if self._recipe.mode == "gpu" else "cores"

    def _check_start(self, actor: _Actor) -> None:
        """Warn of a worker that does not start, and give it up in the end: Ray would wait forever for a free core."""
        took = self._looked - actor.since
        if took > _OPENING_S:
            self._refused[actor.node] = [""] * (_TRIES - 1)
            self._ended(
                actor,
                f"The worker on {actor.node[:12]} has not started for {_OPENING_S:.0f} s. Free the cores of that node "
                "(ray status shows who holds them), or make sure that it can read the keys",
                opening=True,
            )
        elif took > _LATE_S and not actor.warned:
            actor.warned = True
            warnings.warn(
                f"The worker on {actor.node[:12]} has not started for {_LATE_S:.0f} s: other programs hold the cores "
                f"of that node, or reading the keys takes long. It is given up after {_OPENING_S:.0f} s.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _start(self, node: str, threads: int) -> None:
        where = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        most = self._recipe.streams + AHEAD + 1
        # Of all cards a worker sees the one that Ray gives it, as number 0.
        words: dict[str, Any] = {"num_gpus": 1} if self._recipe.mode == "gpu" else {}
        words |= {"num_cpus": threads, "max_concurrency": most, "scheduling_strategy": where}
        handle = self._remote.options(**words).remote()
        self._actors.append(_Actor(handle, node, handle.open.remote(self._recipe, threads, node[:12])))

    def stop(self, task: Task) -> None:
        """Start no more groups of this batch."""
        for actor in self._actors:
            if actor.opening is None:
                self._line.ask(functools.partial(actor.handle.stop.remote, task))

    def close(self) -> None:
        """Stop the workers. The connection stays, because the program may own it."""
        for actor in [] if self._line.dead else self._actors:
            self._line.ask(functools.partial(self._ray.kill, actor.handle, no_restart=True))
        self._actors = []
