"""Random programs of `Engine` beside numpy: sums, products, plaintexts, rotations, levels, polynomials, bootstraps.

What is decrypted is near numpy's result by a bound that follows from the sizes of all operands, or an exception says
why not. Sizes go from 2^-10 to 2^30 at levels that hold from 2^9 on, so that many programs do not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from hypothesis import note

from aglet import AgletError, Ciphertext, Engine, RangeError
from fuzz.draws import Draws, draws
from fuzz.sizes import levels
from support import toy

__all__ = ["program"]

# What a product, a plaintext or a fresh encryption adds, for values up to 1: the scale is 2^40.
UNIT = 2.0**-20
# A bootstrap of the toy ring.
REFRESHED = 2.0**-13
# Values of this size fit all levels: the lowest has room for 512.
FITS = 2.0**8
# Of so many programs one is in a large ring: those of users, and one whose slots are enough for statistics of noise.
OFTEN = 5


@dataclass
class World:
    engine: Engine
    keys: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        secret = self.engine.create_secret_key()
        self.keys = {
            "secret": secret,
            "public": self.engine.create_public_key(secret),
            "relin": self.engine.create_relinearization_key(secret),
            "conj": self.engine.create_conjugation_key(secret),
            "rot": self.engine.create_rotation_key(secret),
        }
        if self.engine.preset.startswith("toy"):
            self.keys["boot"] = self.engine.create_bootstrap_key(secret)


@cache
def worlds(large: bool) -> list[World]:
    """Rings with all slots, few and one, with a bootstrap and without."""
    if not large:
        return [World(one) for one in (toy(7, 64), toy(7, 4), levels(128, 2), levels(8, 2), levels(1, 1))]
    return [
        World(engine)
        for engine in (
            toy(10, 512),
            toy(10, 4),
            Engine(max_level=2, slot_count=2**12),
            Engine(max_level=2, slot_count=8),
            Engine(max_level=1, slot_count=1),
        )
    ]


@dataclass
class Value:
    """A ciphertext, what it stands for, and by how much it may be off in a slot."""

    ct: Ciphertext
    clear: np.ndarray
    error: float

    @property
    def size(self) -> float:
        return float(np.abs(self.clear).max())


def message(draw: Draws, slots: int) -> np.ndarray:
    """Values of one of the shapes that messages have: spread, positive, all alike, alternating, few, complex."""
    kind = draw.one_of(["spread", "positive", "constant", "alternating", "few", "complex"])
    size = 2.0 ** (draw.integer(-10, 30) if draw.flag() else draw.integer(-3, 3))
    random = np.random.default_rng(draw.integer(0, 2**16 - 1))
    spread = random.uniform(-1, 1, slots)
    if kind == "few":
        spread[min(3, slots) :] = 0
    elif kind == "alternating":
        spread = np.resize([1.0, -1.0], slots)
    elif kind == "constant":
        spread = np.ones(slots)
    elif kind == "positive":
        spread = np.abs(spread) / 2 + 0.5
    elif kind == "complex":
        spread = spread + 1j * random.uniform(-1, 1, slots)
    return spread * size


def fresh(draw: Draws, world: World) -> Value:
    clear = message(draw, world.engine.slot_count)
    key = world.keys[draw.one_of(["secret", "public"])]
    level = None if draw.flag() else draw.integer(0, world.engine.max_level)
    bound = float(np.abs(clear).max()) * 1.5 if draw.integer(0, 3) == 0 else None
    ct = world.engine.encrypt(clear, key, level, bound=bound)
    return Value(ct, clear, UNIT)


def product(x: Value, y: Value) -> tuple[np.ndarray, float]:
    rounding = UNIT * (1 + x.size + y.size)
    return x.clear * y.clear, x.size * y.error + y.size * x.error + x.error * y.error + rounding


def step(draw: Draws, world: World, have: list[Value]) -> tuple[str, Value]:
    """One operation on random operands of those at hand."""
    engine, keys = world.engine, world.keys
    x, y = draw.one_of(have), draw.one_of(have)
    names = ["add", "subtract", "multiply", "square", "number", "integer", "array", "added", "rotate", "conjugate"]
    names += ["down", "polynomial", "power", "weighted", "matrix", "negate", "stored", "chebyshev"]
    names += ["bootstrap"] * ("boot" in keys)
    name = draw.one_of(names)
    match name:
        case "add":
            return name, Value(engine.add(x.ct, y.ct), x.clear + y.clear, x.error + y.error + 2 * UNIT)
        case "subtract":
            return name, Value(engine.subtract(x.ct, y.ct), x.clear - y.clear, x.error + y.error + 2 * UNIT)
        case "negate":
            return name, Value(engine.negate(x.ct), -x.clear, x.error)
        case "multiply":
            return name, Value(engine.multiply(x.ct, y.ct, keys["relin"]), *product(x, y))
        case "square":
            return name, Value(engine.square(x.ct, keys["relin"]), *product(x, x))
        case "number":
            factor = draw.one_of([0.5, -3.25, 1e-3, 700.0, 2.0**40, 1j, 0.0, 1e-9])
            error = abs(factor) * x.error + UNIT * (1 + x.size)
            return name, Value(engine.multiply(x.ct, factor), x.clear * factor, error)
        case "integer":
            factor = draw.one_of([0, 1, -2, 3, 1000, 2**20, 2**40, 2**52])
            return name, Value(engine.multiply(x.ct, factor), x.clear * factor, abs(factor) * x.error)
        case "array":
            other = message(draw, engine.slot_count)
            made = engine.multiply(x.ct, other)
            return name, Value(made, *product(x, Value(made, other, UNIT)))
        case "added":
            other = message(draw, engine.slot_count)
            return name, Value(engine.subtract(other, x.ct), other - x.clear, x.error + 2 * UNIT)
        case "rotate":
            delta = draw.integer(-3, 3)
            return name, Value(engine.rotate(x.ct, keys["rot"], delta), np.roll(x.clear, delta), x.error + UNIT)
        case "conjugate":
            return name, Value(engine.conjugate(x.ct, keys["conj"]), np.conj(x.clear), x.error + UNIT)
        case "down":
            level = draw.integer(0, x.ct.level)
            return name, Value(engine.level_down(x.ct, level), x.clear, x.error + UNIT * (1 + x.size))
        case "stored":
            back = engine.deserialize_ciphertext(engine.serialize_ciphertext(x.ct))
            return name, Value(back, x.clear, x.error)
        case "weighted":
            weights = [draw.one_of([0.5, -2.0, 300.0]), message(draw, engine.slot_count)]
            sizes = [float(np.abs(weight).max()) for weight in weights]
            error = sizes[0] * x.error + sizes[1] * y.error + UNIT * (2 + x.size + y.size + sum(sizes))
            made = engine.weighted_sum([x.ct, y.ct], weights)
            return name, Value(made, weights[0] * x.clear + weights[1] * y.clear, error)
        case "matrix":
            n = min(4, engine.slot_count)
            matrix = np.arange(n * n).reshape(n, n) - 5.0
            clear = np.zeros_like(x.clear)
            clear[:n] = matrix @ x.clear[:n]
            error = np.abs(matrix).sum() * (x.error + UNIT) + UNIT * (1 + x.size) * n
            return name, Value(engine.multiply_matrix(matrix, x.ct, keys["rot"]), clear, error)
        case "bootstrap":
            given = draw.one_of([None, 1.0, 4.0, 1000.0])
            bound = given or 1.0
            if x.size + x.error > bound:
                bound = 2 * (x.size + x.error)
            made = engine.bootstrap(x.ct, keys["relin"], keys["conj"], keys["boot"], bound=bound)
            return name, Value(made, x.clear, x.error + REFRESHED * max(1.0, bound))
        case "power":
            degree = draw.integer(1, 4)
            made = engine.make_power_basis(x.ct, degree, keys["relin"])[-1]
            return name, Value(made, x.clear**degree, terms(x, [0.0] * degree + [1.0]))
    coefficients = draw.several(lambda: draw.one_of([0.0, 1.0, -0.5, 35 / 16, 20.0]), 1, 5)
    if name == "polynomial":
        made = engine.evaluate_polynomial(x.ct, coefficients, keys["relin"])
        return name, Value(made, np.polynomial.Polynomial(coefficients)(x.clear), terms(x, coefficients))
    clear = np.polynomial.chebyshev.chebval(x.clear, coefficients)
    made = engine.evaluate_chebyshev_polynomial(x.ct, coefficients, keys["relin"])
    # T_k has terms up to (1 + sqrt 2)^k.
    return name, Value(made, clear, terms(x, [c * 2.5**k for k, c in enumerate(coefficients)]))


def terms(x: Value, coefficients: list[float]) -> float:
    """The error of a sum of powers: each is off by its slope times the error, and rounded."""
    size = x.size + x.error + 1
    parts = [abs(c) * (k * x.error * size ** max(k - 1, 0) + UNIT * size**k) for k, c in enumerate(coefficients)]
    return 16 * (sum(parts) + UNIT * size)


def check(world: World, value: Value, said: list[str], followed: bool) -> None:
    if not followed and value.size >= FITS:
        # Of what comes out of a file without a bound nobody knows whether it wrapped around: SECURITY.md says so.
        note("nothing tells whether this fits")
        return
    try:
        found = world.engine.decrypt(value.ct, world.keys["secret"])
    except RangeError as error:
        note(f"refused: {error}")
        return
    off = float(np.abs(found - value.clear).max())
    # 2^-40 of a double's own, and of scales that are kept to 2^-45.
    allowed = value.error + 2.0**-30 * value.size
    assert off <= allowed, f"{' '.join(said)}: off by {off:.3g} of {value.size:.3g}, {allowed:.3g} is allowed"
    stated = value.ct.noise
    if stated is not None and value.clear.size >= 512:
        mean = float(np.sqrt(np.mean(np.abs(found - value.clear) ** 2)))
        allowed = stated + 2.0**-44 * value.size
        assert mean <= allowed, f"{' '.join(said)}: noise {mean:.3g}, stated {stated:.3g}"


def program(data: Any) -> None:
    """Steps that are refused are left out; all values that are left decrypt right, or are refused."""
    [draw] = draws(data, choices=120)
    world = draw.one_of(worlds(large=draw.integer(1, OFTEN) == OFTEN))
    have: list[tuple[Value, list[str]]] = []
    for _ in range(draw.integer(1, 2)):
        try:
            have.append((fresh(draw, world), ["fresh"]))
        except AgletError as error:
            note(f"refused: {error}")
    for _ in range(draw.integer(1, 6) if have else 0):
        try:
            name, made = step(draw, world, [value for value, _ in have])
        except AgletError as error:
            note(f"refused: {error}")
            continue
        note(
            f"{world.engine.preset} {world.engine.slot_count}: {name} of size {made.size:.3g} at level {made.ct.level}"
        )
        have.append((made, [*have[-1][1], name]))
    followed = not any(name == "stored" for _, said in have for name in said)
    for value, said in have:
        check(world, value, said, followed)
