"""The name under which Aglet is installed: no advice may fetch a stranger's package."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

# `aglet` alone is another project in the package registry. maturin builds this one; ray, matplotlib, torch are extras.
# The second is in python/bench; NVIDIA's compiler is for `make test-nvrtc`.
ALLOWED = {"aglet-fhe", "aglet-fhe-bench", "maturin", "matplotlib", "nvidia-cuda-nvrtc-cu12", "ray", "torch", "ziglang"}
MADE = {".git", ".venv", "target", "build", "dist", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
WRITTEN = {"", ".md", ".py", ".pyi", ".rs", ".toml", ".sh", ".yml", ".yaml", ".txt"}
# An argument that is installed: neither an option nor a place in the checkout.
ADVICE = re.compile(r"pip3? install((?:[ \t]+[\"'`]?[\w.<>=,\[\]/-]+[\"'`]?)+)")


def advised(text: str) -> list[str]:
    """What the text says to install, without versions and extras."""
    words = [word.strip("\"'`.,") for found in ADVICE.findall(text) for word in found.split()]
    named = [re.split(r"[\[<>=]", word)[0] for word in words if word and not word.startswith("-")]
    return [name for name in named if not (ROOT / name / "pyproject.toml").is_file()]


def texts() -> Iterator[tuple[Path, str]]:
    """Every file that is written by people, but for this one."""
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in MADE]
        for path in (Path(folder, name) for name in names):
            if path.suffix in WRITTEN and path != Path(__file__).resolve():
                yield path, path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('install it with pip install "aglet[plot]".', ["aglet"]),
        ("`pip install aglet`", ["aglet"]),
        ('python -m pip install --quiet "maturin>=1.9.4,<2"', ["maturin"]),
        ("pip install -U aglet-fhe[plot]", ["aglet-fhe"]),
    ],
)
def test_advice_is_found(text: str, names: list[str]) -> None:
    assert advised(text) == names


def test_no_advice_names_another_package() -> None:
    found = dict(texts())
    assert {ROOT / "README.md", ROOT / "Makefile", ROOT / "python/bench/aglet_bench/reproduce/plot.py"} <= set(found)
    for path, text in found.items():
        assert set(advised(text)) <= ALLOWED, path
        assert not re.search(r"[^-\w./]aglet\[\w", text), path


def test_the_distribution_and_what_make_build_installs() -> None:
    assert re.search(r'^name = "aglet-fhe"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert re.search(r'^name = "aglet-fhe-bench"', (ROOT / "python/bench/pyproject.toml").read_text(), re.MULTILINE)
    assert '"python/bench[plot]"' in (ROOT / "Makefile").read_text()
