"""Numbers of a fixed format on ciphertexts: folders, sending, public keys, floats of CKKS, slots and plans."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import (
    CompressedFixed,
    DigitSession,
    EncryptedFixed,
    Engine,
    FhewEngine,
    IntegerEngine,
    Session,
    errors,
    fixed,
    zmod,
)  # fmt: skip
from digit_sets import session as digits
from digit_sets import toy, toy_keys
from mixed_sets import small, three

PRICE = fixed(16, 8)
GIVEN = np.array([[1.5, -2.25, 100.0], [2.0**-8, -128, 127.99609375]])


def same(found: Any, wanted: Any, dtype: fixed = PRICE) -> None:
    assert isinstance(found, EncryptedFixed | CompressedFixed)
    assert (found.dtype, found.shape) == (dtype, np.shape(wanted))
    values = found.session.decrypt(found)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, wanted)


def test_on_ciphertexts() -> None:
    own = digits()
    x, y = own.encrypt(GIVEN, PRICE), own.encrypt(GIVEN[::-1, ::-1].copy(), dtype=PRICE)
    other = GIVEN[::-1, ::-1]
    exact = np.floor(GIVEN * other * 256)
    same(x * y, ((exact + 2**15) % 2**16 - 2**15) / 256)
    same(x * 0.25, np.floor(GIVEN * 64) / 256)
    same(np.where(x > y, x, y).T, np.maximum(GIVEN, other).T)
    same(x.sum(axis=0), GIVEN.sum(axis=0), fixed(64, 8))
    same(np.sort(x, axis=1), np.sort(GIVEN, axis=1))
    same((x * y).refresh() - x * y, np.zeros((2, 3)))
    assert repr(x).startswith("<EncryptedFixed (2, 3): fixed(16, 8), digits of toy-lut4, 8 encrypted")
    assert (x.nbytes, x.representation, x.noise > 0) == (x.words().nbytes, "digits", True)
    same(own.clear(GIVEN, PRICE) + x, ((GIVEN * 512 + 2**15) % 2**16 - 2**15) / 256)
    same(own.zeros((2,), PRICE), [0, 0])


def test_folders(tmp_path: Path) -> None:
    own, dtype = digits(), fixed(16, 11, signed=False)
    x = own.encrypt([1.5, 31.25], dtype)
    own.save(x, tmp_path / "x")
    same(own.load(tmp_path / "x") * 2, [3, (62.5 * 2048) % 2**16 / 2048], dtype)
    sent = own.compress(x)
    assert isinstance(sent, CompressedFixed)
    assert (sent.size, "fixed(16, 11" in repr(sent)) == (2, True)
    same(sent, [1.5, 31.25], dtype)
    own.save(sent, tmp_path / "sent")
    same(own.load(tmp_path / "sent"), [1.5, 31.25], dtype)
    assert own.decrypt_shared(sent).values.tolist() == own.decrypt_shared(x).values.tolist() == [1.5, 31.25]
    # Words are not read as numbers, nor numbers as words, and a fraction does not change.
    own.save(x.words(), tmp_path / "words")
    for folder, name, wrong in (
        ("x", "fixed.json", "integers.json"), ("words", "integers.json", "fixed.json"),
        ("sent", "compressed-fixed.json", "compressed.json"),
    ):  # fmt: skip
        shutil.copytree(tmp_path / folder, tmp_path / "moved")
        (tmp_path / "moved" / name).rename(tmp_path / "moved" / wrong)
        with pytest.raises(errors.SerializationError, match="damaged"):
            own.load(tmp_path / "moved")
        shutil.rmtree(tmp_path / "moved")
    for change in ({"fraction": 12}, {"fraction": 17}, {"fraction": "11"}, {"dtype": "bool"}):
        shutil.copytree(tmp_path / "x", tmp_path / "changed")
        head = tmp_path / "changed" / "fixed.json"
        entries = json.loads(head.read_text()) | change
        head.write_text(json.dumps(entries))
        with pytest.raises(errors.SerializationError, match="damaged"):
            own.load(tmp_path / "changed")
        if change != {"fraction": 12}:
            # Also without the sum, as an adversary writes it.
            head.write_text(json.dumps({key: one for key, one in entries.items() if key != "head_sha256"}))
            with pytest.raises(errors.SerializationError, match="damaged"):
                own.load(tmp_path / "changed")
        shutil.rmtree(tmp_path / "changed")


def test_a_sender_has_the_public_key_alone(tmp_path: Path) -> None:
    sender = Session(toy_keys().encryption())
    sender.save(sender.encrypt(GIVEN, dtype=PRICE), tmp_path / "x")
    same(digits().load(tmp_path / "x"), GIVEN)


def test_arrays_of_two_sessions_do_not_meet() -> None:
    other = DigitSession(toy(), toy_keys())
    x = digits().encrypt([1.0], PRICE)
    with pytest.raises(errors.KeyMismatchError, match="two sessions"):
        _ = x + other.encrypt([1.0], PRICE)
    for call in (other.decrypt, other.compress, lambda one: other.save(one, "nowhere")):
        with pytest.raises(errors.KeyMismatchError, match="another session"):
            call(x)


def test_floats_of_ckks(tmp_path: Path) -> None:
    own = small()
    x = own.encrypt(GIVEN, dtype=PRICE)
    up = x.astype(np.float64)
    assert up.level > 0
    assert np.abs(own.decrypt(up) - GIVEN).max() < 2.0**-14
    assert own.decrypt(x.astype(np.complex128)).dtype == np.complex128
    floats = own.encrypt([0.3, -0.7, 0.9])
    down = floats.astype(PRICE)
    same(down, np.rint(np.array([0.3, -0.7, 0.9]) * 256) / 256)
    same(floats.astype(fixed(8, 0)), [0, -1, 1], fixed(8, 0))
    assert floats.half_way(PRICE) < 2.0**-9
    same((300 * floats).astype(PRICE, casting="unsafe"), [90, 46, 14])
    for call in (lambda: (300 * floats).astype(PRICE), lambda: floats.astype(fixed(8, 8))):
        with pytest.raises(TypeError, match=r"may not fit fixed.*assume"):
            call()
    with pytest.raises(TypeError, match=r"x\.real"):
        (1j * floats).astype(PRICE)
    # More bits than floats keep, unless fewer are declared.
    wide = own.encrypt([1.5, -2], dtype=fixed(32, 8))
    with pytest.raises(TypeError, match="32 bits"):
        wide.astype(float)
    assert np.abs(own.decrypt(wide.assume(bound=4).astype(float)) - [1.5, -2]).max() < 2.0**-14
    for mixed in (lambda: floats + x, lambda: x * floats, lambda: np.where(x > 0, floats, x), lambda: floats < x):
        with pytest.raises(TypeError, match="astype"):
            mixed()
    own.save(x, tmp_path / "x")
    same(own.load(tmp_path / "x"), GIVEN)
    same(own.encrypt(GIVEN, dtype=PRICE, representation="auto"), GIVEN)
    same(own.encrypt(GIVEN, dtype=PRICE, representation=x), GIVEN)
    with pytest.raises(TypeError, match=r"aglet\.fixed\(bits, fraction\)"):
        own.encrypt(GIVEN, dtype=fixed)
    with pytest.raises(TypeError, match="representation"):
        own.encrypt(GIVEN, dtype=PRICE, representation="slots")


def test_slots() -> None:
    own = three()
    slots = own.encrypt(np.uint8([1, 2, 255]), representation="slots")
    same(slots.astype(fixed(16, 7)), [1, 2, 255], fixed(16, 7))
    x = own.encrypt([1, 2, 3], dtype=PRICE)
    for mixed in (lambda: slots + x, lambda: x < slots, lambda: np.concatenate([slots, x])):
        with pytest.raises(TypeError, match="cast one of them"):
            mixed()
    alone = own.integers
    assert alone is not None
    with pytest.raises(TypeError, match="FhewEngine"):
        alone.encrypt([1.0], dtype=PRICE)
    residues = own.encrypt([1], dtype=zmod(65537))
    with pytest.raises(TypeError, match="assume"):
        residues.astype(PRICE)


def test_plans_of_sessions() -> None:
    engines: Any = {"engine": Engine(use_bootstrap=True), "fhew_engine": FhewEngine(bits=4)}

    def program(x: Any, y: Any) -> Any:
        return np.where(x > 1.5, x, 0).astype(np.float64).sum() * y

    plan = Session.plan(program, [(3,), (3,)], dtypes=[PRICE, np.float64], **engines)
    assert (plan.representation, plan.level is not None, plan.blind_rotations > 0) == ("digits", True, True)
    product = Session.plan(lambda x: x * x, [(4,)], dtypes=[PRICE], sample=[np.full(4, 0.5)], **engines)
    counted = DigitSession.plan(lambda x: x * x, [((4,), PRICE)], engine=FhewEngine(bits=4))
    assert (product.level, product.blind_rotations) == (None, counted.rotations)
    beside = IntegerEngine(use_bootstrap=True)
    auto = Session.plan(
        lambda x: x + 1, [(4,)], dtypes=[PRICE], integer_engine=beside, representation="auto", **engines
    )
    same(small().encrypt(GIVEN, dtype=PRICE, representation=auto), GIVEN)
