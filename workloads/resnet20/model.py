"""ResNet-20 (He et al., 2016, section 4.2) with projections where a stage begins.

`weights.npz` has what `train.py` trained on coloured digits, in half precision.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import ml
from aglet.network.functions import ACTIVATIONS
from aglet.network.layers import Add, AveragePool, BatchNorm, Convolution, Dense, Function
from workloads.common import load_weights
from workloads.resnet20 import pictures

__all__ = ["CHANNELS", "DEGREE", "Layers", "Weights", "architecture", "load", "network", "save"]

CHANNELS, BLOCKS, OUTPUTS = (16, 32, 64), 3, 10
DEGREE = 63
"""Of the polynomial that stands for ReLU."""
SHIPPED = Path(__file__).with_name("weights.npz")
_SAMPLE, _SEED, _MARGIN = 64, 20, 1.5
"""The pictures whose ranges the polynomials are fitted on, and how much wider: few pictures do not show all."""

Layers = dict[str, tuple[Any, ...]]
Weights = dict[str, NDArray[np.float64]]
"""Each convolution; factor and shift of its batch norm, two rows; "dense": weights and bias of the last layer, side by
side."""


def architecture(weights: Weights) -> Layers:
    """The layers, with the names of their inputs."""
    made: Layers = {}

    def normed(name: str, stride: int, before: str) -> str:
        size = weights[name].shape[-1]
        made[name] = (Convolution(weights[name], stride=stride, padding=size // 2), before)
        made[f"{name} norm"] = (BatchNorm(*weights[f"{name} norm"]), name)
        return f"{name} norm"

    def relu(name: str, before: str) -> str:
        made[name] = (Function(ACTIVATIONS["ReLU"]), before)
        return name

    at = relu("relu", normed("first", 1, "input"))
    channels = CHANNELS[0]
    for stage, wide in enumerate(CHANNELS, 1):
        for block in range(1, BLOCKS + 1):
            name, stride = f"block {stage}.{block}", 2 if wide != channels else 1
            inner = relu(f"{name} relu 1", normed(f"{name} first", stride, at))
            last = normed(f"{name} second", 1, inner)
            if wide != channels:
                at = normed(f"{name} short", stride, at)
            made[f"{name} sum"] = (Add(), last, at)
            at, channels = relu(f"{name} relu 2", f"{name} sum"), wide
    made["pool"] = (AveragePool(), at)
    made["dense"] = (Dense(weights["dense"][:, :-1], weights["dense"][:, -1]), "pool")
    return made


def network(weights: Weights) -> ml.Network:
    """The network with polynomials."""
    sample, _ = pictures.coloured(training=True, seed=_SEED)
    return ml.Network.fit(architecture(weights), sample[:_SAMPLE], degree=DEGREE, margin=_MARGIN)


def load(path: Path = SHIPPED, maker: str = "workloads/resnet20/train.py") -> Weights:
    """Read the weights.

    Raises
    ------
    WorkloadError
        If the file is missing or damaged.
    """
    return load_weights(path, maker, architecture)


def save(path: Path, weights: Weights) -> None:
    """Write the weights, in half precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **{name: part.astype(np.float16) for name, part in weights.items()})  # type: ignore[arg-type]
