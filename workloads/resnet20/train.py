"""Compute the batch norms on pictures for training, train the last layer, and write `weights.npz`; some minutes.

python workloads/resnet20/train.py [--out FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from aglet import ml
from aglet.network.layers import Convolution
from workloads.resnet20 import model, pictures

NORMED = 64
"""The pictures that batch norms are computed on."""
PENALTY = 1e-2
"""Of the squares of the last layer's weights, relative to the features' variance."""


def norms(sample: NDArray[np.float64]) -> model.Norms:
    """Factor and shift of each batch norm, so that each channel has mean 0 and variance 1 on the sample."""
    found: model.Norms = {}
    names = [name for name, (layer, *_) in model.architecture({}).items() if isinstance(layer, Convolution)]
    values = {"input": sample}
    for name in names:
        for step, (layer, *inputs) in model.architecture(found).items():
            if step not in values and all(one in values for one in inputs):
                values[step] = layer(*(values[one] for one in inputs))
        mean, deviation = (how(values[name], axis=(0, 2, 3)) for how in (np.mean, np.std))
        found[name] = np.stack([1 / deviation, -mean / deviation])
    return found


def last(features: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights and bias of the least squares fit to labels of 1 and 0, with a penalty."""
    mean = features.mean(axis=0)
    centred = features - mean
    wanted = np.eye(model.OUTPUTS)[labels]
    ridge = PENALTY * np.trace(centred.T @ centred) / features.shape[1] * np.eye(features.shape[1])
    weights = np.linalg.solve(centred.T @ centred + ridge, centred.T @ (wanted - wanted.mean(axis=0))).T
    bias = wanted.mean(axis=0) - weights @ mean
    return np.hstack([weights, bias[:, None]])


def in_parts(network: ml.Network, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The outputs, some pictures at a time."""
    return np.concatenate([network(x[first : first + 50]) for first in range(0, len(x), 50)])


def main() -> None:
    """Compute, write, and say how many labels of the other pictures are right."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=model.SHIPPED)
    given = parser.parse_args()
    (x, labels), (other, wanted) = (pictures.coloured(part, seed=3) for part in (True, False))
    found = norms(x[:NORMED])
    features = in_parts(model.network(found), x)
    model.save(given.out, {**found, "dense": last(features, labels)})
    scores = in_parts(model.network(model.load(given.out)), other)
    right = (scores.argmax(axis=1) == wanted).mean()
    print(f"{right:.1%} of {len(other)} pictures right; scores up to {np.abs(scores).max():.2f}")


if __name__ == "__main__":
    main()
