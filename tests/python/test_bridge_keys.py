"""The keys of a bridge in a `KeySet`: made at once, kept in a folder, secrets apart, missing ones named."""

from __future__ import annotations

import pickle
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Bridge, Engine, KeySet, LookupEngine, _core
from aglet.errors import (
    KeyMismatchError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    SerializationError,
)

BITS = np.arange(64) % 3 == 0


@pytest.fixture(scope="module")
def bridge() -> Bridge:
    return Bridge(Engine(preset="toy", slot_count=64, allow_insecure=True), LookupEngine())


@pytest.fixture(scope="module")
def keys(bridge: Bridge) -> KeySet:
    return bridge.engine.create_keys(bridge=bridge, bootstrap="medium", rotation=False)


def there_and_back(bridge: Bridge, server: KeySet, owner: KeySet) -> None:
    """Down, through a gate and up with what a server has."""
    x = bridge.engine.encrypt(BITS.astype(float), owner.secret)
    low = bridge.to_lookup(x, range(8), server.bridge_keys)
    assert (bridge.lookup_engine.decrypt(low, owner.lwe_secret) == BITS[:8]).all()
    up = bridge.from_lookup(bridge.lookup_engine.xor(low[:4], low[4:], server.lookup), server.bridge_keys)
    found = bridge.engine.decrypt(up, owner.secret)[:4].real
    assert np.abs(found - (BITS[:4] ^ BITS[4:8])).max() < 0.05


def test_keys_of_a_bridge_in_a_folder(bridge: Bridge, keys: KeySet, tmp_path: Path) -> None:
    there_and_back(bridge, keys, keys)
    assert keys.byte_count > bridge.key_bytes
    keys.save(tmp_path)
    for name in ("secret.key", "lwe_secret.key"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    server = KeySet.load(tmp_path, bridge.engine)
    assert (server.secret, server.lwe_secret) == (None, None)
    assert server.lookup_engine is not None
    assert server.lookup_engine.preset == bridge.lookup_engine.preset
    owner = KeySet.load(tmp_path, bridge.engine, secret=True, lookup_engine=bridge.lookup_engine)
    assert owner.lookup_engine is bridge.lookup_engine
    there_and_back(Bridge(bridge.engine, server.lookup_engine), server, owner)
    # A set of the same secret without a bridge leaves the keys of look-ups where they are.
    KeySet(bridge.engine, secret=keys.secret).save(tmp_path)
    assert KeySet.load(tmp_path, bridge.engine).bridge is not None


def test_the_forecast_counts_every_key(bridge: Bridge) -> None:
    engine, lookups = bridge.engine, bridge.lookup_engine
    rotation = _core.rotation_key_bytes("toy", 64)[0]
    matrix = engine.create_matrix_multiplication_key(engine.create_secret_key()).byte_count
    lwe = lookups.create_secret_key()
    packing, lookup = lookups.create_packing_key(lwe).byte_count, lookups.create_lookup_key(lwe).byte_count
    alone = engine.keys_forecast("medium", method="lossy", rotation=False)
    for words, more in (
        ({"rotation": True}, rotation),
        ({"matrix": True}, matrix),
        ({"bridge": bridge}, bridge.key_bytes + lookup),
        ({"bridge": bridge, "packing": True}, bridge.key_bytes + lookup + packing),
    ):
        given: Any = {"rotation": False, **words}
        assert engine.keys_forecast("medium", method="lossy", **given) == alone + more, words
    words = {"bootstrap": "medium", "matrix": True, "bridge": bridge, "packing": True}
    made, forecast = engine.create_keys(**words), engine.keys_forecast(**words)
    # Beside keys there is what a bootstrap takes.
    assert 0 < forecast - made.byte_count < engine.memory_report(None, "medium", "lossy").peak
    # Without a method both mean the lossy one with a bridge, and the regular one without.
    assert made.bootstrap is not None
    assert made.bootstrap.method == "lossy"
    assert forecast == engine.keys_forecast(method="lossy", **words)
    assert engine.keys_forecast("medium") == engine.keys_forecast("medium", method="regular") != forecast


def test_secrets_stay_with_their_owner(keys: KeySet) -> None:
    server = keys.evaluation()
    assert (server.secret, server.lwe_secret) == (None, None)
    assert "secret" not in repr(pickle.loads(pickle.dumps(server)))
    with pytest.raises(TypeError, match="evaluation"):
        pickle.dumps(KeySet(keys.engine, lookup_engine=keys.lookup_engine, lwe_secret=keys.lwe_secret))


def test_missing_and_foreign_keys(bridge: Bridge, keys: KeySet, tmp_path: Path) -> None:
    engine, lookups = bridge.engine, bridge.lookup_engine
    few = engine.create_keys(keys.secret, bootstrap=None, rotation=False)
    with pytest.raises(MissingKeyError, match=r"bridge key.*create_keys\(bridge="):
        _ = few.bridge_keys
    with pytest.raises(MissingKeyError, match="lookup key"):
        _ = KeySet(engine, bootstrap=keys.bootstrap, bridge=keys.bridge, lookup_engine=lookups).bridge_keys
    foreign = lookups.create_lookup_key(lookups.create_secret_key())
    with pytest.raises(KeyMismatchError, match="different secret"):
        KeySet(engine, lookup_engine=lookups, bridge=keys.bridge, lookup=foreign)
    with pytest.raises(ParameterError, match="lookup_engine="):
        KeySet(engine, bridge=keys.bridge)
    keys.evaluation().save(tmp_path)
    other = KeySet(engine, secret=keys.secret, lookup_engine=lookups, lookup=foreign)
    with pytest.raises(KeyMismatchError, match="secret of look-ups"):
        other.save(tmp_path)
    # A file of another secret under the name of this one.
    lookups.write(foreign, tmp_path / "lookup.key")
    with pytest.raises((SerializationError, KeyMismatchError)):
        KeySet.load(tmp_path, engine)
    index = tmp_path / "keys.json"
    index.write_text(index.read_text().replace("lookup_preset", "of_lookups"))
    with pytest.raises(SerializationError, match="no keys"):
        KeySet.load(tmp_path, engine)


def test_what_does_not_go_together_is_refused_before_a_key_is_made(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, lwe = bridge.engine, bridge.lookup_engine.create_secret_key()
    made: list[int] = []
    monkeypatch.setattr(type(engine), "create_secret_key", lambda _: made.append(1))
    with pytest.raises(ParameterError, match="pass bridge="):
        engine.create_keys(lwe_secret_key=lwe)
    # Whose call makes it: the engine of slots has secret keys of its own.
    with pytest.raises(TypeError, match=r"with lookup_engine\.create_secret_key"):
        engine.create_keys(bridge=bridge, lwe_secret_key=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"with bridge\.create_bridge_key"):
        bridge.serialize_bridge_key(lwe)  # type: ignore[arg-type]
    other = Engine(preset="toy", slot_count=32, allow_insecure=True)
    refused: list[tuple[Engine, type[Exception], str, dict[str, Any]]] = [
        (engine, ParameterError, "pass bridge=", {"packing": True}),
        (engine, ParameterError, '"medium" or "large"', {"bridge": bridge, "bootstrap": "small"}),
        (engine, ParameterError, '"medium" or "large"', {"bridge": bridge, "bootstrap": None}),
        (engine, ParameterError, "leave rotation=False out", {"bootstrap": "small", "rotation": False}),
        (engine, ParameterError, '"regular" or "lossy"', {"method": "fast"}),
        (engine, TypeError, r"Bridge\(engine", {"bridge": bridge.lookup_engine}),
        (engine, TypeError, r"Bridge\(engine", {"bridge": 3}),
        (other, ParameterError, "another engine", {"bridge": bridge}),
    ]
    for one, error, said, words in refused:
        for call in (one.create_keys, one.keys_forecast):
            with pytest.raises(error, match=said):
                call(**words)
    machine = {**_core.doctor(), "memory_available_bytes": engine.keys_forecast("large", method="lossy") + 1000}
    monkeypatch.setattr(_core, "doctor", lambda: machine)
    with pytest.raises(MemoryLimitError):
        engine.create_keys(bridge=bridge)
    assert not made
