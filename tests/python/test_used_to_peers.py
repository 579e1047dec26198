"""What users of other libraries write first: operands in either order, names of theirs, advice that works."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import DigitSession, Engine, FhewEngine, IntegerEngine, KeySet, SchemeSwitch, Session, batch
from aglet.errors import LevelError, MissingKeyError, ParameterError, RangeError, SerializationError
from digit_sets import toy, toy_keys

X = np.array([0, 1, 77, 200, 255], dtype=np.uint8)
Y = np.array([3, 255, 5, 100, 1], dtype=np.uint8)


@functools.cache
def digits() -> DigitSession:
    engine = toy()
    return DigitSession(engine, engine.create_keys(packing=True))


def test_integers_in_the_clear_come_first_or_second() -> None:
    engine = IntegerEngine(preset="toy-int16", allow_insecure=True)
    secret = engine.create_secret_key()
    x, y = np.arange(-5, 6), np.arange(3, 14)
    a = engine.encrypt(x, secret)
    cases = [
        (engine.add(5, a), 5 + x),
        (engine.add(y, a), y + x),
        (engine.add(engine.encode(y), a), y + x),
        (engine.subtract(5, a), 5 - x),
        (engine.subtract(y, a), y - x),
        (engine.subtract(engine.encode(y), a), y - x),
        (engine.multiply(-7, a), -7 * x),
        (engine.multiply(list(y), a), y * x),
        (engine.multiply(engine.encode(y), a), y * x),
    ]
    for found, wanted in cases:
        np.testing.assert_array_equal(engine.decrypt(found, secret)[: x.size], wanted)
    for call in (engine.add, engine.subtract, engine.multiply):
        with pytest.raises(TypeError, match="IntegerCiphertext is needed"):
            call(1, y)
    with pytest.raises(LevelError, match=r"level 2 cannot be brought to level 5: levels only go down"):
        engine.mod_switch(engine.mod_switch(a, 2), 5)


_WIDE = "(x[..., None] {} 2 ** numpy.arange(bits, dtype=x.dtype)).sum(axis=-1)"
_LOW = _WIDE.format(">").replace("(x[", "((x & -x)[")
# The name in another library, the words of the refusal, what is written by them, and what numpy gives.
NAMES: list[tuple[str, str, str, Any]] = [
    ("if_then_else", "numpy.where(flag, x, y)", "numpy.where(flag, x, y)", np.where(X > 50, X, Y)),
    ("cmux", "numpy.where(flag, x, y)", "numpy.where(flag, x, y)", np.where(X > 50, X, Y)),
    ("eq", "x == y", "x == y", X == Y),
    ("scalar_add", "x + 1", "x + 1", X + 1),
    ("rotate_left", "(x << k) | (x >> (bits - k))", "(x << k) | (x >> (bits - k))", (X << 3) | (X >> 5)),
    ("rotate_right", "swapped for the right", "(x >> k) | (x << (bits - k))", (X >> 3) | (X << 5)),
    ("overflowing_add", "s < x", "s < x", (X + Y) < X),
    ("overflowing_sub", "x < y", "x < y", X < Y),
    ("overflowing_mul", "x.astype(numpy.uint16) * y", "x.astype(numpy.uint16) * y", X.astype(np.uint16) * Y),
    ("div_rem", "divmod(x, y)", "divmod(x, y)[1]", X % Y),
    ("cast_into", "x.astype(dtype)", "x.astype('u2')", X.astype("u2")),
    ("count_ones", "numpy.bitwise_count(x)", "numpy.bitwise_count(x)", np.bitwise_count(X)),
    ("leading_zeros", _WIDE.format("<"), _WIDE.format("<"), [8, 7, 1, 0, 0]),
    ("trailing_zeros", _LOW, f"{_LOW}[1:]", [0, 0, 3, 0]),
    ("ilog2", f"{_WIDE.format('>=')} - 1", f"({_WIDE.format('>=')} - 1)[1:]", [0, 6, 7, 7]),
    ("is_odd", "(x & 1) == 0 or == 1", "(x & 1) == 1", X % 2 == 1),
    ("reverse_bits", "session.take(table, x)", "session.take(table, x & 15)", 15 - (X & 15)),
]


@pytest.mark.parametrize(("name", "words", "instead", "wanted"), NAMES, ids=[name for name, *_ in NAMES])
def test_names_of_peers_are_answered_by_what_works(name: str, words: str, instead: str, wanted: Any) -> None:
    session = digits()
    x, y = session.encrypt(X), session.encrypt(Y)
    with pytest.raises(AttributeError) as refusal:
        getattr(x, name)
    assert words in str(refusal.value)
    table = np.arange(15, -1, -1, dtype=np.uint8)
    given = {"numpy": np, "x": x, "y": y, "flag": x > 50, "k": 3, "bits": 8, "s": x + y}
    np.testing.assert_array_equal(session.decrypt(eval(instead, {**given, "session": session, "table": table})), wanted)


def test_a_cast_to_bool_says_how() -> None:
    session = digits()
    x = session.encrypt(X)
    with pytest.raises(TypeError, match="write x != 0"):
        x.astype(bool)
    for found in (x != 0, x.astype(bool, casting="unsafe")):
        np.testing.assert_array_equal(session.decrypt(found), X.astype(bool))


def test_what_fails_with_fresh_inputs_says_what_serves() -> None:
    wide, four = FhewEngine(preset="wide"), FhewEngine(bits=4)
    secret = four.create_secret_key()
    key = four.create_bootstrap_key(secret)
    x = four.encrypt([1, 0xABC], secret, bits=12, signed=False)
    for call in (lambda: four.digits(x, key), lambda: four.floor(x, 4, key)):
        with pytest.raises(
            RangeError, match=r'take integers of fewer bits or FhewEngine\(preset="wide"\), or allow more'
        ):
            call()
    wide_secret = wide.create_secret_key()
    wide_key = wide.create_bootstrap_key(wide_secret)
    y = wide.encrypt([1, 0xABC], wide_secret, bits=12, signed=False)
    assert wide.decrypt(wide.floor(y, 4, wide_key), wide_secret).tolist() == [0, 0xAB]
    packing = four.create_packing_key(secret)
    z = four.encrypt([1, 2], secret)
    with pytest.raises(
        RangeError, match=r'take FhewEngine\(preset="wide"\), bootstrap the inputs first, or allow more'
    ):
        four.lookup2(z, z, lambda high, low: (high + low) % 16, key, packing)


def test_integers_of_other_widths_are_told_apart() -> None:
    engine = toy()
    secret = engine.create_secret_key()
    with pytest.raises(ParameterError, match='"signed of 8 bits" and the other "signed of 6 bits"'):
        engine.encrypt([1], secret, bits=8) + engine.encrypt([1], secret, bits=6)


def test_a_map_at_level_0_asks_for_a_bootstrap() -> None:
    engine = Engine(preset="toy", allow_insecure=True)
    secret = engine.create_secret_key()
    x, key = engine.encrypt([1.0], secret, level=0), engine.create_map_key(secret, [0, 1])
    with pytest.raises(LevelError, match="bootstrap ciphertexts that are lower"):
        engine.linear_map({0: [0.5]}, x, key)


def test_folders_without_a_key_of_their_index_say_so(tmp_path: Path) -> None:
    engine = Engine(preset="toy", allow_insecure=True)
    keys = engine.create_keys()
    keys.save(tmp_path)
    (tmp_path / "secret.key").rename(tmp_path.parent / "apart.key")
    assert KeySet.load(tmp_path, engine).key_id == keys.key_id
    with pytest.raises(MissingKeyError, match=r"has no secret\.key; copy that file into it, or load without it\."):
        KeySet.load(tmp_path, engine, secret=True)
    (tmp_path.parent / "apart.key").rename(tmp_path / "secret.key")
    assert KeySet.load(tmp_path, engine, secret=True).secret is not None
    (tmp_path / "bootstrap.key").unlink()
    with pytest.raises(
        MissingKeyError, match=r"has no bootstrap\.key; copy that file into it, or save the keys again\."
    ):
        KeySet.load(tmp_path, engine)


def test_a_switch_names_the_call_that_makes_all_its_keys() -> None:
    switch = SchemeSwitch(Engine(preset="toy", allow_insecure=True), toy())
    engine, own, low = switch.engine, switch.engine.create_secret_key(), switch.fhew_engine.create_secret_key()
    x = engine.encrypt([0.5, -0.5], own)
    with pytest.raises(MissingKeyError, match=r"or all with switch\.create_keys\(secret_key, fhew_secret_key\)\."):
        switch.sign(x, [0, 1], engine.create_keys(own), bits=8)
    signs = switch.sign(x, [0, 1], switch.create_keys(own, low), bits=8)
    assert switch.fhew_engine.decrypt(signs, low).tolist() == [1, 0]


def test_bytes_of_other_families_are_named_as_they_are() -> None:
    engine, numbers = Engine(preset="toy", allow_insecure=True), IntegerEngine(preset="toy-int16", allow_insecure=True)
    bits, digits = toy(), toy_keys()
    secret = engine.create_secret_key()
    things = [
        (engine, engine.encrypt([1.0], secret), "Ciphertext"),
        (engine, engine.create_lossy_bootstrap_key(secret), "LossyBootstrapKey"),
        (bits, bits.encrypt([1], digits.fhew_secret), "FhewCiphertext"),
        (bits, digits.fhew_bootstrap, "FhewBootstrapKey"),
        (bits, digits.packing, "PackingKey"),
    ]
    for home, thing, name in things:
        data = home.serialize(thing)
        for other in (engine, numbers):
            if other is home:
                continue
            with pytest.raises(SerializationError) as refusal:
                other.deserialize(data)
            assert "take every type" not in str(refusal.value)
            assert f"does not read {name}; use the engine of its family" in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("plan --entries 1", "2 to 256 entries, not 1"),
        ("bench functional --entries 257", "2 to 256 entries, not 257"),
        ("advise --slots 10 --bits -3 --levels 2", "a positive number of bits"),
    ],
)
def test_commands_refuse_in_one_sentence(arguments: str, words: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "aglet", *arguments.split()], capture_output=True, text=True, check=False, timeout=60
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert words in run.stderr
    assert "Warning" not in run.stderr


def test_comparisons_without_levels_say_which_keys_serve() -> None:
    without = Engine(max_level=3)
    session = Session(without, without.create_keys())
    with pytest.raises(
        LevelError, match=r"of an engine with use_bootstrap=True \(a session has them from engine\.create"
    ):
        _ = session.encrypt([0.5]) > 0
    engine = Engine(preset="toy", allow_insecure=True)
    keys = engine.create_keys()
    low = engine.encrypt([0.5, -0.5], keys.secret, level=2)
    with pytest.raises(LevelError, match="bootstrap key too"):
        engine.sign(low, keys.relinearization)
    signs = engine.sign(low, keys.relinearization, keys.conjugation, keys.bootstrap)
    np.testing.assert_allclose(engine.decrypt(signs, keys.secret)[:2], [1, -1], atol=1e-3)


def test_a_power_of_0_is_1_as_in_numpy() -> None:
    engine = Engine(preset="toy", allow_insecure=True)
    session = Session(engine, engine.create_keys())
    x = session.encrypt([0.5, 0.0, -0.25])
    for found in (x**0, np.power(x, 0)):
        assert found.level == x.level
        np.testing.assert_allclose(session.decrypt(found), 1, atol=1e-6)
    for power in (-1, 0.5, 1j, np.array([0, 1, 2])):
        with pytest.raises(TypeError):
            x**power


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i8"])
@pytest.mark.parametrize("entries", [1, 3, 5, 10, 16])
def test_declared_ranges_serve_tables_and_bins(dtype: str, entries: int) -> None:
    session, rng = digits(), np.random.default_rng(entries)
    places = rng.integers(0, entries, 5).astype(dtype)
    x = session.encrypt(places).assume(bound=(0, entries - 1))
    for table in (rng.integers(-300, 300, entries), rng.integers(0, 2, entries).astype(bool), np.full(entries, 7)):
        np.testing.assert_array_equal(session.decrypt(session.take(table, x)), table[places])
    bins = np.bincount(x, minlength=entries)
    np.testing.assert_array_equal(session.decrypt(bins), np.bincount(places, minlength=entries))


def test_tables_say_which_range_to_declare() -> None:
    session = digits()
    x = session.encrypt(X)
    with pytest.raises(RangeError, match=r"as in x\.assume\(bound=\(0, 9\)\), or mask them, as in x & 7\."):
        session.take(np.arange(10), x)
    with pytest.raises(RangeError, match="empty"):
        session.take(np.arange(0), x)
    with pytest.raises(TypeError, match=r"x\.assume\(bound=\(0, 255\)\)"):
        session.take(np.arange(256), session.encrypt(X.astype(np.int16)))
    with pytest.raises(TypeError, match="negative"):
        session.take(np.arange(10), session.encrypt(np.array([1], dtype=np.int8)).assume(bound=(-1, 9)))


def test_bits_of_imaginary_parts_are_not_lost() -> None:
    engine = Engine(preset="toy", allow_insecure=True)
    secret = engine.create_secret_key()
    relinearization, conjugation = engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)
    keys = (relinearization, conjugation, engine.create_lossy_bootstrap_key(secret))
    bits = np.array([0, 1, 1j, 1 + 1j])
    both = engine.sign_bootstrap(engine.encrypt(bits, secret, level=0), *keys, bits=True)
    with pytest.raises(RangeError, match=r"read both with decrypt and numpy\.rint"):
        engine.decrypt_bits(both, secret)
    found = engine.decrypt(both, secret)[:4]
    np.testing.assert_array_equal(np.rint(found.real) + 1j * np.rint(found.imag), bits)
    real = engine.sign_bootstrap(engine.encrypt(bits.real, secret, level=0), *keys, bits=True)
    np.testing.assert_array_equal(engine.decrypt_bits(real, secret)[:4], bits.real.astype(bool))


def test_a_set_of_an_engine_without_bootstrap_says_so() -> None:
    engine = Engine(preset="toy-ship", slot_count=64, allow_insecure=True)
    keys = engine.create_keys(rotation=False)
    with pytest.raises(MissingKeyError, match=r"no bootstrap of 64 slots; make the engine with use_bootstrap=True, or"):
        _ = keys.bootstrap_arguments
    assert Engine(preset="toy-ship", slot_count=8, allow_insecure=True).create_keys(rotation=False).bootstrap_arguments


def test_rounding_that_fails_says_what_serves() -> None:
    switch = SchemeSwitch(Engine(preset="toy", allow_insecure=True), toy())
    session, clear = Session(switch.create_keys(rotation=True)), np.array([3, 40, 17], dtype=np.uint8)
    x = session.encrypt(clear)
    with pytest.raises(
        RangeError, match=r"Rounding on these inputs .* round values of a smaller range, declared before"
    ):
        x.astype(float).astype(np.uint8)
    for found in (
        x.assume(bound=(0, 50)).astype(float).astype(np.uint8),
        x.astype(float).astype(np.uint8, noise=2**-12),
    ):
        np.testing.assert_array_equal(session.decrypt(found), clear)


@pytest.mark.parametrize("source", [5, None, [1, 2]])
def test_streams_of_something_else_are_refused(tmp_path: Path, source: Any) -> None:
    engine = Engine(preset="toy", allow_insecure=True)
    engine.create_keys(rotation=False).save(tmp_path)
    with batch.Pool(tmp_path, allow_insecure=True) as pool, pytest.raises(TypeError, match="A stream takes a folder"):
        list(pool.stream(source))
