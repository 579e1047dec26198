"""The commands of `aglet` that measure, advise and reproduce. `aglet.cli` adds them to its own."""

from __future__ import annotations

import typer

from aglet_bench.cli.advise import advise
from aglet_bench.cli.bench import bench
from aglet_bench.cli.demo import demo
from aglet_bench.cli.plan import plan
from aglet_bench.cli.reproduce import reproduce
from aglet_bench.cli.scheme_switch import scheme_switch

__all__ = ["app"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(demo)
app.command()(plan)
app.command()(reproduce)
app.command()(advise)
bench.command()(scheme_switch)
app.add_typer(bench, name="bench")
