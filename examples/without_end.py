"""A computation without end: the logistic map x -> r x (1 - x), refreshed whenever the levels run out.

The map has a stable point at 1 - 1/r for r = 2.5, so every slot walks to 0.6, however it started.
"""

import numpy as np

from aglet import Engine

RATE = 2.5
STEPS = 24

engine = Engine(use_bootstrap=True, mode="parallel")
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
relinearization_key = engine.create_relinearization_key(secret_key)
conjugation_key = engine.create_conjugation_key(secret_key)
bootstrap_key = engine.create_bootstrap_key(secret_key)

start = np.linspace(0.1, 0.9, engine.slot_count)
x = engine.encrypt(start, public_key)
expected = start
refreshes = 0
for _ in range(STEPS):
    if x.level < 2:
        x = engine.bootstrap(x, relinearization_key, conjugation_key, bootstrap_key)
        refreshes += 1
    # r x (1 - x) = r x - r x^2: one level for the product, one for the factor r.
    difference = engine.subtract(x, engine.square(x, relinearization_key))
    x = engine.multiply(difference, RATE)
    expected = RATE * expected * (1 - expected)

values = engine.decrypt(x, secret_key).real
print(f"{STEPS} steps, {refreshes} refreshes, {x.level} levels left")
print(f"largest difference to the computation in the clear: {np.abs(values - expected).max():.1e}")
print(f"the values lie between {values.min():.6f} and {values.max():.6f}; the stable point is {1 - 1 / RATE}")
