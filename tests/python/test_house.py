"""The sizes that the house keeps: lines of a file, parameters of a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

MOST_LINES, MOST_PARAMETERS = 400, 7
FILES = sorted(path for folder in ("aglet", "bench/aglet_bench") for path in (ROOT / "python" / folder).rglob("*.py"))


def documented() -> set[str]:
    """The calls of the documented interface, with the constructor: their arguments are not ours to group."""
    text = (ROOT / "docs" / "drop-in.md").read_text()
    return {"__init__", *re.findall(r"`(\w+)\([^`]*\)`", text)}


def functions(path: Path) -> Iterator[tuple[ast.FunctionDef, int]]:
    """Every function with the number of its parameters; `*args` and `**options` are one each, `self` is none."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            named = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            several = [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
            yield node, len(named) + len(several) - (named[:1] in (["self"], ["cls"]))


def is_command(node: ast.FunctionDef) -> bool:
    """A command of the command line: its parameters are the options that users type."""
    return any(ast.unparse(one) == "output.sentences" for one in node.decorator_list)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT / "python")))
def test_sizes(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES
    ours = path.parent != ROOT / "python" / "aglet" / "ckks"
    for node, count in functions(path):
        if is_command(node) or (not ours and node.name in documented()):
            continue
        assert count <= MOST_PARAMETERS, f"{node.name} has {count} parameters"
