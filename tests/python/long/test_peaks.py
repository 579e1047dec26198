"""Memory forecasts against what a process uses that makes all keys and bootstraps twice; one process each."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json
import sys

import numpy as np

from aglet import Engine, _core

preset, size, stages, slots = json.loads(sys.argv[1])
engine = Engine(preset=preset, slot_count=slots, mode="parallel", thread_count=2)
forecast = engine.memory_report(stages, size)
secret = engine.create_secret_key()
public = engine.create_public_key(secret)
rest = [engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)]
more = {}
if size == "small":
    rest.append(engine.create_rotation_key(secret))
    key, more = engine.create_small_bootstrap_key(secret), {"stage_count": stages}
else:
    key = engine.create_bootstrap_key(secret, stages, size)
ciphertext = engine.encrypt(np.exp(1j * np.arange(engine.slot_count)), public, level=0)
for _ in range(2):
    engine.bootstrap(ciphertext, *rest, key, **more)
print(json.dumps([_core.peak_rss_bytes(), forecast.peak]))
"""

INTEGERS = """
import json
import sys

from aglet import IntegerEngine, _core

engine = IntegerEngine(preset=json.loads(sys.argv[1]), mode="parallel", thread_count=2)
forecast = engine.memory_report()
secret = engine.create_secret_key()
public, key = engine.create_public_key(secret), engine.create_bootstrap_key(secret)
ciphertext = engine.encrypt([1, 2, 3], public, level=1)
for _ in range(2):
    engine.bootstrap(ciphertext, key)
print(json.dumps([_core.peak_rss_bytes(), forecast.peak]))
"""

ROUTES = [
    ("regular", "small", 3, None),
    ("regular", "medium", 3, None),
    ("regular", "large", 3, None),
    ("regular", "large", 2, 64),
    ("param15", "large", 3, None),
]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: "-".join(map(str, route)))
def test_the_peak_is_as_forecast(route: tuple[str, str, int, int | None]) -> None:
    compare(PROGRAM, route)


def test_the_peak_of_integers_is_as_forecast() -> None:
    compare(INTEGERS, "int16")


def compare(program: str, route: object) -> None:
    """Run a program that prints its peak and the forecast, and compare them."""
    result = subprocess.run(
        [sys.executable, "-c", program, json.dumps(route)], capture_output=True, text=True, check=False, timeout=1800
    )
    assert result.returncode == 0, result.stderr
    peak, forecast = json.loads(result.stdout)
    print(f"{route}: peak {peak / 1e9:.3f} GB, forecast {forecast / 1e9:.3f} GB")
    assert peak <= forecast <= 1.05 * peak
