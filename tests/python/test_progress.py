"""The progress bar: the caller's callback first, a bar on a terminal after a second, else silence."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from aglet import progress
from aglet.progress import progress_bar

SLOW_WORK = """
import time
from aglet.progress import progress_bar
with progress_bar() as report:
    for done in range(16):
        report(done, 16, "rotation keys")
        time.sleep(0.1)
print("finished")
"""


def test_the_callers_callback_comes_first() -> None:
    def callback(done: int, total: int, what: str) -> None: ...

    with progress_bar(callback) as report:
        assert report is callback


def test_silence_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as report:
        assert report is None
    assert capfd.readouterr() == ("", "")


def test_a_bar_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_WORK],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(theirs)
        shown = bytearray()
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            shown += chunk
        assert process.stdout is not None
        assert process.stdout.read() == "finished\n"
    os.close(ours)
    assert b"rotation keys" in shown
    assert b"/16" in shown


class Cell:
    """What a notebook shows below a cell, one after the other in the same place."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, what: Any, *, display_id: bool) -> Cell:
        assert display_id
        assert not self.shown
        self.update(what)
        return self

    def update(self, what: Any) -> None:
        self.shown.append(what._repr_html_())


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    found = Cell()
    kernel = SimpleNamespace(kernel=object())
    module = SimpleNamespace(get_ipython=lambda: kernel, display=SimpleNamespace(display=found.display))
    monkeypatch.setitem(sys.modules, "IPython", module)
    return found


def test_a_bar_in_a_notebook(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while, in one place, and nothing stays there."""
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress_bar() as report:
        assert report is not None
        for done in range(16):
            report(done, 16, "keys <all>")
            now += 0.3
    first, *_, last = cell.shown
    assert first == "keys &lt;all&gt; <progress max='16' value='4'></progress> 4/16"
    assert len(cell.shown) == 13
    assert last == ""


def test_quick_work_shows_nothing_in_a_notebook(cell: Cell) -> None:
    with progress_bar() as report:
        assert report is not None
        report(1, 2, "keys")
    assert not cell.shown


def test_an_interactive_shell_is_no_notebook(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: SimpleNamespace())
    with progress_bar() as report:
        assert report is None
    assert not cell.shown
