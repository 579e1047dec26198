"""Ctrl-C ends the work within a second, and other threads run while the engine works."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

from aglet import Engine
from conftest import Keys

# A test run in the background inherits an ignored SIGINT: the program takes it back.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from aglet import Engine
engine = Engine(preset="toy", allow_insecure=True)
secret = engine.create_secret_key()
print("ready", flush=True)
while True:
    engine.create_bootstrap_key(secret)
"""


def test_ctrl_c() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
