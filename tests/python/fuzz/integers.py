"""Random programs of `IntegerEngine` against numpy modulo t: every result is exact, or there is an exception.

Messages are what is worst for noise as often as what is random: all numbers at t/2, one spike, signs that put a whole
polynomial on one root, and slots that are such a polynomial. Toys bootstrap: slots, coefficients and a subring.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from hypothesis import note

from aglet import IntegerCiphertext, IntegerEngine
from aglet.errors import LevelError, NoiseError
from fuzz.draws import draws
from fuzz.sizes import OFTEN, integers

__all__ = ["program"]

WORLDS: list[tuple[int | str, str]] = [
    (65537, "slots"),
    (40961, "slots"),
    (257, "slots"),
    (3, "coefficients"),
    (9999, "coefficients"),
    (32769, "coefficients"),
    (65537, "coefficients"),
    ("toy-int16", "slots"),
    ("toy-int16", "coefficients"),
    ("toy-int16-deep", "slots"),
]
"""Moduli: with all slots, with fewer than coefficients, odd ones of all sizes; and sets with a bootstrap, of 65537."""
_LOG_N = 7
"""Of small rings."""
_FEWER_SLOTS = {40961: {"plaintext_modulus": 40577}, 257: {"plaintext_modulus": 641, "log_n": _LOG_N + 2}}
"""Moduli that have 64 slots, half of a small ring and an eighth, where these have half and few of the published one."""
_DEPTH_4 = {
    "log_n": _LOG_N,
    # Noise is eight times less than in the published ring; so a level has three bits less.
    "base_bits": 33,
    "levels": "{ bits = 31, count = 4 }",
    "special": "{ bits = 35, count = 1 }",
}
_DEEP = {"log_n": _LOG_N, "log_slots": _LOG_N - 1, "secret": f"{{ fixed_weight = {2 ** (_LOG_N - 1)} }}"}


FIXED = -5
"""The step of a fixed rotation key."""


class World:
    """One engine with its keys, and the same arithmetic of numpy."""

    def __init__(self, of: int | str, packing: str, published: bool) -> None:
        if isinstance(of, str):
            changes: dict[str, Any] = _DEEP if of == "toy-int16-deep" else {"log_n": _LOG_N}
            toy = IntegerEngine(preset=of, packing=packing, allow_insecure=True) if published else None
            self.engine = toy or integers(of, packing, **changes)
        elif published:
            self.engine = IntegerEngine(plaintext_modulus=of, depth=4, packing=packing)
        else:
            fewer = _FEWER_SLOTS.get(of, {}) if packing == "slots" else {}
            self.engine = integers("int-levels-13", packing, **_DEPTH_4 | {"plaintext_modulus": of} | fewer)
        self.t, self.slots, self.n = self.engine.plaintext_modulus, packing == "slots", self.engine.slot_count
        self.secret = self.engine.create_secret_key()
        self.public = self.engine.create_public_key(self.secret)
        self.relin = self.engine.create_relinearization_key(self.secret)
        self.rotation = self.engine.create_rotation_key(self.secret) if self.slots else None
        self.fixed = self.engine.create_fixed_rotation_key(self.secret, FIXED, 3) if self.slots else None
        able = self.engine.bootstrap_output_level is not None
        self.bootstrap = self.engine.create_bootstrap_key(self.secret) if able else None
        turns = np.exp(1j * np.pi * np.arange(self.n) / self.n)
        self._forward, self._back = turns, turns.conj()
        self.message = cache(self._message)

    def centred(self, values: Any) -> Any:
        """Modulo t as results come out."""
        return (values + self.t // 2) % self.t - self.t // 2

    def product(self, a: Any, b: Any) -> Any:
        """Slot by slot, or as polynomials modulo X^N + 1: by a transform in doubles, exact for numbers of this size."""
        if self.slots:
            return self.centred(a * b)
        product = np.fft.ifft(np.fft.fft(a * self._forward) * np.fft.fft(b * self._forward)) * self._back
        return self.centred(np.rint(product.real).astype(np.int64))

    def values(self, coefficients: Any) -> Any:
        """The slots of a polynomial: its values at the powers of a root."""
        if not self.slots:
            return coefficients
        root = _root(2 * self.n, self.t)
        powers = np.array([pow(root, i, self.t) for i in range(2 * self.n)])
        found = coefficients % self.t * powers[: self.n] % self.t
        for layer in range(self.n.bit_length() - 1):
            half = self.n >> layer + 1
            low, high = (part.copy() for part in np.moveaxis(found.reshape(-1, 2, half), 1, 0))
            twiddles = powers[2 * (1 << layer) * np.arange(half)]
            found = np.stack([(low + high) % self.t, (low - high) * twiddles % self.t], axis=1).ravel()
        order = np.array([int(f"{k:0{self.n.bit_length() - 1}b}"[::-1], 2) for k in range(self.n)])
        exponents = np.array([pow(5, j, 2 * self.n) for j in range(self.n // 2)])
        return self.centred(found[order[np.concatenate([exponents, 2 * self.n - exponents]) >> 1]])

    def _message(self, kind: str, seed: int) -> Any:
        """A message of one kind, the same for the same seed."""
        random, half, places = np.random.default_rng(seed), self.t // 2, np.arange(self.n)
        if kind == "random":
            return random.integers(-half, half + 1, self.n)
        if kind == "spike":
            return np.where(places == random.integers(self.n), half, 0)
        if kind == "small":
            return random.integers(-1, 2, self.n)
        if kind == "alternating":
            return np.where(places % 2, -half, half)
        if kind == "one number":
            return np.full(self.n, random.integers(-half, half + 1))
        root = 2 * random.integers(self.n) + 1
        worst = half * np.where(np.cos(np.pi * root * places / self.n) < 0, -1, 1)
        return worst if kind == "one root" else self.values(worst)


KINDS = ["random", "spike", "small", "alternating", "one number", "one root", "polynomial on one root"]


def _root(order: int, t: int) -> int:
    """A number of this order modulo the prime t."""
    return next(x for g in range(2, t) if pow(x := pow(g, (t - 1) // order, t), order // 2, t) == t - 1)


@cache
def world(of: int | str, packing: str, published: bool) -> World:
    """Made once for all programs."""
    return World(of, packing, published)


Value = tuple[IntegerCiphertext, Any]


def program(data: Any) -> None:
    """Integers are what numpy gives modulo t, or the operation is refused."""
    [draw] = draws(data, choices=120)
    w = world(*draw.one_of(WORLDS), published=draw.integer(1, OFTEN) == OFTEN)
    top = w.engine.max_level
    steps, growing = (STEPS, GROWING) if w.bootstrap is None else (STEPS + REFRESHING, 2 * GROWING + REFRESHING)
    made: list[Value] = []
    for _ in range(2):
        kind, seed, level = draw.one_of(KINDS), draw.integer(0, 9), draw.one_of([top, top, top, 3, 2, 1])
        message = w.message(kind, seed)
        key = draw.one_of([w.secret, w.public])
        made.append((w.engine.encrypt(message, key, level=level), message))
        note(f"encrypt {kind} {seed} at {level}")
    last, repeated = made[0], draw.flag()
    step, message = (
        draw.one_of(growing if repeated else steps),
        w.message(draw.one_of(KINDS), draw.integer(0, 9)),
    )
    for _ in range(draw.integer(3, 10)):
        if not repeated:
            step, message = draw.one_of(steps), w.message(draw.one_of(KINDS), draw.integer(0, 9))
        other = draw.one_of([last, *made])
        number = draw.one_of([0, 1, 2, -1, w.t // 2, -(w.t // 2), w.t - 1])
        note(f"{step.__name__} with {number}")
        try:
            last = step(w, last, other, message, number)
        except (LevelError, NoiseError) as refused:
            note(str(refused))
            if repeated:
                break
            continue
        made = [*made[-3:], last]
        _check(w, last)


def _check(w: World, value: Value) -> None:
    ct, expected = value
    found = w.engine.decrypt(ct, w.secret)
    wrong = int(np.count_nonzero(found != expected))
    assert wrong == 0, f"{wrong} of {w.n} numbers are wrong, with {ct.noise_budget:.1f} bits by the bound"
    # The exact one is rounded down to whole bits.
    assert 0 < ct.noise_budget < w.engine.noise_budget(ct, w.secret) + 1


def _add(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.add(x[0], y[0]), w.centred(x[1] + y[1])


def _subtract(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.subtract(x[0], y[0]), w.centred(x[1] - y[1])


def _double(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.add(x[0], x[0]), w.centred(2 * x[1])


def _negate(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.negate(x[0]), w.centred(-x[1])


def _add_plain(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.add(x[0], message), w.centred(x[1] + message)


def _subtract_plain(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.subtract(x[0], w.engine.encode(message)), w.centred(x[1] - message)


def _add_number(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.add(x[0], number), w.centred(x[1] + number)


def _multiply(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.multiply(x[0], y[0], w.relin), w.product(x[1], y[1])


def _multiply_scaled(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.multiply(x[0], y[0], w.relin, method="scale-invariant"), w.product(x[1], y[1])


def _square(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.square(x[0], w.relin), w.product(x[1], x[1])


def _sum_of_products(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    e = w.engine
    both = e.add(e.square(x[0]), e.multiply(x[0], y[0]))
    return e.relinearize(both, w.relin), w.centred(w.product(x[1], x[1]) + w.product(x[1], y[1]))


def _product_sum(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    """Operands of any levels and histories, relinearized once."""
    low = w.engine.mod_switch(x[0], max(x[0].level - 1, 0))
    found = w.engine.product_sum([x[0], y[0], low], [y[0], y[0], x[0]], w.relin)
    terms = (x[1], y[1]), (y[1], y[1]), (x[1], x[1])
    return found, w.centred(sum(w.product(a, b) for a, b in terms))


def _multiply_plain(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.multiply(x[0], message), w.product(x[1], message)


def _weighted_sum(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    found = w.engine.weighted_sum([x[0], y[0], x[0]], [message, number, message])
    return found, w.centred(2 * w.product(x[1], message) + y[1] * number)


def _multiply_number(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.multiply(x[0], number), w.centred(x[1] * number)


def _mod_switch(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.mod_switch(x[0], max(x[0].level - 1, 0)), x[1]


def _rescale(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.rescale(x[0]), x[1]


def _rescale_product(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    """What is divided between two products has a correction factor of its own."""
    return w.engine.rescale(w.engine.multiply(x[0], message)), w.product(x[1], message)


def _cube(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.power(x[0], 3, w.relin), w.product(x[1], w.product(x[1], x[1]))


def _polynomial(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    square = w.product(x[1], x[1])
    one = 1 if w.slots else np.eye(1, w.n, dtype=np.int64)[0]
    wanted = w.centred(7 * one - x[1] + number * square + w.product(square, x[1]))
    return w.engine.evaluate_polynomial(x[0], [7, -1, number, 1], w.relin), wanted


def _rotate(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    if w.rotation is None:
        return _negate(w, x, y, message, number)
    if number == 2:
        return w.engine.rotate_rows(x[0], w.fixed), np.roll(x[1].reshape(2, -1), FIXED, axis=1).ravel()
    turned = w.engine.rotate_rows(x[0], w.rotation, 3 * number)
    return turned, np.roll(x[1].reshape(2, -1), 3 * number, axis=1).ravel()


def _swap(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    if w.rotation is None:
        return _negate(w, x, y, message, number)
    return w.engine.rotate_columns(x[0], w.rotation), x[1].reshape(2, -1)[::-1].ravel()


def _sum_slots(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    if w.rotation is None:
        return _negate(w, x, y, message, number)
    return w.engine.sum_slots(x[0], w.rotation), w.centred(np.full(w.n, x[1].sum()))


def _bootstrap(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    return w.engine.bootstrap(x[0], w.bootstrap), x[1]


def _bootstrap_both(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    """Side by side; each is the other's equal on its own."""
    left, right = w.engine.bootstrap_many([x[0], y[0]], w.bootstrap)
    return w.engine.subtract(left, right), w.centred(x[1] - y[1])


def _polynomial_in_parts(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    """Of any level, with bootstraps of the variable and its powers."""
    coefficients = [*range(-3, 6), number, 1]
    found = w.engine.evaluate_polynomial(x[0], coefficients, w.relin, bootstrap_key=w.bootstrap)
    one = np.ones(w.n, dtype=np.int64) if w.slots else np.eye(1, w.n, dtype=np.int64)[0]
    wanted = np.zeros(w.n, dtype=np.int64)
    for c in coefficients[::-1]:
        wanted = w.centred(w.product(wanted, x[1]) + c * one)
    return found, wanted


def _square_and_bootstrap(w: World, x: Value, y: Value, message: Any, number: int) -> Value:
    """A product down to where a bootstrap takes it, which has the noise of sums before it."""
    low = w.engine.square(w.engine.add(w.engine.mod_switch(x[0], 2), number), w.relin)
    shifted = w.centred(x[1] + number)
    return w.engine.bootstrap(low, w.bootstrap), w.product(shifted, shifted)


STEPS: list[Callable[..., Value]] = [
    _add,
    _subtract,
    _double,
    _negate,
    _add_plain,
    _subtract_plain,
    _add_number,
    _multiply,
    _multiply_scaled,
    _square,
    _sum_of_products,
    _product_sum,
    _multiply_plain,
    _weighted_sum,
    _multiply_number,
    _mod_switch,
    _rescale,
    _rescale_product,
    _cube,
    _polynomial,
    _rotate,
    _swap,
    _sum_slots,
]

GROWING = [
    _double,
    _multiply_plain,
    _weighted_sum,
    _multiply_number,
    _multiply,
    _multiply_scaled,
    _square,
    _add_plain,
    _sum_slots,
]
"""What is done again and again until it is refused."""

REFRESHING = [_bootstrap, _bootstrap, _bootstrap_both, _square_and_bootstrap, _polynomial_in_parts]
"""Where the set has a bootstrap."""
