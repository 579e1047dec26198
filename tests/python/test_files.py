"""Files, bytes and pickles: everything comes back in another engine, and whatever is damaged is refused."""

from __future__ import annotations

import copy
import io
import os
import pickle
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aglet import Ciphertext, Engine
from aglet.errors import KeyMismatchError, SerializationError
from aglet.files import restore
from conftest import Keys
from support import ToyEngine, assert_near, random_message

TYPES = (
    "secret_key",
    "public_key",
    "relinearization_key",
    "conjugation_key",
    "rotation_key",
    "fixed_rotation_key",
    "matrix_multiplication_key",
    "bootstrap_key",
    "plaintext",
    "ciphertext",
)


def toy() -> Engine:
    return Engine(preset="toy", allow_insecure=True)


@pytest.fixture(scope="module")
def things(engine: Engine, keys: Keys) -> dict[str, Any]:
    plaintext = engine.encode(random_message(engine.slot_count, 1), level=2)
    return {
        "secret_key": keys.secret,
        "public_key": keys.public,
        "relinearization_key": keys.relinearization,
        "conjugation_key": keys.conjugation,
        "rotation_key": keys.rotation,
        "fixed_rotation_key": engine.create_fixed_rotation_key(keys.secret, -3),
        "matrix_multiplication_key": engine.create_matrix_multiplication_key(keys.secret),
        "bootstrap_key": keys.bootstrap,
        "plaintext": plaintext,
        "ciphertext": engine.encrypt(plaintext, keys.public),
    }


def test_every_documented_method_is_there() -> None:
    verbs = ("write", "read", "serialize", "deserialize")
    for name in (*TYPES, "small_bootstrap_key", "lossy_bootstrap_key", "merge_bootstrap_key"):
        for verb in verbs:
            method = getattr(Engine, f"{verb}_{name}")
            assert method.__name__ == f"{verb}_{name}"
            assert name.replace("_", " ") in method.__doc__


def through_files(engine: Engine, other: Engine, things: dict[str, Any], folder: Path) -> dict[str, Any]:
    read = {}
    for name, thing in things.items():
        path = folder / name
        getattr(engine, f"write_{name}")(thing, path)
        data = getattr(engine, f"serialize_{name}")(thing)
        assert path.read_bytes() == data
        read[name] = getattr(other, f"read_{name}")(str(path))
        again = getattr(other, f"deserialize_{name}")(memoryview(data))
        assert type(read[name]) is type(again) is type(thing)
        assert getattr(other, f"serialize_{name}")(again) == data
    return read


def check(engine: Engine, got: dict[str, Any], secret: Any, extra: Ciphertext) -> None:
    """What `got` has works together, and with a ciphertext that stayed."""
    message = random_message(engine.slot_count, 1)
    sum_ = engine.add(got["ciphertext"], extra)
    assert_near(engine.decrypt(sum_, secret), 2 * message)
    assert_near(engine.decode(got["plaintext"]), message)
    product = engine.multiply(got["ciphertext"], got["plaintext"])
    assert_near(engine.decrypt(product, secret), message**2)
    square = engine.square(got["ciphertext"], got["relinearization_key"])
    assert_near(engine.decrypt(square, secret), message**2)
    rolled = engine.rotate(got["ciphertext"], got["rotation_key"], 5)
    assert_near(engine.decrypt(rolled, secret), np.roll(message, 5))
    rolled = engine.rotate(got["ciphertext"], got["fixed_rotation_key"])
    assert_near(engine.decrypt(rolled, secret), np.roll(message, -3))
    swap = np.array([[0, 1], [1, 0]])
    swapped = engine.multiply_matrix(swap, got["ciphertext"], got["matrix_multiplication_key"])
    assert_near(engine.decrypt(swapped, secret)[:3], [message[1], message[0], 0])
    encrypted = engine.encrypt(got["plaintext"], got["public_key"])
    assert encrypted.level == 2
    assert encrypted.key_id == secret.key_id
    fresh = engine.bootstrap(encrypted, got["relinearization_key"], got["conjugation_key"], got["bootstrap_key"])
    assert fresh.level == 10
    assert_near(engine.decrypt(fresh, secret), message)


def test_everything_works_in_another_engine(engine: Engine, keys: Keys, things: dict[str, Any], tmp_path: Path) -> None:
    other = toy()
    read = through_files(engine, other, things, tmp_path)
    check(other, read, read["secret_key"], things["ciphertext"])
    assert read["bootstrap_key"].stage_count == 3
    assert read["bootstrap_key"].size == keys.bootstrap.size
    assert read["fixed_rotation_key"].delta == -3
    for name in ("relinearization_key", "rotation_key", "bootstrap_key"):
        size = (tmp_path / name).stat().st_size
        assert 2 * size < read[name].byte_count
        assert abs(size - things[name].stored_bytes) < 0.04 * size
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_pickles(engine: Engine, keys: Keys, things: dict[str, Any]) -> None:
    evaluation = {name: thing for name, thing in things.items() if name != "secret_key"}
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        restored = pickle.loads(pickle.dumps(evaluation, protocol=protocol))
        check(toy(), restored, keys.secret, things["ciphertext"])
    buffers: list[pickle.PickleBuffer] = []
    small = pickle.dumps(evaluation, protocol=5, buffer_callback=buffers.append)
    assert len(small) < 2000
    assert len(buffers) == len(evaluation)
    check(engine, pickle.loads(small, buffers=buffers), keys.secret, things["ciphertext"])
    secret = engine.serialize_secret_key(keys.secret)
    with pytest.raises(SerializationError, match="engine"):
        restore(secret)


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


def test_bootstrap_keys_of_every_kind(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    message = np.where(np.arange(engine.slot_count) % 3, 1.0, -1.0)
    ciphertext = engine.encrypt(message, keys.public, level=4)
    small = engine.create_small_bootstrap_key(keys.secret)
    lossy = engine.create_lossy_bootstrap_key(keys.secret)
    engine.write_small_bootstrap_key(small, tmp_path / "small")
    engine.write_lossy_bootstrap_key(lossy, tmp_path / "lossy")
    small = engine.read_small_bootstrap_key(tmp_path / "small")
    lossy = pickle.loads(pickle.dumps(engine.read_lossy_bootstrap_key(tmp_path / "lossy")))
    fresh = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.rotation, small)
    assert_near(engine.decrypt(fresh, keys.secret), message)
    fresh = engine.sign_bootstrap(ciphertext, keys.relinearization, keys.conjugation, lossy)
    assert_near(engine.decrypt(fresh, keys.secret), message)
    restored = pickle.loads(pickle.dumps(ciphertext))
    assert restored.is_real == ciphertext.is_real


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
            words = f"This is a {key.kind}, not a {other.replace('_', ' ')}; use"
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
        with pytest.raises(SerializationError, match=f"This is a {key.kind}, not a ciphertext; use read_{own} or"):
            engine.read_ciphertext(path)
        with pytest.raises(SerializationError, match="This is a public key, not a"):
            getattr(engine, f"deserialize_{own}")(engine.serialize_public_key(keys.public))
    assert not (tmp_path / "new").exists()
    merged = engine.deserialize_merge_bootstrap_key(engine.serialize_merge_bootstrap_key(keys.bootstrap))
    assert merged.kind == "bootstrap key"


def test_write_and_read_for_everything(engine: Engine, things: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "thing"
    for name, thing in things.items():
        engine.write(thing, path)
        data = engine.serialize(thing)
        assert path.read_bytes() == data == getattr(engine, f"serialize_{name}")(thing)
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 or name != "secret_key"
        for back in (engine.read(path), engine.read(str(path)), engine.deserialize(memoryview(data))):
            assert type(back) is type(thing)
            assert engine.serialize(back) == data
        path.unlink()
    light = engine.encode_to_light_plaintext([0.5])
    engine.write(light, os.fsencode(path))  # type: ignore[arg-type]
    assert_near(engine.decode(engine.read(path))[:2], [0.5, 0])
    for wrong in (np.ones(3), [things["ciphertext"]], None, "text"):
        with pytest.raises(TypeError, match="Keys, plaintexts and ciphertexts are written, not"):
            engine.write(wrong, path)
    path.write_text("something else")
    with pytest.raises(SerializationError, match="not data of Aglet"):
        engine.read(path)
    with pytest.raises(FileNotFoundError):
        engine.read(tmp_path / "nowhere")
    with pytest.raises(TypeError, match="is read from bytes, not from str"):
        engine.deserialize("text")  # type: ignore[arg-type]


def test_generated_methods_say_what_they_take_and_give() -> None:
    """What a tooltip shows: the help, and the types of argument and result."""
    count = 0
    for name in dir(Engine):
        verb, _, kind = name.partition("_")
        if verb not in ("write", "read", "serialize", "deserialize") or "light" in kind or not kind:
            continue
        method, words = getattr(Engine, name), kind.replace("_", " ")
        assert method.__doc__.splitlines()[0].split(f" {words} ")[0] in {"Write a", "Read a", "Give a"}
        types = [value for value in method.__annotations__.values() if isinstance(value, type)]
        (one,) = types
        assert words.endswith("".join(f" {c.lower()}" if c.isupper() else c for c in one.__name__)[1:])
        count += 1
    assert count == 52


def test_copies_of_keys_are_the_thing_itself(engine: Engine, keys: Keys) -> None:
    ciphertext = engine.encrypt([1], keys.public)
    assert copy.copy(keys.public) is keys.public
    assert copy.deepcopy({"key": keys.bootstrap})["key"] is keys.bootstrap
    # What out= does to one does nothing to the other.
    for copied in (copy.copy(ciphertext), copy.deepcopy([ciphertext])[0]):
        assert copied is not ciphertext
        assert engine.serialize_ciphertext(copied) == engine.serialize_ciphertext(ciphertext)


def test_what_is_not_such_a_thing_is_refused(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    data = engine.serialize_public_key(keys.public)
    with pytest.raises(SerializationError, match="read_public_key"):
        engine.deserialize_secret_key(data)
    with pytest.raises(SerializationError, match="version 2"):
        engine.deserialize_public_key(data[:8] + b"\2" + data[9:])
    with pytest.raises(SerializationError, match="not data of Aglet"):
        engine.deserialize_public_key(b"something else")
    with pytest.raises(SerializationError, match="cut short"):
        engine.deserialize_public_key(data[:-1])
    with pytest.raises(TypeError, match="from bytes, not from str"):
        engine.deserialize_public_key("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="SecretKey is needed here, not PublicKey"):
        engine.write_secret_key(keys.public, tmp_path / "key")  # type: ignore[arg-type]
    other = Engine(max_level=2)
    with pytest.raises(KeyMismatchError, match='preset="toy"'):
        other.deserialize_public_key(data)
    with pytest.raises(KeyMismatchError, match="same options"):
        other.serialize_public_key(keys.public)
    assert not list(tmp_path.iterdir())
    for path in (tmp_path / "none", tmp_path / "no" / "folder"):
        with pytest.raises(FileNotFoundError) as caught:
            engine.read_public_key(path)
        assert caught.value.filename == str(path)
    with pytest.raises(FileNotFoundError):
        engine.write_public_key(keys.public, tmp_path / "no" / "folder")
    with pytest.raises(IsADirectoryError):
        engine.write_public_key(keys.public, tmp_path)


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


@pytest.fixture(scope="module")
def written(engine: Engine, things: dict[str, Any]) -> dict[str, bytes]:
    return {name: getattr(engine, f"serialize_{name}")(thing) for name, thing in things.items()}


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutations_are_refused(engine: Engine, written: dict[str, bytes], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(TYPES))
    good = written[name]
    bad = bytearray(good)
    end = data.draw(st.sampled_from([256, 1024, len(good)]))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, min(end, len(bad)) - 1))
        change = data.draw(st.sampled_from(["flip", "cut", "insert", "drop", "fill"]))
        if change == "flip":
            bad[at] ^= 1 << data.draw(st.integers(0, 7))
        elif change == "cut":
            del bad[max(at, 1) :]
        elif change == "insert":
            bad[at:at] = data.draw(st.binary(min_size=1, max_size=40))
        elif change == "drop":
            del bad[at : min(at + 33, len(bad) - 1)]
        else:
            bad[at : at + 64] = bytes(len(bad[at : at + 64]))
    if bytes(bad) != good:
        with pytest.raises(SerializationError):
            getattr(engine, f"deserialize_{name}")(bad)


@settings(max_examples=100, deadline=None)
@given(noise=st.binary(max_size=600), start=st.sampled_from([0, 8, 10, 12, 100]))
def test_noise_is_refused(engine: Engine, written: dict[str, bytes], noise: bytes, start: int) -> None:
    data = written["ciphertext"][:start] + noise
    with pytest.raises(SerializationError):
        engine.deserialize_ciphertext(data)
    with pytest.raises(SerializationError):
        restore(data)


def test_a_damaged_file_is_refused_wherever_it_is_damaged(
    engine: Engine, things: dict[str, Any], tmp_path: Path
) -> None:
    """Large enough to be mapped."""
    path = tmp_path / "key"
    engine.write_bootstrap_key(things["bootstrap_key"], path)
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


def test_progress_and_its_exceptions(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    path = tmp_path / "key"
    engine.write_rotation_key(keys.rotation, path, progress=lambda *step: seen.append(step))
    assert seen[-1][0] == seen[-1][1]
    assert seen[-1][2] == "writing the rotation key"
    before = path.read_bytes()

    def stop(*_: object) -> None:
        raise io.UnsupportedOperation("no more")

    with pytest.raises(io.UnsupportedOperation):
        engine.write_bootstrap_key(keys.bootstrap, path, progress=stop)
    # Work that is over before anybody looks is done; what lies there is whole either way.
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]
    if path.read_bytes() == before:
        engine.read_rotation_key(path)
    else:
        engine.read_bootstrap_key(path)


PROGRAM = """
import sys
from aglet import Engine
engine = Engine(preset="toy", allow_insecure=True)
secret = engine.create_secret_key()
key = engine.create_bootstrap_key(secret)
engine.write_bootstrap_key(key, sys.argv[1])
print("ready", flush=True)
while True:
    engine.write_bootstrap_key(key, sys.argv[1])
"""


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "key"
    for round_ in range(4):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1 + 0.013 * round_)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        process.stdout.close()
        engine.read_bootstrap_key(path)
