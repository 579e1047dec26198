"""The data for workers and from workers, and the report of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aglet.batch.places import Place

__all__ = ["Failure", "Group", "Outcome", "Report", "Task", "ignored_sentence"]


@dataclass(frozen=True)
class Task:
    """The common part of all groups of one batch."""

    number: int
    source: Place | None
    """The place that workers read from; None if groups bring their ciphertexts."""
    target: Place | None
    """The place that workers write to; None if outcomes bring the results."""


@dataclass(frozen=True)
class Group:
    """Ciphertexts that a worker processes together."""

    first: int
    """The place of the first ciphertext in the batch. The others follow."""
    names: tuple[str, ...]
    given: tuple[Any, ...] | None = None
    """The ciphertexts, if the worker does not read them."""
    tries: int = 1
    task: int = 0
    """The number of the batch."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one ciphertext."""

    name: str
    at: int
    """Its place in the batch. Names of a stream may repeat."""
    node: str
    seconds: float
    """The seconds of the group, divided by its ciphertexts."""
    checksum: str = ""
    """The SHA-256 of the result."""
    stamp: str = ""
    """The SHA-256 of the source file."""
    result: Any = field(default=None, repr=False)
    """The result, if the worker did not write it."""
    error: str | None = None
    fault: str = ""
    """The cause, if it may not be the ciphertext: "options", "missing" (a key), "stranger" (keys of another secret
    key), "full" (nothing can be written any more), "unwritten".
    """
    tries: int = 1


@dataclass(frozen=True)
class Failure:
    """A ciphertext without a result, and the reason."""

    name: str
    error: str
    node: str
    tries: int


@dataclass(frozen=True)
class Report:
    """The report of a batch."""

    done: int
    """The number of ciphertexts that were processed."""
    skipped: int
    """The number of ciphertexts that had a result already, with a fitting checksum."""
    failures: tuple[Failure, ...]
    seconds: float
    by_node: Mapping[str, tuple[int, float]]
    """For each node the number of its ciphertexts, and the seconds for each."""
    ignored: tuple[str, ...] = ()
    """Entries of the source that were left out because their names begin with `_` or `.`. Names of folders end with a
    slash.
    """


def ignored_sentence(names: Sequence[str]) -> str:
    """The entries that were left out, as a sentence."""
    what = f"1 entry, {names[0]!a}," if len(names) == 1 else f"{len(names)} entries, the first {names[0]!a},"
    return f"{what} left out, because a batch ignores names that begin with _ or a dot."
