"""Words of 16 bits, and the largest of them, on the bits that `circuit.aes` leaves.

A word has 64 slots: 2 bytes, 8 bits, 4 terms. So each of its four nibbles has 16, one for each value `v`, and slot `v`
gets whether the nibble is at least `v`. From the top nibble down: "some word that is left has at least `v`" is a
product over all words; what is 1 at `v` and 0 at `v + 1` shows the largest nibble, and the words that have it are left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aglet import IntegerCiphertext
from workloads.transciphering import layout
from workloads.transciphering.circuit import Machine, spread, subsets

__all__ = ["GROUPS", "WORD", "largest", "maximum", "read_words", "words"]

WORD = 2 * layout.ROW
"""The slots of a word."""
VALUES = 16
GROUPS = (1, 0, 3, 2)
"""Where the nibbles of a word stand, in sixteens, the top one first."""
Numbers = NDArray[np.int64]


def words(machine: Machine, bits: IntegerCiphertext) -> IntegerCiphertext:
    """The words, in the first slot of each."""
    weights = np.zeros((2, layout.BITS, layout.TERMS), dtype=np.int64)
    # A bit is 1 - 2 x; half the weight may be no integer, so it is one modulo 65537.
    half = (65537 + 1) // 2
    weights[0, :, 0], weights[1, :, 0] = (-half * (1 << np.arange(8) + first) % 65537 for first in (8, 0))
    x = machine.times(bits, layout.slots(weights))
    for step in range(WORD.bit_length() - 1):
        x = machine.engine.add(x, machine.left(x, 1 << step))
    return machine.engine.rescale(machine.plus(x, layout.slots(np.full(1, 65535 * half % 65537))))


def read_words(slots: Numbers, count: int) -> Numbers:
    """The first `count` words, in their order, from decrypted slots."""
    row = slots.reshape(2, -1)[0].reshape(layout.COLUMNS, layout.BLOCKS, 2, WORD)[..., 0]
    found: Numbers = row.swapaxes(0, 1).reshape(-1)[:count]
    return found


def maximum(machine: Machine, bits: IntegerCiphertext, blocks: int) -> IntegerCiphertext:
    """The nibbles of the largest word, each as marks from 0 up to its value, in the slots of every word.

    The blocks are a power of two of them, repeated.
    """
    least = _at_least(machine, bits)
    steps = [WORD << i for i in range(blocks.bit_length())] + [layout.COLUMN, 2 * layout.COLUMN]
    found, left = [], None
    for group in GROUPS:
        x = least if left is None else machine.product(machine.ready(left, 1), least)
        x = machine.ready(x, len(steps))
        none = _not(machine, x)
        for step in steps:
            none = machine.ready(none, 1)
            none = machine.product(none, machine.left(none, step))
        last = group == GROUPS[-1]
        some = _not(machine, machine.ready(none, 1 if last else 5))
        of_group = np.zeros((4, VALUES), dtype=np.int64)
        of_group[group] = 1
        found.append(machine.times(some, layout.slots(of_group)))
        if not last:
            left = _left(machine, x, some, of_group)
    return machine.engine.rescale(machine.sum(found))


def largest(slots: Numbers) -> int:
    """The maximum, from decrypted slots."""
    marks = slots[:WORD].reshape(4, VALUES)
    nibbles = [int(marks[group, 1:].sum()) for group in GROUPS]
    return sum(nibble << 4 * (3 - i) for i, nibble in enumerate(nibbles))


def _not(machine: Machine, x: IntegerCiphertext) -> IntegerCiphertext:
    return machine.plus(machine.engine.negate(x), layout.slots(np.ones(1, dtype=np.int64)))


def _at_least(machine: Machine, bits: IntegerCiphertext) -> IntegerCiphertext:
    """For each nibble, in slot `v` of its sixteen, whether it is at least `v`."""
    bits, planes = machine.ready(bits, 4), []
    for bit in range(4):
        mask = np.zeros((2, 4, layout.TERMS), dtype=np.int64)
        mask[:, bit, 0] = 1
        one = machine.times(bits, layout.slots(mask))
        planes.append(machine.engine.rescale(spread(machine, one, layout.TERMS * bit, 1, VALUES)))
    every = np.arange(VALUES)
    characters = np.array([[1 - 2 * (int(s & n).bit_count() & 1) for n in every] for s in every])
    sixteenth = pow(VALUES, -1, 65537)
    table = (characters @ (every[:, None] >= every) * sixteenth + 32768) % 65537 - 32768
    terms = [(x, layout.slots(table[s])) for s, x in enumerate(subsets(machine, planes)) if x is not None]
    return machine.engine.rescale(machine.plus(machine.weighted(terms), layout.slots(table[0])))


def _left(machine: Machine, x: IntegerCiphertext, some: IntegerCiphertext, of_group: Numbers) -> IntegerCiphertext:
    """Whether a word was left and has the largest nibble of a group, in all its slots. Three levels."""
    below = of_group.copy()
    below[:, -1] = 0
    next_up = machine.engine.negate(machine.times(machine.left(some, 1), layout.slots(below)))
    shown = machine.engine.add(machine.times(some, layout.slots(of_group)), next_up)
    both = machine.product(machine.ready(x, 3), shown)
    for step in range(WORD.bit_length() - 1):
        both = machine.engine.add(both, machine.left(both, 1 << step))
    first = np.zeros(WORD, dtype=np.int64)
    first[0] = 1
    kept = machine.times(machine.engine.rescale(both), layout.slots(first))
    return machine.engine.rescale(spread(machine, kept, 0, 1, WORD))
