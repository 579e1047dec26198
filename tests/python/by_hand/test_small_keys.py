"""The published programs with small keys on the real ring, each a process of its own, with only the import changed."""

from __future__ import annotations

import pytest

from support import SNIPPETS, check_published


@pytest.mark.parametrize("name", [name for name in SNIPPETS if name.endswith("small_key")])
def test_examples_of_the_documentation(name: str) -> None:
    check_published(name)
