"""Train a logistic regression on encrypted data: neither the server nor anybody else sees samples, labels or weights.

Nesterov's gradient descent on all samples at once, as in eprint 2018/254. The sigmoid is a polynomial of degree 3, good
where the scores are. Run it as `logistic_regression.py 1024 256 32` for the published size.
"""

import sys
import time

import numpy as np

from aglet import Engine, Session

engine = Engine(use_bootstrap=True, mode="parallel")
small = engine.slot_count < 2**15
given = [int(word) for word in sys.argv[1:] if word.isdigit()]
samples, features, steps = given if len(given) == 3 else (64, 8, 6) if small else (1024, 256, 6)
REACH = 8.0
RATE = 1.0

# Two clouds that overlap; the last feature is a constant.
random = np.random.default_rng(2)
labels = random.integers(0, 2, samples) * 2 - 1
data = random.normal(0, 0.35, (samples, features)) + labels[:, None] * random.normal(
    0, 0.6 / np.sqrt(features), features
)
data = np.clip(data, -1, 1)
data[:, -1] = 1

points = np.linspace(-REACH, REACH, 1001)
sigmoid = np.polynomial.Polynomial.fit(points, 1 / (1 + np.exp(-points)), 3).convert().coef
# Odd, but for the constant: exactly so, as the even part costs a product.
sigmoid[2] = 0


def train(rows, weights, function):
    """Rows are samples times labels: the gradient of a sample is sigmoid(-score) times its row."""
    ahead = weights
    momentum = 1.0
    for _ in range(steps):
        scores = (rows * ahead).sum(axis=1, keepdims=True)
        gradient = (rows * function(-scores)).sum(axis=0) * (RATE / samples)
        moved = ahead + gradient
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        share = (momentum - 1) / following
        ahead = moved + (moved - weights) * share if share else moved
        weights, momentum = moved, following
        if hasattr(weights, "assume"):
            # What intervals cannot see: training does not run away.
            weights, ahead = weights.assume(bound=2), ahead.assume(bound=2)
    return weights


def encrypted_sigmoid(scores):
    return session.poly(scores.assume(bound=REACH), sigmoid)


rows = data * labels[:, None]
start = time.perf_counter()
keys = engine.create_keys()
session = Session(engine, keys)
print(f"keys in {time.perf_counter() - start:.1f} s")
# At the level that a refresh leaves: higher ones would only be slower.
encrypted = session.encrypt(rows, level=session.refreshed_level)
start = time.perf_counter()
weights = train(encrypted, session.encrypt(np.zeros(features)), encrypted_sigmoid)
seconds = time.perf_counter() - start
print(f"{steps} steps on {samples} samples of {features} features in {seconds:.1f} s, {seconds / steps:.2f} s each")

clear = train(rows, np.zeros(features), np.polynomial.Polynomial(sigmoid))
found = session.decrypt(weights)
print(f"largest difference of a weight to the computation in the clear: {np.abs(found - clear).max():.1e}")
accuracy = np.mean((data @ found > 0) == (labels > 0))
print(f"{accuracy:.1%} of the samples are on their side")
assert np.abs(found - clear).max() < 1e-3, "the encrypted training went another way"
assert accuracy > 0.8
