"""Many tables at once, floors and digits, published methods, and estimates of what calls take."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from aglet import FhewEngine, _core
from aglet.errors import KeyMismatchError, MissingKeyError, ParameterError, RangeError
from aglet_bench.fhew import records
from fhew_set import Set, make


@pytest.fixture(scope="module")
def wide() -> Set:
    return make(preset="wide", thread_count=2)


@pytest.fixture(scope="module")
def four() -> Set:
    return make(bits=4, thread_count=2)


# Many tables


@pytest.mark.parametrize("block", [1, 7, 16, 60])
def test_sums_in_blocks(block: int, four: Set, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of whole rows, or of parts of a row, of which there may be any number."""
    monkeypatch.setattr("aglet.fhew.ciphertext._BLOCK", block)
    clear = np.random.default_rng(4).integers(0, 2, 60)
    x = four.engine.encrypt(clear, four.secret, bits=12, signed=False)
    for shape, axis in (((60,), None), ((12, 5), 1), ((3, 20), 1), ((2, 5, 6), (0, 2)), ((60,), 0), ((1, 60), 0)):
        found = x.reshape(shape).sum(axis, keepdims=True)
        np.testing.assert_array_equal(
            four.engine.decrypt(found, four.secret), clear.reshape(shape).sum(axis, keepdims=True)
        )


@pytest.mark.parametrize("domain", ["padded", "full"])
def test_many_tables_give_a_tuple(wide: Set, four: Set, domain: str) -> None:
    messages = np.arange(16).reshape(4, 4)
    tables = [lambda m: 15 - m, [m * m % 16 for m in range(16)], messages.ravel() // 2]
    expected = [15 - messages, messages**2 % 16, messages // 2]
    for own in (wide, four):
        x = own.engine.encrypt(messages, own.secret, domain=domain)
        found = own.engine.lookup(x, tables, own.key)
        assert isinstance(found, tuple)
        for one, wanted in zip(found, expected, strict=True):
            assert one.form == domain
            np.testing.assert_array_equal(own.decrypt(one), wanted)
        (one,) = own.engine.lookup(x[0], (lambda m: m,), own.key)
        np.testing.assert_array_equal(own.decrypt(one), messages[0])
        with pytest.raises(RangeError, match="has 3 values; give 16"):
            own.engine.lookup(x, [tables[0], [1, 2, 3]], own.key)


# Words


def test_words_are_integers_that_wrap_around(wide: Set) -> None:
    values = np.array([[0, 1], [200, 255]])
    x = wide.words(values, 8)
    assert (x.form, x.bits) == ("unsigned", 8)
    np.testing.assert_array_equal(wide.decrypt(x), values)
    np.testing.assert_array_equal(wide.decrypt(3 * x - x[0] + 7), (3 * values - values[0] + 7) % 256)
    back = wide.engine.deserialize(wide.engine.serialize(x + 300))
    assert back.form == "unsigned"
    np.testing.assert_array_equal(wide.decrypt(back), (values + 300) % 256)
    for wrong, bits in ((256, 8), (-1, 8), (2**20, 20)):
        with pytest.raises(RangeError, match=f"does not fit {bits} bits; give 0 to"):
            wide.words(wrong, bits)
    for bits in (0, 21):
        with pytest.raises((RangeError, ParameterError), match="bits"):
            wide.words(0, bits)
    with pytest.raises(ParameterError, match="give bits=, 1 to 20, beside signed=False"):
        wide.engine.encrypt(1, wide.secret, signed=False)
    with pytest.raises(TypeError, match="signed"):
        wide.engine.encrypt(1, wide.secret, bits=8, signed=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("bits", "low"), [(6, 1), (8, 4), (15, 10)])
def test_floors(wide: Set, bits: int, low: int) -> None:
    values = np.append(np.random.default_rng(bits).integers(0, 2**bits, 6), [0, 2**bits - 1])
    found = wide.engine.floor(wide.words(values, bits), low, wide.key)
    assert (found.form, found.bits) == ("unsigned", bits - low)
    np.testing.assert_array_equal(wide.decrypt(found), values >> low)


@pytest.mark.parametrize("bits", [4, 6, 16])
def test_digits(wide: Set, bits: int) -> None:
    values = np.append(np.random.default_rng(bits).integers(0, 2**bits, 4), [0, 2**bits - 1]).reshape(2, 3)
    found = wide.engine.digits(wide.words(values, bits), wide.key)
    assert (found.form, found.shape) == ("padded", (-(-bits // 4), 2, 3))
    for place, digit in enumerate(found):
        np.testing.assert_array_equal(wide.decrypt(digit), values >> 4 * place & 15)
    # Digits are messages for tables.
    lowest = wide.engine.lookup(found[0], lambda m: 15 - m, wide.key)
    np.testing.assert_array_equal(wide.decrypt(lowest), 15 - values % 16)


def test_floors_and_digits_that_are_refused(wide: Set, four: Set) -> None:
    x = wide.words([1, 2], 8)
    for low, words in ((0, "floor removes 1 to 7 of 8 bits, not 0"), (8, "1 to 7 of 8 bits, not 8"), (99, "not 99")):
        with pytest.raises(RangeError, match=words):
            wide.engine.floor(x, low, wide.key)
    with pytest.raises(RangeError, match="one bit"):
        wide.engine.floor(wide.words(1, 1), 1, wide.key)
    for wrong in (-1, 1.5, "1"):
        with pytest.raises((ParameterError, TypeError), match="bits"):
            wide.engine.floor(x, wrong, wide.key)  # type: ignore[arg-type]
    others = [wide.engine.encrypt([1], wide.secret), wide.engine.encrypt([1], wide.secret, bits=8)]
    for other in others:
        with pytest.raises(ParameterError, match="bits=, 1 to 20, and signed=False"):
            wide.engine.floor(other, 1, wide.key)
        with pytest.raises(ParameterError, match="bits=, 1 to 20, and signed=False"):
            wide.engine.digits(other, wide.key)
    for refused in (lambda: wide.engine.lookup(x, [0] * 16, wide.key), lambda: wide.engine.sign(x, wide.key)):
        with pytest.raises(ParameterError, match="encrypt"):
            refused()
    with pytest.raises(RangeError, match=r"would fail with probability 2\^"):
        wide.engine.digits(wide.words([1], 17), wide.key)
    with pytest.raises(RangeError, match=r"would fail with probability 2\^"):
        four.engine.digits(four.words([1], 16), four.key)
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        wide.engine.digits(x, None)  # type: ignore[arg-type]
    with pytest.raises(MissingKeyError, match="create_bootstrap_key"):
        wide.engine.floor(x, 1, None)  # type: ignore[arg-type]
    with pytest.raises(KeyMismatchError, match='preset "lut4", and this one has preset "wide"'):
        wide.engine.digits(x, four.key)
    with pytest.raises(KeyMismatchError):
        wide.engine.floor(x, 1, wide.engine.create_bootstrap_key(wide.engine.create_secret_key()))


# Methods


def test_dm_gives_the_same_gates() -> None:
    own = make(method="dm")
    assert (own.engine.method, own.engine.preset) == ("dm", "dm")
    x, y = own.engine.encrypt([[False, False, True, True], [False, True, False, True]], own.secret)
    np.testing.assert_array_equal(own.decrypt(own.engine.nand(x, y, own.key)), [True, True, True, False])


def test_the_fastest_set_of_so_many_bits_is_the_default() -> None:
    assert [FhewEngine(bits=bits).preset for bits in (1, 2, 3, 4)] == ["gate", "lut2", "lut3", "lut4"]
    wide = FhewEngine(preset="wide")
    assert (wide.bits, wide.method) == (4, "block")


# Estimates


def test_an_estimate_says_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = {name: _core.doctor()[name] for name in ("backend", "cpu")}
    record = {"kind": "lookup", "preset": "lut4", "operation": "padded table", "threads": 1, "date": "2000-01-01"}
    mine = {**record, "batch": 1, "seconds": 0.005, **machine}
    others = [{**mine, "cpu": "another"}, {**mine, "operation": "full table"}, {**mine, "preset": "lut3"}]
    engine = FhewEngine(bits=4, thread_count=2)
    monkeypatch.setattr(records, "known", lambda: [mine, {**mine, "batch": 8, "seconds": 0.004}, *others])
    few, many = engine.estimate("lookup", batch=7), engine.estimate("sign", bits=20, batch=8)
    assert few.source == f"measured on {machine['cpu']} with {machine['backend']}, 2000-01-01"
    assert (few.seconds, many.seconds) == (4 * 0.005, 24 * 0.004)
    monkeypatch.setattr(records, "known", lambda: others)
    plain = engine.estimate("lookup", batch=7)
    assert (plain.source, plain.seconds) == ("modelled", plain.modelled_seconds)


def test_estimates_model_the_kernels_of_the_machine() -> None:
    """Those that run, whatever the processor has, and `aglet plan` names them."""
    code = (
        "from aglet import FhewEngine; from aglet.cli import app; from typer.testing import CliRunner\n"
        "print(FhewEngine(bits=4).estimate('lookup', batch=64).modelled_seconds)\n"
        "print(CliRunner().invoke(app, ['plan', '--preset', 'lut4', '--json']).stdout)"
    )

    def modelled(backend: str) -> float:
        environment = {**os.environ, "AGLET_BACKEND": backend}
        told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        seconds, found = told.stdout.splitlines()[:2]
        assert json.loads(found)["backend"] == backend
        return float(seconds)

    assert modelled("scalar") == pytest.approx(10 / 3.5 * modelled("portable"), rel=0.01)


def test_estimates_need_no_key() -> None:
    gates, four, wide = FhewEngine(), FhewEngine(bits=4), FhewEngine(preset="wide")
    nand = gates.estimate("nand", batch=8)
    assert nand.rotations == 8
    slower = {"avx512ifma": 1, "avx2": 2.2, "portable": 3.5, "scalar": 10}[gates.backend]
    assert 0.008 < nand.modelled_seconds / slower < 0.03
    assert nand.seconds > 0
    assert nand.source == "modelled" or nand.source.startswith("measured on ")
    assert nand.log2_failure < -128
    assert nand.key_bytes == gates.create_bootstrap_key(gates.create_secret_key()).byte_count
    assert gates.estimate("nand", batch=64).working_bytes > nand.working_bytes > 0
    assert gates.estimate("mux", batch=3).rotations == 6
    assert (four.estimate("lookup").rotations, four.estimate("lookup", domain="full").rotations) == (1, 2)
    steep = [0, 15] * 8
    assert (
        four.estimate("lookup", table=[steep] * 3).rotations,
        wide.estimate("lookup", table=[steep] * 3).rotations,
    ) == (3, 1)
    assert (four.estimate("sign", bits=20).rotations, four.estimate("==", bits=20, batch=2).rotations) == (6, 24)
    assert wide.estimate("floor", bits=10, low=5).rotations == 2
    assert wide.estimate("digits", bits=8).rotations == 4
    assert wide.estimate("lookup2", table=[max, min], domain="full", batch=2).rotations == 10
    assert wide.estimate("lookup2").log2_failure < -128 < four.estimate("lookup2").log2_failure


def test_estimates_of_what_is_not_there() -> None:
    engine = FhewEngine(bits=4)
    refused: list[tuple[dict[str, object], type[Exception], str]] = [
        ({"what": "guess"}, ParameterError, "choose one of nand, and"),
        ({"what": "sign"}, ParameterError, "depends on bits=; give it"),
        ({"what": "floor", "bits": 8}, ParameterError, "depends on low=; give it"),
        ({"what": "nand", "bits": 8}, ParameterError, '"nand" does not depend on bits=; leave it out'),
        ({"what": "lookup", "domain": "round"}, ParameterError, "padded, full, negacyclic"),
        ({"what": "lookup", "table": [1, 2]}, RangeError, "give 16"),
        ({"what": "lookup2", "domain": "negacyclic"}, ParameterError, "padded or the full domain"),
        ({"what": "sign", "bits": 21}, RangeError, "21"),
        ({"what": "floor", "bits": 4, "low": 5}, RangeError, "give 1 to 4"),
        ({"what": "nand", "batch": -1}, ParameterError, "batch"),
    ]
    for options, error, words in refused:
        with pytest.raises(error, match=words):
            engine.estimate(**options)  # type: ignore[arg-type]


def test_noise_is_that_of_the_set() -> None:
    noise = FhewEngine(bits=4).noise
    assert noise["distance"] == {"padded": 1 / 64, "full": 1 / 64, "negacyclic": 1 / 32}
    together = noise["squared_weights"] * noise["bootstrap"] ** 2 + noise["key_switch"] ** 2 + noise["mod_switch"] ** 2
    assert noise["decision"] == pytest.approx(together**0.5)
    assert noise["fresh"] < noise["bootstrap"]
