"""Clipping to the numbers of a few digits, without a comparison: digits beyond them say what lies outside."""

from __future__ import annotations

from collections.abc import Sequence

from aglet.arrays.digits.circuits.bits import sign_bit
from aglet.arrays.digits.circuits.shifts import nonzero
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import ZERO, AnyDigit, Sum

__all__ = ["saturate"]


def _saturated(view: int) -> int:
    """Of a digit plus 4 for a number that is too large, and 8 for one below 0: the digit, 3 or 0."""
    return view if view < 4 else 3 if view < 8 else 0


def saturate(m: Machine, x: Sequence[AnyDigit], count: int, signed: bool = False) -> list[AnyDigit]:
    """The number from 0 to 4^count - 1 that is nearest to x: one bootstrap for each of these digits, and a few."""
    beyond = nonzero(m, x[count:])
    # A number below 0 has a digit beyond, which counts 4 already.
    below = sign_bit(m, x) if signed else ZERO
    totals = [Sum.of((digit, 1), (beyond, 4), (below, 4)) for digit in x[:count]]
    return [*m.read(totals, _saturated)[0], *[ZERO] * (len(x) - count)]
