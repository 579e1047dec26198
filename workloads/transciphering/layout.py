"""Where the bits of AES states stand in the slots, and what the server multiplies by.

A row of 16,384 slots has five coordinates, from the outermost: 4 columns, 32 blocks, 4 rows of the state, 8 bits, 4
terms of MixColumns. Both rows of slots are the same. A bit is 1 or -1, so that a product is an exclusive or.

ShiftRows moves nothing. In round `i` the place of column `c` in row `r` is `k = c - turn r` modulo 4, and `turn` goes
down by one a round (up by one for the inverse cipher). So term `j` of MixColumns, which is of the byte in row `r + j`,
always stands `j (1 - turn)` places further, for all rows alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workloads.transciphering import cipher

__all__ = ["BITS", "BLOCKS", "PERIOD", "Move", "bits", "moves", "place", "signs", "slots", "table"]

COLUMNS, BLOCKS, ROWS, BITS, TERMS = 4, 32, 4, 8, 4
SHAPE = (COLUMNS, BLOCKS, ROWS, BITS, TERMS)
COLUMN, BLOCK, ROW, BIT = (int(np.prod(SHAPE[i:])) for i in range(1, 5))
"""The slots from one column, block, row or bit to the next."""
PERIOD = ROWS * BITS * TERMS
"""Of what differs neither by column nor by block. Short periods make little noise."""

Numbers = NDArray[np.int64]


def slots(row: Numbers) -> Numbers:
    """One row of slots, or one period of it, as all slots."""
    return np.tile(row.ravel(), 2 * int(np.prod(SHAPE)) // row.size)


def place(turn: int) -> Numbers:
    """The column that stands at each place, of shape (4, 4): places, rows."""
    found: Numbers = (np.arange(COLUMNS)[:, None] + turn * np.arange(ROWS)) % COLUMNS
    return found


def bits(state: NDArray[np.uint8], turn: int) -> Numbers:
    """The bits of states, 1 for 0 and -1 for 1: places, blocks, rows, bits. States repeat up to 32 blocks."""
    every = np.resize(state, (BLOCKS, *state.shape[1:]))
    at = every[:, np.arange(ROWS), place(turn)].swapaxes(0, 1)
    return 1 - 2 * ((at[..., None] >> np.arange(BITS)) & 1).astype(np.int64)


def signs(state: NDArray[np.uint8], turn: int) -> Numbers:
    """What a result is multiplied by to take the exclusive or with states: their bits in term 0, and 1 elsewhere."""
    found = np.ones(SHAPE, dtype=np.int64)
    found[..., 0] = bits(state, turn)
    return slots(found)


@dataclass(frozen=True)
class Move:
    """How the bits of term 0 come to a term of MixColumns, in some of the rows."""

    term: int
    column: int
    """The columns that it goes to the left."""
    wrapped: bool
    """Whether it goes four rows back, as the rows of these terms begin again."""

    def mask(self, bit: int) -> Numbers:
        """1 where this move brings that bit to."""
        found = np.zeros((ROWS, BITS, TERMS), dtype=np.int64)
        rows = slice(ROWS - self.term, ROWS) if self.wrapped else slice(0, ROWS - self.term)
        found[rows, bit, self.term] = 1
        return slots(found)


def moves(turn: int, inverse: bool) -> list[Move]:
    """The moves from the state of a round."""
    found = []
    for j in range(TERMS):
        column = (-j * (1 + turn) if inverse else j * (1 - turn)) % COLUMNS
        column -= COLUMNS * (column == COLUMNS - 1)
        found += [Move(j, column, wrapped) for wrapped in ((False, True) if j else (False,))]
    return found


def table(inverse: bool, last: bool) -> Numbers:
    """For each set of bits of a byte, the coefficient of their product in every slot: shape (256, 32), modulo 65537.

    Slot `4 b + j` has the bit `b` of the `j`-th multiple of the S-box. In the last round term 0 is the S-box alone, and
    the other terms are 0.
    """
    box = cipher.INVERSE_SBOX if inverse else cipher.SBOX
    constants = (1, 0, 0, 0) if last else cipher.MIX[inverse]
    every = np.arange(256)
    values = np.stack([cipher.multiple(constant, box) for constant in constants], axis=1)
    found = 1 - 2 * ((values[:, None, :] >> np.arange(BITS)[None, :, None]) & 1).astype(np.int64)
    if last:
        found[..., 1:] = 0
    # The Walsh transform: characters of subsets of the bits.
    ones = np.array([int(x).bit_count() for x in range(256)])
    characters = 1 - 2 * (ones[every[:, None] & every] & 1)
    sums = (characters @ found.reshape(256, -1)).astype(object)
    inverse_of_256 = pow(256, -1, 65537)
    centred = np.array([(int(x) * inverse_of_256 + 32768) % 65537 - 32768 for x in sums.ravel()], dtype=np.int64)
    return centred.reshape(256, BITS * TERMS)
