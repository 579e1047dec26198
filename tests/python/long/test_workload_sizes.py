"""The public workloads at sizes of less than a minute: results equal those in the clear. Times are printed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads import standin

SIZES = [
    ("zn", "medium", False),
    ("mnist", "small", False),
    ("similarity", "toy", False),
    ("similarity", "small", False),
]


@pytest.mark.parametrize(("name", "size", "count_only"), SIZES)
def test_size(name: str, size: str, count_only: bool, tmp_path: Path) -> None:
    given = argparse.Namespace(name=name, size=size, runs=1, seed=5, count_only=count_only)
    found = standin.run(given, tmp_path)
    assert found["security_bits"] >= 128
    print(name, size, found["runs"][0]["stages"]["server_encrypted_compute"], found["runs"][0]["result"])
