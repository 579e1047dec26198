"""Train the network with numpy and write `weights.npz`; a minute. Adam on cross entropy, with moved pictures.

python workloads/mnist/train.py [--idx FOLDER] [--out FILE]

`--idx` is a folder with the files of MNIST. Without it the network learns scikit-learn's digits, which are shipped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.mnist import model, pictures

EPOCHS, BATCH, RATE, DECAY = 40, 64, 1e-3, 1e-2


def gradients(weights: model.Weights, x: model.Vector, labels: NDArray[np.int64]) -> list[model.Vector]:
    """The gradient of the mean cross entropy: matrix and bias of each layer in turn."""
    inputs, before = [x], []
    for number, (matrix, bias) in enumerate(weights):
        before.append(inputs[-1] @ matrix.T + bias)
        if number + 1 < len(weights):
            inputs.append(before[-1] ** 2)
    scores = before[-1] - before[-1].max(axis=1, keepdims=True)
    slope = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    slope[np.arange(len(labels)), labels] -= 1
    slope /= len(labels)
    found: list[model.Vector] = []
    for number in range(len(weights) - 1, -1, -1):
        matrix, _ = weights[number]
        found = [slope.T @ inputs[number] + DECAY * matrix, slope.sum(axis=0), *found]
        if number:
            slope = (slope @ matrix) * 2 * before[number - 1]
    return found


def train(data: pictures.Labelled, seed: int = 1, epochs: int = EPOCHS) -> model.Weights:
    """Train on labelled pictures."""
    rng = np.random.default_rng(seed)
    flat = [
        part for shape in model.SHAPES for part in (rng.normal(0, 0.7 / np.sqrt(shape[1]), shape), np.zeros(shape[0]))
    ]
    weights = list(zip(flat[::2], flat[1::2], strict=True))
    mean, square, step = [np.zeros_like(p) for p in flat], [np.zeros_like(p) for p in flat], 0
    for epoch in range(epochs):
        rate = RATE * (1 - epoch / epochs)
        order, moved = rng.permutation(len(data[0])), pictures.shifted(data[0], rng)
        for first in range(0, len(order), BATCH):
            part, step = order[first : first + BATCH], step + 1
            for i, slope in enumerate(gradients(weights, moved[part], data[1][part])):
                mean[i] += 0.1 * (slope - mean[i])
                square[i] += 0.001 * (slope**2 - square[i])
                flat[i] -= rate * (mean[i] / (1 - 0.9**step)) / (np.sqrt(square[i] / (1 - 0.999**step)) + 1e-8)
    return weights


def main() -> None:
    """Train, write, and say how many labels of the other pictures are right."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--idx", type=Path)
    parser.add_argument("--out", type=Path, default=model.SHIPPED)
    given = parser.parse_args()
    training, test = (
        (pictures.digits(part) if given.idx is None else pictures.idx(given.idx, part)) for part in (True, False)
    )
    weights = train(training)
    model.save(given.out, weights)
    scores = model.classify(model.load(given.out), test[0])
    right = (scores.argmax(axis=1) == test[1]).mean()
    print(f"{right:.1%} of {len(test[1])} pictures right; scores up to {np.abs(scores).max():.1f}")


if __name__ == "__main__":
    main()
