"""A progress bar for calls that take longer than a second, on a terminal or in a notebook."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = ["ProgressCallback", "progress_bar", "silent"]

ProgressCallback = Callable[[int, int, str], None]
"""Called as `callback(done, total, what)` from the calling thread. If it raises an exception, the work is cancelled."""

_PATIENCE_S = 1.0
_SHOWN_EVERY_S = 0.1
"""The shortest time between two updates of a notebook."""


def silent(_done: int, _total: int, _what: str) -> None:
    """A callback that shows nothing, for work in several threads, which cannot share a bar on a terminal."""


@contextmanager
def progress_bar(callback: ProgressCallback | None = None) -> Iterator[ProgressCallback | None]:
    """Return the callback for the engine: the user's, else a bar in a notebook or on a terminal, else none.

    The bar appears after one second, below the cell or on stderr, and is removed at the end.
    """
    if callback is not None:
        yield callback
        return
    if (display := _display_of_a_notebook()) is not None:
        with _notebook_bar(display) as below:
            yield below
        return
    if not sys.stderr.isatty():
        yield None
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


@dataclass(frozen=True)
class _Shown:
    """The display of a notebook while work is running; empty when it is done."""

    done: int = 0
    total: int = 0
    what: str = ""

    def __repr__(self) -> str:
        return f"{self.what} {self.done}/{self.total}" if self.what else ""

    def _repr_html_(self) -> str:
        if not self.what:
            return ""
        bar = f"<progress max='{self.total}' value='{self.done}'></progress>"
        return f"{html.escape(self.what)} {bar} {self.done}/{self.total}"


def _display_of_a_notebook() -> Callable[..., Any] | None:
    """IPython's `display` if this program runs in its kernel. IPython is not imported for it."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return module.display.display if module is not None and hasattr(shell, "kernel") else None


@contextmanager
def _notebook_bar(display: Callable[..., Any]) -> Iterator[ProgressCallback]:
    shown, last = None, time.monotonic() + _PATIENCE_S - _SHOWN_EVERY_S

    def report(done: int, total: int, what: str) -> None:
        nonlocal shown, last
        if time.monotonic() - last < _SHOWN_EVERY_S:
            return
        last, now = time.monotonic(), _Shown(done, total, what)
        if shown is None:
            shown = display(now, display_id=True)
        else:
            shown.update(now)

    try:
        yield report
    finally:
        if shown is not None:
            shown.update(_Shown())
