"""The exact work of bootstraps against tests/vectors/work.json: a change that alters it says so in that file.

`AGLET_WORK=record pytest tests/python/test_work.py` writes it again; what became more or less is then in the diff.
"""

from __future__ import annotations

import json
import os

import pytest

from aglet import _core
from support import ROOT

FILE = ROOT / "tests" / "vectors" / "work.json"
CASES = [
    ("regular", "regular", 3, "large", 2**15),
    ("regular", "regular", 3, "small", 2**15),
    ("regular", "lossy", 3, "large", 2**15),
    ("regular", "merge", 3, "large", 2**15),
    ("regular", "sign", 3, "large", 2**15),
    ("regular", "regular", 3, "large", 2**10),
    ("precise", "regular", 3, "large", 2**15),
    ("to14", "regular", 3, "large", 2**15),
    ("param15", "regular", 3, "large", 2**14),
]


def counted(case: tuple[str, str, int, str, int]) -> dict[str, dict[str, float]]:
    """Stage by stage, what kernels will do: whole limbs, and bytes read."""
    return {stage["name"]: {kind: n for kind, n in stage["work"].items() if n} for stage in _core.plan(*case)["stages"]}


def name(case: tuple[str, str, int, str, int]) -> str:
    return " ".join(str(part) for part in case)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_work_is_what_is_written_down(case: tuple[str, str, int, str, int]) -> None:
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    if os.environ.get("AGLET_WORK") == "record":
        known[name(case)] = counted(case)
        FILE.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    assert counted(case) == known[name(case)], "the work changed: if it was meant, AGLET_WORK=record writes it down"


def test_nothing_else_is_written_down() -> None:
    assert set(json.loads(FILE.read_text())) == {name(case) for case in CASES}
