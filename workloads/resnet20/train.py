"""Train the network on coloured digits and write `weights.npz`: some minutes, with torch, which no extra installs.

python workloads/resnet20/train.py [--out FILE] [--epochs COUNT]
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.resnet20 import model, pictures

BATCH, RATE, DECAY, SHIFT = 64, 0.1, 1e-3, 2
"""Pictures of a step; the highest rate of learning; the decay of weights; pixels that a picture is moved by at most."""


def module(torch: Any) -> Any:
    """ResNet-20 in torch: the layers of `model.architecture` by the same names, a dot instead of a space."""
    nn = torch.nn

    def normed(inputs: int, outputs: int, size: int, stride: int) -> Any:
        return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs))

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            stride = 1 if inputs == outputs else 2
            self.first, self.second = normed(inputs, outputs, 3, stride), normed(outputs, outputs, 3, 1)
            self.short = normed(inputs, outputs, 1, stride) if inputs != outputs else nn.Identity()

        def forward(self, x: Any) -> Any:
            return torch.relu(self.second(torch.relu(self.first(x))) + self.short(x))

    class Whole(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            wide = [model.CHANNELS[0], *model.CHANNELS]
            self.first = normed(3, wide[0], 3, 1)
            self.blocks = nn.ModuleDict({
                f"{stage}_{block}": Block(wide[stage - (block == 1)], wide[stage])
                for stage in range(1, len(wide)) for block in range(1, model.BLOCKS + 1)
            })  # fmt: skip
            self.dense = nn.Linear(wide[-1], model.OUTPUTS)

        def forward(self, x: Any) -> Any:
            x = torch.relu(self.first(x))
            for block in self.blocks.values():
                x = block(x)
            return self.dense(x.mean(dim=(2, 3)))

    return Whole()


def trained(torch: Any, epochs: int) -> Any:
    """The module after its training; the pictures of an epoch have textures, colours and places of their own."""
    torch.manual_seed(1)
    random, made = np.random.default_rng(1), module(torch)
    steps = epochs * -(-len(pictures.coloured(training=True, seed=0)[1]) // BATCH)
    descent = torch.optim.SGD(made.parameters(), lr=RATE, momentum=0.9, nesterov=True, weight_decay=DECAY)
    rates = torch.optim.lr_scheduler.OneCycleLR(descent, RATE, total_steps=steps)
    for epoch in range(epochs):
        x, labels = pictures.coloured(training=True, seed=1_000 + epoch)
        x = np.stack([np.roll(one, tuple(random.integers(-SHIFT, SHIFT + 1, 2)), axis=(1, 2)) for one in x])
        loss: Any = None
        for rows in np.array_split(random.permutation(len(x)), -(-len(x) // BATCH)):
            given, wanted = torch.tensor(x[rows], dtype=torch.float32), torch.tensor(labels[rows])
            loss = torch.nn.functional.cross_entropy(made(given), wanted, label_smoothing=0.05)
            descent.zero_grad()
            loss.backward()
            descent.step()
            rates.step()
        print(f"epoch {epoch + 1} of {epochs}: loss {float(loss.detach()):.3f}", flush=True)
    return made.eval()


def weights(made: Any) -> model.Weights:
    """What `model.architecture` takes: convolutions, factors and shifts of batch norms, and the last layer."""
    found: model.Weights = {}
    for name, layer in made.named_modules():
        if type(layer).__name__ != "Sequential":
            continue
        convolution, norm = layer
        factor = _numbers(norm.weight) / np.sqrt(_numbers(norm.running_var) + norm.eps)
        where = name.replace("blocks.", "block ").replace("_", ".").replace(".first", " first")
        where = where.replace(".second", " second").replace(".short", " short")
        found[where] = _numbers(convolution.weight)
        found[f"{where} norm"] = np.stack([factor, _numbers(norm.bias) - factor * _numbers(norm.running_mean)])
    found["dense"] = np.hstack([_numbers(made.dense.weight), _numbers(made.dense.bias)[:, None]])
    return found


def _numbers(tensor: Any) -> NDArray[np.float64]:
    found: NDArray[np.float64] = tensor.detach().numpy().astype(np.float64)
    return found


def main() -> None:
    """Train, write, and say how many labels of the other pictures are right, by ReLU and by polynomials."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=model.SHIPPED)
    parser.add_argument("--epochs", type=int, default=40)
    given = parser.parse_args()
    try:
        torch: Any = import_module("torch")
    except ImportError:
        raise SystemExit("torch is missing; install it to train the network again.") from None
    made = trained(torch, given.epochs)
    model.save(given.out, weights(made))
    x, labels = pictures.coloured(training=False, seed=3)
    with torch.no_grad():
        scores = _numbers(made(torch.tensor(x, dtype=torch.float32)))
    print(f"ReLU: {(scores.argmax(axis=1) == labels).mean():.1%} of {len(x)} pictures right")
    network = model.network(model.load(given.out))
    polynomial = np.concatenate([network(x[first : first + 50]) for first in range(0, len(x), 50)])
    same = (polynomial.argmax(axis=1) == scores.argmax(axis=1)).mean()
    print(f"polynomials: {(polynomial.argmax(axis=1) == labels).mean():.1%}, the same label for {same:.1%}")


if __name__ == "__main__":
    main()
