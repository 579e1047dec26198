"""Substitute 32,768 encrypted bytes at once by the S-box of AES: a table over slots, of bytes in two halves."""

import time

import numpy as np

from aglet import IntegerEngine

# The powers of the generator x + 1 give inverses, and an affine map mixes their bits (FIPS 197, section 5.1.1).
powers = [1]
while len(powers) < 255:
    last = powers[-1]
    powers.append(last ^ (last << 1) ^ (0x11B if last & 0x80 else 0))
inverse = np.zeros(256, dtype=int)
inverse[powers] = powers[:1] + powers[:0:-1]
turned = np.array([(inverse << n | inverse >> (8 - n)) & 0xFF for n in range(5)])
sbox = np.bitwise_xor.reduce(turned, axis=0) ^ 0x63
assert list(sbox[[0x00, 0x01, 0x53, 0xFF]]) == [0x63, 0x7C, 0xED, 0x16]

engine = IntegerEngine(preset="int-levels-15", thread_count=0)
secret_key = engine.create_secret_key()
key = engine.create_relinearization_key(secret_key)
levels = engine.plan_lookup(sbox, digits=2).levels

state = np.random.default_rng().integers(0, 256, engine.slot_count)
low, high = (engine.encrypt(half, secret_key, level=levels) for half in (state & 15, state >> 4))

start = time.perf_counter()
substituted = engine.lookup([low, high], sbox, key)
seconds = time.perf_counter() - start

assert np.array_equal(engine.decrypt(substituted, secret_key), sbox[state])
print(f"{seconds:.2f} s for {engine.slot_count} substitutions of 8 bits, in {levels} levels")
