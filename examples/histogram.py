"""Count how often each number from 0 to 15 stands among 16,384 encrypted ones: a table and a sum of slots a bin."""

import time

import numpy as np

from aglet import IntegerEngine

engine = IntegerEngine(depth=5, thread_count=0)
secret_key = engine.create_secret_key()
relinearization_key = engine.create_relinearization_key(secret_key)
rotation_key = engine.create_rotation_key(secret_key)

numbers = np.random.default_rng().binomial(15, 0.4, engine.slot_count)
encrypted = engine.encrypt(numbers, secret_key, level=5)  # four for the table; a sum of so many wants one more

# Whoever counts sees neither the numbers nor the counts.
start = time.perf_counter()
counts = []
for number in range(16):
    here = engine.lookup(encrypted, np.eye(16, dtype=int)[number], relinearization_key)
    counts.append(engine.sum_slots(here, rotation_key))
seconds = time.perf_counter() - start

found = [int(engine.decrypt(count, secret_key)[0]) for count in counts]
assert found == np.bincount(numbers, minlength=16).tolist()
for number, count in enumerate(found):
    print(f"{number:2} {'#' * (count * 200 // engine.slot_count)} {count}")
print(f"{seconds:.2f} s for 16 bins of {engine.slot_count} numbers")
