"""The page of terms and the code say the same, and no word of before is left in public names or pages."""

from __future__ import annotations

import re
from pathlib import Path

import aglet

ROOT = Path(__file__).parents[2]
OLD = re.compile(
    r"\b\w*bridge\w*|look-ups?\b|lookup_?(key|engine)|\blwe_?(secret|ciphertext)|\brotor\b|exchange_primes|\bsettle[sd]?\b",
    re.I,
)
"""Words of before, in public names and in pages."""
OLD_CODE = re.compile(
    r"\b(rotors?|exchange_primes|settled?|BridgeKeys|IntegerBridge|LookupEngine|LookupKey|ToSparse|ShortDigits|"
    r"KeyRole::Square|by_roots|encrypt_words|Choice|WayUp)\b"
)
"""Identifiers of before."""


def _code() -> str:
    files = [p for folder in ("crates", "python") for kind in ("rs", "py") for p in (ROOT / folder).rglob(f"*.{kind}")]
    return " ".join(path.read_text(encoding="utf-8") for path in files if "target" not in path.parts).lower()


def _terms() -> list[list[str]]:
    lines = (ROOT / "docs" / "terms.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:]


def test_every_term_is_explained_has_a_paper_and_stands_in_the_code() -> None:
    code, rows = _code(), _terms()
    assert len(rows) > 20
    for term, meaning, elsewhere, paper in rows:
        assert meaning
        assert elsewhere
        assert re.fullmatch(r"\d{4}/\d{3,4}(, \d{4}/\d{3,4})*", paper), term
        for name in term.split(", "):
            name = name.lower()
            assert any(form in code for form in (name, name.replace(" ", "_"), name.replace(" ", ""))), name


def test_methods_of_blind_rotation_are_named_as_parameters_name_them() -> None:
    text = (ROOT / "crates" / "rlwe" / "src" / "lwe" / "method.rs").read_text(encoding="utf-8")
    names = re.findall(r'Method::\w+(?:\(_\))? => "(\w+)"', text)
    assert len(names) == 5
    row = next(row for row in _terms() if row[0] == "blind rotation")
    assert re.findall(r"`(\w+)`", row[1]) == names


def test_public_names_are_of_the_field() -> None:
    names = list(aglet.__all__)
    for name in aglet.__all__:
        thing = getattr(aglet, name)
        if isinstance(thing, type):
            names += [f"{name}.{member}" for member in dir(thing) if not member.startswith("_")]
    assert len(names) > 300
    assert [name for name in names if OLD.search(name)] == []


def test_pages_are_in_the_words_of_the_field() -> None:
    pages = [p for p in (ROOT / "docs").rglob("*.md") if p.name != "performance.md" and "generated" not in p.parts]
    found = {str(p.relative_to(ROOT)): OLD.findall(p.read_text(encoding="utf-8")) for p in [*pages, ROOT / "README.md"]}
    assert {name: words for name, words in found.items() if words} == {}


def test_code_has_no_identifier_of_before() -> None:
    folders, kinds = ("crates", "python", "fuzz/src", "tools", "examples"), ("rs", "py", "pyi")
    files = [p for folder in folders for kind in kinds for p in (ROOT / folder).rglob(f"*.{kind}")]
    found = {str(p.relative_to(ROOT)): OLD_CODE.findall(p.read_text(encoding="utf-8")) for p in files}
    assert len(files) > 500
    assert {name: words for name, words in found.items() if words} == {}
