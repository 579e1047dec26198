"""The published programs on the real ring, each in a process of its own, with only the import changed."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from support import ROOT, SNIPPETS, snippet

EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


# That they take the real size.
SAYS = {
    "sort.py": "with 2 bootstraps",
    "order.py": "sort of 128",
    "digits.py": "512 pictures",
    "column.py": "98304 rows",
}


def run(program: str) -> str:
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=1200)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


# Level after the bootstrap, and the bits that a precision script must print (published: 20.5, 17.1, 21.9, 11.3, 25.6).
# Those of full slots are half a bit below docs/parameters.md.
# The sign is as precise as a scale of 2^40 allows: one rounding, 2^13.4 in the real part of a slot, is 26.9 bits.
LEVELS = {"regular": 10, "to_14_levels": 14, "sparse": 10, "lossy": 13, "sign": 13}
BITS = {"regular": 24.2, "to_14_levels": 22.5, "sparse": 25, "lossy": 24.2, "sign": 26.0}


@pytest.mark.parametrize("name", [name for name in SNIPPETS if not name.startswith("precision")])
def test_examples_of_the_documentation(name: str) -> None:
    program = snippet(name) + (
        "import numpy as np\n"
        "wanted = np.pad(message, (0, engine.slot_count - len(message)))\n"
        "print(bootstrapped.level, engine.log_coeff_count, engine.security_report().is_secure)\n"
        "made = [bootstrapped, globals().get('bootstrapped_stage_count_5', bootstrapped)]\n"
        "print(max(np.abs(engine.decrypt(ct, secret_key) - wanted).max() for ct in made))\n"
    )
    facts, error = run(program).splitlines()
    assert facts == f"{LEVELS[name.removesuffix('_small_key')]} 16 True"
    assert float(error) < 2.0**-16


@pytest.mark.parametrize("method", list(BITS))
def test_precision_scripts(method: str) -> None:
    found = re.search(r"Noise \(Bits\) :(-?[0-9.]+)", run(snippet(f"precision_{method}")))
    assert found is not None
    print(f"{method}: {found[1]} bits, at least {BITS[method]} wanted")
    assert float(found[1]) <= -BITS[method]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    printed = run((ROOT / "examples" / name).read_text())
    assert SAYS.get(name, "") in printed
    assert printed
