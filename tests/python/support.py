"""What the test files share: the toy engine, the published snippets, and small comparisons."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aglet import Engine

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 2.0**-16


class ToyEngine(Engine):
    """The engine with the toy ring whenever bootstrapping is asked for; subclassing is part of the interface."""

    def __init__(
        self,
        *positional: Any,
        use_bootstrap: bool = False,
        use_bootstrap_to_14_levels: bool = False,
        **named: Any,
    ) -> None:
        if use_bootstrap_to_14_levels:
            super().__init__(*positional, preset="toy14", allow_insecure=True, **named)
        elif use_bootstrap:
            super().__init__(*positional, preset="toy", allow_insecure=True, **named)
        else:
            super().__init__(*positional, **named)


def toy(log_n: int, slots: int) -> Engine:
    """The toy chain of primes in a ring of degree `2^log_n`."""
    text = (ROOT / "crates/aglet/presets/ckks/toy.toml").read_text().split("[claims]")[0]
    other = text.replace("log_n = 10", f"log_n = {log_n}").replace('name = "toy"', f'name = "toy-{log_n}"')
    options: dict[str, Any] = {"preset": "toy"} if log_n == 10 else {"parameters": other}
    return Engine(**options, slot_count=slots, allow_insecure=True)


SNIPPETS = sorted(path.name.removesuffix(".py.txt") for path in (ROOT / "tests/python/snippets").glob("*.py.txt"))


def snippet(name: str) -> str:
    """A published program with only its import changed."""
    text = (ROOT / "tests" / "python" / "snippets" / f"{name}.py.txt").read_text()
    changed, count = re.subn(r"^from \w+ import Engine$", "from aglet import Engine", text, flags=re.MULTILINE)
    assert count == 1
    return changed


def run(program: str) -> str:
    """What a program prints in a process of its own."""
    return _printed("-c", program)


def _printed(*program: str) -> str:
    result = subprocess.run([sys.executable, *program], capture_output=True, text=True, check=False, timeout=1200)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


# The level after the bootstrap of a published program.
PUBLISHED_LEVELS = {"regular": 10, "to_14_levels": 14, "sparse": 10, "lossy": 13, "sign": 13}


def check_published(name: str) -> str:
    """Runs a published program on the real ring and returns what it printed.

    Its result is at the level that is published, and near the message.
    """
    program = snippet(name) + (
        "import numpy as np\n"
        "wanted = np.pad(message, (0, engine.slot_count - len(message)))\n"
        "print(bootstrapped.level, engine.log_coeff_count, engine.security_report().is_secure)\n"
        "made = [bootstrapped, globals().get('bootstrapped_stage_count_5', bootstrapped)]\n"
        "print(max(np.abs(engine.decrypt(ct, secret_key) - wanted).max() for ct in made))\n"
    )
    *printed, facts, error = run(program).splitlines()
    method = name.removeprefix("precision_").removesuffix("_small_key")
    assert facts == f"{PUBLISHED_LEVELS[method]} 16 True"
    print(f"{name}: off by {float(error):.3g} at most")
    assert float(error) < 2.0**-16
    return "\n".join(printed)


# The bits that a precision script must print (published: 20.5, 17.1, 21.9, 11.3, 25.6).
# Those of full slots are half a bit below docs/parameters.md.
# The sign is as precise as a scale of 2^40 allows: one rounding, 2^13.4 in the real part of a slot, is 26.9 bits.
PRECISION_BITS = {"regular": 24.2, "to_14_levels": 22.5, "sparse": 25, "lossy": 24.2, "sign": 26.0}


def check_precision(method: str) -> None:
    """Runs a published precision script on the real ring: it prints at least the bits of `PRECISION_BITS`."""
    printed = check_published(f"precision_{method}")
    found = re.search(r"Noise \(Bits\) :(-?[0-9.]+)", printed)
    assert found is not None
    print(f"{method}: {found[1]} bits, at least {PRECISION_BITS[method]} wanted")
    assert float(found[1]) <= -PRECISION_BITS[method]


EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
# What an example prints that takes the real size.
_PRINTS = {
    "sort.py": "with 2 bootstraps",
    "order.py": "sort of 128",
    "digits.py": "512 pictures",
    "column.py": "98304 rows",
}


def check_example(name: str) -> None:
    """Runs an example, which checks its own results."""
    printed = _printed(str(ROOT / "examples" / name))
    assert _PRINTS.get(name, "") in printed
    assert printed


def change_index(folder: Path, *dropped: str, **changes: Any) -> None:
    """Change what the index of a folder of keys says, as one who leaves out its sum too."""
    index = folder / "keys.json"
    said = json.loads(index.read_text())
    for name in ("index_sha256", *dropped):
        del said[name]
    index.write_text(json.dumps({**said, **changes}))


def random_message(count: int, seed: int) -> np.ndarray:
    """Complex numbers, uniform on the unit disc."""
    random = np.random.default_rng(seed)
    return np.sqrt(random.uniform(0, 1, count)) * np.exp(2j * np.pi * random.uniform(0, 1, count))


def assert_near(actual: ArrayLike, expected: ArrayLike, tolerance: ArrayLike = TOLERANCE) -> None:
    """Every slot within `tolerance`, one for all of them or one for each."""
    error = np.abs(np.asarray(actual) - np.asarray(expected))
    part = error / np.asarray(tolerance)
    slot = int(part.argmax())
    assert part.max() < 1, f"slot {slot} is off by {error.flat[slot]:.3g}"
