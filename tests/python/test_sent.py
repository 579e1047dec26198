"""Results for sending: packed and rounded ciphertexts of engines and sessions, their bytes, values and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import CompressedIntegers, DigitSession, Engine, FhewEngine, KeySet, Session
from aglet.errors import KeyMismatchError, MissingKeyError, RangeError, SerializationError

DTYPES = ["bool", *(f"{sign}int{bits}" for sign in ("u", "") for bits in (8, 16, 32, 64))]


@cache
def engine() -> FhewEngine:
    return FhewEngine(bits=4)


@cache
def keys() -> KeySet:
    return engine().create_keys(packing=True)


@cache
def session() -> Any:
    return Session(keys())


def bytes_of(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.iterdir())


def moved(array: Any, folder: Path, to: Any) -> Any:
    """The same array in another session, and its bytes on the way."""
    array.session.save(array, folder)
    return to.load(folder), bytes_of(folder)


def test_2048_nibbles_of_tables_take_0_8_bytes_a_bit() -> None:
    """With everything that a file has: the header and the text of the parameters are 0.09 of it."""
    e, k = engine(), keys()
    values = np.arange(2048).reshape(32, 64) * 7 % 16
    x = e.lookup(e.encrypt(range(16), k.fhew_secret), lambda m: m, k.fhew_bootstrap)[values]
    sent = e.compress(x, k.packing)
    assert len(e.serialize(sent)) <= 0.8 * 4 * 2048
    found = e.deserialize(e.serialize(sent))
    assert (found.shape, found.form) == (values.shape, "padded")
    np.testing.assert_array_equal(e.decrypt(found, k.fhew_secret), values)
    # Its noise is near what decryption allows, and stated.
    with pytest.raises(RangeError, match="probability"):
        e.decrypt(found, k.fhew_secret, max_failure=2.0**-300)
    with pytest.raises(Exception, match=r"2\^-|probability|noise"):
        e.lookup(found, lambda m: m, k.fhew_bootstrap)
    less = e.compress(x, k.packing, max_failure=2.0**-40)
    assert len(e.serialize(less)) < len(e.serialize(sent))
    with pytest.raises(RangeError):
        e.decrypt(less, k.fhew_secret)
    np.testing.assert_array_equal(e.decrypt(less, k.fhew_secret, max_failure=2.0**-40), values)


def test_a_server_sends_what_a_client_reads(tmp_path: Path) -> None:
    """The loop: a sender encrypts, a server adds and compares and packs, the owner of the secret reads."""
    sender, server = Session(keys().encryption()), Session(keys().evaluation())
    values = np.arange(24, dtype=np.uint8).reshape(4, 6) * 10
    x, _ = moved(sender.encrypt(values), tmp_path / "in", server)
    for at, result in enumerate((x + 17, x > 100)):
        sent = server.compress(result)
        assert isinstance(sent, CompressedIntegers)
        got, size = moved(sent, tmp_path / str(at), session())
        wanted = (values + 17) if at == 0 else values > 100
        found = session().decrypt(got)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        assert size < 5000
        with pytest.raises(MissingKeyError, match="secret key"):
            server.decrypt(sent)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_comes_back_from_a_folder(dtype: str, tmp_path: Path) -> None:
    ends = [True, False] if dtype == "bool" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 1]
    for number, shape in enumerate(((-1,), (1, -1))):
        values = np.array(ends, dtype=dtype).reshape(shape)
        got, _ = moved(session().compress(session().encrypt(values)), tmp_path / str(number), session())
        assert (got.shape, got.dtype, got.size) == (values.shape, values.dtype, values.size)
        found = session().decrypt(got)
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values)
    one = session().compress(session().encrypt(np.array(ends[0], dtype=dtype)))
    assert session().decrypt(one) == ends[0]
    # Digits that everybody knows stay so, and an array may have no element.
    clear = session().compress(session().clear(np.array(ends, dtype=dtype)))
    np.testing.assert_array_equal(session().decrypt(moved(clear, tmp_path / "clear", session())[0]), ends)
    same = session().clear(np.full((2, 2), ends[0], dtype=dtype))
    for name, kept in (("same", same), ("sent", session().compress(same))):
        np.testing.assert_array_equal(session().decrypt(moved(kept, tmp_path / name, session())[0]), ends[0])
    none = session().compress(session().encrypt(np.zeros((2, 0), dtype=dtype)))
    assert session().decrypt(none).shape == (2, 0)


def test_digits_of_8192_bits_take_less_than_6_kb(tmp_path: Path) -> None:
    values = np.arange(1024, dtype=np.uint16).astype(np.uint8)
    got, size = moved(session().compress(session().encrypt(values)), tmp_path / "bytes", session())
    assert size < 0.78 * 8192
    assert (tmp_path / "bytes" / "nibbles.ciphertext").stat().st_size < 0.73 * 8192
    np.testing.assert_array_equal(session().decrypt(got), values)
    bools = np.random.default_rng(1).random(1001) < 0.5
    got, size = moved(session().compress(session().encrypt(bools)), tmp_path / "bools", session())
    assert size < 4600
    np.testing.assert_array_equal(session().decrypt(got), bools)
    # Digits that are 0 in all elements take no place.
    nibbles = np.arange(2048, dtype=np.uint16).astype(np.uint8) & 15
    for name, x in (("and", session().encrypt(nibbles) & 15), ("bound", session().encrypt(nibbles, bound=15))):
        got, size = moved(session().compress(x), tmp_path / f"nibbles-{name}", session())
        assert size < 0.78 * 8192
        np.testing.assert_array_equal(session().decrypt(got), nibbles)
        back, whole = moved(x, tmp_path / name, session())
        assert whole - (tmp_path / name / "digits.ciphertext").stat().st_size < 500
        np.testing.assert_array_equal(session().decrypt(back + 1), nibbles + 1)
    wide = session().compress(session().encrypt(np.array([3, 4], dtype=np.uint8)).astype(np.uint16))
    np.testing.assert_array_equal(session().decrypt(wide), np.array([3, 4], dtype=np.uint16))
    assert repr(wide).startswith("<CompressedIntegers (2,): uint16, 4 ciphertexts")


def test_noisy_digits_are_refreshed_first() -> None:
    x = session().encrypt(np.array([1, 2, 3], dtype=np.uint8))
    before = session().rotations
    session().compress(x)
    assert session().rotations == before
    for digit in x.digits:
        # The same digit with nine times the noise of a result: what a table still reads, and packing does not.
        digit.cells = digit.cells + (engine().lookup(digit.cells, lambda m: m, keys().fhew_bootstrap) - digit.cells) * 9
    sent = session().compress(x)
    assert session().rotations > before
    assert session().decrypt(sent).tolist() == [1, 2, 3]


def test_a_plan_counts_no_bootstrap_for_it() -> None:
    plan = DigitSession.plan(lambda x: x.session.compress(x + 1), [((5,), np.uint8)], engine=FhewEngine(bits=4))
    without = DigitSession.plan(lambda x: x + 1, [((5,), np.uint8)], engine=FhewEngine(bits=4))
    assert plan.rotations == without.rotations > 0


def test_a_session_of_floats_and_digits(tmp_path: Path) -> None:
    slots = Engine(preset="toy", allow_insecure=True)
    secret = slots.create_secret_key()
    both = Session(replace(keys(), engine=slots, secret=secret, public=slots.create_public_key(secret)))
    sent = both.compress(both.encrypt(np.array([[7, 9]], dtype=np.int16)))
    both.save(sent, tmp_path / "sent")
    assert both.decrypt(both.load(tmp_path / "sent")).tolist() == [[7, 9]]


def test_refusals(tmp_path: Path) -> None:
    x = session().encrypt(np.array([1, 2, 3], dtype=np.uint8))
    without = Session(replace(keys(), packing=None))
    with pytest.raises(MissingKeyError, match=r"create_keys\(packing=True\)"):
        without.compress(without.encrypt(np.array([1], dtype=np.uint8)))
    with pytest.raises(KeyMismatchError, match="another session"):
        without.compress(x)
    sent = session().compress(x)
    for call in (without.decrypt, lambda one: without.save(one, tmp_path / "x")):
        with pytest.raises(KeyMismatchError, match="another session"):
            call(sent)
    with pytest.raises(TypeError, match="CompressedIntegers"):
        session().compress(sent)
    session().save(sent, tmp_path / "sent")
    with pytest.raises(FileExistsError):
        session().save(sent, tmp_path / "sent")
    with pytest.raises(KeyMismatchError, match="another secret key"):
        Session(engine().create_keys(packing=True)).load(tmp_path / "sent")
    other = keys().fhew_engine
    assert other is not None
    with pytest.raises(KeyMismatchError):
        other.compress(other.encrypt([1], other.create_secret_key()), keys().packing)
    with pytest.raises(MissingKeyError, match="create_packing_key"):
        other.compress(other.encrypt([1], keys().fhew_secret), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", 2),
        ("dtype", "uint16"),
        ("dtype", "float64"),
        ("shape", [4]),
        ("shape", [3, 2]),
        ("shape", "no"),
        ("encrypted", [True, True, True, False]),
        ("encrypted", [True] * 5),
        ("sha256", ["0", "0"]),
    ],
)
def test_heads_that_nothing_wrote_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    session().save(session().compress(session().encrypt(np.array([1, 2, 3], dtype=np.uint8))), tmp_path / "sent")
    place = tmp_path / "sent" / "compressed.json"
    head = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**head, name: value}), encoding="utf-8")
    with pytest.raises((SerializationError, TypeError)):
        session().load(tmp_path / "sent")
