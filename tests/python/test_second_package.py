"""The second package: `aglet` works without it, and one file loads it."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aglet
import aglet_bench
from aglet import FhewEngine, extra
from aglet.cli import app
from support import ROOT

PROGRAM = """
import json, sys
import aglet
engine = aglet.Engine(preset="toy", allow_insecure=True)
secret = engine.create_secret_key()
ciphertext = engine.encrypt([1, 2, 3], secret)
assert abs(engine.decrypt(engine.add(ciphertext, ciphertext), secret)[2] - 6) < 1e-3
assert engine.memory_report().total and aglet.plan("regular", "regular", 3, "large", 1 << 15)["key_bytes"]
gates = aglet.FhewEngine()
key = gates.create_secret_key()
assert list(gates.decrypt(gates.encrypt([True, False], key), key)) == [True, False]
print(json.dumps(sorted(name for name in sys.modules if name.startswith("aglet"))))
"""


def imported(path: Path) -> Iterator[str]:
    """The modules that a file names in an import, and every string that is the name of one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_only_the_loader_names_the_second_package() -> None:
    files = sorted((ROOT / "python" / "aglet").rglob("*.py"))
    naming = [path for path in files if any(re.match(r"aglet_bench(\.|$)", name) for name in imported(path))]
    assert naming == [ROOT / "python" / "aglet" / "extra.py"]


def test_a_program_loads_nothing_of_it() -> None:
    told = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = json.loads(told.stdout)
    assert "aglet.extra" in loaded
    assert not [name for name in loaded if name.startswith("aglet_bench")]


def test_both_have_one_version() -> None:
    text = (ROOT / "python" / "bench" / "pyproject.toml").read_text()
    assert aglet.__version__ == aglet_bench.__version__
    assert f'version = "{aglet.__version__}"' in text
    assert f'"aglet-fhe=={aglet.__version__}"' in text
    assert f'"aglet-fhe-bench=={aglet.__version__}"' in (ROOT / "pyproject.toml").read_text()


def test_every_command_of_the_second_package_is_one_of_aglet() -> None:
    made = importlib.import_module("aglet_bench.cli").app
    names = {command.name or command.callback.__name__ for command in made.registered_commands}
    assert names | {group.name for group in made.registered_groups} == set(extra.COMMANDS)
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert all(
        re.search(rf"^\W*{name} ", shown, re.MULTILINE) for name in (*extra.COMMANDS, "batch", "doctor", "params")
    )


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the second package is not installed."""
    monkeypatch.setattr(extra, "PACKAGE", "aglet_bench_that_is_not_there")


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("name", extra.COMMANDS)
def test_without_it_a_command_says_what_to_install(name: str) -> None:
    for words in ([], ["--help"], ["bootstrap", "--slots", "3"]):
        result = CliRunner().invoke(app, [name, *words])
        assert result.exit_code == 1
        assert result.stderr == (
            f'aglet: `aglet {name}` is in a second package; install it with pip install "aglet-fhe[bench]".\n'
        )


@pytest.mark.usefixtures("without")
def test_without_it_estimates_are_modelled() -> None:
    estimate = FhewEngine().estimate("nand")
    assert estimate.source == "modelled"
    assert estimate.seconds == estimate.modelled_seconds
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "Not installed" in result.stdout


def test_what_the_second_package_lacks_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lacking.py").write_text("import nothing_of_this_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(extra, "PACKAGE", "lacking")
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        extra.installed()
