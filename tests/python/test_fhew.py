"""Gates and tables: truth tables, shapes and broadcasting as in numpy, sums, refusals that name the fix."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import aglet
from aglet import FhewEngine, Table
from aglet.errors import (
    InsecureParametersError,
    KeyMismatchError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
)
from fhew_set import Set, make

ROOT = Path(__file__).parents[2]
BITS = np.array([False, True])
GATES: dict[str, Callable[..., np.ndarray]] = {
    "nand": lambda x, y: ~(x & y),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "nor": lambda x, y: ~(x | y),
    "xor": lambda x, y: x ^ y,
    "xnor": lambda x, y: ~(x ^ y),
    "andny": lambda x, y: ~x & y,
}


@pytest.fixture(scope="module")
def gates() -> Set:
    return make()


@pytest.fixture(scope="module")
def tables() -> Set:
    return make(bits=2, thread_count=2)


# Gates


def test_every_gate_on_every_pair_of_bits(gates: Set) -> None:
    x, y = gates.encrypt(BITS[:, np.newaxis]), gates.encrypt(BITS)
    for name, truth in GATES.items():
        expected = truth(BITS[:, np.newaxis], BITS)
        method = getattr(gates.engine, {"and": "and_", "or": "or_"}.get(name, name))
        for found in (gates.engine.gate(name, x, y, gates.key), method(x, y, gates.key)):
            assert found.is_bits
            assert gates.decrypt(found).dtype == np.bool_
            np.testing.assert_array_equal(gates.decrypt(found), expected, err_msg=name)


def test_majority_mux_and_not(gates: Set) -> None:
    clear = np.array(list(itertools.product(BITS, repeat=3))).T
    x, y, z = gates.encrypt(clear)
    engine, key = gates.engine, gates.key
    np.testing.assert_array_equal(gates.decrypt(engine.majority(x, y, z, key)), clear.sum(axis=0) >= 2)
    np.testing.assert_array_equal(gates.decrypt(engine.gate("majority", x, y, z, key=key)), clear.sum(axis=0) >= 2)
    np.testing.assert_array_equal(gates.decrypt(engine.mux(x, y, z, key)), np.where(*clear))
    np.testing.assert_array_equal(gates.decrypt(engine.not_(x)), ~clear[0])
    np.testing.assert_array_equal(gates.decrypt(~~x), clear[0])


def test_gates_broadcast(gates: Set) -> None:
    rows, one = gates.encrypt([[True], [False]]), gates.encrypt(True)
    assert (rows.shape, one.shape) == ((2, 1), ())
    found = gates.engine.mux(rows, gates.encrypt([True, True, False]), one, gates.key)
    np.testing.assert_array_equal(gates.decrypt(found), [[True, True, False], [True, True, True]])
    with pytest.raises(RangeError, match=r"\(2, 1\) and \(3, 2\) cannot be broadcast together"):
        gates.engine.xor(rows, gates.encrypt(np.ones((3, 2), bool)), gates.key)


def test_ntru_is_refused_with_the_reason_and_gives_the_same_gates_to_those_who_insist() -> None:
    for words in ({"preset": "ntru"}, {"method": "ntru"}):
        with pytest.raises(InsecureParametersError, match=r"that is 2\^16\.9, and Q is 2\^19\.9\. .* allow_insecure"):
            FhewEngine(**words)
    with pytest.warns(UserWarning, match="NOT SECURE, for tests only. No table here gives ntru 128 bits"):
        engine = FhewEngine(preset="ntru", allow_insecure=True)
    assert "NOT SECURE" in repr(engine)
    assert (engine.method, engine.security_bits) == ("ntru", 0)
    secret = engine.create_secret_key()
    key = engine.create_bootstrap_key(secret)
    x, y = (engine.encrypt(bits, secret) for bits in ([0, 0, 1, 1], [0, 1, 0, 1]))
    restored = engine.deserialize(engine.serialize(key))
    np.testing.assert_array_equal(engine.decrypt(engine.nand(x, y, restored), secret), [True, True, True, False])
    with pytest.warns(UserWarning, match="NOT SECURE"):
        again = pickle.loads(pickle.dumps(engine))
    np.testing.assert_array_equal(again.decrypt(again.xor(x, y, key), secret), [False, True, True, False])


def test_parameters_of_ones_own_pass_the_same_gate(tmp_path: Path) -> None:
    text = (ROOT / "crates/aglet/presets/fhew/lut2.toml").read_text()
    engine = FhewEngine(parameters=text)
    assert (engine.preset, engine.bits) == ("lut2", 2)
    file = tmp_path / "mine.toml"
    file.write_text(text.replace('name = "lut2"', 'name = "mine"').replace("lwe_error = -14.64", "lwe_error = -15.0"))
    with pytest.raises(InsecureParametersError, match="below 128 bits of security"):
        FhewEngine(parameters=file)
    with pytest.warns(UserWarning, match="NOT SECURE, for tests only. A modulus of"):
        mine = FhewEngine(parameters=file, allow_insecure=True)
    assert mine.preset == "mine"
    for words in ({"bits": 2}, {"preset": "lut2"}, {"method": "block"}):
        with pytest.raises(ParameterError, match="parameters already fix"):
            FhewEngine(parameters=text, **words)
    with pytest.raises(ParameterError, match="cannot be read"):
        FhewEngine(parameters=tmp_path / "nowhere.toml")
    with pytest.raises(ParameterError, match="do not work"):
        FhewEngine(parameters="family = 1\n")
    with pytest.raises(TypeError, match="allow_insecure"):
        FhewEngine(allow_insecure=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["cggi", "ginx", "lmkcdey"])
def test_published_methods_give_the_same_gates(method: str) -> None:
    other = make(method=method)
    assert other.engine.method == method
    found = other.engine.xor(other.encrypt([0, 0, 1, 1]), other.encrypt([0, 1, 0, 1]), other.key)
    np.testing.assert_array_equal(other.decrypt(found), [False, True, True, False])
    key = other.engine.deserialize(other.engine.serialize(other.key))
    found = other.engine.nand(other.encrypt([0, 0, 1, 1]), other.encrypt([0, 1, 0, 1]), key)
    np.testing.assert_array_equal(other.decrypt(found), [True, True, True, False])


def test_results_that_would_fail_are_refused_with_the_figure(gates: Set) -> None:
    chosen = gates.engine.mux(*gates.encrypt([True, False, True]), gates.key)
    three = [chosen, gates.engine.xor(chosen, chosen, gates.key), gates.engine.nor(chosen, chosen, gates.key)]
    with pytest.raises(RangeError, match=r"would fail with probability 2\^-\d+"):
        gates.engine.majority(*three, gates.key, max_failure=2.0**-160)
    found = gates.engine.majority(*three, gates.key)
    assert not gates.decrypt(found)
    for wrong in (0, -1.0, 1.5, float("nan")):
        with pytest.raises(RangeError, match="max_failure"):
            gates.engine.nand(chosen, chosen, gates.key, max_failure=wrong)
    with pytest.raises(TypeError, match="max_failure"):
        gates.engine.nand(chosen, chosen, gates.key, max_failure="often")  # type: ignore[arg-type]


# Arrays


def test_places_are_those_of_numpy(tables: Set) -> None:
    clear = np.arange(24).reshape(2, 3, 4) % 4
    x = tables.encrypt(clear)
    assert (x.shape, x.ndim, x.size, len(x), x.bits, x.is_bits) == ((2, 3, 4), 3, 24, 2, 2, False)
    index: list[object] = [
        0, -1, (1, 2), (slice(None), 1), (..., slice(None, None, -2)), np.newaxis, ([0, 1], [2, 0]), clear == 3,
        (slice(0, 0),), (1, 2, 3),
    ]  # fmt: skip
    for one in index:
        np.testing.assert_array_equal(tables.decrypt(x[one]), clear[one], err_msg=str(one))  # type: ignore[index]
    for wrong in (2, (0, 3), "x"):
        with pytest.raises(IndexError):
            x[wrong]
    np.testing.assert_array_equal(tables.decrypt(x.reshape(4, -1)), clear.reshape(4, -1))
    np.testing.assert_array_equal(tables.decrypt(x.ravel()), clear.ravel())
    np.testing.assert_array_equal(tables.decrypt(x.T), clear.T)
    np.testing.assert_array_equal(tables.decrypt(x.transpose(1, 0, 2)), clear.transpose(1, 0, 2))
    assert [one.shape for one in x] == [(3, 4)] * 2
    with pytest.raises(TypeError, match="no length"):
        len(x[0, 0, 0])


def test_single_elements_stay_encrypted(tables: Set) -> None:
    """numpy gives a number for them, which is a place and no value."""
    x = tables.engine.encrypt([1, 3, 2], tables.secret)
    for found, wanted in ((np.take(x, 1), 3), (np.take(x, -1), 2), (np.flip(x[0]), 1), (np.squeeze(x[:1]), 1)):
        assert found.shape == ()
        assert int(tables.engine.decrypt(found, tables.secret)) == wanted


def test_functions_of_numpy_that_move_things(tables: Set) -> None:
    clear = np.arange(8).reshape(2, 4) % 4
    x, y = tables.encrypt(clear), tables.encrypt(clear[0])
    same: list[Callable[..., np.ndarray]] = [
        lambda a, b: np.concatenate([a, b[np.newaxis]]),
        lambda a, b: np.stack([b, b, a[1]], axis=1),
        lambda a, b: np.vstack((b, a)),
        lambda a, b: np.broadcast_to(b, (3, 4)),
        lambda a, b: np.roll(a, 1, axis=1),
        lambda a, b: np.flip(a),
        lambda a, b: np.moveaxis(a, 0, 1),
        lambda a, b: np.repeat(b, 2),
        lambda a, b: np.split(a, 2, axis=1)[1],
        lambda a, b: np.take(b, [3, 0]),
    ]
    for work in same:
        np.testing.assert_array_equal(tables.decrypt(work(x, y)), work(clear, clear[0]))  # type: ignore[arg-type]
    assert np.shape(x) == (2, 4)
    for refused in (lambda: np.prod(x), lambda: np.array(x), lambda: np.add(x, x), lambda: bool(x), lambda: x == x):  # type: ignore[call-overload]
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(TypeError, match=r"numpy.max needs a bootstrap key.*session.encrypt"):
        np.max(x)  # type: ignore[call-overload]


def test_bits_and_integers_are_not_joined_nor_those_of_two_keys(gates: Set, tables: Set) -> None:
    bits, numbers = tables.encrypt([True]), tables.encrypt([1])
    assert (bits.is_bits, bits.bits, numbers.bits) == (True, 1, 2)
    with pytest.raises(ParameterError, match=r'"bits" and the other "padded"'):
        np.concatenate([bits, numbers])  # type: ignore[call-overload]
    with pytest.raises(KeyMismatchError, match="sets"):
        np.concatenate([bits, gates.encrypt([True])])  # type: ignore[call-overload]
    other = tables.engine.encrypt([1], tables.engine.create_secret_key())
    with pytest.raises(KeyMismatchError, match="one secret key"):
        np.concatenate([numbers, other])  # type: ignore[call-overload]


# Sums and tables


def test_sums_need_no_key(tables: Set) -> None:
    clear = np.array([[0, 1], [1, 0]])
    x, y = tables.encrypt(clear), tables.encrypt([2, 1])
    sums: list[Callable[..., np.ndarray]] = [
        lambda a, b: a + b,
        lambda a, b: b - a,
        lambda a, b: 3 - b,
        lambda a, b: a + 1,
        lambda a, b: 2 + a,
        lambda a, b: 3 * a,
        lambda a, b: a * np.array([[1], [2]]),
        lambda a, b: np.array([[1], [0]]) + a,
        lambda a, b: 2 * b - a - 1,
    ]
    for work in sums:
        np.testing.assert_array_equal(tables.decrypt(work(x, y)), work(clear, np.array([2, 1])))
    with pytest.raises(RangeError, match="an element is 4, outside 0 to 3"):
        tables.decrypt(y + y)
    np.testing.assert_array_equal(tables.decrypt(x), clear)


def test_sums_refuse_what_has_none(tables: Set) -> None:
    x = tables.encrypt([1, 2])
    for wrong in (lambda: x + 0.5, lambda: x + True, lambda: x + "1", lambda: x * 1.0, lambda: x + 2**63):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ParameterError, match="multiplied by a table"):
        x * x
    with pytest.raises(RangeError, match="cannot be broadcast together"):
        x + tables.encrypt([1, 2, 3])
    bits = tables.encrypt([True, False])
    for wrong in (lambda: bits + bits, lambda: bits * 2, lambda: bits + 1):
        with pytest.raises(ParameterError, match="gates"):
            wrong()
    with pytest.raises(ParameterError, match="table"):
        tables.engine.not_(x)


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_every_entry_of_tables(bits: int) -> None:
    tables = make(bits=bits)
    count = 2**bits
    clear = np.arange(count)
    x = tables.encrypt(clear)
    square = clear * clear % count
    forms: list[object] = [
        Table(lambda m: m * m % count), Table(square), Table(square.tolist()), lambda m: m * m % count, square,
    ]  # fmt: skip
    for table in forms:
        np.testing.assert_array_equal(tables.decrypt(tables.engine.lookup(x, table, tables.key)), square)
    # A table on a sum of tables.
    halves = tables.engine.lookup(x, lambda m: m // 2, tables.key)
    found = tables.engine.lookup(halves + halves[::-1], lambda m: count - 1 - m, tables.key)
    np.testing.assert_array_equal(tables.decrypt(found), count - 1 - (clear // 2 + clear[::-1] // 2))


def test_noise_of_a_sum_counts_what_is_in_it_twice(tables: Set) -> None:
    """A sum knows its terms: what is added and taken away again is not in it."""
    x, y = tables.engine.lookup(tables.encrypt([1, 1]), [0, 0, 1, 1], tables.key)
    far = 10 * x
    with pytest.raises(RangeError, match="bootstrap the inputs first"):
        tables.engine.lookup(far + y, lambda m: m, tables.key)
    near = far - 9 * x + y
    assert tables.decrypt(tables.engine.lookup(near, lambda m: m, tables.key)) == 0
    assert tables.decrypt(tables.engine.lookup(far, lambda m: m, tables.key, max_failure=1)) == 0


def test_tables_and_messages_out_of_range(tables: Set) -> None:
    x = tables.encrypt([1])
    for table, words in [
        ([0, 1, 2], "has 3 values; give 4"),
        ([0, 1, 2, 4], "gives 4 for 3"),
        (lambda m: m - 1, "gives -1 for 0"),
    ]:
        with pytest.raises(RangeError, match=words):
            tables.engine.lookup(x, table, tables.key)
    for wrong in (lambda m: m / 2, lambda m: None, [0.5] * 4, np.array([[0, 1, 2, 3]]), "0123", [[0, 1, 2, 3], 3]):
        with pytest.raises(TypeError):
            tables.engine.lookup(x, wrong, tables.key)
    for values in ([4], [-1], [[0, 2**62]], np.uint64(2**63)):
        with pytest.raises(RangeError, match="not a message of this engine; give 0 to 3"):
            tables.encrypt(values)
    with pytest.raises(RangeError, match="differ in length"):
        tables.encrypt([[1], [1, 2]])
    for wrong in (0.5, "1", None, [1j], np.ma.masked_array([1], [True]), x):
        with pytest.raises(TypeError):
            tables.encrypt(wrong)
    with pytest.raises(ParameterError, match="domain"):
        tables.engine.lookup(x, lambda m: m, tables.key, domain="round")
    with pytest.raises(ParameterError, match="padded, full, negacyclic"):
        tables.encrypt([1], domain="round")
    with pytest.raises(ParameterError, match="Tables take messages"):
        tables.engine.lookup(tables.encrypt([True]), lambda m: m, tables.key)
    assert tables.encrypt([]).shape == (0,)
    assert tables.engine.lookup(tables.encrypt([]), lambda m: m, tables.key).shape == (0,)


def test_tables_of_the_other_domains(tables: Set) -> None:
    clear = np.arange(4)
    x = tables.encrypt(clear, domain="full")
    assert (x.form, x.bits) == ("full", 2)
    for table in ([3, 1, 1, 2], lambda m: m * m % 4):
        values = np.array([table(m) for m in clear] if callable(table) else table)
        found = tables.engine.lookup(x + 3, table, tables.key, domain="full")
        np.testing.assert_array_equal(tables.decrypt(found), values[(clear + 3) % 4])
    y = tables.encrypt(clear, domain="negacyclic")
    found = tables.engine.lookup(y, [1, 2, 3, 2], tables.key)
    np.testing.assert_array_equal(tables.decrypt(found), [1, 2, 3, 2])
    with pytest.raises(RangeError, match="negacyclic"):
        tables.engine.lookup(y, [1, 2, 3, 3], tables.key)
    with pytest.raises(ParameterError, match='the form "full"'):
        tables.engine.lookup(x, [0] * 4, tables.key, domain="padded")
    with pytest.raises(ParameterError, match="one form"):
        x + y


def test_signs_and_comparisons() -> None:
    wide = make(bits=4, thread_count=2)
    values = np.array([-(2**19), -1, 0, 1, 2**10, 2**19 - 1])
    x = wide.engine.encrypt(values, wide.secret, bits=20)
    assert (x.form, x.bits) == ("signed", 20)
    np.testing.assert_array_equal(wide.decrypt(x), values)
    np.testing.assert_array_equal(wide.decrypt(wide.engine.sign(x, wide.key)), values >= 0)
    np.testing.assert_array_equal(wide.decrypt(wide.engine.sign(x[1:4] - 1, wide.key)), values[1:4] >= 1)
    pair = np.array([[3, 3, 120], [3, 7, 5]])
    one, other = wide.engine.encrypt(pair, wide.secret, bits=8)
    orders: dict[str, Callable[..., np.ndarray]] = {
        "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
    }  # fmt: skip
    for order, truth in orders.items():
        found = wide.decrypt(wide.engine.compare(order, one, other, wide.key))
        np.testing.assert_array_equal(found, truth(*pair), err_msg=order)
    back = wide.engine.deserialize(wide.engine.serialize(one))
    np.testing.assert_array_equal(wide.decrypt(back), pair[0])
    # What comes out is a message for tables.
    larger = wide.engine.lookup(wide.engine.compare(">", one, other, wide.key), lambda b: 9 * (b == 1), wide.key)
    np.testing.assert_array_equal(wide.decrypt(larger), [0, 0, 9])
    with pytest.raises(ParameterError, match="choose one of <"):
        wide.engine.compare("!=", one, other, wide.key)
    with pytest.raises(ParameterError, match="encrypt them with bits="):
        wide.engine.compare("<", one, x[0], wide.key)
    # Sums of padded messages have a sign as well; bits of gates have none.
    np.testing.assert_array_equal(wide.decrypt(wide.engine.sign(wide.encrypt([1, 0]) - 1, wide.key)), [1, 0])
    with pytest.raises(ParameterError, match="encrypt them with bits="):
        wide.engine.sign(wide.engine.encrypt([1], wide.secret, domain="full"), wide.key)
    for wrong, bits in ((128, 8), (-129, 8), (1, 21), (1, 1)):
        with pytest.raises((RangeError, ParameterError)):
            wide.engine.encrypt(wrong, wide.secret, bits=bits)
    with pytest.raises(TypeError, match="no sign"):
        wide.engine.encrypt(True, wide.secret, bits=8)


# Keys and engines


def test_keys_that_are_missing_or_of_others(gates: Set, tables: Set) -> None:
    x, engine = gates.encrypt([True, False]), gates.engine
    with pytest.raises(MissingKeyError, match=r"create_bootstrap_key\(secret_key\)"):
        engine.nand(x, x, None)  # type: ignore[arg-type]
    with pytest.raises(MissingKeyError):
        engine.gate("nand", x, x)
    with pytest.raises(TypeError, match="FhewBootstrapKey is needed here, not FhewSecretKey"):
        engine.nand(x, x, gates.secret)  # type: ignore[arg-type]
    with pytest.raises(KeyMismatchError, match='preset "lut2", and this one has preset "gate"'):
        engine.nand(x, x, tables.key)
    with pytest.raises(KeyMismatchError, match="of an engine with preset"):
        engine.nand(x, tables.encrypt([True, False]), gates.key)
    other = engine.create_secret_key()
    with pytest.raises(KeyMismatchError, match="one secret key"):
        engine.decrypt(x, other)
    with pytest.raises(KeyMismatchError, match="one secret key"):
        engine.nand(engine.encrypt([True, False], other), x, gates.key)
    with pytest.raises(MissingKeyError, match=r"create_public_key"):
        engine.encrypt(True, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="FhewCiphertext is needed here, not bool"):
        engine.nand(x, True, gates.key)  # type: ignore[arg-type]
    for few in ((x, x), (x[:0], x[:0]), ()):
        with pytest.raises(ParameterError, match=f"majority takes 3 bits and got {len(few)}"):
            engine.gate("majority", *few, gates.key)
    with pytest.raises(ParameterError, match="no gate"):
        engine.gate("if", x, x, gates.key)


def test_a_key_that_does_not_fit_is_refused_before_it_is_made(gates: Set) -> None:
    with pytest.raises(MemoryLimitError, match=r"needs 28.8 MB and there are 1.0 MB"):
        gates.engine.create_bootstrap_key(gates.secret, memory_limit_bytes=10**6)
    for wrong in (-1, 2.5):
        with pytest.raises((ParameterError, TypeError), match="memory_limit_bytes"):
            gates.engine.create_bootstrap_key(gates.secret, memory_limit_bytes=wrong)  # type: ignore[arg-type]


def test_engines_that_do_not_exist() -> None:
    for options, words in [
        ({"bits": 5}, "no set of 5 bits"),
        ({"bits": 0}, "no set of 0 bits"),
        ({"bits": 2, "method": "cggi"}, "it has 1"),
        ({"method": "fastest"}, "choose one of block, cggi"),
        ({"preset": "lut5"}, "no preset"),
        ({"preset": "gate", "bits": 1}, "leave them out"),
        ({"thread_count": -1}, "thread_count"),
        ({"thread_count": 10**6}, "thread_count"),
    ]:
        with pytest.raises(ParameterError, match=words):
            FhewEngine(**options)  # type: ignore[arg-type]
    for options in ({"bits": "2"}, {"bits": True}, {"preset": 1}, {"thread_count": 1.5}):
        with pytest.raises(TypeError):
            FhewEngine(**options)  # type: ignore[arg-type]


def test_engines_say_what_they_are_and_are_pickled(tables: Set) -> None:
    again = pickle.loads(pickle.dumps(tables.engine))
    assert (again.preset, again.bits, again.thread_count) == ("lut2", 2, 2)
    assert "lut2" in repr(again)
    assert again.security_bits >= 128
    assert again.decrypt(tables.encrypt(3), tables.secret) == 3
    with pytest.raises(TypeError, match=r"engine.encrypt"):
        aglet.FhewCiphertext()


def test_tables_of_multiples_and_signs_of_sums() -> None:
    """A step between messages leaves room for noise and for a second table; sums of messages have a sign."""
    engine = FhewEngine(bits=4)
    secret = engine.create_secret_key()
    key = engine.create_bootstrap_key(secret)
    x, y = engine.encrypt([0, 1, 2, 3], secret), engine.encrypt([3, 2, 1, 0], secret)
    total = 2 * (x + y[::-1])
    digit, carry = engine.lookup(total, [lambda m: m // 2 % 4, lambda m: m // 8], key, step=2)
    np.testing.assert_array_equal(engine.decrypt(digit, secret), [0, 2, 0, 2])
    np.testing.assert_array_equal(engine.decrypt(carry, secret), [0, 0, 1, 1])
    two = [lambda m: 15 * (m // 2 % 2), lambda m: 15 - m]
    assert engine.estimate("lookup", table=two).rotations == 2
    assert engine.estimate("lookup", table=two, step=2).rotations == 1
    np.testing.assert_array_equal(engine.decrypt(engine.sign(5 * (x - y), key), secret), [0, 0, 1, 1])
    for step in (3, 16):
        with pytest.raises(ParameterError, match="power of two up to 8"):
            engine.lookup(total, two, key, step=step)


def test_masked_tables_and_matrices_of_numpy_are_refused() -> None:
    engine = FhewEngine(bits=2)
    x = engine.encrypt([[0, 1], [1, 0]], engine.create_secret_key())
    with pytest.raises(TypeError, match="matrix product"):
        _ = x * np.asmatrix([[1, 0], [0, 1]])
    with pytest.raises(TypeError, match="masked"):
        Table(np.ma.masked_array([0, 1, 2, 3], [False, True, False, False]))
