"""Random programs of `FhewEngine` against numpy: every method, form and call, and sums beyond what is allowed.

A program has a pool of arrays, each a ciphertext beside the whole numbers that it stands for, and adds a few by random
operations. Numbers are exact integers here, however large. What decrypts must be them, modulo what the form wraps
around at; whatever may not is an exception, and only where `_may_refuse` says so.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import note

from aglet import FhewCiphertext
from aglet.errors import RangeError
from fhew_set import Packed
from fuzz.draws import Draws, draws
from fuzz.sizes import OFTEN, lookups

__all__ = ["program"]

SHAPES: list[tuple[int, ...]] = [(), (1,), (2,), (3,), (2, 1), (1, 2), (2, 2), (0,), (2, 0)]
GATES: dict[str, Callable[[Any, Any], Any]] = {
    "nand": lambda x, y: ~(x & y), "and": operator.and_, "or": operator.or_, "nor": lambda x, y: ~(x | y),
    "xor": operator.xor, "xnor": lambda x, y: ~(x ^ y), "andny": lambda x, y: ~x & y,
}  # fmt: skip
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip
FACTORS = [-3, -2, -1, 0, 2, 3, 5, 17, 65, 1000, 2**20, 2**31, 2**39, 2**40, 2**47, 2**62, 2**63 - 1, -(2**63)]


@functools.cache
def _set(preset: str, published: bool) -> Packed:
    return Packed.of(lookups(preset, published))


@dataclass(frozen=True)
class Value:
    """Ciphertexts, and what they stand for."""

    ct: FhewCiphertext
    clear: np.ndarray[Any, Any]


def program(data: Any) -> None:
    """Gates, tables and numbers give what numpy gives, or an exception."""
    [draw] = draws(data, choices=200)
    steps, presets = KINDS[draw.one_of(_WEIGHTS)]
    steps(draw, _set(draw.one_of(presets), published=draw.integer(1, OFTEN) == OFTEN))


def _drawn(draw: Draws, least: int, most: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    size = int(np.prod(shape))
    found = [draw.one_of([least, most, inner, inner]) for inner in (draw.integer(least, most) for _ in range(size))]
    return np.array(found, dtype=np.int64).reshape(shape)


def _moved(draw: Draws, value: Value) -> Value:
    """The same elements elsewhere: what numpy does to arrays, done to both."""
    clear = value.clear
    moves: list[Callable[[Any], Any]] = [
        lambda x: x.reshape(-1), lambda x: x.T, lambda x: np.flip(x), lambda x: x[np.newaxis], lambda x: x[...],
        lambda x: np.concatenate([x.ravel(), x.ravel()[::-1]]), lambda x: np.stack([x, x], axis=-1),
        lambda x: np.roll(x, 1), lambda x: np.append(x, x[..., :1]) if x.ndim else np.append(x, x),
        lambda x: np.broadcast_to(x, (2, *x.shape)), lambda x: np.repeat(x, 2), lambda x: np.tile(x, 2),
    ]  # fmt: skip
    if clear.size:
        moves += [lambda x: np.take(x, 0), lambda x: np.take(x, -1)]
    if clear.ndim:
        n = clear.shape[0]
        index = draw.several(lambda: draw.integer(-n, n - 1), 0, 3) if n else []
        moves += [lambda x: x[np.array(index, dtype=int)], lambda x: x[::-1], lambda x: x[1:]]
    move = draw.one_of(moves)
    # Of an array without axes of Python's numbers numpy leaves such a number.
    moved = Value(move(value.ct), np.asarray(move(clear), dtype=clear.dtype))
    assert moved.ct.shape == moved.clear.shape
    return moved if moved.clear.size <= 4 else value


def _common(*values: Value) -> bool:
    """Whether shapes go together, and make few elements."""
    try:
        return int(np.prod(np.broadcast_shapes(*(value.clear.shape for value in values)))) <= 4
    except ValueError:
        return False


def _gated(draw: Draws, own: Any, name: str, inputs: tuple[Value, Value, Value]) -> Value | None:
    """A gate on bits, or None if their shapes do not go together."""
    engine, key, (x, y, z) = own.engine, own.key, inputs
    if name == "not":
        return Value(~x.ct, ~x.clear)
    if name == "move":
        return _moved(draw, x)
    if name == "refresh":
        return Value(engine.refresh(x.ct, key), x.clear)
    if name == "mux" and _common(x, y, z):
        return Value(engine.mux(x.ct, y.ct, z.ct, key), np.where(x.clear, y.clear, z.clear))
    if name == "majority" and _common(x, y, z):
        ones = sum(np.asarray(one.clear, dtype=int) for one in (x, y, z))
        return Value(engine.majority(x.ct, y.ct, z.ct, key), np.asarray(ones >= 2))
    if name in GATES and _common(x, y):
        return Value(engine.gate(name, x.ct, y.ct, key), np.asarray(GATES[name](x.clear, y.clear)))
    return None


def _gates(draw: Draws, own: Packed) -> None:
    """Chains of gates, each on results of others."""
    engine = own.engine
    pool: list[Value] = []
    for _ in range(3):
        clear = _drawn(draw, 0, 1, draw.one_of(SHAPES[:4])).astype(bool)
        pool.append(Value(engine.encrypt(clear, own.secret), clear))
    for _ in range(draw.integer(1, 5)):
        x, y, z = (draw.one_of(pool) for _ in range(3))
        name = draw.one_of([*GATES, "majority", "mux", "mux", "not", "move", "refresh"])
        note(f"{name} of shapes {x.clear.shape}, {y.clear.shape}, {z.clear.shape}")
        made = _gated(draw, own, name, (x, y, z))
        if made is not None:
            pool.append(made)
    for value in pool:
        np.testing.assert_array_equal(engine.decrypt(value.ct, own.secret), value.clear)


def _exact(clear: Any) -> np.ndarray[Any, Any]:
    """Whole numbers without a largest one."""
    return np.asarray(clear).astype(object)


def _linear(draw: Draws, pool: list[Value]) -> Value | None:
    """A sum, a multiple, or the same elsewhere."""
    x, y = (draw.one_of(pool) for _ in range(2))
    name = draw.one_of(["+", "-", "times", "plus", "minus", "neg", "sum", "move", "many"])
    note(f"{name} of shapes {x.clear.shape}, {y.clear.shape}")
    number = draw.one_of(FACTORS) if draw.flag() else draw.integer(-20, 20)
    if name in "+-" and _common(x, y):
        how = operator.add if name == "+" else operator.sub
        return Value(how(x.ct, y.ct), _exact(how(x.clear, y.clear)))
    if name == "times":
        return Value(x.ct * number, _exact(x.clear * number))
    if name in ("plus", "minus") and abs(number) < 2**62:
        found = x.ct + number if name == "plus" else number - x.ct
        return Value(found, _exact(x.clear + number if name == "plus" else number - x.clear))
    if name == "neg":
        return Value(-x.ct, _exact(-x.clear))
    if name == "move":
        return _moved(draw, x)
    if name == "sum" and x.clear.size:
        axis = draw.one_of([None, *range(-x.clear.ndim, x.clear.ndim)])
        return Value(np.sum(x.ct, axis=axis), _exact(np.sum(x.clear, axis=axis)))
    if name == "many":
        count = draw.integer(2, 70)
        return Value(functools.reduce(operator.add, [x.ct] * count), _exact(x.clear * count))
    return None


def _decrypts(own: Packed, value: Value, range_: tuple[int, int], modulus: int | None) -> None:
    """Right or refused. What wraps around without a sign of it, as the call says, is not looked at."""
    least, most = range_
    clear = value.clear if modulus is None else _exact(value.clear % modulus)
    unseen = modulus is None and any(not 2 * least - most <= v <= 2 * most - least for v in clear.ravel())
    try:
        found = own.engine.decrypt(value.ct, own.secret)
    except RangeError:
        return
    if not unseen:
        np.testing.assert_array_equal(_exact(found), clear)


def _within(value: Value, least: int, most: int) -> bool:
    return all(least <= v <= most for v in value.clear.ravel())


def _messages(draw: Draws, own: Packed) -> None:
    engine, p = own.engine, 2**own.engine.bits
    domain = draw.one_of(["padded", "full", "negacyclic"])
    pool: list[Value] = []
    for _ in range(2):
        clear = _drawn(draw, 0, p - 1, draw.one_of(SHAPES[:6]))
        pool.append(Value(engine.encrypt(clear, own.secret, domain=domain), _exact(clear)))
    rotations = 0
    for _ in range(draw.integer(1, 7)):
        x = draw.one_of(pool)
        inside = Value(x.ct, x.clear if domain == "padded" else _exact(x.clear % p))
        if rotations < 6 and draw.flag() and _within(inside, 0, p - 1):
            count = draw.one_of([1, 1, 2, 3])
            tables = [_table(draw, p, domain) for _ in range(count)]
            if count > 1 and draw.flag():
                tables[1] = [(-v) % p for v in tables[0]]
            rotations += count * max(1, x.clear.size)
            note(f"tables {tables} of shape {x.clear.shape}")
            try:
                found = engine.lookup(x.ct, tables, own.key)
            except RangeError:
                assert _summed(pool, x), "a fresh message or a table's result goes into a table"
                continue
            for ct, table in zip(found, tables, strict=True):
                pool.append(Value(ct, _exact(np.array(table, dtype=object)[inside.clear.astype(int)])))
            continue
        made = _linear(draw, pool)
        if made is not None and made.clear.size <= 4:
            pool.append(made)
    for value in pool:
        # Padded sums from 2 p on are those modulo 2 p, as decrypt says.
        wraps = 2 * p if domain == "padded" else p
        reduced = Value(value.ct, _exact(value.clear % wraps))
        _decrypts(own, reduced, (0, p - 1), None if domain == "padded" else p)


def _summed(pool: list[Value], value: Value) -> bool:
    """Whether something was done to it without a bootstrap: the first two of a pool are fresh."""
    return all(value is not fresh for fresh in pool[:2])


def _numbers(draw: Draws, p: int) -> list[int]:
    """So many numbers below p."""
    found: list[int] = np.random.default_rng(draw.integer(0, 2**16 - 1)).integers(0, p, p).tolist()
    return found


def _table(draw: Draws, p: int, domain: str) -> list[int]:
    values = _numbers(draw, p)
    return values[: p // 2] + [(-v) % p for v in values[: p // 2]] if domain == "negacyclic" else values


def _words(draw: Draws, own: Packed) -> None:
    bits = draw.integer(1, 12)
    pool: list[Value] = []
    for _ in range(2):
        clear = _drawn(draw, 0, 2**bits - 1, draw.one_of(SHAPES[:3]))
        pool.append(Value(own.engine.encrypt(clear, own.secret, bits=bits, signed=False), _exact(clear)))
    for _ in range(draw.integer(0, 3)):
        made = _linear(draw, pool)
        if made is not None and made.clear.size <= 4:
            pool.append(made)
    x = pool[-1] if pool[-1].clear.size <= 2 else pool[0]
    clear = _exact(x.clear % 2**bits).astype(np.int64)
    try:
        if draw.flag() and bits > 1:
            low = draw.integer(1, bits - 1)
            floor = own.engine.floor(x.ct, low, own.key)
            np.testing.assert_array_equal(own.engine.decrypt(floor, own.secret), clear >> low)
        else:
            digits = own.engine.digits(x.ct, own.key)
            expected = [clear >> at & 15 for at in range(0, bits, 4)]
            np.testing.assert_array_equal(own.engine.decrypt(digits, own.secret), expected)
    except RangeError:
        pass
    for value in pool:
        _decrypts(own, value, (0, 2**bits - 1), 2**bits)


def _signed(draw: Draws, own: Packed) -> None:
    bits = draw.integer(2, 16)
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    pool: list[Value] = []
    for _ in range(2):
        clear = _drawn(draw, least, most, draw.one_of(SHAPES[:3]))
        pool.append(Value(own.engine.encrypt(clear, own.secret, bits=bits), _exact(clear)))
    for _ in range(draw.integer(0, 3)):
        try:
            made = _linear(draw, pool)
        except RangeError:  # A number in the clear that does not fit the bits.
            continue
        if made is not None and made.clear.size <= 4 and _within(made, least, most):
            pool.append(made)
    x, y = pool[-1], draw.one_of(pool)
    note(f"{bits} bits, {x.clear} and {y.clear}")
    order = draw.one_of([None, *ORDERS])
    try:
        if order is None and x.clear.size <= 2:
            sign = own.engine.sign(x.ct, own.key)
            np.testing.assert_array_equal(own.engine.decrypt(sign, own.secret), x.clear >= 0)
        elif order is not None and _common(x, y) and _fits(x, y, least, most):
            found = own.engine.decrypt(own.engine.compare(order, x.ct, y.ct, own.key), own.secret)
            np.testing.assert_array_equal(found, ORDERS[order](x.clear, y.clear))
    except RangeError:
        pass
    for value in pool:
        _decrypts(own, value, (least, most), None)


def _fits(x: Value, y: Value, least: int, most: int) -> bool:
    """Whether differences are within the range either way, and there are few."""
    difference = np.asarray(x.clear - y.clear, dtype=object)
    return difference.size <= 2 and all(least < v <= most for v in difference.ravel())


def _pairs(draw: Draws, own: Packed) -> None:
    """Tables of two messages, whose results share what the low message left."""
    domain = draw.one_of(["padded", "full"])
    x, y = _drawn(draw, 0, 15, draw.one_of([(1,), (1,), (2,)])), _drawn(draw, 0, 15, ())
    high, low = (own.engine.encrypt(one, own.secret, domain=domain) for one in (x, y))
    values = _numbers(draw, 16)
    first, second = (np.array([values[(3 * h + k * v) % 16] for h in range(16) for v in range(16)]) for k in (1, 5))
    found = own.engine.lookup2(high, low, [first, second], own.key, own.packing)
    for ct, table in zip(found, (first, second), strict=True):
        np.testing.assert_array_equal(own.engine.decrypt(ct, own.secret), table[16 * x + y])
    weight = draw.one_of([1, -1, 3, 2**12, 2**30])
    clear = _exact(first[16 * x + y]) * weight - second[16 * x + y][::-1]
    total = Value(found[0] * weight - found[1][::-1], _exact(clear % (32 if domain == "padded" else 16)))
    _decrypts(own, total, (0, 15), None if domain == "padded" else 16)


KINDS: dict[str, tuple[Callable[[Draws, Packed], None], list[str]]] = {
    "gates": (_gates, ["gate"] * 4 + ["cggi", "ginx3", "lmkcdey", "dm"]),
    "messages": (_messages, ["lut2"] * 4 + ["lut3", "lut4", "wide"]),
    "words": (_words, ["lut4", "lut4", "wide"]),
    "signed": (_signed, ["lut2", "lut2", "lut4", "wide"]),
    "pairs": (_pairs, ["wide"]),
}
"""What a program does, and with which sets."""

# A table of two messages takes as long as ten of one.
_WEIGHTS = ["gates"] * 8 + ["messages"] * 8 + ["words", "signed"] * 2 + ["pairs"]
