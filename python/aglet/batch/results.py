"""What goes to workers and comes back, and what a batch says at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aglet.batch.places import Place

__all__ = ["Failure", "Group", "Outcome", "Report", "Task", "ignored_sentence"]


@dataclass(frozen=True)
class Task:
    """What all groups of one batch share."""

    number: int
    source: Place | None
    """Where workers read; None: groups bring their ciphertexts."""
    target: Place | None
    """Where workers write; None: outcomes bring the results."""


@dataclass(frozen=True)
class Group:
    """Ciphertexts that a worker refreshes side by side."""

    first: int
    """The place of the first in the batch; the others follow."""
    names: tuple[str, ...]
    given: tuple[Any, ...] | None = None
    """The ciphertexts, where a worker does not read them."""
    tries: int = 1
    task: int = 0
    """The number of its batch."""


@dataclass(frozen=True)
class Outcome:
    """What became of one ciphertext."""

    name: str
    at: int
    """Its place in the batch: names of a stream may repeat."""
    node: str
    seconds: float
    """Of the group, over its ciphertexts."""
    checksum: str = ""
    """SHA-256 of the result."""
    stamp: str = ""
    """Of the file that it was made of."""
    result: Any = field(default=None, repr=False)
    """The ciphertext, where the worker did not write it."""
    error: str | None = None
    fault: str = ""
    """What else it may be the fault of than of the ciphertext: "options", "missing" (of keys), "stranger" (keys of
    another secret), "full" (nothing can be written any more), "unwritten"."""
    tries: int = 1


@dataclass(frozen=True)
class Failure:
    """A ciphertext without a result, and why."""

    name: str
    error: str
    node: str
    tries: int


@dataclass(frozen=True)
class Report:
    """The end of a batch."""

    done: int
    """Ciphertexts that were refreshed."""
    skipped: int
    """Those with a result from before, whose checksum fits."""
    failures: tuple[Failure, ...]
    seconds: float
    by_node: Mapping[str, tuple[int, float]]
    """For each node how many it did, and the seconds that each took."""
    ignored: tuple[str, ...] = ()
    """Entries of the source that were left out, as their names begin with `_` or `.`; folders end with a slash."""


def ignored_sentence(names: Sequence[str]) -> str:
    """What was left out, in words."""
    what = f"1 entry, {names[0]!a}," if len(names) == 1 else f"{len(names)} entries, the first {names[0]!a},"
    return f"{what} left out: names that begin with _ or . are not for a batch."
