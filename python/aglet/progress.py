"""A progress bar for calls that last longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["ProgressCallback", "progress_bar", "silent"]

ProgressCallback = Callable[[int, int, str], None]
"""Called as `callback(done, total, what)` from the calling thread; an exception that it raises cancels the work."""

_PATIENCE_S = 1.0


def silent(_done: int, _total: int, _what: str) -> None:
    """A callback that shows nothing: for work in several threads, of which a terminal has no bar."""


@contextmanager
def progress_bar(callback: ProgressCallback | None = None) -> Iterator[ProgressCallback | None]:
    """Give the callback to hand to the engine: the user's, else a bar if stderr is a terminal, else none.

    The bar stands on stderr, appears after one second, and is wiped at the end.
    """
    if callback is not None or not sys.stderr.isatty():
        yield callback
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=None)
    start = time.monotonic()
    shown = False

    def report(done: int, total: int, what: str) -> None:
        nonlocal shown
        if not shown and time.monotonic() - start > _PATIENCE_S:
            bar.start()
            shown = True
        bar.update(task, completed=done, total=total, description=what)

    try:
        yield report
    finally:
        if shown:
            bar.stop()
