"""The documentation site: its tutorials run, and its pages name what exists. `make docs` builds it."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import typer

import aglet
from aglet import cli as aglet_cli
from aglet_bench import cli as bench_cli

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


def test_pages_name_files_that_exist() -> None:
    root, count = DOCS.parent, 0
    pages = [p for p in DOCS.rglob("*.md") if not {"generated", "_build"} & set(p.relative_to(DOCS).parts)]
    for page in [*pages, *root.glob("*.md"), *(root / "repro" / "notebook").glob("*.md")]:
        for name in re.findall(r"(?<![\w./-])(?:crates|python|tools|examples|repro)/[\w./-]*\w", page.read_text()):
            count += 1
            assert (root / name).exists(), f"{page.name}: {name}"
    assert count > 50


def test_commands_in_pages_exist() -> None:
    """Commands, options, and each of the words that a page separates by bars."""
    commands: dict[str, Any] = {}
    for app in (aglet_cli.app, bench_cli.app):
        commands |= typer.main.get_command(app).commands  # type: ignore[attr-defined]
    pages = [p for p in DOCS.rglob("*.md") if not {"generated", "_build"} & set(p.relative_to(DOCS).parts)]
    count = 0
    for page in [*pages, *DOCS.parent.glob("*.md")]:
        for line in re.findall(r"`(?:python -m )?aglet ([a-z][^`\n]*)`", page.read_text()):
            name, *words = line.split()
            assert name in commands, f"{page.name}: aglet {line}"
            command = commands[name]
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            options = {o for given in command.params for o in (*given.opts, *given.secondary_opts)} | {"--help"}
            told = " ".join(str(getattr(given, "help", "")) for given in command.params)
            for word in words:
                count += 1
                assert not word.startswith("--") or word in options, f"{page.name}: aglet {line}"
                assert "|" not in word or all(part in told for part in word.split("|")), f"{page.name}: aglet {line}"
    assert count > 10


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


def test_classes_stand_in_their_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    from make import reference

    found = reference.classes()
    assert list(found) == list(reference.PAGES)
    assert all(found.values()), "a family without a class"
    assert found["CKKS"][0] == "Engine"
    assert found["Exact integers (BGV and BFV)"][0] == "IntegerEngine"
    assert not [name for name in found["CKKS"] if re.search("Integer|Fhew|SchemeSwitch|Switch", name)]


def test_pages_of_the_repository_lead_into_the_site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    from make import copies

    copies.write(tmp_path, DOCS.parent)
    for name in copies.PAGES:
        targets = re.findall(r"\]\(([^)#:]+)[^)]*\)", (tmp_path / name).read_text())
        assert all((DOCS / "generated" / target).resolve().exists() for target in targets), targets


def test_bootstraps_of_few_slots_stand_beside_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    from make import records

    one = {"preset": "regular", "method": "regular", "slot_count": 32768, "backend": "avx512ifma", "threads": 1}
    one |= {"message": "uniform", "seconds": 2.0, "bits_mean": 24.7, "noisy": []}
    few = one | {"method": "sparse", "slot_count": 8, "seconds": 0.8, "noisy": ["others"]}
    twice = one | {"iterations": 2, "seconds": 4.0, "backend": "avx2"}
    found = records.bootstraps([one | {"seconds": 3.0}, twice, one, few])
    labels = ["regular, 8 slots, 1 thread*", "regular, 1 thread", "regular, 2 iterations, avx2, 1 thread"]
    assert [records.label(r) for r in found] == labels
    assert [r["seconds"] for r in found] == [0.8, 2.0, 4.0]


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_blocks_import_what_they_use_of_aglet(page: Path) -> None:
    """From the top of a page on, as a reader types them. Data may be the reader's own."""
    known: set[str] = set()
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
        tree = ast.walk(ast.parse(block))
        names = [node for node in tree if isinstance(node, ast.Name | ast.ImportFrom | ast.Import)]
        for node in names:
            if not isinstance(node, ast.Name):
                known.update((one.asname or one.name).split(".")[0] for one in node.names)
        plain = [node for node in names if isinstance(node, ast.Name)]
        known.update(node.id for node in plain if isinstance(node.ctx, ast.Store))
        used = {node.id for node in plain if isinstance(node.ctx, ast.Load)}
        assert used & {*aglet.__all__, "np"} <= known
