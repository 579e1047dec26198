"""Ctrl-C ends the work within a second, and other threads run while the engine works."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from aglet import Engine
from conftest import Keys

# A test run in the background inherits an ignored SIGINT: the program takes it back.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from aglet import Engine, FhewEngine
{before}
print("ready", flush=True)
while True:
    {call}
"""

FHEW = "engine = FhewEngine(bits=4); secret = engine.create_secret_key()"
# Calls that would take tens of seconds, and short ones.
CALLS = {
    "bootstrap keys": (
        'engine = Engine(preset="toy", allow_insecure=True); secret = engine.create_secret_key()',
        "engine.create_bootstrap_key(secret)",
    ),
    "weighted sum": (
        "engine = Engine(max_level=17); x = engine.encrypt([1.0], engine.create_secret_key())",
        "engine.weighted_sum([x] * 900, [np.ones(engine.slot_count)] * 900)",
    ),
    "sum of products of integers": (
        "from aglet import IntegerEngine; engine = IntegerEngine(depth=19); secret = engine.create_secret_key(); "
        "relin = engine.create_relinearization_key(secret); x = engine.encrypt([1], secret)",
        "engine.product_sum([x] * 9000, [x] * 9000, relin)",
    ),
    "encryption of FHEW": (FHEW, "engine.encrypt(np.ones(4_000_000, dtype=np.int64), secret)"),
    "decryption of FHEW": (
        f"{FHEW}; x = engine.encrypt(np.ones(60, dtype=np.int64), secret)[[0] * 1_000_000]",
        "engine.decrypt(x, secret)",
    ),
    "sums of FHEW": (f"{FHEW}; x = engine.encrypt([1, 2], secret)[[0] * 200_000]", "2 * x + x"),
    "one sum of FHEW": (f"{FHEW}; x = engine.encrypt([1, 2], secret)[[0] * 4_000_000]", "x.sum()"),
    "sums of rows of FHEW": (
        f"{FHEW}; x = engine.encrypt([1, 2], secret)[[0] * 4_000_000]",
        "x.reshape(-1, 40).sum(1)",
    ),
}


@pytest.mark.parametrize("what", CALLS)
def test_ctrl_c(what: str) -> None:
    before, call = CALLS[what]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(before=before, call=call)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    # A second on a machine of its own; test machines share theirs.
    assert time.monotonic() - start < 4.0
    assert "KeyboardInterrupt" in errors


def test_the_gil_is_released(engine: Engine, keys: Keys) -> None:
    """While one thread bootstraps, another one keeps counting."""
    ciphertext = engine.encrypt([1], keys.public, level=0)
    done = threading.Event()

    def work() -> None:
        # One call, as others run between two in any case, of so many that the fastest machine counts for long enough.
        engine.bootstrap_many([ciphertext] * 20, keys.relinearization, keys.conjugation, keys.bootstrap)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    ticks = 0
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 10
