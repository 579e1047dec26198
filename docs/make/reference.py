"""Pages of the reference: one for each public class of Python, and the help of every command."""

import inspect
import re
from pathlib import Path
from typing import Any

import typer.main

import aglet
from aglet.cli import app

FAMILIES = {
    "Encrypted arrays": (
        r"(Slot)?Session$|EncryptedArray$|(Encrypted|Compressed)(Integers|Fixed|Slots|Residues)$|(fixed|zmod|KeySet)$|Digit"
    ),
    "Scheme switching": r".*(SchemeSwitch|Switch)",
    "Exact integers (BGV and BFV)": r"Integer",
    "Gates and LUTs (FHEW/TFHE)": r"Fhew|(Table|PackingKey)$",
    "CKKS": r"",
}
"""Families of classes: the first whose pattern matches the beginning of a name has it."""
PAGES = {
    "CKKS": "ckks-classes",
    "Encrypted arrays": "array-classes",
    "Exact integers (BGV and BFV)": "integer-classes",
    "Gates and LUTs (FHEW/TFHE)": "fhew-classes",
    "Scheme switching": "switching-classes",
    "Errors": "error-classes",
}
"""The page of each family, in the order of the reference."""
MODULES = {"ml": "aglet.arrays.ml", "batch": "aglet.batch", "heir": "aglet.heir", "orion": "aglet.orion"}
"""Modules with a page of their own: what their `__all__` names."""
SUMMARIES = {
    "ml": "models on encrypted arrays: activations, linear and logistic models, small networks, training",
    "batch": "one operation on a folder or url of ciphertexts, here or on a cluster",
    "heir": "programs that the compiler HEIR emits for OpenFHE",
    "orion": "the library that networks of the compiler Orion call",
}

BUILTIN = "object, tuple, dict, BaseException, ABC"
"""Ancestors whose methods are not shown."""


def family(name: str) -> str:
    """The family of a public class."""
    if issubclass(getattr(aglet, name), Exception):
        return "Errors"
    return next(family for family, pattern in FAMILIES.items() if re.match(pattern, name))


def rank(name: str) -> tuple[int, str]:
    """Engines stand first in their family, keys last, all else between them."""
    if name.endswith(("Key", "Keys")):
        return 2, name
    return int(not name.endswith(("Engine", "Session")) or name == "GLEngine"), name


def classes() -> dict[str, list[str]]:
    """Public classes by family."""
    names = sorted((name for name in aglet.__all__ if inspect.isclass(getattr(aglet, name))), key=rank)
    return {group: [name for name in names if family(name) == group] for group in PAGES}


def summary(name: str) -> str:
    """The first sentence that a class says of itself, fit for a cell of a table."""
    return (inspect.getdoc(getattr(aglet, name)) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def page(name: str) -> str:
    """A class with all its methods in the order of their names, but those of Python's own classes."""
    members = f":members:\n   :inherited-members: {BUILTIN}"
    return f"# {name}\n\n```{{eval-rst}}\n.. autoclass:: aglet.{name}\n   {members}\n```\n"


def module_page(name: str) -> str:
    """All of a module."""
    return f"# aglet.{name}\n\n```{{eval-rst}}\n.. automodule:: {MODULES[name]}\n   :members:\n```\n"


def contents(pages: list[str]) -> str:
    """A table of contents for the navigation alone."""
    return "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n\n"


def python(folder: Path) -> str:
    """The index, a page for each family and a page for each class."""
    text = "# Python\n\nClasses by family. Engines come first in each, keys last.\n\n"
    for group, names in classes().items():
        for name in names:
            (folder / f"{name}.md").write_text(page(name))
        rows = "".join(f"| [`{name}`]({name}.md) | {summary(name)} |\n" for name in names)
        table = f"| class | what it is |\n|---|---|\n{rows}\n"
        (folder / f"{PAGES[group]}.md").write_text(f"# {group}\n\n{table}{contents(names)}")
        text += f"## {group}\n\n{table}"
    for name in MODULES:
        (folder / f"{name}.md").write_text(module_page(name))
    rows = "".join(f"| [`aglet.{name}`]({name}.md) | {what} |\n" for name, what in SUMMARIES.items())
    text += f"## Modules and functions\n\n| module | what it has |\n|---|---|\n{rows}\n"
    text += contents([*PAGES.values(), *MODULES])
    functions = "".join(f".. autofunction:: aglet.{name}\n" for name in ("plan", "presets", "doctor"))
    return f"{text}```{{eval-rst}}\n{functions}```\n"


def commands(command: Any, path: tuple[str, ...] = ("aglet",)) -> str:
    """The help of a command and of those below it."""
    if hasattr(command, "list_commands"):
        # Those of the second package are loaded when they are asked for.
        names = command.list_commands(None)
        return "".join(commands(command.get_command(None, name), (*path, name)) for name in names)
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
