"""ResNet-20 (He et al., 2016, section 4.2) with projections where a stage begins.

Its convolutions are drawn from a hash and not trained. Their batch norms are those of pictures for training, and the
last layer is trained on what comes before it, so the labels mean something. `weights.npz` has what was computed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import ml
from aglet.network.functions import ACTIVATIONS
from aglet.network.layers import Add, AveragePool, BatchNorm, Convolution, Dense, Function
from workloads.common import WorkloadError, needed
from workloads.resnet20 import pictures

__all__ = ["CHANNELS", "DEGREE", "Layers", "Norms", "architecture", "load", "network", "save"]

CHANNELS, BLOCKS, OUTPUTS = (16, 32, 64), 3, 10
DEGREE = 63
"""Of the polynomial that stands for ReLU."""
SHIPPED = Path(__file__).with_name("weights.npz")
_SAMPLE, _SEED, _MARGIN = 64, 20, 1.75
"""The pictures whose ranges the polynomials are fitted on, and how much wider: few pictures do not show all."""

Layers = dict[str, tuple[Any, ...]]
Norms = dict[str, NDArray[np.float64]]
"""Factor and shift of each batch norm, two rows, and "dense": weights and bias of the last layer, side by side."""


def architecture(norms: Norms) -> Layers:
    """The layers, up to the one before the first batch norm that is not known, or all."""
    made: Layers = {}

    def convolution(name: str, shape: tuple[int, int, int], stride: int, before: str) -> str:
        outputs, inputs, size = shape
        weights = _drawn(name, (outputs, inputs, size, size))
        made[name] = (Convolution(weights, stride=stride, padding=size // 2), before)
        if name in norms:
            made[f"{name} norm"] = (BatchNorm(*norms[name]), name)
        return f"{name} norm"

    def relu(name: str, before: str) -> str:
        made[name] = (Function(ACTIVATIONS["ReLU"]), before)
        return name

    at = relu("relu", convolution("first", (CHANNELS[0], 3, 3), 1, "input"))
    channels = CHANNELS[0]
    for stage, wide in enumerate(CHANNELS, 1):
        for block in range(1, BLOCKS + 1):
            name, stride = f"block {stage}.{block}", 2 if wide != channels else 1
            inner = relu(f"{name} relu 1", convolution(f"{name} first", (wide, channels, 3), stride, at))
            last = convolution(f"{name} second", (wide, wide, 3), 1, inner)
            if wide != channels:
                at = convolution(f"{name} short", (wide, channels, 1), stride, at)
            made[f"{name} sum"] = (Add(), last, at)
            at, channels = relu(f"{name} relu 2", f"{name} sum"), wide
    made["pool"] = (AveragePool(), at)
    if "dense" in norms:
        made["dense"] = (Dense(norms["dense"][:, :-1], norms["dense"][:, -1]), "pool")
    return made


def _drawn(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Weights that are uniform, with the variance of He et al. (2015), the same on every machine."""
    count = int(np.prod(shape))
    numbers = np.frombuffer(hashlib.shake_256(f"resnet20 {name}".encode()).digest(2 * count), "<u2")
    limit = np.sqrt(6 / np.prod(shape[1:]))
    drawn: NDArray[np.float64] = ((numbers + 0.5) / 2**15 - 1).reshape(shape) * limit
    return drawn


def network(norms: Norms) -> ml.Network:
    """The network with polynomials."""
    sample, _ = pictures.coloured(training=True, seed=_SEED)
    return ml.Network.fit(architecture(norms), sample[:_SAMPLE], degree=DEGREE, margin=_MARGIN)


def load(path: Path = SHIPPED, maker: str = "workloads/resnet20/train.py") -> Norms:
    """Read batch norms and the last layer.

    Raises
    ------
    WorkloadError
        If the file is missing or damaged.
    """
    needed(path, maker)
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name].astype(float) for name in file.files}
    except (ValueError, EOFError, KeyError, OSError):
        raise WorkloadError(f"{path} is damaged; run {maker} again.") from None


def save(path: Path, norms: Norms) -> None:
    """Write batch norms and the last layer, in single precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **{name: part.astype(np.float32) for name, part in norms.items()})  # type: ignore[arg-type]
