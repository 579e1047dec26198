"""Records of measurements: one JSON object per line in `<folder>/<machine>/<date>.jsonl`."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from aglet.reports import json_text

__all__ = ["append", "checkout", "known", "machine_folder", "read", "stamp"]

DEFAULT_FOLDER = Path("repro") / "record"


def machine_folder(cpu: str) -> str:
    """The name of a processor as a folder name."""
    return re.sub(r"[^a-z0-9]+", "-", cpu.lower()).strip("-") or "unknown"


def checkout() -> Path | None:
    """The root of the source tree that contains this package, if there is one."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "Cargo.toml").is_file() else None


def stamp() -> dict[str, Any]:
    """The date and, in a source tree, the commit. A record begins with them."""
    return {"date": datetime.date.today().isoformat(), "commit": _commit()}


def _commit() -> str | None:
    root = checkout()
    if root is None:
        return None
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ":!repro")
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + (" with uncommitted changes" if changed else "")


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def append(folder: Path, cpu: str, record: Mapping[str, Any]) -> Path:
    """Add a record to the file of this machine and date. Returns the file."""
    path = folder / machine_folder(cpu) / f"{record['date']}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json_text(record) + "\n")
    return path


_FIELDS = {
    "lookup_preset": "fhew_preset",
    "bridge_key_bytes": "switch_key_bytes",
    "bridge_key_bytes_seeded": "switch_key_bytes_seeded",
}
_WAYS = {"down": "to-fhew", "up": "from-fhew", "roundtrip": "roundtrip", "compare": "compare", "argmin": "argmin"}
_KINDS = {
    f"{side}bridge-{old}": f"{side}scheme-switch-{new}" for side in ("", "integer-") for old, new in _WAYS.items()
}
"""The names of benches before 2026-11-24, and the present ones."""


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """All records below a folder, oldest first. Lines that are not JSON objects are skipped."""
    for path in sorted(folder.glob("**/*.jsonl"), key=lambda path: path.name):
        yield from _lines(path.read_text(encoding="utf-8"))


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(record, dict):
            yield _renamed(record)


def _renamed(record: dict[str, Any]) -> dict[str, Any]:
    """A record with the present names. Files with a date are never rewritten."""
    found = {_FIELDS.get(name, name): value for name, value in record.items()}
    if isinstance(kind := found.get("kind"), str) and kind in _KINDS:
        found["kind"] = _KINDS[kind]
    return found


def known() -> tuple[list[dict[str, Any]], str]:
    """All records and where they are from: this package, the current folder, and the source tree."""
    found = list(_lines(resources.files("aglet_bench").joinpath("measured.jsonl").read_text(encoding="utf-8")))
    sources = ["the package"]
    root = checkout()
    folders = [DEFAULT_FOLDER.resolve(), *([] if root is None else [root / DEFAULT_FOLDER])]
    for folder in dict.fromkeys(folder for folder in folders if folder.is_dir()):
        found += read(folder)
        sources.append(str(folder))
    return found, " and ".join(sources)
