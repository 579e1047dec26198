"""Encrypted booleans and whole numbers on ciphertexts: values, bootstraps, noise, keys, files and refusals."""

from __future__ import annotations

import itertools
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aglet
from aglet import DigitSession, EncryptedIntegers, Engine, FhewEngine, KeySet, Session
from aglet.arrays.digits.machine import Machine
from aglet.arrays.digits.sums import Digit, Sum
from aglet.errors import KeyMismatchError, MissingKeyError, ParameterError, RangeError, SerializationError
from digit_sets import modelled, session, toy, toy_keys, wide_toy
from support import ROOT

EDGES = [0, 1, 2, 3, 4, 15, 16, 63, 64, 127, 128, 200, 254, 255]


def test_tables_at_the_ends_of_their_domains() -> None:
    """Each kind of table at every sum that it may be given, fresh and with as much noise as is allowed."""
    m: Machine = session().machine
    for high in (1, 3, 7, 15):
        x = Digit(m.encrypt(np.arange(high + 1)), 0, high)
        [found, other] = m.read([Sum.of((x, 1), (np.array(-2), 1))], abs, lambda v: -(v % 3))
        np.testing.assert_array_equal(m.decrypt(found[0].cells), np.abs(np.arange(high + 1) - 2))  # type: ignore[union-attr]
        np.testing.assert_array_equal(m.decrypt(-other[0].cells), (np.arange(high + 1) - 2) % 3)  # type: ignore[union-attr]
    x, y = (Digit(m.encrypt(one.ravel()), 0, 15) for one in np.meshgrid(np.arange(16), np.arange(16)))
    difference, clear = Sum.of((x, 1), (y, -1)), m.decrypt(x.cells) - m.decrypt(y.cells)
    [sign], [flag], [order] = (
        m.read_odd([difference], lambda v: int(v > 0)), m.read_odd([difference], lambda v: int(v == 0)),
        m.sign([difference]),
    )  # fmt: skip
    np.testing.assert_array_equal(m.decrypt(sign.cells + 1), np.sign(clear) + 1)  # type: ignore[union-attr]
    np.testing.assert_array_equal(m.decrypt(flag.cells), clear == 0)  # type: ignore[union-attr]
    np.testing.assert_array_equal(m.decrypt(order.cells), clear >= 0)  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32])
def test_an_array_beside_itself(dtype: Any) -> None:
    """Differences of equal ciphertexts have no noise, so their signs are the same ciphertext and err alike."""
    own, clear = session(), np.array([5, 0, 100], dtype)
    x = own.encrypt(clear)
    for found, expected in [
        (x < x, clear < clear), (x >= x, clear >= clear), (x == x, clear == clear),
        (x != x[::-1], clear != clear[::-1]), (x < x[::-1], clear < clear[::-1]), (np.minimum(x, x), clear),
        (x - x, clear - clear),
    ]:  # fmt: skip
        np.testing.assert_array_equal(own.decrypt(found), expected)


def test_operators_on_ciphertexts() -> None:
    own = session()
    x, y = (one.ravel() for one in np.meshgrid(np.array(EDGES, np.uint8), np.array([0, 1, 7, 128, 255], np.uint8)))
    a, b = own.encrypt(x), own.encrypt(y)
    for found, expected in [
        (a + b, x + y), (a - b, x - y), (a * b, x * y), (a & b, x & y), (a ^ b, x ^ y), (~a, ~x), (a < b, x < y),
        (a == b, x == y), (np.minimum(a, b), np.minimum(x, y)), (np.where(a < b, a, b), np.where(x < y, x, y)),
        (a << (b & 7), x << (y & 7)), (a.clip(0, 63), x.clip(0, 63)),
        (np.clip(a.astype(np.int8, casting="unsafe"), 0, 63), np.clip(x.astype(np.int8), 0, 63)),
        (a.sum(), x.sum()), (a + 7, x + 7), (200 - a, 200 - x), (a > 300, x > 300),
    ]:  # fmt: skip
        np.testing.assert_array_equal(own.decrypt(found), expected)
        assert found.dtype == expected.dtype


def test_counts_are_those_of_the_live_counter() -> None:
    """What a session counts is what the core reports, and what the model says of the same program."""
    counted: list[int] = []

    def progress(done: int, total: int, what: str) -> None:
        assert what == "rotations"
        # The last report of a batch says how many it took.
        counted.extend([done] * (done == total))

    own, model = DigitSession(toy(), toy_keys(), progress=progress), DigitSession.modelled(toy())
    values = np.array([[3, 250], [17, 96]], dtype=np.uint8)

    def program(x: Any, y: Any) -> Any:
        return np.where(x + y < 100, x * y, abs(x.astype(np.int16) - 40).astype(np.uint8, casting="unsafe"))

    found = [program(*(one.encrypt(values), one.encrypt(values[::-1]))) for one in (own, model)]
    np.testing.assert_array_equal(own.decrypt(found[0]), model.decrypt(found[1]))
    assert own.rotations == sum(counted) == model.rotations
    plan = DigitSession.plan(program, [((2, 2), np.uint8)] * 2, engine=toy())
    assert plan.rotations == own.rotations
    assert plan.seconds > 0
    assert str(plan.rotations) in str(plan)


def test_digits_are_refreshed_when_noise_nears_the_limit() -> None:
    own = session()
    clear = np.array([5, 90], dtype=np.uint8)
    x, low = own.encrypt(clear), own.encrypt(clear)
    for step in range(40):
        flag = own.encrypt(np.array([step % 3 == 0, True]))
        low = np.where(flag, x, low)
    assert own.decrypt(low).tolist() == clear.tolist()
    noise, before = low.noise, own.rotations
    assert own.decrypt(low < x).tolist() == [False, False]
    assert own.rotations - before > 3 * 2, "some digits were refreshed"
    assert low.noise < noise, "in place"
    assert low.refresh() is low
    assert own.decrypt(low).tolist() == clear.tolist()


def test_one_result_many_times() -> None:
    """A sum of one ciphertext has more noise than a sum of as many, and is added in smaller groups."""
    own, clear = session(), np.array([5, 9, 200], dtype=np.uint8)
    x = own.encrypt(clear)
    for found, expected in [
        (np.stack([x < 9] * 31).sum(axis=0), 31 * (clear < 9).astype(int)),
        (np.stack([x + 1] * 20).sum(axis=0), 20 * (clear.astype(int) + 1)),
        (np.stack([x < 9] * 3, axis=-1) @ np.array([2, -7, 100]), 95 * (clear < 9).astype(int)),
    ]:
        np.testing.assert_array_equal(own.decrypt(found), expected)


def test_what_may_be_wrong_is_refused() -> None:
    strict = DigitSession(toy(), toy_keys(), max_failure=2.0**-1000)
    x = strict.encrypt(np.array([5], dtype=np.uint8))
    with pytest.raises(RangeError, match="2\\^-"):
        x < x[::-1]  # noqa: B015


def test_dtypes_are_those_of_numpy() -> None:
    own = modelled("lut4")
    kinds = [np.dtype(name) for name in ("?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")]
    for one, other in itertools.product(kinds, repeat=2):
        x, y = np.array([1, 0, 1]).astype(one), np.array([1, 1, 0]).astype(other)
        a, b = own.encrypt(x), own.encrypt(y)
        if np.result_type(one, other).kind == "f":
            with pytest.raises(TypeError, match="numpy computes with float64"):
                a + b
            continue
        for found, expected in (
            (a + b, x + y),
            (a * y, x * y),
            (x & b, x & y),
            (np.where(a < b, a, b), np.where(x < y, x, y)),
        ):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(own.decrypt(found), expected)
        assert own.decrypt(a.astype(other, casting="unsafe")).tolist() == x.astype(other).tolist()
        if not np.can_cast(one, other, "safe"):
            with pytest.raises(TypeError, match='casting="unsafe"'):
                a.astype(other)
    wide = own.encrypt(np.array([-3, 100], dtype=np.int8))
    assert own.decrypt(wide.astype(np.int64)).tolist() == [-3, 100]
    assert own.decrypt(wide.astype(np.uint8, casting="unsafe")).tolist() == [253, 100]


def test_what_an_array_says() -> None:
    own = session()
    x = own.encrypt([[1, 2], [3, 4]], dtype=np.uint16)
    assert (x.shape, x.ndim, x.size, len(x), x.representation) == ((2, 2), 2, 4, 2, "digits")
    assert repr(x).startswith("<EncryptedIntegers (2, 2): uint16, digits of toy-lut4, 8 encrypted for each of 4")
    assert 0 < x.noise < (x + x).noise
    assert x.nbytes > 0
    assert own.decrypt(x.T[0]).tolist() == [1, 3]
    assert own.decrypt(x[1, 1]) == 4
    assert [own.decrypt(row).tolist() for row in x] == [[1, 2], [3, 4]]
    zeros = own.zeros((2,), np.uint8)
    assert own.decrypt(zeros).tolist() == [0, 0]
    assert "noise 0" in repr(zeros)
    assert own.decrypt(own.encrypt(np.zeros((0, 3), np.uint8)) + 1).shape == (0, 3)
    found = own.encrypt(np.zeros((0, 3), np.uint8)).argmin(axis=1)
    assert (found.dtype, own.decrypt(found).shape) == (np.int64, (0,))


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda x: bool(x[0]), TypeError, "numpy.where"), (lambda x: x[x > 1], TypeError, "session.take"),
        (lambda x: x + 1.5, MissingKeyError, "SchemeSwitch"), (lambda x: x + 300, RangeError, "does not fit uint8"),
        (lambda x: x / 2, MissingKeyError, "SchemeSwitch"), (lambda x: np.sqrt(x), TypeError, "supported are"),
        (lambda x: np.unique(x), TypeError, r"numpy\.isin"), (lambda x: np.asarray(x), TypeError, "session.decrypt"),
        (lambda x: x.astype(float), MissingKeyError, "SchemeSwitch"), (lambda x: x[9], RangeError, "index"),
        (lambda x: x.reshape(7), RangeError, "shape"), (lambda x: x + x[:2], RangeError, "shape"),
        (lambda x: np.add(x, x, out=np.zeros(3)), TypeError, "out"), (lambda x: x.sum(axis=2), RangeError, "axes"),
        (lambda x: x.astype("U1"), TypeError, "Digits hold bool"), (lambda x: x[99], RangeError, "index"),
        (lambda x: np.where(x, x, x), TypeError, "booleans"), (lambda x: x.min(axis=3), RangeError, "axes"),
        (lambda x: x.session.take(np.arange(7), x & 7), RangeError, "as large as 7"),
        (lambda x: -(x > 1), TypeError, "use ~"),
        (lambda x: np.bincount(x), RangeError, "minlength=256"),
        (lambda x: x.session.take(np.arange(256), x), MissingKeyError, "packing"),
    ],
)  # fmt: skip
def test_refusals(call: Any, kind: Any, match: str) -> None:
    own = DigitSession(
        toy(), KeySet(fhew_engine=toy(), fhew_secret=toy_keys().fhew_secret, fhew_bootstrap=toy_keys().fhew_bootstrap)
    )
    with pytest.raises(kind, match=match):
        call(own.encrypt(np.array([1, 2, 3], dtype=np.uint8)))


def test_sessions() -> None:
    own = Session(toy(), toy_keys())
    assert isinstance(own, DigitSession)
    assert "toy-lut4" in repr(own)
    with own as again:
        assert again is own
    server = Session(toy(), replace(toy_keys().evaluation(), fhew_public=None))
    with pytest.raises(MissingKeyError, match="public key of FHEW"):
        server.encrypt(np.array([1], dtype=np.uint8))
    x = own.encrypt(np.array([1], dtype=np.uint8))
    with pytest.raises(KeyMismatchError, match="another session"):
        server.decrypt(x)
    with pytest.raises(KeyMismatchError, match="two sessions"):
        x + server.clear(np.array([1], dtype=np.uint8))
    with pytest.raises(TypeError, match="EncryptedIntegers are needed"):
        own.decrypt(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not float64"):
        own.encrypt([1.5])
    with pytest.raises(RangeError, match="256 does not fit uint8"):
        own.encrypt([256], dtype=np.uint8)
    with pytest.raises(ParameterError, match="4 bits, and lut2"):
        DigitSession(FhewEngine(bits=2), KeySet(fhew_engine=FhewEngine(bits=2)))
    with pytest.raises(KeyMismatchError, match="not of this engine"):
        DigitSession(FhewEngine(bits=4), toy_keys())
    with pytest.raises(TypeError, match="FhewEngine"):
        DigitSession(Engine(max_level=1), toy_keys())  # type: ignore[arg-type]


def test_one_session_of_both_families() -> None:
    engine = Engine(max_level=2)
    own = engine.create_secret_key()
    keys = KeySet(
        engine, own, engine.create_public_key(own), engine.create_relinearization_key(own), fhew_engine=toy(),
        fhew_secret=toy_keys().fhew_secret, fhew_bootstrap=toy_keys().fhew_bootstrap,
    )  # fmt: skip
    both = Session(engine, keys)
    age, income = both.encrypt([17, 20], dtype=np.uint8), both.encrypt([0.25, 0.5])
    assert isinstance(age, EncryptedIntegers)
    assert isinstance(income, aglet.EncryptedArray)
    assert both.decrypt(age >= 18).tolist() == [False, True]
    np.testing.assert_allclose(both.decrypt(income), [0.25, 0.5], atol=1e-6)
    with pytest.raises(MissingKeyError, match="4 bits"):
        Session(engine, engine.create_keys(own, bootstrap=None)).encrypt([1], dtype=bool)


def test_files(tmp_path: Path) -> None:
    own = session()
    x = own.encrypt(np.array([[1, 200], [3, 4]], dtype=np.uint8)).astype(np.uint16) + 0
    own.save(x, tmp_path / "x")
    server = DigitSession(toy(), toy_keys().evaluation())
    loaded = server.load(tmp_path / "x")
    server.save(loaded + loaded, tmp_path / "y")
    assert own.decrypt(own.load(tmp_path / "y")).tolist() == [[2, 400], [6, 8]]
    own.save(own.zeros((2,), np.int32), tmp_path / "zeros")
    assert own.decrypt(own.load(tmp_path / "zeros")).tolist() == [0, 0]
    with pytest.raises(FileExistsError, match="not empty"):
        own.save(x, tmp_path / "x")
    with pytest.raises(KeyMismatchError, match="another secret key"):
        DigitSession(toy(), toy().create_keys()).load(tmp_path / "x")
    head = tmp_path / "x" / "integers.json"
    text = head.read_text()
    for damaged in (
        "",
        "{}",
        text.replace("uint16", "uint8"),
        text.replace("[2, 2]", "[4]"),
        text.replace("uint16", "float16"),
        text.replace("true", "false"),
    ):
        head.write_text(damaged)
        with pytest.raises(SerializationError, match="damaged"):
            own.load(tmp_path / "x")


@pytest.mark.parametrize("name", ["digits.ciphertext", "clear.npy"])
def test_files_that_are_lost_or_of_another_array_are_refused(tmp_path: Path, name: str) -> None:
    """A ciphertext of another array has nothing of its own that shows it."""
    own, x = session(), np.array([1, 2, 3], np.uint8)
    own.save(own.encrypt(x).astype(np.uint16), tmp_path / "x")
    own.save(own.encrypt(x + 4).astype(np.uint16) + 1, tmp_path / "y")
    assert own.decrypt(own.load(tmp_path / "x")).tolist() == [1, 2, 3]
    (tmp_path / "x" / name).write_bytes((tmp_path / "y" / name).read_bytes())
    with pytest.raises(SerializationError, match="damaged"):
        own.load(tmp_path / "x")
    (tmp_path / "x" / name).unlink()
    with pytest.raises(SerializationError, match="damaged"):
        own.load(tmp_path / "x")


EXAMPLES = {
    "forest.py": ("3", "3 patients"), "image_filter.py": ("6", "36 pixels"), "kmeans.py": ("6 2", "2 rounds of 6"),
    "prefixes.py": ("8", "8 words"), "aes_block.py": ("10", "69c4e0d86a7b0430d8cdb78070b4c55a"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def engine(preset: str | None = None, **_: Any) -> FhewEngine:
        return wide_toy() if preset == "wide" else toy()

    arguments, said = EXAMPLES[name]
    monkeypatch.setattr(aglet, "FhewEngine", engine)
    monkeypatch.setattr(sys, "argv", [name, *arguments.split()])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert said in capsys.readouterr().out
