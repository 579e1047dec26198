"""From layers to steps on ciphertexts: packings, scales in the weights, and the graph for placing bootstraps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.forecast import Operations
from aglet.network.layers import INPUT, Add, AveragePool, Convolution, Dense, Function, Square
from aglet.network.packing import Packing
from aglet.network.placement import Edge, Join, Part, Series, reduced, refresh
from aglet.network.polynomials import Composite
from aglet.network.steps import MapStep, PolynomialStep, ProductStep, SquareStep, Step, SumStep

if TYPE_CHECKING:
    from aglet.network.network import Network

__all__ = ["Lowered", "lowered", "placed"]


@dataclass(frozen=True, eq=False)
class Lowered:
    """The steps of a network as a graph."""

    edges: list[tuple[str, str, Step | None]]
    """From one result to another; None hands a result on to where branches meet."""
    joins: Mapping[str, Step]
    """The step where branches meet, by the name of the result."""
    packings: Mapping[str, Packing]


def lowered(network: Network, slots: int, batch: int, giant: int) -> Lowered:
    """The steps of a network for ciphertexts of so many slots, with so many inputs in each.

    A giant step of a linear map weighs `giant` baby steps.

    Raises
    ------
    ParameterError
        If a result does not fit the slots.
    """
    made = _Lowering(network, (slots, batch, giant))
    for name, (layer, inputs) in network.nodes.items():
        made.add(name, layer, inputs)
    return Lowered(made.edges, made.joins, made.packings)


class _Lowering:
    """A graph in the making."""

    def __init__(self, network: Network, sizes: tuple[int, int, int]) -> None:
        self._network = network
        self._slots, batch, self._giant = sizes
        self.edges: list[tuple[str, str, Step | None]] = []
        self.joins: dict[str, Step] = {}
        self.packings = {INPUT: Packing.first(network.shapes[INPUT], batch).within(self._slots)}
        # Pools that have joined the layers behind them: their input and size.
        self._pools: dict[str, tuple[str, int]] = {}

    def add(self, name: str, layer: Any, inputs: tuple[str, ...]) -> None:
        """Add the steps of a layer."""
        scales, shapes = self._network.scales, self._network.shapes
        before = inputs[0]
        if isinstance(layer, AveragePool):
            size = layer.side(shapes[before])
            behind = [node.layer for node in self._network.nodes.values() if name in node.inputs]
            if size & (size - 1) == 0 and behind and all(isinstance(one, Convolution | Dense) for one in behind):
                self._pools[name] = (before, size)
                return
            layer = layer.alone(shapes[before])
        if isinstance(layer, Convolution | Dense):
            self._linear(name, layer, before)
            return
        self.packings[name] = self.packings[before]
        if isinstance(layer, Add):
            self.joins[name] = SumStep(name)
            self.edges += [(one, name, None) for one in inputs]
        elif isinstance(layer, Square):
            stored = Square(layer.shift / scales[before], layer.constant / scales[name])
            self.edges.append((before, name, SquareStep(name, stored, self.packings[before], self._slots)))
        elif isinstance(layer, Function):
            self._function(name, before)

    def _linear(self, name: str, layer: Convolution | Dense, before: str) -> None:
        scales = self._network.scales
        source, size = self._pools.get(before, (before, 1))
        packing = self.packings[source]
        stored = replace(
            layer,
            weights=layer.weights * (scales[source] / scales[name] / size**2),
            bias=layer.bias / scales[name],
        )
        after = packing.pooled(size).after(layer, self._network.shapes[name], self._slots)
        self.packings[name] = after
        self.edges.append((source, name, MapStep(name, stored, packing, after, size, self._slots, self._giant)))

    def _function(self, name: str, before: str) -> None:
        scales, fitted = self._network.scales, self._network.polynomials[name]
        if not isinstance(fitted, Composite):
            self.edges.append((before, name, PolynomialStep(name, np.asarray(fitted.coefficients) / scales[name])))
            return
        stages, at = fitted.stages(scales[before] / scales[name]), before
        for number, coefficients in enumerate(stages, 1):
            # The last one meets the value itself.
            to = f"{name}: sign {number}"
            self.edges.append((at, to, PolynomialStep(to, coefficients)))
            at = to
        self.joins[name] = ProductStep(name)
        self.edges += [(at, name, None), (before, name, None)]


def placed(graph: Lowered, work: Operations, bootstrap: Callable[[int], float], most: int, levels: int) -> Part:
    """The graph as one part, with all ways to place bootstraps.

    Parameters
    ----------
    bootstrap
        The seconds of a bootstrap by its level, which is at most `most`.
    levels
        The highest level of a ciphertext.

    Raises
    ------
    ParameterError
        If branches cross.
    """
    change = refresh(bootstrap, most, levels)

    def cost(step: Step) -> Callable[[int], float]:
        return lambda level: step.cost(work, level)

    starts = [start for start, _, _ in graph.edges]
    parts: list[tuple[Any, Any, Part]] = []
    for start, end, step in graph.edges:
        part: Part = change
        if step is not None:
            part = Series.of(change, Edge.of(step, step.depth, cost(step), levels))
            # What branches share is refreshed once.
            part = Series.of(part, change) if starts.count(end) > 1 else part
        parts.append((start, end, part))
    joins: dict[Hashable, Join] = {name: Join(step, step.depth, cost(step)) for name, step in graph.joins.items()}
    sink = next(end for _, end, _ in reversed(graph.edges))
    return reduced(parts, joins, INPUT, sink)
