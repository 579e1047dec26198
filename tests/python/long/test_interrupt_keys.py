"""Ctrl-C ends the making of real keys, and real bootstraps, long before they are done."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

# A test run in the background inherits an ignored SIGINT: the programs take it back. Each does its work once whole and
# prints the seconds of that: what is long depends on the machine.
START = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from aglet import Engine
"""

KEYS = """
engine = Engine(use_bootstrap=True)
secret = engine.create_secret_key()
def work():
    engine.create_bootstrap_key(secret)
"""

RELINEARIZATION = """
engine = Engine(max_level=77)
secret = engine.create_secret_key()
def work():
    engine.create_relinearization_key(secret)
"""

BOOTSTRAPS = """
engine = Engine(use_bootstrap=True, mode="parallel", thread_count=2)
keys = engine.create_keys(rotation=False)
ciphertexts = [engine.encrypt([1], keys.secret, level=0)] * 16
def work():
    engine.bootstrap_many(ciphertexts, keys.relinearization, keys.conjugation, keys.bootstrap)
"""

END = """
start = time.monotonic()
work()
print(time.monotonic() - start, flush=True)
work()
"""


@pytest.mark.parametrize("program", [KEYS, RELINEARIZATION, BOOTSTRAPS], ids=["keys", "relinearization", "bootstraps"])
def test_ctrl_c(program: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", START + program + END], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    whole = float(process.stdout.readline())
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    first_word = process.stderr.readline()
    answered = time.monotonic() - start
    errors = first_word + process.stderr.read()
    process.wait(timeout=60)
    print(f"answered after {answered:.2f} s; the whole takes {whole:.1f} s")
    assert "KeyboardInterrupt" in errors
    # A quarter of a second, if nothing else runs. A call that does not listen answers at its end.
    assert answered < 0.7 * whole
