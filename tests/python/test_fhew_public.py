"""The compact public key of FHEW: senders without a secret, sizes, every dtype of digits, what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Engine, FhewEngine, FhewPublicKey, KeySet, Session
from aglet.arrays.digits.session import DigitSession
from aglet.errors import KeyMismatchError, MissingKeyError, RangeError, SerializationError

DTYPES = ["bool", *(f"{sign}int{bits}" for sign in ("u", "") for bits in (8, 16, 32, 64))]


@cache
def engine() -> FhewEngine:
    return FhewEngine(bits=4)


@cache
def keys() -> KeySet:
    return engine().create_keys()


def sender() -> Any:
    return Session(keys().encryption())


def bytes_of(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.iterdir())


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sender_encrypts_every_dtype_from_a_folder_of_11_kb(dtype: str, tmp_path: Path) -> None:
    keys().encryption().save(tmp_path / "public")
    assert bytes_of(tmp_path / "public") < 11_500
    only = KeySet.load(tmp_path / "public")
    assert (only.fhew_secret, only.fhew_bootstrap, only.packing) == (None, None, None)
    ends = [True, False] if dtype == "bool" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 1]
    values = np.array([ends, ends[::-1]], dtype=dtype)
    session = Session(only)
    session.save(session.encrypt(values), tmp_path / "sent")
    receiver: Any = Session(keys())
    got = receiver.load(tmp_path / "sent")
    found = receiver.decrypt(got)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)
    # A server computes with it as with all else.
    server: Any = Session(keys().evaluation())
    there = server.load(tmp_path / "sent")
    server.save(there == there[::-1], tmp_path / "same")
    np.testing.assert_array_equal(receiver.decrypt(receiver.load(tmp_path / "same")), values == values[::-1])


def test_many_digits_share_masks(tmp_path: Path) -> None:
    """2,048 digits take a mask of 12 kB and 6 bytes each, in files and in pickles, also after they were cut apart."""
    values = np.arange(512, dtype=np.uint8).reshape(16, 32)
    session = sender()
    session.save(session.encrypt(values), tmp_path / "sent")
    assert bytes_of(tmp_path / "sent") < 12_288 + 6 * 2048 + 1500
    some = keys().fhew_engine
    assert some is not None
    cells = some.encrypt(values % 16, keys().fhew_public)
    data = pickle.dumps(cells)
    assert len(data) < 12_288 + 6 * 512 + 1000
    np.testing.assert_array_equal(some.decrypt(pickle.loads(data)[::3, 5], keys().fhew_secret), (values % 16)[::3, 5])


def test_bits_and_integers_of_every_kind() -> None:
    gates = FhewEngine()
    own = gates.create_keys()
    x = gates.encrypt([[True, False], [True, True]], own.fhew_public)
    found = gates.nand(x, x[::-1], own.fhew_bootstrap)
    assert gates.decrypt(found, own.fhew_secret).tolist() == [[False, True], [False, True]]
    e, public = engine(), keys().fhew_public
    assert isinstance(public, FhewPublicKey)
    assert public.key_id == keys()._fhew_ids().pop()
    assert e.decrypt(e.encrypt([-512, 511], public_key=public, bits=10), keys().fhew_secret).tolist() == [-512, 511]
    found = e.encrypt([0, 1023], public, bits=10, signed=False) + 2
    assert e.decrypt(found, keys().fhew_secret).tolist() == [2, 1]
    for domain in ("padded", "full", "negacyclic"):
        assert e.decrypt(e.encrypt(range(16), public, domain=domain), keys().fhew_secret).tolist() == list(range(16))
    # Fresh every time, with less noise than results of bootstraps.
    one, two = (e.encrypt(3, public) for _ in range(2))
    assert e.serialize(one) != e.serialize(two)
    fresh, result = one._array.variance, e.lookup(one, range(16), keys().fhew_bootstrap)._array.variance
    assert 0 < fresh < result / 100


def test_a_sender_of_floats_and_digits() -> None:
    slots = Engine(preset="toy", allow_insecure=True)
    secret = slots.create_secret_key()
    both = replace(keys(), engine=slots, secret=secret, public=slots.create_public_key(secret))
    only = both.encryption()
    assert repr(only) == "<KeySet of toy and lut4: public, fhew_public>"
    session, receiver = Session(only), Session(both)
    x, y = session.encrypt([0.25, -0.5]), session.encrypt(np.array([3, 250], dtype=np.uint8))
    np.testing.assert_allclose(receiver.decrypt(_moved(x, receiver)), [0.25, -0.5], atol=1e-4)
    assert receiver.decrypt(_moved(y, receiver)).tolist() == [3, 250]


def _moved(array: Any, session: Session) -> Any:
    """The same array in another session, as `save` and `load` bring it there."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        array.session.save(array, folder)
        return session.load(folder)


def test_what_lacks_or_is_another_key_is_refused(tmp_path: Path) -> None:
    session = sender()
    x = session.encrypt([1, 2], dtype=np.uint8)
    with pytest.raises(MissingKeyError, match=r"secret key of FHEW.*decrypt where it is"):
        session.decrypt(x)
    with pytest.raises(MissingKeyError, match="bootstrap key"):
        x + x
    with pytest.raises(MissingKeyError, match=r"public key.*create_public_key"):
        DigitSession(engine(), KeySet(fhew_engine=engine())).encrypt([True])
    with pytest.raises(MissingKeyError, match="create_public_key"):
        replace(keys(), fhew_public=None).encryption()
    with pytest.raises(RangeError):
        session.encrypt([300], dtype=np.uint8)
    with pytest.raises(RangeError):
        engine().encrypt(16, keys().fhew_public)
    with pytest.raises(MissingKeyError, match="create_public_key"):
        engine().encrypt([1])
    with pytest.raises(TypeError, match="FhewPublicKey"):
        engine().encrypt([1], keys().fhew_bootstrap)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="same argument"):
        engine().encrypt([1], keys().fhew_public, secret_key=keys().fhew_secret)
    other = FhewEngine(bits=3)
    with pytest.raises(KeyMismatchError, match="lut3"):
        other.encrypt([1], keys().fhew_public)
    with pytest.raises(KeyMismatchError):
        replace(keys(), fhew_public=engine().create_public_key(engine().create_secret_key()))
    # Neither a key for another, nor one with a changed byte.
    data = bytearray(engine().serialize(keys().fhew_public))
    with pytest.raises(SerializationError):
        engine().deserialize(bytes(data[:5000]))
    with pytest.raises(KeyMismatchError, match="lut4"):
        other.deserialize(bytes(data))
    data[9000] ^= 1
    with pytest.raises(SerializationError):
        engine().deserialize(bytes(data))


def test_sets_of_ones_own_may_have_no_public_key() -> None:
    """A modulus that is 1 modulo 1024 and no more has no transform of degree 2,048."""
    text = (Path(__file__).parents[2] / "crates/aglet/presets/fhew/gate.toml").read_text(encoding="utf-8")
    text = text.split("[claims]")[0].replace("1_099_469_684_737", str(_prime()))
    own = FhewEngine(parameters=text, allow_insecure=True)
    made = own.create_keys()
    assert made.fhew_public is None
    assert made.fhew_bootstrap is not None
    with pytest.raises(Exception, match=r"1 modulo 4096"):
        own.create_public_key(made.fhew_secret)


def _prime() -> int:
    """The largest prime below 2^40 that is 1 modulo 1024 and not modulo 2048."""
    return next(q for q in range(2**40 + 1 - 1024, 0, -2048) if _is_prime(q))


def _is_prime(q: int) -> bool:
    """Miller and Rabin, for numbers below 2^64."""
    odd, twos = q - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(base, odd, q)
        if x not in (1, q - 1) and all(pow(x, 2**i, q) != q - 1 for i in range(twos)):
            return False
    return True
