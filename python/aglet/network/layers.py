"""The layers of a network, on plain tensors of shape (samples, channels, rows, columns)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.errors import ParameterError

__all__ = ["INPUT", "Add", "AveragePool", "BatchNorm", "Convolution", "Dense", "Function", "Layer", "Square"]

INPUT = "input"
"""The name of the input of a network."""

Tensor = NDArray[np.float64]


def _numbers(what: str, given: Any, dimensions: int) -> Tensor:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != dimensions or not array.size or not np.isfinite(array).all():
        raise ParameterError(
            f"{what} is an array of {dimensions} dimensions with finite numbers, and this one has shape {array.shape}; "
            "give the parameters of a trained network."
        )
    return array


def _keep_weights(layer: Any, dimensions: int) -> None:
    """Keep the checked weights and biases of a layer as arrays; biases that were not given are zeros."""
    weights = _numbers("weights", layer.weights, dimensions)
    bias = np.zeros(len(weights)) if layer.bias is None else _numbers("bias", layer.bias, 1)
    if bias.shape != weights.shape[:1]:
        raise ParameterError(f"There are {len(weights)} outputs and {len(bias)} biases; give one for each output.")
    object.__setattr__(layer, "weights", weights)
    object.__setattr__(layer, "bias", bias)


@dataclass(frozen=True, eq=False)
class Convolution:
    """The cross-correlation of torch's `Conv2d`, with zeros around the picture. Uses one level.

    Parameters
    ----------
    weights
        An array of shape (outputs, inputs, rows, columns).
    bias
        One number for each output; zeros by default.
    """

    weights: Any
    bias: Any = None
    stride: int = 1
    padding: int = 0

    def __post_init__(self) -> None:
        _keep_weights(self, 4)
        checks.count("stride", self.stride, 1)
        checks.count("padding", self.padding)

    def shape(self, *inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the output for inputs of shape (channels, rows, columns).

        Raises
        ------
        ParameterError
            If they do not fit.
        """
        channels, *size = _one(self, inputs)
        outputs, expected, *kernel = self.weights.shape
        made = tuple((n + 2 * self.padding - k) // self.stride + 1 for n, k in zip(size, kernel, strict=True))
        if channels != expected or min(made) < 1:
            raise ParameterError(
                f"A convolution with weights of shape {self.weights.shape} does not fit an input of shape {inputs[0]}."
            )
        return (outputs, *made)

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate the layer on plain numbers."""
        edge = (self.padding, self.padding)
        padded = np.pad(x, ((0, 0), (0, 0), edge, edge))
        outputs, rows, columns = self.shape(x.shape[1:])
        made: Tensor = np.zeros((len(x), outputs, rows * columns)) + self.bias[:, None]
        for down, right in np.ndindex(*self.weights.shape[2:]):
            last = down + self.stride * rows, right + self.stride * columns
            window = padded[:, :, down : last[0] : self.stride, right : last[1] : self.stride]
            made += self.weights[:, :, down, right] @ window.reshape(*window.shape[:2], -1)
        return made.reshape(len(x), outputs, rows, columns)

    def scaled(self, factor: Tensor, shift: Tensor) -> Convolution:
        """The convolution followed by `factor * y + shift` for each output."""
        weights = self.weights * factor[:, None, None, None]
        return Convolution(weights, self.bias * factor + shift, self.stride, self.padding)


@dataclass(frozen=True, eq=False)
class Dense:
    """The layer of torch's `Linear`, on all numbers of a sample in their order. Uses one level.

    Parameters
    ----------
    weights
        An array of shape (outputs, inputs).
    bias
        One number for each output; zeros by default.
    """

    weights: Any
    bias: Any = None

    def __post_init__(self) -> None:
        _keep_weights(self, 2)

    def shape(self, *inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The shape (outputs, 1, 1).

        Raises
        ------
        ParameterError
            If the input has another number of elements.
        """
        if int(np.prod(_one(self, inputs))) != self.weights.shape[1]:
            raise ParameterError(
                f"A layer of {self.weights.shape[1]} inputs does not fit an input of shape {inputs[0]}."
            )
        return (len(self.weights), 1, 1)

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate the layer on plain numbers."""
        made: Tensor = x.reshape(len(x), -1) @ self.weights.T + self.bias
        return made[:, :, None, None]

    def scaled(self, factor: Tensor, shift: Tensor) -> Dense:
        """The layer followed by `factor * y + shift` for each output."""
        return Dense(self.weights * factor[:, None], self.bias * factor + shift)


@dataclass(frozen=True, eq=False)
class BatchNorm:
    """`factor * x + shift` in each channel: batch norm as it is after training. It joins the layer before it."""

    factor: Any
    shift: Any

    def __post_init__(self) -> None:
        factor, shift = _numbers("factor", self.factor, 1), _numbers("shift", self.shift, 1)
        if factor.shape != shift.shape:
            raise ParameterError(
                f"There are {len(factor)} factors and {len(shift)} shifts; give one of each a channel."
            )
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "shift", shift)

    def shape(self, *inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the input.

        Raises
        ------
        ParameterError
            If the input has another number of channels.
        """
        if _one(self, inputs)[0] != len(self.factor):
            raise ParameterError(
                f"A batch norm of {len(self.factor)} channels does not fit an input of shape {inputs[0]}."
            )
        return inputs[0]

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate the layer on plain numbers."""
        made: Tensor = x * self.factor[:, None, None] + self.shift[:, None, None]
        return made

    def alone(self) -> Convolution:
        """The same as a convolution, where no layer before it can take it."""
        return Convolution(np.diag(self.factor)[:, :, None, None], self.shift)


@dataclass(frozen=True)
class AveragePool:
    """The mean of squares of `size` rows and columns beside one another; None is the whole picture.

    A pool whose size is a power of two joins the layers behind it if these are linear; others use one level.
    """

    size: int | None = None

    def side(self, shape: tuple[int, ...]) -> int:
        """The number of rows of a square, for an input of this shape.

        Raises
        ------
        ParameterError
            If the squares do not cover the picture.
        """
        size = shape[1] if self.size is None else checks.count("size", self.size, 1)
        if len(shape) != 3 or shape[1] % size or shape[2] % size or (self.size is None and shape[1] != shape[2]):
            raise ParameterError(
                f"Squares of {size} rows do not cover a picture of shape {shape}; choose another size."
            )
        return size

    def shape(self, *inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the output; raises as `side`."""
        channels, rows, columns = _one(self, inputs)
        size = self.side(inputs[0])
        return (channels, rows // size, columns // size)

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate the layer on plain numbers."""
        samples, channels, rows, columns = x.shape
        size = self.side(x.shape[1:])
        made: Tensor = x.reshape(samples, channels, rows // size, size, columns // size, size).mean(axis=(3, 5))
        return made

    def alone(self, shape: tuple[int, ...]) -> Convolution:
        """The same as a convolution, for an input of this shape."""
        size = self.side(shape)
        weights = np.zeros((shape[0], shape[0], size, size))
        weights[np.arange(shape[0]), np.arange(shape[0])] = 1 / size**2
        return Convolution(weights, stride=size)


@dataclass(frozen=True)
class Add:
    """The sum of its inputs, as at the end of a residual block. Uses no level."""

    def shape(self, *inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The common shape of the inputs.

        Raises
        ------
        ParameterError
            If they differ, or there are fewer than two.
        """
        if len(inputs) < 2 or len(set(inputs)) > 1:
            raise ParameterError(f"A sum needs two or more inputs of one shape, and got {list(inputs)}.")
        return inputs[0]

    def __call__(self, *inputs: Tensor) -> Tensor:
        """Add plain numbers."""
        made: Tensor = np.sum(inputs, axis=0)
        return made


@dataclass(frozen=True, eq=False)
class Square:
    """`(x + shift)^2 + constant`: every polynomial of degree 2 but for a factor. Uses one level, and is exact.

    The factor joins the linear layer behind it. So a Hermite polynomial with batch norms (HerPN) is one square.

    Parameters
    ----------
    shift, constant
        A number, or an array of one for each channel.
    """

    shift: Any = 0.0
    constant: Any = 0.0

    def __post_init__(self) -> None:
        for name in ("shift", "constant"):
            given = np.asarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, _numbers(name, given, min(given.ndim, 1)))

    def shape(self, *inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the input.

        Raises
        ------
        ParameterError
            If it has another number of channels than shifts or constants.
        """
        shape = _one(self, inputs)
        if not {one.size for one in (self.shift, self.constant) if one.ndim} <= {shape[0]}:
            raise ParameterError(
                f"A square with shifts of shape {self.shift.shape} and constants of shape {self.constant.shape} does "
                f"not fit an input of shape {shape}; give one number, or one for each channel."
            )
        return shape

    def shifted(self, x: Tensor) -> Tensor:
        """`x + shift` on plain numbers."""
        made: Tensor = x + _of_channels(self.shift)
        return made

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate the layer on plain numbers."""
        made: Tensor = self.shifted(x) ** 2 + _of_channels(self.constant)
        return made


@dataclass(frozen=True)
class Function:
    """A function of one number, such as `numpy.tanh`, in every place. A network fits a polynomial to it."""

    function: Callable[[Any], Any]

    def shape(self, *inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the input."""
        return _one(self, inputs)

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate the function itself on plain numbers."""
        made: Tensor = np.asarray(self.function(x), dtype=np.float64)
        return made


Layer = Convolution | Dense | BatchNorm | AveragePool | Add | Square | Function


def _of_channels(numbers: Tensor) -> Tensor:
    """A number, or one for each channel, for tensors of any number of samples."""
    return numbers if numbers.ndim == 0 else numbers[:, None, None]


def _one(layer: Any, inputs: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    if len(inputs) != 1:
        raise ParameterError(f"A layer {type(layer).__name__} has one input, and got {len(inputs)}.")
    return inputs[0]
