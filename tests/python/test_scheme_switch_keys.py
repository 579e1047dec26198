"""The keys of a switch in a `KeySet`: made at once, kept in a folder, secrets apart, missing ones named."""

from __future__ import annotations

import pickle
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Engine, FhewEngine, KeySet, SchemeSwitch, _core
from aglet.errors import (
    KeyMismatchError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    SerializationError,
)
from support import change_index

BITS = np.arange(64) % 3 == 0


@pytest.fixture(scope="module")
def switch() -> SchemeSwitch:
    return SchemeSwitch(Engine(preset="toy", slot_count=64, allow_insecure=True), FhewEngine())


@pytest.fixture(scope="module")
def keys(switch: SchemeSwitch) -> KeySet:
    return switch.create_keys(bootstrap="medium")


def there_and_back(switch: SchemeSwitch, server: KeySet, owner: KeySet) -> None:
    """Down, through a gate and up with what a server has."""
    x = switch.engine.encrypt(BITS.astype(float), owner.secret)
    low = switch.to_fhew(x, range(8), server)
    assert (switch.fhew_engine.decrypt(low, owner.fhew_secret) == BITS[:8]).all()
    up = switch.from_fhew(switch.fhew_engine.xor(low[:4], low[4:], server.fhew_bootstrap), server)
    found = switch.engine.decrypt(up, owner.secret)[:4].real
    assert np.abs(found - (BITS[:4] ^ BITS[4:8])).max() < 0.05


def test_keys_of_scheme_switching_in_a_folder(switch: SchemeSwitch, keys: KeySet, tmp_path: Path) -> None:
    there_and_back(switch, keys, keys)
    assert keys.byte_count > switch.key_bytes
    keys.save(tmp_path)
    for name in ("secret.key", "fhew_secret.key"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    server = KeySet.load(tmp_path, switch.engine)
    assert (server.secret, server.fhew_secret) == (None, None)
    assert server.fhew_engine is not None
    assert server.fhew_engine.preset == switch.fhew_engine.preset
    owner = KeySet.load(tmp_path, switch.engine, secret=True, fhew_engine=switch.fhew_engine)
    assert owner.fhew_engine is switch.fhew_engine
    there_and_back(SchemeSwitch(switch.engine, server.fhew_engine), server, owner)
    # A set of the same secret without a switch leaves the keys of FHEW where they are.
    KeySet(switch.engine, secret=keys.secret).save(tmp_path)
    assert KeySet.load(tmp_path, switch.engine).scheme_switch is not None


def test_the_forecast_counts_every_key(switch: SchemeSwitch) -> None:
    engine, fhew = switch.engine, switch.fhew_engine
    rotation = _core.rotation_key_bytes("toy", 64)[0]
    matrix = engine.create_matrix_multiplication_key(engine.create_secret_key()).byte_count
    lwe = fhew.create_secret_key()
    packing = fhew.create_packing_key(lwe).byte_count
    lookup = fhew.create_bootstrap_key(lwe).byte_count + fhew.create_public_key(lwe).byte_count
    alone = engine.keys_forecast("medium", method="lossy", rotation=False)
    for words, more in (
        ({"rotation": True}, rotation),
        ({"matrix": True}, matrix),
    ):
        given: Any = {"rotation": False, **words}
        assert engine.keys_forecast("medium", method="lossy", **given) == alone + more, words
    assert fhew.keys_forecast() == lookup
    assert fhew.keys_forecast(packing=True) == lookup + packing
    assert switch.keys_forecast(bootstrap="medium") == alone + switch.key_bytes + lookup
    words: Any = {"bootstrap": "medium", "matrix": True, "rotation": True, "packing": True}
    made, forecast = switch.create_keys(**words), switch.keys_forecast(**words)
    assert forecast == alone + rotation + matrix + switch.key_bytes + lookup + packing
    # Beside keys there is what a bootstrap takes.
    assert 0 < forecast - made.byte_count < engine.memory_report(None, "medium", "lossy").peak
    # Without a method both mean the lossy one with a switch, and the regular one without.
    assert made.bootstrap is not None
    assert made.bootstrap.method == "lossy"
    assert forecast == switch.keys_forecast(method="lossy", **words)
    assert engine.keys_forecast("medium") == engine.keys_forecast("medium", method="regular") != forecast


def test_secrets_stay_with_their_owner(keys: KeySet) -> None:
    server = keys.evaluation()
    assert (server.secret, server.fhew_secret) == (None, None)
    assert "secret" not in repr(pickle.loads(pickle.dumps(server)))
    with pytest.raises(TypeError, match="evaluation"):
        pickle.dumps(KeySet(keys.engine, fhew_engine=keys.fhew_engine, fhew_secret=keys.fhew_secret))


def test_missing_and_foreign_keys(switch: SchemeSwitch, keys: KeySet, tmp_path: Path) -> None:
    engine, fhew = switch.engine, switch.fhew_engine
    few = engine.create_keys(keys.secret, bootstrap=None, rotation=False)
    x = engine.encrypt(BITS.astype(float), keys.secret)
    with pytest.raises(MissingKeyError, match=r"switch\.create_switch_key\(secret_key, fhew_secret_key\)"):
        switch.to_fhew(x, [0], few)
    few = KeySet(engine, bootstrap=keys.bootstrap, scheme_switch=keys.scheme_switch, fhew_engine=fhew)
    assert switch.to_fhew(x, [0], few).shape == (1,)
    with pytest.raises(MissingKeyError, match=r"fhew_engine\.create_bootstrap_key"):
        switch.sign(x, [0], few)
    foreign = fhew.create_bootstrap_key(fhew.create_secret_key())
    with pytest.raises(KeyMismatchError, match="different secret"):
        KeySet(engine, fhew_engine=fhew, scheme_switch=keys.scheme_switch, fhew_bootstrap=foreign)
    with pytest.raises(ParameterError, match="fhew_engine="):
        KeySet(engine, scheme_switch=keys.scheme_switch)
    keys.evaluation().save(tmp_path)
    other = KeySet(engine, secret=keys.secret, fhew_engine=fhew, fhew_bootstrap=foreign)
    with pytest.raises(KeyMismatchError, match="secret of FHEW"):
        other.save(tmp_path)
    # A file of another secret under the name of this one.
    fhew.write(foreign, tmp_path / "fhew_bootstrap.key")
    with pytest.raises((SerializationError, KeyMismatchError)):
        KeySet.load(tmp_path, engine)
    change_index(tmp_path, fhew_preset=3)
    with pytest.raises(SerializationError, match="no keys"):
        KeySet.load(tmp_path, engine)


def test_what_does_not_go_together_is_refused_before_a_key_is_made(
    switch: SchemeSwitch, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, lwe = switch.engine, switch.fhew_engine.create_secret_key()
    made: list[int] = []
    monkeypatch.setattr(type(engine), "create_secret_key", lambda _: made.append(1))
    # Whose call makes it: the engine of slots has secret keys of its own.
    with pytest.raises(TypeError, match=r"with fhew_engine\.create_secret_key"):
        switch.create_keys(fhew_secret_key=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"with switch\.create_switch_key"):
        switch.serialize(lwe)
    refused: list[tuple[Any, type[Exception], str, dict[str, Any]]] = [
        (switch, TypeError, "packing", {"packing": 3}),
        (switch, ParameterError, '"medium" or "large"', {"bootstrap": "small"}),
        (switch, ParameterError, '"medium" or "large"', {"bootstrap": None}),
        (engine, ParameterError, "leave rotation=False out", {"bootstrap": "small", "rotation": False}),
        (engine, ParameterError, '"regular" or "lossy"', {"method": "fast"}),
        (switch, ParameterError, '"regular" or "lossy"', {"method": "fast"}),
        (switch.fhew_engine, TypeError, "packing", {"packing": 3}),
    ]
    for one, error, said, words in refused:
        for call in (one.create_keys, one.keys_forecast):
            with pytest.raises(error, match=said):
                call(**words)
    machine = {**_core.doctor(), "memory_available_bytes": engine.keys_forecast("large", method="lossy") + 1000}
    monkeypatch.setattr(_core, "doctor", lambda: machine)
    with pytest.raises(MemoryLimitError):
        switch.create_keys(rotation=True)
    assert not made
