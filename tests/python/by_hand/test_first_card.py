"""All steps of the first minutes with a card that are ours, with toys over an emulated one: minutes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from emulated_card import compiled
from support import ROOT

sys.path.insert(0, str(ROOT / "tools/first_card"))
import run
import steps

OURS = [step for step in (*run.FIRST, *run.MORE) if step.name in steps.steps()]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("driver"))


def test_all_of_them_stand_in_a_call() -> None:
    assert {step.name for step in OURS} == set(steps.steps())


@pytest.mark.parametrize("step", OURS, ids=lambda step: step.name)
def test_rehearsal(step: run.Step, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGLET_CUDA_DRIVER", str(library))
    runner = run.Runner(tmp_path, 600, ["--rehearsal"])
    runner.ended(step, 0, runner.status(step, 590))
    text = (tmp_path / "first_card.jsonl").read_text()
    assert '"status": "status 0"' in text, text
    assert '"same_words": false' not in text
