"""Pages of the reference: one for each public class of Python, and the help of every command."""

import inspect
from pathlib import Path
from typing import Any

import typer.main

import aglet
from aglet.cli import app

GROUPS = {
    "Engines": ["Engine", "IntegerEngine", "LookupEngine", "GLEngine"],
    "Arrays": ["Session", "EncryptedArray", "KeySet"],
}
MODULES = {"ml": "aglet.arrays.ml", "batch": "aglet.batch"}
"""Modules with a page of their own: what their `__all__` names."""


def classes() -> dict[str, list[str]]:
    """Public classes by group; what has no group of its own is an error or a key or a message."""
    grouped = {name for names in GROUPS.values() for name in names}
    others = [name for name in aglet.__all__ if inspect.isclass(getattr(aglet, name)) and name not in grouped]
    errors = [name for name in others if issubclass(getattr(aglet, name), Exception)]
    return {**GROUPS, "Keys, messages, results": [name for name in others if name not in errors], "Errors": errors}


def page(name: str) -> str:
    """A class with its methods, in the order of their names."""
    return f"# {name}\n\n```{{eval-rst}}\n.. autoclass:: aglet.{name}\n   :members:\n```\n"


def module_page(name: str) -> str:
    """All of a module."""
    return f"# aglet.{name}\n\n```{{eval-rst}}\n.. automodule:: {MODULES[name]}\n   :members:\n```\n"


def python(folder: Path) -> str:
    """The index, and a page for each class."""
    text = "# Python\n\n```{eval-rst}\n.. autofunction:: aglet.plan\n.. autofunction:: aglet.presets\n"
    text += ".. autofunction:: aglet.doctor\n```\n\n"
    for group, names in classes().items():
        for name in names:
            (folder / f"{name}.md").write_text(page(name))
        text += f"## {group}\n\n```{{toctree}}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n\n"
    for name in MODULES:
        (folder / f"{name}.md").write_text(module_page(name))
    return text + "## Modules\n\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(MODULES) + "\n```\n"


def commands(command: Any, path: tuple[str, ...] = ("aglet",)) -> str:
    """The help of a command and of those below it."""
    if hasattr(command, "commands"):
        return "".join(commands(below, (*path, name)) for name, below in command.commands.items())
    lines = [f"## `{' '.join(path)}`\n\n{inspect.cleandoc(command.help or '')}\n\n"]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            lines.append(f"- `{(parameter.name or '').upper()}`\n")
        else:
            described = (getattr(parameter, "help", None) or "").strip()
            lines.append(f"- `{', '.join(parameter.opts + parameter.secondary_opts)}`: {described}\n")
    return "".join(lines) + "\n"


def write(folder: Path) -> None:
    """The reference of Python and of the command line."""
    (folder / "python.md").write_text(python(folder))
    (folder / "commands.md").write_text("# Command line\n\n" + commands(typer.main.get_command(app)))
