"""Convolutional networks at toy size: packing against numpy, placement against brute force, encrypted against plain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aglet import Engine, KeyMismatchError, LevelError, MissingKeyError, ParameterError, RangeError, ml
from aglet.network import importing
from aglet.network.functions import ACTIVATIONS
from aglet.network.layers import Add, AveragePool, BatchNorm, Convolution, Dense, Function, Square
from aglet.network.packing import Packing, diagonals
from aglet.network.placement import Edge, Join, Part, Series, best, reduced, refresh
from conftest import Keys

RANDOM = np.random.default_rng(2611)
RELU, SILU = ACTIVATIONS["ReLU"], ACTIVATIONS["SiLU"]


def weights(*shape: int) -> np.ndarray:
    return RANDOM.normal(0, 1 / math.sqrt(np.prod(shape[1:])), shape)


# Layers


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_convolution_is_what_its_loops_say(data: st.DataObject) -> None:
    inputs, outputs, stride, padding = (data.draw(st.integers(1, 3)) for _ in range(4))
    kernel = [data.draw(st.integers(1, 3)) for _ in range(2)]
    rows, columns = (data.draw(st.integers(3, 7)) for _ in range(2))
    layer = Convolution(weights(outputs, inputs, *kernel), RANDOM.normal(size=outputs), stride, padding)
    x = RANDOM.normal(size=(2, inputs, rows, columns))
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    made = layer(x)
    assert made.shape[1:] == layer.shape(x.shape[1:])
    for sample, output, row, column in np.ndindex(*made.shape):
        part = padded[sample, :, row * stride : row * stride + kernel[0], column * stride : column * stride + kernel[1]]
        assert made[sample, output, row, column] == pytest.approx(
            (part * layer.weights[output]).sum() + layer.bias[output]
        )


# Packing


def mapped(of: dict[int, np.ndarray], x: np.ndarray) -> np.ndarray:
    return sum(np.resize(d, len(x)) * np.roll(x, -k) for k, d in of.items())  # type: ignore[return-value]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_layers_on_packings_are_what_numpy_computes(data: st.DataObject) -> None:
    """Chains of convolutions with strides, a pool and a dense layer: every copy of every element, and zeros between."""
    batch = data.draw(st.sampled_from([1, 2, 4]))
    slots = 2048 * batch
    shape = (data.draw(st.integers(1, 4)), data.draw(st.integers(4, 8)), data.draw(st.integers(4, 8)))
    x, packing = RANDOM.normal(size=(batch, *shape)), Packing.first(shape, batch)
    row = packing.laid(x, slots)
    for _ in range(data.draw(st.integers(1, 3))):
        kernel = data.draw(st.integers(1, min(3, *x.shape[2:])))
        stride, outputs = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
        layer = Convolution(weights(outputs, x.shape[1], kernel, kernel), None, stride, kernel // 2)
        after = packing.after(layer, layer.shape(x.shape[1:]), slots)
        row, x = mapped(diagonals(layer, packing, after), row), layer(x)
        assert np.abs(row - after.laid(x, slots)).max() < 1e-9
        packing = after
    dense = Dense(weights(data.draw(st.integers(1, 6)), x[0].size))
    after = packing.after(dense, dense.shape(x.shape[1:]), slots)
    row, x = mapped(diagonals(dense, packing, after), row), dense(x)
    assert np.abs(row[after.all_places] - x).max() < 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 5), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2]), st.sampled_from([1, 2]))
def test_pools_are_sums_of_rotations(channels: int, size: int, gap: int, batch: int) -> None:
    x = RANDOM.normal(size=(batch, channels, 8 // gap, 8 // gap))
    packing = Packing.multiplexed(x.shape[1:], gap, 8, 8, batch)
    row = packing.laid(x, 1024)
    for step in packing.sums(size):
        row = row + np.roll(row, -step)
    pooled = AveragePool(size)(x) * size**2
    assert np.abs(row[packing.pooled(size).all_places] - pooled).max() < 1e-9


def test_the_diagonals_of_resnet_20() -> None:
    """Offsets of layers within a stage, of those that lead to the next, and of its shortcut."""
    slots, counts = 2**15, []
    packing, shape = Packing.first((16, 32, 32)), (16, 32, 32)
    for outputs in (16, 32, 64):
        for kernel, stride in ((3, 1 + (outputs > shape[0])), (1, 1 + (outputs > shape[0]))):
            layer = Convolution(weights(outputs, shape[0], kernel, kernel), None, stride, kernel // 2)
            after = packing.after(layer, layer.shape(shape), slots)
            counts.append(len(diagonals(layer, packing, after)))
        packing, shape = after, layer.shape(shape)
        layer = Convolution(weights(outputs, outputs, 3, 3), None, 1, 1)
        counts.append(len(diagonals(layer, packing, packing.after(layer, shape, slots))))
    assert counts == [144, 16, 144, 256, 64, 392, 648, 200, 900]


# Placement


def cheapest(graph: list[tuple[str, str, int, list[float]]], joins: set[str], boot: list[float], levels: int) -> float:
    """All levels of all values, tried one after the other."""

    def change(start: int, end: int) -> float:
        return 0.0 if end <= start else boot[end] if end < len(boot) else math.inf

    names = sorted({name for start, end, *_ in graph for name in (start, end)})
    least = math.inf
    every = range(levels + 1)
    for chosen in itertools.product(*(every for _ in names)):
        # The level at which a value is shared.
        at, total = dict(zip(names, chosen, strict=True)), 0.0
        for name in names:
            into = [edge for edge in graph if edge[1] == name]
            if not into:
                continue
            options = []
            for meet in every:
                costs = []
                for start, _, depth, cost in into:
                    ways = [change(at[start], a) + cost[a] for a in every if a - depth == meet]
                    if name in joins:
                        ways = [change(at[start], meet)]
                    costs.append(min(ways, default=math.inf))
                options.append(sum(costs) + change(meet, at[name]))
            total += min(options)
        least = min(least, total)
    return least


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_placement_is_the_best_of_all(data: st.DataObject) -> None:
    levels = 3
    costs = st.lists(st.integers(0, 9).map(float), min_size=levels + 1, max_size=levels + 1)
    boot = [float(data.draw(st.integers(3, 20))) for _ in range(data.draw(st.integers(2, levels + 1)))]
    depth = st.integers(1, len(boot) - 1)
    shape = data.draw(st.sampled_from(["chain", "residual", "two blocks"]))
    edges = {
        "chain": [("input", "a"), ("a", "b"), ("b", "c")],
        "residual": [("input", "a"), ("a", "b"), ("b", "sum"), ("a", "sum"), ("sum", "d")],
        "two blocks": [("input", "b"), ("b", "sum"), ("input", "sum"), ("sum", "c"), ("c", "tum"), ("sum", "tum")],
    }[shape]
    joins = {"sum", "tum"}
    graph = [(a, b, 0 if b in joins else data.draw(depth), data.draw(costs)) for a, b in edges]
    change = refresh(lambda level: boot[level], len(boot) - 1, levels)
    parts: list[tuple[Any, Any, Part]] = []
    for start, end, used, cost in graph:
        step = Edge.of((start, end), used, lambda level, cost=cost: cost[level], levels)
        part: Part = change if end in joins else Series.of(Series.of(change, step), change)
        parts.append((start, end, part))
    made = reduced(parts, dict.fromkeys(joins, Join("sum", 0, lambda level: 0.0)), "input", edges[-1][1])
    wanted = cheapest(graph, joins, boot, levels)
    found = best(made, levels)
    assert made.table[found] == pytest.approx(wanted)
    # What it walks costs that much and is possible.
    total = 0.0
    by_name = {(a, b): (used, cost) for a, b, used, cost in graph}
    for placed in made.walk(*found):
        if placed.step is None:
            total += boot[placed.level_out] if placed.level_out > placed.level_in else 0.0
        elif placed.step != "sum":
            used, cost = by_name[placed.step]
            assert placed.level_in - placed.level_out == used
            total += cost[placed.level_in]
    assert total == pytest.approx(wanted)


def test_branches_that_cross_are_refused() -> None:
    part = Edge.of("step", 0, lambda level: 1.0, 2)
    crossing = [("input", "a"), ("input", "b"), ("a", "b"), ("a", "c"), ("b", "c")]
    join = Join("sum", 0, lambda level: 0.0)
    with pytest.raises(ParameterError, match="cross"):
        reduced([(a, b, part) for a, b in crossing], {"b": join, "c": join}, "input", "c")
    with pytest.raises(LevelError, match="No placement"):
        best(Edge.of("step", 3, lambda level: 1.0, 2), 2)


# Networks


def residual(activation: Callable[[Any], Any], channels: int = 8) -> dict[str, tuple[Any, ...]]:
    """Six convolutions of 8, 8 and 16 channels on pictures of 8 rows, with residual blocks and batch norms."""
    twice = 2 * channels
    norm = BatchNorm(RANDOM.uniform(0.5, 1, channels), RANDOM.normal(0, 0.1, channels))
    wide = BatchNorm(RANDOM.uniform(0.5, 1, twice), RANDOM.normal(0, 0.1, twice))
    return {
        "conv1": (Convolution(weights(channels, 3, 3, 3), padding=1), "input"),
        "norm1": (norm, "conv1"),
        "act1": (Function(activation), "norm1"),
        "conv2": (Convolution(weights(channels, channels, 3, 3), padding=1), "act1"),
        "norm2": (norm, "conv2"),
        "act2": (Function(activation), "norm2"),
        "conv3": (Convolution(weights(channels, channels, 3, 3), padding=1), "act2"),
        "sum1": (Add(), "conv3", "act1"),
        "act3": (Function(activation), "sum1"),
        "conv4": (Convolution(weights(twice, channels, 3, 3), stride=2, padding=1), "act3"),
        "norm4": (wide, "conv4"),
        "act4": (Function(activation), "norm4"),
        "conv5": (Convolution(weights(twice, twice, 3, 3), padding=1), "act4"),
        "short": (Convolution(weights(twice, channels, 1, 1), stride=2), "act3"),
        "sum2": (Add(), "conv5", "short"),
        "act5": (Function(activation), "sum2"),
        "pool": (AveragePool(), "act5"),
        "dense": (Dense(weights(10, twice), RANDOM.normal(0, 0.1, 10)), "pool"),
    }


SAMPLE = RANDOM.uniform(-1, 1, (12, 3, 8, 8))


def plain(layers: dict[str, tuple[Any, ...]], x: np.ndarray) -> np.ndarray:
    """The network as it was trained, layer by layer."""
    found = {"input": x}
    for name, (layer, *inputs) in layers.items():
        found[name] = layer(*(found[one] for one in inputs))
    return found[name].reshape(len(x), -1)


@pytest.fixture(scope="module")
def network() -> ml.Network:
    return ml.Network.fit(residual(SILU), SAMPLE, degree=15)


def test_a_network_in_the_clear_is_close_to_the_trained_one() -> None:
    layers = residual(SILU)
    errors = [
        np.abs(ml.Network.fit(layers, SAMPLE, degree=d)(SAMPLE) - plain(layers, SAMPLE)).max() for d in (7, 15, 31)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4


def test_a_network_on_ciphertexts(engine: Engine, keys: Keys, network: ml.Network) -> None:
    """The outputs are those of the polynomials in the clear within the stated bits, and the plan counts what runs."""
    plan = network.plan(engine)
    assert plan.bootstraps >= 2
    own = plan.create_keys(keys.secret)
    x = SAMPLE[3] * 0.9
    done: list[tuple[int, int, str]] = []
    encrypted = plan(plan.encrypt(x, keys.secret), own, assume=True, progress=lambda *now: done.append(now))
    found = plan.decrypt(encrypted, keys.secret)
    assert encrypted.level == plan.levels[1]
    assert [what for *_, what in done] == [step.name for step in plan.steps]
    error = np.abs(found - network(x[None])[0]).max()
    assert error < 2.0**-plan.bits
    # The forecast is no empty promise.
    assert error > 2.0 ** (-plan.bits - 6)
    assert plan.bits > 8
    assert len(own.rotations) == len(plan.rotations)
    assert own.byte_count == pytest.approx(plan.key_bytes, rel=0.1)
    assert "bootstraps" in str(plan)
    assert "level" in str(plan.steps[0])


@pytest.mark.parametrize("count", [2, 5])
def test_several_inputs_at_once(engine: Engine, keys: Keys, network: ml.Network, count: int) -> None:
    """Pairs share maps and bootstraps; the last of an odd number has no other."""
    plan = network.plan(engine)
    own = plan.create_keys(keys.secret)
    inputs = [SAMPLE[i] * (0.9 - 0.3 * (i % 3)) for i in range(count)]
    runs: list[int] = []
    found = plan.run_many(
        (plan.encrypt(x, keys.secret) for x in inputs), own, assume=True, progress=lambda done, *_: runs.append(done)
    )
    assert runs == list(range(len(plan.steps)))
    assert len(found) == count
    for x, one in zip(inputs, found, strict=True):
        assert one.level == plan.levels[1]
        assert np.abs(plan.decrypt(one, keys.secret) - network(x[None])[0]).max() < 2.0**-plan.bits
    with pytest.raises(RangeError, match="no ciphertext"):
        plan.run_many([], own, assume=True)
    with pytest.raises(RangeError, match="assume=True"):
        plan.run_many(found, own)


def test_the_plan_is_cheaper_than_to_bootstrap_whenever_levels_run_out(engine: Engine, network: ml.Network) -> None:
    """Greedy placement: the most levels, and a bootstrap to the most levels where a step needs more than are left."""
    plan = network.plan(engine)
    most = engine._core.plan("regular", None, "large")["output_level"]
    level, bootstraps = engine.max_level, 0
    for step in (step for step in plan.steps if step.name not in ("bootstrap", "level_down")):
        depth = step.level_in - step.level_out
        if level < depth:
            level, bootstraps = most, bootstraps + 1
        level -= depth
    assert plan.bootstraps <= bootstraps + 2
    assert all(step.seconds >= 0 for step in plan.steps)


def test_relu_as_a_composite_sign(engine: Engine, keys: Keys) -> None:
    layers = [Convolution(weights(4, 3, 3, 3), padding=1), Function(RELU), AveragePool(2), Dense(weights(3, 64))]
    network = ml.Network.fit(layers, SAMPLE, alpha=6)
    named = {"a": (layers[0], "input"), "b": (layers[1], "a"), "c": (layers[2], "b"), "d": (layers[3], "c")}
    assert np.abs(network(SAMPLE) - plain(named, SAMPLE)).max() < 2.0**-4
    plan = network.plan(engine)
    assert [step.kind for step in plan.steps].count("product") == 1
    own = plan.create_keys(keys.secret)
    found = plan.decrypt(plan(plan.encrypt(SAMPLE[0], keys.secret), own, assume=True), keys.secret)
    assert np.abs(found - network(SAMPLE[:1])[0]).max() < 2.0**-plan.bits


def test_squares_without_a_bootstrap(keys: Keys) -> None:
    """An engine of few levels, and branches of one value that meet in a sum."""
    engine = Engine(max_level=6)
    secret = engine.create_secret_key()
    layers = {
        "conv": (Convolution(weights(4, 1, 3, 3), padding=1), "input"),
        "square": (Square(0.5), "conv"),
        "mix": (Convolution(weights(4, 4, 1, 1)), "square"),
        "sum": (Add(), "mix", "mix", "conv"),
        "pool": (AveragePool(3), "sum"),
        "dense": (Dense(weights(5, 16)), "pool"),
        "last": (Dense(weights(2, 5)), "dense"),
    }
    sample = RANDOM.uniform(-1, 1, (6, 1, 6, 6))
    network = ml.Network.fit(layers, sample)
    assert np.abs(network(sample) - plain(layers, sample)).max() < 1e-12
    plan = network.plan(engine)
    assert plan.bootstraps == 0
    own = plan.create_keys(secret)
    assert own.bootstrap is None
    several = plan.run_many([plan.encrypt(x, secret) for x in sample[1:5]], own, assume=True)
    for x, one in zip(sample[1:5], several, strict=True):
        assert np.abs(plan.decrypt(one, secret) - network(x[None])[0]).max() < 2.0**-plan.bits
    deep = ml.Network.fit([Square()] * 7, sample * 0.1)
    with pytest.raises(LevelError, match="No placement"):
        deep.plan(engine)


def hermite(channels: int) -> Square:
    """An activation of degree 2 with numbers of its own for each channel."""
    return Square(RANDOM.normal(0, 0.3, channels), RANDOM.normal(0, 0.3, channels))


HERMITE = {
    "conv": (Convolution(weights(4, 1, 3, 3), padding=1), "input"),
    "first": (hermite(4), "conv"),
    "inner": (Convolution(weights(8, 4, 3, 3), stride=2, padding=1), "first"),
    "short": (BatchNorm(RANDOM.uniform(0.5, 1, 4), np.zeros(4)), "first"),
    "wide": (Convolution(weights(8, 4, 1, 1), stride=2), "short"),
    "sum": (Add(), "inner", "wide"),
    "last": (hermite(8), "sum"),
    "pool": (AveragePool(2), "last"),
    "dense": (Dense(weights(5, 32), weights(5)), "pool"),
}


def test_a_batch_in_one_ciphertext() -> None:
    """Squares with shifts and constants of channels, where padding is zero and not the constant; two inputs at once."""
    engine = Engine(max_level=8)
    secret = engine.create_secret_key()
    sample = RANDOM.uniform(-1, 1, (6, 1, 8, 8))
    network = ml.Network.fit(HERMITE, sample).bounded(input=1.0, output=50.0)
    assert (network.scales["input"], network.scales["dense"]) == (1.0, 50.0)
    assert np.abs(network(sample) - plain(HERMITE, sample)).max() < 1e-12
    plan = network.plan(engine, batch=2, output_level=2)
    single = network.plan(engine, output_level=2)
    assert plan.levels == single.levels == (8, 2)
    assert plan.rotation_count == single.rotation_count
    few = network.plan(engine, batch=2, output_level=2, few_keys=True)
    assert len(few.rotations) < 0.8 * len(plan.rotations)
    assert few.key_bytes < plan.key_bytes
    own = plan.create_keys(secret, rotations=few.rotations)
    assert own.rotations.keys() == plan.rotations | few.rotations
    other = few.decrypt(few(few.encrypt(sample[1:3], secret), own, assume=True), secret)
    assert np.abs(other - network(sample[1:3])).max() < 2.0**-few.bits
    found = plan.decrypt(plan(plan.encrypt(sample[1:3], secret), own, assume=True), secret)
    assert found.shape == (2, 5)
    assert np.abs(found - network(sample[1:3])).max() < 2.0**-plan.bits
    with pytest.raises(ParameterError, match=r"input of shape \(2, 1, 8, 8\)"):
        plan.encrypt(sample[0], secret)
    with pytest.raises(ParameterError, match="no power of two"):
        network.plan(engine, batch=3)
    with pytest.raises(ParameterError, match="smaller batch"):
        network.plan(engine, batch=128)
    with pytest.raises(LevelError, match="No placement"):
        network.plan(engine, output_level=3)
    for bound in (0.5, math.inf, math.nan):
        with pytest.raises(RangeError, match="larger bound"):
            network.bounded(output=bound / 100)
    with pytest.raises(ParameterError, match="linear layer there"):
        ml.Network.fit([Square()], sample).bounded(input=2.0)


def test_what_cannot_run(engine: Engine, keys: Keys, network: ml.Network) -> None:
    plan = network.plan(engine)
    own = plan.create_keys(keys.secret)
    x = plan.encrypt(SAMPLE[0], keys.secret)
    with pytest.raises(RangeError, match="assume=True"):
        plan(x, own)
    with pytest.raises(RangeError, match="said at most"):
        plan.encrypt(SAMPLE[0] * 9, keys.secret)
    with pytest.raises(ParameterError, match="input of shape"):
        plan.encrypt(SAMPLE, keys.secret)
    with pytest.raises(MissingKeyError, match="create_keys"):
        plan(x, None, assume=True)
    with pytest.raises(KeyMismatchError, match="rotations of this plan"):
        plan(x, replace(own, rotations={}), assume=True)
    with pytest.raises(RangeError, match="said at most"):
        network(SAMPLE * 5)
    with pytest.raises(ParameterError, match="takes inputs of shape"):
        network(SAMPLE[:, :1])
    with pytest.raises(TypeError, match="is an Engine"):
        network.plan(None)
    with pytest.raises(ParameterError, match="bootstrap"):
        network.plan(engine, bootstrap="small")
    with pytest.raises(ParameterError, match="slots"):
        ml.Network.fit([Convolution(weights(16, 3, 1, 1))], SAMPLE).plan(engine)


@pytest.mark.parametrize(
    ("layers", "match"),
    [
        ([], "no layer"),
        ({"a": (Square(), "b")}, "behind its inputs"),
        ({"a": (None, "input")}, "give a layer"),
        ({"input": (Square(), "input")}, "other than"),
        ({"a": (Square(), "input"), "b": (Square(), "input")}, "not used"),
        ([Convolution(weights(2, 5, 3, 3))], "does not fit"),
        ([Dense(weights(2, 5))], "does not fit"),
        ([BatchNorm(np.ones(2), np.ones(2))], "does not fit"),
        ([AveragePool(3)], "do not cover"),
        ({"a": (Add(), "input")}, "two or more"),
        ({"a": (Square(), "input", "input")}, "one input"),
        ({"a": (Square(np.zeros(2)), "input")}, "one for each channel"),
        ({"a": (Square(2.0), "input"), "b": (Add(), "a", "input")}, "no scale fits"),
    ],
)
def test_networks_that_cannot_be(layers: Any, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        ml.Network.fit(layers, SAMPLE)


def test_parameters_that_cannot_be() -> None:
    for make in (
        lambda: Convolution(np.ones((2, 2))),
        lambda: Convolution(np.full((1, 1, 1, 1), np.nan)),
        lambda: Convolution(np.ones((2, 1, 1, 1)), np.ones(3)),
        lambda: Dense(np.ones((2, 1)), np.ones(3)),
        lambda: BatchNorm(np.ones(2), np.ones(3)),
    ):
        with pytest.raises(ParameterError):
            make()
    with pytest.raises(ParameterError, match="shape"):
        ml.Network.fit([Square()], np.ones((3, 8, 8)))
    with pytest.raises(ParameterError, match="alpha"):
        ml.Network.fit([Function(RELU)], SAMPLE, alpha=99)


# Torch, by a stand-in of its graph; tests/python/long/test_torch.py has the real one


def module(kind: str, **fields: Any) -> Any:
    return type(kind, (SimpleNamespace,), {})(**fields)


def fx(op: str, target: Any, *args: Any, **kwargs: Any) -> Any:
    name = target if isinstance(target, str) else target.__name__
    return type("Node", (), {"op": op, "target": target, "name": name, "args": args, "kwargs": kwargs})()


CONV = {"dilation": (1, 1), "padding_mode": "zeros", "stride": (1, 1), "padding": (1, 1), "groups": 1, "bias": None}


def test_a_traced_graph() -> None:
    """Grouped convolutions, batch norms, sums, squares, pools and flatten, called as modules, functions and methods."""
    modules = {
        "conv": module("Conv2d", weight=weights(4, 2, 3, 3), **{**CONV, "groups": 2, "padding": "same"}),
        "norm": module(
            "BatchNorm2d", weight=np.full(4, 2.0), bias=np.ones(4), running_mean=np.ones(4),
            running_var=np.full(4, 4.0), eps=0.0, affine=True,
        ),
        "pool": module(
            "AvgPool2d", kernel_size=2, stride=2, padding=0, ceil_mode=False, divisor_override=None
        ),
        "drop": module("Dropout"),
        "fc": module("Linear", weight=weights(3, 64), bias=np.ones(3)),
    }  # fmt: skip
    x = fx("placeholder", "x")
    conv = fx("call_module", "conv", x)
    norm = fx("call_module", "norm", conv)
    act = fx("call_function", np.tanh, norm)
    twice = fx("call_method", "mul", act, act)
    total = fx("call_method", "add", twice, norm)
    pool = fx("call_module", "pool", total)
    flat = fx("call_method", "flatten", fx("call_module", "drop", pool), 1)
    dropped = flat.args[0]
    fc = fx("call_module", "fc", flat)
    nodes = [x, conv, norm, act, twice, total, pool, dropped, flat, fc, fx("output", "output", fc)]
    found = importing.traced(nodes, modules)
    assert [type(layer).__name__ for layer, *_ in found.values()] == [
        "Convolution", "BatchNorm", "Function", "Square", "Add", "AveragePool", "Dense",
    ]  # fmt: skip
    sample = RANDOM.uniform(-1, 1, (4, 4, 8, 8))
    network = ml.Network.fit(found, sample, degree=31)
    whole = np.zeros((4, 4, 3, 3))
    whole[:2, :2], whole[2:, 2:] = modules["conv"].weight[:2], modules["conv"].weight[2:]
    normed = Convolution(whole, padding=1)(sample)
    normed = (normed - 1) / 2 * 2 + 1
    wanted = AveragePool(2)(np.tanh(normed) ** 2 + normed).reshape(4, -1) @ modules["fc"].weight.T + 1
    assert np.abs(network(sample) - wanted).max() < 1e-3


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        (module("Conv2d", weight=weights(4, 2, 3, 3), **{**CONV, "dilation": 2}), "dilation"),
        (module("Conv2d", weight=weights(4, 2, 3, 3), **{**CONV, "stride": (1, 2)}), "stride"),
        (module("Conv2d", weight=weights(4, 2, 2, 2), **{**CONV, "padding": "same"}), "odd"),
        (module("BatchNorm2d", running_mean=None), "track_running_stats"),
        (module("AdaptiveAvgPool2d", output_size=2), "adaptive"),
        (module("AvgPool2d", kernel_size=2, stride=1, padding=0, ceil_mode=False, divisor_override=None), "stride"),
        (module("AvgPool2d", kernel_size=2, stride=2, padding=1, ceil_mode=False, divisor_override=None), "pads"),
        (module("MaxPool2d"), "not supported"),
    ],
)
def test_modules_that_have_no_layer(changed: Any, match: str) -> None:
    x = fx("placeholder", "x")
    with pytest.raises(ParameterError, match=match):
        importing.traced([x, fx("call_module", "changed", x)], {"changed": changed})


def test_an_activation_keeps_its_parameters() -> None:
    x = fx("placeholder", "x")
    made = importing.traced([x, fx("call_module", "act", x)], {"act": module("ELU", alpha=0.5)})
    assert made["act"][0].function(-1.0) == 0.5 * np.expm1(-1.0)


def test_graphs_that_have_no_layers() -> None:
    x = fx("placeholder", "x")
    for nodes, match in (
        ([x, fx("call_function", np.cos, x)], "cos"),
        ([x, fx("placeholder", "y")], "several inputs"),
        ([x, fx("call_method", "relu", x), fx("output", "output", x)], "last layer"),
        ([x, fx("call_function", pow, x, 3)], "pow"),
        # With parameters, which would be lost.
        ([x, fx("call_method", "elu", x, 0.5)], "elu"),
        ([x, fx("call_method", "softplus", x, beta=2)], "softplus"),
    ):
        with pytest.raises(ParameterError, match=match):
            importing.traced(nodes, {})
    with pytest.raises(ParameterError, match=r"eval\(\)"):
        ml.Network.from_torch(SimpleNamespace(training=True), SAMPLE)
