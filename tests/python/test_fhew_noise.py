"""Noises that depend count as dependent, and what would come out wrong is refused: by gates, tables and `decrypt`."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

from aglet import FhewCiphertext
from aglet.errors import ParameterError, RangeError
from fhew_set import Set, make


@pytest.fixture(scope="module")
def gates() -> Set:
    return make(preset="gate")


@pytest.fixture(scope="module")
def tables() -> Set:
    return make(preset="lut2")


@pytest.mark.parametrize("preset", ["gate", "cggi", "ginx3", "lmkcdey", "dm"])
def test_every_gate_takes_the_result_of_every_gate(preset: str) -> None:
    own = make(preset=preset)
    engine, key = own.engine, own.key
    # Two bits of each: what is refused depends on noise alone, and truth tables are those of test_fhew.py.
    x, y, z = (own.encrypt(bits) for bits in ([0, 1], [1, 0], [1, 0]))
    made = [engine.mux(x, y, z, key), engine.mux(y, z, x, key), engine.and_(x, y, key), engine.or_(x, y, key)]
    made.append(~made[0])
    clear = [own.decrypt(one) for one in made]
    for i, j in itertools.combinations_with_replacement(range(len(made)), 2):
        assert (own.decrypt(engine.nand(made[i], made[j], key)) == ~(clear[i] & clear[j])).all()
        assert (own.decrypt(engine.xor(made[j], made[i], key)) == clear[i] ^ clear[j]).all()
    for a, b, c in [(0, 1, 2), (2, 3, 0), (0, 0, 0), (0, 0, 1), (0, 4, 1), (1, 0, 4), (0, 1, 0), (0, 0, 1), (2, 2, 2)]:
        found = own.decrypt(engine.majority(made[a], made[b], made[c], key))
        assert (found == (clear[a].astype(int) + clear[b] + clear[c] >= 2)).all()
        chosen = own.decrypt(engine.mux(made[a], made[b], made[c], key))
        assert (chosen == np.where(clear[a], clear[b], clear[c])).all()


def test_gates_take_bits_and_what_was_made_of_them(gates: Set) -> None:
    """Of a bit, the same bit and a gate of it: 2^-127.7, as one more noise is that of the same rotation input."""
    engine, key = gates.engine, gates.key
    x, y = gates.encrypt([0, 1]), gates.encrypt([1, 0])
    pool = [x, ~x, engine.refresh(x, key), engine.and_(x, y, key), engine.or_(x, y, key), engine.mux(x, x, y, key)]
    clear = [gates.decrypt(one) for one in pool]
    for a, b, c in itertools.product(range(len(pool)), repeat=3):
        chosen = gates.decrypt(engine.mux(pool[a], pool[b], pool[c], key))
        assert (chosen == np.where(clear[a], clear[b], clear[c])).all()
    for x, bits in zip(pool, clear, strict=True):
        assert not gates.decrypt(engine.xor(x, x, key)).any()
        assert gates.decrypt(engine.xnor(x, x, key)).all()
        assert (gates.decrypt(engine.majority(x, ~x, pool[3], key)) == clear[3]).all()
        assert (gates.decrypt(engine.refresh(x, key)) == bits).all()


def test_a_table_and_its_negative_share_their_noise(tables: Set) -> None:
    """6 f - 8 (-f) has the deviation of 14 f; those of two inputs that of 10."""
    f = [1, 2, 0, 3]
    negative = [-v % 4 for v in f]
    x, y = (tables.encrypt([0, 1, 2, 3], domain="full") for _ in range(2))
    look = tables.engine.lookup
    plus, minus, other = (look(*call, tables.key) for call in ((x, f), (x, negative), (y, negative)))
    with pytest.raises(RangeError, match=r"2\^-[89]\d\."):
        look(6 * plus - 8 * minus, f, tables.key)
    found = tables.decrypt(look(6 * plus - 8 * other, [0, 1, 2, 3], tables.key))
    np.testing.assert_array_equal(found, (6 * np.array(f) - 8 * np.array(negative)) % 4)


def test_tables_of_one_input_share_their_noise() -> None:
    """64 calls on one ciphertext, summed up twice: 2^-143 by independent noises, 2^-39 as measured."""
    wide = make(preset="wide")
    x = wide.encrypt([3])
    total: FhewCiphertext | None = None
    for call in range(64):
        first, second = (np.arange(16) * (call % 16 + at) % 16 for at in (1, 2))
        f, g = wide.engine.lookup(x, [list(first), list(second)], wide.key)
        total = f + g if total is None else total + f + g
    assert total is not None
    with pytest.raises(RangeError, match="would fail with probability"):
        wide.engine.lookup(2 * total, list(range(16)), wide.key)


def test_the_same_call_is_the_same_noise(tables: Set) -> None:
    x = tables.encrypt([1, 2])
    first, second = (tables.engine.lookup(x, [1, 2, 3, 0], tables.key) for _ in range(2))
    assert tables.decrypt((first - second) * 2**38).tolist() == [0, 0]
    with pytest.raises(RangeError):
        tables.decrypt(first * 2**38 - second)


def test_weights_that_no_longer_mean_anything_are_refused(tables: Set) -> None:
    x = tables.encrypt([1, 0], domain="full")
    modulus = 1_099_469_684_737
    lost = [
        (x * 2**62) * 2**62 - (x * 2**62) * 2**61,
        # One more than the modulus: the ciphertext is that of x again, and twice x was asked for.
        (x * 2) * ((modulus + 1) // 2),
        (x * 2**31) * 2**31 - (x * 2**31) * 2**31,
    ]
    for y in lost:
        for refused in (lambda y=y: tables.decrypt(y), lambda y=y: tables.engine.lookup(y, [0, 1, 2, 3], tables.key)):
            with pytest.raises(RangeError, match=r"2\^0\.0"):
                refused()
    assert tables.decrypt(lost[0] * 0).tolist() == [0, 0]


def test_decrypt_refuses_what_noise_may_have_changed(tables: Set) -> None:
    found = tables.engine.lookup(tables.encrypt([1]), [1, 1, 1, 1], tables.key)
    with pytest.raises(RangeError, match="noise of these ciphertexts makes a decrypted value wrong"):
        tables.decrypt(found * 65)
    assert tables.engine.decrypt(found * 2, tables.secret, max_failure=1).tolist() == [2]
    for left, words in ((tables.encrypt([3]) + 2, {}), (tables.encrypt([120], bits=8) + 12, {})):
        with pytest.raises(RangeError, match="left the range"):
            tables.engine.decrypt(left, tables.secret, **words)


def test_numbers_among_ciphertexts_are_refused(tables: Set) -> None:
    x = tables.encrypt([1, 2])
    plain = np.array([1])
    mixed: list[Callable[[], object]] = [
        lambda: np.concatenate([x, [1]]),  # type: ignore[list-item]
        lambda: np.concatenate([x, plain]),  # type: ignore[list-item]
        lambda: np.concatenate(arrays=[x, plain]),  # type: ignore[call-overload]
        lambda: np.append(x, 3),  # type: ignore[arg-type]
        lambda: np.append(plain, x),  # type: ignore[arg-type]
        lambda: np.append(arr=x, values=plain),  # type: ignore[arg-type]
        lambda: np.stack([x, np.zeros(2, int)]),  # type: ignore[list-item]
        lambda: np.vstack((x, [[1, 2]])),  # type: ignore[arg-type]
        lambda: np.hstack([x, 1]),  # type: ignore[list-item]
        lambda: np.broadcast_arrays(x, np.zeros((3, 2))),  # type: ignore[arg-type]
        lambda: np.atleast_1d(x, 3),  # type: ignore[arg-type]
        lambda: np.tile(plain, x),  # type: ignore[arg-type]
        lambda: np.concatenate([x, x], out=np.zeros(4, int)),  # type: ignore[call-overload]
        lambda: np.concatenate([x, x], dtype=np.int8),  # type: ignore[call-overload]
        lambda: np.take(x, [0], None, np.zeros(1, int)),  # type: ignore[call-overload]
    ]
    for call in mixed:
        with pytest.raises(TypeError):
            call()


def test_sums_over_axes_are_those_of_numpy(tables: Set) -> None:
    clear = np.arange(12).reshape(2, 3, 2) % 4
    x = tables.encrypt(clear, domain="full")
    for axis in (None, 0, 1, -1, (0, 2), (1, -3), ()):
        for keepdims in (False, True):
            expected = clear.sum(axis=axis, keepdims=keepdims) % 4
            np.testing.assert_array_equal(tables.decrypt(np.sum(x, axis, keepdims=keepdims)), expected)  # type: ignore[arg-type]
            np.testing.assert_array_equal(tables.decrypt(x.sum(axis, keepdims=keepdims)), expected)
    for wrong in (3, (0, 0), (1, -2)):
        with pytest.raises(RangeError, match="does not name axes"):
            x.sum(wrong)
    with pytest.raises(RangeError, match="A sum of no ciphertexts"):
        x[:0].sum(0)
    with pytest.raises(ParameterError, match="Bits have no sums"):
        tables.encrypt([True]).sum()
    with pytest.raises(TypeError, match="array, axis and keepdims"):
        np.sum(x, dtype=np.int8)  # type: ignore[arg-type]


def test_many_sums_take_no_time(tables: Set) -> None:
    x = tables.encrypt(np.full(3000, 3), domain="full")
    start = time.monotonic()
    total = x[0]
    for i in range(1, 3000):
        total = total + x[i]
    assert time.monotonic() - start < 6, "0.4 s on an idle core; 12.6 s as every noise was searched in a list"
    assert tables.decrypt(total) == tables.decrypt(x.sum()) == 9000 % 4


def test_refreshed_results_enter_sums_again(tables: Set) -> None:
    engine, key = tables.engine, tables.key
    for domain in ("padded", "full", "negacyclic"):
        x = tables.encrypt([0, 1, 1], domain=domain)
        found = engine.refresh(x + x + 1, key)
        assert (found.form, tables.decrypt(found).tolist()) == (domain, [1, 3, 3])
        worn = engine.refresh(x, key) * 30
        assert tables.decrypt(engine.refresh(worn - worn + engine.refresh(x, key), key)).tolist() == [0, 1, 1]
    with pytest.raises(ParameterError, match="digits, floor or sign"):
        engine.refresh(tables.encrypt([1], bits=8), key)


def test_fresh_ciphertexts_stay_seeds_in_memory(tables: Set) -> None:
    x = tables.encrypt(np.zeros(20_000, int))
    again = tables.engine.deserialize(tables.engine.serialize(x))
    assert isinstance(again, FhewCiphertext)
    assert max(x.nbytes, again.nbytes) < 10_000_000, "16 kB each, before"
    assert not tables.decrypt(again[-3:]).any()


_LIMITED = """
import resource
from aglet import FhewEngine
from aglet.errors import MemoryLimitError
engine = FhewEngine()
secret = engine.create_secret_key()
key = engine.create_bootstrap_key(secret)
engine.nand(engine.encrypt([1], secret), engine.encrypt([1], secret), key)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200 * 2**20,) * 2)
bits = engine.encrypt([1] * 60_000, secret)
assert engine.decrypt(bits, secret).all()
for call in (lambda: engine.nand(bits, bits, key), lambda: engine.refresh(bits, key), lambda: ~bits):
    try:
        call()
    except MemoryLimitError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of an address space are those of Linux")
def test_too_little_memory_is_an_exception() -> None:
    done = subprocess.run([sys.executable, "-c", _LIMITED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("of memory are free; do it in parts") == 3
