"""Choices of a program, taken from one string of bytes that hypothesis draws.

A draw for each choice would take a quarter of a millisecond, forty times a program. And of a program with two draws of
a kind hypothesis makes five more, with one of both in the place of the other: of six programs one would be new. A
string that is wrong is made smaller as all that hypothesis draws; a zero in it is the first choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

__all__ = ["Draws", "draws", "seed"]

_T = TypeVar("_T")
_BYTES = 2
"""Of a choice."""


class Draws:
    """Choices, one after the other."""

    def __init__(self, of: bytes) -> None:
        self._of, self._at = of, 0

    def _below(self, count: int) -> int:
        taken = self._of[self._at : self._at + _BYTES]
        self._at += _BYTES
        return int.from_bytes(taken, "big") % count

    def integer(self, least: int, most: int) -> int:
        """A whole number of at most 16 bits from `least` to `most`."""
        return least + self._below(most - least + 1)

    def flag(self) -> bool:
        """False or True."""
        return self._below(2) == 1

    def one_of(self, choices: Sequence[_T]) -> _T:
        """One of these."""
        return choices[self._below(len(choices))]

    def several(self, one: Callable[[], _T], least: int, most: int) -> list[_T]:
        """So many of what is drawn by calls of `one`."""
        return [one() for _ in range(self.integer(least, most))]


def draws(data: Any, parts: int = 1, choices: int = 48) -> list[Draws]:
    """The parts of a program, each with its choices, so that one may become simpler and the others stay.

    Choices after so many are the first one.
    """
    size = _BYTES * choices
    of: bytes = data.draw(st.binary(min_size=size * parts, max_size=size * parts))
    return [Draws(of[size * i : size * (i + 1)]) for i in range(parts)]


def seed(data: Any) -> int:
    """A seed of 64 bits, all as likely: of integers hypothesis prefers small ones, which soon come again."""
    return int.from_bytes(data.draw(st.binary(min_size=8, max_size=8)), "big")
