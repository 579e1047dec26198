"""Substitute encrypted bytes by the S-box of AES: a byte is two messages of four bits, and so is what comes out."""

import time

import numpy as np

from aglet import FhewEngine

BYTES = 16


def multiply(x, y):
    """The product of two bytes as polynomials modulo x^8 + x^4 + x^3 + x + 1."""
    product = 0
    while y:
        product ^= x * (y & 1)
        x, y = x << 1 ^ 0x11B * (x >> 7), y >> 1
    return product


def substitute(byte):
    """The S-box: the inverse of a byte, whose bits an affine map mixes (FIPS 197, section 5.1.1)."""
    inverse = next((x for x in range(256) if multiply(byte, x) == 1), 0)
    mixed = 0x63
    for turn in range(5):
        mixed ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
    return mixed


sbox = np.array([substitute(byte) for byte in range(256)])
assert list(sbox[[0x00, 0x01, 0x53, 0xFF]]) == [0x63, 0x7C, 0xED, 0x16]

engine = FhewEngine(preset="wide", thread_count=0)
secret_key = engine.create_secret_key()
key = engine.create_bootstrap_key(secret_key)
packing_key = engine.create_packing_key(secret_key)

state = np.random.default_rng().integers(0, 256, BYTES)
high, low = engine.encrypt([state >> 4, state & 15], secret_key)

# From here on nothing is known but the encrypted bytes. Two rounds: what comes out goes in again.
start = time.perf_counter()
for _ in range(2):
    high, low = engine.lookup2(high, low, [sbox >> 4, sbox & 15], key, packing_key)
seconds = time.perf_counter() - start

found = 16 * engine.decrypt(high, secret_key) + engine.decrypt(low, secret_key)
assert np.array_equal(found, sbox[sbox[state]])
for before, after in zip(state, found, strict=True):
    print(f"{before:02x} -> {after:02x}")
print(f"{seconds:.2f} s for {2 * BYTES} substitutions of 8 bits, three bootstraps each")
