"""The published programs on the real ring, each in a process of its own, with only the import changed."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from support import ROOT, snippet

EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def run(program: str) -> str:
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=1200)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def test_the_first_example() -> None:
    program = snippet("first_example") + (
        "print(bootstrapped.level, engine.slot_count, engine.security_report().is_secure)\n"
        "print(max(abs(engine.decrypt(bootstrapped, secret_key)[:3] - message)))\n"
    )
    facts, error = run(program).splitlines()
    assert facts == "10 32768 True"
    assert float(error) < 2.0**-15


def test_the_precision_script() -> None:
    found = re.search(r"Noise \(Bits\) :(-?[0-9.]+)", run(snippet("precision_script")))
    assert found is not None
    print(f"precision script: {found[1]}")
    assert float(found[1]) <= -22


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    assert run((ROOT / "examples" / name).read_text())
