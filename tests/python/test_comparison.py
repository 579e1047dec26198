"""Comparisons against numpy, on the toy ring, with the number of bootstraps and the level that the plan states."""

from __future__ import annotations

import json
import runpy
from typing import Any

import numpy as np
import pytest

from aglet import Engine
from aglet.errors import KeyMismatchError, LevelError, MissingKeyError, ParameterError, RangeError
from conftest import Keys
from support import ROOT


def every(keys: Keys) -> tuple[Any, Any, Any]:
    return keys.relinearization, keys.conjugation, keys.bootstrap


def decided(count: int, alpha: int, seed: int) -> np.ndarray:
    """Values of both signs from 2^-alpha to 1, half of them near the threshold."""
    random = np.random.default_rng(seed)
    size = 2.0 ** -random.uniform(0, alpha, count)
    size[: count // 2] = 2.0**-alpha * random.uniform(1.01, 2, count // 2)
    size[:2] = [1, 1.01 * 2.0**-alpha]
    return np.asarray(size * random.choice([-1, 1], count))


class Counted(Engine):
    """Counts its bootstraps."""

    def __init__(self) -> None:
        super().__init__(preset="toy", allow_insecure=True)
        self.count = 0
        core = self._core
        outer = self

        class Core:
            def __getattr__(self, name: str) -> Any:
                outer.count += name == "bootstrap"
                return getattr(core, name)

        self._core = Core()  # type: ignore[assignment]


@pytest.fixture(scope="module")
def counted() -> tuple[Counted, Keys]:
    engine = Counted()
    return engine, Keys.of(engine)


@pytest.mark.parametrize("alpha", range(3, 13))
@pytest.mark.parametrize("error_bits", [12, 20])
def test_signs(counted: tuple[Counted, Keys], alpha: int, error_bits: int) -> None:
    engine, keys = counted
    x = decided(engine.slot_count, alpha, alpha)
    for level in (10, 4, 0):
        plan = engine.comparison_plan(alpha, error_bits=error_bits, level=level)
        engine.count = 0
        result = engine.sign(engine.encrypt(x, keys.secret, level), *every(keys), alpha=alpha, error_bits=error_bits)
        assert (result.level, engine.count) == (plan.level_out, plan.bootstraps)
        assert plan.error <= 2.0**-error_bits
        error = np.abs(engine.decrypt(result, keys.secret) - np.sign(x)).max()
        assert error < plan.error + 2.0**-19, f"level {level}: 2^{np.log2(error):.1f}"
    assert engine.comparison_plan(alpha, error_bits=error_bits).bootstraps <= 1


def test_undecided_values_lie_between(engine: Engine, keys: Keys) -> None:
    x = np.linspace(-(2.0**-6), 2.0**-6, engine.slot_count)
    y = engine.decrypt(engine.sign(engine.encrypt(x, keys.secret), *every(keys), alpha=6), keys.secret).real
    assert np.abs(y).max() < 1 + 2.0**-18
    assert np.diff(y).min() > -(2.0**-16)
    assert abs(y.mean()) < 2.0**-16


@pytest.mark.parametrize("operation", ["compare", "minimum", "maximum"])
@pytest.mark.parametrize("levels", [(10, 10), (7, 9), (10, 1), (0, 0)])
def test_two_values(counted: tuple[Counted, Keys], operation: Any, levels: tuple[int, int]) -> None:
    engine, keys = counted
    random = np.random.default_rng(3)
    left, right = random.uniform(-1, 1, (2, engine.slot_count))
    left[:4], right[:4] = [1, -1, 0.3, 0], [-1, 1, 0.3, 0]
    a, b = (engine.encrypt(v, keys.secret, level) for v, level in zip((left, right), levels, strict=True))
    engine.count = 0
    result = getattr(engine, operation)(a, b, *every(keys), alpha=7)
    plan = engine.comparison_plan(7, operation=operation, level=min(levels))
    assert (result.level, engine.count) == (plan.level_out, plan.bootstraps)
    y = engine.decrypt(result, keys.secret)
    far = np.abs(left - right) >= 2.0**-6
    expected = (left > right) + 0.5 * (left == right) if operation == "compare" else getattr(np, operation)(left, right)
    assert np.abs(y - expected)[far].max() < plan.error + 2.0**-18
    near = 1.0 if operation == "compare" else 2.0**-7
    assert np.abs(y - expected).max() < near + 2.0**-18
    assert np.abs(y - expected)[2:4].max() < 2.0**-16


def test_short_names(engine: Engine) -> None:
    assert engine.min == engine.minimum
    assert engine.max == engine.maximum


@pytest.mark.parametrize("level", [10, 5, 0])
def test_relu(counted: tuple[Counted, Keys], level: int) -> None:
    engine, keys = counted
    x = np.linspace(-1, 1, engine.slot_count)
    engine.count = 0
    result = engine.relu(engine.encrypt(x, keys.secret, level), *every(keys), alpha=6)
    plan = engine.comparison_plan(6, operation="relu", level=level)
    assert (result.level, engine.count) == (plan.level_out, plan.bootstraps)
    error = np.abs(engine.decrypt(result, keys.secret) - np.maximum(x, 0))
    assert error.max() < 2.0**-7
    assert error[np.abs(x) >= 2.0**-6].max() < plan.error + 2.0**-18


def test_values_are_marked_or_declared_real(engine: Engine, keys: Keys) -> None:
    x = np.linspace(-1, 1, engine.slot_count)
    turned = engine.multiply(engine.encrypt(-1j * x, keys.secret, level=1), 1j)
    assert not turned.is_real
    compared = (
        engine.sign,
        engine.relu,
        lambda x, *rest: engine.maximum(x, x, *rest),
        lambda x, *rest: engine.compare(x, x, *rest),
    )
    for compare in compared:
        with pytest.raises(RangeError, match="real=True"):
            compare(turned, *every(keys))
    y = engine.decrypt(engine.sign(turned, *every(keys), alpha=5, real=True), keys.secret)
    assert np.abs(y - np.sign(x))[np.abs(x) > 2.0**-5].max() < 2.0**-17


def test_without_bootstrapping() -> None:
    """An engine with enough levels needs no other key."""
    engine = Engine(max_level=10, slot_count=1024)
    secret = engine.create_secret_key()
    relin = engine.create_relinearization_key(secret)
    x = decided(1024, 5, 1)
    a = engine.encrypt(x, secret)
    plan = engine.comparison_plan(5)
    assert (plan.bootstraps, plan.level_out) == (0, 0)
    assert "no bootstrap" in str(plan)
    assert np.abs(engine.decrypt(engine.sign(a, relin, alpha=5), secret) - np.sign(x)).max() < 2.0**-18
    with pytest.raises(LevelError, match="uses 13 levels and the values are at level 10"):
        engine.sign(a, relin, alpha=8)
    with pytest.raises(LevelError, match="uses 11 levels"):
        engine.relu(a, relin, alpha=5)
    with pytest.raises(LevelError):
        engine.comparison_plan(8)


def test_the_committed_polynomials_are_the_best_ones() -> None:
    """What `tools/fit_sign.py --check` verifies, and that it finds a fault."""
    tool = runpy.run_path(str(ROOT / "tools" / "fit_sign.py"))
    random = np.random.default_rng(1)
    rows = json.loads((ROOT / "python" / "aglet" / "ckks" / "sign_polynomials.json").read_text())["rows"]
    assert [tool["check"](row, random) for row in rows[::3]] == [""] * len(rows[::3])
    rows[0]["polynomials"][1][2] *= 1.01
    assert "not the best" in tool["check"](rows[0], random)


def test_progress(engine: Engine, keys: Keys) -> None:
    seen: list[tuple[int, int, str]] = []
    a = engine.encrypt([0.5], keys.secret, level=10)
    engine.sign(a, *every(keys), alpha=8, progress=lambda *step: seen.append(step))
    assert [what for _, _, what in seen].count("bootstrap") == 1
    assert seen[-1][:2] == (3, 3)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.sign(a, *every(keys), progress=stop)


def test_what_is_refused(engine: Engine, keys: Keys) -> None:
    a = engine.encrypt([0.5], keys.secret, level=10)
    for alpha, error_bits in ((2, 20), (13, 20), (8, 15)):
        with pytest.raises(ParameterError, match="alpha is 3 to 12, and error_bits is 12 or 20"):
            engine.sign(a, *every(keys), alpha=alpha, error_bits=error_bits)
    with pytest.raises(TypeError, match="whole number"):
        engine.sign(a, *every(keys), alpha=8.5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no operation"):
        engine.comparison_plan(8, operation="median")  # type: ignore[arg-type]
    with pytest.raises(LevelError, match="bootstrap key"):
        engine.sign(a, keys.relinearization, alpha=8)
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        engine.sign(a, keys.relinearization, keys.conjugation)
    with pytest.raises(MissingKeyError, match="create_conjugation_key"):
        engine.sign(a, keys.relinearization, None, keys.bootstrap)
    with pytest.raises(MissingKeyError, match="create_relinearization_key"):
        engine.relu(a, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Ciphertext is needed"):
        engine.compare(a, [1], *every(keys))  # type: ignore[arg-type]
    stranger = engine.create_relinearization_key(engine.create_secret_key())
    with pytest.raises(KeyMismatchError):
        engine.sign(a, stranger, alpha=5)


def comparisons(engine: Engine, keys: Keys, a: Any, b: Any, **named: Any) -> list[Any]:
    """Every comparison with this value in it, on both sides where there are two."""
    every_key = every(keys)
    return [
        lambda: engine.sign(a, *every_key, **named),
        lambda: engine.relu(a, *every_key, **named),
        *(
            lambda pair=pair, name=name: getattr(engine, name)(*pair, *every_key, **named)
            for name in ("compare", "maximum", "minimum")
            for pair in ((a, b), (b, a))
        ),
    ]


def test_values_that_are_known_to_be_too_large_are_refused_before_any_work(engine: Engine, keys: Keys) -> None:
    def never(*_: object) -> None:
        raise AssertionError("work was done")

    small = engine.encrypt([0.5], keys.secret, level=10)
    full = engine.encrypt(np.full(engine.slot_count, 0.75), keys.secret, level=10)
    large = [
        engine.encrypt([3.0], keys.secret, level=10),
        engine.rotate(engine.multiply(small, 4), keys.rotation, 1),
        engine.add(small, engine.add(full, full)),
        engine.encrypt([0.5, 1.5], keys.secret, level=0),
    ]
    for value in large:
        for call in comparisons(engine, keys, value, small, alpha=5, progress=never):
            with pytest.raises(RangeError, match="larger than 1, the most that a comparison takes"):
                call()
    declared = engine.encrypt([2j], keys.secret, level=10)
    with pytest.raises(RangeError, match="larger than 1"):
        engine.sign(declared, *every(keys), real=True)


def test_values_at_the_bound_and_unknown_ones_go_on(engine: Engine, keys: Keys) -> None:
    ends = engine.encrypt([1.0, -1.0, 0.5], keys.secret, level=10)
    for call in comparisons(engine, keys, ends, ends, alpha=3, error_bits=12):
        call()
    # A sum of values of both signs is not known, and right.
    half = engine.encrypt([0.75, -0.75], keys.secret, level=10)
    total = engine.add(half, engine.encrypt([-0.5, 0.25], keys.secret, level=10))
    signs = engine.decrypt(engine.sign(total, *every(keys), alpha=3, error_bits=12), keys.secret)
    assert np.abs(signs[:2] - [1, -1]).max() < 2.0**-10


def test_values_that_noise_drives_beyond_1_are_decided(engine: Engine, keys: Keys) -> None:
    """Polynomials of high degree take 1.0002 to -1, unless they are made for more than [-1, 1]."""
    x = np.concatenate([[1.0, -1.0, 1.0], np.zeros(5)])
    a = engine.encrypt(x, keys.secret, level=10)
    for alpha, error_bits in ((10, 20), (12, 12), (8, 20)):
        # As much as a bootstrap of few bits leaves.
        beyond = engine.add(a, np.array([2.0**-13, -(2.0**-13), 2.0**-12, 0, 0, 0, 0, 0]))
        found = engine.decrypt(engine.sign(beyond, *every(keys), alpha=alpha, error_bits=error_bits), keys.secret)
        assert np.abs(found[:3] - x[:3]).max() < 2.0**-10


def test_declared_sizes_are_kept(engine: Engine, keys: Keys) -> None:
    x, y = np.array([0.6, -0.6, 1.0]), np.array([-0.6, 0.6, -1.0])
    a, b = (engine.encrypt(one, keys.secret, level=10, bound=1) for one in (x, y))
    difference = engine.subtract(a, b)
    assert difference.bound == 2
    for call in (engine.sign, engine.relu):
        with pytest.raises(RangeError, match="as large as 2"):
            call(difference, *every(keys))
    with pytest.raises(RangeError, match="as large as 2"):
        engine.maximum(difference, a, *every(keys))
    # What comparisons give is within the range of another one.
    greatest = engine.maximum(engine.maximum(a, b, *every(keys)), a, *every(keys))
    assert greatest.bound is not None
    assert greatest.bound < 1 + 2.0**-18
    assert np.abs(engine.decrypt(greatest, keys.secret)[:3] - np.maximum(x, y)).max() < 2.0**-12
    twice = engine.sign(engine.sign(a, *every(keys)), *every(keys))
    assert np.abs(engine.decrypt(twice, keys.secret)[:3] - np.sign(x)).max() < 1e-3
