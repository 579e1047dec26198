"""Train a logistic regression on encrypted data: neither the server nor anybody else sees samples, labels or weights.

Nesterov's gradient descent on all samples at once, as in eprint 2018/254. Run it as `logistic_regression.py 1024 256
32` for the published size, in 7 GB.
"""

import sys
import time

import numpy as np

from aglet import Engine, Session, ml

engine = Engine(use_bootstrap=True, mode="parallel")
small = engine.slot_count < 2**15
given = [int(word) for word in sys.argv[1:] if word.isdigit()]
samples, features, steps = given if len(given) == 3 else (128, 8, 6) if small else (1024, 256, 6)

# Two clouds that overlap; the last feature is a constant.
random = np.random.default_rng(2)
labels = random.integers(0, 2, samples) * 2 - 1
data = random.normal(0, 0.35, (samples, features)) + labels[:, None] * random.normal(
    0, 0.6 / np.sqrt(features), features
)
data = np.clip(data, -1, 1)
data[:, -1] = 1

start = time.perf_counter()
keys = engine.create_keys()
session = Session(engine, keys)
print(f"keys in {time.perf_counter() - start:.1f} s")
rows = ml.labelled_samples(data, labels, session.slots)
# At the level that a refresh leaves: higher ones would only be slower.
encrypted = session.encrypt(rows, level=session.refreshed_level)
start = time.perf_counter()
# Nobody sees whether scores stay within reach. Many steps take some a little beyond 8, where the polynomial still does.
weights = ml.fit_logistic(encrypted, steps=steps, count=samples, assume=True)
seconds = time.perf_counter() - start
print(f"{steps} steps on {samples} samples of {features} features in {seconds:.1f} s, {seconds / steps:.2f} s each")

clear = ml.fit_logistic(rows, steps=steps, count=samples, assume=True)
found = session.decrypt(weights)
print(f"largest difference of a weight to the computation in the clear: {np.abs(found - clear).max():.1e}")
accuracy = np.mean((data @ found[:features] > 0) == (labels > 0))
print(f"{accuracy:.1%} of the samples are on their side")
assert np.abs(found - clear).max() < 1e-3, "the encrypted training went another way"
assert accuracy > 0.8
