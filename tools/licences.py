"""The licences of everything that is linked into the wheel: checked (`make test`), and gathered for it (`make wheel`)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
ROOT = Path(__file__).parent.parent


def linked() -> list[dict[str, Any]]:
    """Packages that end up in the compiled module, ours left out, by name."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(ROOT / "Cargo.toml")]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    needs = {node["id"]: node["deps"] for node in found["resolve"]["nodes"]}
    todo = [identity for identity, package in packages.items() if package["name"] == "aglet-py"]
    seen: set[str] = set()
    while todo:
        identity = todo.pop()
        if identity in seen:
            continue
        seen.add(identity)
        todo += [d["pkg"] for d in needs[identity] if any(kind["kind"] is None for kind in d["dep_kinds"])]
    return sorted((packages[i] for i in seen if packages[i]["source"]), key=lambda package: package["name"])


def permitted(expression: str) -> bool:
    """Whether one choice of every part of an SPDX expression is on the list."""
    parts = expression.replace("/", " OR ").replace("(", "").split(" AND ")
    choices = [re.split(r"\s+OR\s+", part.replace(")", "")) for part in parts]
    return all(any(choice.strip() in ALLOWED for choice in some) for some in choices)


def refused() -> list[str]:
    """Packages without a permissive licence."""
    return [f"{p['name']} {p['version']}: {p['license']}" for p in linked() if not permitted(p["license"] or "none")]


def texts() -> str:
    """Every licence text once, under the names of the packages that carry it."""
    carried: dict[str, list[str]] = defaultdict(list)
    for package in linked():
        folder = Path(package["manifest_path"]).parent
        files = sorted(p for p in folder.iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", p.name))
        name = f"{package['name']} {package['version']} ({package['license']})"
        for file in files:
            if file.is_file():
                carried[file.read_text(encoding="utf-8", errors="replace").strip()].append(name)
        if not files:
            carried[f"Published under {package['license']}, without a file of it."].append(name)
    rule = "=" * 80
    return "\n\n".join(f"{rule}\n{chr(10).join(names)}\n{rule}\n\n{text}" for text, names in carried.items()) + "\n"


if __name__ == "__main__":
    bad = refused()
    for line in bad:
        print(f"{line} is not on the list of licences in tools/licences.py", file=sys.stderr)
    sys.exit(bool(bad))
