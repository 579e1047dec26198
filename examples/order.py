"""Sort 128 encrypted values, and find the largest, with numpy's operators alone. Needs 9 GB of memory and a minute.

All pairs are compared at once; the signs of the differences give each value its rank, and a kernel that is 1 at one
rank and 0 at all others says who stands where.
"""

import time

import numpy as np

from aglet import Engine, Session

engine = Engine(use_bootstrap=True, mode="parallel")
session = Session(engine, engine.create_keys(), alpha=9, error_bits=12)
count = 128 if session.slots >= 128**2 else 16

data = np.random.default_rng().permutation(256)[:count]
x = session.encrypt(data / 256)


# From here on nothing is known but the encrypted values.
def kernel(distance):
    """1 where a distance in (-1, 1) is 0, and 0 at all other multiples of 1 / count: Fejer's, by a cosine."""
    points = np.arange(1 - count, count) / count
    cosine = np.polynomial.chebyshev.chebfit(points, np.cos(2 * np.pi * points), 14, w=np.where(points == 0, 100, 1))
    cosine[1::2] = 0
    fejer = 2 * (1 - np.arange(count) / count) / count
    fejer[0] /= 2
    angle = session.chebyshev(distance.assume(bound=1), cosine)
    return session.chebyshev(angle.assume(bound=1), fejer).assume(bound=(-0.25, 1.25))


start = time.perf_counter()
rows = x[:, None].broadcast_to((count, count))
larger = np.sign(rows - x[None, :])
ranks = (larger.sum(axis=1) + (count - 1)) * (1 / (2 * count))
ranked = time.perf_counter() - start

is_largest = kernel(ranks - (count - 1) / count)
argmax = (is_largest * np.arange(count)).sum()
found_largest = time.perf_counter() - start

middle = time.perf_counter()
here = kernel(ranks[:, None] - np.arange(count) / count)
ordered = (here * rows).sum(axis=0)
found_order = time.perf_counter() - middle + ranked

values = session.decrypt(ordered) * 256
print(f"argmax of {count} in {found_largest:.1f} s: {session.decrypt(argmax):.3f}")
print(
    f"sort of {count} in {found_order:.1f} s: error {np.abs(values - np.sort(data)).max():.3f} of the distance of two"
)
assert round(float(session.decrypt(argmax))) == np.argmax(data), "this is not numpy.argmax"
assert np.array_equal(np.rint(values), np.sort(data)), "this is not the order of numpy.sort"
