"""The published programs on the real ring, each in a process of its own, with only the import changed."""

from __future__ import annotations

import re

import pytest

from support import PUBLISHED_LEVELS, ROOT, check_published, run, snippet

EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


# That they take the real size.
SAYS = {
    "sort.py": "with 2 bootstraps",
    "order.py": "sort of 128",
    "digits.py": "512 pictures",
    "column.py": "98304 rows",
}


# The bits that a precision script must print (published: 20.5, 17.1, 21.9, 11.3, 25.6).
# Those of full slots are half a bit below docs/parameters.md.
# The sign is as precise as a scale of 2^40 allows: one rounding, 2^13.4 in the real part of a slot, is 26.9 bits.
BITS = {"regular": 24.2, "to_14_levels": 22.5, "sparse": 25, "lossy": 24.2, "sign": 26.0}


# The programs with the other small keys are run by hand (tests/python/by_hand).
@pytest.mark.parametrize("name", [*PUBLISHED_LEVELS, "regular_small_key"])
def test_examples_of_the_documentation(name: str) -> None:
    check_published(name)


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
