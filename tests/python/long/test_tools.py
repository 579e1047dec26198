"""The security of gates against the tools that compute it, where they search for long."""

from __future__ import annotations

import json
import math
import runpy
from typing import Any

import pytest

from support import ROOT


def tool(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / f"{name}.py"))


def test_the_table_of_security_is_what_the_tool_makes() -> None:
    model = tool("security_blocks")
    assert model["check_table"](rows=4)
    assert len(json.loads(model["TABLE"].read_text())["kinds"]) == len(model["KINDS"])


def test_ntru_is_as_far_from_its_fatigue_point_as_the_page_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    ntru = tool("security_ntru")
    # At the published fatigue point both attacks take one block size, and the sublattice is found first beyond it only.
    for n in (512, 1024, 2048):
        log_q = math.log(0.004 * n**2.484)
        sublattice, key = ntru["dense_sublattice"](n, log_q), ntru["secret_key"](n, log_q)
        assert abs(sublattice / key - 1) < 0.04, n
        assert ntru["dense_sublattice"](n, log_q + 1) < ntru["secret_key"](n, log_q + 1)
        assert ntru["dense_sublattice"](n, log_q - 1) > ntru["secret_key"](n, log_q - 1)
    assert ntru["main"]([]) == 0
    said = capsys.readouterr().out
    assert "block size 359, 132.2 bits, 104.8" in said
    assert "block size 462, 160.8 bits, 134.9" in said
    page = (ROOT / "docs/security.md").read_text()
    assert (
        "block size 359 instead of 462, which is 2^105 sieve steps (0.292 each) instead of 2^135, or 132 bits instead"
        in page
    )
