"""Choices of a program, taken from a string of bytes: one draw of hypothesis, where each choice would cost a draw.

A draw takes a quarter of a millisecond, and a program on arrays has forty choices: ten milliseconds, more than its
ciphertexts take in the smallest ring. Strings are made smaller as all that hypothesis draws: fewer of them, and zeros
in them, each of which is the first choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

__all__ = ["Draws", "draws", "seed"]

_T = TypeVar("_T")
_BYTES = 128
"""In a string: two for each choice. What comes after its end is zeros."""


class Draws:
    """Choices, one after the other."""

    def __init__(self, of: bytes) -> None:
        self._of, self._at = of, 0

    def _below(self, count: int) -> int:
        taken = self._of[self._at : self._at + 2]
        self._at += 2
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


_STRINGS = st.binary(min_size=_BYTES, max_size=_BYTES).map(Draws)
_SEEDS = st.binary(min_size=8, max_size=8).map(lambda of: int.from_bytes(of, "big"))


def draws(data: Any, least: int, most: int) -> list[Draws]:
    """So many parts of a program, each with choices of its own."""
    found: list[Draws] = data.draw(st.lists(_STRINGS, min_size=least, max_size=most))
    return found


def seed(data: Any) -> int:
    """A seed of 64 bits, all as likely: of integers hypothesis prefers small ones, which soon come again."""
    found: int = data.draw(_SEEDS)
    return found
