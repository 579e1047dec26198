"""Activations, linear models of scikit-learn, networks, and products of encrypted rows with matrices, at toy size."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
    SGDOneClassSVM,
    TweedieRegressor,
)
from sklearn.svm import SVC, LinearSVC

from aglet import Engine, KeyMismatchError, ParameterError, RangeError, Session, ml

RANDOM = np.random.default_rng(11)
SAMPLES = RANDOM.uniform(-1, 1, (40, 6))
TARGETS = SAMPLES @ RANDOM.uniform(-1, 1, 6) + 0.3


@pytest.fixture(scope="module")
def session(engine: Engine) -> Session:
    return Session(engine, engine.create_keys())


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("interval", [(-1, 1), (-6, 6), (0, 3)])
def test_an_activation(session: Session, interval: tuple[float, float]) -> None:
    made = ml.Activation.fit(sigmoid, 11, interval)
    x = RANDOM.uniform(*interval, 300)
    assert np.abs(made(x) - sigmoid(x)).max() <= made.error * 1.001
    encrypted = session.encrypt(x, bound=interval)
    found = made(encrypted)
    assert encrypted.level - found.level == made.levels
    assert np.abs(session.decrypt(found) - made(x)).max() < 1e-5
    # No polynomial of that degree is much better: that of the least squares is not either.
    dense = np.linspace(*interval, 2000)
    fitted = np.polynomial.Chebyshev.fit(dense, sigmoid(dense), 11)
    assert made.error < 2 * np.abs(fitted(dense) - sigmoid(dense)).max()
    assert f"degree {made.degree}" in repr(made)


def test_activations_that_cannot_be(session: Session) -> None:
    with pytest.raises(RangeError, match="is empty"):
        ml.Activation.fit(np.tanh, 5, (1, 1))
    with pytest.raises(RangeError, match="not finite"), np.errstate(all="ignore"):
        ml.Activation.fit(lambda x: np.log(x), 5, (-1, 1))
    with pytest.raises(RangeError, match="give 1023 or less"):
        ml.Activation.fit(np.tanh, 10**5)
    with pytest.raises(RangeError, match="assume"):
        ml.Activation.fit(np.tanh, 5, (-1, 1))(session.encrypt([2.0], bound=4))


@pytest.mark.parametrize(
    ("rows", "inputs", "outputs"), [(100, 13, 7), (8, 64, 10), (3, 5, 5), (5, 9, 1), (40, 6, 4), (1, 20, 3), (5, 3, 8)]
)
def test_rows_times_a_matrix(session: Session, rows: int, inputs: int, outputs: int) -> None:
    x, matrix = RANDOM.uniform(-1, 1, (rows, inputs)), RANDOM.uniform(-1, 1, (inputs, outputs))
    encrypted = session.encrypt(x)
    found = encrypted @ matrix
    assert encrypted.level - found.level == 1
    assert np.abs(session.decrypt(found) - x @ matrix).max() < 1e-5
    assert found.interval.size >= np.abs(matrix).sum(axis=0).max() * (1 - 1e-9)
    again = (found + np.arange(outputs)) @ matrix.T
    assert np.abs(session.decrypt(again) - (x @ matrix + np.arange(outputs)) @ matrix.T).max() < 1e-4
    turned = encrypted[:, ::-1] @ matrix
    assert np.abs(session.decrypt(turned) - x[:, ::-1] @ matrix).max() < 1e-5


def test_a_matrix_takes_few_rotations(engine: Engine) -> None:
    """Rows of 64 by 32: 95 diagonals in baby and giant steps, not 32 sums of six rotations."""
    plan = Session.plan(lambda x: x @ np.ones((64, 32)), [(8, 64)], engine=engine)
    assert plan.rotations < 40


@pytest.mark.parametrize("targets", [TARGETS, np.stack([TARGETS, -TARGETS, 2 * TARGETS], axis=1)])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(fit_intercept=False)])
def test_linear_models(session: Session, model: Any, targets: Any) -> None:
    model.fit(SAMPLES, targets)
    made = ml.Linear.from_sklearn(model)
    assert np.allclose(made(SAMPLES), model.predict(SAMPLES))
    assert np.abs(session.decrypt(made(session.encrypt(SAMPLES))) - model.predict(SAMPLES)).max() < 1e-5


def test_logistic_models(session: Session) -> None:
    model = LogisticRegression().fit(SAMPLES, TARGETS > 0.3)
    # So far the decision function can go on samples within 1.
    reach = float(np.abs(model.coef_).sum() + np.abs(model.intercept_).sum())
    made = ml.LogisticRegression.from_sklearn(model, reach=reach, degree=15)
    found = session.decrypt(made(session.encrypt(SAMPLES)))
    assert np.abs(found - made(SAMPLES)).max() < 1e-5
    assert np.abs(found - model.predict_proba(SAMPLES)[:, 1]).max() <= made.sigmoid.error * 1.01
    several = LogisticRegression().fit(SAMPLES, np.digitize(TARGETS, [0, 0.5]))
    with pytest.raises(ParameterError, match="more than two"):
        ml.LogisticRegression.from_sklearn(several)
    decisions = session.decrypt(ml.Linear.from_sklearn(several)(session.encrypt(SAMPLES)))
    assert np.array_equal(decisions.argmax(axis=1), several.predict(SAMPLES))


@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(),
        TweedieRegressor(power=1.5, link="log"),
        PLSRegression(),
        SVC(kernel="linear"),
        SGDOneClassSVM(),
    ],
)
def test_models_that_are_not_linear(model: Any) -> None:
    """Their coefficients are not their predictions: a link, means that are taken away, votes of pairs of classes."""
    with pytest.raises(ParameterError, match="a linear model"):
        ml.Linear.from_sklearn(model.fit(SAMPLES, np.digitize(TARGETS, [0, 0.5])))


def test_coefficients_that_are_sparse() -> None:
    model = LogisticRegression().fit(SAMPLES, TARGETS > 0.3)
    expected = model.decision_function(SAMPLES)
    assert np.allclose(ml.Linear.from_sklearn(model.sparsify())(SAMPLES), expected)


@pytest.mark.parametrize("model", [Ridge(), LinearSVC(), SGDClassifier(loss="modified_huber")])
def test_models_whose_probabilities_are_no_sigmoid(model: Any) -> None:
    with pytest.raises(ParameterError, match=r"has no probabilities|something else"):
        ml.LogisticRegression.from_sklearn(model.fit(SAMPLES, TARGETS > 0.3))


@pytest.mark.parametrize("intercept", [0.0, -25.0, 25.0, -1e9])
def test_probabilities_are_compared_where_they_are_not_flat(intercept: float) -> None:
    """Near 0 the probabilities of both models are all 0 or all 1 if the intercept is large."""
    for loss, right in (("modified_huber", False), ("log_loss", True)):
        model = SGDClassifier(loss=loss, random_state=1).fit(SAMPLES, TARGETS > 0.3)
        model.intercept_[:] = intercept
        with nullcontext() if right else pytest.raises(ParameterError, match="something else"):
            ml.LogisticRegression.from_sklearn(model)


def test_layers_of_complex_numbers() -> None:
    for weights, bias in (([1j, 1], 0), ([1, 1], 1j)):
        with pytest.raises(TypeError, match="real numbers"):
            ml.Linear(np.array(weights), np.asarray(bias))
    with pytest.raises(TypeError, match="real numbers"):
        ml.Sequential.fit([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))], np.tanh, np.full((1, 2), 1j))


def test_a_network(session: Session) -> None:
    """Weights as torch gives them: (outputs, inputs), so they come transposed."""
    weights = [RANDOM.normal(0, 0.5, shape) for shape in ((5, 6), (4, 5), (2, 4))]
    biases = [RANDOM.normal(0, 0.5, len(one)) for one in weights]
    pairs = [(one.T, bias) for one, bias in zip(weights, biases, strict=True)]
    model = ml.Sequential.fit(pairs, np.tanh, SAMPLES, degree=9)
    expected = SAMPLES
    for one, bias in pairs[:-1]:
        expected = np.tanh(expected @ one + bias)
    expected = expected @ pairs[-1][0] + pairs[-1][1]
    found = session.decrypt(model(session.encrypt(SAMPLES), assume=True))
    assert np.abs(found - model(SAMPLES)).max() < 1e-4
    assert np.abs(found - expected).max() < 0.1
    assert [type(layer).__name__ for layer in model.layers] == ["Linear", "Activation"] * 2 + ["Linear"]


def test_models_outside_their_reach(session: Session) -> None:
    """Logits of 48 and a reach of 8: refused, encrypted or plain; so is what nobody proves, unless somebody says so."""
    model = SimpleNamespace(coef_=np.full((1, 6), 8.0), intercept_=np.zeros(1))
    made = ml.LogisticRegression.from_sklearn(model, reach=8)
    far, near = np.ones((4, 6)), np.full((4, 6), 1 / 6)
    for x in (far, session.encrypt(far), session.encrypt(near), session.encrypt(near * 1j, bound=1 / 6)):
        with pytest.raises(RangeError, match="reach"):
            made(x)
    for given in (made(session.encrypt(near, bound=1 / 6)), made(session.encrypt(near), assume=True)):
        assert np.abs(session.decrypt(given) - sigmoid(8)).max() < made.sigmoid.error * 1.01
        assert -0.01 < given.interval.low < given.interval.high < 1.01
    wide = ml.LogisticRegression.from_sklearn(model, reach=48, degree=63)
    assert np.abs(session.decrypt(wide(session.encrypt(far))) - wide(far)).max() < 1e-4
    network = ml.Sequential.fit([(np.ones((6, 3)), np.zeros(3)), (np.ones((3, 1)), np.zeros(1))], np.tanh, near)
    for x in (far, session.encrypt(far), session.encrypt(near)):
        with pytest.raises(RangeError, match="sample"):
            network(x)
    assert np.abs(session.decrypt(network(session.encrypt(near, bound=1 / 6))) - network(near)).max() < 1e-5
    with pytest.raises(RangeError, match="sample"):
        ml.Activation.fit(np.tanh, 7, (-1, 1))([0.0, 1.1])


def test_training_outside_its_bounds(session: Session) -> None:
    """A step or two are proved; later ones are refused until somebody says so, and plain samples tell what is true."""
    data = RANDOM.uniform(-1, 1, (64, 4))
    labels = np.where(data[:, 0] > 0, 1, -1)
    rows = ml.labelled_samples(data, labels, session.slots)
    encrypted = session.encrypt(rows, level=session.refreshed_level)
    clear = ml.fit_logistic(rows, steps=2, count=64)
    assert np.abs(session.decrypt(ml.fit_logistic(encrypted, steps=2, count=64)) - clear).max() < 1e-4
    with pytest.raises(RangeError, match=r"As far as is known, the weights .* assume=True"):
        ml.fit_logistic(encrypted, steps=4, count=64)
    with pytest.raises(RangeError, match=r"The weights of this training reach 2.*bound=2"):
        ml.fit_logistic(rows, steps=60, count=64)
    with pytest.raises(RangeError, match=r"The scores of this training reach .*reach=0.1"):
        ml.fit_logistic(rows, steps=8, count=64, reach=0.1)
    with pytest.raises(RangeError, match=r"the scores .* reach=0.1"):
        ml.fit_logistic(encrypted, steps=2, count=64, reach=0.1)


def test_layers_that_cannot_be() -> None:
    with pytest.raises(ParameterError, match="do not make a layer"):
        ml.Linear(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ParameterError, match="no coef_"):
        ml.Linear.from_sklearn(SimpleNamespace())


def test_matrices_that_are_kept(engine: Engine) -> None:
    """The same bytes as without, on both sides, and nothing is encoded twice."""
    keys = engine.create_keys()
    plain, x = RANDOM.uniform(-1, 1, (6, 4)), RANDOM.uniform(-1, 1, (90, 6))
    for session in (Session(engine, keys), Session(engine, replace(keys, matrix=None))):
        matrix = session.encode_matrix(plain)
        rows, vector = session.encrypt(x), session.encrypt(x[0])
        turned = session.encode_matrix(plain.T)
        for kept, (left, right), (_, other) in [
            (matrix, (rows, matrix), (rows, plain)),
            (matrix, (vector, matrix), (vector, plain)),
            (turned, (turned, vector), (None, plain.T @ vector)),
        ]:
            expected = [engine.serialize(chunk) for chunk in (other if left is turned else left @ other).chunks]
            size = 0
            for _ in range(2):
                assert [engine.serialize(chunk) for chunk in (left @ right).chunks] == expected
                assert kept.byte_count == (size or kept.byte_count)
                size = kept.byte_count
        assert size > 0
        matrix.clear()
        assert matrix.byte_count == 0
        with pytest.raises(RangeError, match="two axes"):
            session.encode_matrix([1.0, 2.0])
        with pytest.raises(KeyMismatchError, match="another session"):
            rows @ Session(engine, keys).encode_matrix(plain)
        with pytest.raises(RangeError, match="equal inner lengths"):
            rows @ session.encode_matrix(plain.T)
        layer = ml.Linear(plain, np.ones(4))
        assert np.array_equal(session.decrypt(layer(rows)), session.decrypt(layer.encoded(session)(rows)))
        assert np.array_equal(layer.encoded(session)(x), layer(x))


@pytest.mark.parametrize(("samples", "features", "steps"), [(128, 8, 5), (50, 5, 1), (20, 16, 3)])
def test_training(session: Session, samples: int, features: int, steps: int) -> None:
    """The same weights as in the clear, which are those of Nesterov's descent as it is written in books."""
    labels = np.where(RANDOM.uniform(size=samples) < 0.5, -1, 1)
    data = np.clip(RANDOM.normal(0, 0.4, (samples, features)) + 0.2 * labels[:, None], -1, 1)
    rows = ml.labelled_samples(data, labels, session.slots)
    assert rows.shape[1] * rows.shape[2] == session.slots
    encrypted = session.encrypt(rows, level=session.refreshed_level)
    found = session.decrypt(ml.fit_logistic(encrypted, steps=steps, count=samples, assume=True))[:features]
    clear = ml.fit_logistic(rows, steps=steps, count=samples)[:features]
    weights = ahead = np.zeros(features)
    points = np.linspace(-8, 8, 1001)
    polynomial = np.polynomial.Polynomial.fit(points, sigmoid(points), [0, 1, 3])
    momentum = 1.0
    for _ in range(steps):
        signed = data * labels[:, None]
        moved = ahead + (signed * polynomial(-(signed @ ahead))[:, None]).mean(axis=0)
        momentum, before = (1 + np.sqrt(1 + 4 * momentum**2)) / 2, momentum
        weights, ahead = moved, moved + (moved - weights) * (before - 1) / momentum
    assert np.abs(clear - weights).max() < 1e-9
    assert np.abs(found - clear).max() < 1e-3


def test_training_refreshes_no_more_than_by_hand(engine: Engine) -> None:
    """Ten levels are two steps, and what is refreshed is the pair of small arrays: for eight steps three times."""
    shape = ml.labelled_samples(np.zeros((256, 8)), np.ones(256), engine.slot_count).shape
    plan = Session.plan(lambda x: ml.fit_logistic(x, steps=8, count=256, assume=True), [shape], engine=engine)
    assert plan.refreshes == 6


PAIRS = [1, 4, 4, 5, 1, 1, 4, 7, 2, 1]
"""Levels of sorting 128 values, which no refresh parts: rows of a table, three polynomials of a sign, ranks, where they
stand, a cosine, the kernel, what is steep in it, the product with the values."""


@pytest.mark.parametrize("program", [np.sort, np.argmax])
def test_order_refreshes_no_more_than_by_hand(program: Any) -> None:
    """On one ciphertext nobody needs fewer than who refreshes when the next step does not fit."""

    def plan(engine: Engine, refresh: str) -> Any:
        return Session.plan(program, [128], engine=engine, refresh=refresh, bounds=[(0, 1)], alpha=9, error_bits=12)

    engine = Engine(use_bootstrap=True)
    deep = Engine(max_level=40, slot_count=engine.slot_count)
    assert deep.max_level - plan(deep, "never").level == sum(PAIRS)
    left, refreshes, refreshed = engine.max_level, 0, 10
    for levels in PAIRS:
        if left < levels:
            left, refreshes = refreshed, refreshes + 1
        left -= levels
    assert plan(engine, "auto").refreshes == refreshes


def test_training_that_cannot_be(session: Session) -> None:
    for samples, labels in ((np.ones(3), [1, 1, 1]), (np.ones((3, 2)), [1, 1]), (np.ones((2, 2)), [0, 1])):
        with pytest.raises(RangeError, match="do not fit labels"):
            ml.labelled_samples(samples, labels, 8)
    with pytest.raises(RangeError, match="use fewer features"):
        ml.labelled_samples(np.ones((2, 9)), [1, 1], 8)
    with pytest.raises(RangeError, match="labelled_samples"):
        ml.fit_logistic(session.encrypt(np.ones((2, 2))), steps=1, count=2)


class Tensor:
    """What a tensor of torch lets others do with it: nothing at once, an array at last."""

    def __init__(self, data: Any) -> None:
        self._data = np.asarray(data, dtype=np.float32)

    def detach(self) -> Tensor:
        return self

    double = cpu = detach

    def numpy(self) -> np.ndarray:
        return self._data


def module(kind: str, *children: Any, **parts: Any) -> Any:
    """A layer of that name, as `torch.nn` has them."""
    return type(kind, (), {"children": lambda _: iter(children), **parts})()


def test_a_network_of_torch() -> None:
    weights = [RANDOM.normal(0, 0.5, shape).astype(np.float32) for shape in ((5, 6), (2, 5))]
    bias = np.float32(RANDOM.normal(0, 0.5, 5))
    first = module("Linear", weight=Tensor(weights[0]), bias=Tensor(bias))
    last = module("Linear", weight=Tensor(weights[1]), bias=None)
    network = module("Sequential", module("Sequential", first, module("Dropout")), module("Tanh"), last)
    model = ml.Sequential.from_torch(network, SAMPLES, degree=15)
    assert [type(layer).__name__ for layer in model.layers] == ["Linear", "Activation", "Linear"]
    expected = np.tanh(SAMPLES @ weights[0].T + bias) @ weights[1].T
    assert np.abs(model(SAMPLES) - expected).max() < 1e-2
    with pytest.raises(ParameterError, match="Conv2d is not supported"):
        ml.Sequential.from_torch(module("Sequential", module("Conv2d")), SAMPLES)
    with pytest.raises(ParameterError, match="no layer"):
        ml.Sequential.from_torch(module("Sequential"), SAMPLES)


@pytest.mark.parametrize(
    ("kind", "at_one", "at_minus_one"),
    [
        ("ReLU", 1, 0),
        ("ELU", 1, np.exp(-1) - 1),
        ("Tanh", np.tanh(1), -np.tanh(1)),
        ("Sigmoid", sigmoid(1), sigmoid(-1)),
        ("SiLU", sigmoid(1), -sigmoid(-1)),
        ("Softplus", np.log(1 + np.e), np.log(1 + 1 / np.e)),
    ],
)
def test_activations_of_torch(kind: str, at_one: float, at_minus_one: float) -> None:
    model = ml.Sequential.from_torch(module(kind), [[-1.0, 1.0]], degree=63)
    assert np.abs(model(np.array([1.0, -1.0])) - [at_one, at_minus_one]).max() < 0.01


@pytest.mark.parametrize(
    ("layer", "at_one", "at_minus_one"),
    [
        (module("ELU", alpha=0.5), 1, 0.5 * np.expm1(-1)),
        (module("Softplus", beta=3, threshold=20), np.log1p(np.exp(3)) / 3, np.log1p(np.exp(-3)) / 3),
        (module("Softplus", beta=1, threshold=-2), 1, -1),
    ],
)
def test_activations_of_torch_with_parameters(layer: Any, at_one: float, at_minus_one: float) -> None:
    model = ml.Sequential.from_torch(layer, [[-1.0, 1.0]], degree=63)
    assert np.abs(model(np.array([1.0, -1.0])) - [at_one, at_minus_one]).max() < 0.01
