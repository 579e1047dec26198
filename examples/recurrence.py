"""Dot products of encrypted int16 vectors, each with the last one inside: exact modulo 65537, bootstraps in between."""

import time

import numpy as np

from aglet import IntegerEngine

STEPS = 8

engine = IntegerEngine(use_bootstrap=True, thread_count=0)
secret_key = engine.create_secret_key()
relinearization_key = engine.create_relinearization_key(secret_key)
rotation_key = engine.create_rotation_key(secret_key)
bootstrap_key = engine.create_bootstrap_key(secret_key)

x, weights = np.random.default_rng().integers(-(2**15), 2**15, (2, engine.slot_count))
state, encrypted_weights = engine.encrypt(x, secret_key), engine.encrypt(weights, secret_key)

start, bootstraps = time.perf_counter(), 0
for _ in range(STEPS):
    if state.level < 4:
        state = engine.bootstrap(state, bootstrap_key)
        bootstraps += 1
    dot = engine.sum_slots(engine.multiply(state, encrypted_weights, relinearization_key), rotation_key)
    # A sum of 32,768 products has noise to match, which goes with a level.
    dot = engine.mod_switch(dot, dot.level - 1)
    state = engine.subtract(encrypted_weights, engine.multiply(state, dot, relinearization_key))
seconds = time.perf_counter() - start

t = engine.plaintext_modulus
for _ in range(STEPS):
    x = (weights - x * ((x * weights).sum() % t)) % t
assert np.array_equal(engine.decrypt(state, secret_key) % t, x)
print(f"{seconds:.2f} s for {STEPS} dot products of {x.size} numbers and {bootstraps} bootstraps")
