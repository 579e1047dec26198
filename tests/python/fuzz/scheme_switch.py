"""Random programs over switches: slots down, gates, tables and comparisons of them, up again, and down once more.

Results are exact, but for real numbers that differ by less than what is read: these may be taken for either order.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import note
from numpy.typing import NDArray

from aglet.errors import RangeError
from fuzz.draws import seed
from fuzz.sizes import OFTEN, lookups
from scheme_switch_sides import Sides

__all__ = ["bits_program", "noisy_program", "numbers_program", "reals_program"]

_GATES = {
    "and_": np.logical_and,
    "or_": np.logical_or,
    "xor": np.logical_xor,
    "nand": lambda x, y: ~(x & y),
    "nor": lambda x, y: ~(x | y),
    "xnor": lambda x, y: ~(x ^ y),
}
_SLOTS = 64


@cache
def _sides(preset: str, published: bool) -> Sides:
    """In the least ring that holds samples of these lookups."""
    log_n = {("gate", True): 10, ("lut4", True): 11, ("gate", False): 8, ("lut4", False): 10}[preset, published]
    return Sides(log_n, lookups(preset, published))


def _drawn(data: Any, preset: str) -> tuple[Sides, np.random.Generator]:
    """A switch to these lookups, and the choices of a program."""
    random = np.random.default_rng(seed(data))
    return _sides(preset, bool(random.integers(OFTEN) == 0)), random


def _places(random: np.random.Generator, most: int) -> NDArray[np.int64]:
    """Some slots in some shape, a few of them more than once, or none."""
    shape = tuple(int(n) for n in random.integers(1, 4, random.integers(0, 3)))
    count = int(np.prod(shape))
    if random.random() < 0.02:
        return np.zeros((0, 2), dtype=np.int64)
    if count > most:
        shape, count = (most,), most
    if random.random() < 0.5:
        return random.integers(0, _SLOTS, shape)
    return random.permutation(_SLOTS)[:count].reshape(shape)


# Bits


def bits_program(data: Any) -> None:
    """Bits of slots, of what polynomials made of them too, through gates and up."""
    sides, random = _drawn(data, "gate")
    x, expected = _slots_of_bits(sides, random)
    part = "real"
    if np.iscomplexobj(expected):
        part = ["real", "imaginary"][random.integers(2)]
    wanted = (expected.real if part == "real" else expected.imag).astype(bool)
    places = _places(random, 12)
    note(f"{part} parts of {expected} at {places.tolist()}")
    low = sides.switch.to_fhew(x, places, sides.keys, part=part, bound=1)
    bits = wanted[places]
    assert (sides.decrypt(low) == bits).all()
    for _ in range(random.integers(0, 3)):
        try:
            low, bits = _gate(sides, random, low, bits)
        except RangeError:
            # Some gates leave more noise than others take, at 2^-128.
            break
    assert (sides.decrypt(low) == bits).all()
    if bits.size == 0:
        return
    up = sides.switch.from_fhew(low, sides.keys)
    found = sides.engine.decrypt(up, sides.secret)
    assert np.abs(found[: bits.size].real - bits.ravel()).max() < 2**-6
    assert np.abs(found[bits.size :]).max(initial=0) < 2**-6
    if random.random() < 0.5:
        # The noise of what comes up is stated for sets by name only.
        words = {} if up.noise else {"noise": 2.0**-14}
        again = sides.switch.to_fhew(up, np.arange(bits.size).reshape(bits.shape), sides.keys, **words)
        assert (sides.decrypt(again) == bits).all()


def _slots_of_bits(sides: Sides, random: np.random.Generator) -> tuple[Any, NDArray[Any]]:
    """Slots near 0 and 1 at some level, encrypted, or computed of two such."""
    engine, level = sides.engine, int(random.integers(0, sides.engine.max_level + 1))
    values = random.integers(0, 2, (2, _SLOTS)).astype(float)
    kind = random.integers(0, 6)
    if kind == 0:
        both = values[0] + 1j * values[1]
        return engine.encrypt(both, sides.secret, level=level), both
    first, second = (engine.encrypt(one, sides.secret, level=max(level, 2), bound=1) for one in values)
    x, y = values
    if kind == 1:
        return first, x
    if kind == 2:
        return engine.add(engine.negate(first), 1), 1 - x
    if kind == 3:
        return engine.multiply(first, second, sides.keys.relinearization), x * y
    if kind == 4:
        return engine.multiply(first, y), x * y
    product = engine.multiply(first, second, sides.keys.relinearization)
    return engine.subtract(engine.add(first, second), product), np.maximum(x, y)


def _gate(sides: Sides, random: np.random.Generator, low: Any, bits: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """A gate of these bits and the same in another order."""
    fhew, key = sides.switch.fhew_engine, sides.keys.fhew_bootstrap
    order = random.permutation(bits.size)
    other, turned = low.ravel()[order].reshape(bits.shape), bits.ravel()[order].reshape(bits.shape)
    name = [*_GATES, "not_", "mux", "majority"][random.integers(len(_GATES) + 3)]
    note(name)
    if name == "not_":
        return fhew.not_(low), ~bits
    if name == "mux":
        return fhew.mux(low, other, fhew.not_(low), key), np.where(bits, turned, ~bits)
    if name == "majority":
        third = fhew.not_(other[..., ::-1] if bits.ndim else other)
        last = ~(turned[..., ::-1] if bits.ndim else turned)
        return fhew.majority(low, other, third, key), bits.astype(int) + turned + last > 1
    return getattr(fhew, name)(low, other, key), _GATES[name](bits, turned)


def noisy_program(data: Any) -> None:
    """Bits whose noise grows: products with small numbers and large ones. A gate refuses them, or is right."""
    sides, random = _drawn(data, "gate")
    bits = random.integers(0, 2, _SLOTS).astype(bool)
    bound = [None, 1.0, 4.0][random.integers(3)]
    x = sides.engine.encrypt(bits.astype(float), sides.secret, level=8, bound=bound)
    for _ in range(random.integers(1, 3)):
        size = 2.0 ** int(random.integers(0, 40))
        up, down = np.full(_SLOTS, size) if size < 2**10 else size, 1 / size
        note(f"times {down}, times {size}, bound={bound}")
        x = sides.engine.multiply(sides.engine.multiply(x, down), up)
    if random.random() < 0.3:
        x = sides.engine.multiply(x, x, sides.keys.relinearization)
    try:
        low = sides.switch.to_fhew(x, range(_SLOTS), sides.keys, bound=1)
        found = sides.switch.fhew_engine.nand(low, low[::-1], sides.keys.fhew_bootstrap)
    except RangeError:
        return
    assert (sides.decrypt(found) == ~(bits & bits[::-1])).all()


# Whole numbers


def numbers_program(data: Any) -> None:
    """Messages of slots through tables, one bit of the results up; words and integers as they are."""
    sides, random = _drawn(data, "lut4")
    values = random.integers(0, 16, _SLOTS).astype(float)
    values += random.choice([0.0, 1e-3, -1e-3]) if random.random() < 0.3 else 0.0
    bound = [None, 15.01, 16][random.integers(3)]
    x = sides.engine.encrypt(values, sides.secret, level=int(random.integers(0, 5)), bound=bound)
    places = _places(random, 6)
    wanted = np.rint(values[places]).astype(int)
    note(f"{wanted.tolist()} with bound={bound}")
    if bound == 16:
        # So large is no message, and who says better is believed.
        try:
            sides.switch.to_fhew(x, places, sides.keys)
        except RangeError:
            x = sides.engine._core.assume(x, 15.01)
        else:
            raise AssertionError("values of 16 are no messages of 4 bits")
    table = random.integers(0, 2 if random.random() < 0.5 else 16, 16)
    found = sides.switch.lookup(x, places, table, sides.keys)
    assert (sides.decrypt(found) == table[wanted]).all()
    bits = int(random.integers(5, 9))
    words = sides.switch.to_fhew(x, places, sides.keys, bits=bits, signed=False)
    assert (sides.decrypt(words) == wanted).all()
    if table.max() < 2 and wanted.size:
        up = sides.engine.decrypt(sides.switch.from_fhew(found, sides.keys), sides.secret)
        assert np.abs(up[: wanted.size].real - table[wanted].ravel()).max() < 2**-6


# Real numbers


def reals_program(data: Any) -> None:
    """Signs, comparisons and ranks of real numbers: ties, neighbours, the ends of declared ranges and of others."""
    sides, random = _drawn(data, "lut4")
    bits = int(random.integers(3, 13))
    bound, said = _sizes(random)
    x, y = (_reals(random, 2.0 ** (1 - bits), bound) for _ in range(2))
    levels = random.integers(0, 5, 2)
    first, second = (
        sides.engine.encrypt(one, sides.secret, level=int(level), bound=None if said else bound)
        for one, level in zip((x, y), levels, strict=True)
    )
    words: dict[str, Any] = {"bits": bits, **({"bound": bound} if said else {})}
    call = [_sign, _compare, _rank][random.integers(3)]
    note(f"{call.__name__} of {x[:8]} and {y[:8]}: bits={bits}, bound={bound}, said={said}")
    call(sides, random, (x, first), (y, second), words, bound)


def _sizes(random: np.random.Generator) -> tuple[float, bool]:
    """The largest size of values, and whether the call is told, or else the encryption."""
    size = float(random.choice([1.0, 0.5, 0.75, 0.25]))
    return (float(random.choice([size, 2.0, 3.0])), True) if random.random() < 0.4 else (size, False)


def _reals(random: np.random.Generator, unit: float, bound: float) -> NDArray[np.float64]:
    """Numbers of all sizes up to the bound, the ends, ties and neighbours of half a unit and more among them."""
    values = random.uniform(-bound, bound, _SLOTS)
    values[::3] = np.rint(values[::3] / unit) * unit
    values[::5] = random.choice([-bound, bound, 0.0], len(values[::5]))
    values[1::7] = values[0]
    return values.clip(-bound, bound)


def _range(size: float, words: dict[str, Any]) -> float:
    """In which numbers are read: what a call is told is rounded up, what is declared is 1 or 2."""
    return float(2.0 ** np.ceil(np.log2(size if "bound" in words else max(size, 1.0))))


def _step(size: float, words: dict[str, Any]) -> float:
    """From one number that is read to the next, but for the noise of encryption."""
    return 0.999 * size * 2.0 ** (1 - words["bits"])


def _agree(found: Any, difference: NDArray[np.float64], undecided: float) -> None:
    """Results are 1 where differences are 0 or more, and 0 where they are negative as far as that is decided."""
    clear = (difference >= 0) | (difference < -undecided)
    assert (np.asarray(found)[clear] == (difference >= 0)[clear]).all()
    assert np.isin(found, (0, 1)).all()


def _sign(sides: Sides, random: np.random.Generator, x: Any, _y: Any, words: dict[str, Any], bound: float) -> None:
    places = _places(random, 4)
    found = sides.decrypt(sides.switch.sign(x[1], places, sides.keys, **words))
    size = _range(bound, words)
    _agree(found, x[0][places], _step(size, words))


def _compare(sides: Sides, random: np.random.Generator, x: Any, y: Any, words: dict[str, Any], bound: float) -> None:
    places, order = _places(random, 4), [">=", "<="][random.integers(2)]
    found = sides.switch.compare(order, x[1], y[1], places, sides.keys, **words)
    difference = (x[0] - y[0])[places] * (1 if order == ">=" else -1)
    size = _range(2 * bound, words)
    _agree(sides.decrypt(found), difference, _step(size, words))
    if difference.size and random.random() < 0.3:
        up = sides.engine.decrypt(sides.switch.from_fhew(found, sides.keys), sides.secret)
        assert np.abs(up[: difference.size].real - sides.decrypt(found).ravel()).max() < 2**-6


def _rank(sides: Sides, random: np.random.Generator, x: Any, _y: Any, words: dict[str, Any], bound: float) -> None:
    width = int(random.integers(2, 5))
    places = random.integers(0, _SLOTS, (int(random.integers(1, 3)), width))
    rows, undecided = x[0][places], _step(_range(2 * bound, words), words)
    clear = np.array([not _circular(row, undecided) for row in rows])
    which, hot = random.integers(3), bool(random.integers(2))
    if which == 2:
        k = int(random.integers(1, width))
        chosen = sides.decrypt(sides.switch.top_k(x[1], places, k, sides.keys, **words))
        least = np.sort(rows)[:, -k, None]
    else:
        # The least are the greatest of the negatives.
        rows = rows if which else -rows
        call = sides.switch.argmax if which else sides.switch.argmin
        chosen = sides.decrypt(call(x[1], places, sides.keys, one_hot=hot, **words))
        chosen = chosen if hot else np.eye(16, dtype=int)[chosen][:, :width]
        k, least = 1, rows.max(axis=1, keepdims=True)
    assert (chosen.sum(axis=1) == k)[clear].all()
    assert chosen[clear][(rows > least + undecided)[clear]].all()
    assert not chosen[clear][(rows < least - undecided)[clear]].any()


def _circular(row: NDArray[np.float64], undecided: float) -> bool:
    """Whether three numbers, two of them equal perhaps, are so near that each may be taken for less than the next."""
    values = np.sort(row)
    return bool((values[2:] - values[:-2] <= 2 * undecided).any())
