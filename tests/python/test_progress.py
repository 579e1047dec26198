"""The progress bar: the caller's callback first, a bar on a terminal after a second, else silence."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

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
