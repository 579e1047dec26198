"""The lists that a batch writes beside its results: `_manifest.jsonl`, and `_failed.jsonl` if something failed."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from aglet.batch.folders import OWN, Spare
from aglet.batch.places import Place, checksum
from aglet.batch.results import Failure, Outcome, Report
from aglet.errors import ParameterError, SerializationError

__all__ = ["FAILED", "MANIFEST", "Ledger"]

MANIFEST, FAILED = OWN
_AT_ONCE = 8
_OFTEN_S = 1.0
_LINE = 512
"""The most bytes of a line without the name. The name of a node has at most 255."""


class Ledger:
    """The results by name: their source and their job. It is kept in step with the folder of results.

    Parameters
    ----------
    job
        An identifier of the work: method, options and keys. Results of another job are not mixed with these.
    """

    def __init__(self, source: Place, target: Place, job: str, overwrite: bool) -> None:
        self._source, self._target, self._job = source, target, job
        self._lines: dict[str, dict[str, Any]] = {} if overwrite else self._kept()
        self._failures: list[Failure] = []
        self._times: dict[str, list[float]] = defaultdict(list)
        self._start = self._saved = time.monotonic()
        self._took = 0.0
        self._skipped = 0
        self._spare: Spare | None = None
        self._changed = False

    def _kept(self) -> dict[str, dict[str, Any]]:
        lines: dict[str, dict[str, Any]] = {}
        for text in (self._target.read_if_there(MANIFEST) or b"").decode(errors="replace").splitlines():
            try:
                line = json.loads(text)
                lines[str(line["name"])] = line
            except RecursionError as error:
                raise SerializationError(
                    f"The {MANIFEST} in {self._target.url!a} was not written by a batch; give another folder, or "
                    "--overwrite (overwrite=True) to make all results again."
                ) from error
            except (ValueError, TypeError, KeyError):
                # Its result is made again.
                continue
        others = [name for name, line in lines.items() if line.get("job") != self._job]
        if others:
            raise ParameterError(
                f"{self._target.url!a} holds results of another method or other keys, for example {others[0]!a}; give "
                "another folder, or --overwrite (overwrite=True) to make them again."
            )
        return lines

    def left(self, units: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The units that still have to be done.

        A result counts as done if its checksum fits and its source is unchanged.
        """
        every = list(units)
        known = [name for unit in every for name in unit if name in self._lines]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            fine = {name for name, fits in zip(known, threads.map(self._fits, known), strict=True) if fits}
        todo = [unit for unit in every if not fine.issuperset(unit)]
        for unit in todo:
            for name in unit:
                self._lines.pop(name, None)
        self._skipped = sum(map(len, every)) - sum(map(len, todo))
        return todo

    def _fits(self, name: str) -> bool:
        line = self._lines[name]
        try:
            if line.get("stamp") != self._source.stamp(name):
                return False
            data = self._target.read_if_there(name)
        except OSError:
            # The work says what is wrong, if it still is then.
            return False
        return data is not None and checksum(data) == line.get("sha256")

    def begin(self, names: Iterable[str]) -> None:
        """Make sure, before the work, that the final lists can be written.

        Raises
        ------
        OSError
            If nothing can be written there.
        """
        self._changed = True
        if self._target.local is None:
            self.save()
            return
        size = sum(_LINE + len(json.dumps(name)) for name in itertools.chain(self._lines, names))
        self._spare = Spare(self._target.local, size)

    def refuse(self, name: str, why: str) -> None:
        """Note an entry that is not a ciphertext, without trying it."""
        self._failures.append(Failure(name, why, "", 0))

    def add(self, outcome: Outcome) -> None:
        """Note an outcome, and write the lists now and then."""
        if outcome.error is not None:
            self._failures.append(Failure(outcome.name, outcome.error, outcome.node, outcome.tries))
        else:
            self._lines[outcome.name] = {
                "name": outcome.name,
                "sha256": outcome.checksum,
                "node": outcome.node,
                "seconds": round(outcome.seconds, 4),
                "tries": outcome.tries,
                "stamp": outcome.stamp,
                "job": self._job,
            }
            self._times[outcome.node].append(outcome.seconds)
        # A store takes whole files only: so seldom that writing takes a twentieth of the time at most.
        if time.monotonic() - self._saved > max(_OFTEN_S, 20 * self._took):
            # Where it cannot be written, results cannot either, which stops the batch; at its end there is the spare.
            with contextlib.suppress(OSError):
                self.save()
            self._saved = time.monotonic()

    def save(self) -> None:
        """Write both lists."""
        start = time.monotonic()
        self._target.write(MANIFEST, self._manifest())
        if self._failures:
            self._target.write(FAILED, _text(asdict(one) for one in self._sorted()))
        else:
            self._target.remove(FAILED)
        self._saved = time.monotonic()
        self._took = self._saved - start

    def close(self) -> None:
        """Write both lists for the last time, also on a full disk. Unchanged lists are not written again."""
        if not (self._changed or self._failures or self._target.read_if_there(FAILED) is not None):
            return
        try:
            self.save()
        except OSError:
            if self._spare is None or self._target.local is None:
                raise
            self._spare.put(f"{self._target.local}/{MANIFEST}", self._manifest())
        finally:
            if self._spare is not None:
                self._spare.free()

    def _manifest(self) -> bytes:
        return _text(line for _, line in sorted(self._lines.items()))

    def _sorted(self) -> list[Failure]:
        return sorted(self._failures, key=lambda one: one.name)

    def report(self, ignored: Iterable[str]) -> Report:
        """The report of what was done and what was left out."""
        by_node = {node: (len(times), sum(times) / len(times)) for node, times in self._times.items()}
        seconds = time.monotonic() - self._start
        done = sum(map(len, self._times.values()))
        return Report(done, self._skipped, tuple(self._sorted()), seconds, by_node, tuple(ignored))


def _text(lines: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()
