"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from aglet_bench.ckks.measure import METHODS

__all__ = ["KeySize", "Method", "Preset", "Stages"]

Preset = Annotated[str, typer.Option(help="Name of the parameter set; `aglet params` lists all.")]
Method = Annotated[str, typer.Option(help=f"The bootstrap: {', '.join(METHODS)}.")]
KeySize = Annotated[str, typer.Option(help="Size of the bootstrap key: small, medium or large.")]
Stages = Annotated[
    int | None,
    typer.Option(help="Stages of each of the two transforms; if not given, the number that the preset is made for."),
]
