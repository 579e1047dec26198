"""The example that sorts 64 encrypted values, at the real size: it checks its result against numpy itself."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_sort(capsys: pytest.CaptureFixture[str]) -> None:
    state = runpy.run_path(str(ROOT / "examples" / "sort.py"), run_name="__main__")
    assert state["count"] == 64
    assert "with 2 bootstraps" in capsys.readouterr().out
