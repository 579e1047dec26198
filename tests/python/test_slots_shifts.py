"""`<<` and `>>` of two arrays in slots: all pairs of 8 bits, ends of 16 and 32, steps beyond the dtype, bootstraps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from test_slots_wide import check, counted_bootstraps, session, simulated_refreshes

RANDOM = np.random.default_rng(128)
SHIFTS = [np.left_shift, np.right_shift]


def pairs(name: str) -> tuple[Any, Any]:
    """1,024 pairs: ends of the dtype by all steps, and beyond them, and random ones."""
    dtype = np.dtype(name)
    least, most, bits = np.iinfo(dtype).min, np.iinfo(dtype).max, 8 * dtype.itemsize
    x = RANDOM.integers(least, most, 1024, endpoint=True).astype(dtype)
    y = RANDOM.integers(0, bits + 2, 1024).astype(dtype)
    ends = np.array([0, 1, most, least, most - 1, least + 1, 15, 16], dtype)
    steps = np.array([*range(bits + 1), most, max(least, -1), least], dtype)
    x[: ends.size * steps.size], y[: ends.size * steps.size] = np.repeat(ends, steps.size), np.tile(steps, ends.size)
    return x, y


@pytest.mark.parametrize("call", SHIFTS)
def test_all_pairs_of_8_bits(call: Any) -> None:
    x, y = (one.ravel() for one in np.meshgrid(*[np.arange(256, dtype=np.uint8)] * 2))
    with counted_bootstraps() as done:
        check(call(session().encrypt(x), session().encrypt(y)), call(x, y))
    assert done["refreshes"] == 0


@pytest.mark.parametrize("call", SHIFTS)
@pytest.mark.parametrize("name", ["i1", "u2", "i2", "u4", "i4"])
def test_ends_of_dtypes(call: Any, name: str) -> None:
    x, y = pairs(name)
    bits = 8 * x.dtype.itemsize
    a, b = (session().encrypt(one) for one in (x, y))
    with counted_bootstraps() as done:
        check(call(a, b), call(x, y))
    # Whether steps are beyond all is read from more than two digits, and of each 16 steps.
    expected = {1: 0, 2: 1, 4: 3}[x.dtype.itemsize]
    assert (done["refreshes"], simulated_refreshes(call, x, y)) == (expected, expected)
    few = y.clip(0, bits)
    with counted_bootstraps() as done:
        check(call(a, session().encrypt(few, bound=(0, bits))), call(x, few))
        short = few.astype(f"{x.dtype.kind}1")
        check(call(a, short), call(x, short))
        check(call(a, y), call(x, y))
        for step in (0, 1, 4, 7, bits - 1):
            check(call(a, x.dtype.type(step)), call(x, x.dtype.type(step)))
    assert done["refreshes"] == 0
    check(call(x, b), call(x, y))
    check(call(x.dtype.type(99), b), call(x.dtype.type(99), y))


def test_other_operands() -> None:
    byte, word = pairs("u1")[0], pairs("i2")[0]
    steps = RANDOM.integers(0, 20, 1024).astype(np.uint8)
    a, b, c = (session().encrypt(one) for one in (byte, word, steps))
    for call in SHIFTS:
        check(call(b, c), call(word, steps))
        check(call(b, a), call(word, byte))
        check(call(a, b), call(byte, word))
        check(call(a * a, c), call(byte * byte, steps))
        check(call(b + b, (c + 1) & 7), call(word + word, (steps + 1) & 7))
        check(call(a[:, None][:30], c[:30]), call(byte[:, None][:30], steps[:30]))
        check(call(b, b), call(word, word))
    long = session().encrypt(pairs("i4")[0]).astype(np.int64)
    check(long >> (c & 63), pairs_as(long, np.int64) >> (steps & 63))


def pairs_as(array: Any, dtype: Any) -> Any:
    return session().decrypt(array).astype(dtype)


@pytest.mark.parametrize("name", ["u4", "i4"])
def test_32_bits_by_powers_of_two(name: str) -> None:
    x = pairs(name)[0]
    a = session().encrypt(x)
    for power in (1, 2, 16, 2**17, 2**30):
        check(a // power, x // power)
        check(a % power, x % power)
        check(a % x.dtype.type(power), x % x.dtype.type(power))
    check(a >> 3, x >> 3)
    check((a << 5) + a, (x << 5) + x)
