"""Networks of torch as layers: `torch.fx` traces them, and its graph is read by the names of modules and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from aglet.errors import ParameterError
from aglet.network.functions import ACTIVATIONS, NOTHING, activation, numbers
from aglet.network.layers import Add, AveragePool, BatchNorm, Convolution, Dense, Function, Layer, Square

__all__ = ["layers", "numbers", "traced"]

_SUMS = ("add", "iadd", "add_")
_PRODUCTS = ("mul", "imul", "mul_")
_POWERS = ("pow", "pow_")
_SHAPES = ("flatten", "view", "reshape", "contiguous", "dropout", "size", "getattr", "getitem")
_CALLED = {
    "relu": "ReLU", "relu_": "ReLU", "silu": "SiLU", "sigmoid": "Sigmoid", "tanh": "Tanh", "elu": "ELU",
    "softplus": "Softplus",
}  # fmt: skip


def layers(module: Any) -> dict[str, tuple[Any, ...]]:
    """The layers of a module of torch, as `Network.fit` takes them.

    Raises
    ------
    ParameterError
        If torch is not installed, the module is in training mode, or it has something that has no layer here.
    """
    if getattr(module, "training", False):
        raise ParameterError("This module is in training mode, where batch norms change; call module.eval() first.")
    try:
        fx = import_module("torch.fx")
    except ImportError as error:
        raise ParameterError(
            "torch is not installed; install it, or make the network with Network.fit from layers."
        ) from error
    return traced(fx.symbolic_trace(module).graph.nodes, dict(module.named_modules()))


def traced(nodes: Any, modules: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The layers of a traced graph: its nodes in their order, and the modules that they call by name.

    Raises
    ------
    ParameterError
        If a node has no layer here.
    """
    found: dict[str, tuple[Any, ...]] = {}
    # The name of the layer that each node is the result of.
    results: dict[Any, str] = {}
    for node in nodes:
        if node.op == "placeholder":
            if "input" in results.values():
                raise ParameterError("This network has several inputs, and one is supported; join them before it.")
            results[node] = "input"
        elif node.op == "output":
            if results.get(node.args[0]) != next(reversed(found), None):
                raise ParameterError("The output of this network is not its last layer; return that.")
        elif (made := _layer(node, modules, results)) is None:
            results[node] = results[node.args[0]]
        else:
            name = str(node.target if node.op == "call_module" else node.name)
            found[name] = made
            results[node] = name
    return found


def _layer(node: Any, modules: Mapping[str, Any], results: Mapping[Any, str]) -> tuple[Any, ...] | None:
    """The layer of a node with the names of its inputs; None if it leaves values as they are."""
    inputs = [results[one] for one in node.args if one in results] if _hashable(node.args) else []
    if node.op == "call_module":
        module = modules[node.target]
        layer = _of_module(module, str(node.target))
        return None if layer is None else (layer, *inputs)
    name = node.target if isinstance(node.target, str) else node.target.__name__
    name = str(name)
    if name in _SHAPES:
        return None
    if name in _SUMS and len(inputs) == 2 and not node.kwargs:
        return (Add(), *inputs)
    if name in _PRODUCTS and len(inputs) == 2 and inputs[0] == inputs[1]:
        return (Square(), inputs[0])
    if name == "square" or (name in _POWERS and len(inputs) == 1 and node.args[1] == 2):
        return (Square(), *inputs)
    # Only what works in place may be said of a function; a module holds its parameters.
    if name in _CALLED and len(inputs) == 1 and len(node.args) == 1 and set(node.kwargs) <= {"inplace"}:
        return (Function(ACTIVATIONS[_CALLED[name]]), *inputs)
    if name in ("avg_pool2d", "adaptive_avg_pool2d"):
        size = node.args[1] if len(node.args) > 1 else node.kwargs.get("kernel_size", node.kwargs.get("output_size"))
        return (_pool(size, node.args[2:] or None, name, adaptive=name.startswith("adaptive")), *inputs)
    raise ParameterError(
        f"The call {name} of this network has no layer here; supported are sums, squares, average pools, flatten and "
        f"{', '.join(sorted(_CALLED))}. Replace it by a module of torch.nn."
    )


def _hashable(given: tuple[Any, ...]) -> bool:
    return not any(isinstance(one, list | dict) for one in given)


def _of_module(module: Any, name: str) -> Layer | None:
    """The layer of a module; None if it leaves values as they are."""
    kind = type(module).__name__
    if kind in NOTHING:
        return None
    if kind in ACTIVATIONS:
        return Function(activation(module))
    if kind in _MODULES:
        return _MODULES[kind](module, name)
    raise ParameterError(
        f"The layer {name}, a {kind}, is not supported; supported are "
        f"{', '.join(sorted({*_MODULES, *ACTIVATIONS, *NOTHING}))}. Replace it, or train without it."
    )


def _convolution(module: Any, name: str) -> Layer:
    weights, groups = numbers(module.weight), module.groups
    if _one("dilation", module.dilation, name) != 1 or module.padding_mode != "zeros":
        raise ParameterError(f"The convolution {name} has a dilation or another padding than zeros; train without it.")
    if groups > 1:
        # Channels of other groups have weight 0.
        outputs, inside, *kernel = weights.shape
        full = np.zeros((outputs, inside * groups, *kernel))
        for group in range(groups):
            rows = slice(group * outputs // groups, (group + 1) * outputs // groups)
            full[rows, group * inside : (group + 1) * inside] = weights[rows]
        weights = full
    padding = module.padding
    if isinstance(padding, str):
        padding = 0 if padding == "valid" else weights.shape[2] // 2
        if module.padding == "same" and not weights.shape[2] == weights.shape[3] == 2 * padding + 1:
            raise ParameterError(f"The convolution {name} pads more on one side; give it an odd square kernel.")
    bias = None if module.bias is None else numbers(module.bias)
    return Convolution(weights, bias, _one("stride", module.stride, name), _one("padding", padding, name))


def _batch_norm(module: Any, name: str) -> Layer:
    if module.running_mean is None:
        raise ParameterError(f"The batch norm {name} tracks no running mean; train it with track_running_stats=True.")
    factor = 1 / np.sqrt(numbers(module.running_var) + module.eps)
    shift = np.zeros_like(factor)
    if module.affine:
        factor, shift = factor * numbers(module.weight), numbers(module.bias)
    return BatchNorm(factor, shift - numbers(module.running_mean) * factor)


def _dense(module: Any, name: str) -> Layer:
    return Dense(numbers(module.weight), None if module.bias is None else numbers(module.bias))


def _average(module: Any, name: str) -> Layer:
    if module.padding not in (0, (0, 0)) or module.ceil_mode or module.divisor_override is not None:
        raise ParameterError(f"The pool {name} pads or divides by another number; give it its size only.")
    return _pool(module.kernel_size, (module.stride,), name, adaptive=False)


def _adaptive(module: Any, name: str) -> Layer:
    return _pool(module.output_size, None, name, adaptive=True)


def _pool(size: Any, stride: Any, name: str, *, adaptive: bool) -> AveragePool:
    size = _one("size", size, name)
    if adaptive and size != 1:
        raise ParameterError(f"The pool {name} has {size} rows of results; an adaptive pool is supported for 1.")
    if stride and stride[0] is not None and _one("stride", stride[0], name) != size:
        raise ParameterError(f"The squares of the pool {name} overlap or leave gaps; make its stride its size.")
    return AveragePool(None if adaptive else size)


def _one(what: str, given: Any, name: str) -> int:
    """The one number for rows and columns."""
    pair = set(given) if isinstance(given, tuple | list) else {given}
    if len(pair) != 1:
        raise ParameterError(f"The {what} of {name} is {tuple(given)}; one for rows and columns is supported.")
    return int(pair.pop())


_MODULES: dict[str, Callable[[Any, str], Layer]] = {
    "AdaptiveAvgPool2d": _adaptive,
    "AvgPool2d": _average,
    "BatchNorm2d": _batch_norm,
    "Conv2d": _convolution,
    "Linear": _dense,
}
