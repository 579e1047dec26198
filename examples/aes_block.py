"""A block of AES-128 under an encrypted key, by tables of bytes (FHEW): transciphering without slots.

The server knows the block that AES takes in, as in counter mode, and has the round keys as encrypted `uint32` words. A
table of a byte gives the four bytes that SubBytes and MixColumns make of it, as one word; the rest is `^`. That is 512
blind rotations a round. The slots of integers are quicker: `workloads/transciphering` takes as long for 1 to 32 blocks.

`aes_block.py 2` does two rounds of the ten.
"""

import sys
import time

import numpy as np

from aglet import FhewEngine, Session

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 10


def doubled(x):
    """A byte times 2 in the field of AES."""
    return (x << 1 ^ (0x1B if x & 0x80 else 0)) & 0xFF


def sbox():
    """The table of SubBytes: powers of 3 have inverses, which an affine map follows."""
    powers = [1]
    while len(powers) < 255:
        powers.append(powers[-1] ^ doubled(powers[-1]))
    inverse = [0] * 256
    for i, x in enumerate(powers):
        inverse[x] = powers[-i % 255]
    spread = [x ^ x << 1 ^ x << 2 ^ x << 3 ^ x << 4 for x in inverse]
    return np.array([(x ^ x >> 8 ^ 0x63) & 0xFF for x in spread], dtype=np.uint32)


SBOX = sbox()
DOUBLED = np.array([doubled(int(x)) for x in SBOX], dtype=np.uint32)
# What a byte in row 0 to 3 gives to its column. Row 0 is the lowest byte of a word.
FIRST = DOUBLED | SBOX << 8 | SBOX << 16 | (DOUBLED ^ SBOX) << 24
MIXED = [FIRST << 8 * row | FIRST >> (32 - 8 * row) if row else FIRST for row in range(4)]
PLACED = [SBOX << 8 * row for row in range(4)]


def round_keys(key):
    """The words of the key schedule, as rows for each round."""
    words, factor = list(np.frombuffer(key, dtype="<u4")), 1
    while len(words) < 44:
        last = words[-1]
        if len(words) % 4 == 0:
            turned = last >> 8 | last << 24
            last = sum(SBOX[turned >> 8 * i & 0xFF] << 8 * i for i in range(4)) ^ np.uint32(factor)
            factor = doubled(factor)
        words.append(words[-4] ^ np.uint32(last))
    return np.array(words, dtype=np.uint32).reshape(11, 4)


def encrypted_block(block, keys, take, rounds):
    """The columns after so many rounds, the last without MixColumns. `take` looks bytes up in a table of words."""
    state = keys[0] ^ np.frombuffer(block, dtype="<u4")
    for number in range(1, rounds + 1):
        tables = MIXED if number < 10 else PLACED
        # ShiftRows: row r of a column comes from the column r to the right.
        rows = [(state >> 8 * row).astype(np.uint8, casting="unsafe") for row in range(4)]
        first, *others = (take(tables[row], rows[row][(np.arange(4) + row) % 4]) for row in range(4))
        state = keys[number] ^ first
        for other in others:
            state = state ^ other
    return state


block, key = bytes.fromhex("00112233445566778899aabbccddeeff"), bytes(range(16))
wanted = encrypted_block(block, round_keys(key), lambda table, x: table[x], ROUNDS)
if ROUNDS == 10:
    # FIPS 197, appendix C.1.
    assert wanted.tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"

engine = FhewEngine(preset="wide", thread_count=0)
client = Session(engine, engine.create_keys(packing=True))
keys = client.encrypt(round_keys(key))

# From here on a session without the secret key would do as well.
start = time.perf_counter()
made = encrypted_block(block, keys, client.take, ROUNDS)
seconds = time.perf_counter() - start
found = client.decrypt(made)
print(f"{ROUNDS} rounds in {seconds:.1f} s, {client.rotations} blind rotations: {found.tobytes().hex()}")
assert np.array_equal(found, wanted)
