"""Add and compare encrypted bytes by gates: 17 gates to add, 8 to compare, each on all pairs at once."""

import time

import numpy as np

from aglet import FhewEngine

engine = FhewEngine(bits=1, thread_count=0)
secret_key = engine.create_secret_key()
key = engine.create_bootstrap_key(secret_key)

x, y = np.random.default_rng().integers(0, 256, (2, 8))
x[0], y[1] = y[0], x[1]
# Axis 0 is the place of the bit, the lowest first; axis 1 the pair.
places = np.arange(8)[:, np.newaxis]
encrypted_x = engine.encrypt((x >> places) % 2 == 1, secret_key)
encrypted_y = engine.encrypt((y >> places) % 2 == 1, secret_key)
zeros = engine.encrypt(np.zeros(8, bool), secret_key)

# From here on nothing is known but the encrypted bits.
start = time.perf_counter()


def add(x, y):
    """The nine bits of x + y, a list from the lowest up."""
    differs = engine.xor(x, y, key)
    carry, total = zeros, []
    for place in range(8):
        total.append(engine.xor(differs[place], carry, key))
        carry = engine.majority(x[place], y[place], carry, key)
    return np.stack([*total, carry])


def less(x, y):
    """Whether x < y: the borrow of x - y."""
    borrow = zeros
    for place in range(8):
        borrow = engine.majority(~x[place], y[place], borrow, key)
    return borrow


total, smaller = add(encrypted_x, encrypted_y), less(encrypted_x, encrypted_y)
# The larger of the two, bit by bit.
largest = engine.mux(smaller, encrypted_y, encrypted_x, key)
seconds = time.perf_counter() - start

weights = 2 ** np.arange(9)
found_total = weights @ engine.decrypt(total, secret_key)
found_largest = weights[:8] @ engine.decrypt(largest, secret_key)
found_smaller = engine.decrypt(smaller, secret_key)
assert np.array_equal(found_total, x + y)
assert np.array_equal(found_smaller, x < y)
assert np.array_equal(found_largest, np.maximum(x, y))
for row in zip(x, y, found_total, found_smaller, found_largest, strict=True):
    print("{:3d} + {:3d} = {:3d}, less: {!s:5}, larger: {:3d}".format(*row))
print(f"{seconds:.2f} s for {8 * (8 + 16 + 8 + 16)} bootstraps, in which 8 pairs were added, compared and chosen from")
