"""Every backend of this processor refreshes the same message as precisely on the toy ring; one process each.

At the real size each gives the bits that were recorded (crates/aglet/tests/golden_real.rs); test_precision.py measures
how precise these are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from aglet import _core

BENCH = ["bench", "bootstrap", "--preset", "toy", "--allow-insecure", "--threads", "0", "--repeat", "1", "--json"]


@pytest.mark.parametrize("backend", _core.doctor()["backends"])
def test_forced(backend: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "aglet", *BENCH, "--message", "uniform", "--message", "alternating"],
        env={**os.environ, "AGLET_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    uniform, alternating = (json.loads(line) for line in result.stdout.splitlines())
    print(f"{backend}: {uniform['seconds']:.2f} s, {uniform['bits_mean']:.2f} and {alternating['bits_mean']:.2f} bits")
    assert uniform["backend"] == alternating["backend"] == backend
    assert uniform["output_level"] == 10
    assert min(uniform["bits_mean"], alternating["bits_mean"]) >= 24.2
