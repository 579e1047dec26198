"""The documentation site: its tutorials run, and its pages name what exists. `make docs` builds it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import aglet

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md") if path.stem != "index")


def cells(page: Path) -> list[str]:
    """The code of a tutorial, cell by cell."""
    return re.findall(r"```\{code-cell\}\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_run(name: str) -> None:
    found = cells(DOCS / "tutorials" / f"{name}.md")
    assert "assert " in "".join(found), "a tutorial checks its result"
    names: dict[str, object] = {}
    for number, cell in enumerate(found):
        exec(compile(cell, f"{name}, cell {number}", "exec"), names)


def test_every_page_stands_in_a_table_of_contents() -> None:
    listed = {"index"}
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / entry).relative_to(DOCS).as_posix() for entry in entries}
    pages = {p.relative_to(DOCS).with_suffix("").as_posix() for p in DOCS.rglob("*.md")}
    made = {page for page in pages if page.startswith(("_build/", "generated/"))}
    assert pages - made <= listed


def test_links_between_pages_lead_somewhere() -> None:
    for page in DOCS.rglob("*.md"):
        if not {"generated", "_build"} & set(page.relative_to(DOCS).parts):
            for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text()):
                assert "generated/" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_reference_has_every_public_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    from make import reference

    found = [name for names in reference.classes().values() for name in names]
    assert sorted(found) == sorted(name for name in aglet.__all__ if isinstance(getattr(aglet, name), type))


def test_the_reference_has_models_and_batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    from make import reference

    text = reference.python(tmp_path)
    for name, module in reference.MODULES.items():
        assert f"\n{name}\n" in text
        assert f"automodule:: {module}\n" in (tmp_path / f"{name}.md").read_text()
        imported = importlib.import_module(module)
        assert all(getattr(imported, one).__doc__ for one in imported.__all__)


def test_the_reference_has_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    import typer.main
    from make import reference

    text = reference.commands(typer.main.get_command(reference.app))
    assert "## `aglet doctor`" in text
    assert "## `aglet bench bootstrap`" in text
