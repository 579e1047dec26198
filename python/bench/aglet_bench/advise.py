"""Which bootstrap to use: what is wanted of it, and the ranking of all that fit. Each family has its own advice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from aglet.errors import ParameterError
from aglet_bench.reproduce import load

__all__ = ["VALUES", "Refreshing", "Wish", "other_family", "rank", "split"]

VALUES = ("real", "complex", "sign", "bits", "integers", "comparisons", "tables")


class Ranked(Protocol):
    """What the ways of every family have in common, for ranking."""

    @property
    def total_seconds(self) -> float:
        """The seconds for all values."""

    @property
    def seconds_per_value(self) -> float:
        """The seconds for one of many values."""

    @property
    def memory_bytes(self) -> int:
        """The peak memory in bytes."""

    @property
    def seconds_measured(self) -> bool:
        """Whether the time is measured; otherwise it is modelled."""


_Way = TypeVar("_Way", bound=Ranked)


class Refreshing:
    """Mixed into advice: what follows from one bootstrap and their number."""

    level_in: int
    level_out: int
    seconds: float
    bootstraps: int

    @property
    def levels(self) -> int:
        """The multiplications until the next bootstrap. Some bootstraps begin above level 0."""
        return self.level_out - self.level_in

    @property
    def total_seconds(self) -> float:
        """The seconds until all values are refreshed."""
        return self.bootstraps * self.seconds


@dataclass(frozen=True)
class Wish:
    """What a bootstrap is needed for."""

    slots: int
    """The number of values to refresh."""
    bits: float
    """The precision: -log2 of the mean error of values of size 1."""
    levels: int
    """The multiplications between two bootstraps."""
    values: str = "real"
    throughput: bool = False
    """Rank by the time per value of full ciphertexts instead of the time until these values are refreshed."""
    memory_bytes: float | None = None

    def __post_init__(self) -> None:
        if self.values not in VALUES:
            raise ParameterError(f'There are no values "{self.values}"; choose one of {", ".join(VALUES)}.')
        if self.slots < 1 or self.levels < 0 or not 0 < self.bits < math.inf:
            raise ParameterError(
                "advise needs at least one slot, a positive number of bits, and a number of levels from 0."
            )


def rank(wish: Wish, found: list[_Way]) -> list[_Way]:
    """Sort the ways, the best first."""

    def cost(advice: _Way) -> tuple[float, float]:
        return advice.seconds_per_value if wish.throughput else advice.total_seconds, advice.memory_bytes

    return sorted(found, key=cost)


def other_family(wish: Wish) -> list[str]:
    """The published advice for integers; empty for other values."""
    if wish.values != "integers":
        return []
    rows = {row.name: row.published for row in load("demystifying").rows}
    thin, full = rows["BGV/1024/1"], rows["BGV/1024/16"]
    return [
        "Integers: IntegerEngine computes exactly (BGV and BFV); with Engine you round the results yourself. "
        f"Published for 1024 values: {thin['seconds']['1']:g} s with 1 bit, {full['seconds']['1']:g} s with 16 bits "
        "(HElib)."
    ]


def split(found: Sequence[Ranked]) -> tuple[int, int]:
    """The number of measured and of modelled times."""
    measured = sum(advice.seconds_measured for advice in found)
    return measured, len(found) - measured
