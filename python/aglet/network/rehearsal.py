"""A program run on plain tensors with the noise of ciphertexts, to predict the precision of its outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet import _core
from aglet.network.layers import INPUT
from aglet.network.placement import Part, Placed

if TYPE_CHECKING:
    from aglet.network.network import Network

__all__ = ["Noise", "error"]

_SAMPLES, _RUNS, _SEED = 4, 4, 20_261_125
_SURE = 4.0
"""The factor from the largest error of the runs to one that outputs hardly exceed: the slots of one secret differ."""


@dataclass(frozen=True)
class Noise:
    """Deviations of the errors of slots."""

    rounding: float
    """Of a rescale or a key switch, under a ternary secret."""
    refresh: float
    """Of a bootstrap."""

    @classmethod
    def of(cls, preset: _core.PresetInfo, slots: int, refresh_bits: float | None) -> Noise:
        """The noise of a preset; the mean bits of a bootstrap, if there is one."""
        rounding = math.sqrt((1 + 2 * 2.0 ** preset["log_n"] / 3) / 12 * slots) * 2.0 ** -preset["scale_bits"]
        return cls(rounding, 0.0 if refresh_bits is None else math.sqrt(math.pi / 2) * 2.0**-refresh_bits)


def error(network: Network, part: Part, levels: tuple[int, int], noise: Noise) -> float:
    """An error that outputs hardly exceed, for inputs like those of the sample."""
    random: Any = np.random.default_rng(_SEED)
    inputs = np.repeat(network.sample[:_SAMPLES], _RUNS, axis=0)

    def drawn(x: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
        made: NDArray[np.float64] = x + random.standard_normal(x.shape) * deviation
        return made

    def do(placed: Placed, values: Sequence[Any]) -> Any:
        if placed.step is not None:
            return drawn(placed.step.clear(*values), placed.step.noise * noise.rounding)
        return drawn(values[0], noise.refresh if placed.level_out > placed.level_in else noise.rounding)

    stored = drawn(inputs / network.scales[INPUT], noise.rounding)
    found = part.run(stored, levels, do).reshape(len(inputs), -1) * network.scales[network.output]
    return _SURE * float(np.abs(found - network(inputs)).max())
