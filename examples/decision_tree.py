"""Classify encrypted samples by a decision tree of depth 4: 15 thresholds on features of 4 bits, 24 tables a sample.

The server knows the tree and nothing of the samples: it takes every branch of it, and which one counts is encrypted.
"""

import time

import numpy as np

from aglet import FhewEngine

FEATURES, CLASSES, SAMPLES = 5, 4, 6

random = np.random.default_rng(7)
# Node n has the children 2n + 1 (below the threshold) and 2n + 2; the 16 leaves are classes.
feature = random.integers(0, FEATURES, 15)
threshold = random.integers(4, 13, 15)
leaf = random.integers(0, CLASSES, 16)
samples = random.integers(0, 16, (SAMPLES, FEATURES))


def classify(sample):
    """The class of a sample in the clear."""
    node = 0
    while node < 15:
        node = 2 * node + 1 + int(sample[feature[node]] >= threshold[node])
    return leaf[node - 15]


engine = FhewEngine(bits=4, thread_count=0)
secret_key = engine.create_secret_key()
key = engine.create_bootstrap_key(secret_key)
encrypted = engine.encrypt(samples, secret_key)

# From here on nothing is known but the encrypted features.
start = time.perf_counter()


def passes(node):
    """1 for the samples whose feature reaches the threshold of a node, else 0."""
    return engine.lookup(encrypted[:, feature[node]], lambda value: int(value >= threshold[node]), key)


def subtree(node, of_leaf):
    """What `of_leaf` says of the four exits of the subtree of two levels below a node, 0 to 3 from left to right."""
    # Bits of three nodes in one number; weights of 4, 2 and 1 are as much noise as a table of this set takes.
    bits = 4 * passes(node) + 2 * passes(2 * node + 1) + passes(2 * node + 2)
    exits = [2 * (b >> 2) + (b & 1 if b >> 2 else b >> 1 & 1) for b in range(8)]
    return engine.lookup(bits, [of_leaf[exits[b]] for b in range(8)] + [0] * 8, key)


# The upper two levels say which of the four lower subtrees counts, and each of those has a class.
branch = subtree(0, range(4))
classes = np.zeros(SAMPLES, int)
for number, node in enumerate(range(3, 7)):
    wanted = subtree(node, leaf[4 * number : 4 * number + 4])
    # The class if this is the subtree that counts, else 0: both in one number.
    classes = engine.lookup(4 * branch + wanted, lambda b, own=number: b % 4 * (b // 4 == own), key) + classes
seconds = time.perf_counter() - start

found = engine.decrypt(classes, secret_key)
expected = np.array([classify(sample) for sample in samples])
for sample, own in zip(samples, found, strict=True):
    print(f"{sample} is of class {own}")
assert np.array_equal(found, expected)
print(f"{seconds:.2f} s for {24 * SAMPLES} tables")
