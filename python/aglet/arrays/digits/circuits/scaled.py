"""Products of numbers with a fraction: the exact product, of which the lowest bits are cut off."""

from __future__ import annotations

from collections.abc import Sequence

from aglet.arrays.digits.circuits.bits import sign_digit, window
from aglet.arrays.digits.circuits.products import terms, weighted
from aglet.arrays.digits.circuits.sums import columns
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import ZERO, AnyDigit, Sum, constant, uniform

__all__ = ["multiply_scaled"]


def _high_bit(digit: int) -> int:
    return digit >> 1


def _less(view: int) -> int:
    """3 less a digit times a flag, of 4 flag + digit: what taking it off adds."""
    return 3 - (view >> 2) * (view & 3)


def multiply_scaled(
    m: Machine, x: Sequence[AnyDigit], y: Sequence[AnyDigit], bits: int, signed: bool
) -> list[AnyDigit]:
    """The digits of floor(x y / 2^bits), modulo 4^n for numbers of n digits. `bits` is at most 2n."""
    n = len(x)
    for one, other in ((x, y), (y, x)):
        known = [uniform(digit) for digit in other]
        if None not in known:
            return _times(m, one, sum(digit << (2 * at) for at, digit in enumerate(known) if digit), bits, signed)
    count = n + (bits + 1) // 2
    zeros = [ZERO] * (count - n)
    found = terms(m, [*x, *zeros], [*y, *zeros])
    if signed and count > n:
        _correct(m, found, x, y)
    return window(m, columns(m, [column or [ZERO] for column in found]), bits, n)


def _times(m: Machine, x: Sequence[AnyDigit], word: int, bits: int, signed: bool) -> list[AnyDigit]:
    """The same for a word in the clear, the same one for all elements."""
    n = len(x)
    if signed and word >> (2 * n - 1):
        word -= 1 << (2 * n)
    while bits and word and not word % 2:
        # Zeros at the end of the word are as many bits less to cut off.
        word, bits = word // 2, bits - 1
    if not word:
        return [ZERO] * n
    fill: AnyDigit = sign_digit(m, x) if signed and bits else ZERO
    count = n + (bits + 1) // 2
    return window(m, weighted(m, [[*x, *[fill] * (count - n)]], [word]), bits, n)


def _correct(m: Machine, found: list[list[AnyDigit]], x: Sequence[AnyDigit], y: Sequence[AnyDigit]) -> None:
    """Take off what a product of unsigned numbers has too much: each number at 4^n, where the other is negative."""
    n = len(x)
    more = len(found) - n
    [flags] = m.read([Sum.of((one[-1], 1)) for one in (x, y)], _high_bit)
    pairs = [(flag, other) for flag, other in zip(flags, (y, x), strict=True) if uniform(flag) != 0]
    if not pairs:
        return
    [digits] = m.read([Sum.of((flag, 4), (digit, 1)) for flag, other in pairs for digit in other[:more]], _less)
    for at, digit in enumerate(digits):
        found[n + at % more].append(digit)
    found[n].append(constant(len(pairs)))
