"""A `KeySet` of each family: made at once, kept in a folder that names its engine, the secret apart."""

from __future__ import annotations

import pickle
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Engine, FhewEngine, IntegerEngine, KeySet, Session, _core
from aglet.errors import (
    InsecureParametersError,
    KeyMismatchError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    SerializationError,
)
from aglet.keys.folder import index_of
from support import change_index


def numbers(**words: Any) -> IntegerEngine:
    return IntegerEngine(preset="toy-int16", allow_insecure=True, **words)


def test_integers_in_a_folder(tmp_path: Path) -> None:
    engine = IntegerEngine("bgv", depth=4, signed=False)
    keys = engine.create_keys()
    assert keys.bootstrap is None
    assert keys.byte_count == pytest.approx(engine.keys_forecast(), rel=0.05)
    keys.save(tmp_path)
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600
    server = KeySet.load(tmp_path)
    made = server.engine
    assert isinstance(made, IntegerEngine)
    assert (made.scheme, made.preset, made.plaintext_modulus, made.signed) == ("bgv", engine.preset, 65537, False)
    assert (server.secret, server.key_id) == (None, keys.key_id)
    x = made.encrypt([3, 5, 65536], server.public)
    total = made.sum_slots(made.multiply(x, x, server.relinearization), server.rotation)
    owner = KeySet.load(tmp_path, engine, secret=True)
    assert engine.decrypt(total, owner.secret)[:2].tolist() == [35, 35]


def test_a_folder_names_the_modulus_and_the_packing(tmp_path: Path) -> None:
    engine = IntegerEngine(plaintext_modulus=257, packing="coefficients", depth=4)
    engine.create_keys().save(tmp_path)
    found = KeySet.load(tmp_path)
    assert isinstance(found.engine, IntegerEngine)
    assert (found.engine.plaintext_modulus, found.engine.packing, found.rotation) == (257, "coefficients", None)


def test_integers_that_bootstrap() -> None:
    engine = numbers()
    keys = engine.create_keys(rotation=False)
    assert keys.rotation is None
    x = engine.encrypt([1, -2], keys.public, level=1)
    assert engine.decrypt(engine.bootstrap(x, keys.bootstrap), keys.secret)[:2].tolist() == [1, -2]
    server = pickle.loads(pickle.dumps(keys.evaluation()))
    assert "secret" not in repr(server)
    with pytest.raises(TypeError, match="evaluation"):
        pickle.dumps(keys)
    # What an engine has not is not made.
    assert numbers(packing="coefficients").create_keys(bootstrap=False).rotation is None


def test_fhew_in_a_folder(tmp_path: Path) -> None:
    engine = FhewEngine(preset="wide")
    keys = engine.create_keys(packing=True)
    assert keys.byte_count == pytest.approx(engine.keys_forecast(packing=True), rel=0.01)
    keys.save(tmp_path)
    assert stat.S_IMODE((tmp_path / "fhew_secret.key").stat().st_mode) == 0o600
    server = KeySet.load(tmp_path)
    assert (server.engine, server.fhew_secret) == (None, None)
    assert server.fhew_engine is not None
    assert server.fhew_engine.preset == engine.preset
    x = engine.encrypt([0, 1, 2, 3], keys.fhew_secret)
    found = server.fhew_engine.lookup2(x, x, lambda a, b: a * b % 16, server.fhew_bootstrap, server.packing)
    assert engine.decrypt(found, KeySet.load(tmp_path, secret=True).fhew_secret).tolist() == [0, 1, 4, 9]
    with pytest.raises(MissingKeyError, match="no key of slots"):
        _ = server.key_id
    server.save(tmp_path / "server")
    with pytest.raises(MissingKeyError, match=r"copy fhew_secret\.key"):
        KeySet.load(tmp_path / "server", secret=True)
    with pytest.raises(KeyMismatchError, match="secret of FHEW"):
        engine.create_keys().save(tmp_path)
    # Keys of slots come beside them.
    slots = Engine(max_level=2)
    slots.create_keys().save(tmp_path)
    both = KeySet.load(tmp_path)
    assert (repr(both.engine), both.fhew_bootstrap is not None) == (repr(KeySet.load(tmp_path).engine), True)
    assert np.allclose(
        slots.decrypt(slots.encrypt([0.5], both.public), KeySet.load(tmp_path, secret=True).secret)[0], 0.5
    )


def test_parameters_of_ones_own_are_kept(tmp_path: Path) -> None:
    preset = Path(__file__).parents[2] / "crates/aglet/presets/fhew/gate.toml"
    engine = FhewEngine(parameters=preset.read_text().split("[claims]")[0].replace('name = "gate"', 'name = "mine"'))
    engine.create_keys().save(tmp_path)
    found = KeySet.load(tmp_path)
    assert found.fhew_engine is not None
    assert found.fhew_engine.preset == "mine"


def test_what_is_no_set_of_an_engine(tmp_path: Path) -> None:
    engine, integers, fhew = Engine(max_level=2), IntegerEngine(depth=4), FhewEngine()
    slots, whole, bits = engine.create_keys(), integers.create_keys(), fhew.create_keys()
    for error, said, words in (
        (TypeError, "engine= or fhew_engine=", {}),
        (TypeError, "an Engine or an IntegerEngine", {"engine": fhew}),
        (TypeError, "a FhewEngine, not Engine", {"engine": engine, "fhew_engine": engine}),
        (TypeError, r"PublicKey is needed here, not IntegerPublicKey", {"engine": engine, "public": whole.public}),
        (TypeError, "no conjugation key", {"engine": integers, "conjugation": slots.conjugation}),
        (ParameterError, "pass engine=", {"fhew_engine": fhew, "public": slots.public}),
        (ParameterError, "pass fhew_engine=", {"engine": engine, "fhew_bootstrap": bits.fhew_bootstrap}),
    ):
        with pytest.raises(error, match=said):
            KeySet(**words)  # type: ignore[arg-type]
    for keys in (whole, bits):
        with pytest.raises(KeyMismatchError, match="not of CKKS"):
            Session(engine, keys)
        with pytest.raises((TypeError, MissingKeyError)):
            _ = keys.bootstrap_arguments
    whole.evaluation().save(tmp_path)
    with pytest.raises((SerializationError, KeyMismatchError)):
        KeySet.load(tmp_path, engine)
    with pytest.raises(KeyMismatchError, match="another secret"):
        slots.save(tmp_path)


def test_keys_are_forecast_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    machine = {**_core.doctor(), "memory_available_bytes": 1000}
    monkeypatch.setattr(_core, "doctor", lambda: machine)
    for engine in (IntegerEngine(depth=4), FhewEngine()):
        monkeypatch.setattr(type(engine), "create_secret_key", lambda _: made.append(1))
        with pytest.raises(MemoryLimitError, match="fewer or smaller"):
            engine.create_keys()
    assert not made


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_level", 3.5),
        ("max_level", -1),
        ("max_level", 10**9),
        ("max_level", 2**70),
        ("slot_count", 0),
        ("slot_count", 3),
        ("slot_count", 2**70),
        ("preset", "unknown"),
        ("preset", "\ud800"),
        ("family", "fhew"),
        ("family", 3),
        ("family", "integer"),
        ("keys", []),
        ("keys", [["public"]]),
        ("keys", ["fhew_bootstrap"]),
        ("fhew_key_id", "a"),
        ("version", 2),
    ],
)
def test_an_index_that_names_no_engine_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    Engine(max_level=2).create_keys().save(tmp_path)
    change_index(tmp_path, *(["max_level"] if name == "preset" else []), **{name: value})
    with pytest.raises(SerializationError, match=r"save|update"):
        KeySet.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("plaintext_modulus", 4), ("packing", "rows"), ("scheme", "ckks"), ("signed", 1), ("preset", "regular")],
)
def test_an_index_of_other_integers_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    IntegerEngine(depth=4).create_keys(rotation=False).save(tmp_path)
    change_index(tmp_path, **{name: value})
    with pytest.raises(SerializationError, match="save"):
        KeySet.load(tmp_path)


def test_an_index_with_a_bit_changed_is_refused(tmp_path: Path) -> None:
    """A letter makes "bgv" of "bfv", whose keys are the same, and "max_level" no entry, so that the preset is taken."""
    numbers().create_keys(rotation=False, bootstrap=False).save(tmp_path)
    index = (tmp_path / "keys.json").read_bytes()
    for bit in range(8 * len(index)):
        changed = bytearray(index)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SerializationError, match="save"):
            index_of(bytes(changed), "")
    # Nothing else than JSON skips.
    assert index_of(index + b" ", "") == index_of(index, "")


def test_an_index_says_nothing_unknown(tmp_path: Path) -> None:
    """As those of earlier versions do not, which have no sum."""
    Engine(max_level=2).create_keys(rotation=False, bootstrap=None).save(tmp_path)
    change_index(tmp_path)
    assert KeySet.load(tmp_path).engine.max_level == 2
    text = (tmp_path / "keys.json").read_text()
    (tmp_path / "keys.json").write_text(text.replace("max_level", "max_leve1"))
    with pytest.raises(SerializationError, match="save"):
        KeySet.load(tmp_path)


def test_an_index_does_not_choose_insecure_parameters(tmp_path: Path) -> None:
    numbers().create_keys(rotation=False, bootstrap=False).save(tmp_path)
    with pytest.raises(InsecureParametersError, match="allow_insecure=True accepts it"):
        KeySet.load(tmp_path)
    assert KeySet.load(tmp_path, numbers()).public is not None
    loaded = KeySet.load(tmp_path, allow_insecure=True)
    assert (loaded.engine.preset, loaded.public is None) == ("toy-int16", False)
