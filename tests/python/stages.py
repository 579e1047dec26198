"""Stages of workloads, run in tests: whole chains, and one that refuses."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads import standin


def chain(name: str, size: str, folder: Path, **options: Any) -> dict[str, Any]:
    """Run all stages of a workload, each in its own process. It raises if a result differs."""
    given = argparse.Namespace(name=name, size=size, runs=1, seed=7, count_only=False)
    vars(given).update(options)
    return standin.run(given, folder)


def refused(name: str, folder: Path, *arguments: str) -> str:
    """The line that ends a stage which refuses. It runs in this process: to start Python takes longer than that."""
    path = str(ROOT / "workloads" / f"{name}.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", [path, *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(path, run_name="__main__")
    said = ended.value.code
    # Python prints a text to stderr and ends with 1.
    assert isinstance(said, str)
    assert len(said.splitlines()) == 1, said
    return said
