"""The command `aglet`: the commands of this package, and those of the second package, loaded on demand."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import aglet
from aglet import extra
from aglet.cli import output
from aglet.cli.batch import batch
from aglet.cli.info import doctor
from aglet.cli.params import params

__all__ = ["app", "main"]

_ORDER = ("demo", "doctor", "params", "plan", "reproduce", "advise", "bench", "batch")


def _absent(name: str) -> Any:
    """A command that says what to install, with any arguments."""

    @output.sentences
    def absent() -> None:
        """Not installed. Call this command to see what to install."""
        extra.needed(".cli", f"`aglet {name}`")

    made = typer.Typer(add_completion=False)
    taken = {"allow_extra_args": True, "ignore_unknown_options": True}
    made.command(name, context_settings=taken, add_help_option=False)(absent)
    return get_command(made)


class _Commands(TyperGroup):
    """The commands of both packages under one name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_ORDER)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in extra.COMMANDS:
            return super().get_command(ctx, cmd_name)
        if not extra.installed():
            return _absent(cmd_name)
        return get_command(extra.needed(".cli", f"`aglet {cmd_name}`").app).get_command(ctx, cmd_name)  # type: ignore[attr-defined]


app = typer.Typer(
    name="aglet",
    cls=_Commands,
    help="Aglet: compute on encrypted numbers with CKKS, BGV/BFV and FHEW/TFHE, and bootstrap them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"aglet {aglet.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Aglet: compute on encrypted numbers with CKKS, BGV/BFV and FHEW/TFHE, and bootstrap them."""


app.command()(doctor)
app.command()(params)
app.add_typer(batch, name="batch")


def main() -> None:
    """Run the command line."""
    app()
