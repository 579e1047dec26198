"""One version everywhere, and a changelog that begins with it."""

from __future__ import annotations

import re

import aglet
from support import ROOT


def found(file: str, pattern: str) -> str:
    match = re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)
    assert match, f"{file} has no {pattern}"
    return match.group(1)


def test_the_version_is_the_same_everywhere() -> None:
    versions = {
        found("Cargo.toml", r'^version = "([^"]+)"'),
        found("pyproject.toml", r'^version = "([^"]+)"'),
        found("CITATION.cff", r"^version: (\S+)"),
        aglet.__version__,
    }
    assert len(versions) == 1, versions


def test_the_changelog_begins_with_it() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (\d+\.\d+\.\d+), (unreleased|\d{4}-\d{2}-\d{2})$", text, re.M)
    assert headings
    assert headings[0][0] == aglet.__version__
    order = [tuple(int(part) for part in version.split(".")) for version, _ in headings]
    assert order == sorted(order, reverse=True)
    assert all(date != "unreleased" for _, date in headings[1:])


def test_every_section_says_something() -> None:
    sections = re.split(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    assert sections
    assert all("\n- " in section for section in sections)
