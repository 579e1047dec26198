"""Models that were trained elsewhere, run on encrypted arrays: activations, linear models, small networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import trained
from aglet.arrays.activation import Activation
from aglet.arrays.array import EncryptedArray
from aglet.arrays.interval import Interval
from aglet.arrays.products import KeptMatrix
from aglet.arrays.session import Session
from aglet.arrays.training import fit_logistic, labelled_samples
from aglet.ckks import values
from aglet.errors import ParameterError
from aglet.network.functions import ACTIVATIONS, NOTHING, activation, numbers, sigmoid
from aglet.network.network import Network

__all__ = [
    "Activation",
    "Linear",
    "LogisticRegression",
    "Network",
    "Sequential",
    "fit_logistic",
    "labelled_samples",
]

_MARGIN = 1.25
"""The range of a sample is widened by this factor."""


@dataclass(frozen=True, eq=False)
class Linear:
    """The layer `x @ weights + bias`, for samples in rows. Uses one level."""

    weights: NDArray[Any]
    """A matrix of shape (inputs, outputs), or a vector for one output."""
    bias: NDArray[Any]
    kept: KeptMatrix | None = None
    """The encoded weights, if the layer keeps them; see `encoded`."""

    def __post_init__(self) -> None:
        weights, bias = (_real("A layer", part) for part in (self.weights, self.bias))
        if weights.ndim not in (1, 2) or bias.shape not in ((), weights.shape[1:]) or not weights.size:
            raise ParameterError(
                f"Weights of shape {weights.shape} and a bias of shape {bias.shape} do not make a layer; give the "
                "shapes (inputs, outputs) and (outputs,), or (inputs,) and ()."
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "bias", bias)

    @classmethod
    def from_sklearn(cls, model: Any) -> Linear:
        """Take a fitted linear model of scikit-learn.

        The layer computes its prediction, or the decision function of a classifier. Both are compared on a few random
        samples.

        Raises
        ------
        ParameterError
            If the model is not fitted, or does not predict `x @ coef_.T + intercept_`, like a Poisson regression.
        """
        return cls(*trained.linear(model))

    def encoded(self, session: Session) -> Linear:
        """The same layer, with its matrix encoded only once for each level and layout; see `Session.encode_matrix`."""
        return replace(self, kept=session.encode_matrix(self.weights)) if self.weights.ndim == 2 else self

    def __call__(self, x: Any) -> Any:
        """Evaluate the layer on an encrypted array of shape (samples, inputs), or on plain numbers."""
        scores = x @ (self.kept if self.kept is not None and isinstance(x, EncryptedArray) else self.weights)
        return scores + self.bias if self.bias.any() else scores

    def known(self, x: Any) -> Interval | None:
        """The interval of the outputs for the inputs of an encrypted array, from the size of each weight."""
        if not isinstance(x, EncryptedArray) or not x.is_real:
            return None
        ends = np.stack([self.weights * x.interval.low, self.weights * x.interval.high])
        low, high = ends.min(axis=0).sum(axis=0) + self.bias, ends.max(axis=0).sum(axis=0) + self.bias
        return Interval(float(np.min(low)), float(np.max(high)))


@dataclass(frozen=True, eq=False)
class LogisticRegression:
    """The probability of the second of two classes: a `Linear` layer and a sigmoid."""

    linear: Linear
    sigmoid: Activation

    @classmethod
    def from_sklearn(cls, model: Any, *, reach: float = 8.0, degree: int = 15) -> LogisticRegression:
        """Take a fitted `sklearn.linear_model.LogisticRegression` with two classes.

        Parameters
        ----------
        reach
            The largest absolute value of the decision function. A sample beyond it is refused.
        degree
            The degree of the polynomial for the sigmoid.

        Raises
        ------
        ParameterError
            If the model has more than two classes, or its probabilities are not the sigmoid of `x @ coef_.T +
            intercept_`.
        """
        linear = Linear.from_sklearn(model)
        if linear.weights.ndim != 1:
            raise ParameterError(
                "This model has more than two classes; use Linear.from_sklearn and take the class of the largest "
                "output."
            )
        if hasattr(model, "predict") and not hasattr(model, "predict_proba"):
            raise ParameterError(
                f"A {type(model).__name__} has no probabilities; take ml.Linear.from_sklearn, or train a "
                "LogisticRegression."
            )
        own = (lambda x: model.predict_proba(x)[:, 1]) if hasattr(model, "predict_proba") else None
        trained.refuse_other(model, own, (linear.weights, linear.bias), lambda x: sigmoid(linear(x)))
        return cls(linear, Activation.fit(sigmoid, degree, (-reach, reach)))

    def __call__(self, x: Any, *, assume: bool = False) -> Any:
        """Compute the probability of the second class, for an encrypted array of samples or for plain numbers.

        Parameters
        ----------
        assume
            Declare that the decision function stays within reach, if the bounds of encrypted samples and the weights do
            not prove it. If it does not, the result is wrong and nothing shows it.

        Raises
        ------
        RangeError
            If the decision function is not known to stay within reach and `assume` was not given.
        """
        largest = np.abs(self.linear.weights).sum() + np.abs(self.linear.bias)
        wider = f"reach= (for samples within 1, reach={np.ceil(largest):g} is enough)"
        return self.sigmoid.within(
            self.linear(x), self.linear.known(x), assume=checks.flag("assume", assume), wider=wider
        )


@dataclass(frozen=True, eq=False)
class Sequential:
    """A network: `Linear` layers and activations, one after the other."""

    layers: tuple[Linear | Activation, ...]

    @classmethod
    def fit(
        cls, weights: Sequence[tuple[Any, Any]], activation: Callable[[Any], Any], sample: Any, *, degree: int = 7
    ) -> Sequential:
        """Make a network with one activation between its layers.

        Each activation is fitted on the range that a sample reaches there.

        Parameters
        ----------
        weights
            For each layer its weights of shape (inputs, outputs) and its bias. For networks of torch, use `from_torch`.
        sample
            Typical inputs, plain, of shape (samples, inputs). The ranges that they reach are widened by a quarter.
        """
        steps: list[Any] = [step for pair in weights for step in (Linear(*pair), activation)]
        return cls._fitted(steps[:-1], sample, degree)

    @classmethod
    def from_torch(cls, module: Any, sample: Any, *, degree: int = 7) -> Sequential:
        """Take a trained `torch.nn.Sequential` of `Linear` layers and activations. A sample says where they are fitted.

        `Dropout`, `Identity` and `Flatten` do nothing here. Torch is not imported; layers are recognized by their
        names.

        Parameters
        ----------
        sample
            Typical inputs, a plain numpy array of shape (samples, inputs). The ranges that they reach are widened by a
            quarter.

        Raises
        ------
        ParameterError
            If the network has no layer, or a layer of another kind.
        """
        steps: list[Any] = []
        for layer in _layers(module):
            kind = type(layer).__name__
            if kind == "Linear":
                weights = numbers(layer.weight).T
                bias = np.zeros(weights.shape[1]) if layer.bias is None else numbers(layer.bias)
                steps.append(Linear(weights, bias))
            elif kind in ACTIVATIONS:
                steps.append(activation(layer))
            elif kind not in NOTHING:
                raise ParameterError(
                    f"A layer {kind} is not supported; supported are Linear, "
                    f"{', '.join(sorted({*ACTIVATIONS, *NOTHING}))}. Fold it into a Linear layer, or train without "
                    "it."
                )
        return cls._fitted(steps, sample, degree)

    @classmethod
    def _fitted(cls, steps: Sequence[Any], sample: Any, degree: int) -> Sequential:
        """The layers, with each function fitted on the range that a sample reaches."""
        if not steps:
            raise ParameterError("This network has no layer; give at least one.")
        layers: list[Linear | Activation] = []
        reached = _real("A sample", sample)
        for step in steps:
            if isinstance(step, Linear):
                layers.append(step)
            else:
                size = float(np.abs(reached).max()) * _MARGIN or 1.0
                layers.append(Activation.fit(step, degree, (-size, size)))
            reached = step(reached)
        return cls(tuple(layers))

    def encoded(self, session: Session) -> Sequential:
        """The same network, with its matrices encoded only once for many batches of samples."""
        return Sequential(tuple(one.encoded(session) if isinstance(one, Linear) else one for one in self.layers))

    def __call__(self, x: Any, *, assume: bool = False) -> Any:
        """Compute the outputs of the last layer, for an encrypted array of samples or for plain numbers.

        Parameters
        ----------
        assume
            Declare that all values stay in the ranges that the sample reached. The bounds of encrypted values and the
            weights hardly ever prove it. If they do not stay there, the result is wrong and nothing shows it.

        Raises
        ------
        RangeError
            If values are not known to stay in these ranges and `assume` was not given.
        """
        assume, known = checks.flag("assume", assume), None
        for layer in self.layers:
            if isinstance(layer, Linear):
                x, known = layer(x), layer.known(x)
            else:
                x, known = layer.within(x, known, assume=assume, wider="a sample that reaches further"), None
        return x


def _real(what: str, given: Any) -> NDArray[np.float64]:
    """An array of real numbers.

    Raises
    ------
    TypeError
        If they are complex.
    """
    array = values.as_array(given)
    if array.dtype.kind == "c":
        raise TypeError(f"{what} has real numbers here, and these are complex; give real and imaginary parts apart.")
    return np.asarray(array, dtype=np.float64)


def _layers(module: Any) -> list[Any]:
    """The layers of a network. Networks inside it are replaced by their layers."""
    if type(module).__name__ != "Sequential":
        return [module]
    return [layer for part in module.children() for layer in _layers(part)]
