"""AES on ciphertexts: exact integers modulo 65537 in slots, one ciphertext for the bits of all states.

A round, from the bits of the states to those of the next ones: eight ciphertexts, each with one bit of every byte in
all slots that need it; the products of all subsets of each half of them; the S-box and its multiples by MixColumns as a
multilinear polynomial, whose coefficients differ by slot; the exclusive or of four terms, and of the round key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import IntegerCiphertext, IntegerEngine
from workloads.transciphering import cipher, layout

__all__ = ["FIRST_TURN", "Machine", "aes", "spread", "steps", "subsets"]

FIRST_TURN = 2
"""After ten rounds the turn is 0, and columns stand in their places."""
ROUND_LEVELS = 5
"""Of `substituted`."""
Numbers = NDArray[np.int64]


@dataclass(eq=False)
class Machine:
    """An engine with its keys. It bootstraps what has too few levels left, and keeps what it encoded."""

    engine: IntegerEngine
    relinearization: Any
    rotations: Mapping[int, Any]
    """Fixed rotation keys, by the step to the left."""
    bootstrap: Any
    bootstraps: int = 0
    _encoded: dict[bytes, Any] = field(default_factory=dict)

    def ready(self, x: IntegerCiphertext, levels: int) -> IntegerCiphertext:
        """The ciphertext with at least so many levels above the lowest that a bootstrap takes."""
        if x.level > levels:
            return x
        self.bootstraps += 1
        return self.engine.bootstrap(x, self.bootstrap)

    def left(self, x: IntegerCiphertext, by: int) -> IntegerCiphertext:
        """The rotation to the left, in both rows."""
        return self.engine.rotate_rows(x, self.rotations[by]) if by else x

    def times(self, x: IntegerCiphertext, numbers: Numbers) -> IntegerCiphertext:
        """The product with numbers in the clear, one for each slot."""
        return self.engine.multiply(x, self._plaintext(numbers))

    def plus(self, x: IntegerCiphertext, numbers: Numbers) -> IntegerCiphertext:
        """The sum with numbers in the clear, one for each slot."""
        return self.engine.add(x, self._plaintext(numbers))

    def _plaintext(self, numbers: Numbers) -> Any:
        name = numbers.tobytes()
        if name not in self._encoded:
            self._encoded[name] = self.engine.encode(numbers)
        return self._encoded[name]

    def weighted(self, terms: Sequence[tuple[IntegerCiphertext, Numbers]]) -> IntegerCiphertext:
        """The sum of products with numbers in the clear."""
        return self.engine.weighted_sum([x for x, _ in terms], [self._plaintext(numbers) for _, numbers in terms])

    def product(self, x: IntegerCiphertext, y: IntegerCiphertext) -> IntegerCiphertext:
        """The product, one level lower."""
        return self.engine.multiply(x, y, self.relinearization)

    def products(self, pairs: Sequence[tuple[IntegerCiphertext, IntegerCiphertext]]) -> IntegerCiphertext:
        """The sum of products, relinearized once."""
        return self.engine.relinearize(self.sum([self.engine.multiply(x, y) for x, y in pairs]), self.relinearization)

    def sum(self, of: Sequence[IntegerCiphertext]) -> IntegerCiphertext:
        """The sum of ciphertexts."""
        return reduce(self.engine.add, of)


def steps() -> set[int]:
    """The steps to the left, of the cipher and of `maximum`, that need a key."""
    powers = {1 << i for i in range((2 * layout.COLUMN).bit_length())}
    back = {-step for step in powers if step < 2 * layout.ROW}
    return powers | back | {layout.ROW - 1, -layout.ROWS * layout.ROW, -layout.COLUMN}


def spread(machine: Machine, x: IntegerCiphertext, at: int, step: int, count: int) -> IntegerCiphertext:
    """Copies what stands at one of `count` places, a power of two, `step` slots apart, to all of them."""
    for bit in range(count.bit_length() - 1):
        by = step << bit
        x = machine.engine.add(x, machine.left(x, by if at >> bit & 1 else -by))
    return x


def subsets(machine: Machine, x: Sequence[IntegerCiphertext]) -> list[IntegerCiphertext | None]:
    """The products of all subsets of ciphertexts, by their masks; None for the empty one. Two levels for four."""
    found: list[IntegerCiphertext | None] = [None] * (1 << len(x))
    for mask in sorted(range(1, len(found)), key=int.bit_count):
        low = mask & -mask
        if mask == low:
            found[mask] = x[low.bit_length() - 1]
            continue
        # Halves of equal size take the fewest levels.
        half = 0
        while half.bit_count() < mask.bit_count() // 2:
            half |= (mask & ~half) & -(mask & ~half)
        a, b = found[half], found[mask & ~half]
        assert a is not None
        assert b is not None
        found[mask] = machine.product(a, b)
    return found


def substituted(
    machine: Machine, state: IntegerCiphertext, moves: list[layout.Move], table: Numbers
) -> IntegerCiphertext:
    """The bits of the terms of MixColumns. Five levels."""
    turned, terms = [], [state]
    for _ in range(1, layout.TERMS):
        terms.append(machine.left(terms[-1], layout.ROW - 1))
    for move in moves:
        x = machine.left(terms[move.term], -layout.ROWS * layout.ROW if move.wrapped else 0)
        turned.append((move, machine.left(x, move.column * layout.COLUMN)))
    planes = []
    for bit in range(layout.BITS):
        one = machine.weighted([(x, move.mask(bit)) for move, x in turned])
        planes.append(machine.engine.rescale(spread(machine, one, bit, layout.BIT, layout.BITS)))
    low, high = (subsets(machine, planes[first : first + 4]) for first in (0, 4))
    rows = [layout.slots(row) for row in table]
    sums = []
    for h in range(16):
        weighted = machine.weighted([(x, rows[16 * h + set_]) for set_, x in enumerate(low) if x is not None])
        sums.append(machine.plus(weighted, rows[16 * h]))
    pairs = [(x, inner) for x, inner in zip(high, sums, strict=True) if x is not None]
    return machine.engine.rescale(machine.engine.add(machine.products(pairs), sums[0]))


def aes(
    machine: Machine, first: Numbers, keys: Sequence[IntegerCiphertext], last: Numbers, inverse: bool
) -> IntegerCiphertext:
    """The cipher, or the equivalent inverse one, on public states, and the exclusive or with public states at the end.

    Parameters
    ----------
    first, last
        `layout.signs` of both, with the first turn and with turn 0.
    keys
        The encrypted `layout.signs` of the round keys, with the turn of each.
    """
    state = machine.engine.rescale(machine.times(keys[0], first))
    turn = FIRST_TURN
    for number, key in enumerate(keys[1:], 1):
        final = number == cipher.ROUNDS
        moves = layout.moves(turn, inverse)
        table = layout.table(inverse, final)
        x = substituted(machine, machine.ready(state, ROUND_LEVELS), moves, table)
        x = machine.product(machine.ready(x, 1), key)
        if final:
            return machine.engine.rescale(machine.times(machine.ready(x, 1), last))
        for by in (1, 2):
            x = machine.ready(x, 1)
            x = machine.product(x, machine.left(x, by))
        state, turn = x, (turn + (1 if inverse else -1)) % layout.COLUMNS
    raise AssertionError("there are ten rounds")
