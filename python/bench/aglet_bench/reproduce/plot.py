"""The comparison as an image, with matplotlib (the extra `plot`, which `make build` installs)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aglet.errors import ParameterError
from aglet_bench.reproduce.report import Block

__all__ = ["require", "save"]


def require(path: Path) -> None:
    """Refuse a plot that cannot be made, before anything is measured for it.

    Raises
    ------
    ParameterError
        If matplotlib is not installed, or does not know the format.
    """
    pyplot = _pyplot()
    figure = pyplot.figure()
    formats = figure.canvas.get_supported_filetypes()
    pyplot.close(figure)
    if path.suffix and path.suffix[1:].lower() not in formats:
        raise ParameterError(f"--plot {path} has an unknown format; give a name that ends in .png, .svg or .pdf.")


def _pyplot() -> Any:
    """Matplotlib, without a window."""
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ImportError as error:
        raise ParameterError(
            '--plot needs matplotlib, which is not installed; run "make build" or pip install matplotlib.'
        ) from error
    matplotlib.use("Agg")
    return importlib.import_module("matplotlib.pyplot")


def save(blocks: Sequence[Block], path: Path) -> bool:
    """Draw the published and our seconds of all measured rows on a logarithmic axis. False if there are none."""
    measured = [(block, outcome) for block in blocks for outcome in block.outcomes if outcome.record]
    if not measured:
        return False
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(10, 1.5 + 0.28 * len(measured)), layout="constrained")
    for index, (_, outcome) in enumerate(measured):
        ours, published = outcome.record["seconds"], outcome.published_seconds
        if published:
            axes.plot([ours, published], [index, index], color="0.75", linewidth=2, zorder=1)
            axes.scatter(published, index, color="0.5", zorder=2)
        axes.scatter(ours, index, color="tab:blue" if outcome.status == "met" else "tab:red", zorder=3)
    labels = [f"{block.table.name} {outcome.row.name}, {outcome.threads} thr." for block, outcome in measured]
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("seconds; grey: published, blue: ours, red: ours, precision, levels or slots missed")
    axes.grid(axis="x", which="both", alpha=0.3)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise ParameterError(f"The plot cannot be written to {path}: {error}.") from error
    finally:
        pyplot.close(figure)
    return True
