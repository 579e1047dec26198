"""Pages of the repository that the site shows as well."""

import re
from pathlib import Path

PAGES = ["SECURITY.md", "CHANGELOG.md"]
DOCS = re.compile(r"\]\(docs/")


def write(folder: Path, root: Path) -> None:
    """A copy of each, whose links into docs lead from the folder of generated pages."""
    for name in PAGES:
        (folder / name).write_text(DOCS.sub("](../", (root / name).read_text()))
