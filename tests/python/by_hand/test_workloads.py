"""Workloads that take minutes: networks (9 GB), whose scores equal those in the clear, and products with carries."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads import standin


@pytest.mark.parametrize(
    ("name", "size"),
    [("resnet20", "single"), ("face", "single"), ("zn_carried", "small"), ("transciphering", "small")],
)
def test_size(name: str, size: str, tmp_path: Path) -> None:
    found = standin.run(argparse.Namespace(name=name, size=size, runs=1, seed=5, count_only=False), tmp_path)
    assert found["security_bits"] >= 128
    print(found["runs"][0])
