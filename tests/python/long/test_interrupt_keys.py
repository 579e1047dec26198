"""Ctrl-C ends the making of real keys, and a real bootstrap, within a second."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

# A test run in the background inherits an ignored SIGINT: the programs take it back.
START = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from aglet import Engine
"""

KEYS = (
    START
    + """
engine = Engine(use_bootstrap=True, mode="parallel")
secret = engine.create_secret_key()
print("ready", flush=True)
engine.create_bootstrap_key(secret)
"""
)

BOOTSTRAP = (
    START
    + """
engine = Engine(use_bootstrap=True)
keys = engine.create_keys(rotation=False)
ciphertext = engine.encrypt([1], keys.secret, level=0)
print("ready", flush=True)
for _ in range(10):
    engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
"""
)


@pytest.mark.parametrize("program", [KEYS, BOOTSTRAP], ids=["keys", "bootstrap"])
def test_ctrl_c(program: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    first_word = process.stderr.readline()
    answered = time.monotonic() - start
    errors = first_word + process.stderr.read()
    process.wait(timeout=60)
    assert "KeyboardInterrupt" in errors
    # A second on a machine of its own; test machines share theirs, and one key is made without a pause.
    assert answered < 4.0
