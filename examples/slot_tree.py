"""A decision tree on features that slots compute: products in CKKS, then thresholds and branches by lookups.

The server knows the tree of depth 3 and nothing of the samples. Each has four features, x, y, x y and x x, which are
one product in slots. They go to FHEW as integers of 12 bits; a threshold is a sign, and what it says of the leaves are
tables. Run it as `slot_tree.py 64` for more samples than four.
"""

import sys
import time

import numpy as np

from aglet import Engine, FhewEngine, SchemeSwitch

given = [int(word) for word in sys.argv[1:] if word.isdigit()]
samples = given[0] if given else 4
BITS, FEATURES, CLASSES = 12, 4, 4
random = np.random.default_rng(5)
# Node n has the children 2n + 1 (below the threshold) and 2n + 2; the 8 leaves are classes.
feature = random.integers(0, FEATURES, 7)
threshold = np.round(random.uniform(-0.2, 0.2, 7) * 2 ** (BITS - 1)).astype(int)
leaf = random.integers(0, CLASSES, 8)
x, y = random.uniform(-0.7, 0.7, (2, samples))

engine = Engine(use_bootstrap=True, mode="parallel")
fhew = FhewEngine(bits=4, thread_count=0)
switch = SchemeSwitch(engine, fhew)
secret_key, fhew_secret_key = engine.create_secret_key(), fhew.create_secret_key()
keys = switch.create_keys(secret_key, fhew_secret_key, bootstrap="medium")
key = keys.fhew_bootstrap

# Four slots for each sample: one factor and the other. By a declared bound the noise of the products is known.
one = np.ones(samples)
factors = [np.stack(columns, axis=1).ravel() for columns in ([x, y, x, x], [one, one, y, x])]
first, second = (engine.encrypt(values, secret_key, level=2, bound=1.0) for values in factors)

# From here on nothing is known but the ciphertexts.
start = time.perf_counter()
features = engine.multiply(first, second, keys.relinearization)
slots = FEATURES * np.arange(samples)[:, None] + feature
passes = fhew.sign(switch.to_fhew(features, slots, keys, bits=BITS) - threshold, key)

# The upper three nodes say which of the four lower ones counts, and that one which of its two leaves.
exits = [2 * (bits >> 2) + (bits & 1 if bits >> 2 else bits >> 1 & 1) for bits in range(8)] + [0] * 8
branch = fhew.lookup(4 * passes[:, 0] + 2 * passes[:, 1] + passes[:, 2], exits, key)
classes = np.zeros(samples, int)
for node in range(4):
    # The class if this is the node that counts, else 0.
    table = [int(leaf[both]) if both >> 1 == node else 0 for both in range(8)] + [0] * 8
    classes = fhew.lookup(2 * branch + passes[:, 3 + node], table, key) + classes
seconds = time.perf_counter() - start

found = fhew.decrypt(classes, fhew_secret_key)
exact = (factors[0] * factors[1]).reshape(samples, FEATURES)[:, feature] * 2 ** (BITS - 1) - threshold
node = np.zeros(samples, int)
for _ in range(3):
    node = 2 * node + 1 + (exact[np.arange(samples), node] >= 0)
# What is within a unit of a threshold may be taken for either side.
clear = np.abs(exact).min(axis=1) > 1
assert np.array_equal(found[clear], leaf[node - 7][clear])
print(f"{samples} samples in {seconds:.1f} s, {(found == leaf[node - 7]).sum()} of the class that numpy finds")
