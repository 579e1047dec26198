"""A small neural network reads 512 encrypted digits: the server sees neither the pictures nor what it answers.

Trained here by scikit-learn, on its own digits of 8 x 8; `ml.Sequential.from_torch` takes one of torch. One
ciphertext holds 512 pictures; a layer takes one level, the activation, fitted on what the training reached, five.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from aglet import Engine, Session, ml

engine = Engine(use_bootstrap=True, mode="parallel")
session = Session(engine, engine.create_keys(bootstrap="medium"))
count = session.slots // 64

pictures, labels = load_digits(return_X_y=True)
pictures = pictures / 16
train, test = slice(0, len(labels) - 512), slice(len(labels) - 512, len(labels) - 512 + count)
network = MLPClassifier((32,), activation="tanh", alpha=0.1, max_iter=400, random_state=1).fit(
    pictures[train], labels[train]
)
model = ml.Sequential.fit(zip(network.coefs_, network.intercepts_, strict=True), np.tanh, pictures[train], degree=15)
print(*model.layers[1:2])

x = session.encrypt(pictures[test], bound=(0, 1), level=7)
start = time.perf_counter()
# The pictures are of the kind of the sample that the activation was fitted on.
scores = model(x, assume=True)
seconds = time.perf_counter() - start
found = session.decrypt(scores)
right = np.mean(found.argmax(axis=1) == labels[test])
same = np.mean(found.argmax(axis=1) == network.predict(pictures[test]))
print(f"{count} pictures in {seconds:.2f} s: {right:.1%} right, {same:.1%} as scikit-learn says")
print(
    f"largest difference of a score to the same network in the clear: {np.abs(found - model(pictures[test])).max():.1e}"
)
assert np.abs(found - model(pictures[test])).max() < 1e-3
assert same > 0.97

# A linear model of one digit against the others, with probabilities.
regression = LogisticRegression(max_iter=500).fit(pictures[train], labels[train] == 3)
probability = ml.LogisticRegression.from_sklearn(regression, reach=16, degree=31)
start = time.perf_counter()
encrypted = probability(x, assume=True)
print(f"logistic regression: {time.perf_counter() - start:.2f} s")
difference = np.abs(session.decrypt(encrypted) - regression.predict_proba(pictures[test])[:, 1]).max()
print(f"largest difference of a probability to scikit-learn: {difference:.3f}; {probability.sigmoid}")
assert difference < 0.05
