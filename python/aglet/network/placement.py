"""Where bootstraps stand: the cheapest levels of all steps of a network, by dynamic programming over its graph.

A part of a network has a table: the least cost of going from a ciphertext at one level to the result at another. Parts
one behind another are a product of their tables in the min-plus semiring. Branches that meet again are a sum, entry by
entry, as they begin and end at the same levels. So the result is exact for series-parallel graphs, which residual
networks are. Fhelipe (PLDI 2024) and Orion (ASPLOS 2025) place bootstraps along paths; a table for each part does not
need to fix the levels between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aglet.errors import LevelError, ParameterError

__all__ = ["Edge", "Join", "Parallel", "Part", "Placed", "Series", "best", "reduced", "refresh"]

Table = NDArray[np.float64]
"""Costs by the level of the input and the level of the result; infinite where there is no way."""


class Placed(NamedTuple):
    """A step of a program at its levels."""

    step: Any
    """What an edge or a join carries; None for a change of level, which is a bootstrap if it goes up."""
    level_in: int
    level_out: int


class Part(ABC):
    """A part of a network with one input and one result."""

    table: Table

    @abstractmethod
    def walk(self, start: int, end: int) -> Iterator[Placed]:
        """The cheapest steps between these levels, in an order in which they can run."""

    @abstractmethod
    def run(self, value: Any, levels: tuple[int, int], do: Callable[[Placed, Sequence[Any]], Any]) -> Any:
        """Run the cheapest steps on a value; `do` makes the result of a step from its inputs."""


@dataclass(frozen=True, eq=False)
class Edge(Part):
    """One step."""

    step: Any
    table: Table

    @classmethod
    def of(cls, step: Any, depth: int, cost: Callable[[int], float], levels: int) -> Edge:
        """A step that uses `depth` levels, for ciphertexts of at most `levels` levels."""
        table = np.full((levels + 1, levels + 1), np.inf)
        for level in range(depth, levels + 1):
            table[level, level - depth] = cost(level)
        return cls(step, table)

    def walk(self, start: int, end: int) -> Iterator[Placed]:
        if start != end or self.step is not None:
            yield Placed(self.step, start, end)

    def run(self, value: Any, levels: tuple[int, int], do: Callable[[Placed, Sequence[Any]], Any]) -> Any:
        for placed in self.walk(*levels):
            value = do(placed, [value])
        return value


def refresh(bootstrap: Callable[[int], float], most: int, levels: int) -> Edge:
    """A change of level: downwards for free, upwards by a bootstrap to at most level `most`; its cost is by that level.

    A bootstrap to the same level would change nothing.
    """
    table = np.full((levels + 1, levels + 1), np.inf)
    for level in range(levels + 1):
        table[level, : level + 1] = 0.0
        for target in range(level + 1, most + 1):
            table[level, target] = bootstrap(target)
    return Edge(None, table)


@dataclass(frozen=True, eq=False)
class Series(Part):
    """Two parts one behind another."""

    first: Part
    second: Part
    table: Table
    between: NDArray[np.int64]
    """The level between them."""

    @classmethod
    def of(cls, first: Part, second: Part) -> Series:
        sums = first.table[:, :, None] + second.table[None]
        return cls(first, second, sums.min(axis=1), sums.argmin(axis=1))

    def walk(self, start: int, end: int) -> Iterator[Placed]:
        middle = int(self.between[start, end])
        yield from self.first.walk(start, middle)
        yield from self.second.walk(middle, end)

    def run(self, value: Any, levels: tuple[int, int], do: Callable[[Placed, Sequence[Any]], Any]) -> Any:
        middle = int(self.between[levels])
        return self.second.run(self.first.run(value, (levels[0], middle), do), (middle, levels[1]), do)


@dataclass(frozen=True)
class Join:
    """How the branches that meet in a vertex become one value."""

    step: Any
    depth: int
    cost: Callable[[int], float]
    """By the level at which they meet."""


@dataclass(frozen=True, eq=False)
class Parallel(Part):
    """Two branches from one value that meet at one level and become one value."""

    left: Part
    right: Part
    join: Join
    table: Table

    @classmethod
    def of(cls, left: Part, right: Part, join: Join) -> Parallel:
        both = left.table + right.table
        both += np.array([join.cost(level) for level in range(both.shape[1])])
        table = np.full_like(both, np.inf)
        table[:, : both.shape[1] - join.depth] = both[:, join.depth :]
        return cls(left, right, join, table)

    def walk(self, start: int, end: int) -> Iterator[Placed]:
        meet = end + self.join.depth
        yield from self.left.walk(start, meet)
        yield from self.right.walk(start, meet)
        yield Placed(self.join.step, meet, end)

    def run(self, value: Any, levels: tuple[int, int], do: Callable[[Placed, Sequence[Any]], Any]) -> Any:
        meet = levels[1] + self.join.depth
        branches = [part.run(value, (levels[0], meet), do) for part in (self.left, self.right)]
        return do(Placed(self.join.step, meet, levels[1]), branches)


def reduced(
    edges: Sequence[tuple[Hashable, Hashable, Part]], joins: dict[Hashable, Join], source: Hashable, sink: Hashable
) -> Part:
    """The one part that a graph is, by series and parallel reductions. Edges are (from, to, part).

    Raises
    ------
    ParameterError
        If the graph is not series-parallel.
    """
    left = list(edges)
    while len(left) > 1:
        if not (_joined(left, joins) or _chained(left, source, sink)):
            raise ParameterError(
                "The branches of this network cross, and bootstraps are placed where branches begin and meet in pairs, "
                "as those of residual blocks do; write it so, or cut it into networks."
            )
    return left[0][2]


def _joined(edges: list[tuple[Hashable, Hashable, Part]], joins: dict[Hashable, Join]) -> bool:
    """Join two branches between the same vertices, if there are any."""
    seen: dict[tuple[Hashable, Hashable], int] = {}
    for number, (start, end, part) in enumerate(edges):
        if (start, end) in seen:
            other = edges[seen[start, end]][2]
            edges[seen[start, end]] = (start, end, Parallel.of(other, part, joins[end]))
            del edges[number]
            return True
        seen[start, end] = number
    return False


def _chained(edges: list[tuple[Hashable, Hashable, Part]], source: Hashable, sink: Hashable) -> bool:
    """Chain the edges of a vertex that has one on each side, if there is one."""
    for number, (start, middle, part) in enumerate(edges):
        into = [edge for edge in edges if edge[1] == middle]
        out = [place for place, edge in enumerate(edges) if edge[0] == middle]
        if middle not in (source, sink) and len(into) == len(out) == 1:
            _, end, behind = edges[out[0]]
            edges[number] = (start, end, Series.of(part, behind))
            del edges[out[0]]
            return True
    return False


def best(part: Part, most: int, least: int = 0) -> tuple[int, int]:
    """The levels of the cheapest start, at most `most`, and of the result, at least `least`.

    Of equal ones, the lowest start.

    Raises
    ------
    LevelError
        If there is no way: a step uses more levels than a bootstrap leaves, or there is no bootstrap.
    """
    table = part.table[: most + 1, least:]
    if not np.isfinite(table).any():
        raise LevelError(
            "No placement of bootstraps has enough levels for this network; take an engine that bootstraps, or fit "
            "functions with a smaller degree="
        )
    start, end = np.unravel_index(int(table.argmin()), table.shape)
    return int(start), least + int(end)
