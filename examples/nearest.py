"""The nearest of 16 centroids for encrypted points: distances in slots, then a switch to lookups for the smallest.

Distances are polynomials, which slots compute all at once. Which is the smallest is none, and a switch decides it:
all pairs of the 16 distances of a point are compared by lookups. Run it as `nearest.py 64` for more points than two.
"""

import sys
import time

import numpy as np

from aglet import Engine, FhewEngine, SchemeSwitch

given = [int(word) for word in sys.argv[1:] if word.isdigit()]
points = given[0] if given else 2
BITS = 12
random = np.random.default_rng(3)
centroids = random.uniform(-0.5, 0.5, (16, 2))
data = random.uniform(-0.5, 0.5, (points, 2))

engine = Engine(use_bootstrap=True, mode="parallel")
switch = SchemeSwitch(engine, FhewEngine(bits=4, thread_count=0))
secret_key, fhew_secret_key = engine.create_secret_key(), switch.fhew_engine.create_secret_key()
start = time.perf_counter()
keys = switch.create_keys(secret_key, fhew_secret_key, bootstrap="medium")
print(f"keys: {time.perf_counter() - start:.1f} s, the switch's {keys.scheme_switch.byte_count / 1e6:.0f} MB")

# Each coordinate of a point stands 16 times, once beside each centroid. A low level is enough, and is faster. By a
# declared bound the noise of the distances is known, which decides how many of their bits are good.
columns = [np.repeat(data[:, axis], 16) for axis in range(2)]
encrypted = [engine.encrypt(column, secret_key, level=2, bound=0.5) for column in columns]
start = time.perf_counter()
squares = []
for axis in range(2):
    difference = engine.subtract(encrypted[axis], np.tile(centroids[:, axis], points))
    squares.append(engine.multiply(difference, difference, keys.relinearization))
distances = engine.add(*squares)  # from 0 to 2, of numbers from -1 to 1
distances = engine.multiply(distances, 0.5)
rows = np.arange(16 * points).reshape(points, 16)
nearest = switch.argmin(distances, rows, keys, bits=BITS, bound=(0, 1))
seconds = time.perf_counter() - start

found = switch.fhew_engine.decrypt(nearest, fhew_secret_key)
exact = ((data[:, None] - centroids) ** 2).sum(axis=2)
wanted = exact.argmin(axis=1)
# Two centroids at nearly one distance may be taken for one another.
chosen = exact[np.arange(points), found]
print(f"{points} points in {seconds:.1f} s: {(found == wanted).sum()} as numpy has them")
assert (chosen - exact.min(axis=1) < 4 * 2.0**-BITS).all()
