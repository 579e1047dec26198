"""A random forest of scikit-learn on encrypted patients: exact thresholds, and the classes that scikit-learn predicts.

Features are bytes and encrypted. The forest is in the clear, thresholds and leaves: whoever computes has trained it.
Its trees are grown until leaves are pure, so each tree gives its vote to one class and votes are whole numbers. Run it
as `forest.py 8` for more patients than four. Each takes 800 bootstraps, or 4 s of a thread of a shared machine.
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from aglet import FhewEngine, Session

PATIENTS, TREES = int(sys.argv[1]) if len(sys.argv) > 1 else 4, 9

features, labels = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(2).permutation(len(labels))
features, labels = features[order], labels[order]
# Each feature as a byte, from the least to the largest value that the training has.
train, test = slice(PATIENTS, None), slice(0, PATIENTS)
least, most = features[train].min(axis=0), features[train].max(axis=0)
features = np.rint(np.clip((features - least) / (most - least), 0, 1) * 255).astype(np.uint8)
forest = RandomForestClassifier(TREES, random_state=3).fit(features[train], labels[train])


def paths(tree, node=0, way=()):
    """Each leaf's class, with the conditions that lead to it: a feature, a threshold, and whether it is kept."""
    left, right = tree.children_left[node], tree.children_right[node]
    if left == right:
        votes = tree.value[node, 0]
        assert votes.max() == votes.sum(), "a leaf with samples of two classes"
        return [(votes.argmax(), way)]
    # A byte is at most 84.5 where it is at most 84.
    condition = int(tree.feature[node]), int(np.floor(tree.threshold[node]))
    return paths(tree, left, (*way, (*condition, True))) + paths(tree, right, (*way, (*condition, False)))


leaves = [leaf for tree in forest.estimators_ for leaf in paths(tree.tree_)]
# Trees share many conditions, and each is evaluated once.
conditions = sorted({step[:2] for _, way in leaves for step in way})
feature, threshold = np.array(conditions, dtype=np.uint8).T
place = {condition: at for at, condition in enumerate(conditions)}
longest = max(len(way) for _, way in leaves)
# For each leaf the columns of [conditions, their opposites, true] that must all hold.
always = 2 * len(conditions)
needed = np.full((len(leaves), longest), always)
for row, (_, way) in zip(needed, leaves, strict=True):
    row[: len(way)] = [place[step[:2]] + (0 if step[2] else len(conditions)) for step in way]
of_class = [np.flatnonzero([own == wanted for own, _ in leaves]) for wanted in range(len(forest.classes_))]


def classify(samples):
    """The class of each sample, encrypted or in the clear."""
    holds = samples[:, feature] <= threshold
    known = np.ones((len(samples), 1), dtype=bool)
    reached = np.concatenate([holds, ~holds, known], axis=1)[:, needed].all(axis=-1)
    votes = np.stack([reached[:, leaves].sum(axis=1) for leaves in of_class], axis=1)
    return votes.argmax(axis=1)


engine = FhewEngine(bits=4, thread_count=0)
owner = Session(engine, engine.create_keys())
encrypted = owner.encrypt(features[test])

# From here on a session without the secret key, `Session(engine, keys.evaluation())`, would do as well.
start = time.perf_counter()
result = classify(encrypted)
seconds = time.perf_counter() - start

found = owner.decrypt(result)
predicted = forest.predict(features[test])
print(f"{TREES} trees with {len(leaves)} leaves, and {len(conditions)} different conditions")
print(f"{PATIENTS} patients in {seconds:.1f} s, {owner.rotations} blind rotations: {forest.classes_[found]}")
print(f"{np.mean(predicted == labels[test]):.0%} are what the labels say")
assert np.array_equal(forest.classes_[found], predicted)
assert np.array_equal(forest.classes_[classify(features)], forest.predict(features))
