"""CKKS beside what test_files.py tests of every type: methods by name, slots, engines, processes, large files."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from aglet import Ciphertext, Engine
from aglet.errors import KeyMismatchError, SerializationError
from conftest import Keys
from stored import CKKS, FAMILIES
from support import ToyEngine, assert_near


def toy() -> Engine:
    return Engine(preset="toy", allow_insecure=True)


@pytest.mark.parametrize("name", [*CKKS, "merge_bootstrap_key"])
def test_methods_by_name_do_what_the_general_ones_do(engine: Engine, name: str, tmp_path: Path) -> None:
    family, path = FAMILIES["ckks"], tmp_path / "thing"
    made = "bootstrap_key" if name == "merge_bootstrap_key" else name
    thing, data = getattr(family.made(), made), family.written(made)
    write, read, serialize, deserialize = (
        getattr(engine, f"{verb}_{name}") for verb in ("write", "read", "serialize", "deserialize")
    )
    for method in (write, read, serialize, deserialize):
        assert method.__name__.endswith(name)
        assert name.replace("_", " ") in method.__doc__
    write(thing, path)
    assert path.read_bytes() == serialize(thing) == data
    assert engine.serialize(read(path)) == data
    assert type(deserialize(memoryview(data))) is type(thing)


def test_what_is_no_type_of_its_own(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    light = engine.encode_to_light_plaintext([0.5])
    engine.write(light, os.fsencode(tmp_path / "light"))  # type: ignore[arg-type]
    assert_near(engine.decode(engine.read(tmp_path / "light"))[:2], [0.5, 0])
    for message in ([1.0, -1.0], [1j]):
        ciphertext = engine.encrypt(message, keys.public, level=4)
        assert pickle.loads(pickle.dumps(ciphertext)).is_real == ciphertext.is_real


def double(ciphertext: Ciphertext) -> Ciphertext:
    return toy().add(ciphertext, ciphertext)


def test_engines_are_pickled_by_their_arguments(engine: Engine, keys: Keys) -> None:
    engine = ToyEngine("parallel", use_bootstrap=True, slot_count=64, thread_count=2)
    engine.note = "mine"  # type: ignore[attr-defined]
    secret = engine.create_secret_key()
    for again in (pickle.loads(pickle.dumps(engine)), copy.copy(engine), copy.deepcopy(engine)):
        assert type(again) is ToyEngine
        assert (repr(again), again.note, again.mode, again.thread_count) == (repr(engine), "mine", "parallel", 2)
        assert_near(again.decrypt(again.encrypt([3, 4], secret), secret)[:2], [3, 4])
    assert len(pickle.dumps(engine)) < 1000
    assert pickle.loads(pickle.dumps(Engine(2))).max_level == 2
    engine.secret = secret  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="neither pickled nor copied"):
        pickle.dumps(engine)


def doubled(engine: Engine, ciphertext: Ciphertext) -> Ciphertext:
    return engine.add(ciphertext, ciphertext)


def test_engines_travel_to_processes_that_start_afresh(engine: Engine, keys: Keys) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = [pool.submit(doubled, engine, engine.encrypt([x], keys.public)) for x in (0.5, -1)]
        found = [engine.decrypt(result.result(120), keys.secret)[0] for result in results]
    assert_near(found, [1, -2])


def test_ciphertexts_travel_between_processes(engine: Engine, keys: Keys) -> None:
    ciphertexts = [engine.encrypt([k], keys.public) for k in range(3)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        doubled = list(pool.map(double, ciphertexts))
    assert_near([engine.decrypt(c, keys.secret)[0] for c in doubled], [0, 2, 4])


def test_kinds_of_bootstrap_keys_are_told_apart(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    """By the header: a file that ends after it is enough to say what it is."""
    made = {
        "bootstrap_key": keys.bootstrap,
        "small_bootstrap_key": engine.create_small_bootstrap_key(keys.secret),
        "lossy_bootstrap_key": engine.create_lossy_bootstrap_key(keys.secret, size="medium"),
    }
    for own, key in made.items():
        assert key.kind == own.replace("_", " ")
        path, data = tmp_path / own, getattr(engine, f"serialize_{own}")(key)
        path.write_bytes(data[:300])
        others = {*made, "merge_bootstrap_key"} - ({own, "merge_bootstrap_key"} if own == "bootstrap_key" else {own})
        for other in others:
            words = f"This is a {key.kind}, not a {other.replace('_', ' ')}; call"
            for call in (
                lambda name=other, path=path: getattr(engine, f"read_{name}")(path),
                lambda name=other, data=data: getattr(engine, f"deserialize_{name}")(data),
            ):
                with pytest.raises(SerializationError, match=f"{words} read_{own} or"):
                    call()
            for call in (
                lambda name=other, key=key: getattr(engine, f"write_{name}")(key, tmp_path / "new"),
                lambda name=other, key=key: getattr(engine, f"serialize_{name}")(key),
            ):
                with pytest.raises(TypeError, match=f"{words} write_{own} or"):
                    call()
        with pytest.raises(SerializationError, match=f"This is a {key.kind}, not a ciphertext; read it with read or"):
            engine.read_ciphertext(path)
        with pytest.raises(SerializationError, match="This is a public key, not a"):
            getattr(engine, f"deserialize_{own}")(engine.serialize_public_key(keys.public))
    assert not (tmp_path / "new").exists()
    merged = engine.deserialize_merge_bootstrap_key(engine.serialize_merge_bootstrap_key(keys.bootstrap))
    assert merged.kind == "bootstrap key"


def test_generated_methods_say_what_they_take_and_give() -> None:
    """What a tooltip shows: the help, and the types of argument and result."""
    count = 0
    for name in dir(Engine):
        verb, _, kind = name.partition("_")
        if verb not in ("write", "read", "serialize", "deserialize") or "light" in kind or not kind:
            continue
        method, words = getattr(Engine, name), kind.replace("_", " ")
        assert method.__doc__.splitlines()[0].split(f" {words} ")[0] in {"Write a", "Read a", "Return a"}
        types = [value for value in method.__annotations__.values() if isinstance(value, type)]
        (one,) = types
        assert words.endswith("".join(f" {c.lower()}" if c.isupper() else c for c in one.__name__)[1:])
        count += 1
    assert count == 52


def test_what_is_not_such_a_thing_is_refused(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    with pytest.raises(SerializationError, match="This is a public key, not a secret key; read it with read"):
        engine.deserialize_secret_key(engine.serialize_public_key(keys.public))
    with pytest.raises(SerializationError, match="not data of Aglet"):
        engine.deserialize_public_key(b"something else")
    with pytest.raises(TypeError, match="from bytes, not from str"):
        engine.deserialize_public_key("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="SecretKey is needed here, not PublicKey"):
        engine.write_secret_key(keys.public, tmp_path / "key")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        engine.read_public_key(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        engine.write_public_key(keys.public, tmp_path / "no" / "folder")
    with pytest.raises(IsADirectoryError):
        engine.write_public_key(keys.public, tmp_path)
    assert not list(tmp_path.iterdir())


def test_slots_matter_for_ciphertexts_and_not_for_secret_keys() -> None:
    full, sparse = Engine(max_level=2), Engine(max_level=2, slot_count=64)
    secret = full.create_secret_key()
    same = sparse.deserialize_secret_key(full.serialize_secret_key(secret))
    ciphertext = sparse.encrypt([1, 2], same)
    with pytest.raises(KeyMismatchError, match="slot_count=64"):
        full.deserialize_ciphertext(sparse.serialize_ciphertext(ciphertext))
    restored = pickle.loads(pickle.dumps(ciphertext))
    assert restored.slot_count == 64
    assert_near(sparse.decrypt(restored, same)[:2], [1, 2])
    with pytest.raises(KeyMismatchError, match="64 slots"):
        full.decrypt(restored, secret)


@pytest.mark.parametrize("max_level", [1, 2, 5, 7])
def test_engines_of_any_number_of_levels(max_level: int) -> None:
    engine, other = Engine(max_level=max_level), Engine(max_level=3)
    secret = engine.create_secret_key()
    relinearization = pickle.loads(pickle.dumps(engine.create_relinearization_key(secret)))
    ciphertext = pickle.loads(pickle.dumps(engine.encrypt([3], secret)))
    again = Engine(max_level=max_level)
    assert_near(again.decrypt(again.square(ciphertext, relinearization), secret)[0], 9)
    with pytest.raises(KeyMismatchError, match=f"max_level={max_level}"):
        other.deserialize_ciphertext(engine.serialize_ciphertext(ciphertext))


def test_a_damaged_file_is_refused_wherever_it_is_damaged(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    """Large enough to be mapped."""
    path = tmp_path / "key"
    engine.write_bootstrap_key(keys.bootstrap, path)
    size = path.stat().st_size
    assert size > 2**20
    with path.open("r+b") as file:
        for at in [*range(0, 1024, 19), *range(1024, size, size // 41), size - 1]:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 16]))
            file.flush()
            with pytest.raises(SerializationError):
                engine.read_bootstrap_key(path)
            file.seek(at)
            file.write(bytes([byte]))
            file.flush()
        engine.read_bootstrap_key(path)
        file.truncate(size - 1)
        with pytest.raises(SerializationError, match="cut short"):
            engine.read_bootstrap_key(path)


def test_progress_names_the_work(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    engine.write_rotation_key(keys.rotation, tmp_path / "key", progress=lambda *step: seen.append(step))
    assert seen[-1][0] == seen[-1][1]
    assert seen[-1][2] == "writing the rotation key"
