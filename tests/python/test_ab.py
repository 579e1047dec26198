"""tools/ab.py: two builds in alternation, and a bound."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import ab


def test_the_order_turns_round() -> None:
    calls: list[str] = []

    def build(name: str, seconds: float) -> float:
        calls.append(name)
        return seconds

    found = ab.ratios(lambda: build("old", 2.0), lambda: build("new", 1.0), 3)
    assert calls == ["old", "new", "new", "old", "old", "new"]
    assert found == [0.5] * 3


@pytest.mark.parametrize(("found", "fine"), [([1.0, 1.02, 9.0], True), ([1.04, 1.05, 0.5], False), ([1.03], True)])
def test_the_median_is_judged(found: list[float], fine: bool) -> None:
    judged, text = ab.verdict(found, ab.BOUND)
    assert judged is fine
    assert "bound 1.03" in text


def test_times_of_all_benches_are_read() -> None:
    assert ab.seconds([{"seconds": 1.5}, {"seconds": 0.5}]) == 2.0
    assert ab.seconds([{"forward_us": 100.0, "inverse_us": 300.0}]) == pytest.approx(4e-4)
    with pytest.raises(SystemExit, match="no times"):
        ab.seconds([])


def test_a_place_without_a_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="make build"):
        ab.interpreter(tmp_path)


def test_one_build_against_itself(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = [sys.executable, sys.executable, "--rounds", "1"]
    bench = ["--", "ntt", "--log-n", "10", "--repeat", "1"]
    assert ab.main([*arguments, "--bound", "1e9", *bench]) == 0
    assert ab.main([*arguments, "--bound", "1e-9", *bench]) == 1
    assert "new over old" in capfd.readouterr().out
