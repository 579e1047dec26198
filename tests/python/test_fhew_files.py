"""FHEW beside what test_files.py tests of every type: sizes, sums in files, threads, forks and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from aglet import FhewBootstrapKey, FhewCiphertext, FhewEngine, FhewSecretKey, PackingKey

CLEAR = np.array([[True, False, True], [False, False, True]])


@pytest.fixture(scope="module")
def bits() -> FhewEngine:
    return FhewEngine()


@pytest.fixture(scope="module")
def things(bits: FhewEngine) -> dict[str, Any]:
    secret = bits.create_secret_key()
    return {
        "fhew_secret_key": secret,
        "fhew_bootstrap_key": bits.create_bootstrap_key(secret),
        "packing_key": bits.create_packing_key(secret),
        "lwe_ciphertext": bits.encrypt(CLEAR, secret),
    }


def works(
    engine: FhewEngine, secret: FhewSecretKey, key: FhewBootstrapKey, packing_key: PackingKey, x: FhewCiphertext
) -> None:
    """Whether these go together."""
    assert packing_key.key_id == secret.key_id
    found = engine.nand(x, x[::-1], key)
    np.testing.assert_array_equal(engine.decrypt(found, secret), ~(CLEAR & CLEAR[::-1]))


def test_sizes(bits: FhewEngine, things: dict[str, Any]) -> None:
    key: FhewBootstrapKey = things["fhew_bootstrap_key"]
    assert len(bits.serialize(key)) < 8_000_000
    assert key.stored_bytes * 3.5 < key.byte_count
    fresh, many = (len(bits.serialize(bits.encrypt(np.ones(n, bool), things["fhew_secret_key"]))) for n in (1, 1001))
    assert (many - fresh) / 1000 < 42


def test_a_sum_keeps_its_terms_in_a_file(bits: FhewEngine) -> None:
    """A file says of what a ciphertext was summed up, so that nothing counts too little afterwards."""
    tables = FhewEngine(bits=2)
    secret = tables.create_secret_key()
    key = tables.create_bootstrap_key(secret)
    x = tables.lookup(tables.encrypt(1, secret), [0, 1, 2, 3], key)
    back = tables.deserialize(tables.serialize(40 * x))
    near = back - 39 * x
    assert tables.decrypt(tables.lookup(near, [3, 2, 1, 0], key), secret) == 2


# Interrupts, threads, processes

PROGRAM = """
import signal
import time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from aglet import FhewEngine
engine = FhewEngine()
secret = engine.create_secret_key()
key = engine.create_bootstrap_key(secret)
x = engine.encrypt(np.ones(20_000, bool), secret)
start = time.monotonic()
engine.nand(x[:100], x[:100], key)
print((time.monotonic() - start) * len(x) / 100, flush=True)
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
    whole = float(process.stdout.readline())
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    found, _ = process.communicate(timeout=2 * whole)
    assert found == "usable\n"
    # A second on a machine of its own, where the whole takes half a minute; test machines share theirs.
    assert time.monotonic() - start < 0.5 * whole


def test_what_cannot_be_called_is_no_progress(bits: FhewEngine, things: dict[str, Any]) -> None:
    x = things["lwe_ciphertext"]
    with pytest.raises(TypeError, match="progress"):
        bits.xor(x, x, things["fhew_bootstrap_key"], progress=3)  # type: ignore[arg-type]
    works(bits, *things.values())


def test_many_threads_use_one_engine(bits: FhewEngine, things: dict[str, Any]) -> None:
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
    engine = FhewEngine(thread_count=2)
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
