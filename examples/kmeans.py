"""k-means on encrypted points: distances, the nearest centroid, masks, sums and quotients, all by the server.

Points and centroids are encrypted in every round, so only the owner learns which points belong together. A mean is
`sums // counts` of encrypted whole numbers, rounded down: the centroids are those of numpy. Coordinates are uint8 below
128. Run it as `kmeans.py 24 3` for 24 points and three rounds instead of nine and two. They take 13,734 bootstraps, or
107 s of a thread of a shared machine.
"""

import sys
import time

import numpy as np

from aglet import FhewEngine, Session

POINTS, ROUNDS = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (9, 2)
CLUSTERS = 3
# Squares of differences from -128 to 127, which are uint8: -1 stands at 255.
SQUARES = np.concatenate([np.arange(128), np.arange(-128, 0)]).astype(np.uint16) ** 2


def moved(points, centroids, square):
    """The centroids after a round, encrypted or in the clear. One that no point is nearest to stays where it is."""
    distances = square(points[:, None] - centroids).sum(axis=-1, dtype=np.uint16)
    nearest = distances.argmin(axis=1).astype(np.uint8, casting="unsafe")
    own = nearest[:, None] == np.arange(CLUSTERS, dtype=np.uint8)
    counts = own.sum(axis=0, dtype=np.uint16)[:, None]
    sums = np.where(own[..., None], points[:, None], 0).sum(axis=0, dtype=np.uint16)
    means = (sums // counts).astype(np.uint8, casting="unsafe")
    return np.where(counts > 0, means, centroids)


random = np.random.default_rng(11)
middles = np.array([[30, 40], [90, 25], [75, 100]])
points = (middles[np.arange(POINTS) % CLUSTERS] + random.integers(-20, 21, (POINTS, 2))).astype(np.uint8)
first = points[:CLUSTERS] // 2 + 30

# Tables of 256 places need the preset with little noise, and a packing key.
engine = FhewEngine(preset="wide", thread_count=0)
owner = Session(engine, engine.create_keys(packing=True))
encrypted, centroids = owner.encrypt(points), owner.encrypt(first)

# From here on a session without the secret key, `Session(engine, keys.evaluation())`, would do as well.
start = time.perf_counter()
for _ in range(ROUNDS):
    centroids = moved(encrypted, centroids, lambda differences: owner.take(SQUARES, differences))
seconds = time.perf_counter() - start

found, wanted = owner.decrypt(centroids), first
for _ in range(ROUNDS):
    with np.errstate(divide="ignore"):
        wanted = moved(points, wanted, lambda differences: SQUARES[differences])
print(f"from {first.tolist()} to {found.tolist()}; the points were drawn around {middles.tolist()}")
print(f"{ROUNDS} rounds of {POINTS} points in {seconds:.1f} s, {owner.rotations} blind rotations")
assert found.dtype == np.uint8
assert np.array_equal(found, wanted)
