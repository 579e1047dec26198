"""Records of measurements: one JSON object per line in `<folder>/<machine>/<date>.jsonl`."""

from __future__ import annotations

import datetime
import json
import math
import re
import subprocess
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

__all__ = ["append", "checkout", "json_text", "known", "machine_folder", "read", "stamp"]

DEFAULT_FOLDER = Path("repro") / "record"


def machine_folder(cpu: str) -> str:
    """The name of a processor as the name of a folder."""
    return re.sub(r"[^a-z0-9]+", "-", cpu.lower()).strip("-") or "unknown"


def json_text(record: Mapping[str, Any]) -> str:
    """One object on one line. JSON has no infinities: they become null."""
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in record.items()
    }
    return json.dumps(finite)


def checkout() -> Path | None:
    """The root of the source tree that this package is in, if it is in one."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "Cargo.toml").is_file() else None


def stamp() -> dict[str, Any]:
    """Date and, in a source tree, the commit; a record begins with them."""
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
    """Add one record to the file of this machine and the record's date; returns the file."""
    path = folder / machine_folder(cpu) / f"{record['date']}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json_text(record) + "\n")
    return path


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """All records below a folder, oldest first; lines that are no objects are passed over."""
    for path in sorted(folder.glob("**/*.jsonl"), key=lambda path: path.name):
        yield from _lines(path.read_text(encoding="utf-8"))


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(record, dict):
            yield record


def known() -> tuple[list[dict[str, Any]], str]:
    """All records, and where they were found: the shipped ones, then those of the folder we are in and of the tree."""
    found = list(_lines(resources.files("aglet").joinpath("measured.jsonl").read_text(encoding="utf-8")))
    sources = ["the package"]
    root = checkout()
    folders = [DEFAULT_FOLDER.resolve(), *([] if root is None else [root / DEFAULT_FOLDER])]
    for folder in dict.fromkeys(folder for folder in folders if folder.is_dir()):
        found += read(folder)
        sources.append(str(folder))
    return found, " and ".join(sources)
