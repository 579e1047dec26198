"""What kernels of cards ask of memory: threads side by side read words side by side, and meet different banks."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from emulated_card import compiled
from support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import card_traces

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator of cards is for Linux")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("traced"), traced=True)


@pytest.mark.parametrize("doubles", [True, False])
def test_requests_of_warps_are_of_few_lines_and_banks(
    library: Path, doubles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGLET_CUDA_DRIVER", str(library))
    traces = card_traces.Traces(library, doubles=doubles)
    found = {}
    for make in (lambda: card_traces.bootstrap("toy"), lambda: card_traces.table("gate")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found |= {kernel.name: kernel for kernel in traces.of(make())}
    own = "F50" if doubles else "S64"
    for start in ("forward_rows", "inverse_columns_2", "convert", "key_sum", "linear_map", "form", "blind_9_4_1"):
        assert any(name == f"{start}_{own}" for name in found), start
    for name, kernel in found.items():
        # A multiplier in words is two of them; the key switch reads 32 words from anywhere on.
        assert kernel.lines.worst <= 4, name
        assert kernel.lines.took <= 1.5 * kernel.lines.least, name
        # Two turns are what 32 words take.
        assert kernel.banks.worst <= 4, name
        assert kernel.banks.took <= 1.2 * kernel.banks.least, name
