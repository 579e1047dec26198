"""`Network`: a convolutional network with polynomials for its functions, in the clear and planned for ciphertexts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.ckks import values
from aglet.errors import ParameterError, RangeError
from aglet.network import importing
from aglet.network.layers import INPUT, Add, AveragePool, BatchNorm, Convolution, Dense, Function, Layer, Square
from aglet.network.plan import NetworkPlan, planned
from aglet.network.polynomials import Composite, Fitted, Fitting

__all__ = ["Network", "Node"]

Tensor = NDArray[np.float64]
_SLACK = 1 + 2.0**-20
"""Rounding, where a value is compared with a range."""
_MOST_PASSES, _EQUAL = 50, 1e-12
"""Scales that squares tie together are found in as many passes as squares follow one another, or not at all."""


class Node(NamedTuple):
    """A layer and the names of the nodes that it takes."""

    layer: Layer
    inputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Network:
    """A trained network for ciphertexts: each function is a polynomial on the range that a sample reaches.

    Examples
    --------
    >>> import numpy as np
    >>> from aglet import ml
    >>> from aglet.network.layers import AveragePool, Convolution, Dense, Square
    >>> weights = np.ones((2, 1, 3, 3)) / 9
    >>> layers = [Convolution(weights, padding=1), Square(), AveragePool(), Dense(np.eye(2))]
    >>> network = ml.Network.fit(layers, np.ones((1, 1, 4, 4)))
    >>> network
    <Network of 4 layers, input (1, 4, 4), 2 outputs>
    """

    nodes: Mapping[str, Node]
    """Layers by name, in an order in which they can be computed; batch norms have joined the layers before them."""
    shapes: Mapping[str, tuple[int, ...]]
    """The shape (channels, rows, columns) of each result, and of the input."""
    scales: Mapping[str, float]
    """What each result, and the input, is divided by on ciphertexts: no value may be larger."""
    polynomials: Mapping[str, Fitted | Composite]
    """What stands for each function."""
    sample: Tensor
    """Typical inputs, which the ranges are from."""

    @classmethod
    def fit(
        cls,
        layers: Any,
        sample: Any,
        *,
        degree: int = 63,
        alpha: int | None = None,
        error_bits: int = 12,
        margin: float = 1.25,
    ) -> Network:
        """Make a network of layers. A sample says on which ranges its functions are fitted.

        Parameters
        ----------
        layers
            A list of layers of `aglet.network.layers`, one after the other, or a dict: for each name a layer and the
            names of its inputs, as `(layer, "input")`. The last one is the output.
        sample
            Typical inputs, a plain array of shape (samples, channels, rows, columns).
        degree
            The degree of the polynomials that stand for functions. Degree 63 uses 6 levels.
        alpha, error_bits
            If alpha is given, ReLU is a product with a composite sign as in `Engine.relu`. It is closer to ReLU and
            uses more levels.
        margin
            The factor by which the ranges that the sample reaches are widened, at least 1.

        Raises
        ------
        ParameterError
            If layers and shapes do not fit, or a name is unknown.
        RangeError
            If the sample is empty or not finite, or the polynomials take it out of the ranges.
        """
        reached = np.asarray(values.as_operand(sample), dtype=np.float64)
        if reached.ndim != 4:
            raise ParameterError(
                f"A sample has shape (samples, channels, rows, columns), and this one has {reached.shape}; reshape it."
            )
        if not checks.real("margin", margin) >= 1 or not np.isfinite(margin):
            raise RangeError(f"margin={margin} is out of range; give 1 or more.")
        nodes = _folded(_named(layers))
        fitting = Fitting(checks.count("degree", degree, 1), checks.optional_count("alpha", alpha), error_bits)
        return _fitted(nodes, reached, fitting, float(margin))

    @classmethod
    def from_torch(cls, module: Any, sample: Any, **options: Any) -> Network:
        """Take a trained module of torch, in evaluation mode, as `torch.fx` traces it.

        It may have convolutions, batch norms, linear layers, average pools, sums, squares and activations.

        Parameters
        ----------
        module
            A `torch.nn.Module` after `module.eval()`.
        sample, options
            As in `fit`; the sample may be a tensor.

        Raises
        ------
        ParameterError
            If torch is not installed, the module is in training mode, or it has a layer of another kind; and as `fit`.
        RangeError
            As `fit`.
        """
        return cls.fit(importing.layers(module), importing.numbers(sample), **options)

    @property
    def output(self) -> str:
        """The name of the last layer."""
        return list(self.nodes)[-1]

    def __repr__(self) -> str:
        outputs = int(np.prod(self.shapes[self.output]))
        return f"<Network of {len(self.nodes)} layers, input {self.shapes[INPUT]}, {outputs} outputs>"

    def __call__(self, x: Any) -> Tensor:
        """Compute outputs in the clear, with the polynomials, for inputs of shape (samples, channels, rows, columns).

        Raises
        ------
        RangeError
            If a value leaves its range, where a polynomial is no longer close to its function.
        ParameterError
            If the inputs have another shape.
        """
        inputs = np.asarray(values.as_operand(x), dtype=np.float64)
        if inputs.shape[1:] != self.shapes[INPUT]:
            raise ParameterError(f"This network takes inputs of shape {self.shapes[INPUT]}, not {inputs.shape[1:]}.")
        found = {INPUT: self._checked(INPUT, inputs)}
        for name, node in self.nodes.items():
            function = self.polynomials.get(name, node.layer)
            found[name] = self._checked(name, function(*(found[one] for one in node.inputs)))
        made: Tensor = found[self.output].reshape(len(inputs), -1)
        return made

    def _checked(self, name: str, x: Tensor) -> Tensor:
        most, allowed = float(np.abs(x).max()), self.scales[name]
        if most > allowed * _SLACK:
            raise RangeError(
                f"A value after layer {name!r} is {most:.6g}, and the sample of this network said at most "
                f"{allowed:.6g}; make the network with a sample that reaches further, or with a larger margin=."
            )
        return x

    def bounded(self, input: float | None = None, output: float | None = None) -> Network:
        """The same network with other bounds of its input or its outputs: ciphertexts hold values divided by them.

        Networks whose outputs are added, or that take one input, need the same bounds.

        Raises
        ------
        RangeError
            If the sample goes beyond a bound.
        ParameterError
            If the layer that begins or ends there is not linear, so that its scale is tied to others.
        """
        linear = Convolution | Dense
        ends = {INPUT: [node.layer for node in self.nodes.values() if INPUT in node.inputs],
                self.output: [self.nodes[self.output].layer]}  # fmt: skip
        reached = {INPUT: float(np.abs(self.sample).max()), self.output: float(np.abs(self(self.sample)).max())}
        scales = dict(self.scales)
        for (name, layers), bound in zip(ends.items(), (input, output), strict=True):
            if bound is None:
                continue
            if not all(isinstance(layer, linear) for layer in layers):
                raise ParameterError(f"The bound of {name!r} follows from other layers; put a linear layer there.")
            if not reached[name] <= checks.real("bound", bound) < math.inf:
                raise RangeError(f"The sample reaches {reached[name]:.6g} in {name!r}; give a larger bound.")
            scales[name] = float(bound)
        return replace(self, scales=scales)

    def plan(
        self,
        engine: Any,
        *,
        bootstrap: str = "large",
        stage_count: int | None = None,
        batch: int = 1,
        output_level: int = 0,
        few_keys: bool = False,
    ) -> NetworkPlan:
        """Place bootstraps, and forecast levels, time, memory and precision. No key is made.

        Parameters
        ----------
        engine
            The CKKS engine. One ciphertext must hold each result of a layer.
        bootstrap, stage_count
            The bootstrap key, as in `create_keys`.
        batch
            The inputs in one ciphertext, a power of two. They share all work.
        output_level
            The least level of the outputs, for what is computed with them.
        few_keys
            Cut linear maps so that they need the fewest rotation keys, for some more time.

        Raises
        ------
        ParameterError
            If a result does not fit the slots, branches cross, or the engine has parameters of its own.
        LevelError
            If the engine has too few levels.
        """
        return planned(self, engine, bootstrap, stage_count, batch, output_level, few_keys)


def _named(layers: Any) -> dict[str, Node]:
    """The layers by name, each with the names of its inputs, which stand before it."""
    if not isinstance(layers, Mapping):
        given = checks.each("layers", layers)
        names = [INPUT, *(f"{type(layer).__name__.lower()}{i}" for i, layer in enumerate(given))]
        layers = {name: (layer, before) for name, before, layer in zip(names[1:], names, given, strict=False)}
    nodes: dict[str, Node] = {}
    for name, (layer, *inputs) in layers.items():
        missing = [one for one in inputs if one != INPUT and one not in nodes]
        if missing or name == INPUT or not isinstance(layer, Layer):
            raise ParameterError(
                f"Layer {name!r} is a {type(layer).__name__} of {inputs}; give a layer of aglet.network.layers, with a "
                f'name other than "{INPUT}", behind its inputs.'
            )
        nodes[name] = Node(layer, tuple(inputs))
    if not nodes:
        raise ParameterError("This network has no layer; give at least one.")
    *others, _ = nodes
    used = {one for node in nodes.values() for one in node.inputs}
    if unused := [name for name in others if name not in used]:
        raise ParameterError(f"The results of {unused} are not used, and the last layer is the output; remove them.")
    return nodes


def _folded(nodes: dict[str, Node]) -> dict[str, Node]:
    """The same network, in which batch norms have joined the linear layers before them."""
    out: dict[str, Node] = {}
    became: dict[str, str] = {INPUT: INPUT}
    for name, (layer, inputs) in nodes.items():
        before = became[inputs[0]] if inputs else ""
        alone = sum(node.inputs.count(inputs[0]) for node in nodes.values()) == 1 if inputs else False
        became[name] = name
        if isinstance(layer, BatchNorm):
            joined = out.get(before)
            if alone and joined is not None and isinstance(joined.layer, Convolution | Dense):
                layer.shape((len(joined.layer.bias), 1, 1))
                out[before] = Node(joined.layer.scaled(layer.factor, layer.shift), joined.inputs)
                became[name] = before
                continue
            layer = layer.alone()
        out[name] = Node(layer, tuple(became[one] for one in inputs))
    return out


def _fitted(nodes: dict[str, Node], sample: Tensor, fitting: Fitting, margin: float) -> Network:
    """The network with ranges, scales and polynomials."""
    shapes: dict[str, tuple[int, ...]] = {INPUT: sample.shape[1:]}
    exact = {INPUT: sample}
    for name, (layer, inputs) in nodes.items():
        shapes[name] = layer.shape(*(shapes[one] for one in inputs))
        exact[name] = layer(*(exact[one] for one in inputs))
    reached = {name: float(np.abs(x).max()) * margin or 1.0 for name, x in exact.items()}
    for layer, inputs in nodes.values():
        if isinstance(layer, Square):
            shifted = float(np.abs(layer.shifted(exact[inputs[0]])).max()) * margin
            reached[inputs[0]] = max(reached[inputs[0]], shifted)
    scales = _scales(nodes, reached)
    polynomials = {
        name: fitting.of(layer.function, scales[inputs[0]])
        for name, (layer, inputs) in nodes.items()
        if isinstance(layer, Function)
    }
    made = Network(nodes, shapes, scales, polynomials, sample)
    made(sample)
    return made


def _scales(nodes: dict[str, Node], reached: dict[str, float]) -> dict[str, float]:
    """A scale for each result: that of a sum is the one of its inputs, that of a square the square of its input's."""
    of = {name: name for name in (INPUT, *nodes)}

    def root(name: str) -> str:
        return name if of[name] == name else root(of[name])

    for name, (layer, inputs) in nodes.items():
        # Pools keep what they are given, as their mean is a sum.
        if isinstance(layer, Add | AveragePool):
            for one in inputs:
                of[root(one)] = root(name)
    scales: dict[str, float] = {}
    for name in (INPUT, *nodes):
        group = root(name)
        scales[group] = max(scales.get(group, 0.0), reached[name])
    squares = [(root(inputs[0]), root(name)) for name, (layer, inputs) in nodes.items() if isinstance(layer, Square)]
    apart = all(source != square for source, square in squares)
    for _ in range(_MOST_PASSES if apart else 0):
        before = dict(scales)
        for source, square in squares:
            scales[square] = max(scales[square], scales[source] * scales[source])
            scales[source] = math.sqrt(scales[square])
        if all(
            math.isfinite(size) and math.isclose(scales[name], size, rel_tol=_EQUAL) for name, size in before.items()
        ):
            return {name: scales[root(name)] for name in of}
    raise ParameterError(
        "A value and its square meet in a sum, and no scale fits both; put a convolution between them."
    )
