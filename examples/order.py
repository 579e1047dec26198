"""Sort 128 encrypted values, and find the largest, with numpy alone. Needs 9 GB of memory and a minute."""

import time

import numpy as np

from aglet import Engine, Session

engine = Engine(use_bootstrap=True, mode="parallel")
session = Session(engine, engine.create_keys(), alpha=9, error_bits=12)
count = 128 if session.slots >= 128**2 else 16

data = np.random.default_rng().permutation(256)[:count]
x = session.encrypt(data / 256)

# All pairs of encrypted values are compared at once, and their ranks say who stands where.
start = time.perf_counter()
place = np.argmax(x)
print(f"argmax of {count} in {time.perf_counter() - start:.1f} s")
start = time.perf_counter()
ordered = np.sort(x)
print(f"sort of {count} in {time.perf_counter() - start:.1f} s")

values = session.decrypt(ordered) * 256
print(f"error: {np.abs(values - np.sort(data)).max():.3f} of the distance of two values")
assert round(float(session.decrypt(place))) == np.argmax(data), "this is not numpy.argmax"
assert np.array_equal(np.rint(values), np.sort(data)), "this is not the order of numpy.sort"
