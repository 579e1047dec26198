"""Files, bytes and pickles of gates and tables, threads, forks and Ctrl-C."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import Engine, LookupEngine, LookupKey, LweCiphertext, LweSecretKey, PackingKey
from aglet.errors import KeyMismatchError, SerializationError
from aglet.files import restore

TYPES = ("lwe_secret_key", "lookup_key", "packing_key", "lwe_ciphertext")
CLEAR = np.array([[True, False, True], [False, False, True]])


@pytest.fixture(scope="module")
def bits() -> LookupEngine:
    return LookupEngine()


@pytest.fixture(scope="module")
def things(bits: LookupEngine) -> dict[str, Any]:
    secret = bits.create_secret_key()
    return {
        "lwe_secret_key": secret,
        "lookup_key": bits.create_lookup_key(secret),
        "packing_key": bits.create_packing_key(secret),
        "lwe_ciphertext": bits.encrypt(CLEAR, secret),
    }


def works(
    engine: LookupEngine, secret: LweSecretKey, key: LookupKey, packing_key: PackingKey, x: LweCiphertext
) -> None:
    """Whether these go together."""
    assert packing_key.key_id == secret.key_id
    found = engine.nand(x, x[::-1], key)
    np.testing.assert_array_equal(engine.decrypt(found, secret), ~(CLEAR & CLEAR[::-1]))


@pytest.mark.parametrize("name", TYPES)
def test_what_is_written_works_in_another_engine(
    bits: LookupEngine, things: dict[str, Any], name: str, tmp_path: Path
) -> None:
    other, path, thing = LookupEngine(), tmp_path / name, things[name]
    getattr(bits, f"write_{name}")(thing, path)
    data = getattr(bits, f"serialize_{name}")(thing)
    assert path.read_bytes() == data == bits.serialize(thing)
    bits.write(thing, tmp_path / "any")
    assert (tmp_path / "any").read_bytes() == data
    back = [
        getattr(other, f"read_{name}")(path),
        getattr(other, f"deserialize_{name}")(data),
        other.read(path),
        other.deserialize(memoryview(data)),
    ]
    for one in back:
        assert type(one) is type(thing)
        works(other, *{**things, name: one}.values())
    owners_only = stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert owners_only == (name == "lwe_secret_key") or os.umask(0o022) != 0o022


@pytest.mark.parametrize("name", ["lookup_key", "packing_key", "lwe_ciphertext"])
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_pickles(bits: LookupEngine, things: dict[str, Any], name: str, protocol: int) -> None:
    back = pickle.loads(pickle.dumps(things[name], protocol))
    assert type(back) is type(things[name])
    works(bits, *{**things, name: back}.values())
    assert copy.copy(things[name]) is things[name]
    assert copy.deepcopy(things[name]) is things[name]


def test_a_secret_key_is_not_pickled_by_accident(bits: LookupEngine, things: dict[str, Any]) -> None:
    for protocol in range(6):
        with pytest.raises(TypeError, match="write_lwe_secret_key"):
            pickle.dumps(things["lwe_secret_key"], protocol)
    with pytest.raises(SerializationError):
        restore(bits.serialize(things["lwe_secret_key"]))


def test_sizes(bits: LookupEngine, things: dict[str, Any]) -> None:
    key: LookupKey = things["lookup_key"]
    assert len(bits.serialize(key)) < 8_000_000
    assert key.stored_bytes * 3.5 < key.byte_count
    fresh, many = (len(bits.serialize(bits.encrypt(np.ones(n, bool), things["lwe_secret_key"]))) for n in (1, 1001))
    assert (many - fresh) / 1000 < 42


def test_damaged_cut_and_foreign_data(bits: LookupEngine, things: dict[str, Any], engine: Engine) -> None:
    data = bits.serialize(things["lwe_ciphertext"])
    for at in range(0, len(data), 11):
        bad = bytearray(data)
        bad[at] ^= 4
        with pytest.raises((SerializationError, KeyMismatchError)):
            bits.deserialize(bad)
        with pytest.raises(SerializationError):
            bits.deserialize(data[:at])
    with pytest.raises(SerializationError, match="not a lookup key"):
        bits.deserialize_lookup_key(data)
    with pytest.raises(KeyMismatchError, match='preset "gate"'):
        LookupEngine(bits=2).deserialize(data)
    with pytest.raises(SerializationError, match="lwe ciphertext"):
        engine.deserialize_ciphertext(data)
    for one, other in ((engine, data), (bits, engine.serialize(engine.encrypt([1], engine.create_secret_key())))):
        with pytest.raises(SerializationError, match="family"):
            one.deserialize(other)
    for wrong in (None, "text", 3, np.ones(3)):
        with pytest.raises(TypeError):
            bits.write(wrong, "file")
    with pytest.raises(TypeError, match="create_lookup_key"):
        bits.write_lookup_key(things["lwe_ciphertext"], "file")
    with pytest.raises(FileNotFoundError):
        bits.read("no such file")


def test_a_sum_keeps_its_terms_in_a_file(bits: LookupEngine) -> None:
    """A file says of what a ciphertext was summed up, so that nothing counts too little afterwards."""
    tables = LookupEngine(bits=2)
    secret = tables.create_secret_key()
    key = tables.create_lookup_key(secret)
    x = tables.lookup(tables.encrypt(1, secret), [0, 1, 2, 3], key)
    back = tables.deserialize(tables.serialize(40 * x))
    near = back - 39 * x
    assert tables.decrypt(tables.lookup(near, [3, 2, 1, 0], key), secret) == 2


# Interrupts, threads, processes

PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from aglet import LookupEngine
engine = LookupEngine()
secret = engine.create_secret_key()
key = engine.create_lookup_key(secret)
x = engine.encrypt(np.ones(100_000, bool), secret)
print("ready", flush=True)
try:
    engine.nand(x, x, key)
except KeyboardInterrupt:
    found = engine.decrypt(engine.nand(x[:3], x[:3], key), secret)
    print("usable" if not found.any() else "wrong", flush=True)
"""


def test_ctrl_c_leaves_the_engine_usable() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    found, _ = process.communicate(timeout=60)
    assert found == "usable\n"
    # A second on a machine of its own, test machines share theirs; to its end it would take three minutes.
    assert time.monotonic() - start < 30


def test_what_cannot_be_called_is_no_progress(bits: LookupEngine, things: dict[str, Any]) -> None:
    x = things["lwe_ciphertext"]
    with pytest.raises(TypeError, match="progress"):
        bits.xor(x, x, things["lookup_key"], progress=3)  # type: ignore[arg-type]
    works(bits, *things.values())


def test_many_threads_use_one_engine(bits: LookupEngine, things: dict[str, Any]) -> None:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            works(bits, *things.values())
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_goes_on(things: dict[str, Any]) -> None:
    engine = LookupEngine(thread_count=2)
    works(engine, *things.values())
    child = os.fork()
    if not child:
        status = 1
        try:
            works(engine, *things.values())
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    works(engine, *things.values())
